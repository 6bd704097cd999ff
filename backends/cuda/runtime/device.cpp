#include "runtime/device.hpp"

namespace proofline::cuda {
namespace {

// Left to the driver, kernels' local memory and other users of the card.
constexpr size_t reserve_bytes = size_t{512} << 20;

std::string version_of(int number) {
  return std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10);
}

// The driver's own account of why there is nothing to run on.
std::string why_none(cudaError_t error, int driver, int runtime) {
  switch (error) {
    case cudaErrorInsufficientDriver:
      return driver == 0 ? "no NVIDIA driver library (libcuda.so.1) is installed"
                         : "the NVIDIA driver is for CUDA " + version_of(driver) + ", older than this build's " +
                               version_of(runtime);
    case cudaErrorNoDevice: return "no NVIDIA device is visible";
    default: return std::string("the NVIDIA driver says: ") + cudaGetErrorString(error);
  }
}

}  // namespace

found_devices find_devices() {
  found_devices found;
  int driver = 0, runtime = 0, count = 0;
  cudaDriverGetVersion(&driver);
  cudaRuntimeGetVersion(&runtime);
  const cudaError_t error = cudaGetDeviceCount(&count);
  cudaGetLastError();
  if (error != cudaSuccess || count == 0) {
    found.reason = why_none(error == cudaSuccess ? cudaErrorNoDevice : error, driver, runtime);
    return found;
  }
  found.version = "driver " + version_of(driver) + ", runtime " + version_of(runtime);
  for (int id = 0; id < count; id++) {
    cudaDeviceProp properties;
    if (cudaGetDeviceProperties(&properties, id) != cudaSuccess) continue;
    found.devices.push_back(
        {id, properties.name, properties.totalGlobalMem, properties.major, properties.minor});
  }
  if (found.devices.empty()) found.reason = "no NVIDIA device answers";
  return found;
}

device::device(int id, size_t memory_bytes, std::shared_ptr<thread_pool> pool) : id_(id), pool_(std::move(pool)) {
  make_current();
  cudaDeviceProp properties;
  CUDA_OK(cudaGetDeviceProperties(&properties, id));
  facts_ = {properties.multiProcessorCount, size_t(properties.l2CacheSize)};
  size_t free_bytes = 0, total_bytes = 0;
  CUDA_OK(cudaMemGetInfo(&free_bytes, &total_bytes));
  const size_t usable = free_bytes > reserve_bytes ? free_bytes - reserve_bytes : 0;
  if (memory_bytes > usable) throw device_memory_error(memory_bytes, usable);
  memory_ = std::make_shared<device_memory>(id, memory_bytes != 0 ? memory_bytes : usable);
  ring_ = std::make_unique<staging_ring>(executor(*pool_));
}

}  // namespace proofline::cuda
