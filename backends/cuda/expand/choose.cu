#include "expand/choose.cuh"

#include <cub/device/device_scan.cuh>

#include "runtime/error.hpp"

namespace proofline::cuda {
namespace {

unsigned blocks_for(uint64_t n) { return unsigned((n + 255) / 256); }

__device__ uint32_t bits_of(const uint8_t* bits, uint32_t first, uint32_t count) {
  uint32_t word = 0;
  for (uint32_t i = 0; i < count; i++)
    word |= uint32_t(bits == nullptr || (bits[(first + i) >> 3] >> ((first + i) & 7) & 1)) << i;
  return word;
}

__global__ void __launch_bounds__(256)
    join_kernel(uint32_t* density, const uint8_t* input_bits, uint32_t inputs,
                const uint8_t* aux_bits, uint32_t wires) {
  const uint32_t w = blockIdx.x * 256 + threadIdx.x;
  if (w >= (wires + 31) / 32) return;
  const uint32_t first = w * 32, end = min(first + 32, wires);
  const uint32_t border = min(max(inputs, first), end);
  const uint32_t low = bits_of(input_bits, first, border - first);
  const uint32_t high = end > border ? bits_of(aux_bits, border - inputs, end - border) : 0;
  density[w] = low | (border - first < 32 ? high << (border - first) : 0);
}

// The bits of word w that the query has points for.
__device__ uint32_t chosen_bits(const wire_choice& c, uint32_t w) {
  uint32_t bits = c.density != nullptr ? c.density[w] : 0xffffffffu;
  const uint32_t first = w * 32;
  if (c.first_wire > first)
    bits &= c.first_wire - first >= 32 ? 0 : 0xffffffffu << (c.first_wire - first);
  if (c.end_wire <= first) return 0;
  if (c.end_wire - first < 32) bits &= (1u << (c.end_wire - first)) - 1;
  return bits;
}

__device__ uint32_t point_of(const wire_choice& c, uint32_t wire) {
  if (c.density == nullptr) return wire - c.first_wire;
  return c.points_before[wire >> 5] - c.first_point +
         uint32_t(__popc(c.density[wire >> 5] & ((1u << (wire & 31)) - 1)));
}

__device__ uint32_t block_place(uint32_t own, uint32_t* counter) {
  // Exclusive sum over the block, and one addition to the counter.
  __shared__ uint32_t warp_sums[8];
  const uint32_t lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  uint32_t inclusive = own;
  for (int step = 1; step < 32; step <<= 1) {
    const uint32_t other = __shfl_up_sync(0xffffffffu, inclusive, step);
    if (lane >= uint32_t(step)) inclusive += other;
  }
  __syncthreads();
  if (lane == 31) warp_sums[warp] = inclusive;
  __syncthreads();
  __shared__ uint32_t base;
  if (threadIdx.x == 0) {
    uint32_t total = 0;
    for (uint32_t& sum : warp_sums) {
      const uint32_t before = total;
      total += sum;
      sum = before;
    }
    base = total != 0 ? atomicAdd(counter, total) : 0;
  }
  __syncthreads();
  return base + warp_sums[warp] + inclusive - own;
}

__global__ void __launch_bounds__(256)
    choose_bits(const uint32_t* values, const wire_choice c, const chosen_wires to) {
  const uint32_t w = c.first_wire / 32 + blockIdx.x * 256 + threadIdx.x;
  const bool inside = w < (c.end_wire + 31) / 32;
  const uint32_t chosen = inside ? chosen_bits(c, w) : 0;
  uint32_t ones = inside ? values[w] & chosen : 0;
  uint32_t at = block_place(uint32_t(__popc(ones)), to.counts);
  if (ones == 0) return;
  const uint32_t before =
      c.density != nullptr ? c.points_before[w] - c.first_point : w * 32 - c.first_wire;
  const uint32_t counted = c.density != nullptr ? c.density[w] : 0xffffffffu;
  for (; ones != 0; ones &= ones - 1) {
    const uint32_t below = (ones & (0u - ones)) - 1;
    to.ones[at++] = before + uint32_t(__popc(counted & below));
  }
}

__global__ void __launch_bounds__(256)
    choose_exceptions(const uint32_t* indices, uint32_t n, const wire_choice c,
                      const chosen_wires to) {
  const uint32_t e = blockIdx.x * 256 + threadIdx.x;
  const uint32_t wire = e < n ? indices[e] : 0;
  const bool term = e < n && wire < c.end_wire && (chosen_bits(c, wire >> 5) >> (wire & 31) & 1);
  const uint32_t at = block_place(term, to.counts + 1);
  if (!term) return;
  to.term_points[at] = point_of(c, wire);
  to.term_places[at] = e;
}

__global__ void __launch_bounds__(256)
    choose_full(const uint4* values, const wire_choice c, const chosen_wires to) {
  const uint32_t wire = c.first_wire + blockIdx.x * 256 + threadIdx.x;
  bool one = false, term = false;
  if (wire < c.end_wire && (chosen_bits(c, wire >> 5) >> (wire & 31) & 1)) {
    const uint4 a = values[2 * size_t(wire)], b = values[2 * size_t(wire) + 1];
    const uint32_t above = a.y | a.z | a.w | b.x | b.y | b.z | b.w;
    one = above == 0 && a.x == 1;
    term = !one && (above | a.x) != 0;
  }
  const uint32_t one_at = block_place(one, to.counts);
  const uint32_t term_at = block_place(term, to.counts + 1);
  if (one) to.ones[one_at] = point_of(c, wire);
  if (term) {
    to.term_points[term_at] = point_of(c, wire);
    to.term_places[term_at] = wire;
  }
}

}  // namespace

void join_densities(uint32_t* d_density, const uint8_t* d_input_bits, uint32_t inputs,
                    const uint8_t* d_aux_bits, uint32_t aux, cudaStream_t stream) {
  const uint32_t wires = inputs + aux;
  join_kernel<<<blocks_for((wires + 31) / 32), 256, 0, stream>>>(d_density, d_input_bits, inputs,
                                                                 d_aux_bits, wires);
  CUDA_OK(cudaGetLastError());
}

size_t points_before_workspace_bytes(uint32_t wires) {
  size_t bytes = 0;
  CUDA_OK(cub::DeviceScan::ExclusiveSum(nullptr, bytes, static_cast<uint32_t*>(nullptr),
                                        static_cast<uint32_t*>(nullptr), (wires + 31) / 32 + 1));
  return bytes;
}

__global__ void __launch_bounds__(256)
    count_bits(uint32_t* out, const uint32_t* density, uint32_t words) {
  const uint32_t w = blockIdx.x * 256 + threadIdx.x;
  if (w <= words) out[w] = w < words ? uint32_t(__popc(density[w])) : 0;
}

void count_points_before(uint32_t* d_points_before, const uint32_t* d_density, uint32_t wires,
                         void* d_work, cudaStream_t stream) {
  const uint32_t words = (wires + 31) / 32;
  count_bits<<<blocks_for(words + 1), 256, 0, stream>>>(d_points_before, d_density, words);
  CUDA_OK(cudaGetLastError());
  size_t bytes = points_before_workspace_bytes(wires);
  CUDA_OK(cub::DeviceScan::ExclusiveSum(d_work, bytes, d_points_before, d_points_before, words + 1,
                                        stream));
}

void choose_wires(const compact_vector& witness, const wire_choice& c, const chosen_wires& to,
                  cudaStream_t stream) {
  require(c.end_wire <= witness.n && witness.kind != compact_kind::small,
          "a witness of bits or of full values");
  if (c.end_wire <= c.first_wire) return;
  if (witness.kind == compact_kind::full) {
    choose_full<<<blocks_for(c.end_wire - c.first_wire), 256, 0, stream>>>(
        reinterpret_cast<const uint4*>(witness.values), c, to);
  } else {
    choose_bits<<<blocks_for((c.end_wire + 31) / 32 - c.first_wire / 32), 256, 0, stream>>>(
        reinterpret_cast<const uint32_t*>(witness.values), c, to);
    if (witness.exceptions != 0)
      choose_exceptions<<<blocks_for(witness.exceptions), 256, 0, stream>>>(
          witness.indices, uint32_t(witness.exceptions), c, to);
  }
  CUDA_OK(cudaGetLastError());
}

}  // namespace proofline::cuda
