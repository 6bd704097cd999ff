#include <vector>

#include "check.hpp"
#include "field/fp2.hpp"
#include "isa.hpp"
#include "samples.hpp"

using namespace proofline;

namespace {

// a·b mod p on canonical numbers, by doubling and adding with comparisons: shares nothing with the
// code under test but the modulus.
template <class P>
words<P::limbs> slow_product(const words<P::limbs>& a, const words<P::limbs>& b) {
  constexpr int N = P::limbs;
  const auto p = P::modulus();
  const auto add = [&](const words<N>& x, const words<N>& y) {
    words<N> sum, less;
    unsigned carry = 0, borrow = 0;
    for (int i = 0; i < N; i++) {
      const uint128_t s = uint128_t(x.w[i]) + y.w[i] + carry;
      sum.w[i] = uint64_t(s), carry = unsigned(s >> 64);
    }
    for (int i = 0; i < N; i++) {
      const uint128_t d = uint128_t(sum.w[i]) - p.w[i] - borrow;
      less.w[i] = uint64_t(d), borrow = unsigned(d >> 64) & 1;
    }
    return carry != 0 || borrow == 0 ? less : sum;
  };
  words<N> r{};
  for (int i = 64 * N - 1; i >= 0; i--) {
    r = add(r, r);
    if (b.bit(i)) r = add(r, a);
  }
  return r;
}

template <class F>
void products_are_those_of_integers() {
  using P = typename F::params;
  const auto values = samples::elements<F>(12);
  for (const F& a : values) {
    const auto canonical = a.to_canonical();
    CHECK(canonical < P::modulus());
    CHECK(F::from_canonical(canonical) == a);
    for (const F& b : values)
      CHECK((a * b).to_canonical() == slow_product<P>(canonical, b.to_canonical()));
  }
  CHECK((F::one().to_canonical() == typename F::canonical{{1}}));
}

// The rows that other processors use agree with the one in use.
template <class F>
void multiplications_agree() {
  using P = typename F::params;
  const auto values = samples::elements<F>(200);
  for (size_t i = 0; i < values.size(); i++) {
    const auto &a = values[i].limb, &b = values[(7 * i + 3) % values.size()].limb;
    const auto product = (F{a} * F{b}).limb;
    CHECK(product < P::modulus());
    CHECK(mul_words<P>(a, b) == product);
    CHECK(mul_words32<P>(a, b) == product);
    F square{a};
    square *= F{a};
    CHECK(square == F{a}.sqr());
  }
}

template <class F>
void laws_hold(size_t count) {
  const auto values = samples::elements<F>(count);
  for (size_t i = 0; i < values.size(); i++) {
    const F &a = values[i], &b = values[(3 * i + 1) % values.size()];
    const F& c = values[(5 * i + 2) % values.size()];
    CHECK(a + b == b + a && a * b == b * a);
    CHECK((a + b) + c == a + (b + c) && (a * b) * c == a * (b * c));
    CHECK(a * (b + c) == a * b + a * c);
    CHECK(a - b == a + -b && (a - a).is_zero() && (a + -a).is_zero());
    CHECK(a + F::zero() == a && a * F::one() == a && (a * F::zero()).is_zero());
    CHECK(a.dbl() == a + a && a.sqr() == a * a);
    CHECK(a.is_zero() ? a.inverse().is_zero() : a * a.inverse() == F::one());
  }
}

template <class F>
void batch_inverses_are_inverses() {
  for (size_t n : {0, 1, 2, 3, 100}) {
    auto values = samples::elements<F>(n);
    if (n > 2) values[n / 2] = F::zero();
    const auto before = values;
    std::vector<F> scratch(values.size());
    batch_inverse(values.data(), scratch.data(), values.size());
    for (size_t i = 0; i < values.size(); i++) CHECK(values[i] == before[i].inverse());
  }
}

template <class F>
void powers_are_products() {
  const F a = samples::random_element<F>();
  F product = F::one();
  for (uint64_t k = 0; k < 40; k++, product *= a) CHECK(a.pow(words<1>{{k}}) == product);
  auto p_minus_1 = F::params::modulus();
  p_minus_1.w[0] -= 1;
  CHECK(a.pow(p_minus_1) == F::one());
}

template <class Body>
void on_each_field(Body&& body) {
  body(bn254_fp{});
  body(bn254_fr{});
  body(bls12_381_fp{});
  body(bls12_381_fr{});
}

}  // namespace

TEST(moduli_are_the_published_ones) {
  // EIP-197 and the Zcash specification give them as polynomials of the curve parameters u and x.
  const auto at = [](auto zero, std::initializer_list<int64_t> coefficients, uint64_t x,
                     bool negative) {
    using F = decltype(zero);
    F value = F::zero();
    const F point = negative ? -F::from_u64(x) : F::from_u64(x);
    for (const int64_t c : coefficients)
      value = value * point + (c < 0 ? -F::from_u64(uint64_t(-c)) : F::from_u64(uint64_t(c)));
    return value;
  };
  constexpr uint64_t u = 4965661367192848881, x = 0xd201000000010000;
  CHECK(at(bn254_fp{}, {36, 36, 24, 6, 1}, u, false).is_zero());
  CHECK(at(bn254_fr{}, {36, 36, 18, 6, 1}, u, false).is_zero());
  // 3p = (x − 1)²·(x⁴ − x² + 1) + 3x and r = x⁴ − x² + 1.
  CHECK(at(bls12_381_fp{}, {1, -2, 0, 2, 0, -2 + 3, 1}, x, true).is_zero());
  CHECK(at(bls12_381_fr{}, {1, 0, -1, 0, 1}, x, true).is_zero());
}

TEST(products) {
  on_each_isa([](isa) {
    on_each_field([](auto f) { products_are_those_of_integers<decltype(f)>(); });
  });
}

TEST(paths) {
  on_each_isa([](isa) { on_each_field([](auto f) { multiplications_agree<decltype(f)>(); }); });
}

TEST(laws) {
  on_each_isa([](isa) {
    on_each_field([](auto f) { laws_hold<decltype(f)>(100); });
    laws_hold<bn254_fp2>(100);
    laws_hold<bls12_381_fp2>(100);
  });
}

TEST(powers) {
  on_each_isa([](isa) { on_each_field([](auto f) { powers_are_products<decltype(f)>(); }); });
}

TEST(batches_of_inverses) {
  on_each_field([](auto f) { batch_inverses_are_inverses<decltype(f)>(); });
  batch_inverses_are_inverses<bn254_fp2>();
  batch_inverses_are_inverses<bls12_381_fp2>();
}

TEST(compiled_constants_are_the_run_time_ones) {
  on_each_field([](auto f) {
    using F = decltype(f);
    using P = typename F::params;
    constexpr auto compiled = power_of_two<P>(64 * P::limbs + 3);
    CHECK(power_of_two<P>(64 * P::limbs + 3) == compiled);
    CHECK(F{compiled} == F::from_u64(8));
  });
}
