#include "expand/rows.cuh"

#include "ntt/butterflies.cuh"
#include "runtime/error.hpp"

namespace proofline::cuda {
namespace {

template <class P>
PROOFLINE_DEVICE element<P> in_montgomery_form(const element<P>& canonical) {
  element<P> r_squared;
#pragma unroll
  for (int i = 0; i < 8; i++) {
    constexpr words<4> r2 = power_of_two<P>(512);
    r_squared.l[i] = uint32_t(r2.w[i / 2] >> (32 * (i & 1)));
  }
  return scalar_product<P>(canonical, r_squared);
}

PROOFLINE_DEVICE uint32_t reversed(uint32_t i, int bits) {
  return bits == 0 ? 0 : __brev(i) >> (32 - bits);
}

template <class P>
__global__ void __launch_bounds__(256)
    expand_kernel(element<P>* out, const compact_vector v, int log_n) {
  const size_t j = blockIdx.x * size_t{256} + threadIdx.x;
  if (j >= size_t{1} << log_n) return;
  const uint32_t i = reversed(uint32_t(j), log_n);
  element<P> x{};
  if (i < v.n) {
    if (v.kind == compact_kind::full) {
      x = in_montgomery_form<P>(load8<P>(reinterpret_cast<const element<P>*>(v.values) + i));
    } else if (v.kind == compact_kind::bits) {
      if (v.values[i >> 3] >> (i & 7) & 1) x = one_of<P>();
    } else {
      const int small = int8_t(v.values[i]);
      x.l[0] = uint32_t(small < 0 ? -small : small);
      x = in_montgomery_form<P>(x);
      if (small < 0) {
        element<P> opposite{};
        subtract_r<P>(opposite.l, x.l);
        x = opposite;
      }
    }
  }
  store8<P>(out + j, x);
}

template <class P>
__global__ void __launch_bounds__(256)
    expand_exceptions(element<P>* out, const compact_vector v, int log_n) {
  const size_t e = blockIdx.x * size_t{256} + threadIdx.x;
  if (e >= v.exceptions || v.indices[e] >= v.n) return;
  const auto* const values = reinterpret_cast<const element<P>*>(v.exception_values);
  store8<P>(out + reversed(v.indices[e], log_n), in_montgomery_form<P>(load8<P>(values + e)));
}

}  // namespace

template <class P>
void expand_rows(const compact_vector& v, int log_n, mont_t<P>* d_out, cudaStream_t stream) {
  require(v.n <= size_t{1} << log_n, "no more values than rows");
  auto* const out = reinterpret_cast<element<P>*>(d_out);
  expand_kernel<P><<<unsigned(((size_t{1} << log_n) + 255) / 256), 256, 0, stream>>>(out, v, log_n);
  if (v.exceptions != 0)
    expand_exceptions<P><<<unsigned((v.exceptions + 255) / 256), 256, 0, stream>>>(out, v, log_n);
  CUDA_OK(cudaGetLastError());
}

template void expand_rows<bls12_381_fr_params>(const compact_vector&, int, bls12_381_fr*,
                                               cudaStream_t);
template void expand_rows<bn254_fr_params>(const compact_vector&, int, bn254_fr*, cudaStream_t);

}  // namespace proofline::cuda
