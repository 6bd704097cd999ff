#include <sys/resource.h>

#include <algorithm>
#include <numeric>
#include <system_error>

#include "check.hpp"
#include "core/first_failure.hpp"
#include "core/thread_pool.hpp"

using namespace proofline;

TEST(runs_each_task_once) {
  for (unsigned size : {1u, 2u, 5u}) {
    thread_pool pool(size);
    for (size_t tasks : {0, 1, 2, 1000}) {
      std::vector<int> count(tasks, 0);
      pool.run(tasks, [&](size_t task, unsigned) { count[task]++; });
      CHECK(std::accumulate(count.begin(), count.end(), size_t{0}) == tasks);
      CHECK(tasks == 0 || *std::max_element(count.begin(), count.end()) == 1);
    }
  }
}

// With no more memory than the process has, no stack can be had for a thread. Nor can sanitizers have theirs.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST(threads_that_the_system_does_not_give_are_an_exception) {
  rlimit before;
  CHECK(getrlimit(RLIMIT_AS, &before) == 0);
  const rlimit none{0, before.rlim_max};
  CHECK(setrlimit(RLIMIT_AS, &none) == 0);
  bool refused = false;
  try {
    thread_pool pool(1000);
  } catch (const std::system_error&) {
    refused = true;
  } catch (const std::bad_alloc&) {
    refused = true;
  }
  CHECK(setrlimit(RLIMIT_AS, &before) == 0);
  CHECK(refused);
}
#endif

TEST(lanes_are_exclusive) {
  thread_pool pool(4);
  std::vector<std::atomic<int>> busy(4);
  std::atomic<bool> shared{false};
  pool.run(2000, [&](size_t, unsigned lane) {
    if (busy.at(lane).fetch_add(1) != 0) shared = true;
    busy.at(lane).fetch_sub(1);
  });
  CHECK(!shared);
}

TEST(callers_share_the_pool) {
  thread_pool pool(3);
  std::atomic<size_t> sum{0};
  std::vector<std::thread> callers;
  for (int c = 0; c < 4; c++) {
    callers.emplace_back([&] {
      for (int round = 0; round < 50; round++) pool.run(20, [&](size_t task, unsigned) { sum += task; });
    });
  }
  for (std::thread& caller : callers) caller.join();
  CHECK(sum == 4 * 50 * 190);
}

TEST(first_exception_reaches_the_caller_and_the_pool_lives_on) {
  thread_pool pool(3);
  for (int round = 0; round < 20; round++) {
    std::string caught;
    try {
      pool.run(100, [&](size_t task, unsigned) {
        if (task == 7) throw format_error("point 7", "a point of the curve", "another");
      });
    } catch (const prover_error& e) {
      caught = code_of(e.status);
    }
    CHECK(caught == "ERR_FORMAT");
  }
  std::atomic<int> after{0};
  pool.run(10, [&](size_t, unsigned) { after++; });
  CHECK(after == 10);
}

TEST(cancel_stops_between_tasks) {
  thread_pool pool(2);
  cancel_token cancel;
  const executor exec(pool, &cancel);
  std::atomic<size_t> done{0};
  bool cancelled = false;
  try {
    exec.run(1'000'000, [&](size_t, unsigned) {
      if (++done == 10) cancel.request();
    });
  } catch (const prover_error& e) {
    cancelled = e.status == prover_status::cancelled;
  }
  CHECK(cancelled);
  CHECK(done < 20);
}

TEST(ranges_cover_without_overlap) {
  thread_pool pool(2);
  std::vector<int> count(1001, 0);
  executor(pool).run_ranges(count.size(), 64, [&](size_t begin, size_t end, unsigned) {
    CHECK(end - begin <= 64);
    for (size_t i = begin; i < end; i++) count[i]++;
  });
  CHECK(std::all_of(count.begin(), count.end(), [](int c) { return c == 1; }));
}

TEST(the_first_of_several_failures_is_told) {
  thread_pool pool(4);
  for (int round = 0; round < 50; round++) {
    first_failure failure;
    executor(pool).run_ranges(4096, 64, [&](size_t begin, size_t, unsigned) {
      failure.guard(begin, [&] {
        if (begin >= 640) throw format_error(std::to_string(begin), "", "");
      });
    });
    std::string told;
    try {
      failure.rethrow();
    } catch (const prover_error& error) {
      told = error.data[0].second;
    }
    CHECK(told == "640");
  }
  first_failure none;
  none.guard(0, [] {});
  none.rethrow();
}
