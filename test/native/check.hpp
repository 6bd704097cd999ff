#pragma once

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <string>
#include <vector>

#include "seed.hpp"

// Tests as plain functions: `TEST(name) { CHECK(...); }`, one program for each subject, run by ctest.
namespace check {

struct test {
  const char* name;
  void (*body)();
};

inline std::vector<test>& tests() {
  static std::vector<test> all;
  return all;
}

struct registrar {
  registrar(const char* name, void (*body)()) { tests().push_back({name, body}); }
};

struct failure : std::exception {};

[[noreturn]] inline void fail(const char* file, int line, const char* what) {
  std::fprintf(stderr, "  %s:%d: expected %s\n", file, line, what);
  throw failure();
}

}  // namespace check

#define TEST(name)                                                   \
  static void test_##name();                                         \
  static const check::registrar registrar_##name(#name, test_##name); \
  static void test_##name()
#define CHECK(condition) \
  ((condition) ? static_cast<void>(0) : check::fail(__FILE__, __LINE__, #condition))

int main() {
  std::printf("SEED=%lu\n", check::seed());
  int failed = 0;
  for (const check::test& t : check::tests()) {
    try {
      t.body();
      std::printf("ok   %s\n", t.name);
    } catch (const std::exception& e) {
      failed++;
      std::printf("FAIL %s: %s\n", t.name, e.what());
    }
    std::fflush(stdout);
  }
  std::printf("%zu passed, %d failed\n", check::tests().size() - failed, failed);
  return failed == 0 ? 0 : 1;
}
