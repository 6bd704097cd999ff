#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <string>
#include <thread>
#include <vector>

#include "msm/msm.hpp"
#include "samples.hpp"
#ifdef PROOFLINE_BLST
#include <blst.h>
#endif

// bench_msm GROUP LOG_N THREADS [portable|adx|ifma] [random|bits|equal|few]: the time of a sum of
// 2^LOG_N points. Checks the result against the points' discrete logarithms first. Median of five;
// in G1 of BLS12-381, with PROOFLINE_BLST, blst's Pippenger runs in between, its points split over
// the same number of threads.
using namespace proofline;

namespace {

struct seconds {
  double wall, cpu;
};

template <class Body>
seconds timed(Body&& body) {
  const auto cpu = [] {
    timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return double(t.tv_sec) + double(t.tv_nsec) * 1e-9;
  };
  const double cpu_before = cpu();
  const auto before = std::chrono::steady_clock::now();
  body();
  const auto after = std::chrono::steady_clock::now();
  return {std::chrono::duration<double>(after - before).count(), cpu() - cpu_before};
}

seconds median(std::vector<seconds> runs) {
  const auto middle = [&](auto field) {
    std::vector<double> v;
    for (const seconds& s : runs) v.push_back(s.*field);
    std::sort(v.begin(), v.end());
    return v[v.size() / 2];
  };
  return {middle(&seconds::wall), middle(&seconds::cpu)};
}

template <class S>
std::vector<words<4>> scalars_of(const std::string& kind, size_t n) {
  std::vector<words<4>> few(5), v(n);
  for (words<4>& s : few) s = samples::random_below<typename S::params>();
  for (words<4>& s : v) {
    if (kind == "bits") {
      s = {{samples::random_word() & 1}};
    } else if (kind == "equal") {
      s = few[0];
    } else if (kind == "few") {
      s = few[samples::random_word() % few.size()];
    } else {
      s = samples::random_below<typename S::params>();
    }
  }
  return v;
}

#ifdef PROOFLINE_BLST
blst_p1 blst_sum(const std::vector<bls12_381_g1::affine>& points,
                 const std::vector<words<4>>& scalars, unsigned threads) {
  static_assert(sizeof(blst_p1_affine) == sizeof(bls12_381_g1::affine));
  std::vector<blst_p1> sums(threads);
  std::vector<std::thread> workers;
  for (unsigned t = 0; t < threads; t++) {
    workers.emplace_back([&, t] {
      const size_t begin = points.size() * t / threads, end = points.size() * (t + 1) / threads;
      const blst_p1_affine* const from[2] = {
          reinterpret_cast<const blst_p1_affine*>(&points[begin]), nullptr};
      const byte* const by[2] = {reinterpret_cast<const byte*>(&scalars[begin]), nullptr};
      const size_t bytes = blst_p1s_mult_pippenger_scratch_sizeof(end - begin);
      std::vector<limb_t> scratch(bytes / sizeof(limb_t));
      blst_p1s_mult_pippenger(&sums[t], from, end - begin, by, 255, scratch.data());
    });
  }
  for (std::thread& worker : workers) worker.join();
  for (unsigned t = 1; t < threads; t++) blst_p1_add_or_double(&sums[0], &sums[0], &sums[t]);
  return sums[0];
}
#endif

template <class G>
int run(const char* name, int log_n, unsigned threads, const std::string& kind) {
  using S = typename G::scalar;
  const size_t n = size_t{1} << log_n;
  const samples::known_points<G> known(n);
  const auto scalars = scalars_of<S>(kind, n);
  S log = S::zero();
  for (size_t i = 0; i < n; i++) log += known.logs[i] * S::from_canonical(scalars[i]);
  const auto expected = multiply(G::generator(), log.to_canonical());

  thread_pool pool(threads);
  const executor exec(pool);
  const points_view<G> points(std::span<const typename G::affine>(known.points));
  typename G::xyzz sum;
  std::vector<seconds> ours, theirs;
  for (int i = 0; i < 6; i++) {  // the first of each is not counted
    const seconds s = timed([&] { sum = msm<G>(points, scalars, exec); });
    if (!(sum == expected)) {
      std::printf("%s 2^%d: wrong sum\n", name, log_n);
      return 1;
    }
    if (i > 0) ours.push_back(s);
#ifdef PROOFLINE_BLST
    if constexpr (std::is_same_v<G, bls12_381_g1>) {
      blst_p1 other;
      const seconds t = timed([&] { other = blst_sum(known.points, scalars, threads); });
      blst_p1_affine affine;
      blst_p1_to_affine(&affine, &other);
      const auto same = sum.to_affine();
      if (std::memcmp(&affine, &same, sizeof same) != 0) {
        std::printf("%s 2^%d: the peer disagrees\n", name, log_n);
        return 1;
      }
      if (i > 0) theirs.push_back(t);
    }
#endif
  }
  const seconds mine = median(ours);
  std::printf("%s 2^%d %s, %u threads, %s: %.1f ms (cpu %.1f)", name, log_n, kind.c_str(), threads,
              name_of(isa_in_use.load()), mine.wall * 1e3, mine.cpu * 1e3);
  if (!theirs.empty()) {
    const seconds peer = median(theirs);
    std::printf(", blst %.1f ms (cpu %.1f), ratio %.2f (cpu %.2f)", peer.wall * 1e3, peer.cpu * 1e3,
                peer.wall / mine.wall, peer.cpu / mine.cpu);
  }
  std::printf("\n");
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  const std::string group = count > 1 ? arguments[1] : "";
  const int log_n = count > 2 ? std::atoi(arguments[2]) : 0;
  const int threads = count > 3 ? std::atoi(arguments[3]) : 0;
  const std::string level = count > 4 ? arguments[4] : "";
  const std::string kind = count > 5 ? arguments[5] : "random";
  for (const isa i : {isa::portable, isa::adx, isa::ifma})
    if (level == name_of(i) && i <= detected_isa()) isa_in_use = i;
  const bool known = level.empty() || level == name_of(isa_in_use.load());
  if (known && log_n >= 0 && log_n <= 24 && threads >= 1) {
    const auto t = unsigned(threads);
    if (group == "bn254_g1") return run<bn254_g1>("bn254_g1", log_n, t, kind);
    if (group == "bn254_g2") return run<bn254_g2>("bn254_g2", log_n, t, kind);
    if (group == "bls12_381_g1") return run<bls12_381_g1>("bls12_381_g1", log_n, t, kind);
    if (group == "bls12_381_g2") return run<bls12_381_g2>("bls12_381_g2", log_n, t, kind);
  }
  std::fprintf(stderr,
               "expected bench_msm bn254_g1|bn254_g2|bls12_381_g1|bls12_381_g2 LOG_N THREADS "
               "[portable|adx|ifma] [random|bits|equal|few]\n");
  return 2;
}
