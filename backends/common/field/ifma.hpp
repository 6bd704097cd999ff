#pragma once

#include <immintrin.h>

#include <cstddef>

#include "field/mul_portable.hpp"

// Eight field elements at once with AVX-512 IFMA, limbs of 52 bits: Montgomery multiplication with
// R' = 2^(52·L) after S. Gueron, V. Krasnov, "Accelerating Big Integer Arithmetic Using Intel IFMA
// Extensions", ARITH 2016, here one element a lane. For translation units built with the AVX-512
// flags only; nothing here may be called, and no inline function of another header instantiated, by
// a unit without them.
//
// Forms of an fp8:
//   limbs   every limb in [0, 2^52): what a multiplication takes;
//   raw     signed limbs below 2^60 in size: what additions and subtractions give;
//   loose   limbs, and the value in [0, p + p/1024): what is stored.
namespace proofline::ifma {

#define PROOFLINE_UNROLL _Pragma("GCC unroll 8")

inline constexpr uint64_t mask52 = (uint64_t{1} << 52) - 1;

template <class P>
struct fp8 {
  static constexpr int L = (P::bits + 5 + 51) / 52;
  __m512i limb[L];
};

template <int L>
struct limbs52 {
  uint64_t v[L];
};

// k·v in limbs.
template <class P>
constexpr limbs52<fp8<P>::L> to_limbs52(const words<P::limbs>& v, uint64_t k = 1) {
  limbs52<fp8<P>::L> r{};
  uint64_t carry = 0;
  for (int j = 0; j < fp8<P>::L; j++) {
    const int word = 52 * j / 64, shift = 52 * j % 64;
    uint64_t limb = word < P::limbs ? v.w[word] >> shift : 0;
    if (shift > 12 && word + 1 < P::limbs) limb |= v.w[word + 1] << (64 - shift);
    carry += (limb & mask52) * k;
    r.v[j] = carry & mask52;
    carry >>= 52;
  }
  return r;
}

template <class P>
constexpr limbs52<fp8<P>::L> multiple_of_p(uint64_t k) {
  return to_limbs52<P>(P::modulus(), k);
}

template <class P>
struct constants {
  static constexpr int L = fp8<P>::L;
  static constexpr limbs52<L> p = multiple_of_p<P>(1), p2 = multiple_of_p<P>(2);
  static constexpr limbs52<L> multiples[5] = {{}, p, p2, multiple_of_p<P>(3), multiple_of_p<P>(4)};
  static constexpr uint64_t inverse = negated_inverse<P>() & mask52;  // −p⁻¹ mod 2^52
};

inline __m512i splat(uint64_t v) { return _mm512_set1_epi64(int64_t(v)); }

// acc + the low or high 52 bits of a·b in each lane; `b` in memory is one number for all lanes. As
// assembly because GCC would keep the 2·L broadcasts in registers, and spill.
inline __m512i madd_low(__m512i acc, __m512i a, const uint64_t& b) {
  asm("vpmadd52luq %2%{1to8%}, %1, %0" : "+v"(acc) : "v"(a), "m"(b));
  return acc;
}
inline __m512i madd_high(__m512i acc, __m512i a, const uint64_t& b) {
  asm("vpmadd52huq %2%{1to8%}, %1, %0" : "+v"(acc) : "v"(a), "m"(b));
  return acc;
}

// Raw to limbs, for values ≥ 0.
template <class P>
inline fp8<P> carried(fp8<P> a) {
  const __m512i mask = splat(mask52);
  PROOFLINE_UNROLL
  for (int j = 0; j + 1 < fp8<P>::L; j++) {
    a.limb[j + 1] = _mm512_add_epi64(a.limb[j + 1], _mm512_srai_epi64(a.limb[j], 52));
    a.limb[j] = _mm512_and_si512(a.limb[j], mask);
  }
  return a;
}

// r ← Σ a[t]·b[t]/R' mod p, one reduction for all terms. Row i adds a·b_i and the multiple of p
// that clears the lowest limb. What the next quotient digit waits for comes first: the limb above
// the cleared one, with the first product of the next row.
template <int Terms, class P>
[[gnu::always_inline]] inline void mul_sum(fp8<P>& r, const fp8<P>* const (&a)[Terms],
                                           const fp8<P>* const (&b)[Terms]) {
  constexpr int L = fp8<P>::L;
  using c = constants<P>;
  const __m512i zero = _mm512_setzero_si512();
  __m512i t[L + 1], p[L];
  PROOFLINE_UNROLL
  for (int j = 0; j < L; j++) t[j] = zero, p[j] = splat(c::p.v[j]);
  // With one term p stays in registers; with two there is no room.
  const auto p_low = [&](int j, __m512i q) __attribute__((always_inline)) {
    t[j] = Terms == 1 ? _mm512_madd52lo_epu64(t[j], p[j], q) : madd_low(t[j], q, c::p.v[j]);
  };
  const auto p_high = [&](int j, __m512i q) __attribute__((always_inline)) {
    t[j + 1] =
        Terms == 1 ? _mm512_madd52hi_epu64(t[j + 1], p[j], q) : madd_high(t[j + 1], q, c::p.v[j]);
  };
  const auto low = [&](int to, int term, int j, int i) __attribute__((always_inline)) {
    t[to] = _mm512_madd52lo_epu64(t[to], a[term]->limb[j], b[term]->limb[i]);
  };
  const auto high = [&](int term, int j, int i) __attribute__((always_inline)) {
    t[j + 1] = _mm512_madd52hi_epu64(t[j + 1], a[term]->limb[j], b[term]->limb[i]);
  };
  for (int term = 0; term < Terms; term++) low(0, term, 0, 0);
  PROOFLINE_UNROLL
  for (int i = 0; i < L; i++) {
    t[L] = zero;
    const __m512i q = madd_low(zero, t[0], c::inverse);
    PROOFLINE_UNROLL
    for (int term = 0; term < Terms; term++) {
      high(term, 0, i);
      low(1, term, 1, i);
      if (i + 1 < L) low(1, term, 0, i + 1);
    }
    PROOFLINE_UNROLL
    for (int term = 0; term < Terms; term++) {
      PROOFLINE_UNROLL
      for (int j = 2; j < L; j++) low(j, term, j, i);
      PROOFLINE_UNROLL
      for (int j = 1; j < L; j++) high(term, j, i);
    }
    p_low(0, q);
    p_high(0, q);
    p_low(1, q);
    PROOFLINE_UNROLL
    for (int j = 2; j < L; j++) p_low(j, q);
    PROOFLINE_UNROLL
    for (int j = 1; j < L; j++) p_high(j, q);
    t[1] = _mm512_add_epi64(t[1], _mm512_srli_epi64(t[0], 52));
    PROOFLINE_UNROLL
    for (int j = 0; j < L; j++) t[j] = t[j + 1];
  }
  PROOFLINE_UNROLL
  for (int j = 0; j < L; j++) r.limb[j] = t[j];
  r = carried(r);
}

// r ← a·b/R' mod p. For a < A·p and b < B·p the result is below p·(1 + A·B·p/R'); p/R' is 2^−35 for
// BLS12-381's Fp and 0.012 for BN254. All in limbs. Cost: 4L² + L multiply-adds. `r` may be an
// operand.
template <class P>
[[gnu::noinline]] void mul(fp8<P>& r, const fp8<P>& a, const fp8<P>& b) {
  mul_sum<1, P>(r, {&a}, {&b});
}

// r ← (a·b + c·d)/R' mod p. Cost: 6L² + L multiply-adds.
template <class P>
[[gnu::noinline]] void mul_add(fp8<P>& r, const fp8<P>& a, const fp8<P>& b, const fp8<P>& c,
                               const fp8<P>& d) {
  mul_sum<2, P>(r, {&a, &c}, {&b, &d});
}

template <class P>
inline void sqr(fp8<P>& r, const fp8<P>& a) {
  mul(r, a, a);
}

template <class P>
inline fp8<P> operator+(const fp8<P>& a, const fp8<P>& b) {
  fp8<P> r;
  PROOFLINE_UNROLL
  for (int j = 0; j < fp8<P>::L; j++) r.limb[j] = _mm512_add_epi64(a.limb[j], b.limb[j]);
  return r;
}

template <class P>
inline fp8<P> operator-(const fp8<P>& a, const fp8<P>& b) {
  fp8<P> r;
  PROOFLINE_UNROLL
  for (int j = 0; j < fp8<P>::L; j++) r.limb[j] = _mm512_sub_epi64(a.limb[j], b.limb[j]);
  return r;
}

template <class P>
inline fp8<P> plus_2p(fp8<P> a) {
  PROOFLINE_UNROLL
  for (int j = 0; j < fp8<P>::L; j++)
    a.limb[j] = _mm512_add_epi64(a.limb[j], splat(constants<P>::p2.v[j]));
  return a;
}

// 2p − a in the lanes of `lanes`, a in the others; raw.
template <class P>
inline fp8<P> negated(fp8<P> a, __mmask8 lanes) {
  PROOFLINE_UNROLL
  for (int j = 0; j < fp8<P>::L; j++)
    a.limb[j] = _mm512_mask_sub_epi64(a.limb[j], lanes, splat(constants<P>::p2.v[j]), a.limb[j]);
  return a;
}

template <class P>
inline fp8<P> select(__mmask8 lanes, const fp8<P>& a, const fp8<P>& b) {
  fp8<P> r;
  PROOFLINE_UNROLL
  for (int j = 0; j < fp8<P>::L; j++)
    r.limb[j] = _mm512_mask_blend_epi64(lanes, b.limb[j], a.limb[j]);
  return r;
}

// Limbs (Offset − k)·p for k = 0..7, limb j of all eight in one vector.
template <class P, int Offset>
struct offset_table {
  alignas(64) int64_t v[fp8<P>::L][8];
  constexpr offset_table() : v() {
    for (int k = 0; k < 8; k++)
      for (int j = 0; j < fp8<P>::L; j++)
        v[j][k] = int64_t(multiple_of_p<P>(Offset).v[j]) - int64_t(multiple_of_p<P>(k).v[j]);
  }
};

// Lanes whose limbs are all zero.
template <class P>
inline __mmask8 is_zero(const fp8<P>& a) {
  __m512i any = a.limb[0];
  PROOFLINE_UNROLL
  for (int j = 1; j < fp8<P>::L; j++) any = _mm512_or_si512(any, a.limb[j]);
  return _mm512_testn_epi64_mask(any, any);
}

// a + Offset·p in loose form, for raw a with a + Offset·p in [p/2, 7p). The quotient by p is
// estimated from the top limb alone, whose missing carry is below 16 in size, and never too large.
template <int Offset, class P>
inline fp8<P> loosened(const fp8<P>& a) {
  constexpr int top = fp8<P>::L - 1;
  constexpr uint64_t p_top = constants<P>::p.v[top] + 1;
  constexpr int precision = 63 - __builtin_clzll(p_top) - 1;
  static constexpr uint64_t reciprocal = uint64_t((uint128_t(1) << (52 + precision)) / p_top);
  static constexpr offset_table<P, Offset> table{};
  static constexpr uint64_t offset_top = multiple_of_p<P>(Offset).v[top] - 16;
  const __m512i head = _mm512_add_epi64(a.limb[top], splat(offset_top));
  const __m512i k = _mm512_srli_epi64(
      madd_high(_mm512_setzero_si512(), head, reciprocal), precision);
  fp8<P> r;
  PROOFLINE_UNROLL
  for (int j = 0; j <= top; j++)
    r.limb[j] = _mm512_add_epi64(
        a.limb[j], _mm512_permutexvar_epi64(k, _mm512_load_si512(table.v[j])));
  return carried(r);
}

// The same number in each lane.
template <class P>
inline fp8<P> splat(const limbs52<fp8<P>::L>& v) {
  fp8<P> r;
  PROOFLINE_UNROLL
  for (int j = 0; j < fp8<P>::L; j++) r.limb[j] = splat(v.v[j]);
  return r;
}

// Lanes whose value is k·p, k from 0 to 4. For values in limbs.
template <class P>
inline __mmask8 is_small_multiple_of_p(const fp8<P>& a) {
  __mmask8 any = 0;
  PROOFLINE_UNROLL
  for (int k = 0; k <= 4; k++) {
    __mmask8 equal = 0xff;
    PROOFLINE_UNROLL
    for (int j = 0; j < fp8<P>::L; j++)
      equal &= _mm512_cmpeq_epi64_mask(a.limb[j], splat(constants<P>::multiples[k].v[j]));
    any |= equal;
  }
  return any;
}

// A superset of the lanes whose value is k·p, k from 1 to 3, by one limb.
template <class P>
inline __mmask8 may_be_small_multiple_of_p(const fp8<P>& a) {
  __mmask8 any = 0;
  PROOFLINE_UNROLL
  for (int k = 1; k <= 3; k++)
    any |= _mm512_cmpeq_epi64_mask(a.limb[0], splat(constants<P>::multiples[k].v[0]));
  return any;
}

// ---- memory: eight elements of N words at eight addresses

template <class P>
struct words8 {
  __m512i w[P::limbs];
};

inline __m512i load_halves(const uint8_t* low, const uint8_t* high) {
  const __m256i a = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(low));
  const __m256i b = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(high));
  return _mm512_inserti64x4(_mm512_castsi256_si512(a), b, 1);
}

inline __m512i load_quarters(const uint8_t* a, const uint8_t* b, const uint8_t* c,
                             const uint8_t* d) {
  const auto at = [](const uint8_t* p) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
  };
  __m512i r = _mm512_castsi128_si512(at(a));
  r = _mm512_inserti64x2(r, at(b), 1);
  r = _mm512_inserti64x2(r, at(c), 2);
  return _mm512_inserti64x2(r, at(d), 3);
}

// Transposes: word i of lane l is word i of the element at from[l] + offset.
template <class P>
inline words8<P> gather(const uint8_t* const* from, size_t offset) {
  words8<P> r;
  const auto at = [&](int l) { return from[l] + offset; };
  const __m512i a = load_halves(at(0), at(2)), b = load_halves(at(1), at(3));
  const __m512i c = load_halves(at(4), at(6)), d = load_halves(at(5), at(7));
  const __m512i ab_low = _mm512_unpacklo_epi64(a, b), ab_high = _mm512_unpackhi_epi64(a, b);
  const __m512i cd_low = _mm512_unpacklo_epi64(c, d), cd_high = _mm512_unpackhi_epi64(c, d);
  r.w[0] = _mm512_shuffle_i64x2(ab_low, cd_low, 0x88);
  r.w[1] = _mm512_shuffle_i64x2(ab_high, cd_high, 0x88);
  r.w[2] = _mm512_shuffle_i64x2(ab_low, cd_low, 0xdd);
  r.w[3] = _mm512_shuffle_i64x2(ab_high, cd_high, 0xdd);
  if constexpr (P::limbs == 6) {
    const __m512i even = load_quarters(at(0) + 32, at(2) + 32, at(4) + 32, at(6) + 32);
    const __m512i odd = load_quarters(at(1) + 32, at(3) + 32, at(5) + 32, at(7) + 32);
    r.w[4] = _mm512_unpacklo_epi64(even, odd);
    r.w[5] = _mm512_unpackhi_epi64(even, odd);
  }
  static_assert(P::limbs == 4 || P::limbs == 6);
  return r;
}

template <class P>
inline fp8<P> to_limbs(const words8<P>& a) {
  const __m512i mask = splat(mask52);
  fp8<P> r;
  PROOFLINE_UNROLL
  for (int j = 0; j < fp8<P>::L; j++) {
    const int word = 52 * j / 64, shift = 52 * j % 64;
    const __m512i low = _mm512_srli_epi64(a.w[word], shift);
    if (shift > 12 && word + 1 < P::limbs) {
      const __m512i high = _mm512_slli_epi64(a.w[word + 1], 64 - shift);
      r.limb[j] = _mm512_ternarylogic_epi64(low, high, mask, 0xa8);  // (low | high) & mask
    } else {
      r.limb[j] = shift < 12 ? _mm512_and_si512(low, mask) : low;
    }
  }
  return r;
}

template <class P>
inline words8<P> to_words(const fp8<P>& a) {
  constexpr int L = fp8<P>::L;
  words8<P> r;
  PROOFLINE_UNROLL
  for (int i = 0; i < P::limbs; i++) {
    const int limb = 64 * i / 52, shift = 64 * i % 52;
    r.w[i] = _mm512_srli_epi64(a.limb[limb], shift);
    if (limb + 1 < L)
      r.w[i] = _mm512_or_si512(r.w[i], _mm512_slli_epi64(a.limb[limb + 1], 52 - shift));
    if (limb + 2 < L && 104 - shift < 64)
      r.w[i] = _mm512_or_si512(r.w[i], _mm512_slli_epi64(a.limb[limb + 2], 104 - shift));
  }
  return r;
}

inline void store_quarters(uint8_t* a, uint8_t* b, uint8_t* c, uint8_t* d, __m512i v) {
  const auto put = [](uint8_t* p, __m128i part) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(p), part);
  };
  put(a, _mm512_castsi512_si128(v));
  put(b, _mm512_extracti64x2_epi64(v, 1));
  put(c, _mm512_extracti64x2_epi64(v, 2));
  put(d, _mm512_extracti64x2_epi64(v, 3));
}

// The inverse of `gather`.
template <class P>
inline void scatter(uint8_t* const* to, size_t offset, const words8<P>& a) {
  PROOFLINE_UNROLL
  for (int i = 0; i < P::limbs; i += 2) {
    const auto at = [&](int l) { return to[l] + offset + 8 * i; };
    store_quarters(at(0), at(2), at(4), at(6), _mm512_unpacklo_epi64(a.w[i], a.w[i + 1]));
    store_quarters(at(1), at(3), at(5), at(7), _mm512_unpackhi_epi64(a.w[i], a.w[i + 1]));
  }
}

}  // namespace proofline::ifma
