#pragma once

#include "field/mont.hpp"

namespace proofline {

// Element c0 + c1·u of F_p[u]/(u² + 1): the quadratic extension of both curves. Bytes: c0 then c1.
template <class F>
struct fp2_t {
  using base = F;

  F c0, c1;

  static PROOFLINE_HD constexpr fp2_t zero() { return {}; }
  static PROOFLINE_HD constexpr fp2_t one() { return {F::one(), F::zero()}; }

  PROOFLINE_HD constexpr bool is_zero() const { return c0.is_zero() && c1.is_zero(); }
  friend PROOFLINE_HD constexpr bool operator==(const fp2_t& a, const fp2_t& b) {
    return a.c0 == b.c0 && a.c1 == b.c1;
  }

  friend PROOFLINE_HD constexpr fp2_t operator+(const fp2_t& a, const fp2_t& b) {
    return {a.c0 + b.c0, a.c1 + b.c1};
  }
  friend PROOFLINE_HD constexpr fp2_t operator-(const fp2_t& a, const fp2_t& b) {
    return {a.c0 - b.c0, a.c1 - b.c1};
  }
  PROOFLINE_HD constexpr fp2_t operator-() const { return {-c0, -c1}; }
  PROOFLINE_HD constexpr fp2_t dbl() const { return {c0.dbl(), c1.dbl()}; }

  // Cost: Karatsuba, 3M + 5A; with fused products as much as 3M + 1A.
  friend PROOFLINE_HD fp2_t operator*(const fp2_t& a, const fp2_t& b) {
    if (F::fuses_products()) {
      return {F::sum_of_products(a.c0, b.c0, -a.c1, b.c1),
              F::sum_of_products(a.c0, b.c1, a.c1, b.c0)};
    }
    const F v0 = a.c0 * b.c0, v1 = a.c1 * b.c1;
    return {v0 - v1, (a.c0 + a.c1) * (b.c0 + b.c1) - v0 - v1};
  }
  friend PROOFLINE_HD fp2_t operator*(const fp2_t& a, const F& b) { return {a.c0 * b, a.c1 * b}; }

  // (c0 + c1)(c0 − c1) + 2·c0·c1·u. Cost: 2M + 3A.
  PROOFLINE_HD fp2_t sqr() const { return {(c0 + c1) * (c0 - c1), (c0 * c1).dbl()}; }

  PROOFLINE_HD fp2_t& operator+=(const fp2_t& b) { return *this = *this + b; }
  PROOFLINE_HD fp2_t& operator-=(const fp2_t& b) { return *this = *this - b; }
  PROOFLINE_HD fp2_t& operator*=(const fp2_t& b) { return *this = *this * b; }

  // c0² + c1², the product with the conjugate.
  PROOFLINE_HD F norm() const { return F::sum_of_products(c0, c0, c1, c1); }

  // (c0 − c1·u)/norm, and 0 for 0.
  PROOFLINE_HD fp2_t inverse() const {
    const F norm_inverse = norm().inverse();
    return {c0 * norm_inverse, -(c1 * norm_inverse)};
  }
};

using bn254_fp2 = fp2_t<bn254_fp>;
using bls12_381_fp2 = fp2_t<bls12_381_fp>;

}  // namespace proofline
