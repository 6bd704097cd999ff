#pragma once

#include <cuda_runtime.h>

#include "curve/groups.hpp"
#include "runtime/facts.hpp"

namespace proofline::cuda {

// How a sum is done: windows of `window_bits`; `tables` arrays of points, table j of them
// multiplied by 2^(window_bits·sets·j); `group` of the sets of buckets at a time, which decides the
// memory.
struct msm_shape {
  size_t n = 0;
  size_t table_stride = 0;  // points of one table; n unless scalars name their points by index
  int window_bits = 0, tables = 1, group = 1;
};

// The n terms: term i is scalars[places[i]]·points[point_of[i]], or i itself where a list is null.
// Scalars are canonical or in Montgomery form.
struct msm_terms {
  const words<4>* scalars = nullptr;
  bool montgomery = false;
  const uint32_t *point_of = nullptr, *places = nullptr;
};

// Σ scalar·point on the device, up to the last 2^10 or so sums, which `combine` adds on the host.
// Any scalars below r and any points of the group (infinity marked, see mark_infinity): repeated
// and opposite ones take the same path. Nothing here waits for the device.
template <class G>
struct msm {
  using affine = typename G::affine;
  using xyzz = typename G::xyzz;

  // The fastest shape whose workspace fits. @throws prover_error out_of_memory
  static msm_shape choose(size_t n, size_t work_bytes_max, const device_facts& facts,
                          int tables = 1);
  static size_t workspace_bytes(const msm_shape& shape, const device_facts& facts);
  static size_t partial_count(const msm_shape& shape);
  static int windows(const msm_shape& shape);
  static int sets(const msm_shape& shape);

  static void run(const msm_shape& shape, const affine* d_points, const msm_terms& terms,
                  xyzz* d_partials, void* d_work, const device_facts& facts, cudaStream_t stream);
  static xyzz combine(const msm_shape& shape, const xyzz* h_partials);

  // Tables 1 … tables − 1 behind table 0, for a shape whose table_stride is n.
  static void make_tables(const msm_shape& shape, affine* d_points, cudaStream_t stream);
};

// The plain sum of points[index[i]], i < count; of the first `count` points without an index.
template <class G>
struct bit_sum {
  static size_t workspace_bytes(size_t count, const device_facts& facts);
  static void run(const typename G::affine* d_points, const uint32_t* d_index, uint32_t count,
                  typename G::xyzz* d_partial, void* d_work, const device_facts& facts,
                  cudaStream_t stream);
};

// out[i] = left[i >> shift] + right[i & mask], i < n: points with known logarithms, for benches.
template <class G>
struct point_grid {
  static size_t workspace_bytes(const device_facts& facts);
  static void run(const typename G::affine* d_left, const typename G::affine* d_right, int shift,
                  uint32_t n, typename G::affine* d_out, void* d_work, const device_facts& facts,
                  cudaStream_t stream);
};

// (0, 0), infinity in keys and on the host, becomes the mark that the kernels know, and back.
template <class G>
void mark_infinity(typename G::affine* d_points, size_t n, cudaStream_t stream);

}  // namespace proofline::cuda
