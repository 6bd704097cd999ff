#pragma once

#include "ntt/butterflies.cuh"

// Up to three layers in registers, straight from and to global memory: the widest layers of domains
// that are no whole number of tiles, and every layer of small ones. And the pointwise steps of
// small domains.
namespace proofline::cuda {

struct column_pass {
  int log_n, stage;  // of the first layer in memory order: stage … stage + Q − 1
};

// The element's factors on a coset: the highest bits of its number choose the row.
template <class P>
PROOFLINE_DEVICE element<P> on_coset(const element<P>& x, const fused<P>& with, int columns_log,
                                     size_t i) {
  const element<P> c = load8_constant<P>(with.columns + (i & ((size_t{1} << columns_log) - 1)));
  return scalar_product<P>(scalar_product<P>(x, c),
                           load8_constant<P>(with.rows + (i >> columns_log)));
}

// After the last layer of an inverse, each step where its operand is given: scale by the coset's
// factors, or else by `factor`; take off factor·other[i].
template <class P>
PROOFLINE_DEVICE void finish_column(element<P>& x, const fused<P>& with, int columns_log,
                                    size_t i) {
  if (with.rows != nullptr) {
    x = on_coset<P>(x, with, columns_log, i);
  } else {
    x = scalar_product<P>(x, with.factor);
  }
  if (with.other != nullptr) {
    const element<P> v = scalar_product<P>(load8<P>(with.other + i), with.factor);
    subtract_r<P>(x.l, v.l);
  }
}

template <class P, int Q, bool Forward>
__global__ void __launch_bounds__(256)
    column_kernel(element<P>* d, const element<P>* twiddles, const element<P>* first,
                  const column_pass pass, const bool last, const fused<P> with, int columns_log) {
  const size_t t = blockIdx.x * size_t{256} + threadIdx.x;
  const int stride_log = pass.log_n - pass.stage - Q;
  if (t >= size_t{1} << (pass.log_n - Q)) return;
  const uint32_t block = uint32_t(t >> stride_log);
  const size_t base =
      (size_t(block) << (pass.log_n - pass.stage)) + (t & ((size_t{1} << stride_log) - 1));
  element<P> x[1 << Q];
#pragma unroll
  for (int k = 0; k < 1 << Q; k++) x[k] = load8<P>(d + base + (size_t(k) << stride_log));
  if (Forward) {
    forward_layers<P, Q>(x, twiddles, block);
  } else {
    inverse_layers<P, Q>(x, twiddles, first, block == 0, block);
  }
#pragma unroll
  for (int k = 0; k < 1 << Q; k++) {
    const size_t i = base + (size_t(k) << stride_log);
    if (last && Forward) narrow<P>(x[k].l);
    if (last && !Forward) finish_column<P>(x[k], with, columns_log, i);
    store8<P>(d + i, x[k]);
  }
}

template <class P>
__global__ void __launch_bounds__(256)
    multiply_kernel(element<P>* out, const element<P>* a, const element<P>* b, size_t n) {
  const size_t i = blockIdx.x * size_t{256} + threadIdx.x;
  if (i < n) store8<P>(out + i, scalar_product<P>(load8<P>(a + i), load8<P>(b + i)));
}

// out ← a·b − c, from reversed to natural order.
template <class P>
__global__ void __launch_bounds__(256)
    combine_kernel(element<P>* out, const element<P>* a, const element<P>* b, const element<P>* c,
                   int log_n) {
  const size_t i = blockIdx.x * size_t{256} + threadIdx.x;
  if (i >= size_t{1} << log_n) return;
  element<P> x = scalar_product<P>(load8<P>(a + i), load8<P>(b + i));
  const element<P> y = load8<P>(c + i);
  subtract_r<P>(x.l, y.l);
  store8<P>(out + (log_n == 0 ? 0 : __brev(uint32_t(i)) >> (32 - log_n)), x);
}

template <class P>
PROOFLINE_DEVICE element<P> scalar_power(element<P> base, uint64_t exponent) {
  element<P> r = one_of<P>();
  for (; exponent != 0; exponent >>= 1) {
    if (exponent & 1) r = scalar_product<P>(r, base);
    base = scalar_product<P>(base, base);
  }
  return r;
}

template <class P>
struct table_roots {
  element<P> root[32];
};

// table[k] ← the product over the bits j of k of root[j].
template <class P>
__global__ void __launch_bounds__(256)
    twiddle_kernel(element<P>* table, size_t n, const table_roots<P> roots, bool negative) {
  const size_t k = blockIdx.x * size_t{256} + threadIdx.x;
  if (k >= n) return;
  element<P> v = one_of<P>();
#pragma unroll 1
  for (int j = 0; (k >> j) != 0; j++)
    if (k >> j & 1) v = scalar_product<P>(v, roots.root[j]);
  if (negative) {
    element<P> z{};
    subtract_r<P>(z.l, v.l);
    v = z;
  }
  store8<P>(table + k, v);
}

// table[i] ← first·base^i.
template <class P>
__global__ void __launch_bounds__(256)
    power_kernel(element<P>* table, size_t n, element<P> base, element<P> first) {
  const size_t i = blockIdx.x * size_t{256} + threadIdx.x;
  if (i < n) store8<P>(table + i, scalar_product<P>(scalar_power<P>(base, i), first));
}

}  // namespace proofline::cuda
