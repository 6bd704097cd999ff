#pragma once

#include <cuda_runtime.h>

#include "expand/compact.hpp"
#include "field/mont.hpp"

namespace proofline::cuda {

// d_out[reversed(i)] ← element i of the vector in Montgomery form, 0 beyond it, for the 2^log_n
// rows of a domain. The vector's sections lie on the device.
template <class P>
void expand_rows(const compact_vector& vector, int log_n, mont_t<P>* d_out, cudaStream_t stream);

}  // namespace proofline::cuda
