#pragma once

#include <utility>

#include "ntt/domain.hpp"
#include "prover/types.hpp"

namespace proofline {

// The multiplicative generators of the two families of domains: ffjavascript, whose keys are zkeys, takes the
// smallest non-square of F_r; bellman takes the field's own.
template <class P>
uint32_t root_generator(h_basis basis);
template <>
inline uint32_t root_generator<bn254_fr_params>(h_basis) {
  return 5;
}
template <>
inline uint32_t root_generator<bls12_381_fr_params>(h_basis basis) {
  return basis == h_basis::monomial ? 7 : 5;
}

// The scalars of the h query from the rows' values a = A·w and b = B·w, with c = a∘b.
//   monomial: the n − 1 coefficients of (a·b − c)/(xⁿ − 1).
//   odd-lagrange: the n values of a·b − c at the odd points of the domain of 2n; at the even points it is 0, and
//     the query's points carry the division.
template <class P>
class quotient_plan {
 public:
  using F = mont_t<P>;

  quotient_plan(h_basis basis, int log_n, const executor& exec)
      : basis_(basis),
        domain_(root_generator<P>(basis), log_n, exec),
        shift_(basis == h_basis::monomial ? F::from_u64(root_generator<P>(basis))
                                          : root_of_unity<P>(root_generator<P>(basis), log_n + 1)),
        to_coset_(size_inverse(), shift_, log_n, exec) {
    if (basis == h_basis::odd_lagrange) return;
    // xⁿ − 1 has one value on the whole coset.
    const F vanishing = shift_.pow(words<1>{{domain_.size()}}) - F::one();
    from_coset_.emplace(size_inverse() * vanishing.inverse(), shift_.inverse(), log_n, exec);
    over_vanishing_.emplace(size_inverse() * vanishing.inverse(), F::one(), log_n, exec);
  }

  size_t size() const { return domain_.size(); }
  size_t scalar_count() const { return basis_ == h_basis::monomial ? size() - 1 : size(); }

  // a and b: n values in Montgomery form, natural order. The result has size() canonical scalars, of which
  // scalar_count() are h's.
  std::unique_ptr<words<4>[]> run(std::unique_ptr<F[]> a, std::unique_ptr<F[]> b,
                                  const executor& exec) const {
    auto c = std::make_unique_for_overwrite<F[]>(size());
    each_range(exec, [&](size_t at, size_t n) { kernels().multiply(&c[at], &a[at], &b[at], n); });
    for (F* const values : {a.get(), b.get()}) {
      domain_.interpolate(exec, values);
      to_coset_.scale(exec, values);
      domain_.evaluate(exec, values);
    }
    domain_.interpolate(exec, c.get());
    return basis_ == h_basis::monomial ? coefficients(a.get(), b.get(), c.get(), exec)
                                       : values(a.get(), b.get(), c.get(), exec);
  }

 private:
  const ntt_kernels<P>& kernels() const { return domain_.kernels(); }
  F size_inverse() const { return F::from_u64(domain_.size()).inverse(); }

  template <class Fn>
  void each_range(const executor& exec, Fn&& fn) const {
    exec.run_ranges(size(), 4096, [&](size_t begin, size_t end, unsigned) { fn(begin, end - begin); });
  }

  using scalar_array = std::unique_ptr<words<4>[]>;

  // a, b: values on the coset; c: n times its coefficients, reversed order.
  scalar_array values(F* a, const F* b, F* c, const executor& exec) const {
    to_coset_.scale(exec, c);
    domain_.evaluate(exec, c);
    each_range(exec, [&](size_t at, size_t n) {
      kernels().multiply_subtract(a + at, b + at, c + at, n);
    });
    return canonical(a, exec);
  }

  // On the coset, a·b is the polynomial lower + gⁿ·upper of degree below n, while c = lower + upper: their
  // difference over gⁿ − 1 is the quotient, without c on the coset.
  scalar_array coefficients(F* a, const F* b, F* c, const executor& exec) const {
    each_range(exec, [&](size_t at, size_t n) { kernels().multiply(a + at, a + at, b + at, n); });
    domain_.interpolate(exec, a);
    from_coset_->scale(exec, a);
    over_vanishing_->scale(exec, c);
    each_range(exec, [&](size_t at, size_t n) {
      for (size_t i = at; i < at + n; i++) a[i] -= c[i];
    });
    auto scalars = canonical(a, exec);
    reorder(scalars.get(), exec);
    return scalars;
  }

  scalar_array canonical(const F* a, const executor& exec) const {
    auto scalars = std::make_unique_for_overwrite<words<4>[]>(size());
    each_range(exec, [&](size_t at, size_t n) { kernels().to_canonical(&scalars[at], a + at, n); });
    return scalars;
  }

  // Reversed order to natural order.
  void reorder(words<4>* v, const executor& exec) const {
    const int bits = domain_.log_size();
    each_range(exec, [&](size_t at, size_t n) {
      for (size_t i = at; i < at + n; i++) {
        const size_t j = reversed_bits(i, bits);
        if (i < j) std::swap(v[i], v[j]);
      }
    });
  }

  h_basis basis_;
  ntt_domain<P> domain_;
  F shift_;
  coset_factors<P> to_coset_;
  std::optional<coset_factors<P>> from_coset_, over_vanishing_;
};

}  // namespace proofline
