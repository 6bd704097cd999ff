#include <functional>

#include "bench/bench.hpp"
#include "bench/known_points.cuh"
#include "ntt/domain_roots.hpp"
#include "ntt/quotient.cuh"
#include "ntt/quotient.hpp"

// Transforms against backends/common's, and large ones against the polynomial identity.
namespace proofline::cuda {
namespace {

template <class P>
const mont_t<P>* as_field(const element<P>* p) {
  return reinterpret_cast<const mont_t<P>*>(p);
}
template <class P>
mont_t<P>* as_field(element<P>* p) {
  return reinterpret_cast<mont_t<P>*>(p);
}

// partial[i] = x^(1024 i)·Σ_j d[1024 i + j]·x^j
template <class P>
__global__ void evaluate_parts(const element<P>* d, size_t n, element<P> x, element<P>* partial) {
  const size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
  if (i * 1024 >= n) return;
  element<P> sum{}, factor = one_of<P>(), base = x;
  for (size_t j = min(size_t{1024}, n - i * 1024); j-- > 0;) {
    sum = scalar_product<P>(sum, x);
    const element<P> e = load8<P>(d + i * 1024 + j);
    add_wide<P>(sum.l, e.l);
    narrow<P>(sum.l);
  }
  for (size_t e = i * 1024; e != 0; e >>= 1) {
    if (e & 1) factor = scalar_product<P>(factor, base);
    base = scalar_product<P>(base, base);
  }
  store8<P>(partial + i, scalar_product<P>(sum, factor));
}

template <class P>
mont_t<P> value_at(const element<P>* d, size_t n, const mont_t<P>& x) {
  const size_t parts = (n + 1023) / 1024;
  device_array<element<P>> partial(parts);
  element<P> e;
  std::memcpy(e.l, &x, sizeof e.l);
  evaluate_parts<P><<<unsigned((parts + 255) / 256), 256>>>(d, n, e, partial.get());
  CUDA_OK(cudaGetLastError());
  mont_t<P> sum = mont_t<P>::zero();
  for (const auto& part : partial.read()) {
    mont_t<P> v;
    std::memcpy(&v, part.l, sizeof v);
    sum += v;
  }
  return sum;
}

template <class P>
int check_quotient(const char* name, h_basis basis, int log_n, const bench_context& context) {
  using F = mont_t<P>;
  const size_t n = size_t{1} << log_n;
  const auto a = random_elements<F>(n, 21), b = random_elements<F>(n, 22);
  std::vector<F> ra(n), rb(n);
  auto ha = std::make_unique<F[]>(n), hb = std::make_unique<F[]>(n);
  for (size_t i = 0; i < n; i++) {
    ra[reversed_bits(i, log_n)] = a[i], rb[reversed_bits(i, log_n)] = b[i];
    ha[i] = a[i], hb[i] = b[i];
  }
  const quotient_plan<P> plan(basis, log_n, context.exec);
  const auto expected = plan.run(std::move(ha), std::move(hb), context.exec);
  device_array<F> d_a(ra), d_b(rb);
  device_array<uint8_t> tables(domain<P>::table_bytes(basis, log_n)),
      work(domain<P>::workspace_bytes(basis, log_n));
  const domain<P> d(basis, log_n, tables.get());
  d.make_tables(nullptr);
  const F* const h = d.quotient(d_a.get(), d_b.get(), work.get(), nullptr);
  CUDA_OK(cudaDeviceSynchronize());
  std::vector<F> actual(n);
  CUDA_OK(cudaMemcpy(actual.data(), h, n * sizeof(F), cudaMemcpyDeviceToHost));
  size_t different = 0;
  for (size_t i = 0; i < plan.scalar_count(); i++)
    different += !(actual[i].to_canonical() == expected[i]);
  // There and back.
  device_array<F> there(ra);
  d.interpolate(there.get(), nullptr);
  const std::vector<F> coefficients = there.read();
  const F x = domain_root<P>(basis, log_n).pow(words<1>{{n / 3}});
  F value = F::zero();
  for (size_t i = n; i-- > 0;) value = value * x + coefficients[i];
  const bool interpolated = value == a[n / 3];
  d.evaluate(there.get(), nullptr);
  const std::vector<F> again = there.read();
  bool back = true;
  for (size_t i = 0; i < n; i++) back = back && again[i] == ra[i];
  if (different == 0 && interpolated && back) return 0;
  std::printf("%s basis %d 2^%d: %zu of h differ, interpolation %d, there and back %d: WRONG\n",
              name, int(basis), log_n, different, interpolated, back);
  return 1;
}

double device_median(int runs, const std::function<void()>& fn) {
  cudaEvent_t start, end;
  CUDA_OK(cudaEventCreate(&start));
  CUDA_OK(cudaEventCreate(&end));
  std::vector<double> times;
  for (int run = 0; run <= runs; run++) {
    CUDA_OK(cudaEventRecord(start));
    fn();
    CUDA_OK(cudaEventRecord(end));
    CUDA_OK(cudaEventSynchronize(end));
    float ms = 0;
    CUDA_OK(cudaEventElapsedTime(&ms, start, end));
    if (run > 0) times.push_back(ms);
  }
  CUDA_OK(cudaEventDestroy(start));
  CUDA_OK(cudaEventDestroy(end));
  return median(times);
}

}  // namespace

int check_transforms(const bench_context& context, int log_n_max) {
  int wrong = 0;
  for (const h_basis basis : {h_basis::monomial, h_basis::odd_lagrange}) {
    for (const int log_n : {0, 1, 2, 3, 4, 5, 7, 10, 13, 17, 18, 19, 20, 21}) {
      if (log_n > log_n_max) continue;
      wrong += check_quotient<bls12_381_fr_params>("bls12-381", basis, log_n, context);
      wrong += check_quotient<bn254_fr_params>("bn254", basis, log_n, context);
    }
  }
  std::printf("check transforms: %s\n", wrong == 0 ? "all right" : "WRONG");
  return wrong;
}

int bench_transforms(const bench_context&, int log_n) {
  using P = bls12_381_fr_params;
  using F = mont_t<P>;
  const size_t n = size_t{1} << log_n;
  const h_basis basis = h_basis::monomial;
  device_array<uint8_t> tables(domain<P>::table_bytes(basis, log_n)),
      work(domain<P>::workspace_bytes(basis, log_n));
  const domain<P> d(basis, log_n, tables.get());
  d.make_tables(nullptr);
  device_array<element<P>> a(n), b(n), a0(n), b0(n);
  fill_random<P><<<2048, 256>>>(a0.get(), n, 1);
  fill_random<P><<<2048, 256>>>(b0.get(), n, 2);
  const F x = F::from_u64(0x123456789abcdef);
  const F a_x = value_at<P>(a0.get(), n, x), b_x = value_at<P>(b0.get(), n, x);
  d.evaluate(as_field<P>(a0.get()), nullptr);
  d.evaluate(as_field<P>(b0.get()), nullptr);
  const auto restore = [&] {
    CUDA_OK(cudaMemcpyAsync(a.get(), a0.get(), n * sizeof(F), cudaMemcpyDeviceToDevice, nullptr));
    CUDA_OK(cudaMemcpyAsync(b.get(), b0.get(), n * sizeof(F), cudaMemcpyDeviceToDevice, nullptr));
  };
  restore();
  const F* const h = d.quotient(as_field<P>(a.get()), as_field<P>(b.get()), work.get(), nullptr);
  CUDA_OK(cudaDeviceSynchronize());
  const F h_x = value_at<P>(reinterpret_cast<const element<P>*>(h), n, x);
  // The workspace holds n times the coefficients of c.
  const F c_x =
      value_at<P>(reinterpret_cast<const element<P>*>(work.get()), n, x) * F::from_u64(n).inverse();
  const bool right = h_x * (x.pow(words<1>{{n}}) - F::one()) == a_x * b_x - c_x;
  const double forward = device_median(7, [&] { d.evaluate(as_field<P>(a.get()), nullptr); });
  const double inverse = device_median(7, [&] { d.interpolate(as_field<P>(a.get()), nullptr); });
  restore();
  const double whole = device_median(
      7, [&] { d.quotient(as_field<P>(a.get()), as_field<P>(b.get()), work.get(), nullptr); });
  const double make = device_median(1, [&] { d.make_tables(nullptr); });
  std::printf("ntt 2^%d: forward %.3f ms, inverse %.3f ms, quotient %.2f ms, tables %.1f ms: %s\n",
              log_n, forward, inverse, whole, make, right ? "right" : "WRONG");
  std::fflush(stdout);
  return right ? 0 : 1;
}

}  // namespace proofline::cuda
