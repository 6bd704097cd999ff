#pragma once

#include <atomic>

namespace proofline {

// Instruction sets that have a path of their own, each including the ones before it: every
// processor with AVX-512 IFMA has ADX and BMI2.
enum class isa { portable, adx, ifma };

inline const char* name_of(isa level) {
  switch (level) {
    case isa::portable: return "portable";
    case isa::adx: return "adx";
    case isa::ifma: break;
  }
  return "ifma";
}

inline isa detected_isa() {
#if defined(__x86_64__) && defined(__GNUC__)
  __builtin_cpu_init();
  if (!__builtin_cpu_supports("adx") || !__builtin_cpu_supports("bmi2")) return isa::portable;
  const bool wide = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                    __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512ifma");
  return wide ? isa::ifma : isa::adx;
#else
  return isa::portable;
#endif
}

// The level in use. Tests and benches lower it to reach the other paths; a level above
// `detected_isa()` would execute instructions that the processor lacks. Zero (before its
// initialiser has run) is portable.
inline std::atomic<isa> isa_in_use{detected_isa()};

inline bool has(isa level) { return isa_in_use.load(std::memory_order_relaxed) >= level; }

}  // namespace proofline
