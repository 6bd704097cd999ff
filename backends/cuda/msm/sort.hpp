#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

namespace proofline::cuda {

size_t sort_workspace_bytes(uint32_t n, int key_bits);

// Sorts by the lowest `key_bits` of the keys, with the values. True if the result lies in the
// second pair of arrays; the other pair is scratch.
bool sort_pairs(uint32_t* keys, uint32_t* other_keys, uint32_t* values, uint32_t* other_values,
                uint32_t n, int key_bits, void* workspace, size_t workspace_bytes,
                cudaStream_t stream);

}  // namespace proofline::cuda
