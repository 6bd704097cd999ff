#pragma once

#include <algorithm>
#include <vector>

#include "curve/groups.hpp"
#include "seed.hpp"

// Draws for the tests of fields, points and sums: extremes first, then random ones.
namespace samples {

using namespace proofline;

inline uint64_t random_word() { return check::random_engine()(); }

template <class P>
words<P::limbs> random_below() {
  words<P::limbs> v;
  do {
    for (uint64_t& w : v.w) w = random_word();
    v.w[P::limbs - 1] >>= 64 * P::limbs - P::bits;
  } while (!(v < P::modulus()));
  return v;
}

template <class F>
F random_element() {
  if constexpr (requires { typename F::params; }) {
    return F{random_below<typename F::params>()};
  } else {
    return {random_element<typename F::base>(), random_element<typename F::base>()};
  }
}

template <class F>
struct extremes {
  static std::vector<F> all() {
    auto largest = F::params::modulus();
    largest.w[0] -= 1;
    auto next_to_it = largest;
    next_to_it.w[0] -= 1;
    std::vector<F> v{F::zero(), F::one(), -F::one(), F{{{1}}}, F{largest}, F{next_to_it}};
    for (int bit = 1; bit < F::params::bits - 1; bit += 31)
      v.push_back(F{power_of_two<typename F::params>(bit)});
    return v;
  }
};
template <class F>
struct extremes<fp2_t<F>> {
  static std::vector<fp2_t<F>> all() {
    std::vector<fp2_t<F>> v;
    const std::vector<F> parts = extremes<F>::all();
    for (size_t i = 0; i < 6; i++)
      for (size_t j = 0; j < 6; j++) v.push_back({parts[i], parts[j]});
    return v;
  }
};

template <class F>
std::vector<F> elements(size_t n) {
  std::vector<F> v = extremes<F>::all();
  v.resize(std::min(v.size(), n));
  while (v.size() < n) v.push_back(random_element<F>());
  return v;
}

// n points k·G with their k.
template <class G>
struct known_points {
  std::vector<typename G::affine> points;
  std::vector<typename G::scalar> logs;

  explicit known_points(size_t n) {
    using F = typename G::field;
    using S = typename G::scalar;
    S log = random_element<S>();
    const S step = random_element<S>();
    auto sum = multiply(G::generator(), log.to_canonical());
    const auto step_point = multiply(G::generator(), step.to_canonical()).to_affine();
    std::vector<xyzz_t<F>> sums(n);
    std::vector<F> z(n), scratch(n);
    for (size_t i = 0; i < n; i++, sum += step_point, log += step) {
      sums[i] = sum, logs.push_back(log);
      z[i] = sum.zz * sum.zzz;
    }
    batch_inverse(z.data(), scratch.data(), n);
    for (size_t i = 0; i < n; i++)
      points.push_back({sums[i].x * z[i] * sums[i].zzz, sums[i].y * z[i] * sums[i].zz});
  }
};

}  // namespace samples
