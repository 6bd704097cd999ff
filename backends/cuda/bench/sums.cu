#include "bench/bench.hpp"
#include "bench/known_points.cuh"

// Sums of points with known logarithms: exceptional cases of every group, and timings.
namespace proofline::cuda {
namespace {

template <class G>
typename G::xyzz device_msm(const msm_shape& shape, const typename G::affine* points,
                            const msm_terms& terms, const device_facts& facts) {
  device_array<uint8_t> work(msm<G>::workspace_bytes(shape, facts));
  device_array<typename G::xyzz> partials(msm<G>::partial_count(shape));
  msm<G>::run(shape, points, terms, partials.get(), work.get(), facts, nullptr);
  CUDA_OK(cudaDeviceSynchronize());
  return msm<G>::combine(shape, partials.read().data());
}

enum class mix { random, one_scalar, half_zero, infinities, minus_one, opposite, small };

// Few distinct points, so that buckets see equal and opposite ones.
template <class G>
int check_group(const char* name, const bench_context& context, int log_n_max) {
  using F = typename G::scalar;
  using affine = typename G::affine;
  std::mt19937_64 engine(11);
  int wrong = 0;
  const auto base_logs = random_elements<F>(8, 3);
  std::vector<affine> base;
  for (const F& l : base_logs)
    base.push_back(multiply(G::generator(), l.to_canonical()).to_affine());
  for (const size_t n :
       {size_t{1}, size_t{2}, size_t{3}, size_t{100}, size_t{1000}, size_t{1} << 14}) {
    if (n > size_t{1} << log_n_max) continue;
    for (const mix kind : {mix::random, mix::one_scalar, mix::half_zero, mix::infinities,
                           mix::minus_one, mix::opposite, mix::small}) {
      std::vector<affine> points(n);
      std::vector<F> logs(n), k = random_elements<F>(n, engine());
      for (size_t i = 0; i < n; i++) {
        const size_t q = kind == mix::opposite ? 0 : engine() & 7;
        const bool negative = kind == mix::opposite ? i & 1 : engine() & 1;
        const bool infinite = kind == mix::infinities && engine() % 4 == 0;
        points[i] = infinite ? affine::infinity() : negative ? -base[q] : base[q];
        logs[i] = infinite ? F::zero() : negative ? -base_logs[q] : base_logs[q];
        if (kind == mix::one_scalar || kind == mix::opposite) k[i] = k[0];
        if (kind == mix::half_zero && engine() % 2) k[i] = F::zero();
        if (kind == mix::minus_one) k[i] = engine() % 2 ? -F::one() : F::zero();
        if (kind == mix::small) k[i] = F::from_u64(engine() % 300);
      }
      F expected = F::zero(), plain = F::zero(), chosen = F::zero();
      std::vector<words<4>> canonical(n);
      std::vector<uint32_t> index(n);
      for (size_t i = 0; i < n; i++) {
        index[i] = uint32_t(engine() % n);
        expected += k[i] * logs[i], plain += logs[index[i]], chosen += k[i] * logs[index[i]];
        canonical[i] = k[i].to_canonical();
      }
      device_array<affine> d_points(points);
      mark_infinity<G>(d_points.get(), n, nullptr);
      const device_array<F> d_k(k);
      const device_array<words<4>> d_canonical(canonical);
      const device_array<uint32_t> d_index(index);
      const auto point = [](const F& log) { return multiply(G::generator(), log.to_canonical()); };
      const auto check = [&](const char* what, const typename G::xyzz& sum, const F& log) {
        if (sum == point(log)) return;
        std::printf("%s %s n %zu mix %d: WRONG\n", name, what, n, int(kind));
        wrong++;
      };
      const msm_shape any = msm<G>::choose(n, size_t{1} << 32, context.facts);
      check("sum", device_msm<G>(any, d_points.get(), {d_canonical.get()}, context.facts),
            expected);
      msm_shape other{n, n, kind == mix::random ? 13 : 7, 1, 5};
      check("sum by groups",
            device_msm<G>(other, d_points.get(),
                          {reinterpret_cast<const words<4>*>(d_k.get()), true, d_index.get()},
                          context.facts),
            chosen);
      device_array<uint8_t> work(bit_sum<G>::workspace_bytes(n, context.facts));
      device_array<typename G::xyzz> partial(1);
      bit_sum<G>::run(d_points.get(), d_index.get(), uint32_t(n), partial.get(), work.get(),
                      context.facts, nullptr);
      check("bit sum", partial.read()[0], plain);
      if constexpr (std::is_same_v<G, bls12_381_g1> || std::is_same_v<G, bn254_g1>) {
        if (kind == mix::random || kind == mix::infinities) {
          msm_shape tables{n, n, 9, 4, 2};
          device_array<affine> more(n * 4);
          CUDA_OK(
              cudaMemcpy(more.get(), d_points.get(), n * sizeof(affine), cudaMemcpyDeviceToDevice));
          msm<G>::make_tables(tables, more.get(), nullptr);
          check("sum by tables",
                device_msm<G>(tables, more.get(), {d_canonical.get()}, context.facts), expected);
        }
      }
    }
  }
  std::printf("check sums %s: %s\n", name, wrong == 0 ? "all right" : "WRONG");
  return wrong;
}

template <class G>
int bench_group(const bench_context& context, const char* name, int log_n, int window_bits,
                int tables) {
  using F = typename G::scalar;
  using P = typename F::params;
  const size_t n = size_t{1} << log_n;
  known_points<G> known(n, 7, context.facts, context.exec, n * size_t(tables - 1));
  device_array<element<P>> scalars(n);
  fill_random<P><<<2048, 256>>>(scalars.get(), n, 99);
  CUDA_OK(cudaGetLastError());
  const auto expected =
      multiply(G::generator(), known.expected_log(scalars.get(), nullptr, n).to_canonical());
  size_t free_bytes = 0, total = 0;
  CUDA_OK(cudaMemGetInfo(&free_bytes, &total));
  msm_shape shape{n, n, window_bits, tables, 1};
  if (window_bits == 0)
    shape = msm<G>::choose(n, free_bytes - (size_t{1} << 30), context.facts, tables);
  else
    for (msm_shape s = shape; s.group <= msm<G>::sets(shape); s.group++) {
      if (uint64_t(n) * uint64_t(s.group) * uint64_t(tables) > uint64_t{1} << 30) break;
      if (msm<G>::workspace_bytes(s, context.facts) > free_bytes - (size_t{1} << 30)) break;
      shape = s;
    }
  double tables_ms = milliseconds();
  msm<G>::make_tables(shape, known.points.get(), nullptr);
  CUDA_OK(cudaDeviceSynchronize());
  tables_ms = milliseconds() - tables_ms;
  device_array<uint8_t> work(msm<G>::workspace_bytes(shape, context.facts));
  const size_t count = msm<G>::partial_count(shape);
  device_array<typename G::xyzz> partials(count);
  typename G::xyzz* host = nullptr;
  CUDA_OK(cudaMallocHost(&host, count * sizeof *host));
  bool right = true;
  std::vector<double> all, host_part;
  cudaStream_t stream;
  CUDA_OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  for (int run = 0; run < 6; run++) {
    const double start = milliseconds();
    msm<G>::run(shape, known.points.get(), {reinterpret_cast<const words<4>*>(scalars.get()), true},
                partials.get(), work.get(), context.facts, stream);
    CUDA_OK(cudaMemcpyAsync(host, partials.get(), count * sizeof *host, cudaMemcpyDeviceToHost,
                            stream));
    CUDA_OK(cudaStreamSynchronize(stream));
    const double device = milliseconds();
    const auto sum = msm<G>::combine(shape, host);
    const double end = milliseconds();
    if (run > 0) all.push_back(end - start), host_part.push_back(end - device);
    right = right && sum == expected;
  }
  CUDA_OK(cudaStreamDestroy(stream));
  CUDA_OK(cudaFreeHost(host));
  std::printf(
      "msm %s 2^%d c %d sets %d group %d tables %d (%.1f s): %.3f ms (%.3f .. %.3f), host part "
      "%.3f, work %.2f GB: %s\n",
      name, log_n, shape.window_bits, msm<G>::sets(shape), shape.group, tables, tables_ms / 1e3,
      median(all), *std::min_element(all.begin(), all.end()),
      *std::max_element(all.begin(), all.end()), median(host_part), double(work.bytes()) / 1e9,
      right ? "right" : "WRONG");
  std::fflush(stdout);
  return right ? 0 : 1;
}

}  // namespace

int check_sums(const bench_context& context, int log_n_max) {
  return check_group<bls12_381_g1>("bls12-381 G1", context, log_n_max) +
         check_group<bls12_381_g2>("bls12-381 G2", context, log_n_max) +
         check_group<bn254_g1>("bn254 G1", context, log_n_max) +
         check_group<bn254_g2>("bn254 G2", context, log_n_max);
}

int bench_sums(const bench_context& context, bool g1, int log_n, int window_bits, int tables) {
  return g1 ? bench_group<bls12_381_g1>(context, "G1", log_n, window_bits, tables)
            : bench_group<bls12_381_g2>(context, "G2", log_n, window_bits, tables);
}

}  // namespace proofline::cuda
