#pragma once

#include <cstddef>
#include <cstdint>

namespace proofline {

// A point in memory, in Montgomery form at any address of at least 2-byte alignment; the lowest bit says that
// it is to be negated.
using point_ref = uintptr_t;

inline point_ref ref_to(const void* point, bool negate = false) {
  return reinterpret_cast<point_ref>(point) | point_ref(negate);
}

// out ← left + right. `out` may be `left` or `right`, and may not be an operand of another addition of the
// same batch.
struct addition {
  point_ref left, right;
  void* out;
};

}  // namespace proofline
