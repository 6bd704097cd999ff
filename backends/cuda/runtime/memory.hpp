#pragma once

#include <cuda_runtime.h>

#include <list>
#include <memory>
#include <mutex>
#include <utility>

#include "runtime/error.hpp"

namespace proofline::cuda {

// What the driver rounds an allocation up to.
constexpr size_t device_page_bytes = size_t{2} << 20;
constexpr size_t whole_device_pages(size_t bytes) {
  return (bytes + device_page_bytes - 1) / device_page_bytes * device_page_bytes;
}

// Memory of one device within a budget. Blocks that were given back stay allocated for the next one of about
// their size, since cudaFree waits for the whole device; they go when a request needs their room.
class device_memory {
 public:
  device_memory(int device, size_t budget_bytes) : device_(device), budget_(budget_bytes) {}
  ~device_memory() { trim(); }

  size_t budget_bytes() const { return budget_; }
  size_t used_bytes() const {
    std::lock_guard lock(mutex_);
    return used_;
  }

  // Whole pages. @throws out_of_memory beyond the budget or the device, with the bytes asked for and left
  void* take(size_t bytes) {
    bytes = whole_device_pages(bytes);
    std::lock_guard lock(mutex_);
    if (faults::planted().due(fault_site::allocation)) throw device_memory_error(bytes, 0);
    for (auto block = spare_.begin(); block != spare_.end(); block++) {
      if (block->second != bytes) continue;
      void* const data = block->first;
      spare_.erase(block);
      spare_bytes_ -= bytes;
      used_ += bytes;
      return data;
    }
    if (bytes > budget_ - used_) throw device_memory_error(bytes, budget_ - used_);
    if (bytes > budget_ - used_ - spare_bytes_) trim();
    void* data = nullptr;
    cudaError_t error = cudaMalloc(&data, bytes);
    if (error == cudaErrorMemoryAllocation) {
      cudaGetLastError();
      trim();
      error = cudaMalloc(&data, bytes);
    }
    if (error == cudaErrorMemoryAllocation) {
      cudaGetLastError();
      size_t free_bytes = 0, total_bytes = 0;
      cudaMemGetInfo(&free_bytes, &total_bytes);
      throw device_memory_error(bytes, free_bytes);
    }
    CUDA_OK(error);
    used_ += bytes;
    return data;
  }

  void give_back(void* data, size_t bytes) noexcept {
    bytes = whole_device_pages(bytes);
    std::lock_guard lock(mutex_);
    spare_.emplace_back(data, bytes);
    spare_bytes_ += bytes;
    used_ -= bytes;
  }

 private:
  void trim() noexcept {
    int before = 0;
    cudaGetDevice(&before);
    cudaSetDevice(device_);
    for (const auto& [data, bytes] : spare_) cudaFree(data);
    cudaSetDevice(before);
    spare_.clear();
    spare_bytes_ = 0;
  }

  int device_;
  size_t budget_, used_ = 0, spare_bytes_ = 0;
  std::list<std::pair<void*, size_t>> spare_;
  mutable std::mutex mutex_;
};

class device_block {
 public:
  device_block() = default;
  device_block(std::shared_ptr<device_memory> memory, size_t bytes)
      : memory_(std::move(memory)), bytes_(bytes), data_(bytes == 0 ? nullptr : memory_->take(bytes)) {}
  ~device_block() {
    if (data_ != nullptr) memory_->give_back(data_, bytes_);
  }
  device_block(device_block&& other) noexcept
      : memory_(std::move(other.memory_)), bytes_(other.bytes_), data_(std::exchange(other.data_, nullptr)) {}
  device_block& operator=(device_block&& other) noexcept {
    std::swap(memory_, other.memory_);
    std::swap(bytes_, other.bytes_);
    std::swap(data_, other.data_);
    return *this;
  }

  uint8_t* data() const { return static_cast<uint8_t*>(data_); }
  size_t bytes() const { return bytes_; }

 private:
  std::shared_ptr<device_memory> memory_;
  size_t bytes_ = 0;
  void* data_ = nullptr;
};

}  // namespace proofline::cuda
