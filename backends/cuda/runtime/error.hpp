#pragma once

#include <cuda_runtime.h>

#include <string>

#include "core/errors.hpp"
#include "runtime/faults.hpp"

namespace proofline::cuda {

inline prover_error device_memory_error(size_t need_bytes, size_t free_bytes) {
  return {prover_status::out_of_memory,
          {{"device", "cuda"},
           {"needBytes", std::to_string(need_bytes)},
           {"freeBytes", std::to_string(free_bytes)}}};
}

// Errors after which every call of the process's context fails: CUDA Runtime API, 6.36, cudaError.
inline bool is_sticky(cudaError_t error) {
  switch (error) {
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchTimeout:
    case cudaErrorLaunchFailure:
    case cudaErrorAssert:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorECCUncorrectable:
    case cudaErrorNvlinkUncorrectable:
    case cudaErrorContained:
    case cudaErrorDevicesUnavailable:
    case cudaErrorUnknown: return true;
    default: return false;
  }
}

// @throws prover_error: out_of_memory, device_lost for a sticky error, else internal
inline void check_cuda(cudaError_t error, const char* expression, const char* file, int line) {
  if (error == cudaSuccess && faults::planted().due(fault_site::loss)) error = cudaErrorIllegalAddress;
  if (error == cudaSuccess) return;
  cudaGetLastError();
  if (error == cudaErrorMemoryAllocation) {
    size_t free_bytes = 0, total_bytes = 0;
    cudaMemGetInfo(&free_bytes, &total_bytes);
    throw device_memory_error(free_bytes + 1, free_bytes);
  }
  const std::string name(file);
  const std::string reason = std::string(cudaGetErrorString(error)) + ": " + expression + " at " +
                             name.substr(name.find_last_of('/') + 1) + ":" + std::to_string(line);
  if (is_sticky(error)) throw prover_error(prover_status::device_lost, {{"device", "cuda"}, {"cause", reason}});
  throw internal_error(reason);
}

// For the error of a launch, which a test may plant.
inline cudaError_t launch_error() {
  return faults::planted().due(fault_site::launch) ? cudaErrorLaunchOutOfResources : cudaGetLastError();
}

}  // namespace proofline::cuda

#define CUDA_OK(expression) ::proofline::cuda::check_cuda((expression), #expression, __FILE__, __LINE__)
