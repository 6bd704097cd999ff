#include <vector>

#include "check.hpp"
#include "isa.hpp"
#include "ntt/domain.hpp"

using namespace proofline;

namespace {

template <class F>
F random_element() {
  auto& engine = check::random_engine();
  F x = F::zero();
  for (int i = 0; i < 5; i++) x = x * F::from_u64(engine()) + F::from_u64(engine());
  return x;
}

// Zeros, ones and the largest element among random ones.
template <class F>
std::vector<F> mixed_elements(size_t n) {
  std::vector<F> v(n);
  for (size_t i = 0; i < n; i++) {
    const auto kind = check::random_engine()() % 6;
    v[i] = kind == 0 ? F::zero() : kind == 1 ? F::one() : kind == 2 ? -F::one() : random_element<F>();
  }
  return v;
}

// The largest word image that is an element, everywhere: the worst case of every bound.
template <class F>
std::vector<F> largest_images(size_t n) {
  auto p = F::params::modulus();
  p.w[0] -= 1;
  return std::vector<F>(n, F{p});
}

template <class F>
F value_at(const std::vector<F>& coefficients, const F& x) {
  F sum = F::zero();
  for (size_t i = coefficients.size(); i-- > 0;) sum = sum * x + coefficients[i];
  return sum;
}

template <class F>
std::vector<F> in_reversed_order(const std::vector<F>& v, int log_n) {
  std::vector<F> r(v.size());
  for (size_t i = 0; i < v.size(); i++) r[reversed_bits(i, log_n)] = v[i];
  return r;
}

template <class F>
F power(const F& x, uint64_t k) {
  return x.pow(words<1>{{k}});
}

template <class P>
void transforms_agree_with_the_definition(int log_n, unsigned threads, bool worst) {
  using F = mont_t<P>;
  thread_pool pool(threads);
  const executor exec(pool);
  const ntt_domain<P> domain(5, log_n, exec);
  const size_t n = domain.size();
  CHECK(power(domain.root(), n) == F::one());
  CHECK(n == 1 || power(domain.root(), n / 2) == -F::one());

  const auto coefficients = worst ? largest_images<F>(n) : mixed_elements<F>(n);
  std::vector<F> values = in_reversed_order(coefficients, log_n);
  domain.evaluate(exec, values.data());
  const size_t step = n <= 256 ? 1 : n / 64 + 1;
  for (size_t i = 0; i < n; i += step)
    CHECK(values[i] == value_at(coefficients, power(domain.root(), i)));

  domain.interpolate(exec, values.data());
  const F n_inverse = F::from_u64(n).inverse();
  coset_factors<P>(n_inverse, F::one(), log_n, exec).scale(exec, values.data());
  CHECK(values == in_reversed_order(coefficients, log_n));
}

template <class P>
void coset_factors_agree_with_powers(int log_n) {
  using F = mont_t<P>;
  thread_pool pool(2);
  const executor exec(pool);
  const F constant = random_element<F>(), base = random_element<F>();
  const auto before = mixed_elements<F>(size_t{1} << log_n);
  std::vector<F> v = before;
  coset_factors<P>(constant, base, log_n, exec).scale(exec, v.data());
  for (size_t i = 0; i < v.size(); i++)
    CHECK(v[i] == before[i] * constant * power(base, reversed_bits(i, log_n)));
}

template <class P>
void vectors_agree_with_the_field() {
  using F = mont_t<P>;
  constexpr size_t n = 512;
  const auto& kernels = ntt_kernels_for<P>(n);
  for (const bool worst : {false, true}) {
    const auto a = worst ? largest_images<F>(n) : mixed_elements<F>(n);
    const auto b = worst ? largest_images<F>(n) : mixed_elements<F>(n), c = mixed_elements<F>(n);
    std::vector<F> product(n), difference = a, back(n);
    std::vector<words<4>> canonical(n);
    kernels.multiply(product.data(), a.data(), b.data(), n);
    kernels.multiply_subtract(difference.data(), b.data(), c.data(), n);
    kernels.to_canonical(canonical.data(), a.data(), n);
    kernels.from_canonical(back.data(), canonical.data(), n);
    CHECK(back == a);
    for (size_t i = 0; i < n; i++) {
      CHECK(product[i] == a[i] * b[i]);
      CHECK(difference[i] == a[i] * b[i] - c[i]);
      CHECK(canonical[i] == a[i].to_canonical());
    }
  }
}

template <class P>
void all_sizes() {
  on_each_isa([](isa) {
    for (int log_n = 0; log_n <= 8; log_n++) {
      transforms_agree_with_the_definition<P>(log_n, 1, false);
      transforms_agree_with_the_definition<P>(log_n, 1, true);
    }
    for (int log_n = 9; log_n <= 14; log_n++)
      transforms_agree_with_the_definition<P>(log_n, 3, log_n % 2 == 0);
    for (int log_n : {0, 1, 5, 9, 10, 12}) coset_factors_agree_with_powers<P>(log_n);
    vectors_agree_with_the_field<P>();
  });
}

}  // namespace

TEST(bn254) { all_sizes<bn254_fr_params>(); }
TEST(bls12_381) { all_sizes<bls12_381_fr_params>(); }

TEST(two_adicities) {
  CHECK(two_adicity<bn254_fr_params>() == 28);
  CHECK(two_adicity<bls12_381_fr_params>() == 32);
}
