#include "setup_scalars.hpp"

#include <array>
#include <bit>

#include "ntt/quotient.hpp"
#include "program/instances.hpp"

namespace proofline {
namespace {

using P = bls12_381_fr_params;
using F = mont_t<P>;
using elements = std::unique_ptr<F[]>;

constexpr size_t block = 1024;
// Share of the work that adding up the rows is, about.
constexpr double rows_share = 0.6;

F field_of(const words<4>& canonical) { return F::from_canonical(canonical); }
F power(const F& base, size_t exponent) { return base.pow(words<1>{{exponent}}); }

// L_i(tau) = (tau^n − 1)/n · root^i / (tau − root^i) for all i < n.
elements lagrange_at(const F& tau, int log_n, const executor& exec) {
  const size_t n = size_t{1} << log_n;
  const F root = root_of_unity<P>(root_generator<P>(h_basis::monomial), log_n);
  const F scale = (power(tau, n) - F::one()) * F::from_u64(n).inverse();
  auto values = std::make_unique_for_overwrite<F[]>(n);
  exec.run_ranges(n, block, [&](size_t begin, size_t end, unsigned) {
    std::array<F, block> scratch;
    const F first = power(root, begin);
    F at = first;
    for (size_t i = begin; i < end; i++, at *= root) values[i] = tau - at;
    batch_inverse(&values[begin], scratch.data(), end - begin);
    at = first * scale;
    for (size_t i = begin; i < end; i++, at *= root) values[i] *= at;
  });
  return values;
}

// Σ over rows of coefficient · L_row(tau), by variable, for A, B and C; input rows included.
std::array<elements, 3> sums_of(const circuit_program& program, const elements& lagrange,
                                const call_context& context) {
  const size_t inputs = program.inputs(), variables = inputs + program.aux();
  std::array<elements, 3> sums;
  for (elements& each : sums) each = std::make_unique<F[]>(variables);
  const auto index = [&](uint32_t code) -> size_t {
    if ((code & program_format::aux_code) == 0) return code;
    return inputs + (code ^ program_format::aux_code);
  };
  leaf_walk(program).visit({&program.root(), {}, {}}, [&](const instance& at) {
    context.exec.check_cancelled();
    const auto& leaf = std::get<leaf_template>(at.of->body);
    for (size_t i = 0; i < leaf.rows.size(); i++) {
      const F weight = lagrange[at.base.rows + i / 3];
      for (const uint32_t term : leaf.terms_of(leaf.rows[i])) {
        const uint32_t coefficient = term >> 16;
        F& sum = sums[i % 3][index(at.code(term & program_format::term_index_max))];
        sum += coefficient == 0 ? weight : program.coefficients()[coefficient].value * weight;
      }
    }
    context.on_progress(rows_share * double(at.base.rows) / double(program.constraints()));
  });
  for (size_t i = 0; i < inputs; i++) sums[0][i] += lagrange[program.constraints() + i];
  return sums;
}

template <class Fn>
scalar_column column(size_t count, const executor& exec, Fn&& value) {
  scalar_column made{std::make_unique_for_overwrite<words<4>[]>(count), count};
  exec.run_ranges(count, block, [&](size_t begin, size_t end, unsigned) {
    for (size_t i = begin; i < end; i++) made.values[i] = value(i).to_canonical();
  });
  return made;
}

// tau^i · (tau^n − 1)/delta for i < n − 1.
scalar_column powers(const F& tau, const F& over_delta, int log_n, const executor& exec) {
  const size_t n = size_t{1} << log_n;
  const F first = (power(tau, n) - F::one()) * over_delta;
  scalar_column made{std::make_unique_for_overwrite<words<4>[]>(n - 1), n - 1};
  exec.run_ranges(n - 1, block, [&](size_t begin, size_t end, unsigned) {
    F at = first * power(tau, begin);
    for (size_t i = begin; i < end; i++, at *= tau) made.values[i] = at.to_canonical();
  });
  return made;
}

}  // namespace

setup_scalars setup_scalars_of(const circuit_program& program, const toxic_waste& waste,
                               const call_context& context) {
  const executor& exec = context.exec;
  if (program.constraints() == 0) throw format_error("program", "constraints", "none");
  const int log_n = std::bit_width(program.rows() - 1);
  const F alpha = field_of(waste.alpha), beta = field_of(waste.beta), tau = field_of(waste.tau);
  const F over_gamma = field_of(waste.gamma).inverse(), over_delta = field_of(waste.delta).inverse();
  const size_t inputs = program.inputs();

  auto sums = sums_of(program, lagrange_at(tau, log_n, exec), context);
  elements &a = sums[0], &b = sums[1], &c = sums[2];
  const auto combined = [&](size_t i) { return beta * a[i] + alpha * b[i] + c[i]; };
  setup_scalars made;
  made.ic = column(inputs, exec, [&](size_t i) { return combined(i) * over_gamma; });
  made.l = column(program.aux(), exec, [&](size_t i) { return combined(inputs + i) * over_delta; });
  c.reset();
  made.a = column(inputs + program.aux(), exec, [&](size_t i) { return a[i]; });
  a.reset();
  made.b = column(inputs + program.aux(), exec, [&](size_t i) { return b[i]; });
  b.reset();
  made.h = powers(tau, over_delta, log_n, exec);
  return made;
}

}  // namespace proofline
