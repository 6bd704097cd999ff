#pragma once

#include "field/add_x86.hpp"
#include "field/params.hpp"

// Addition, subtraction and multiplication mod p on words, in plain C++: 64-bit words with a
// 128-bit product on the host, 32-bit words with a 64-bit product on the device.
namespace proofline {

__extension__ typedef unsigned __int128 uint128_t;

// Whether the assembly of field/add_x86.hpp may run here: on the host, and not in the compiler.
#if defined(PROOFLINE_HAS_X86_ADD) && !defined(__CUDA_ARCH__)
#define PROOFLINE_X86_ADD() (!__builtin_is_constant_evaluated())
#endif

// −p⁻¹ mod 2^64. Newton: each step doubles the correct low bits of the inverse, from 3 (p·p ≡ 1 mod
// 8).
template <class P>
PROOFLINE_HD constexpr uint64_t negated_inverse() {
  const uint64_t p = P::modulus().w[0];
  uint64_t x = p;
  for (int correct = 3; correct < 64; correct *= 2) x *= 2 - p * x;
  return ~x + 1;
}

PROOFLINE_HD constexpr uint64_t add_carry(uint64_t a, uint64_t b, uint64_t& carry) {
  const uint64_t s = a + b;
  const uint64_t t = s + carry;
  carry = (s < a) | (t < s);
  return t;
}

PROOFLINE_HD constexpr uint64_t sub_borrow(uint64_t a, uint64_t b, uint64_t& borrow) {
  const uint64_t d = a - b;
  const uint64_t t = d - borrow;
  borrow = (a < b) | (d < borrow);
  return t;
}

template <class P>
inline constexpr words<P::limbs> modulus_in_memory = P::modulus();

// a − p if a ≥ p, else a. For a < 2p < 2^(64·N).
template <class P>
PROOFLINE_INLINE PROOFLINE_HD constexpr words<P::limbs> subtract_p_once(const words<P::limbs>& a) {
#if defined(PROOFLINE_X86_ADD)
  if (PROOFLINE_X86_ADD()) {
    words<P::limbs> r = a;
    x86::subtract_once(r, modulus_in_memory<P>);
    return r;
  }
#endif
  constexpr words<P::limbs> p = P::modulus();
  words<P::limbs> d{};
  uint64_t borrow = 0;
  for (int i = 0; i < P::limbs; i++) d.w[i] = sub_borrow(a.w[i], p.w[i], borrow);
  const uint64_t keep = ~borrow + 1;
  for (int i = 0; i < P::limbs; i++) d.w[i] = (a.w[i] & keep) | (d.w[i] & ~keep);
  return d;
}

template <class P>
PROOFLINE_INLINE PROOFLINE_HD constexpr words<P::limbs> add_words(const words<P::limbs>& a,
                                                 const words<P::limbs>& b) {
#if defined(PROOFLINE_X86_ADD)
  if (PROOFLINE_X86_ADD()) {
    words<P::limbs> r = a;
    x86::add(r, b, modulus_in_memory<P>);
    return r;
  }
#endif
  static_assert(P::bits < 64 * P::limbs, "2p fits the words");
  words<P::limbs> s{};
  uint64_t carry = 0;
  for (int i = 0; i < P::limbs; i++) s.w[i] = add_carry(a.w[i], b.w[i], carry);
  return subtract_p_once<P>(s);
}

template <class P>
PROOFLINE_INLINE PROOFLINE_HD constexpr words<P::limbs> sub_words(const words<P::limbs>& a,
                                                 const words<P::limbs>& b) {
#if defined(PROOFLINE_X86_ADD)
  if (PROOFLINE_X86_ADD()) {
    words<P::limbs> r = a;
    x86::sub(r, b, modulus_in_memory<P>);
    return r;
  }
#endif
  constexpr words<P::limbs> p = P::modulus();
  words<P::limbs> d{};
  uint64_t borrow = 0;
  for (int i = 0; i < P::limbs; i++) d.w[i] = sub_borrow(a.w[i], b.w[i], borrow);
  const uint64_t add_back = ~borrow + 1;
  uint64_t carry = 0;
  for (int i = 0; i < P::limbs; i++) d.w[i] = add_carry(d.w[i], p.w[i] & add_back, carry);
  return d;
}

// 2^k mod p. Cost: k doublings; for constants, at compile time.
template <class P>
PROOFLINE_HD constexpr words<P::limbs> power_of_two(int k) {
  words<P::limbs> x{{1}};
  for (int i = 0; i < k; i++) x = add_words<P>(x, x);
  return x;
}

// a·b·2^(−64N) mod p. CIOS, Koç–Acar–Kaliski (1996) §5, the two rows of a step interleaved: p
// leaves the top bit of its words free, so no step carries past word N. Cost: 2N² + N products of
// 64 bits.
template <class P>
constexpr words<P::limbs> mul_words(const words<P::limbs>& a, const words<P::limbs>& b) {
  constexpr int N = P::limbs;
  constexpr words<N> p = P::modulus();
  words<N> t{};
  for (int i = 0; i < N; i++) {
    uint128_t x = uint128_t(a.w[0]) * b.w[i] + t.w[0];
    const uint64_t m = uint64_t(x) * negated_inverse<P>();
    uint128_t y = uint128_t(m) * p.w[0] + uint64_t(x);
    for (int j = 1; j < N; j++) {
      x = uint128_t(a.w[j]) * b.w[i] + t.w[j] + uint64_t(x >> 64);
      y = uint128_t(m) * p.w[j] + uint64_t(x) + uint64_t(y >> 64);
      t.w[j - 1] = uint64_t(y);
    }
    t.w[N - 1] = uint64_t(x >> 64) + uint64_t(y >> 64);
  }
  return subtract_p_once<P>(t);
}

// The same with 32-bit words, for processors without a 128-bit product. Cost: 8N² + 2N products of
// 32 bits.
template <class P>
PROOFLINE_HD constexpr words<P::limbs> mul_words32(const words<P::limbs>& a,
                                                   const words<P::limbs>& b) {
  constexpr int N = 2 * P::limbs;
  constexpr words<P::limbs> p = P::modulus();
  constexpr uint32_t inverse = uint32_t(negated_inverse<P>());
  uint32_t t[N] = {};
  for (int i = 0; i < N; i++) {
    const uint32_t bi = uint32_t(b.w[i / 2] >> (32 * (i & 1)));
    uint64_t x = uint64_t(uint32_t(a.w[0])) * bi + t[0];
    const uint32_t m = uint32_t(x) * inverse;
    uint64_t y = uint64_t(m) * uint32_t(p.w[0]) + uint32_t(x);
    for (int j = 1; j < N; j++) {
      x = uint64_t(uint32_t(a.w[j / 2] >> (32 * (j & 1)))) * bi + t[j] + (x >> 32);
      y = uint64_t(m) * uint32_t(p.w[j / 2] >> (32 * (j & 1))) + uint32_t(x) + (y >> 32);
      t[j - 1] = uint32_t(y);
    }
    t[N - 1] = uint32_t(x >> 32) + uint32_t(y >> 32);
  }
  words<P::limbs> r{};
  for (int i = 0; i < P::limbs; i++) r.w[i] = t[2 * i] | uint64_t(t[2 * i + 1]) << 32;
  return subtract_p_once<P>(r);
}

}  // namespace proofline
