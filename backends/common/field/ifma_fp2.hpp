#pragma once

#include "field/ifma.hpp"

// Eight elements of F_p[u]/(u² + 1). The functions of field/ifma.hpp apply to each coefficient;
// each product is a sum of two with one reduction (6L² + L multiply-adds), which beats Karatsuba's
// three multiplications.
namespace proofline::ifma {

template <class P>
struct fp2x8 {
  fp8<P> c0, c1;
};

template <class P>
inline fp2x8<P> carried(const fp2x8<P>& a) {
  return {carried(a.c0), carried(a.c1)};
}
template <class P>
inline fp2x8<P> operator+(const fp2x8<P>& a, const fp2x8<P>& b) {
  return {a.c0 + b.c0, a.c1 + b.c1};
}
template <class P>
inline fp2x8<P> operator-(const fp2x8<P>& a, const fp2x8<P>& b) {
  return {a.c0 - b.c0, a.c1 - b.c1};
}
template <class P>
inline fp2x8<P> plus_2p(const fp2x8<P>& a) {
  return {plus_2p(a.c0), plus_2p(a.c1)};
}
template <class P>
inline fp2x8<P> negated(const fp2x8<P>& a, __mmask8 lanes) {
  return {negated(a.c0, lanes), negated(a.c1, lanes)};
}
template <class P>
inline fp2x8<P> select(__mmask8 lanes, const fp2x8<P>& a, const fp2x8<P>& b) {
  return {select(lanes, a.c0, b.c0), select(lanes, a.c1, b.c1)};
}
template <int Offset, class P>
inline fp2x8<P> loosened(const fp2x8<P>& a) {
  return {loosened<Offset>(a.c0), loosened<Offset>(a.c1)};
}
template <class P>
inline __mmask8 is_small_multiple_of_p(const fp2x8<P>& a) {
  return is_small_multiple_of_p(a.c0) & is_small_multiple_of_p(a.c1);
}
template <class P>
inline __mmask8 may_be_small_multiple_of_p(const fp2x8<P>& a) {
  return may_be_small_multiple_of_p(a.c0) & may_be_small_multiple_of_p(a.c1);
}
template <class P>
inline __mmask8 is_zero(const fp2x8<P>& a) {
  return is_zero(a.c0) & is_zero(a.c1);
}

// 4p − a, in limbs, for a ≤ 4p.
template <class P>
inline fp8<P> opposite(const fp8<P>& a) {
  return carried(plus_2p(plus_2p(fp8<P>{} - a)));
}

// For a < 4p.
template <class P>
inline void mul(fp2x8<P>& r, const fp2x8<P>& a, const fp2x8<P>& b) {
  const fp8<P> minus_a1 = opposite(a.c1);
  fp8<P> c0;
  mul_add(c0, a.c0, b.c0, minus_a1, b.c1);
  mul_add(r.c1, a.c0, b.c1, a.c1, b.c0);
  r.c0 = c0;
}

// (c0 + c1)(c0 − c1) + 2·c0·c1·u. For a < 2p.
template <class P>
inline void sqr(fp2x8<P>& r, const fp2x8<P>& a) {
  const fp8<P> sum = carried(a.c0 + a.c1), difference = carried(plus_2p(a.c0 - a.c1));
  const fp8<P> twice = carried(a.c0 + a.c0);
  mul(r.c1, twice, a.c1);
  mul(r.c0, sum, difference);
}

}  // namespace proofline::ifma
