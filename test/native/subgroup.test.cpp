#include "check.hpp"
#include "curve/point_bytes.hpp"
#include "curve/subgroup.hpp"

using namespace proofline;

namespace {

template <class P>
mont_t<P> random_of(mont_t<P>*) {
  mont_t<P> x = mont_t<P>::zero();
  for (int i = 0; i < 8; i++) x = x * mont_t<P>::from_u64(check::random_engine()()) + mont_t<P>::one();
  return x;
}
template <class F>
fp2_t<F> random_of(fp2_t<F>*) {
  return {random_of(static_cast<F*>(nullptr)), random_of(static_cast<F*>(nullptr))};
}

// A root if there is one: p ≡ 3 (mod 4) for both curves.
template <class P>
mont_t<P> root_of(const mont_t<P>& a) {
  words<P::limbs> exponent = subgroup::fraction_of_p<P>(2);  // (p + 1)/4 = ((p − 1)/2 + 1)/2
  exponent.w[0] += 1;
  for (int i = 0; i < P::limbs; i++)
    exponent.w[i] = exponent.w[i] >> 1 | (i + 1 < P::limbs ? exponent.w[i + 1] << 63 : 0);
  return a.pow(exponent);
}
// The complex method: (x + yu)² = a with x² = (a.c0 ± √norm(a))/2.
template <class F>
fp2_t<F> root_of(const fp2_t<F>& a) {
  const F half = F::from_u64(2).inverse(), n = root_of(a.c0.sqr() + a.c1.sqr());
  for (const F& candidate : {(a.c0 + n) * half, (a.c0 - n) * half}) {
    const F x = root_of(candidate);
    if (x.sqr() == candidate && !x.is_zero()) return {x, a.c1 * half * x.inverse()};
  }
  return fp2_t<F>::zero();
}

template <class G>
typename G::affine random_point() {
  for (;;) {
    using F = typename G::field;
    const F x = random_of(static_cast<F*>(nullptr)), right = x.sqr() * x + G::b(), y = root_of(right);
    if (y.sqr() == right) return {x, y};
  }
}

template <class G>
words<4> order() {
  return G::scalar::params::modulus();
}

template <class G>
void agrees_with_the_order(bool whole_curve) {
  using affine = typename G::affine;
  CHECK(in_subgroup<G>(affine::infinity()));
  CHECK(in_subgroup<G>(G::generator()));
  for (int i = 0; i < 20; i++) {
    const words<4> k = {{check::random_engine()(), check::random_engine()()}};
    const affine inside = multiply(G::generator(), k).to_affine();
    CHECK(in_subgroup<G>(inside) && on_curve<G>(inside));

    const affine point = random_point<G>();
    CHECK(on_curve<G>(point));
    const auto cofactor_part = multiply(point, order<G>());
    CHECK(cofactor_part.is_infinity() == whole_curve);
    CHECK(in_subgroup<G>(point) == whole_curve);
    if (whole_curve) continue;
    CHECK(!in_subgroup<G>(cofactor_part.to_affine()));
    CHECK(!in_subgroup<G>((cofactor_part + inside).to_affine()));
  }
}

template <class G>
void bytes_round_trip() {
  using F = typename G::field;
  const auto p = random_point<G>();
  uint8_t bytes[2 * sizeof(F)];
  write_point(bytes, p);
  typename G::affine back;
  CHECK(read_point(bytes, back) && back == p);
  std::memset(bytes, 0xff, sizeof(F));
  CHECK(!read_point(bytes, back));
}

}  // namespace

TEST(bn254_g1) { agrees_with_the_order<bn254_g1>(true); }
TEST(bn254_g2) { agrees_with_the_order<bn254_g2>(false); }
TEST(bls12_381_g1) { agrees_with_the_order<bls12_381_g1>(false); }
TEST(bls12_381_g2) { agrees_with_the_order<bls12_381_g2>(false); }

// (0, 2) has order 3, in the cofactor's part.
TEST(point_of_order_three) {
  using fp = bls12_381_fp;
  const bls12_381_g1::affine p{fp::zero(), fp::from_u64(2)};
  CHECK(on_curve<bls12_381_g1>(p));
  CHECK(!in_subgroup<bls12_381_g1>(p));
}

TEST(bytes) {
  bytes_round_trip<bn254_g1>();
  bytes_round_trip<bn254_g2>();
  bytes_round_trip<bls12_381_g1>();
  bytes_round_trip<bls12_381_g2>();
}

TEST(bytes_are_big_endian_with_c1_first) {
  uint8_t bytes[192];
  write_point(bytes, bls12_381_g2::affine{{bls12_381_fp::from_u64(1), bls12_381_fp::from_u64(2)},
                                          {bls12_381_fp::from_u64(3), bls12_381_fp::from_u64(4)}});
  CHECK(bytes[47] == 2 && bytes[95] == 1 && bytes[143] == 4 && bytes[191] == 3 && bytes[0] == 0);
}
