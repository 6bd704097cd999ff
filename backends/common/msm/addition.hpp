#pragma once

#include <cstddef>
#include <cstdint>

namespace proofline {

// A point in memory, in Montgomery form at any address of at least 2-byte alignment; the lowest bit
// says that it is to be negated.
using point_ref = uintptr_t;

inline point_ref ref_to(const void* point, bool negate = false) {
  return reinterpret_cast<point_ref>(point) | point_ref(negate);
}

// out ← left + right. `out` may be `left` or `right`, and may not be an operand of another addition
// of the same batch.
struct addition {
  point_ref left, right;
  void* out;
};

// Asks the cache for each line of `Bytes` bytes at a point. Always inlined, as `step` below: units
// of different instruction sets share no copy.
template <size_t Bytes>
[[gnu::always_inline]] inline void prefetch_bytes(point_ref at) {
  for (point_ref line = at & ~point_ref{63}; line < at + Bytes - 1; line += 64)
    __builtin_prefetch(reinterpret_cast<const void*>(line));
}

// Points that a later batch will need: each step of the current one asks the cache for a few, so
// that their arrival hides behind its arithmetic.
struct prefetch_stream {
  const point_ref* next = nullptr;
  const point_ref* end = nullptr;

  template <size_t Bytes>
  [[gnu::always_inline]] void step(size_t points) {
    for (size_t i = 0; i < points && next != end; i++) prefetch_bytes<Bytes>(*next++);
  }
};

}  // namespace proofline
