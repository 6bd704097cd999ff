#include "msm/sort.hpp"

#include <cub/device/device_radix_sort.cuh>

#include "runtime/error.hpp"

namespace proofline::cuda {

size_t sort_workspace_bytes(uint32_t n, int key_bits) {
  cub::DoubleBuffer<uint32_t> keys(nullptr, nullptr), values(nullptr, nullptr);
  size_t bytes = 0;
  CUDA_OK(cub::DeviceRadixSort::SortPairs(nullptr, bytes, keys, values, n, 0, key_bits));
  return bytes;
}

bool sort_pairs(uint32_t* keys, uint32_t* other_keys, uint32_t* values, uint32_t* other_values,
                uint32_t n, int key_bits, void* workspace, size_t workspace_bytes,
                cudaStream_t stream) {
  cub::DoubleBuffer<uint32_t> k(keys, other_keys), v(values, other_values);
  CUDA_OK(
      cub::DeviceRadixSort::SortPairs(workspace, workspace_bytes, k, v, n, 0, key_bits, stream));
  return k.Current() != keys;
}

}  // namespace proofline::cuda
