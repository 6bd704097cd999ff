#pragma once

#include <cuda_runtime.h>

#include "field/mont.hpp"
#include "prover/types.hpp"

namespace proofline::cuda {

template <class P>
struct tile_pass;
template <class P>
struct fused;

constexpr int log_domain_max = 27;

// Transforms of 2^log_n elements and the quotient of a proof, over tables in device memory.
// Elements in Montgomery form, in place. `reversed` order means element i at the index whose log_n
// bits are i's backwards.
template <class P>
class domain {
 public:
  using F = mont_t<P>;

  // `d_tables` of table_bytes; make_tables fills it. log_n up to log_domain_max.
  domain(h_basis basis, int log_n, void* d_tables);
  static size_t table_bytes(h_basis basis, int log_n);
  static size_t workspace_bytes(h_basis basis, int log_n);
  void make_tables(cudaStream_t stream) const;

  // Coefficients in natural order to values in reversed order, and back. Results canonical.
  void evaluate(F* d, cudaStream_t stream) const;
  void interpolate(F* d, cudaStream_t stream) const;

  // The scalars of the h query (backends/common/ntt/quotient.hpp), in natural order: n − 1 of them
  // for monomial, n for odd-lagrange. a, b: the rows' values in reversed order, both overwritten.
  // The result lies in a, b or the workspace. Six transforms; c = a∘b comes in through the first
  // pass of its own.
  const F* quotient(F* d_a, F* d_b, void* d_work, cudaStream_t stream) const;

 private:
  struct factors {
    F *rows, *columns;
  };

  size_t size() const { return size_t{1} << log_n_; }
  bool tiled() const;
  tile_pass<P> pass_of(F* d, int stride_log) const;
  void interpolate_lower(F* d, cudaStream_t stream) const;
  template <int Ops>
  void interpolate_upper(F* d, const fused<P>& with, cudaStream_t stream) const;
  void evaluate_lower(F* d, cudaStream_t stream) const;
  void to_coset(F* d, bool lower_done, bool open, cudaStream_t stream) const;
  void multiply(F* out, const F* a, const F* b, cudaStream_t stream) const;
  const F* values(F* a, F* b, F* c, cudaStream_t stream) const;
  const F* coefficients(F* a, F* b, F* c, cudaStream_t stream) const;

  h_basis basis_;
  int log_n_;
  F *twiddles_, *first_inverse_twiddles_;
  factors forward_, back_;
  F over_size_, over_vanishing_;
};

}  // namespace proofline::cuda
