#pragma once

#include "field/mul_portable.hpp"

// Inversion by division steps: D. J. Bernstein, B.-Y. Yang, "Fast constant-time gcd computation and
// modular inversion", 2019 (eprint 2019/266), here in variable time: runs of zero bits are shifted
// out at once.
namespace proofline {

__extension__ typedef __int128 int128_t;

namespace safegcd {

constexpr uint64_t mask62 = ~uint64_t{0} >> 2;

// Σ v[i]·2^(62i), all digits but the top one in [0, 2^62); the top digit carries the sign.
template <int L>
struct signed62 {
  int64_t v[L];
};

// 2^62 · (one block of steps): f ← (u·f + v·g)/2^62, g ← (q·f + r·g)/2^62.
struct matrix {
  int64_t u, v, q, r;
};

template <int L, int N>
constexpr signed62<L> from_words(const words<N>& a) {
  signed62<L> s{};
  for (int i = 0; i < L; i++) {
    const int word = 62 * i / 64, shift = 62 * i % 64;
    uint64_t digit = word < N ? a.w[word] >> shift : 0;
    if (shift > 2 && word + 1 < N) digit |= a.w[word + 1] << (64 - shift);
    s.v[i] = int64_t(digit & mask62);
  }
  return s;
}

template <int L, int N>
constexpr words<N> to_words(const signed62<L>& s) {
  words<N> a{};
  for (int i = 0; i < L; i++) {
    const int word = 62 * i / 64, shift = 62 * i % 64;
    if (word < N) a.w[word] |= uint64_t(s.v[i]) << shift;
    if (shift > 2 && word + 1 < N) a.w[word + 1] |= uint64_t(s.v[i]) >> (64 - shift);
  }
  return a;
}

// 62 division steps on the low words of f (odd) and g. `delta` as in the paper. The entries end
// within ±2^62; they are unsigned so that a negative one may be shifted and multiplied.
inline matrix steps62(int64_t& delta, uint64_t f, uint64_t g) {
  uint64_t u = 1, v = 0, q = 0, r = 1;
  for (int left = 62;;) {
    const int zeros = __builtin_ctzll(g | (~uint64_t{0} << left));
    g >>= zeros;
    u <<= zeros;
    v <<= zeros;
    delta += zeros;
    left -= zeros;
    if (left == 0) break;
    if (delta > 0) {
      delta = -delta;
      const uint64_t f0 = f, u0 = u, v0 = v;
      f = g, g = ~f0 + 1;
      u = q, q = ~u0 + 1;
      v = r, r = ~v0 + 1;
    }
    // The next min(1 − delta, left) steps only add f to g where g is odd: add w·f with w = −g/f
    // modulo as many bits, at most 6 of them because f·(2 − f²) inverts f modulo 2^6.
    const int64_t run = 1 - delta < left ? 1 - delta : left;
    const uint64_t mask = (~uint64_t{0} >> (64 - (run < 6 ? run : 6)));
    const uint64_t w = (f * g * (f * f - 2)) & mask;
    g += f * w;
    q += u * w;
    r += v * w;
  }
  return {int64_t(u), int64_t(v), int64_t(q), int64_t(r)};
}

// (a, b) ← matrix · (a, b) / 2^62, exact.
template <int L>
void apply(signed62<L>& a, signed62<L>& b, const matrix& m) {
  int128_t x = int128_t(m.u) * a.v[0] + int128_t(m.v) * b.v[0];
  int128_t y = int128_t(m.q) * a.v[0] + int128_t(m.r) * b.v[0];
  x >>= 62, y >>= 62;
  for (int i = 1; i < L; i++) {
    x += int128_t(m.u) * a.v[i] + int128_t(m.v) * b.v[i];
    y += int128_t(m.q) * a.v[i] + int128_t(m.r) * b.v[i];
    a.v[i - 1] = int64_t(uint64_t(x) & mask62);
    b.v[i - 1] = int64_t(uint64_t(y) & mask62);
    x >>= 62, y >>= 62;
  }
  a.v[L - 1] = int64_t(x);
  b.v[L - 1] = int64_t(y);
}

// (d, e) ← matrix · (d, e) / 2^62 mod p, by adding the multiple of p in [−p/2, p/2)·2^62 that makes
// the division exact: |d| and |e| grow by at most p/2 beyond their larger.
template <class P, int L>
void apply_mod_p(signed62<L>& d, signed62<L>& e, const matrix& m) {
  constexpr signed62<L> p = from_words<L>(P::modulus());
  constexpr uint64_t inverse = negated_inverse<P>();
  int128_t x = int128_t(m.u) * d.v[0] + int128_t(m.v) * e.v[0];
  int128_t y = int128_t(m.q) * d.v[0] + int128_t(m.r) * e.v[0];
  const int64_t kx = int64_t((uint64_t(x) * inverse) << 2) >> 2;
  const int64_t ky = int64_t((uint64_t(y) * inverse) << 2) >> 2;
  x += int128_t(kx) * p.v[0], y += int128_t(ky) * p.v[0];
  x >>= 62, y >>= 62;
  for (int i = 1; i < L; i++) {
    x += int128_t(m.u) * d.v[i] + int128_t(m.v) * e.v[i] + int128_t(kx) * p.v[i];
    y += int128_t(m.q) * d.v[i] + int128_t(m.r) * e.v[i] + int128_t(ky) * p.v[i];
    d.v[i - 1] = int64_t(uint64_t(x) & mask62);
    e.v[i - 1] = int64_t(uint64_t(y) & mask62);
    x >>= 62, y >>= 62;
  }
  d.v[L - 1] = int64_t(x);
  e.v[L - 1] = int64_t(y);
}

// a ← a + k·p, digits normalised.
template <class P, int L>
void add_multiple_of_p(signed62<L>& a, int64_t k) {
  constexpr signed62<L> p = from_words<L>(P::modulus());
  int128_t x = 0;
  for (int i = 0; i < L; i++) {
    x += int128_t(k) * p.v[i] + a.v[i];
    a.v[i] = i + 1 < L ? int64_t(uint64_t(x) & mask62) : int64_t(x);
    x >>= 62;
  }
}

template <int L>
bool is_zero(const signed62<L>& a) {
  int64_t any = 0;
  for (int i = 0; i < L; i++) any |= a.v[i];
  return any == 0;
}

}  // namespace safegcd

// a⁻¹ mod p for a < p as plain numbers; 0 for 0. About 45 multiplications' time for 381 bits.
template <class P>
words<P::limbs> safegcd_inverse(const words<P::limbs>& a) {
  // Eleven blocks or eighteen (254 or 381 bits, Theorem 11.2) leave |d| and |e| below p·(1 + 18/2).
  constexpr int L = (P::bits + 6 + 61) / 62;
  using namespace safegcd;
  signed62<L> f = from_words<L>(P::modulus()), g = from_words<L>(a);
  signed62<L> d{}, e{};
  e.v[0] = 1;
  int64_t delta = 1;
  while (!is_zero(g)) {
    const uint64_t f0 = uint64_t(f.v[0]) | uint64_t(f.v[1]) << 62;
    const uint64_t g0 = uint64_t(g.v[0]) | uint64_t(g.v[1]) << 62;
    const matrix m = steps62(delta, f0, g0);
    apply(f, g, m);
    apply_mod_p<P>(d, e, m);
  }
  // f = ±gcd = ±1 and d·a ≡ f: the inverse is ±d, brought from (−16p, 16p) into [0, p).
  if (f.v[L - 1] < 0) {
    for (int64_t& digit : d.v) digit = -digit;
  }
  add_multiple_of_p<P>(d, 16);
  for (int k = 16; k >= 1; k /= 2) {
    signed62<L> reduced = d;
    add_multiple_of_p<P>(reduced, -k);
    if (reduced.v[L - 1] >= 0) d = reduced;
  }
  return to_words<L, P::limbs>(d);
}

}  // namespace proofline
