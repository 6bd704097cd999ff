#pragma once

#include <cuda_runtime.h>

#include <utility>

#include "runtime/error.hpp"

namespace proofline::cuda {

class stream {
 public:
  stream() { CUDA_OK(cudaStreamCreateWithFlags(&handle_, cudaStreamNonBlocking)); }
  ~stream() { cudaStreamDestroy(handle_); }
  stream(const stream&) = delete;
  stream& operator=(const stream&) = delete;

  operator cudaStream_t() const { return handle_; }

 private:
  cudaStream_t handle_ = nullptr;
};

// A point in a stream's work, with the device's time of it.
class event {
 public:
  event() { CUDA_OK(cudaEventCreateWithFlags(&handle_, cudaEventDefault)); }
  ~event() {
    if (handle_ != nullptr) cudaEventDestroy(handle_);
  }
  event(event&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  event& operator=(event&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }

  void record(cudaStream_t stream) { CUDA_OK(cudaEventRecord(handle_, stream)); }
  bool reached() const {
    const cudaError_t state = cudaEventQuery(handle_);
    if (state != cudaErrorNotReady) CUDA_OK(state);
    return state == cudaSuccess;
  }
  void wait() const { CUDA_OK(cudaEventSynchronize(handle_)); }
  void hold(cudaStream_t stream) const { CUDA_OK(cudaStreamWaitEvent(stream, handle_, 0)); }
  double micros_since(const event& earlier) const {
    float millis = 0;
    CUDA_OK(cudaEventElapsedTime(&millis, earlier.handle_, handle_));
    return double(millis) * 1000;
  }

 private:
  cudaEvent_t handle_ = nullptr;
};

// Waits, when it goes, for work whose memory goes after it: also when an exception ends a call.
struct drained_at_end {
  cudaStream_t stream;
  ~drained_at_end() { cudaStreamSynchronize(stream); }
};

}  // namespace proofline::cuda
