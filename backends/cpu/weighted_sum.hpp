#pragma once

#include <span>

#include "core/thread_pool.hpp"
#include "prover/types.hpp"

namespace proofline {

// Σ scalars[i]·points[i] in G1, as the points are: canonical big-endian bytes, all zero for
// infinity. The points are of the group (not checked), the scalars below r.
// @throws format_error, cancelled_error
bytes weighted_sum(curve_id curve, std::span<const uint8_t> points,
                   std::span<const words<4>> scalars, const executor& exec);

}  // namespace proofline
