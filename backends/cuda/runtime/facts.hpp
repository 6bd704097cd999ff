#pragma once

#include <cstddef>

namespace proofline::cuda {

// What kernels are shaped by.
struct device_facts {
  int sm_count = 0;
  size_t l2_bytes = 0;
};

}  // namespace proofline::cuda
