#pragma once

#include "core/cpu.hpp"
#include "field/mont.hpp"
#include "ntt/kernel_table.hpp"

// The portable kernels, whose multiplications take ADX where there is any, and the choice of a table.
namespace proofline {

namespace scalar {

// The first factor of every table is 1: an eighth of the butterflies of a vector of 2^16 need no product.
template <class F>
void interpolate_group(F* v, size_t stride, int layers, const F* factors, size_t block) {
  for (int layer = 0; layer < layers; layer++) {
    const size_t half = size_t(1) << (layers - 1 - layer);
    for (size_t b = 0; b < size_t(1) << layer; b++) {
      const size_t number = (block << layer) + b;
      const F factor = factors[number];
      for (size_t q = 2 * half * b; q < 2 * half * b + half; q++) {
        F &low = v[q * stride], &high = v[(q + half) * stride];
        const F product = number == 0 ? high : high * factor;
        high = low - product;
        low += product;
      }
    }
  }
}

template <class F>
void evaluate_group(F* v, size_t stride, int layers, const F* factors, size_t block) {
  for (int layer = layers; layer-- > 0;) {
    const size_t half = size_t(1) << (layers - 1 - layer);
    for (size_t b = 0; b < size_t(1) << layer; b++) {
      const size_t number = (block << layer) + b;
      const F factor = factors[number];
      for (size_t q = 2 * half * b; q < 2 * half * b + half; q++) {
        F &low = v[q * stride], &high = v[(q + half) * stride];
        const F difference = low - high;
        low += high;
        high = number == 0 ? difference : difference * factor;
      }
    }
  }
}

template <class F, void (*group)(F*, size_t, int, const F*, size_t)>
void columns(F* a, size_t stride, size_t begin, size_t end, int layers, const F* factors,
             size_t block) {
  for (size_t j = begin; j < end; j++) group(a + j, stride, layers, factors, block);
}

template <class F, void (*group)(F*, size_t, int, const F*, size_t)>
void rows(F* a, size_t count, const F* factors, size_t block) {
  for (size_t i = 0; i < count; i++) group(a + 8 * i, 1, 3, factors, block + i);
}

}  // namespace scalar

template <class P>
const ntt_kernels<P>& scalar_ntt_kernels() {
  using F = mont_t<P>;
  using canonical = typename F::canonical;
  static constexpr ntt_kernels<P> kernels{
      .factor_shift = 0,
      .interpolate_columns = scalar::columns<F, scalar::interpolate_group<F>>,
      .evaluate_columns = scalar::columns<F, scalar::evaluate_group<F>>,
      .interpolate_rows = scalar::rows<F, scalar::interpolate_group<F>>,
      .evaluate_rows = scalar::rows<F, scalar::evaluate_group<F>>,
      .scale =
          [](F* a, const F* factors, const F& factor, size_t n) {
            for (size_t i = 0; i < n; i++) a[i] *= factor * factors[i];
          },
      .multiply =
          [](F* out, const F* a, const F* b, size_t n) {
            for (size_t i = 0; i < n; i++) out[i] = a[i] * b[i];
          },
      .multiply_subtract =
          [](F* a, const F* b, const F* c, size_t n) {
            for (size_t i = 0; i < n; i++) a[i] = a[i] * b[i] - c[i];
          },
      .to_canonical =
          [](canonical* out, const F* a, size_t n) {
            for (size_t i = 0; i < n; i++) out[i] = a[i].to_canonical();
          },
      .from_canonical =
          [](F* out, const canonical* a, size_t n) {
            for (size_t i = 0; i < n; i++) out[i] = F::from_canonical(a[i]);
          },
  };
  return kernels;
}

// Transforms and vectors shorter than this take the scalar kernels.
inline constexpr size_t vector_elements_min = 64;

template <class P>
const ntt_kernels<P>& ntt_kernels_for(size_t n) {
#if defined(PROOFLINE_IFMA)
  if (n >= vector_elements_min && has(isa::ifma)) return ifma_ntt_kernels<P>();
#endif
  (void)n;
  return scalar_ntt_kernels<P>();
}

}  // namespace proofline
