#pragma once

#include <cuda_runtime.h>

#include <utility>
#include <vector>

#include "runtime/error.hpp"

namespace proofline::cuda {

// Off for initcheck, which is to see what nothing wrote.
inline bool fills_memory = true;

// Device memory of a bench, filled with a pattern so that nothing is right by luck.
template <class T>
class device_array {
 public:
  explicit device_array(size_t count = 0) : count_(count) {
    if (count == 0) return;
    CUDA_OK(cudaMalloc(&data_, bytes()));
    if (!fills_memory) return;
    CUDA_OK(cudaMemset(data_, 0xee, bytes()));
    CUDA_OK(cudaDeviceSynchronize());  // other streams do not wait for it
  }
  explicit device_array(const std::vector<T>& from) : device_array(from.size()) {
    if (count_ != 0) CUDA_OK(cudaMemcpy(data_, from.data(), bytes(), cudaMemcpyHostToDevice));
  }
  ~device_array() { cudaFree(data_); }
  device_array(device_array&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), count_(std::exchange(other.count_, 0)) {}
  device_array& operator=(device_array&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(count_, other.count_);
    return *this;
  }

  T* get() const { return data_; }
  size_t count() const { return count_; }
  size_t bytes() const { return count_ * sizeof(T); }
  std::vector<T> read(size_t first, size_t count) const {
    std::vector<T> host(count);
    if (count != 0)
      CUDA_OK(cudaMemcpy(host.data(), data_ + first, count * sizeof(T), cudaMemcpyDeviceToHost));
    return host;
  }
  std::vector<T> read() const { return read(0, count_); }

 private:
  T* data_ = nullptr;
  size_t count_ = 0;
};

}  // namespace proofline::cuda
