#include "input/values.cuh"

#include "runtime/error.hpp"

namespace proofline::cuda {
namespace {

constexpr int block = 128;
unsigned blocks_for(size_t n) { return unsigned((n + block - 1) / block); }

template <class P>
__global__ void __launch_bounds__(block) not_below_modulus(const words<4>* scalars, size_t n, uint32_t* first_bad) {
  const size_t i = blockIdx.x * size_t(block) + threadIdx.x;
  if (i >= n) return;
  if (!(scalars[i] < P::modulus())) atomicMin(first_bad, uint32_t(i));
}

template <class P>
__device__ bool decode_coordinate(const uint8_t* from, mont_t<P>& to) {
  words<P::limbs> v;
  for (int i = 0; i < P::limbs; i++) {
    const uint64_t word = reinterpret_cast<const uint64_t*>(from)[P::limbs - 1 - i];
    v.w[i] = uint64_t(__byte_perm(uint32_t(word), 0, 0x0123)) << 32 | __byte_perm(uint32_t(word >> 32), 0, 0x0123);
  }
  to = mont_t<P>::from_canonical(v);
  return v < P::modulus();
}
template <class F>
__device__ bool decode_coordinate(const uint8_t* from, fp2_t<F>& to) {
  const bool high = decode_coordinate(from, to.c1);
  return decode_coordinate(from + sizeof(F), to.c0) && high;
}

template <class G>
__global__ void __launch_bounds__(block) decode(typename G::affine* points, size_t n, uint32_t first,
                                                uint32_t* first_bad) {
  const size_t i = blockIdx.x * size_t(block) + threadIdx.x;
  if (i >= n) return;
  const auto* const bytes = reinterpret_cast<const uint8_t*>(points + i);
  typename G::affine point;
  const bool x = decode_coordinate(bytes, point.x);
  const bool y = decode_coordinate(bytes + sizeof point.x, point.y);
  if (!x || !y || point.is_infinity()) atomicMin(first_bad, first + uint32_t(i));
  points[i] = point;
}

template <class P>
__global__ void __launch_bounds__(block) sum_rows(const uint32_t* start, const row_entry* entries,
                                                  const mont_t<P>* coefficients, const words<4>* witness,
                                                  size_t rows, words<4>* out) {
  using F = mont_t<P>;
  const size_t row = blockIdx.x * size_t(block) + threadIdx.x;
  if (row >= rows) return;
  // The product of one factor in Montgomery form and a canonical one is canonical.
  F sum = F::zero();
  for (uint32_t i = start[row], end = start[row + 1]; i < end; i++) {
    const row_entry e = entries[i];
    const F value{witness[e.wire]};
    if (e.coefficient == 0) {
      sum += value;
    } else if (e.coefficient == 1) {
      sum -= value;
    } else {
      sum += coefficients[e.coefficient] * value;
    }
  }
  out[row] = sum.limb;
}

}  // namespace

template <class P>
void find_not_below_modulus(const words<4>* d_scalars, size_t n, uint32_t* d_first_bad, cudaStream_t stream) {
  if (n == 0) return;
  not_below_modulus<P><<<blocks_for(n), block, 0, stream>>>(d_scalars, n, d_first_bad);
  CUDA_OK(launch_error());
}

template <class G>
void decode_points(typename G::affine* d_points, size_t n, uint32_t first, uint32_t* d_first_bad,
                   cudaStream_t stream) {
  if (n == 0) return;
  decode<G><<<blocks_for(n), block, 0, stream>>>(d_points, n, first, d_first_bad);
  CUDA_OK(launch_error());
}

template <class P>
void multiply_rows(const uint32_t* d_start, const row_entry* d_entries, const mont_t<P>* d_coefficients,
                   const words<4>* d_witness, size_t rows, words<4>* d_out, cudaStream_t stream) {
  sum_rows<P><<<blocks_for(rows), block, 0, stream>>>(d_start, d_entries, d_coefficients, d_witness, rows, d_out);
  CUDA_OK(launch_error());
}

#define PROOFLINE_INPUT_OF_FIELD(P)                                                                             \
  template void find_not_below_modulus<P>(const words<4>*, size_t, uint32_t*, cudaStream_t);                    \
  template void multiply_rows<P>(const uint32_t*, const row_entry*, const mont_t<P>*, const words<4>*, size_t, \
                                 words<4>*, cudaStream_t);
#define PROOFLINE_INPUT_OF_GROUP(G) \
  template void decode_points<G>(G::affine*, size_t, uint32_t, uint32_t*, cudaStream_t);

PROOFLINE_INPUT_OF_FIELD(bn254_fr_params)
PROOFLINE_INPUT_OF_FIELD(bls12_381_fr_params)
PROOFLINE_INPUT_OF_GROUP(bn254_g1)
PROOFLINE_INPUT_OF_GROUP(bn254_g2)
PROOFLINE_INPUT_OF_GROUP(bls12_381_g1)
PROOFLINE_INPUT_OF_GROUP(bls12_381_g2)

}  // namespace proofline::cuda
