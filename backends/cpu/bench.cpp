#include "bench.hpp"

#include <chrono>
#include <random>

#include "msm/huge_array.hpp"
#include "msm/msm.hpp"
#include "ntt/domain.hpp"
#include "prover/assembly.hpp"
#include "prover/fixed_base.hpp"
#include "program/synthesis.hpp"

namespace proofline {
namespace {

template <class Fn>
std::vector<double> seconds_of(int runs, const executor& exec, Fn&& fn) {
  std::vector<double> seconds;
  for (int run = 0; run < runs; run++) {
    exec.check_cancelled();
    const auto start = std::chrono::steady_clock::now();
    fn();
    seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return seconds;
}

// Below r: products of random elements.
template <class F>
std::vector<words<4>> random_scalars(size_t n, uint64_t seed) {
  std::mt19937_64 engine(seed);
  std::vector<words<4>> scalars(n);
  F x = F::from_u64(engine());
  for (words<4>& s : scalars) {
    x = x * x + F::from_u64(engine());
    s = x.limb;
  }
  return scalars;
}

// The points are known multiples of the generator, so the sum is known too.
template <class G>
std::vector<double> bench_msm_of(int log_n, int runs, const executor& exec) {
  using F = typename G::scalar;
  const size_t n = size_t{1} << log_n;
  const auto logs = random_scalars<F>(n, 1), scalars = random_scalars<F>(n, 2);
  const bytes points = fixed_base<G>(n, exec).multiples(logs, point_form::montgomery_le, exec);
  const points_view<G> view(points.data(), n);
  F log = F::zero();
  for (size_t i = 0; i < n; i++) log += F::from_canonical(logs[i]) * F::from_canonical(scalars[i]);
  const auto expected = multiply(G::generator(), log.to_canonical());
  require(msm<G>(view, scalars, exec) == expected, "the sum that the points' logarithms give");
  return seconds_of(runs, exec, [&] { msm<G>(view, scalars, exec); });
}

template <class P>
std::vector<double> bench_ntt_of(int log_n, int runs, const executor& exec) {
  using F = mont_t<P>;
  const ntt_domain<P> domain(5, log_n, exec);
  const size_t n = domain.size();
  std::vector<F> coefficients(n), values(n);
  const auto scalars = random_scalars<F>(n, 3);
  for (size_t i = 0; i < n; i++) {
    coefficients[i] = F{scalars[i]};
    values[reversed_bits(i, log_n)] = coefficients[i];
  }
  domain.evaluate(exec, values.data());
  for (const size_t i : {size_t{0}, size_t{1}, n / 2, n - 1}) {
    const F x = domain.root().pow(words<1>{{i}});
    F expected = F::zero();
    for (size_t k = n; k-- > 0;) expected = expected * x + coefficients[k];
    require(values[i % n] == expected, "the polynomial's value at a root of unity");
  }
  return seconds_of(runs, exec, [&] { domain.evaluate(exec, values.data()); });
}

}  // namespace

std::vector<double> bench_msm(curve_id curve, bool g1, int log_n, int runs, const executor& exec) {
  if (curve == curve_id::bn254) {
    return g1 ? bench_msm_of<bn254_g1>(log_n, runs, exec) : bench_msm_of<bn254_g2>(log_n, runs, exec);
  }
  return g1 ? bench_msm_of<bls12_381_g1>(log_n, runs, exec)
            : bench_msm_of<bls12_381_g2>(log_n, runs, exec);
}

synthesis_seconds bench_synthesis(const program_input& input, bool expanded, const executor& exec) {
  const auto timed = [&](auto&& fn) { return seconds_of(1, exec, fn)[0]; };
  std::optional<circuit_program> program;
  synthesis made;
  synthesis_seconds seconds{};
  seconds.open = timed([&] { program.emplace(input.program); });
  seconds.compute = timed([&] { made = synthesize(*program, input.private_inputs, keep_c::no, exec); });
  seconds.output = timed([&] {
    if (!expanded) {
      const auto w = std::move(made.witness).compact(exec), a = std::move(made.a).compact(exec),
                 b = std::move(made.b).compact(exec);
      return;
    }
    const huge_array<words<4>> elements(std::max(made.witness.size(), made.a.size()));
    for (parted_vector* vector : {&made.witness, &made.a, &made.b}) {
      std::move(*vector).expand(elements.data(), exec);
    }
  });
  seconds.densities = timed([&] { densities_of(*program, exec); });
  return seconds;
}

std::vector<double> bench_ntt(curve_id curve, int log_n, int runs, const executor& exec) {
  return curve == curve_id::bn254 ? bench_ntt_of<bn254_fr_params>(log_n, runs, exec)
                                  : bench_ntt_of<bls12_381_fr_params>(log_n, runs, exec);
}

}  // namespace proofline
