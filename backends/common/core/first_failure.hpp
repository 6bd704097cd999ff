#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>

#include "core/errors.hpp"

namespace proofline {

// Of failures on several threads the one at the lowest place: what is told does not depend on which
// thread was faster.
class first_failure {
 public:
  template <class Fn>
  void guard(size_t place, Fn&& fn) {
    if (place > place_.load(std::memory_order_relaxed)) return;
    try {
      fn();
    } catch (const prover_error& error) {
      std::lock_guard lock(mutex_);
      if (place < place_) place_ = place, error_ = error;
    }
  }
  void rethrow() const {
    if (error_) throw *error_;
  }

 private:
  std::mutex mutex_;
  std::atomic<size_t> place_{SIZE_MAX};
  std::optional<prover_error> error_;
};

}  // namespace proofline
