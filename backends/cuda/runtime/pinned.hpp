#pragma once

#include <cuda_runtime.h>
#include <sys/mman.h>

#include <cstring>
#include <fstream>
#include <limits>
#include <string>
#include <utility>

#include "core/thread_pool.hpp"
#include "runtime/error.hpp"

namespace proofline::cuda {

// What Linux would give without pushing out other processes: 7 eighths of MemAvailable (proc(5)).
inline size_t available_host_bytes() {
  std::ifstream lines("/proc/meminfo");
  std::string name;
  size_t kib = 0;
  while (lines >> name >> kib) {
    if (name == "MemAvailable:") return kib * 1024 / 8 * 7;
    lines.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  return SIZE_MAX;
}

// Page-locked host memory. Touching the pages by all threads and registering them takes 0.17 s/GiB on an H200's
// host; cudaHostAlloc takes 0.38.
class pinned_block {
 public:
  pinned_block() = default;
  // @throws out_of_memory
  pinned_block(size_t bytes, const executor& exec) : bytes_(bytes) {
    if (bytes == 0) return;
    if (const size_t available = available_host_bytes(); bytes > available)
      throw host_memory_error(bytes, std::to_string(available));
    void* const data = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (data == MAP_FAILED) throw host_memory_error(bytes, "fewer");
    data_ = static_cast<uint8_t*>(data);
    try {
      ::madvise(data_, bytes, MADV_HUGEPAGE);
      exec.run_ranges(bytes, size_t{1} << 22, [&](size_t begin, size_t end, unsigned) {
        for (size_t at = begin; at < end; at += 4096) data_[at] = 0;
      });
      if (faults::planted().due(fault_site::registration) ||
          cudaHostRegister(data_, bytes, cudaHostRegisterDefault) != cudaSuccess) {
        cudaGetLastError();
        throw host_memory_error(bytes, "fewer that can be locked");
      }
    } catch (...) {
      ::munmap(data_, bytes_);
      throw;
    }
  }
  ~pinned_block() {
    if (data_ == nullptr) return;
    cudaHostUnregister(data_);
    ::munmap(data_, bytes_);
  }
  pinned_block(pinned_block&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), bytes_(other.bytes_) {}
  pinned_block& operator=(pinned_block&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }

  uint8_t* data() const { return data_; }
  size_t bytes() const { return bytes_; }

 private:
  static prover_error host_memory_error(size_t bytes, std::string free_bytes) {
    return {prover_status::out_of_memory,
            {{"device", "page-locked host memory"},
             {"needBytes", std::to_string(bytes)},
             {"freeBytes", std::move(free_bytes)}}};
  }

  uint8_t* data_ = nullptr;
  size_t bytes_ = 0;
};

}  // namespace proofline::cuda
