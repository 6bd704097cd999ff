#include <cuda_runtime.h>

#include <cstring>
#include <thread>

#include "bench/bench.hpp"
#include "bench/device_array.hpp"
#include "runtime/error.hpp"

// The device bench: proofline_cuda_bench COMMAND…, commands as below, each with its own checks.
// Needs no files.
namespace {

using namespace proofline::cuda;

constexpr const char* usage =
    "proofline_cuda_bench COMMAND...\n"
    "  check LOGN                  up to 2^LOGN elements: sums of every group and transforms of "
    "both curves against the host\n"
    "  msm GROUP LOGN BITS TABLES  GROUP g1 or g2; BITS 0 chooses\n"
    "  ntt LOGN                    one transform, its inverse and the whole quotient\n"
    "  partition SHAPE COUNT       SHAPE porep, winning, window, snap or small; porep-streamed "
    "feeds the\n"
    "                              key from pinned memory, porep-tables adds multiples of the h "
    "query\n"
    "                              circom20 and circom22 are of BN254\n"
    "  raw                         later commands leave fresh memory as it is, for initcheck\n"
    "  fields                      products, squares and inverses of both curves\n";

int run(int argc, char** argv, const bench_context& context) {
  int wrong = 0;
  const auto argument = [&](int i) {
    if (i >= argc) throw proofline::format_error("arguments", usage, "too few");
    return argv[i];
  };
  for (int i = 1; i < argc; i++) {
    const std::string command = argv[i];
    if (command == "check") {
      const int log_n_max = std::atoi(argument(i + 1));
      wrong += check_transforms(context, log_n_max) + check_sums(context, log_n_max);
      i++;
    } else if (command == "msm") {
      wrong +=
          bench_sums(context, std::strcmp(argument(i + 1), "g1") == 0, std::atoi(argument(i + 2)),
                     std::atoi(argument(i + 3)), std::atoi(argument(i + 4)));
      i += 4;
    } else if (command == "ntt") {
      wrong += bench_transforms(context, std::atoi(argument(i + 1)));
      i++;
    } else if (command == "raw") {
      fills_memory = false;
    } else if (command == "fields") {
      bench_fields(context);
    } else if (command == "partition") {
      wrong += bench_partition(context, argument(i + 1), std::atoi(argument(i + 2)));
      i += 2;
    } else {
      throw proofline::format_error("command", usage, command);
    }
  }
  return wrong;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    cudaDeviceProp properties{};
    CUDA_OK(cudaGetDeviceProperties(&properties, 0));
    size_t free_bytes = 0, total_bytes = 0;
    CUDA_OK(cudaMemGetInfo(&free_bytes, &total_bytes));
    std::printf("%s, %d multiprocessors, %.1f of %.1f GB free\n", properties.name,
                properties.multiProcessorCount, double(free_bytes) / 1e9,
                double(total_bytes) / 1e9);
    proofline::thread_pool pool(std::max(1u, std::thread::hardware_concurrency()));
    const bench_context context{{properties.multiProcessorCount, size_t(properties.l2CacheSize)},
                                proofline::executor(pool)};
    const int wrong = run(argc, argv, context);
    std::printf(wrong == 0 ? "all right\n" : "%d WRONG\n", wrong);
    return wrong == 0 ? 0 : 1;
  } catch (const proofline::prover_error& error) {
    std::fprintf(stderr, "%s", error.what());
    for (const auto& [name, value] : error.data)
      std::fprintf(stderr, " %s=%s", name.c_str(), value.c_str());
    std::fprintf(stderr, "\n");
    return 2;
  }
}
