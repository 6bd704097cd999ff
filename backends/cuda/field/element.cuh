#pragma once

#include "field/carry.cuh"
#include "field/mont.hpp"

// Montgomery arithmetic on 32-bit words held in registers: the same numbers as backends/common's
// mont_t, with R = 2^(32N). A product is summed in two word arrays, `even` of the 32 by 32 products
// that start at an even word and `odd` of the others, so that each product is one wide multiply-add
// on an aligned pair of registers. The multiply pipe is the limit: 2N² of them and N narrow ones a
// multiplication.
//
// "Loose" values are below 2p. Every operation here takes loose values and gives loose values
// unless it says otherwise: p < 2^(32N)/4, so a·b·R⁻¹ + p stays below 2p.
namespace proofline::cuda {

template <class P>
struct alignas(16) element {
  static constexpr int N = 2 * P::limbs;
  uint32_t l[N];
};

template <class P>
struct modulus_words {
  static constexpr int N = 2 * P::limbs;
  static constexpr uint32_t inverse = uint32_t(negated_inverse<P>());  // −p⁻¹ mod 2^32

  static PROOFLINE_HD constexpr uint32_t p(int i) {
    constexpr words<P::limbs> m = P::modulus();
    return uint32_t(m.w[i / 2] >> (32 * (i & 1)));
  }
  // Word i of 2p.
  static PROOFLINE_HD constexpr uint32_t twice(int i) {
    return p(i) << 1 | (i > 0 ? p(i - 1) >> 31 : 0);
  }
  static PROOFLINE_HD constexpr uint32_t one(int i) {
    constexpr words<P::limbs> r = power_of_two<P>(64 * P::limbs);
    return uint32_t(r.w[i / 2] >> (32 * (i & 1)));
  }
  static PROOFLINE_HD constexpr uint32_t r_cubed(int i) {
    constexpr words<P::limbs> r = power_of_two<P>(192 * P::limbs);
    return uint32_t(r.w[i / 2] >> (32 * (i & 1)));
  }
};

template <class P>
PROOFLINE_DEVICE element<P> one_of() {
  element<P> r;
#pragma unroll
  for (int i = 0; i < element<P>::N; i++) r.l[i] = modulus_words<P>::one(i);
  return r;
}

template <class P>
PROOFLINE_DEVICE bool equal(const element<P>& a, const element<P>& b) {
  uint32_t different = 0;
#pragma unroll
  for (int i = 0; i < element<P>::N; i++) different |= a.l[i] ^ b.l[i];
  return different == 0;
}

// ---- rows

// w += (x[0], x[2], …)·b; the carry out goes into `top`.
template <int N>
PROOFLINE_DEVICE void mad_row(uint32_t* w, const uint32_t* x, uint32_t b, uint32_t& top) {
  w[0] = mad_lo_cc(x[0], b, w[0]);
  w[1] = madc_hi_cc(x[0], b, w[1]);
#pragma unroll
  for (int j = 2; j < N; j += 2) {
    w[j] = madc_lo_cc(x[j], b, w[j]);
    w[j + 1] = madc_hi_cc(x[j], b, w[j + 1]);
  }
  top = addc(top, 0);
}

// The same where no carry leaves the row.
template <int N>
PROOFLINE_DEVICE void mad_row_closed(uint32_t* w, const uint32_t* x, uint32_t b) {
  w[0] = mad_lo_cc(x[0], b, w[0]);
  w[1] = madc_hi_cc(x[0], b, w[1]);
#pragma unroll
  for (int j = 2; j < N - 2; j += 2) {
    w[j] = madc_lo_cc(x[j], b, w[j]);
    w[j + 1] = madc_hi_cc(x[j], b, w[j + 1]);
  }
  w[N - 2] = madc_lo_cc(x[N - 2], b, w[N - 2]);
  w[N - 1] = madc_hi(x[N - 2], b, w[N - 1]);
}

// even0 += left, whose carry enters w[0]; then as mad_row_closed.
template <int N>
PROOFLINE_DEVICE void mad_row_after(uint32_t& even0, uint32_t left, uint32_t* w, const uint32_t* x,
                                    uint32_t b) {
  even0 = add_cc(even0, left);
#pragma unroll
  for (int j = 0; j < N - 2; j += 2) {
    w[j] = madc_lo_cc(x[j], b, w[j]);
    w[j + 1] = madc_hi_cc(x[j], b, w[j + 1]);
  }
  w[N - 2] = madc_lo_cc(x[N - 2], b, w[N - 2]);
  w[N - 1] = madc_hi(x[N - 2], b, w[N - 1]);
}

template <int N>
PROOFLINE_DEVICE void mul_row(uint32_t* w, const uint32_t* x, uint32_t b) {
#pragma unroll
  for (int j = 0; j < N; j += 2) {
    const uint64_t t = uint64_t(x[j]) * b;
    w[j] = uint32_t(t);
    w[j + 1] = uint32_t(t >> 32);
  }
}

// One word down: even ← odd, odd ← even >> 64; word 1 of the old even becomes `left`.
template <int N>
PROOFLINE_DEVICE void shift_rows(uint32_t* even, uint32_t* odd, uint32_t& left) {
  left = even[1];
  uint32_t t[N];
#pragma unroll
  for (int j = 0; j < N; j++) t[j] = j < N - 2 ? even[j + 2] : 0;
#pragma unroll
  for (int j = 0; j < N; j++) {
    even[j] = odd[j];
    odd[j] = t[j];
  }
}

template <int N>
PROOFLINE_DEVICE void add_in_place(uint32_t* a, const uint32_t* b) {
  a[0] = add_cc(a[0], b[0]);
#pragma unroll
  for (int i = 1; i < N - 1; i++) a[i] = addc_cc(a[i], b[i]);
  a[N - 1] = addc(a[N - 1], b[N - 1]);
}

// Returns the borrow as a mask.
template <int N>
PROOFLINE_DEVICE uint32_t sub_in_place(uint32_t* a, const uint32_t* b) {
  a[0] = sub_cc(a[0], b[0]);
#pragma unroll
  for (int i = 1; i < N; i++) a[i] = subc_cc(a[i], b[i]);
  return subc(0, 0);
}

template <class P>
PROOFLINE_DEVICE element<P> merge_rows(const uint32_t* even, const uint32_t* odd, uint32_t left) {
  constexpr int N = element<P>::N;
  element<P> r;
  uint32_t s[N];
#pragma unroll
  for (int j = 0; j < N; j++) {
    r.l[j] = even[j];
    s[j] = j == 0 ? left : odd[j - 1];
  }
  add_in_place<N>(r.l, s);
  return r;
}

template <class P>
struct modulus_array {
  uint32_t w[2 * P::limbs];
  PROOFLINE_DEVICE modulus_array() {
#pragma unroll
    for (int i = 0; i < 2 * P::limbs; i++) w[i] = modulus_words<P>::p(i);
  }
};

// ---- additions

template <class P>
PROOFLINE_DEVICE element<P> reduced(const element<P>& a) {  // loose to canonical
  constexpr int N = element<P>::N;
  const modulus_array<P> m;
  element<P> t = a;
  const uint32_t borrow = sub_in_place<N>(t.l, m.w);
#pragma unroll
  for (int i = 0; i < N; i++) t.l[i] = borrow ? a.l[i] : t.l[i];
  return t;
}

// a − b + p for a, b ≤ p.
template <class P>
PROOFLINE_DEVICE element<P> difference(const element<P>& a, const element<P>& b) {
  constexpr int N = element<P>::N;
  const modulus_array<P> m;
  element<P> t = a;
  sub_in_place<N>(t.l, b.l);
  add_in_place<N>(t.l, m.w);
  return t;
}

// a − b mod 2p.
template <class P>
PROOFLINE_DEVICE element<P> loose_difference(const element<P>& a, const element<P>& b) {
  constexpr int N = element<P>::N;
  element<P> t = a;
  uint32_t m[N];
  const uint32_t borrow = sub_in_place<N>(t.l, b.l);
#pragma unroll
  for (int i = 0; i < N; i++) m[i] = modulus_words<P>::twice(i) & borrow;
  add_in_place<N>(t.l, m);
  return t;
}

// a + b mod 2p.
template <class P>
PROOFLINE_DEVICE element<P> loose_sum(const element<P>& a, const element<P>& b) {
  constexpr int N = element<P>::N;
  element<P> t = a;
  add_in_place<N>(t.l, b.l);
  element<P> u = t;
  uint32_t m[N];
#pragma unroll
  for (int i = 0; i < N; i++) m[i] = modulus_words<P>::twice(i);
  const uint32_t borrow = sub_in_place<N>(u.l, m);
#pragma unroll
  for (int i = 0; i < N; i++) u.l[i] = borrow ? t.l[i] : u.l[i];
  return u;
}

// p − a for a ≤ p.
template <class P>
PROOFLINE_DEVICE element<P> negated(const element<P>& a) {
  const modulus_array<P> m;
  element<P> t;
#pragma unroll
  for (int i = 0; i < element<P>::N; i++) t.l[i] = m.w[i];
  sub_in_place<element<P>::N>(t.l, a.l);
  return t;
}

// 2p − a.
template <class P>
PROOFLINE_DEVICE element<P> loose_negated(const element<P>& a) {
  element<P> t;
#pragma unroll
  for (int i = 0; i < element<P>::N; i++) t.l[i] = modulus_words<P>::twice(i);
  sub_in_place<element<P>::N>(t.l, a.l);
  return t;
}

// ---- products

// a·b/R mod p.
template <class P>
PROOFLINE_DEVICE element<P> product(const element<P>& a, const element<P>& b) {
  constexpr int N = element<P>::N;
  const modulus_array<P> m;
  uint32_t even[N], odd[N], left = 0;
#pragma unroll
  for (int i = 0; i < N; i++) {
    if (i == 0) {
      mul_row<N>(even, a.l, b.l[0]);
      mul_row<N>(odd, a.l + 1, b.l[0]);
    } else {
      mad_row_after<N>(even[0], left, odd, a.l + 1, b.l[i]);
      mad_row<N>(even, a.l, b.l[i], odd[N - 1]);
    }
    const uint32_t q = even[0] * modulus_words<P>::inverse;
    mad_row_closed<N>(odd, m.w + 1, q);
    mad_row<N>(even, m.w, q, odd[N - 1]);  // even[0] becomes 0
    shift_rows<N>(even, odd, left);
  }
  return merge_rows<P>(even, odd, left);
}

// (a·b + c·d)/R mod p with one reduction. Below 2.6p, and below 2p where p < 2^(32N)/8.
template <class P>
PROOFLINE_DEVICE element<P> sum_of_two_products(const element<P>& a, const element<P>& b,
                                                const element<P>& c, const element<P>& d) {
  constexpr int N = element<P>::N;
  const modulus_array<P> m;
  uint32_t even[N], odd[N], left = 0;
#pragma unroll
  for (int i = 0; i < N; i++) {
    if (i == 0) {
      mul_row<N>(even, a.l, b.l[0]);
      mul_row<N>(odd, a.l + 1, b.l[0]);
    } else {
      mad_row_after<N>(even[0], left, odd, a.l + 1, b.l[i]);
      mad_row<N>(even, a.l, b.l[i], odd[N - 1]);
    }
    mad_row_closed<N>(odd, c.l + 1, d.l[i]);
    mad_row<N>(even, c.l, d.l[i], odd[N - 1]);
    const uint32_t q = even[0] * modulus_words<P>::inverse;
    mad_row_closed<N>(odd, m.w + 1, q);
    mad_row<N>(even, m.w, q, odd[N - 1]);
    shift_rows<N>(even, odd, left);
  }
  return merge_rows<P>(even, odd, left);
}

// t/R mod p for a number of 2N words below 2p·R.
template <class P>
PROOFLINE_DEVICE element<P> montgomery_reduced(const uint32_t* t) {
  constexpr int N = element<P>::N;
  const modulus_array<P> m;
  uint32_t even[N], odd[N], left = 0;
#pragma unroll
  for (int j = 0; j < N; j++) {
    even[j] = t[j];
    odd[j] = 0;
  }
#pragma unroll
  for (int i = 0; i < N; i++) {
    uint32_t q;
    if (i == 0) {
      q = even[0] * modulus_words<P>::inverse;
      mul_row<N>(odd, m.w + 1, q);
    } else {
      q = (even[0] + left) * modulus_words<P>::inverse;
      mad_row_after<N>(even[0], left, odd, m.w + 1, q);
    }
    mad_row<N>(even, m.w, q, odd[N - 1]);
    shift_rows<N>(even, odd, left);
  }
  element<P> r = merge_rows<P>(even, odd, left);
  add_in_place<N>(r.l, t + N);
  return r;
}

// x[i]·(x[first], x[first + 2], …) into sum, at the words where the products start less `shift`.
template <int N>
PROOFLINE_DEVICE void square_row(uint32_t* sum, const uint32_t* x, int i, int first, int shift) {
#pragma unroll
  for (int j = first; j < N; j += 2) {
    uint32_t *lo = sum + i + j - shift, *hi = lo + 1;
    *lo = j == first ? mad_lo_cc(x[i], x[j], *lo) : madc_lo_cc(x[i], x[j], *lo);
    *hi = madc_hi_cc(x[i], x[j], *hi);
    if (j == N - 2) hi[1] = addc(hi[1], 0);
  }
}

// a²/R mod p. Cost: N(N − 1)/2 + N + N² wide products.
template <class P>
PROOFLINE_DEVICE element<P> square(const element<P>& a) {
  constexpr int N = element<P>::N;
  uint32_t t[2 * N], u[2 * N];  // u[k] is word k + 1 of the products that start at odd words
#pragma unroll
  for (int j = 0; j < 2 * N; j++) t[j] = u[j] = 0;
#pragma unroll
  for (int i = 0; i < N - 1; i++) {
    square_row<N>(u, a.l, i, i + 1, 1);
    square_row<N>(t, a.l, i, i + 2, 0);
  }
  t[1] = add_cc(t[1], u[0]);
#pragma unroll
  for (int k = 2; k < 2 * N; k++) t[k] = addc_cc(t[k], u[k - 1]);
#pragma unroll
  for (int k = 2 * N - 1; k > 0; k--) t[k] = t[k] << 1 | t[k - 1] >> 31;
  t[0] = 0;
#pragma unroll
  for (int i = 0; i < N; i++) {
    t[2 * i] = i == 0 ? mad_lo_cc(a.l[0], a.l[0], t[0]) : madc_lo_cc(a.l[i], a.l[i], t[2 * i]);
    t[2 * i + 1] = madc_hi_cc(a.l[i], a.l[i], t[2 * i + 1]);
  }
  return montgomery_reduced<P>(t);
}

// ---- inversion

// Division steps in the half-delta variant (Bernstein and Yang, eprint 2019/266, and Wuille's
// bounds: 590 steps for 256 bits, 878 for 381), 30 on one word at a time, without branches on data.
// Signed limbs of 30 bits.
template <class P>
struct inversion {
  static constexpr int N = element<P>::N;
  static constexpr int limbs = P::bits > 256 ? 13 : 9, passes = P::bits > 256 ? 30 : 20;
  static constexpr int32_t mask = 0x3fffffff;
  static constexpr uint32_t inverse = modulus_words<P>::inverse & mask;

  static PROOFLINE_HD constexpr int32_t p30(int i) {
    const int bit = 30 * i, w = bit / 32, s = bit % 32;
    uint32_t v = modulus_words<P>::p(w) >> s;
    if (s > 2 && w + 1 < N) v |= modulus_words<P>::p(w + 1) << (32 - s);
    return i < limbs - 1 ? int32_t(v & uint32_t(mask)) : int32_t(v);
  }
  // p in units of the top limb.
  static PROOFLINE_HD constexpr float p_top() {
    return float(double(p30(limbs - 1)) + double(p30(limbs - 2)) / double(1 << 30));
  }
};

// (x, y) ← ((u·x + v·y)/2^30, (q·x + r·y)/2^30), exact.
template <int L>
PROOFLINE_DEVICE void divide_step_exact(int32_t* x, int32_t* y, int32_t u, int32_t v, int32_t q,
                                        int32_t r) {
  int64_t cx = int64_t(u) * x[0] + int64_t(v) * y[0], cy = int64_t(q) * x[0] + int64_t(r) * y[0];
  cx >>= 30, cy >>= 30;
#pragma unroll
  for (int i = 1; i < L; i++) {
    cx += int64_t(u) * x[i] + int64_t(v) * y[i];
    cy += int64_t(q) * x[i] + int64_t(r) * y[i];
    x[i - 1] = int32_t(cx) & 0x3fffffff, y[i - 1] = int32_t(cy) & 0x3fffffff;
    cx >>= 30, cy >>= 30;
  }
  x[L - 1] = int32_t(cx), y[L - 1] = int32_t(cy);
}

// The same mod p: a centred multiple of p makes it divisible. |x| and |y| grow by p/2 at most.
template <class P>
PROOFLINE_DEVICE void divide_step_modular(int32_t* x, int32_t* y, int32_t u, int32_t v, int32_t q,
                                          int32_t r) {
  using I = inversion<P>;
  int64_t cx = int64_t(u) * x[0] + int64_t(v) * y[0], cy = int64_t(q) * x[0] + int64_t(r) * y[0];
  const int32_t mx = int32_t(uint32_t(cx) * I::inverse << 2) >> 2;
  const int32_t my = int32_t(uint32_t(cy) * I::inverse << 2) >> 2;
  cx = (cx + int64_t(mx) * I::p30(0)) >> 30, cy = (cy + int64_t(my) * I::p30(0)) >> 30;
#pragma unroll
  for (int i = 1; i < I::limbs; i++) {
    cx += int64_t(u) * x[i], cx += int64_t(v) * y[i], cx += int64_t(mx) * I::p30(i);
    cy += int64_t(q) * x[i], cy += int64_t(r) * y[i], cy += int64_t(my) * I::p30(i);
    x[i - 1] = int32_t(cx) & I::mask, y[i - 1] = int32_t(cy) & I::mask;
    cx >>= 30, cy >>= 30;
  }
  x[I::limbs - 1] = int32_t(cx), y[I::limbs - 1] = int32_t(cy);
}

// R²/a mod p (the inverse in Montgomery form), canonical. a ≠ 0. About the time of 50 products.
template <class P>
PROOFLINE_DEVICE element<P> inverse_of(const element<P>& a) {
  using I = inversion<P>;
  constexpr int N = element<P>::N, L = I::limbs;
  int32_t f[L], g[L], d[L], e[L];
#pragma unroll
  for (int i = 0; i < L; i++) {
    const int bit = 30 * i, w = bit / 32, s = bit % 32;
    uint32_t low = a.l[w] >> s;
    if (s > 2 && w + 1 < N) low |= a.l[w + 1 < N ? w + 1 : w] << ((32 - s) & 31);
    g[i] = i < L - 1 ? int32_t(low & uint32_t(I::mask)) : int32_t(low);
    f[i] = I::p30(i), d[i] = 0, e[i] = 0;
  }
  e[0] = 1;
  int32_t zeta = 0;
#pragma unroll 1
  for (int pass = 0; pass < I::passes; pass++) {
    int32_t u = 1, v = 0, q = 0, r = 1;
    uint32_t f0 = uint32_t(f[0]) | uint32_t(f[1]) << 30, g0 = uint32_t(g[0]) | uint32_t(g[1]) << 30;
#pragma unroll 6
    for (int k = 0; k < 30; k++) {
      const bool odd = g0 & 1, swap = odd && zeta >= 0;
      const uint32_t next_f = swap ? g0 : f0;
      const int32_t next_u = swap ? q : u, next_v = swap ? r : v;
      if (odd) {
        g0 = swap ? g0 - f0 : g0 + f0;
        q = swap ? q - u : q + u;
        r = swap ? r - v : r + v;
      }
      zeta = swap ? -zeta : zeta + 1;
      f0 = next_f, g0 >>= 1;
      u = int32_t(uint32_t(next_u) << 1), v = int32_t(uint32_t(next_v) << 1);
    }
    divide_step_exact<L>(f, g, u, v, q, r);
    divide_step_modular<P>(d, e, u, v, q, r);
  }
  // f = ±1 and d = ±1/a, |d| ≤ 16p: take off about ⌊d/p⌋ times p and add p.
  const int32_t k = int32_t(floorf(float(d[L - 1]) * (1.0f / I::p_top()))) - 1;
  int64_t carry = 0;
#pragma unroll
  for (int i = 0; i < L; i++) {
    carry += d[i];
    carry -= int64_t(k) * I::p30(i);
    d[i] = i < L - 1 ? int32_t(carry) & I::mask : int32_t(carry);
    carry >>= 30;
  }
  element<P> x, c, opposite;
#pragma unroll
  for (int w = 0; w < N; w++) {
    const int bit = 32 * w, i = bit / 30, s = bit % 30;
    uint32_t t = uint32_t(d[i]) >> s | uint32_t(d[i + 1]) << (30 - s);
    if (60 - s < 32 && i + 2 < L) t |= uint32_t(d[i + 2 < L ? i + 2 : i]) << ((60 - s) & 31);
    x.l[w] = t;
    c.l[w] = modulus_words<P>::r_cubed(w);
  }
  opposite = negated<P>(c);
  const bool negative = f[L - 1] < 0;
#pragma unroll
  for (int i = 0; i < N; i++) c.l[i] = negative ? opposite.l[i] : c.l[i];
  return reduced<P>(product<P>(x, c));
}

}  // namespace proofline::cuda
