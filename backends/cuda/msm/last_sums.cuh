#pragma once

#include "curve/point.hpp"
#include "field/device_field.cuh"
#include "msm/lanes.cuh"

// Sums of at most a few thousand points, one block each, in xyzz coordinates.
namespace proofline::cuda {

template <class G>
using device_xyzz = xyzz_t<typename device_field_of<typename G::field>::type>;
template <class G>
using device_affine = affine_t<typename device_field_of<typename G::field>::type>;

// Calls, so that a kernel has each formula once.
template <class G>
__device__ __noinline__ void add_point(device_xyzz<G>& sum, const device_affine<G>& p) {
  const uint32_t* const x = reinterpret_cast<const uint32_t*>(&p);
  constexpr int top = lanes_of<G>::part::N - 1;
  if (x[top] != infinity_word) sum += p;
}
template <class G>
__device__ __noinline__ void add_sum(device_xyzz<G>& sum, const device_xyzz<G>& other) {
  sum += other;
}

constexpr int last_threads = 128;

template <class G>
PROOFLINE_DEVICE void block_sum(device_xyzz<G>& sum, device_xyzz<G>* shared) {
  const uint32_t t = threadIdx.x;
  for (uint32_t half = last_threads / 2; half > 0; half >>= 1) {
    if (t >= half && t < 2 * half) shared[t - half] = sum;
    __syncthreads();
    if (t < half) add_sum<G>(sum, shared[t]);
    __syncthreads();
  }
}

// A level of folding holds per window [A: 2^q][O_0 … O_{t−1}: 2^(q−1)]. Block j of window y: j < t
// the sum of O_j; t ≤ j < t + q the elements of A with bit j − t; j = t + q all of A.
template <class G>
__global__ void __launch_bounds__(last_threads)
    sum_level(device_xyzz<G>* out, const device_affine<G>* level, int q, int t) {
  __shared__ device_xyzz<G> shared[last_threads / 2];
  const int j = int(blockIdx.x), m = t + q;
  const device_affine<G>* const a = level + blockIdx.y * ((size_t(t) + 2) << (q - 1));
  device_xyzz<G> sum = device_xyzz<G>::infinity();
  const int length = 1 << (q - (j < m ? 1 : 0));
#pragma unroll 1
  for (int k = int(threadIdx.x); k < length; k += last_threads) {
    int e = k;
    if (j < t) {
      e = (1 << q) + (j << (q - 1)) + k;
    } else if (j < m) {
      const int b = j - t;
      e = (k >> b) << (b + 1) | 1 << b | (k & ((1 << b) - 1));
    }
    add_point<G>(sum, a[e]);
  }
  block_sum<G>(sum, shared);
  if (threadIdx.x == 0) out[size_t(blockIdx.y) * (m + 1) + j] = sum;
}

// The sum of `n` points, of those that `index` names if it is given.
template <class G>
__global__ void __launch_bounds__(last_threads)
    sum_points(device_xyzz<G>* out, const device_affine<G>* points, const uint32_t* index,
               uint32_t n) {
  __shared__ device_xyzz<G> shared[last_threads / 2];
  device_xyzz<G> sum = device_xyzz<G>::infinity();
#pragma unroll 1
  for (uint32_t k = threadIdx.x; k < n; k += last_threads)
    add_point<G>(sum, points[index != nullptr ? index[k] : k]);
  block_sum<G>(sum, shared);
  if (threadIdx.x == 0) *out = sum;
}

}  // namespace proofline::cuda
