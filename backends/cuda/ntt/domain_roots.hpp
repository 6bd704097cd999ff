#pragma once

#include "ntt/quotient.hpp"

namespace proofline::cuda {

// A primitive root of unity of order 2^log, and the coset on which the quotient is taken: as
// backends/common/ntt/quotient.hpp has them.
template <class P>
mont_t<P> domain_root(h_basis basis, int log) {
  return root_of_unity<P>(root_generator<P>(basis), log);
}
template <class P>
mont_t<P> coset_shift(h_basis basis, int log_n) {
  return basis == h_basis::monomial ? mont_t<P>::from_u64(root_generator<P>(basis))
                                    : domain_root<P>(basis, log_n + 1);
}

}  // namespace proofline::cuda
