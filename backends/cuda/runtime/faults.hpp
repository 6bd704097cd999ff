#pragma once

#include <array>
#include <atomic>

namespace proofline::cuda {

// Places where a test makes the device fail.
enum class fault_site : int { allocation, registration, launch, loss };

// Counts down to the one call that fails. Zero: none does.
class faults {
 public:
  static faults& planted() {
    static faults all;
    return all;
  }

  void plant(fault_site site, int call) { left_[size_t(site)] = call; }
  bool due(fault_site site) {
    std::atomic<int>& left = left_[size_t(site)];
    return left.load(std::memory_order_relaxed) > 0 && left.fetch_sub(1) == 1;
  }

 private:
  std::array<std::atomic<int>, 4> left_{};
};

}  // namespace proofline::cuda
