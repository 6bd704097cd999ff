#pragma once

#include <cuda_runtime.h>

#include "curve/groups.hpp"

// What comes from the host, as the kernels want it. Errors come back as a place: d_first_bad ← min(itself, place).
namespace proofline::cuda {

constexpr uint32_t none_bad = 0xffffffff;

// Looks for a scalar that is not below r. P: of the scalar field.
template <class P>
void find_not_below_modulus(const words<4>* d_scalars, size_t n, uint32_t* d_first_bad, cudaStream_t stream);

// Canonical big-endian points (curve/point_bytes.hpp) to Montgomery form, in place. Bad: a coordinate that is not
// below p, and infinity. `first` is added to the place.
template <class G>
void decode_points(typename G::affine* d_points, size_t n, uint32_t first, uint32_t* d_first_bad,
                   cudaStream_t stream);

// An entry of a sparse row: coefficient 0 is 1, coefficient 1 is −1, others are of the table.
struct row_entry {
  uint32_t wire, coefficient;
};

// d_out[row] ← Σ coefficient·witness over entries [d_start[row], d_start[row + 1]). Witness and result canonical,
// coefficients in Montgomery form.
template <class P>
void multiply_rows(const uint32_t* d_start, const row_entry* d_entries, const mont_t<P>* d_coefficients,
                   const words<4>* d_witness, size_t rows, words<4>* d_out, cudaStream_t stream);

}  // namespace proofline::cuda
