#include <cstring>
#include <vector>

#include "check.hpp"
#include "isa.hpp"
#include "msm/batch_add.hpp"
#include "samples.hpp"

using namespace proofline;

namespace {

template <class G>
void generators_have_order_r() {
  const auto g = G::generator();
  CHECK(on_curve<G>(g) && !g.is_infinity());
  CHECK(multiply(g, G::scalar::params::modulus()).is_infinity());
  auto off = g;
  off.y += G::field::one();
  CHECK(!on_curve<G>(off));
}

template <class G>
void points_form_a_group() {
  using xyzz = typename G::xyzz;
  const samples::known_points<G> known(4);
  const auto p = xyzz::from(known.points[0]).dbl(), q = xyzz::from(known.points[1]).dbl();
  const auto r = known.points[2];
  const auto none = xyzz::infinity();
  CHECK(p + q == q + p && (p + q) + xyzz::from(r) == p + (q + r));
  CHECK(p + p == p.dbl() && p + p.to_affine() == p.dbl());
  CHECK((p + -p).is_infinity() && (p + -p.to_affine()).is_infinity());
  CHECK(p + none == p && none + p == p);
  CHECK(p + G::affine::infinity() == p && none + r == xyzz::from(r));
  CHECK((none + none).is_infinity() && none.dbl().is_infinity() && -none == none);
  CHECK(none.to_affine().is_infinity() && xyzz::from(G::affine::infinity()).is_infinity());
  CHECK(!(p == q) && !(p == none) && !(none == p));
  CHECK(on_curve<G>(p.to_affine()) && on_curve<G>((p + q).to_affine()));
}

template <class G>
void multiples_follow_their_scalars() {
  using S = typename G::scalar;
  const auto g = G::generator();
  for (const S& a : samples::elements<S>(16)) {
    const S b = samples::random_element<S>();
    CHECK(multiply(g, a.to_canonical()) + multiply(g, b.to_canonical()) ==
          multiply(g, (a + b).to_canonical()));
  }
}

// Pairs of all kinds: distinct, equal, opposite, one or both at infinity.
template <class G>
std::vector<typename G::affine> mixed_pairs(size_t n, bool awkward) {
  auto points = samples::known_points<G>(2 * n).points;
  for (size_t i = 0; awkward && i < n; i++) {
    auto &p = points[2 * i], &q = points[2 * i + 1];
    switch (samples::random_word() % 8) {
      case 0: p = G::affine::infinity(); break;
      case 1: q = G::affine::infinity(); break;
      case 2: p = q = G::affine::infinity(); break;
      case 3: q = p; break;
      case 4: q = -p; break;
      default: break;
    }
  }
  return points;
}

template <class G>
void batches_are_sums(size_t n, bool awkward, bool in_place) {
  using affine = typename G::affine;
  auto points = mixed_pairs<G>(n, awkward);
  std::vector<affine> want, sums(n);
  std::vector<addition> list;
  for (size_t i = 0; i < n; i++) {
    const point_ref left = ref_to(&points[2 * i], samples::random_word() & 1);
    const point_ref right = ref_to(&points[2 * i + 1], samples::random_word() & 1);
    void* const out = in_place ? &points[2 * i + (i & 1)] : &sums[i];
    list.push_back({left, right, out});
    want.push_back((G::xyzz::from(load_point<G>(left)) + load_point<G>(right)).to_affine());
  }
  batch_scratch scratch;
  batch_add<G>(list.data(), n, scratch);
  for (size_t i = 0; i < n; i++) CHECK(canonical_point<G>(list[i].out) == want[i]);
}

// The formulas do not use b, so any coordinates will do: those at the borders of every bound. Every
// path gives what the portable one gives.
template <class G>
void batches_bear_extreme_coordinates() {
  using affine = typename G::affine;
  const auto values = samples::extremes<typename G::field>::all();
  std::vector<affine> points;
  for (size_t i = 0; i < 500; i++) {
    const auto pick = [&] { return values[samples::random_word() % values.size()]; };
    const bool level = i > 0 && samples::random_word() % 2 == 0;  // a slope of zero
    points.push_back({pick(), level ? points.back().y : pick()});
  }
  std::vector<affine> sums(points.size()), want(points.size());
  std::vector<addition> list, reference;
  for (size_t i = 0; i < points.size(); i++) {
    const size_t other = (i + 1) % points.size();
    const point_ref left = ref_to(&points[i], samples::random_word() & 1);
    const point_ref right = ref_to(&points[other], samples::random_word() & 1);
    list.push_back({left, right, &sums[i]});
    reference.push_back({left, right, &want[i]});
  }
  batch_scratch scratch;
  batch_add<G>(list.data(), list.size(), scratch);
  scalar_batch<G>::run(reference.data(), reference.size(), scratch);
  for (size_t i = 0; i < points.size(); i++) CHECK(canonical_point<G>(&sums[i]) == want[i]);
}

// Sums of sums: what one batch stores the next one takes.
template <class G>
void batches_feed_batches() {
  const samples::known_points<G> known(64);
  auto sums = known.points;
  typename G::scalar total = G::scalar::zero();
  for (const auto& log : known.logs) total += log;
  batch_scratch scratch;
  for (size_t n = sums.size() / 2; n > 0; n /= 2) {
    std::vector<addition> list;
    for (size_t i = 0; i < n; i++)
      list.push_back({ref_to(&sums[i]), ref_to(&sums[i + n]), &sums[i]});
    batch_add<G>(list.data(), n, scratch);
  }
  CHECK(G::xyzz::from(canonical_point<G>(&sums[0])) ==
        multiply(G::generator(), total.to_canonical()));
}

// Points and sums at an address that no type would choose, as in a mapped key.
template <class G>
void batches_take_any_even_address() {
  const auto points = mixed_pairs<G>(20, true);
  constexpr size_t size = sizeof(typename G::affine);
  std::vector<unsigned char> bytes(points.size() * size + 2);
  std::memcpy(bytes.data() + 2, points.data(), points.size() * size);
  std::vector<addition> list;
  for (size_t i = 0; i < 20; i++) {
    unsigned char* const at = bytes.data() + 2 + 2 * i * size;
    list.push_back({ref_to(at), ref_to(at + size), at});
  }
  batch_scratch scratch;
  batch_add<G>(list.data(), list.size(), scratch);
  for (size_t i = 0; i < 20; i++) {
    const auto want = (G::xyzz::from(points[2 * i]) + points[2 * i + 1]).to_affine();
    CHECK(canonical_point<G>(list[i].out) == want);
  }
}

template <class Body>
void on_each_group(Body&& body) {
  body(bn254_g1{});
  body(bn254_g2{});
  body(bls12_381_g1{});
  body(bls12_381_g2{});
}

}  // namespace

TEST(generators) {
  on_each_group([](auto g) { generators_have_order_r<decltype(g)>(); });
}

TEST(group_laws) {
  on_each_isa([](isa) { on_each_group([](auto g) { points_form_a_group<decltype(g)>(); }); });
}

TEST(multiples) {
  on_each_group([](auto g) { multiples_follow_their_scalars<decltype(g)>(); });
}

TEST(batch_additions) {
  on_each_isa([](isa) {
    on_each_group([](auto g) {
      for (const size_t n : {1, 2, 7, 8, 9, 15, 16, 17, 24, 25, 100})
        for (const bool awkward : {false, true})
          for (const bool in_place : {false, true})
            batches_are_sums<decltype(g)>(n, awkward, in_place);
    });
    batches_are_sums<bn254_g1>(5000, true, false);  // more than one inversion
    batch_scratch scratch;
    batch_add<bn254_g1>(nullptr, 0, scratch);
  });
}

TEST(batch_additions_of_extremes) {
  on_each_isa([](isa) {
    on_each_group([](auto g) { batches_bear_extreme_coordinates<decltype(g)>(); });
  });
}

TEST(batch_additions_of_sums) {
  on_each_isa([](isa) { on_each_group([](auto g) { batches_feed_batches<decltype(g)>(); }); });
}

TEST(batch_additions_unaligned) {
  on_each_isa([](isa) {
    on_each_group([](auto g) { batches_take_any_even_address<decltype(g)>(); });
  });
}
