#pragma once

#include <cstddef>
#include <cstdint>

namespace proofline::cuda {

// Carves arrays out of one block, each aligned to 256 bytes. Without a block it only counts.
class carver {
 public:
  explicit carver(void* block) : block_(static_cast<uint8_t*>(block)) {}

  template <class T>
  T* take(size_t count) {
    T* const at = block_ != nullptr ? reinterpret_cast<T*>(block_ + used_) : nullptr;
    used_ += (count * sizeof(T) + 255) / 256 * 256;
    return at;
  }
  size_t used() const { return used_; }

 private:
  uint8_t* block_;
  size_t used_ = 0;
};

}  // namespace proofline::cuda
