// Built with the AVX-512 flags and called only where the processor has them. It instantiates no inline function
// that a unit without the flags might share.
#include "field/ifma.hpp"
#include "ntt/kernel_table.hpp"

namespace proofline {
namespace {

using namespace ifma;

// A multiplication divides by R' = 2^260, while elements are held as v·R, R = 2^256.
constexpr int r = 256, r_prime = 260;

// Eight addresses, one a lane, `step` bytes apart.
struct addresses {
  const uint8_t* lane[8];

  addresses(const void* first, size_t step) {
    PROOFLINE_UNROLL
    for (size_t l = 0; l < 8; l++) lane[l] = static_cast<const uint8_t*>(first) + l * step;
  }
};

constexpr size_t element_bytes = 32;

template <class P>
fp8<P> get(const addresses& from, size_t offset) {
  return to_limbs(gather<P>(from.lane, offset));
}

template <class P>
void put(const addresses& to, size_t offset, const fp8<P>& a) {
  scatter<P>(const_cast<uint8_t* const*>(to.lane), offset, to_words(a));
}

// For limbs below 2p.
template <class P>
fp8<P> subtract_p_once(const fp8<P>& a) {
  const fp8<P> d = carried(a - splat<P>(constants<P>::p));
  return select(_mm512_movepi64_mask(d.limb[fp8<P>::L - 1]), a, d);
}

// a + Offset·p reduced, for raw a with a + Offset·p in [p/2, 8p).
template <int Offset, class P>
fp8<P> reduced(const fp8<P>& a) {
  return subtract_p_once(loosened<Offset>(a));
}

template <class P>
fp8<P> plus_4p(const fp8<P>& a) {
  static constexpr limbs52<fp8<P>::L> p4 = multiple_of_p<P>(4);
  return a + splat<P>(p4);
}

// Factors of the layers of a group: layer l has 2^l of them, from 2^l − 1 on.
template <class P>
struct group_factors {
  fp8<P> of[7];

  // For blocks block, block + block_step, … in the lanes.
  group_factors(const mont_t<P>* factors, size_t block, size_t block_step, int layers) {
    const auto* const bytes = reinterpret_cast<const uint8_t*>(factors);
    for (int layer = 0; layer < layers; layer++) {
      for (size_t b = 0; b < size_t{1} << layer; b++) {
        const addresses from(bytes + element_bytes * ((block << layer) + b),
                             element_bytes * (block_step << layer));
        of[(size_t{1} << layer) - 1 + b] = get<P>(from, 0);
      }
    }
  }
};

// Values, in multiples of p: below 1 at first, then 3, 5 and 7 with products below 1.15.
template <class P>
void interpolate_group(fp8<P>* v, int layers, const group_factors<P>& factors) {
  for (int layer = 0; layer < layers; layer++) {
    const int half = 1 << (layers - 1 - layer);
    for (int b = 0; b < 1 << layer; b++) {
      const fp8<P>& factor = factors.of[(1 << layer) - 1 + b];
      for (int q = 2 * half * b; q < 2 * half * b + half; q++) {
        fp8<P>&low = v[q], &high = v[q + half];
        fp8<P> product = carried(high);
        mul(product, product, factor);
        high = plus_2p(low - product);
        low = low + product;
      }
    }
  }
  for (int q = 0; q < 1 << layers; q++) v[q] = reduced<1>(v[q]);
}

// Values, in multiples of p: sums below 2 and 4, and 8 for the sum of all, which is therefore reduced on the
// way; differences below 7, their products below 1.25.
template <class P>
void evaluate_group(fp8<P>* v, int layers, const group_factors<P>& factors) {
  for (int layer = layers; layer-- > 0;) {
    const int half = 1 << (layers - 1 - layer);
    if (half == 4) v[0] = loosened<1>(v[0]), v[4] = loosened<1>(v[4]);
    for (int b = 0; b < 1 << layer; b++) {
      const fp8<P>& factor = factors.of[(1 << layer) - 1 + b];
      for (int q = 2 * half * b; q < 2 * half * b + half; q++) {
        fp8<P>&low = v[q], &high = v[q + half];
        const fp8<P> difference = carried(plus_4p(low - high));
        low = low + high;
        mul(high, difference, factor);
      }
    }
  }
  for (int q = 0; q < 1 << layers; q++) v[q] = reduced<1>(v[q]);
}

template <class P>
using group_fn = void(fp8<P>*, int, const group_factors<P>&);

template <class P, group_fn<P> group>
void columns(mont_t<P>* a, size_t stride, size_t begin, size_t end, int layers,
             const mont_t<P>* factors, size_t block) {
  const group_factors<P> z(factors, block, 0, layers);
  auto* const bytes = reinterpret_cast<uint8_t*>(a);
  for (size_t j = begin; j < end; j += 8) {
    const addresses at(bytes + element_bytes * j, element_bytes);
    fp8<P> v[8];
    for (int q = 0; q < 1 << layers; q++) v[q] = get<P>(at, element_bytes * stride * size_t(q));
    group(v, layers, z);
    for (int q = 0; q < 1 << layers; q++) put<P>(at, element_bytes * stride * size_t(q), v[q]);
  }
}

template <class P, group_fn<P> group>
void rows(mont_t<P>* a, size_t count, const mont_t<P>* factors, size_t block) {
  auto* const bytes = reinterpret_cast<uint8_t*>(a);
  for (size_t i = 0; i < count; i += 8) {
    const group_factors<P> z(factors, block + i, 1, 3);
    const addresses at(bytes + 8 * element_bytes * i, 8 * element_bytes);
    fp8<P> v[8];
    for (size_t q = 0; q < 8; q++) v[q] = get<P>(at, element_bytes * q);
    group(v, 3, z);
    for (size_t q = 0; q < 8; q++) put<P>(at, element_bytes * q, v[q]);
  }
}

// ---- vectors

template <class P>
addresses eight(const mont_t<P>* a, size_t i) {
  return {reinterpret_cast<const uint8_t*>(a) + element_bytes * i, element_bytes};
}
template <class P>
addresses eight(const words<4>* a, size_t i) {
  return {a + i, element_bytes};
}

template <class P>
void scale(mont_t<P>* a, const mont_t<P>* factors, const mont_t<P>& factor, size_t n) {
  const fp8<P> common = get<P>(addresses(&factor, 0), 0);
  for (size_t i = 0; i < n; i += 8) {
    const addresses at = eight(a, i);
    fp8<P> x = get<P>(at, 0);
    mul(x, x, common);
    mul(x, x, get<P>(eight(factors, i), 0));
    put<P>(at, 0, subtract_p_once(x));
  }
}

// a·b/R for elements of both; below 1.1p.
template <class P>
fp8<P> product(const fp8<P>& a, const fp8<P>& b) {
  static constexpr limbs52<fp8<P>::L> rest = to_limbs52<P>(power_of_two<P>(2 * r_prime - r));
  fp8<P> x;
  mul(x, a, b);
  mul(x, x, splat<P>(rest));
  return x;
}

template <class P>
void multiply(mont_t<P>* out, const mont_t<P>* a, const mont_t<P>* b, size_t n) {
  for (size_t i = 0; i < n; i += 8) {
    const fp8<P> x = product(get<P>(eight(a, i), 0), get<P>(eight(b, i), 0));
    put<P>(eight(out, i), 0, subtract_p_once(x));
  }
}

template <class P>
void multiply_subtract(mont_t<P>* a, const mont_t<P>* b, const mont_t<P>* c, size_t n) {
  for (size_t i = 0; i < n; i += 8) {
    const fp8<P> x = product(get<P>(eight(a, i), 0), get<P>(eight(b, i), 0));
    put<P>(eight(a, i), 0, reduced<2>(x - get<P>(eight(c, i), 0)));
  }
}

template <class P>
void multiply_all(uint8_t* out, const uint8_t* a, const limbs52<fp8<P>::L>& factor, size_t n) {
  const fp8<P> y = splat<P>(factor);
  for (size_t i = 0; i < n; i += 8) {
    fp8<P> x = get<P>(addresses(a + element_bytes * i, element_bytes), 0);
    mul(x, x, y);
    put<P>(addresses(out + element_bytes * i, element_bytes), 0, subtract_p_once(x));
  }
}

template <class P>
void to_canonical(words<4>* out, const mont_t<P>* a, size_t n) {
  static constexpr limbs52<fp8<P>::L> factor = to_limbs52<P>(power_of_two<P>(r_prime - r));
  multiply_all<P>(reinterpret_cast<uint8_t*>(out), reinterpret_cast<const uint8_t*>(a), factor, n);
}

template <class P>
void from_canonical(mont_t<P>* out, const words<4>* a, size_t n) {
  static constexpr limbs52<fp8<P>::L> factor = to_limbs52<P>(power_of_two<P>(r_prime + r));
  multiply_all<P>(reinterpret_cast<uint8_t*>(out), reinterpret_cast<const uint8_t*>(a), factor, n);
}

template <class P>
constexpr ntt_kernels<P> kernels{
    .factor_shift = r_prime - r,
    .interpolate_columns = columns<P, interpolate_group<P>>,
    .evaluate_columns = columns<P, evaluate_group<P>>,
    .interpolate_rows = rows<P, interpolate_group<P>>,
    .evaluate_rows = rows<P, evaluate_group<P>>,
    .scale = scale<P>,
    .multiply = multiply<P>,
    .multiply_subtract = multiply_subtract<P>,
    .to_canonical = to_canonical<P>,
    .from_canonical = from_canonical<P>,
};

}  // namespace

template <>
const ntt_kernels<bn254_fr_params>& ifma_ntt_kernels<bn254_fr_params>() {
  return kernels<bn254_fr_params>;
}

template <>
const ntt_kernels<bls12_381_fr_params>& ifma_ntt_kernels<bls12_381_fr_params>() {
  return kernels<bls12_381_fr_params>;
}

}  // namespace proofline
