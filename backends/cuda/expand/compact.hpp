#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string>

#include "core/errors.hpp"

namespace proofline::cuda {

enum class compact_kind : uint32_t { bits = 0, small = 1, full = 2 };

// A compact vector's sections (architecture.md 3.5): "PLCV", u32 version, u32 kind, u32 0, u64 n,
// u64 exceptions, and the offsets of values, exception indices and exception values; little-endian,
// sections aligned to 64 bytes. `data` is where its bytes lie, on the host or, after an upload of
// the whole, on the device.
struct compact_vector {
  compact_kind kind = compact_kind::bits;
  uint64_t n = 0, exceptions = 0;
  const uint8_t* values = nullptr;
  const uint32_t* indices = nullptr;
  const uint8_t* exception_values = nullptr;  // canonical, 32 bytes each

  static constexpr size_t header_bytes = 64;

  // @throws format_error for a header that does not fit the buffer
  static compact_vector parse(std::span<const uint8_t> buffer, const std::string& subject) {
    const auto word = [&](size_t at) {
      uint64_t v;
      std::memcpy(&v, buffer.data() + at, 8);
      return v;
    };
    if (buffer.size() < header_bytes || std::memcmp(buffer.data(), "PLCV", 4) != 0 ||
        uint32_t(word(0) >> 32) != 1)
      throw format_error(subject, "a compact vector of version 1", "another header");
    compact_vector v;
    const uint64_t kind = word(8), values_at = word(32), indices_at = word(40),
                   exceptions_at = word(48);
    v.n = word(16), v.exceptions = word(24);
    if (kind > 2 || v.n > UINT32_MAX || v.exceptions > v.n || (kind == 2 && v.exceptions != 0))
      throw format_error(subject, "kind 0 to 2 with at most as many exceptions as elements",
                         "another header");
    v.kind = compact_kind(uint32_t(kind));
    const auto inside = [&](uint64_t at, uint64_t bytes) {
      if (at % 64 != 0 || at < header_bytes || at > buffer.size() || bytes > buffer.size() - at)
        throw format_error(subject, "sections inside the vector", "an offset outside");
      return buffer.data() + at;
    };
    v.values = inside(values_at, v.kind == compact_kind::bits    ? (v.n + 7) / 8
                                 : v.kind == compact_kind::small ? v.n
                                                                 : 32 * v.n);
    if (v.exceptions != 0) {
      v.indices = reinterpret_cast<const uint32_t*>(inside(indices_at, 4 * v.exceptions));
      v.exception_values = inside(exceptions_at, 32 * v.exceptions);
    }
    return v;
  }

  // The same sections in a copy of the buffer.
  compact_vector moved(const uint8_t* from, const uint8_t* to) const {
    compact_vector v = *this;
    v.values = to + (values - from);
    if (exceptions != 0) {
      v.indices = reinterpret_cast<const uint32_t*>(
          to + (reinterpret_cast<const uint8_t*>(indices) - from));
      v.exception_values = to + (exception_values - from);
    }
    return v;
  }
};

}  // namespace proofline::cuda
