#pragma once

#include <array>
#include <memory>
#include <span>
#include <vector>

#include "core/thread_pool.hpp"
#include "field/mont.hpp"
#include "program/compact_format.hpp"

// Vectors over BLS12-381's scalars, mostly of bits or small numbers.
namespace proofline {

using compact_format::vector_kind;

// In place of a value that has no byte of its own.
inline constexpr int8_t no_byte = -128;

// The byte of a canonical value: itself from -127 to 127, or no_byte.
inline int8_t byte_of(const words<4>& value) {
  constexpr words<4> r = bls12_381_fr_params::modulus();
  if ((value.w[1] | value.w[2] | value.w[3]) == 0) return value.w[0] < 128 ? int8_t(value.w[0]) : no_byte;
  if (value.w[3] != r.w[3] || value.w[2] != r.w[2] || value.w[1] != r.w[1]) return no_byte;
  const uint64_t below = r.w[0] - value.w[0];
  return below < 128 ? int8_t(-int64_t(below)) : no_byte;
}

// A number as a canonical value.
inline words<4> canonical_of(int64_t value) {
  if (value >= 0) return {{uint64_t(value)}};
  return sub_words<bls12_381_fr_params>(words<4>{}, words<4>{{uint64_t(-value)}});
}

// A vector while it grows: a byte each, and a list of what has none.
struct byte_vector {
  std::vector<int8_t> bytes;
  std::vector<uint32_t> indices;
  std::vector<words<4>> values;

  void clear() { bytes.clear(), indices.clear(), values.clear(); }
  void push(int8_t byte) { bytes.push_back(byte); }
  void push(const words<4>& value) {
    const int8_t byte = byte_of(value);
    if (byte == no_byte) {
      indices.push_back(uint32_t(bytes.size()));
      values.push_back(value);
    }
    bytes.push_back(byte);
  }
  // Of one that has no byte.
  const words<4>& value_at(uint32_t index) const;
};

// A part of a vector, in the smallest kind.
struct vector_part {
  size_t n = 0;
  vector_kind kind = vector_kind::bits;
  std::unique_ptr<uint8_t[]> plain;
  std::vector<uint32_t> indices;
  std::vector<words<4>> values;
  // How many would be exceptions in each kind.
  std::array<size_t, 3> exceptions{};

  static vector_part of(const byte_vector& from);
  words<4> at(size_t i) const;
  // Where there is no exception.
  words<4> plain_at(size_t i) const;
  // on_byte(i, byte) for each plain slot, on_value(i, value) for each full value, which come last.
  template <class Byte, class Value>
  void for_each(Byte&& on_byte, Value&& on_value) const;
};

// One buffer in the form of compact_format.hpp. Its pages are touched when they are written.
struct compact_vector {
  struct unmap {
    size_t size;
    void operator()(uint8_t* bytes) const;
  };
  std::unique_ptr<uint8_t[], unmap> bytes{nullptr, {0}};
  size_t size() const { return bytes.get_deleter().size; }
  const compact_format::header& head() const {
    return *reinterpret_cast<const compact_format::header*>(bytes.get());
  }
};

// The parts of a vector, one after another.
class parted_vector {
 public:
  std::vector<vector_part> parts;

  size_t size() const;
  // Takes the smallest kind. Gives each part's memory back as soon as it is copied.
  compact_vector compact(const executor& exec) &&;
  // Canonical values; `to` holds size() of them. Gives each part's memory back likewise.
  void expand(words<4>* to, const executor& exec) &&;
  // In Montgomery form.
  void expand(bls12_381_fr* to, const executor& exec) &&;

 private:
  template <class T, class FromByte, class FromValue>
  void expand_parts(T* to, const executor& exec, FromByte&& from_byte, FromValue&& from_value);
};

template <class Byte, class Value>
void vector_part::for_each(Byte&& on_byte, Value&& on_value) const {
  const auto* const full = reinterpret_cast<const words<4>*>(plain.get());
  switch (kind) {
    case vector_kind::bits:
      for (size_t i = 0; i < n; i++) on_byte(i, int8_t(plain[i / 8] >> i % 8 & 1));
      break;
    case vector_kind::small:
      for (size_t i = 0; i < n; i++) on_byte(i, int8_t(plain[i]));
      break;
    case vector_kind::full:
      for (size_t i = 0; i < n; i++) on_value(i, full[i]);
  }
  for (size_t k = 0; k < indices.size(); k++) on_value(indices[k], values[k]);
}

}  // namespace proofline
