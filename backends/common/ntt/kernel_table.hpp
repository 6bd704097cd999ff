#pragma once

#include <cstddef>

#include "field/params.hpp"

namespace proofline {

template <class P>
struct mont_t;

// The loops of ntt/domain.hpp for one instruction set. All elements are in Montgomery form and below the
// modulus, before and after.
//
// Twiddle factors are kept in bit-reversed order, t[i] = root^reversed(i): then every layer of a transform
// uses a prefix of one table, and all butterflies of a block share one factor. Block b of a layer with blocks
// of 2h elements starts at element 2h·b.
//   interpolate: (u, v) ← (u + v·t[b], u − v·t[b]), widest layer first: natural order in, reversed out.
//   evaluate:    (u, v) ← (u + v, (u − v)·t[b]), narrowest layer first: reversed order in, natural out.
//
// Vector kernels need counts, `begin`, `end` and `stride` to be multiples of 8.
template <class P>
struct ntt_kernels {
  using F = mont_t<P>;

  // `factor` and `factors` below are 2^factor_shift times the factors that they stand for.
  int factor_shift;

  // `layers` (1 to 3) layers on columns [begin, end) of block `block`, which starts at `a`: column j is the
  // elements a[j + q·stride] for q < 2^layers.
  using columns_fn = void(F* a, size_t stride, size_t begin, size_t end, int layers,
                          const F* factors, size_t block);
  columns_fn *interpolate_columns, *evaluate_columns;

  // The three narrowest layers on `count` blocks of 8 elements; the first, number `block`, starts at `a`.
  using rows_fn = void(F* a, size_t count, const F* factors, size_t block);
  rows_fn *interpolate_rows, *evaluate_rows;

  // a[i] ← a[i]·factor·factors[i].
  void (*scale)(F* a, const F* factors, const F& factor, size_t n);
  // out[i] ← a[i]·b[i]. `out` may be `a` or `b`.
  void (*multiply)(F* out, const F* a, const F* b, size_t n);
  // a[i] ← a[i]·b[i] − c[i].
  void (*multiply_subtract)(F* a, const F* b, const F* c, size_t n);
  // out[i] ← a[i] in canonical form, and back. The two may be one array.
  void (*to_canonical)(words<P::limbs>* out, const F* a, size_t n);
  void (*from_canonical)(F* out, const words<P::limbs>* a, size_t n);
};

// Defined in ntt/kernels_ifma.cpp for the two scalar fields; usable where `has(isa::ifma)`.
template <class P>
const ntt_kernels<P>& ifma_ntt_kernels();

}  // namespace proofline
