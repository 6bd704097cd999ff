#pragma once

#include <cstdint>

// A compact vector's bytes, for g++ and nvcc: a header, then sections on multiples of 64. Values: of kind bits,
// element i is bit i & 7 of byte i >> 3; of kind small, a signed byte from -127 to 127 that stands for itself mod
// r; of kind full, 32 bytes, canonical little-endian. The first two list exceptions, whose plain slots are 0:
// ascending u32 indices, then their values of 32 bytes.
namespace proofline::compact_format {

enum class vector_kind : uint32_t { bits, small, full };
inline constexpr uint32_t version = 1, alignment = 64, value_bytes = 32;

struct header {
  char magic[4];  // PLCV
  uint32_t version;
  vector_kind kind;
  uint32_t zero;
  uint64_t n, exceptions, values_at, indices_at, exception_values_at;
  uint64_t reserved;
};
static_assert(sizeof(header) == 64);

constexpr uint64_t values_bytes(vector_kind kind, uint64_t n) {
  return kind == vector_kind::bits ? (n + 7) / 8 : kind == vector_kind::small ? n : value_bytes * n;
}

}  // namespace proofline::compact_format
