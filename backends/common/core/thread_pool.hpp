#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <list>
#include <memory>
#include <mutex>
#include <thread>
#include <type_traits>
#include <vector>

#include "core/errors.hpp"

namespace proofline {

// Set by any thread, read by the threads that work; never reset.
class cancel_token {
 public:
  void request() { requested_.store(true, std::memory_order_relaxed); }
  bool requested() const { return requested_.load(std::memory_order_relaxed); }

 private:
  std::atomic<bool> requested_{false};
};

// `size` lanes of work: size − 1 threads of its own and the thread that calls `run`. Several threads may
// call `run` at once; each works on its own tasks and the pool's threads help the oldest call first.
class thread_pool {
 public:
  // @throws std::system_error where the system gives fewer threads
  explicit thread_pool(unsigned size) : size_(size == 0 ? 1 : size) {
    try {
      for (unsigned lane = 1; lane < size_; lane++) threads_.emplace_back([this, lane] { serve(lane); });
    } catch (...) {
      close();
      throw;
    }
  }

  ~thread_pool() { close(); }

  thread_pool(const thread_pool&) = delete;
  thread_pool& operator=(const thread_pool&) = delete;

  unsigned size() const { return size_; }

  // Calls fn(task, lane) once for each task in [0, tasks) and returns when all have returned. Two calls that
  // run at the same time have different lanes (< size). Tasks are handed out in ascending order.
  // After the first exception or a cancel no further task starts; the exception is rethrown here.
  // @throws cancelled_error once `cancel` is requested, unless every task has already started
  template <class Fn>
  void run(size_t tasks, Fn&& fn, const cancel_token* cancel = nullptr) {
    using body = std::remove_reference_t<Fn>;
    job j{[](void* f, size_t task, unsigned lane) { (*static_cast<body*>(f))(task, lane); },
          const_cast<void*>(static_cast<const void*>(std::addressof(fn))), tasks, cancel};
    if (size_ == 1 || tasks <= 1) {
      j.work(0);
    } else {
      run_shared(j);
    }
    if (j.error) std::rethrow_exception(j.error);
  }

 private:
  void close() {
    {
      std::lock_guard lock(mutex_);
      closing_ = true;
    }
    wake_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

  struct job {
    void (*call)(void*, size_t, unsigned);
    void* fn;
    size_t tasks;
    const cancel_token* cancel;
    std::atomic<size_t> next{0};
    std::mutex error_mutex{};
    std::exception_ptr error{};
    unsigned helpers = 0;  // guarded by the pool's mutex

    bool exhausted() const { return next.load(std::memory_order_relaxed) >= tasks; }

    void work(unsigned lane) noexcept {
      try {
        for (size_t task; (task = next.fetch_add(1, std::memory_order_relaxed)) < tasks;) {
          if (cancel != nullptr && cancel->requested()) throw cancelled_error();
          call(fn, task, lane);
        }
      } catch (...) {
        next.store(tasks, std::memory_order_relaxed);
        std::lock_guard lock(error_mutex);
        if (!error) error = std::current_exception();
      }
    }
  };

  void run_shared(job& j) {
    std::list<job*>::iterator place;
    {
      std::lock_guard lock(mutex_);
      place = jobs_.insert(jobs_.end(), &j);
    }
    wake_.notify_all();
    j.work(0);
    std::unique_lock lock(mutex_);
    jobs_.erase(place);
    idle_.wait(lock, [&] { return j.helpers == 0; });
  }

  void serve(unsigned lane) {
    std::unique_lock lock(mutex_);
    for (;;) {
      job* j = nullptr;
      wake_.wait(lock, [&] { return closing_ || (j = oldest_open()) != nullptr; });
      if (closing_) return;
      j->helpers++;
      lock.unlock();
      j->work(lane);
      lock.lock();
      if (--j->helpers == 0) idle_.notify_all();
    }
  }

  job* oldest_open() const {
    for (job* j : jobs_)
      if (!j->exhausted()) return j;
    return nullptr;
  }

  unsigned size_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable idle_;
  std::list<job*> jobs_;
  bool closing_ = false;
  std::vector<std::thread> threads_;
};

// What a computation runs on: the pool, and the flag that it obeys between tasks.
class executor {
 public:
  explicit executor(thread_pool& pool, const cancel_token* cancel = nullptr)
      : pool_(pool), cancel_(cancel) {}

  unsigned lanes() const { return pool_.size(); }

  // See thread_pool::run.
  template <class Fn>
  void run(size_t tasks, Fn&& fn) const {
    pool_.run(tasks, fn, cancel_);
  }

  // fn(begin, end, lane) over [0, n) in pieces of at most `grain`.
  template <class Fn>
  void run_ranges(size_t n, size_t grain, Fn&& fn) const {
    run((n + grain - 1) / grain, [&](size_t task, unsigned lane) {
      const size_t begin = task * grain;
      fn(begin, begin + grain < n ? begin + grain : n, lane);
    });
  }

  void check_cancelled() const {
    if (cancel_ != nullptr && cancel_->requested()) throw cancelled_error();
  }

 private:
  thread_pool& pool_;
  const cancel_token* cancel_;
};

}  // namespace proofline
