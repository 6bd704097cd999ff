#pragma once

#include <cstdlib>
#include <random>

namespace check {

// The seed of every random draw: SEED in the environment, printed so that a failure can be
// repeated.
inline unsigned long seed() {
  static const unsigned long value = [] {
    const char* given = std::getenv("SEED");
    return given != nullptr ? std::strtoul(given, nullptr, 10) : std::random_device{}();
  }();
  return value;
}

inline std::mt19937_64& random_engine() {
  static std::mt19937_64 engine(seed());
  return engine;
}

}  // namespace check
