#pragma once

#include <memory>

#include "prover/types.hpp"
#include "runtime/device.hpp"

namespace proofline::cuda {

// Where the queries' points are: in the device's memory, or copied to it for each proof, from page-locked memory
// or from the file.
enum class residency { device, pinned, mapped };

struct memory_estimate {
  size_t device_bytes = 0, pinned_bytes = 0, host_bytes = 0;
};

// What `load_cuda_key` and `batch` partitions of full-size values take. Equals what is allocated, in whole pages.
memory_estimate estimate_cuda_key(const device& on, const key_source& source, residency where, size_t batch);

// @throws format_error, file_error, cancelled_error; out_of_memory if the key and one partition exceed what is
// left of the device's budget
std::unique_ptr<loaded_key> load_cuda_key(std::shared_ptr<device> on, const key_source& source, residency where,
                                          bool check, const call_context& context);

}  // namespace proofline::cuda
