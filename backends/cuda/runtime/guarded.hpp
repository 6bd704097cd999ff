#pragma once

#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "runtime/memory.hpp"

namespace proofline::cuda {

// The arrays of one device block: 256-byte aligned, a guard of 256 bytes behind each. What is added to it is the
// only account of a block's size, for `estimate` as for the allocation.
class block_layout {
 public:
  static constexpr size_t guard_bytes = 256;

  size_t add(size_t bytes) {
    const size_t at = end_;
    const size_t guard = (at + bytes + 255) / 256 * 256;
    guards_.push_back(guard);
    end_ = guard + guard_bytes;
    return at;
  }
  size_t bytes() const { return end_; }
  const std::vector<size_t>& guards() const { return guards_; }

 private:
  size_t end_ = 0;
  std::vector<size_t> guards_;
};

// Whether blocks are filled with a pattern when they are taken, and their guards looked at when they are left.
inline std::atomic<bool> guards_in_use{false};

class guarded_block {
 public:
  static constexpr int pattern = 0xa5;

  guarded_block() = default;
  guarded_block(std::shared_ptr<device_memory> memory, const block_layout& layout)
      : block_(std::move(memory), layout.bytes()), guards_(layout.guards()), guarded_(guards_in_use) {
    if (!guarded_ || block_.data() == nullptr) return;
    CUDA_OK(cudaMemset(block_.data(), pattern, block_.bytes()));
    // The streams that use it do not wait for the default one.
    CUDA_OK(cudaStreamSynchronize(cudaStreamDefault));
  }

  uint8_t* data() const { return block_.data(); }
  uint8_t* at(size_t offset) const { return block_.data() + offset; }

  // After the device's work on the block. @throws internal_error for a write beyond an array
  void check_guards(const char* name) const {
    if (!guarded_) return;
    for (size_t i = 0; i < guards_.size(); i++) {
      std::array<uint8_t, block_layout::guard_bytes> bytes;
      CUDA_OK(cudaMemcpy(bytes.data(), at(guards_[i]), bytes.size(), cudaMemcpyDeviceToHost));
      for (const uint8_t byte : bytes)
        require(byte == pattern, (std::string(name) + ": array " + std::to_string(i) + " was left by a write").c_str());
    }
  }

 private:
  device_block block_;
  std::vector<size_t> guards_;
  bool guarded_ = false;
};

}  // namespace proofline::cuda
