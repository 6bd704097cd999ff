#pragma once

#include <algorithm>
#include <memory>

#include "core/thread_pool.hpp"
#include "ntt/kernels.hpp"

namespace proofline {

// Largest k with 2^k | r − 1: 28 for BN254, 32 for BLS12-381.
template <class P>
constexpr int two_adicity() {
  words<P::limbs> v = P::modulus();
  v.w[0] -= 1;
  int k = 0;
  while (!v.bit(k)) k++;
  return k;
}

// generator^((r − 1)/2^log_n): a primitive root of unity of order 2^log_n if `generator` is not a square.
template <class P>
mont_t<P> root_of_unity(uint32_t generator, int log_n) {
  words<P::limbs> exponent = P::modulus();
  exponent.w[0] -= 1;
  for (int i = 0; i < P::limbs; i++) {
    const uint64_t above = i + 1 < P::limbs ? exponent.w[i + 1] : 0;
    exponent.w[i] = log_n == 0 ? exponent.w[i] : exponent.w[i] >> log_n | above << (64 - log_n);
  }
  return mont_t<P>::from_u64(generator).pow(exponent);
}

// The lowest `bits` bits of i in the opposite order.
inline size_t reversed_bits(size_t i, int bits) {
  size_t r = 0;
  for (int k = 0; k < bits; k++) r |= (i >> k & 1) << (bits - 1 - k);
  return r;
}

// first·base^reversed(i) for i < 2^log_n, where reversed means log_n bits: each half of the table is the half
// before it times one power of `base`.
template <class P>
std::unique_ptr<mont_t<P>[]> reversed_powers(mont_t<P> first, mont_t<P> base, int log_n,
                                             const executor& exec) {
  auto table = std::make_unique_for_overwrite<mont_t<P>[]>(size_t{1} << log_n);
  std::unique_ptr<mont_t<P>[]> powers = std::make_unique<mont_t<P>[]>(size_t(log_n) + 1);
  powers[0] = base;  // base^(2^k)
  for (int k = 1; k <= log_n; k++) powers[size_t(k)] = powers[size_t(k) - 1].sqr();
  table[0] = first;
  for (int k = 0; k < log_n; k++) {
    const size_t half = size_t{1} << k;
    const mont_t<P> step = powers[size_t(log_n - 1 - k)];
    exec.run_ranges(half, 8192, [&](size_t begin, size_t end, unsigned) {
      for (size_t i = begin; i < end; i++) table[half + i] = table[i] * step;
    });
  }
  return table;
}

// Factors constant·base^reversed(i) for vectors of 2^log_n coefficients in reversed order: the two levels of a
// table of their square root in size.
template <class P>
class coset_factors {
 public:
  using F = mont_t<P>;

  coset_factors(F constant, F base, int log_n, const executor& exec)
      : kernels_(&ntt_kernels_for<P>(size_t{1} << log_n)), log_n_(log_n), low_log_(std::min(log_n, 9)) {
    const F shift = F::from_u64(uint64_t{1} << kernels_->factor_shift);
    F high_base = base, low_base = base;
    for (int k = 0; k < log_n_ - low_log_; k++) low_base = low_base.sqr();
    low_ = reversed_powers(shift, low_base, low_log_, exec);
    high_ = reversed_powers(constant * shift, high_base, log_n_ - low_log_, exec);
  }

  // a[i] ← a[i]·factor i.
  void scale(const executor& exec, F* a) const {
    const size_t length = size_t{1} << low_log_;
    exec.run(size_t{1} << (log_n_ - low_log_), [&](size_t i, unsigned) {
      kernels_->scale(a + i * length, low_.get(), high_[i], length);
    });
  }

 private:
  const ntt_kernels<P>* kernels_;
  int log_n_, low_log_;
  std::unique_ptr<F[]> low_, high_;
};

// Number-theoretic transforms of 2^log_n elements in Montgomery form, in place. The two directions fit without
// a permutation between them:
//   interpolate: values in natural order → n times the coefficients, in bit-reversed order;
//   evaluate:    coefficients in bit-reversed order → values in natural order.
// Layers wider than a block of `cached` elements go over the whole vector, three at a time; the others go block
// by block. The instruction set is the one in use when the domain is made.
template <class P>
class ntt_domain {
 public:
  using F = mont_t<P>;

  ntt_domain(uint32_t generator, int log_n, const executor& exec)
      : log_n_(log_n),
        root_(root_of_unity<P>(generator, log_n)),
        kernels_(&ntt_kernels_for<P>(size_t{1} << log_n)) {
    require(log_n >= 0 && log_n <= two_adicity<P>(), "a domain that the field has");
    if (log_n == 0) return;
    const F first = F::from_u64(uint64_t{1} << kernels_->factor_shift);
    forward_ = reversed_powers(first, root_, log_n - 1, exec);
    inverse_ = reversed_powers(first, root_.inverse(), log_n - 1, exec);
  }

  size_t size() const { return size_t{1} << log_n_; }
  int log_size() const { return log_n_; }
  const F& root() const { return root_; }
  const ntt_kernels<P>& kernels() const { return *kernels_; }

  void interpolate(const executor& exec, F* a) const {
    int depth = 0;  // layers done; 2^depth blocks are left
    for (; log_n_ - depth > cached_log(exec); depth += layers_at(depth))
      sweep(exec, a, depth, kernels_->interpolate_columns, inverse_.get());
    exec.run(size_t{1} << depth, [&](size_t block, unsigned) {
      F* const at = a + (block << (log_n_ - depth));
      int d = depth;
      for (; log_n_ - d > 3; d += layers_at(d))
        columns(at, depth, d, block, kernels_->interpolate_columns, inverse_.get());
      narrowest(at, depth, d, block, kernels_->interpolate_columns, kernels_->interpolate_rows,
                inverse_.get());
    });
  }

  void evaluate(const executor& exec, F* a) const {
    int depth = 0;
    while (log_n_ - depth > cached_log(exec)) depth += layers_at(depth);
    exec.run(size_t{1} << depth, [&](size_t block, unsigned) {
      F* const at = a + (block << (log_n_ - depth));
      int d = depth;
      while (log_n_ - d > 3) d += layers_at(d);
      narrowest(at, depth, d, block, kernels_->evaluate_columns, kernels_->evaluate_rows,
                forward_.get());
      while (d > depth) {
        d -= layers_before(d);
        columns(at, depth, d, block, kernels_->evaluate_columns, forward_.get());
      }
    });
    while (depth > 0) {
      depth -= layers_before(depth);
      sweep(exec, a, depth, kernels_->evaluate_columns, forward_.get());
    }
  }

 private:
  using columns_fn = typename ntt_kernels<P>::columns_fn;
  using rows_fn = typename ntt_kernels<P>::rows_fn;

  static constexpr int block_log_min = 9, block_log_max = 12;
  static constexpr size_t columns_a_task = 256;

  // Blocks small enough for the second-level cache, and enough of them for the lanes.
  int cached_log(const executor& exec) const {
    int log = block_log_max;
    while (log > block_log_min && (size_t{1} << (log_n_ - std::min(log, log_n_))) < 4 * exec.lanes()) log--;
    return log;
  }

  // Three layers at a time; the first time what is left over.
  int layers_at(int depth) const { return depth == 0 && log_n_ % 3 != 0 ? log_n_ % 3 : 3; }
  int layers_before(int depth) const { return depth < 3 ? depth : 3; }

  // The layers at `depth` on all of its blocks.
  void sweep(const executor& exec, F* a, int depth, columns_fn* fn, const F* factors) const {
    const int layers = layers_at(depth), stride_log = log_n_ - depth - layers;
    const size_t stride = size_t{1} << stride_log, piece = std::min(stride, columns_a_task);
    const size_t pieces = stride / piece;
    exec.run(pieces << depth, [&](size_t task, unsigned) {
      const size_t block = task / pieces, begin = task % pieces * piece;
      fn(a + (block << (log_n_ - depth)), stride, begin, begin + piece, layers, factors, block);
    });
  }

  // The layers at depth `d` within block `block` of depth `depth`, which starts at `a`.
  void columns(F* a, int depth, int d, size_t block, columns_fn* fn, const F* factors) const {
    const int layers = layers_at(d);
    const size_t stride = size_t{1} << (log_n_ - d - layers);
    for (size_t b = 0; b < size_t{1} << (d - depth); b++)
      fn(a + (b << (log_n_ - d)), stride, 0, stride, layers, factors, (block << (d - depth)) + b);
  }

  // The last layers, at most three, from depth `d` on.
  void narrowest(F* a, int depth, int d, size_t block, columns_fn* columns_kernel,
                 rows_fn* rows_kernel, const F* factors) const {
    if (log_n_ - d == 3) {
      rows_kernel(a, size_t{1} << (d - depth), factors, block << (d - depth));
    } else if (log_n_ > 0) {
      columns_kernel(a, 1, 0, 1, log_n_ - d, factors, block);
    }
  }

  int log_n_;
  F root_;
  const ntt_kernels<P>* kernels_;
  std::unique_ptr<F[]> forward_, inverse_;
};

}  // namespace proofline
