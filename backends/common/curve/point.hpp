#pragma once

#include "field/fp2.hpp"

// Points of y² = x³ + b (a = 0: both curves, G1 and G2). Formulas and costs are those of the
// Explicit-Formulas Database, https://www.hyperelliptic.org/EFD/g1p/auto-shortw-xyzz.html, in its
// notation.
namespace proofline {

// (0, 0) is the point at infinity: b ≠ 0, so it is not on the curve.
template <class F>
struct affine_t {
  F x, y;

  static PROOFLINE_HD constexpr affine_t infinity() { return {}; }
  PROOFLINE_HD constexpr bool is_infinity() const { return x.is_zero() && y.is_zero(); }
  PROOFLINE_HD constexpr affine_t operator-() const { return {x, -y}; }
  friend PROOFLINE_HD constexpr bool operator==(const affine_t& a, const affine_t& b) {
    return a.x == b.x && a.y == b.y;
  }
};

// x = X/ZZ, y = Y/ZZZ with ZZ³ = ZZZ²; ZZ = 0 is the point at infinity.
template <class F>
struct xyzz_t {
  F x, y, zz, zzz;

  static PROOFLINE_HD constexpr xyzz_t infinity() { return {}; }
  static PROOFLINE_HD constexpr xyzz_t from(const affine_t<F>& p) {
    return p.is_infinity() ? infinity() : xyzz_t{p.x, p.y, F::one(), F::one()};
  }

  PROOFLINE_HD constexpr bool is_infinity() const { return zz.is_zero(); }
  PROOFLINE_HD constexpr xyzz_t operator-() const { return {x, -y, zz, zzz}; }

  // Cost: one inversion, 4M + 1S.
  PROOFLINE_HD affine_t<F> to_affine() const {
    const F inverse = (zz * zzz).inverse();
    return {x * (inverse * zzz), y * (inverse * zz)};
  }

  // dbl-2008-s-1 with a = 0: 6M + 3S. A point of order 2 (none in either group) would give
  // infinity.
  PROOFLINE_HD xyzz_t dbl() const {
    const F u = y.dbl(), v = u.sqr(), w = u * v, s = x * v;
    const F xx = x.sqr(), m = xx.dbl() + xx;
    const F x3 = m.sqr() - s.dbl();
    return {x3, m * (s - x3) - w * y, v * zz, w * zzz};
  }

  // add-2008-s: 12M + 2S.
  friend PROOFLINE_HD xyzz_t operator+(const xyzz_t& a, const xyzz_t& b) {
    if (a.is_infinity()) return b;
    if (b.is_infinity()) return a;
    const F u1 = a.x * b.zz, u2 = b.x * a.zz, s1 = a.y * b.zzz, s2 = b.y * a.zzz;
    const F p = u2 - u1, r = s2 - s1;
    if (p.is_zero()) return r.is_zero() ? a.dbl() : infinity();
    const F pp = p.sqr(), ppp = p * pp, q = u1 * pp;
    const F x3 = r.sqr() - ppp - q.dbl();
    return {x3, r * (q - x3) - s1 * ppp, a.zz * b.zz * pp, a.zzz * b.zzz * ppp};
  }

  // madd-2008-s: 8M + 2S.
  friend PROOFLINE_HD xyzz_t operator+(const xyzz_t& a, const affine_t<F>& b) {
    if (b.is_infinity()) return a;
    if (a.is_infinity()) return from(b);
    const F p = b.x * a.zz - a.x, r = b.y * a.zzz - a.y;
    if (p.is_zero()) return r.is_zero() ? a.dbl() : infinity();
    const F pp = p.sqr(), ppp = p * pp, q = a.x * pp;
    const F x3 = r.sqr() - ppp - q.dbl();
    return {x3, r * (q - x3) - a.y * ppp, a.zz * pp, a.zzz * ppp};
  }

  PROOFLINE_HD xyzz_t& operator+=(const xyzz_t& b) { return *this = *this + b; }
  PROOFLINE_HD xyzz_t& operator+=(const affine_t<F>& b) { return *this = *this + b; }

  // Equal as points.
  friend PROOFLINE_HD bool operator==(const xyzz_t& a, const xyzz_t& b) {
    if (a.is_infinity() || b.is_infinity()) return a.is_infinity() && b.is_infinity();
    return a.x * b.zz == b.x * a.zz && a.y * b.zzz == b.y * a.zzz;
  }
};

// k·p by doubling and adding. Variable time: for set-up and tests, and for the few full
// multiplications of a proof; sums of many go through msm/msm.hpp.
template <class F, int M>
PROOFLINE_HD xyzz_t<F> multiply(const affine_t<F>& p, const words<M>& k) {
  xyzz_t<F> sum = xyzz_t<F>::infinity();
  for (int i = 64 * M - 1; i >= 0; i--) {
    sum = sum.dbl();
    if (k.bit(i)) sum += p;
  }
  return sum;
}

}  // namespace proofline
