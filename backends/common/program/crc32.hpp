#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <span>

namespace proofline {

// CRC-32 of ISO 3309, as zlib computes it: reflected, polynomial 0xedb88320. Eight bytes a step, each by a
// table of its own (Kounavis and Berry, 2005).
inline uint32_t crc32(std::span<const uint8_t> bytes) {
  static constexpr auto tables = [] {
    std::array<std::array<uint32_t, 256>, 8> t{};
    for (uint32_t i = 0; i < 256; i++) {
      uint32_t c = i;
      for (int bit = 0; bit < 8; bit++) c = c & 1 ? 0xedb88320 ^ c >> 1 : c >> 1;
      t[0][i] = c;
    }
    for (size_t k = 1; k < 8; k++) {
      for (size_t i = 0; i < 256; i++) t[k][i] = t[0][t[k - 1][i] & 255] ^ t[k - 1][i] >> 8;
    }
    return t;
  }();
  uint32_t crc = ~uint32_t{0};
  size_t at = 0;
  for (; at + 8 <= bytes.size(); at += 8) {
    uint64_t word;
    std::memcpy(&word, bytes.data() + at, 8);
    word ^= crc;
    crc = 0;
    for (size_t k = 0; k < 8; k++) crc ^= tables[7 - k][word >> 8 * k & 255];
  }
  for (; at < bytes.size(); at++) crc = tables[0][(crc ^ bytes[at]) & 255] ^ crc >> 8;
  return ~crc;
}

}  // namespace proofline
