#pragma once

#include <chrono>
#include <deque>
#include <thread>

#include "prover/types.hpp"
#include "runtime/range.hpp"
#include "runtime/stream.hpp"

namespace proofline::cuda {

// Reports the stages of one call by the device's own times, as they end. At most `ahead` ended stages are enqueued
// but not waited for, so that a cancelled call has little to wait for.
class stage_clock {
 public:
  stage_clock(const call_context& context, cudaStream_t stream, size_t ahead)
      : context_(context), stream_(stream), ahead_(ahead) {
    last_.record(stream);
    last_.wait();
    last_micros_ = context.micros();
  }

  // What was enqueued since the stage before is stage `name`; `share` of the call is done with it.
  void end(const char* name, double share) {
    nvtxMarkA(name);
    event reached;
    reached.record(stream_);
    open_.push_back({name, share, std::move(reached)});
    while (open_.size() > ahead_) report();
  }
  // Waits for everything that was enqueued. @throws cancelled_error
  void finish() {
    while (!open_.empty()) report();
  }

 private:
  struct stage {
    const char* name;
    double share;
    event reached;
  };

  void report() {
    const stage& first = open_.front();
    for (int polls = 0; !first.reached.reached(); polls++) {
      context_.exec.check_cancelled();
      if (polls > 2000) std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
    context_.exec.check_cancelled();
    const auto end = last_micros_ + int64_t(first.reached.micros_since(last_));
    context_.on_stage(first.name, last_micros_, end);
    context_.on_progress(first.share);
    last_micros_ = end;
    last_ = std::move(open_.front().reached);
    open_.pop_front();
  }

  const call_context& context_;
  cudaStream_t stream_;
  size_t ahead_;
  event last_;
  int64_t last_micros_ = 0;
  std::deque<stage> open_;
};

}  // namespace proofline::cuda
