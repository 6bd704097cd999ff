#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/facts.hpp"
#include "runtime/memory.hpp"
#include "runtime/staging.hpp"

namespace proofline::cuda {

struct found_device {
  int id = 0;
  std::string name;
  size_t memory_bytes = 0;
  int major = 0, minor = 0;
};

struct found_devices {
  // "driver 13.0, runtime 13.0", or why there is no device.
  std::string version, reason;
  std::vector<found_device> devices;
};

// Never throws.
found_devices find_devices();

// A GPU of this machine and what belongs to it: memory within a budget, and a ring for uploads. Threads come
// from the caller's pool.
class device {
 public:
  // `memory_bytes` 0: what is free now, less a reserve for the driver. @throws unavailable, out_of_memory
  device(int id, size_t memory_bytes, std::shared_ptr<thread_pool> pool);

  // For each thread that calls CUDA.
  void make_current() const { CUDA_OK(cudaSetDevice(id_)); }

  int id() const { return id_; }
  const device_facts& facts() const { return facts_; }
  const std::shared_ptr<device_memory>& memory() const { return memory_; }
  const std::shared_ptr<thread_pool>& pool() const { return pool_; }
  staging_ring& ring() { return *ring_; }
  // Held by the one partition that computes.
  std::timed_mutex& computing() { return computing_; }

 private:
  int id_;
  device_facts facts_;
  std::shared_ptr<thread_pool> pool_;
  std::shared_ptr<device_memory> memory_;
  std::unique_ptr<staging_ring> ring_;
  std::timed_mutex computing_;
};

}  // namespace proofline::cuda
