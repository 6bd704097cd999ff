// Built with the AVX-512 flags and called only where the processor has them. It instantiates no
// inline function that a unit without the flags might share: inversions go through the caller's
// function.
#include "msm/batch_add_ifma.hpp"

#include "field/ifma_fp2.hpp"

namespace proofline {
namespace {

using namespace ifma;

constexpr size_t groups_max = 256;  // eight additions each: one inversion for 2,048
constexpr size_t prefetch_points = 3;  // a group and pass

// Scales. Coordinates are v·R with R = 2^r; a multiplication divides by R' = 2^(52·L). With the
// inverse of a denominator held as S/d, S² = R'³/R, a slope squared comes out in R form, and the
// last product is R'²/(R·S) short of it, which `rescaled` makes up for.
template <class P>
struct scales {
  static constexpr int L = fp8<P>::L;
  static constexpr int r = 64 * P::limbs, r_prime = 52 * L, s = (3 * r_prime - r) / 2;
  static constexpr int short_by = 2 * r_prime - r - s;
  static_assert((3 * r_prime - r) % 2 == 0 && short_by >= 0 && short_by <= 16);

  static constexpr limbs52<L> one = to_limbs52<P>(power_of_two<P>(r_prime));
  static constexpr limbs52<L> inversion = to_limbs52<P>(power_of_two<P>(s + r + r_prime));
  static constexpr limbs52<L> square = to_limbs52<P>(power_of_two<P>(2 * r_prime - r));
};

// ---- one group's coordinates: fp8 in G1, fp2x8 in G2

template <class P>
struct over_fp {
  using params = P;
  using element = fp8<P>;
  static constexpr size_t bytes = 8 * P::limbs;

  static element get(const uint8_t* const* from, size_t offset) {
    return to_limbs(gather<P>(from, offset));
  }
  static void put(uint8_t* const* to, size_t offset, const element& a) {
    scatter<P>(to, offset, to_words(a));
  }
  static __m512i low_limb(const element& a) { return a.limb[0]; }
  static element of_base(const fp8<P>& a) { return a; }
  // The norm that is inverted: d itself.
  struct norm_of {
    void set(const element&) {}
    const fp8<P>& get(const element& d) const { return d; }
  };
  static void inverse(element& r, const element&, const fp8<P>& norm_inverse) { r = norm_inverse; }
};

template <class P>
struct over_fp2 {
  using params = P;
  using element = fp2x8<P>;
  static constexpr size_t bytes = 16 * P::limbs;

  static element get(const uint8_t* const* from, size_t offset) {
    return {to_limbs(gather<P>(from, offset)), to_limbs(gather<P>(from, offset + bytes / 2))};
  }
  static void put(uint8_t* const* to, size_t offset, const element& a) {
    scatter<P>(to, offset, to_words(a.c0));
    scatter<P>(to, offset + bytes / 2, to_words(a.c1));
  }
  static __m512i low_limb(const element& a) { return _mm512_or_si512(a.c0.limb[0], a.c1.limb[0]); }
  static element of_base(const fp8<P>& a) { return {a, fp8<P>{}}; }
  struct norm_of {
    fp8<P> value;
    void set(const element& d) { mul_add(value, d.c0, d.c0, d.c1, d.c1); }
    const fp8<P>& get(const element&) const { return value; }
  };
  static void inverse(element& r, const element& d, const fp8<P>& norm_inverse) {
    const fp8<P> minus_c1 = opposite(d.c1);
    mul(r.c0, d.c0, norm_inverse);
    mul(r.c1, minus_c1, norm_inverse);
  }
};

// a·2^short_by for a in raw form and [0, 4p).
template <class P>
fp8<P> rescaled(const fp8<P>& a) {
  constexpr int shift = scales<P>::short_by;
  fp8<P> r = carried(a);
  if constexpr (shift > 0) {
    static constexpr uint64_t factor = uint64_t{1} << shift;
    __m512i carry = _mm512_setzero_si512();
    PROOFLINE_UNROLL
    for (int j = 0; j < fp8<P>::L; j++) {
      const __m512i limb = r.limb[j];
      r.limb[j] = madd_low(carry, limb, factor);
      carry = madd_high(_mm512_setzero_si512(), limb, factor);
    }
  }
  return r;
}
template <class P>
fp2x8<P> rescaled(const fp2x8<P>& a) {
  return {rescaled(a.c0), rescaled(a.c1)};
}

// The eight additions of a group: operands, signs, destinations. A short last group repeats its
// last addition.
struct lanes {
  const uint8_t* left[8];
  const uint8_t* right[8];
  uint8_t* out[8];
  __mmask8 negate_left = 0, negate_right = 0;

  lanes() = default;
  lanes(const addition* list, size_t n) {
    unsigned signs_left = 0, signs_right = 0;
    for (size_t l = 0; l < 8; l++) {
      const addition& a = list[l < n ? l : n - 1];
      left[l] = reinterpret_cast<const uint8_t*>(a.left & ~point_ref{1});
      right[l] = reinterpret_cast<const uint8_t*>(a.right & ~point_ref{1});
      out[l] = static_cast<uint8_t*>(a.out);
      signs_left |= unsigned(a.left & 1) << l;
      signs_right |= unsigned(a.right & 1) << l;
    }
    negate_left = __mmask8(signs_left), negate_right = __mmask8(signs_right);
  }
};

template <class F>
struct group_state {
  typename F::element denominator, left_x;
  fp8<typename F::params> product_before;
  [[no_unique_address]] typename F::norm_of norm_of;
  // Lanes off the common path, and what they are: a doubling, or a result that is known already.
  __mmask8 doubled, take_left, take_right, infinite;

  const fp8<typename F::params>& norm() const { return norm_of.get(denominator); }
  bool exceptional() const { return (doubled | take_left | take_right | infinite) != 0; }
};

template <class F>
class batch {
  using P = typename F::params;
  using element = typename F::element;
  using base = fp8<P>;

 public:
  batch(const addition* list, size_t n, void* scratch, void (*invert)(uint64_t*),
        prefetch_stream& ahead)
      : list_(list), n_(n), groups_((n + 7) / 8), state_(static_cast<group_state<F>*>(scratch)),
        invert_(invert), ahead_(ahead) {}

  // Even and odd groups have running products of their own: two chains hide each other's latency.
  void run() {
    base product[2] = {splat<P>(scales<P>::one), splat<P>(scales<P>::one)};
    for (size_t g = 0; g < groups_; g++) open(g, product[g % 2]);
    invert(product);
    size_t g = groups_;
    while (g > 0) {
      if (g >= 2 && !state_[g - 1].exceptional() && !state_[g - 2].exceptional()) {
        close<2, false>(g - 2, product);
        g -= 2;
      } else {
        close<1, true>(g - 1, product);
        g -= 1;
      }
    }
  }

 private:
  lanes lanes_of(size_t g) const { return lanes(list_ + 8 * g, n_ - 8 * g); }

  // Denominator x₂ − x₁ (+ 2p), and the running product of the norms.
  void open(size_t g, base& product) {
    ahead_.template step<2 * F::bytes>(prefetch_points);
    const lanes at = lanes_of(g);
    group_state<F>& s = state_[g];
    s.left_x = F::get(at.left, 0);
    const element right_x = F::get(at.right, 0);
    s.denominator = carried(plus_2p(right_x - s.left_x));
    s.doubled = s.take_left = s.take_right = s.infinite = 0;
    const __m512i left_low = F::low_limb(s.left_x), right_low = F::low_limb(right_x);
    const __mmask8 suspects = _mm512_testn_epi64_mask(left_low, left_low) |
                              _mm512_testn_epi64_mask(right_low, right_low) |
                              may_be_small_multiple_of_p(s.denominator);
    if (suspects != 0) [[unlikely]]
      classify(at, right_x, s);
    s.norm_of.set(s.denominator);
    s.product_before = product;
    mul(product, product, s.norm());
  }

  [[gnu::noinline]] static void classify(const lanes& at, const element& right_x,
                                         group_state<F>& s) {
    const element left_y = F::get(at.left, F::bytes), right_y = F::get(at.right, F::bytes);
    const __mmask8 left_infinite = is_zero(s.left_x) & is_zero(left_y);
    const __mmask8 right_infinite = is_zero(right_x) & is_zero(right_y);
    const element left = negated(left_y, at.negate_left), right = negated(right_y, at.negate_right);
    // Both from 0 to 4p.
    const element y_difference = carried(plus_2p(right - left));
    const element y_sum = carried(right + left);
    const __mmask8 finite = ~(left_infinite | right_infinite);
    const __mmask8 same_x = is_small_multiple_of_p(s.denominator) & finite;
    const __mmask8 same_y = is_small_multiple_of_p(y_difference) & ~is_small_multiple_of_p(y_sum);
    s.take_right = left_infinite;
    s.take_left = right_infinite & ~left_infinite;
    s.doubled = same_x & same_y;
    s.infinite = same_x & ~same_y;
    // 2y for doublings; any number but 0 where nothing is to be inverted.
    const __mmask8 known = s.take_left | s.take_right | s.infinite;
    s.denominator = select(s.doubled, carried(left + left), s.denominator);
    s.denominator = select(known, F::of_base(splat<P>(scales<P>::one)), s.denominator);
  }

  // Each product and lane ← S·R/itself, in the products' scale: all are multiplied together, and
  // one number is inverted.
  void invert(base (&product)[2]) {
    base all, partner[3];
    mul(all, product[0], product[1]);
    for (int step = 0; step < 3; step++) {
      const __m512i lane = _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0);
      const __m512i index = _mm512_xor_si512(lane, splat(uint64_t{4} >> step));
      for (int j = 0; j < base::L; j++)
        partner[step].limb[j] = _mm512_permutexvar_epi64(index, all.limb[j]);
      mul(all, all, partner[step]);
    }
    const words8<P> same = to_words(all);
    uint64_t number[P::limbs];
    for (int i = 0; i < P::limbs; i++)
      number[i] = uint64_t(_mm_cvtsi128_si64(_mm512_castsi512_si128(same.w[i])));
    invert_(number);
    words8<P> inverse;
    for (int i = 0; i < P::limbs; i++) inverse.w[i] = splat(number[i]);
    mul(all, to_limbs<P>(inverse), splat<P>(scales<P>::inversion));
    for (int step = 2; step >= 0; step--) mul(all, all, partner[step]);
    base first;
    mul(first, all, product[1]);
    mul(product[1], all, product[0]);
    product[0] = first;
  }

  // The sums of G groups from `first`; two at a time hide each other's latency.
  template <int G, bool Exceptional>
  void close(size_t first, base (&product)[2]) {
    group_state<F>* const s = state_ + first;
    ahead_.template step<2 * F::bytes>(2 * G * prefetch_points);
    lanes at[G];
    base norm_inverse[G];
    element slope[G], numerator[G], left_y[G], x[G], y[G];
    for (int g = 0; g < G; g++) at[g] = lanes_of(first + g);
    for (int g = 0; g < G; g++) {
      base& chain = product[(first + g) % 2];
      mul(norm_inverse[g], chain, s[g].product_before);
      mul(chain, chain, s[g].norm());
    }
    for (int g = 0; g < G; g++) {
      left_y[g] = negated(F::get(at[g].left, F::bytes), at[g].negate_left);
      const element right_y = negated(F::get(at[g].right, F::bytes), at[g].negate_right);
      numerator[g] = carried(plus_2p(right_y - left_y[g]));
      if constexpr (Exceptional) numerator[g] = select(s[g].doubled, tangent(s[g]), numerator[g]);
    }
    for (int g = 0; g < G; g++) F::inverse(slope[g], s[g].denominator, norm_inverse[g]);
    for (int g = 0; g < G; g++) mul(slope[g], slope[g], numerator[g]);
    for (int g = 0; g < G; g++) sqr(x[g], slope[g]);
    for (int g = 0; g < G; g++) {
      element x_difference = s[g].denominator;
      if constexpr (Exceptional)
        x_difference = select(s[g].doubled, plus_2p(element{}), x_difference);
      // λ² − x₁ − x₂ with x₂ = x₁ + (x₂ − x₁ + 2p) − 2p.
      x[g] = loosened<5>(x[g] - s[g].left_x - s[g].left_x - x_difference);
      const element fall = rescaled(plus_2p(s[g].left_x - x[g]));
      mul(y[g], slope[g], fall);
    }
    for (int g = 0; g < G; g++) {
      y[g] = loosened<3>(y[g] - left_y[g]);
      if constexpr (Exceptional) settle(at[g], s[g], left_y[g], x[g], y[g]);
      F::put(at[g].out, 0, x[g]);
      F::put(at[g].out, F::bytes, y[g]);
    }
  }

  // 3x², in R form and limbs, for doublings.
  static element tangent(const group_state<F>& s) {
    element xx;
    sqr(xx, s.left_x);
    mul(xx, xx, F::of_base(splat<P>(scales<P>::square)));
    return carried(xx + xx + xx);
  }

  static void settle(const lanes& at, const group_state<F>& s, const element& left_y, element& x,
                     element& y) {
    const element right_x = F::get(at.right, 0);
    const element right_y = negated(F::get(at.right, F::bytes), at.negate_right);
    x = select(s.take_left, s.left_x, select(s.take_right, right_x, x));
    y = select(s.take_left, loosened<1>(left_y), select(s.take_right, loosened<1>(right_y), y));
    // Infinity is all zero, and stays so when both operands are.
    const __mmask8 infinite =
        s.infinite | (s.take_right & is_zero(right_x) & is_zero(F::get(at.right, F::bytes)));
    x = select(infinite, element{}, x);
    y = select(infinite, element{}, y);
  }

  const addition* list_;
  size_t n_, groups_;
  group_state<F>* state_;
  void (*invert_)(uint64_t*);
  prefetch_stream& ahead_;
};

template <class G>
struct over;
template <>
struct over<bn254_g1> : over_fp<bn254_fp_params> {};
template <>
struct over<bn254_g2> : over_fp2<bn254_fp_params> {};
template <>
struct over<bls12_381_g1> : over_fp<bls12_381_fp_params> {};
template <>
struct over<bls12_381_g2> : over_fp2<bls12_381_fp_params> {};

}  // namespace

template <class G>
size_t ifma_scratch_bytes(size_t n) {
  const size_t groups = (n + 7) / 8;
  return (groups < groups_max ? groups : groups_max) * sizeof(group_state<over<G>>);
}

template <class G>
void batch_add_ifma(const addition* list, size_t n, void* scratch, void (*invert)(uint64_t*),
                    prefetch_stream& ahead) {
  for (size_t start = 0; start < n; start += 8 * groups_max) {
    const size_t count = n - start < 8 * groups_max ? n - start : 8 * groups_max;
    batch<over<G>>(list + start, count, scratch, invert, ahead).run();
  }
}

#define PROOFLINE_INSTANTIATE(G)                  \
  template size_t ifma_scratch_bytes<G>(size_t); \
  template void batch_add_ifma<G>(const addition*, size_t, void*, void (*)(uint64_t*), \
                                  prefetch_stream&);

PROOFLINE_INSTANTIATE(bn254_g1)
PROOFLINE_INSTANTIATE(bn254_g2)
PROOFLINE_INSTANTIATE(bls12_381_g1)
PROOFLINE_INSTANTIATE(bls12_381_g2)

}  // namespace proofline
