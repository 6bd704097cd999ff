#pragma once

#include "curve/groups.hpp"

// Whether a point of the curve is in the group of order r, by endomorphisms instead of a multiplication by r.
namespace proofline {

// k·p by doubling and adding.
template <class F, int M>
xyzz_t<F> multiply(const xyzz_t<F>& p, const words<M>& k) {
  xyzz_t<F> sum = xyzz_t<F>::infinity();
  for (int i = 64 * M - 1; i >= 0; i--) {
    if (!sum.is_infinity()) sum = sum.dbl();
    if (k.bit(i)) sum += p;
  }
  return sum;
}

namespace subgroup {

// (p − 1)/k, for k that divides it.
template <class P>
words<P::limbs> fraction_of_p(uint64_t k) {
  words<P::limbs> v = P::modulus();
  v.w[0] -= 1;
  uint64_t rest = 0;
  for (int i = P::limbs; i-- > 0;) {
    const uint128_t part = uint128_t(rest) << 64 | v.w[i];
    v.w[i] = uint64_t(part / k);
    rest = uint64_t(part % k);
  }
  return v;
}

template <class F, int M>
F power(const F& x, const words<M>& exponent) {
  F r = F::one();
  for (int i = 64 * M - 1; i >= 0; i--) {
    r = r.sqr();
    if (exponent.bit(i)) r *= x;
  }
  return r;
}

template <class F>
fp2_t<F> conjugate(const fp2_t<F>& a) {
  return {a.c0, -a.c1};
}

// The Frobenius endomorphism of E, carried to the twist: (x, y) → (cx·x̄, cy·ȳ).
template <class F>
struct untwist_frobenius_twist {
  fp2_t<F> cx, cy;

  // y² = x³ + b/ξ (BN254): cx = ξ^((p−1)/3), cy = ξ^((p−1)/2).
  static untwist_frobenius_twist of_divided(const fp2_t<F>& xi) {
    using P = typename F::params;
    return {power(xi, fraction_of_p<P>(3)), power(xi, fraction_of_p<P>(2))};
  }
  // y² = x³ + b·ξ (BLS12-381): their inverses.
  static untwist_frobenius_twist of_multiplied(const fp2_t<F>& xi) {
    const auto d = of_divided(xi);
    return {d.cx.inverse(), d.cy.inverse()};
  }

  xyzz_t<fp2_t<F>> operator()(const xyzz_t<fp2_t<F>>& p) const {
    return {cx * conjugate(p.x), cy * conjugate(p.y), conjugate(p.zz), conjugate(p.zzz)};
  }
};

inline constexpr words<1> bn254_u{{4965661367192848881}};          // EIP-197's curve parameter
inline constexpr words<1> bls12_381_minus_x{{0xd201000000010000}};  // Zcash specification, 5.4.9.2

}  // namespace subgroup

// True for infinity too. For points of the curve.
template <class G>
bool in_subgroup(const typename G::affine& p);

// The cofactor is 1.
template <>
inline bool in_subgroup<bn254_g1>(const bn254_g1::affine&) {
  return true;
}

// (u + 1) + u·ψ + u·ψ² = 2u·ψ³ (El Housni, Guillevic, Piellard, eprint 2022/352, section 4.3). The norm of the
// difference, N((u + 1) + uψ + uψ² − 2uψ³) in Z[ψ]/(ψ² − tψ + p), is r times a number that has no factor in
// common with the order of the twist.
template <>
inline bool in_subgroup<bn254_g2>(const bn254_g2::affine& affine) {
  using namespace subgroup;
  static const auto psi = untwist_frobenius_twist<bn254_fp>::of_divided(
      {bn254_fp::from_u64(9), bn254_fp::one()});
  const auto p = bn254_g2::xyzz::from(affine);
  const auto up = multiply(p, bn254_u);
  const auto psi_up = psi(up), psi2_up = psi(psi_up);
  return up + p + psi_up + psi2_up == psi(psi2_up).dbl();
}

// φ(P) = −x²·P for φ(x, y) = (βx, y), β³ = 1 (M. Scott, eprint 2021/1130, section 6): then
// x⁴ − x² + 1 = r ends it.
template <>
inline bool in_subgroup<bls12_381_g1>(const bls12_381_g1::affine& affine) {
  using namespace subgroup;
  using fp = bls12_381_fp;
  const auto times_x_squared = [](const bls12_381_g1::affine& p) {
    return multiply(multiply(bls12_381_g1::xyzz::from(p), bls12_381_minus_x), bls12_381_minus_x);
  };
  const auto endomorphism = [](const bls12_381_g1::affine& p, const fp& beta) {
    return bls12_381_g1::xyzz::from({p.x * beta, p.y});
  };
  // Of the two primitive cube roots of unity, the one that fits the generator.
  static const fp beta = [&] {
    const fp root = power(fp::from_u64(2), fraction_of_p<bls12_381_fp_params>(3));
    const auto g = bls12_381_g1::generator();
    return endomorphism(g, root) == -times_x_squared(g) ? root : root.sqr();
  }();
  return affine.is_infinity() || endomorphism(affine, beta) == -times_x_squared(affine);
}

// ψ(P) = x·P (the same paper, section 4): N(ψ − x) = p − x is a multiple of r that has no other factor in
// common with the order of the twist.
template <>
inline bool in_subgroup<bls12_381_g2>(const bls12_381_g2::affine& affine) {
  using namespace subgroup;
  static const auto psi = untwist_frobenius_twist<bls12_381_fp>::of_multiplied(
      {bls12_381_fp::one(), bls12_381_fp::one()});
  const auto p = bls12_381_g2::xyzz::from(affine);
  return psi(p) == -multiply(p, bls12_381_minus_x);
}

}  // namespace proofline
