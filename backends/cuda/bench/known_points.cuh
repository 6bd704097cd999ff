#pragma once

#include <random>

#include "bench/device_array.hpp"
#include "field/scalar.cuh"
#include "msm/msm.cuh"
#include "ntt/butterflies.cuh"
#include "prover/fixed_base.hpp"

namespace proofline::cuda {

// Below r: products of random elements.
template <class F>
std::vector<F> random_elements(size_t n, uint64_t seed) {
  std::mt19937_64 engine(seed);
  std::vector<F> v(n);
  F x = F::from_u64(engine());
  for (F& e : v) e = x = x * x + F::from_u64(engine());
  return v;
}

template <class P>
PROOFLINE_DEVICE element<P> random_element(uint64_t i, uint64_t seed) {
  element<P> v;
  for (int j = 0; j < 4; j++) {  // splitmix64
    uint64_t z = (i * 4 + uint64_t(j) + 1) * 0x9e3779b97f4a7c15u + seed;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    z ^= z >> 31;
    v.l[2 * j] = uint32_t(z), v.l[2 * j + 1] = uint32_t(z >> 32);
  }
  narrow<P>(v.l);
  return v;
}

template <class P>
__global__ void fill_random(element<P>* d, size_t n, uint64_t seed) {
  const size_t step = size_t(gridDim.x) * blockDim.x;
  for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n; i += step)
    store8<P>(d + i, random_element<P>(i, seed));
}

constexpr unsigned sum_blocks = 256, sum_threads = 256;

// partial[t] = Σ scalar[i]·(left[p >> shift] + right[p & mask]) over the i of thread t, p the point
// of i.
template <class P>
__global__ void __launch_bounds__(sum_threads)
    sum_logarithms(element<P>* partial, const element<P>* scalars, const uint32_t* index, size_t n,
                   const element<P>* left, const element<P>* right, int shift) {
  const size_t t = blockIdx.x * size_t{sum_threads} + threadIdx.x,
               step = size_t(gridDim.x) * sum_threads;
  element<P> sum{};
  for (size_t i = t; i < n; i += step) {
    const size_t p = index != nullptr ? index[i] : i;
    element<P> log = load8<P>(left + (p >> shift));
    const element<P> low = load8<P>(right + (p & ((size_t{1} << shift) - 1)));
    add_wide<P>(log.l, low.l);
    narrow<P>(log.l);
    if (scalars != nullptr) log = scalar_product<P>(load8<P>(scalars + i), log);
    add_wide<P>(sum.l, log.l);
  }
  narrow<P>(sum.l);
  store8<P>(partial + t, sum);
}

// 2^log_n distinct points (l_j + r_k)·G whose logarithms are known, so that every sum of them can
// be checked.
template <class G>
struct known_points {
  using F = typename G::scalar;
  using P = typename F::params;
  using affine = typename G::affine;

  int shift;
  size_t n;
  std::vector<F> left, right;
  device_array<element<P>> d_left, d_right;
  device_array<affine> points;

  // `room`: space for more points behind them (tables).
  known_points(size_t n, uint64_t seed, const device_facts& facts, const executor& exec,
               size_t room = 0)
      : shift((std::bit_width(n - 1) + 1) / 2), n(n) {
    const size_t n_right = size_t{1} << shift, n_left = (n + n_right - 1) >> shift;
    left = random_elements<F>(n_left, seed), right = random_elements<F>(n_right, seed + 1);
    const fixed_base<G> base(n_left + n_right, exec);
    const device_array<affine> d_l(points_of(base, left, exec)), d_r(points_of(base, right, exec));
    d_left = device_array<element<P>>(words_of(left)),
    d_right = device_array<element<P>>(words_of(right));
    points = device_array<affine>(n + room);
    device_array<uint8_t> work(point_grid<G>::workspace_bytes(facts));
    point_grid<G>::run(d_l.get(), d_r.get(), shift, uint32_t(n), points.get(), work.get(), facts,
                       nullptr);
    CUDA_OK(cudaDeviceSynchronize());
    for (const size_t i : {size_t{0}, n / 3, n - 1})
      require(points.read(i, 1)[0] == multiply(G::generator(), log(i).to_canonical()).to_affine(),
              "points with their logarithms");
  }

  F log(size_t i) const { return left[i >> shift] + right[i & ((size_t{1} << shift) - 1)]; }

  // Σ scalar·log over `count` scalars in Montgomery form (all 1 without them), of the points that
  // `index` names.
  F expected_log(const element<P>* d_scalars, const uint32_t* d_index, size_t count) const {
    device_array<element<P>> partial(sum_blocks * sum_threads);
    sum_logarithms<P><<<sum_blocks, sum_threads>>>(partial.get(), d_scalars, d_index, count,
                                                   d_left.get(), d_right.get(), shift);
    CUDA_OK(cudaGetLastError());
    F sum = F::zero();
    for (const element<P>& e : partial.read()) {
      F v;
      std::memcpy(&v, e.l, sizeof v);
      sum += v;
    }
    return sum;
  }

  static std::vector<element<P>> words_of(const std::vector<F>& v) {
    std::vector<element<P>> e(v.size());
    std::memcpy(e.data(), v.data(), v.size() * sizeof(F));
    return e;
  }

 private:
  static std::vector<affine> points_of(const fixed_base<G>& base, const std::vector<F>& logs,
                                       const executor& exec) {
    std::vector<words<4>> canonical(logs.size());
    for (size_t i = 0; i < logs.size(); i++) canonical[i] = logs[i].to_canonical();
    const bytes b = base.multiples(canonical, point_form::montgomery_le, exec);
    std::vector<affine> points(logs.size());
    std::memcpy(points.data(), b.data(), b.size());
    return points;
  }
};

}  // namespace proofline::cuda
