#include "bench/bench.hpp"
#include "bench/device_array.hpp"
#include "field/scalar.cuh"

// Rates of the arithmetic in registers: one chain a thread, 16 warps on a multiprocessor.
namespace proofline::cuda {
namespace {

enum class operation { product, square, inverse, scalar_product, difference };

template <class P, operation Op>
__global__ void __launch_bounds__(128) chain(element<P>* io, int iterations) {
  const uint32_t t = blockIdx.x * 128 + threadIdx.x;
  element<P> x = io[2 * t];
  const element<P> y = io[2 * t + 1];
#pragma unroll 1
  for (int i = 0; i < iterations; i++) {
    if constexpr (Op == operation::product) x = product<P>(x, y);
    if constexpr (Op == operation::square) x = square<P>(x);
    if constexpr (Op == operation::inverse) x = inverse_of<P>(x);
    if constexpr (Op == operation::scalar_product) x = scalar_product<P>(x, y);
    if constexpr (Op == operation::difference) x = loose_difference<P>(x, y);
  }
  io[2 * t] = x;
}

template <class P, operation Op>
void rate(const char* name, int iterations, const bench_context& context) {
  const unsigned blocks = unsigned(context.facts.sm_count) * 4;
  std::vector<element<P>> start(2 * blocks * 128);
  for (auto& e : start)
    for (int i = 0; i < element<P>::N; i++)
      e.l[i] = i + 1 < element<P>::N ? 0x9e3779b9u * uint32_t(i + 3) : 0x01234567u;
  const device_array<element<P>> d(start);
  std::vector<double> times;
  for (int run = 0; run < 5; run++) {
    const double begin = milliseconds();
    chain<P, Op><<<blocks, 128>>>(d.get(), iterations);
    CUDA_OK(cudaDeviceSynchronize());
    times.push_back(milliseconds() - begin);
  }
  std::printf("%-28s %8.2f G/s\n", name, double(blocks) * 128 * iterations / median(times) / 1e6);
}

}  // namespace

void bench_fields(const bench_context& context) {
  using bls = bls12_381_fp_params;
  rate<bls, operation::product>("bls12-381 Fp product", 4000, context);
  rate<bls, operation::square>("bls12-381 Fp square", 4000, context);
  rate<bls, operation::inverse>("bls12-381 Fp inverse", 80, context);
  rate<bls, operation::difference>("bls12-381 Fp difference", 40000, context);
  rate<bls12_381_fr_params, operation::scalar_product>("bls12-381 Fr product", 8000, context);
  rate<bn254_fp_params, operation::product>("bn254 Fp product", 8000, context);
  rate<bn254_fr_params, operation::scalar_product>("bn254 Fr product", 8000, context);
}

}  // namespace proofline::cuda
