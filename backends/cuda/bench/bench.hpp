#pragma once

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include "core/thread_pool.hpp"
#include "runtime/facts.hpp"

namespace proofline::cuda {

struct bench_context {
  device_facts facts;
  executor exec;
};

// Each prints lines and returns the number of wrong results.
int check_sums(const bench_context& context, int log_n_max);
int check_transforms(const bench_context& context, int log_n_max);
void bench_fields(const bench_context& context);
int bench_sums(const bench_context& context, bool g1, int log_n, int window_bits, int tables);
int bench_transforms(const bench_context& context, int log_n);
int bench_partition(const bench_context& context, const std::string& shape, int partitions);

inline double milliseconds() {
  return std::chrono::duration<double, std::milli>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}
inline double median(std::vector<double> v) {
  std::sort(v.begin(), v.end());
  return v[v.size() / 2];
}

}  // namespace proofline::cuda
