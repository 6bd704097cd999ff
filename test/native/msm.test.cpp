#include <cstring>
#include <vector>

#include "check.hpp"
#include "isa.hpp"
#include "msm/msm.hpp"
#include "samples.hpp"

using namespace proofline;

namespace {

using scalars_t = std::vector<words<4>>;

// Scalars of one kind.
enum class kind { random, zero, one, minus_one, bits, small, equal, few, powers, mixed };
constexpr kind kinds[] = {kind::random, kind::zero,  kind::one, kind::minus_one, kind::bits,
                          kind::small,  kind::equal, kind::few, kind::powers,    kind::mixed};

template <class S>
scalars_t scalars_of(kind k, size_t n) {
  using samples::random_word;
  const auto random = [] { return samples::random_below<typename S::params>(); };
  const auto negative = [](const S& a) { return (-a).to_canonical(); };
  const words<4> same = random();
  scalars_t few(3);
  for (words<4>& s : few) s = random();
  scalars_t v;
  for (size_t i = 0; i < n; i++) {
    const kind now = k == kind::mixed ? kinds[random_word() % 9] : k;
    switch (now) {
      case kind::zero: v.push_back({}); break;
      case kind::one: v.push_back({{1}}); break;
      case kind::minus_one: v.push_back(negative(S::one())); break;
      case kind::bits: v.push_back({{random_word() & 1}}); break;
      case kind::small: v.push_back({{random_word() >> (random_word() % 64)}}); break;
      case kind::equal: v.push_back(same); break;
      case kind::few: v.push_back(few[random_word() % few.size()]); break;
      case kind::powers: {
        words<4> power{};
        const auto bit = random_word() % (S::params::bits - 1);
        power.w[bit / 64] = uint64_t{1} << (bit % 64);
        v.push_back(random_word() & 1 ? power : negative(S::from_canonical(power)));
        break;
      }
      default: v.push_back(random()); break;
    }
  }
  return v;
}

template <class G>
typename G::xyzz expected(const samples::known_points<G>& known, const scalars_t& scalars) {
  using S = typename G::scalar;
  S sum = S::zero();
  for (size_t i = 0; i < scalars.size(); i++) sum += known.logs[i] * S::from_canonical(scalars[i]);
  return multiply(G::generator(), sum.to_canonical());
}

template <class G>
points_view<G> view(const samples::known_points<G>& known) {
  return std::span<const typename G::affine>(known.points);
}

// Points at infinity, repeated and opposite ones among the others.
template <class G>
samples::known_points<G> awkward_points(size_t n) {
  samples::known_points<G> known(n);
  for (size_t i = 1; i < n; i++) {
    const size_t other = samples::random_word() % i;
    switch (samples::random_word() % 6) {
      case 0:
        known.points[i] = G::affine::infinity(), known.logs[i] = G::scalar::zero();
        break;
      case 1: known.points[i] = known.points[other], known.logs[i] = known.logs[other]; break;
      case 2: known.points[i] = -known.points[other], known.logs[i] = -known.logs[other]; break;
      default: break;
    }
  }
  return known;
}

template <class G>
void sums_are_right(size_t n, bool awkward, unsigned threads) {
  const auto known = awkward ? awkward_points<G>(n) : samples::known_points<G>(n);
  thread_pool pool(threads);
  const executor exec(pool);
  for (const kind k : kinds) {
    const auto scalars = scalars_of<typename G::scalar>(k, n);
    CHECK(msm<G>(view(known), scalars, exec) == expected(known, scalars));
  }
}

}  // namespace

TEST(definition) {
  // Against multiplications one by one, which share no code with the sums.
  const size_t n = 20;
  const samples::known_points<bls12_381_g1> known(n);
  const auto scalars = scalars_of<bls12_381_fr>(kind::mixed, n);
  auto sum = bls12_381_g1::xyzz::infinity();
  for (size_t i = 0; i < n; i++) sum += multiply(known.points[i], scalars[i]);
  thread_pool pool(2);
  on_each_isa([&](isa) {
    CHECK(msm<bls12_381_g1>(view(known), scalars, executor(pool)) == sum);
  });
}

TEST(small_sizes) {
  on_each_isa([](isa) {
    for (const size_t n : {0, 1, 2, 3, 31, 257}) {
      sums_are_right<bn254_g1>(n, true, 1);
      sums_are_right<bls12_381_g1>(n, true, 2);
      sums_are_right<bn254_g2>(n, true, 2);
      sums_are_right<bls12_381_g2>(n, true, 3);
    }
  });
}

TEST(middle_sizes) {
  on_each_isa([](isa) {
    sums_are_right<bls12_381_g1>(1000, false, 2);
    sums_are_right<bn254_g1>(3001, true, 2);
  });
}

// Windows of 13 bits in many parts, and every point in one bucket, which is cut and merged.
TEST(large_sizes) {
  const size_t n = 70'000;
  const samples::known_points<bn254_g1> known(n);
  thread_pool pool(2);
  for (const kind k : {kind::random, kind::equal, kind::bits, kind::mixed}) {
    const auto scalars = scalars_of<bn254_fr>(k, n);
    CHECK(msm<bn254_g1>(view(known), scalars, executor(pool)) == expected(known, scalars));
  }
}

TEST(points_at_any_even_address) {
  const size_t n = 100;
  const auto known = awkward_points<bls12_381_g1>(n);
  constexpr size_t size = sizeof(bls12_381_g1::affine);
  std::vector<unsigned char> bytes(n * size + 2);
  std::memcpy(bytes.data() + 2, known.points.data(), n * size);
  const auto scalars = scalars_of<bls12_381_fr>(kind::mixed, n);
  thread_pool pool(2);
  on_each_isa([&](isa) {
    const points_view<bls12_381_g1> points(bytes.data() + 2, n);
    CHECK(msm<bls12_381_g1>(points, scalars, executor(pool)) == expected(known, scalars));
  });
}

// Each window size cuts scalars into digits in range that add up to them.
TEST(digits) {
  using S = bn254_fr;
  auto scalars = scalars_of<S>(kind::random, 40);
  for (const kind k : {kind::small, kind::powers, kind::minus_one})
    for (const words<4>& s : scalars_of<S>(k, 20)) scalars.push_back(s);
  for (const words<4>& s : scalars) {
    const auto cut = signed_scalar::from<S::params>(s);
    for (int bits = 2; bits <= window_plan::bits_max; bits++) {
      const window_plan plan{bits, cut.length() / bits + 1, cut.length()};
      std::vector<int16_t> digits(size_t(plan.count));
      plan.cut(cut.size, digits.data(), 1);
      S sum = S::zero(), weight = S::one();
      for (int w = 0; w < plan.count; w++) {
        const int digit = -digits[size_t(w)];
        const auto size = uint64_t(digit < 0 ? -digit : digit);
        CHECK(size <= uint64_t{1} << std::max(plan.buckets_log(w), 0));
        CHECK(digit >= 0 || w + 1 < plan.count);
        const S term = weight * S::from_u64(size);
        sum += digit < 0 ? -term : term;
        for (int i = 0; i < bits; i++) weight = weight.dbl();
      }
      CHECK((cut.negative ? -sum : sum) == S::from_canonical(s));
    }
  }
}

TEST(window_sizes_grow_with_the_work) {
  std::array<size_t, 257> lengths{};
  int last = 2;
  for (size_t n = 1; n <= size_t{1} << 22; n *= 4) {
    lengths[253] = n;
    const window_plan plan = plan_windows(lengths);
    CHECK(plan.bits >= last && plan.bits * plan.count >= 254);
    last = plan.bits;
  }
  CHECK(last == window_plan::bits_max);
}

TEST(cancel_ends_a_sum) {
  const size_t n = 20'000;
  const samples::known_points<bn254_g1> known(n);
  const auto scalars = scalars_of<bn254_fr>(kind::random, n);
  thread_pool pool(2);
  cancel_token cancel;
  cancel.request();
  bool cancelled = false;
  try {
    msm<bn254_g1>(view(known), scalars, executor(pool, &cancel));
  } catch (const prover_error& e) {
    cancelled = e.status == prover_status::cancelled;
  }
  CHECK(cancelled);
  CHECK(msm<bn254_g1>(view(known), scalars, executor(pool)) == expected(known, scalars));
}

TEST(lengths_must_agree) {
  const samples::known_points<bn254_g1> known(3);
  thread_pool pool(1);
  bool refused = false;
  try {
    msm<bn254_g1>(view(known), scalars_t(2), executor(pool));
  } catch (const prover_error& e) {
    refused = e.status == prover_status::internal;
  }
  CHECK(refused);
}

TEST(memory_estimate_grows) {
  CHECK(msm_memory_bytes<bls12_381_g1>(1 << 18, 2) < size_t{120} << 20);
  CHECK(msm_memory_bytes<bls12_381_g1>(1 << 16, 2) < msm_memory_bytes<bls12_381_g1>(1 << 18, 2));
  CHECK(msm_memory_bytes<bls12_381_g1>(1 << 22, 2) == msm_memory_bytes<bls12_381_g1>(1 << 20, 2));
}
