#pragma once

#include "field/element.cuh"

// Elements of F_r for transforms: eight words, any 256-bit number standing for its residue ("wide")
// until a pass ends. Products take one wide factor and one below r and are canonical.
namespace proofline::cuda {

template <class P>
using scalar_element = element<P>;

#if defined(__CUDA_ARCH__)
#define PROOFLINE_WORDS8(x) \
  "+r"(x[0]), "+r"(x[1]), "+r"(x[2]), "+r"(x[3]), "+r"(x[4]), "+r"(x[5]), "+r"(x[6]), "+r"(x[7])
#define PROOFLINE_READ8(x) \
  "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(x[4]), "r"(x[5]), "r"(x[6]), "r"(x[7])
#define PROOFLINE_MODULUS8(P)                                                                \
  "n"(modulus_words<P>::p(0)), "n"(modulus_words<P>::p(1)), "n"(modulus_words<P>::p(2)),     \
      "n"(modulus_words<P>::p(3)), "n"(modulus_words<P>::p(4)), "n"(modulus_words<P>::p(5)), \
      "n"(modulus_words<P>::p(6)), "n"(modulus_words<P>::p(7))
#define PROOFLINE_TWICE8(P)                                             \
  "n"(modulus_words<P>::twice(0)), "n"(modulus_words<P>::twice(1)),     \
      "n"(modulus_words<P>::twice(2)), "n"(modulus_words<P>::twice(3)), \
      "n"(modulus_words<P>::twice(4)), "n"(modulus_words<P>::twice(5)), \
      "n"(modulus_words<P>::twice(6)), "n"(modulus_words<P>::twice(7))
// a ± b, then the constant the other way if that left the eight words.
#define PROOFLINE_ADD_SUB8(op, undo)                                                     \
  "{.reg .pred p; .reg .u32 c; " op ".cc.u32 %0, %0, %8; " op "c.cc.u32 %1, %1, %9; " op \
  "c.cc.u32 %2, %2, %10; " op "c.cc.u32 %3, %3, %11; " op "c.cc.u32 %4, %4, %12; " op    \
  "c.cc.u32 %5, %5, %13; " op "c.cc.u32 %6, %6, %14; " op "c.cc.u32 %7, %7, %15; " op    \
  "c.u32 c, 0, 0; setp.ne.u32 p, c, 0; @p " undo ".cc.u32 %0, %0, %16; @p " undo         \
  "c.cc.u32 %1, %1, %17; @p " undo "c.cc.u32 %2, %2, %18; @p " undo                      \
  "c.cc.u32 %3, %3, %19; @p " undo "c.cc.u32 %4, %4, %20; @p " undo                      \
  "c.cc.u32 %5, %5, %21; @p " undo "c.cc.u32 %6, %6, %22; @p " undo "c.u32 %7, %7, %23;}"
#endif

// a − b, plus r if that is negative.
template <class P>
PROOFLINE_DEVICE void subtract_r(uint32_t* a, const uint32_t* b) {
#if defined(__CUDA_ARCH__)
  asm(PROOFLINE_ADD_SUB8("sub", "add")
      : PROOFLINE_WORDS8(a)
      : PROOFLINE_READ8(b), PROOFLINE_MODULUS8(P));
#else
  const modulus_array<P> m;
  if (sub_in_place<8>(a, b)) add_in_place<8>(a, m.w);
#endif
}

// a − b, plus 2r if that is negative.
template <class P>
PROOFLINE_DEVICE void subtract_2r(uint32_t* a, const uint32_t* b) {
#if defined(__CUDA_ARCH__)
  asm(PROOFLINE_ADD_SUB8("sub", "add")
      : PROOFLINE_WORDS8(a)
      : PROOFLINE_READ8(b), PROOFLINE_TWICE8(P));
#else
  const modulus_array<P> m;
  if (sub_in_place<8>(a, b)) add_in_place<8>(a, m.w), add_in_place<8>(a, m.w);
#endif
}

// a + b, minus 2r if that reaches 2^256; a wide, b ≤ r.
template <class P>
PROOFLINE_DEVICE void add_wide(uint32_t* a, const uint32_t* b) {
#if defined(__CUDA_ARCH__)
  asm(PROOFLINE_ADD_SUB8("add", "sub")
      : PROOFLINE_WORDS8(a)
      : PROOFLINE_READ8(b), PROOFLINE_TWICE8(P));
#else
  const modulus_array<P> m;
  a[0] = add_cc(a[0], b[0]);
  for (int i = 1; i < 8; i++) a[i] = addc_cc(a[i], b[i]);
  if (addc(0, 0)) sub_in_place<8>(a, m.w), sub_in_place<8>(a, m.w);
#endif
}

// a + b for a, b < r + d: minus r if the top word exceeds r's; below r + max(2d, 2^224).
template <class P>
PROOFLINE_DEVICE void add_near(uint32_t* a, const uint32_t* b) {
  add_in_place<8>(a, b);
#if defined(__CUDA_ARCH__)
  asm("{.reg .pred p; setp.gt.u32 p, %7, %15; @p sub.cc.u32 %0, %0, %8; @p subc.cc.u32 %1, %1, %9;"
      " @p subc.cc.u32 %2, %2, %10; @p subc.cc.u32 %3, %3, %11; @p subc.cc.u32 %4, %4, %12;"
      " @p subc.cc.u32 %5, %5, %13; @p subc.cc.u32 %6, %6, %14; @p subc.u32 %7, %7, %15;}"
      : PROOFLINE_WORDS8(a)
      : PROOFLINE_MODULUS8(P));
#else
  const modulus_array<P> m;
  if (a[7] > m.w[7]) sub_in_place<8>(a, m.w);
#endif
}

// a minus r if that is not negative.
template <class P>
PROOFLINE_DEVICE void subtract_once(uint32_t* a) {
  const modulus_array<P> m;
  uint32_t t[8];
#pragma unroll
  for (int i = 0; i < 8; i++) t[i] = a[i];
  const uint32_t borrow = sub_in_place<8>(t, m.w);
#pragma unroll
  for (int i = 0; i < 8; i++) a[i] = borrow ? a[i] : t[i];
}

// a minus k·r if that is not negative; k a power of two with k·r < 2^256.
template <class P, int K>
PROOFLINE_DEVICE void subtract_multiple(uint32_t* a) {
  constexpr int shift = K == 4 ? 2 : 1;
  uint32_t t[8], m[8];
#pragma unroll
  for (int i = 0; i < 8; i++) {
    t[i] = a[i];
    m[i] =
        modulus_words<P>::p(i) << shift | (i > 0 ? modulus_words<P>::p(i - 1) >> (32 - shift) : 0);
  }
  const uint32_t borrow = sub_in_place<8>(t, m);
#pragma unroll
  for (int i = 0; i < 8; i++) a[i] = borrow ? a[i] : t[i];
}

// Any 256-bit number to canonical: 2^256 is 2.2 r for BLS12-381 and 5.3 r for BN254.
template <class P>
PROOFLINE_DEVICE void narrow(uint32_t* a) {
  if constexpr (P::bits < 255) {
    subtract_multiple<P, 4>(a);
    subtract_multiple<P, 2>(a);
  } else {
    subtract_once<P>(a);
  }
  subtract_once<P>(a);
}

// x·w/R mod r, canonical; x wide, w < r.
template <class P>
PROOFLINE_DEVICE element<P> scalar_product(const element<P>& x, const element<P>& w) {
  return reduced<P>(product<P>(w, x));
}

// The reduction's share of the even words: e[1] += q, e[2..] += (k0, k2, k4)·q, carry into `top`.
PROOFLINE_DEVICE void reduce_even(uint32_t* e, uint32_t q, const uint32_t* k, uint32_t& top) {
  e[1] = add_cc(e[1], q);
#pragma unroll
  for (int j = 0; j < 3; j++) {
    e[2 + 2 * j] = madc_lo_cc(k[2 * j], q, e[2 + 2 * j]);
    e[3 + 2 * j] = madc_hi_cc(k[2 * j], q, e[3 + 2 * j]);
  }
  top = addc(top, 0);
}
// Of the odd words: o[2..] += (k1, k3, k5)·q.
PROOFLINE_DEVICE void reduce_odd(uint32_t* o, uint32_t q, const uint32_t* k) {
  o[2] = mad_lo_cc(k[1], q, o[2]);
  o[3] = madc_hi_cc(k[1], q, o[3]);
  o[4] = madc_lo_cc(k[3], q, o[4]);
  o[5] = madc_hi_cc(k[3], q, o[5]);
  o[6] = madc_lo_cc(k[5], q, o[6]);
  o[7] = madc_hi(k[5], q, o[7]);
}

// BLS12-381: r = 1 − 2^32 + 2^64·K with K of six words, and 1/r = 1 mod 2^32, so the quotient's
// word is the low word t itself and
//   t − t·r = t·2^32 + t·(2^192 − K)·2^64 − t·2^256:
// six products a word instead of eight and none for the quotient. The last terms together, the
// quotient, are taken off at the end: the result lies in (−r, r). Cost: 64 + 48 wide products.
template <>
PROOFLINE_DEVICE element<bls12_381_fr_params> scalar_product<bls12_381_fr_params>(
    const element<bls12_381_fr_params>& x, const element<bls12_381_fr_params>& w) {
  const uint32_t k[6] = {0x0001a401u, 0xac425bfdu, 0xf65e27fau,
                         0xccc627f7u, 0xd66282b7u, 0x8c1258acu};
  uint32_t even[8], odd[8], q[8], left = 0;
#pragma unroll
  for (int i = 0; i < 8; i++) {
    if (i == 0) {
      mul_row<8>(even, w.l, x.l[0]);
      mul_row<8>(odd, w.l + 1, x.l[0]);
    } else {
      mad_row_after<8>(even[0], left, odd, w.l + 1, x.l[i]);
      mad_row<8>(even, w.l, x.l[i], odd[7]);
    }
    q[i] = even[0];
    reduce_odd(odd, q[i], k);
    reduce_even(even, q[i], k, odd[7]);
    shift_rows<8>(even, odd, left);
  }
  auto r = merge_rows<bls12_381_fr_params>(even, odd, left);
  subtract_r<bls12_381_fr_params>(r.l, q);
  return r;
}

}  // namespace proofline::cuda
