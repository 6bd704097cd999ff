#pragma once

#include <vector>

#include "prover/types.hpp"

// The parts of a proof on their own, for `proofline bench`. Each checks its result before it times anything.
// @throws internal_error for a wrong result
namespace proofline {

// Seconds of each of `runs` sums of 2^log_n random points with random scalars.
std::vector<double> bench_msm(curve_id curve, bool g1, int log_n, int runs, const executor& exec);

// Seconds of each of `runs` transforms of 2^log_n elements.
std::vector<double> bench_ntt(curve_id curve, int log_n, int runs, const executor& exec);

// Seconds of the parts of a synthesis, once: the program read, values computed, the vectors in their final form
// (compact, or as canonical elements of 32 bytes, one vector after another in the same memory), the densities.
struct synthesis_seconds {
  double open, compute, output, densities;
};
synthesis_seconds bench_synthesis(const program_input& input, bool expanded, const executor& exec);

}  // namespace proofline
