#pragma once

// NVIDIA's profilers show what is named here on the host's timeline; without one it costs nothing. A toolkit may
// have been installed without NVTX.
#if __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>
#else
inline int nvtxRangePushA(const char*) { return 0; }
inline int nvtxRangePop() { return 0; }
inline void nvtxMarkA(const char*) {}
#endif

namespace proofline::cuda {

class profiler_range {
 public:
  explicit profiler_range(const char* name) { nvtxRangePushA(name); }
  ~profiler_range() { nvtxRangePop(); }
  profiler_range(const profiler_range&) = delete;
  profiler_range& operator=(const profiler_range&) = delete;
};

}  // namespace proofline::cuda
