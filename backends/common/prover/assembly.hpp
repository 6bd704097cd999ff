#pragma once

#include "curve/point_bytes.hpp"
#include "curve/subgroup.hpp"
#include "prover/types.hpp"

namespace proofline {

struct bn254 {
  using fr = bn254_fr_params;
  using g1 = bn254_g1;
  using g2 = bn254_g2;
};

struct bls12_381 {
  using fr = bls12_381_fr_params;
  using g1 = bls12_381_g1;
  using g2 = bls12_381_g2;
};

// The five multi-scalar multiplications of a proof.
template <class Curve>
struct query_sums {
  typename Curve::g1::xyzz h, l, a, b_g1;
  typename Curve::g2::xyzz b_g2;
};

// The points of a key that stand alone.
template <class Curve>
struct key_constants {
  typename Curve::g1::affine alpha_g1, beta_g1, delta_g1;
  typename Curve::g2::affine beta_g2, delta_g2;

  // @throws format_error
  static key_constants from(const key_source& source) {
    return {read<typename Curve::g1>("alpha in G1", source.alpha_g1),
            read<typename Curve::g1>("beta in G1", source.beta_g1),
            read<typename Curve::g1>("delta in G1", source.delta_g1),
            read<typename Curve::g2>("beta in G2", source.beta_g2),
            read<typename Curve::g2>("delta in G2", source.delta_g2)};
  }

 private:
  template <class G>
  static typename G::affine read(const char* subject, const bytes& from) {
    typename G::affine point;
    const bool known = from.size() == sizeof point && read_point(from.data(), point) &&
                       on_curve<G>(point) && in_subgroup<G>(point);
    if (!known) throw format_error(subject, "a point of the key's group", "other bytes");
    return point;
  }
};

// A = α + a + r·δ, B = β + b + s·δ, C = h + l + s·A + r·B − rs·δ, with B of the last in G1 (eprint 2016/260,
// section 3.2).
template <class Curve>
proof_points assemble(const key_constants<Curve>& key, const query_sums<Curve>& sums,
                      const blinding_pair& blinding) {
  using F = mont_t<typename Curve::fr>;
  const words<4>&r = blinding.r, &s = blinding.s;
  const auto a = sums.a + key.alpha_g1 + multiply(key.delta_g1, r);
  const auto b_g1 = sums.b_g1 + key.beta_g1 + multiply(key.delta_g1, s);
  const auto b_g2 = sums.b_g2 + key.beta_g2 + multiply(key.delta_g2, s);
  const words<4> rs = (F::from_canonical(r) * F::from_canonical(s)).to_canonical();
  const auto c = sums.h + sums.l + multiply(a, s) + multiply(b_g1, r) + -multiply(key.delta_g1, rs);

  const auto encoded = [](const auto& point) {
    const auto affine = point.to_affine();
    bytes out(sizeof affine);
    write_point(out.data(), affine);
    return out;
  };
  return {encoded(a), encoded(b_g2), encoded(c)};
}

}  // namespace proofline
