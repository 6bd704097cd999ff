#include "program/compact.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <new>

namespace proofline {
namespace {

using compact_format::header;

bool is_bit(int8_t byte) { return uint8_t(byte) <= 1; }

uint64_t part_bytes(vector_kind kind, size_t n, const std::array<size_t, 3>& exceptions) {
  return values_bytes(kind, n) + (4 + sizeof(words<4>)) * exceptions[size_t(kind)];
}

vector_kind smallest(size_t n, const std::array<size_t, 3>& exceptions) {
  vector_kind best = vector_kind::bits;
  for (const vector_kind kind : {vector_kind::small, vector_kind::full}) {
    if (part_bytes(kind, n, exceptions) < part_bytes(best, n, exceptions)) best = kind;
  }
  return best;
}

// Eight bytes of 0 and 1 as bits of one.
uint8_t gather(uint64_t bytes) { return uint8_t(bytes * 0x0102040810204080 >> 56); }

// Other bytes become 0.
std::unique_ptr<uint8_t[]> packed_bits(const std::vector<int8_t>& bytes) {
  const size_t n = bytes.size(), length = (n + 7) / 8;
  auto bits = std::make_unique<uint8_t[]>(length);
  for (size_t i = 0; i < length; i++) {
    uint64_t eight = 0;
    std::memcpy(&eight, &bytes[8 * i], std::min<size_t>(8, n - 8 * i));
    if ((eight & ~uint64_t{0x0101010101010101}) == 0) {
      bits[i] = gather(eight);
      continue;
    }
    for (size_t k = 8 * i; k < std::min(n, 8 * i + 8); k++) bits[i] |= uint8_t((bytes[k] == 1) << k % 8);
  }
  return bits;
}

void add_bits(uint8_t* to, uint8_t bits) {
  if (bits != 0) std::atomic_ref<uint8_t>(*to).fetch_or(bits, std::memory_order_relaxed);
}

// ORs n bits into `to` from bit `at` on. The first and the last byte may be another thread's too.
void copy_bits(uint8_t* to, size_t at, const uint8_t* from, size_t n) {
  const size_t shift = at % 8, length = (n + 7) / 8;
  to += at / 8;
  if (length == 0) return;
  unsigned carry = 0;
  for (size_t i = 0; i < length; i++) {
    const unsigned wide = unsigned(from[i]) << shift | carry;
    if (i == 0 || i + 1 == length) {
      add_bits(to + i, uint8_t(wide));
    } else {
      to[i] = uint8_t(wide);
    }
    carry = wide >> 8;
  }
  if (carry != 0) add_bits(to + length, uint8_t(carry));
}

compact_vector allocate(vector_kind kind, size_t n, size_t exceptions) {
  const auto aligned = [](uint64_t v) { return (v + 63) / 64 * 64; };
  header h{{'P', 'L', 'C', 'V'}, compact_format::version, kind, 0, n, exceptions, sizeof(header), 0, 0, 0};
  h.indices_at = aligned(h.values_at + values_bytes(kind, n));
  h.exception_values_at = aligned(h.indices_at + 4 * exceptions);
  const size_t size = aligned(h.exception_values_at + sizeof(words<4>) * exceptions);
  void* const at =
      ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) throw std::bad_alloc();
  compact_vector made{{static_cast<uint8_t*>(at), {size}}};
  std::memcpy(at, &h, sizeof h);
  return made;
}

// Where a part goes in a vector of `kind`.
struct destination {
  vector_kind kind;
  uint8_t* plain;
  uint32_t* indices;
  words<4>* values;
  size_t first;

  void except(size_t i, const words<4>& value) {
    *indices++ = uint32_t(first + i);
    *values++ = value;
  }

  void take(const vector_part& part) {
    if (kind == vector_kind::full) {
      auto* const full = reinterpret_cast<words<4>*>(plain) + first;
      part.for_each([&](size_t i, int8_t byte) { full[i] = canonical_of(byte); },
                    [&](size_t i, const words<4>& value) { full[i] = value; });
      return;
    }
    if (kind == part.kind) {
      if (kind == vector_kind::bits) {
        copy_bits(plain, first, part.plain.get(), part.n);
      } else {
        std::memcpy(plain + first, part.plain.get(), part.n);
      }
      for (size_t k = 0; k < part.indices.size(); k++) except(part.indices[k], part.values[k]);
      return;
    }
    take_each(part);
  }

 private:
  bool fits(int8_t byte) const { return kind == vector_kind::small ? byte != no_byte : is_bit(byte); }

  void put(size_t i, int8_t byte) {
    if (byte == 0) return;
    if (kind == vector_kind::small) {
      plain[first + i] = uint8_t(byte);
    } else {
      add_bits(plain + (first + i) / 8, uint8_t(1 << (first + i) % 8));
    }
  }

  // The part's exceptions are not the vector's: in order, so that they stay ascending.
  void take_each(const vector_part& part) {
    size_t next = 0;
    for (size_t i = 0; i < part.n; i++) {
      const bool excepted = next < part.indices.size() && part.indices[next] == i;
      const words<4> value = excepted ? part.values[next++] : part.plain_at(i);
      const int8_t byte = byte_of(value);
      if (fits(byte)) {
        put(i, byte);
      } else {
        except(i, value);
      }
    }
  }
};

}  // namespace

const words<4>& byte_vector::value_at(uint32_t index) const {
  return values[size_t(std::lower_bound(indices.begin(), indices.end(), index) - indices.begin())];
}

vector_part vector_part::of(const byte_vector& from) {
  vector_part part;
  const size_t n = part.n = from.bytes.size();
  size_t others = 0;
  for (const int8_t byte : from.bytes) others += !is_bit(byte);
  part.exceptions = {others, from.indices.size(), 0};
  part.kind = smallest(n, part.exceptions);
  if (part.kind == vector_kind::bits) part.plain = packed_bits(from.bytes);
  if (part.kind == vector_kind::full) {
    part.plain = std::make_unique_for_overwrite<uint8_t[]>(sizeof(words<4>) * n);
    auto* const full = reinterpret_cast<words<4>*>(part.plain.get());
    for (size_t i = 0; i < n; i++) full[i] = canonical_of(from.bytes[i]);
    for (size_t k = 0; k < from.indices.size(); k++) full[from.indices[k]] = from.values[k];
    return part;
  }
  const size_t count = part.exceptions[size_t(part.kind)];
  part.indices.reserve(count);
  part.values.reserve(count);
  if (part.kind == vector_kind::small) {
    part.plain = std::make_unique_for_overwrite<uint8_t[]>(n);
    for (size_t i = 0; i < n; i++) part.plain[i] = from.bytes[i] == no_byte ? 0 : uint8_t(from.bytes[i]);
    part.indices.assign(from.indices.begin(), from.indices.end());
    part.values.assign(from.values.begin(), from.values.end());
    return part;
  }
  if (count == 0) return part;
  for (size_t i = 0, next = 0; i < n; i++) {
    if (is_bit(from.bytes[i])) continue;
    part.indices.push_back(uint32_t(i));
    part.values.push_back(from.bytes[i] == no_byte ? from.values[next++] : canonical_of(from.bytes[i]));
  }
  return part;
}

words<4> vector_part::plain_at(size_t i) const {
  if (kind == vector_kind::bits) return canonical_of(plain[i / 8] >> i % 8 & 1);
  if (kind == vector_kind::small) return canonical_of(int8_t(plain[i]));
  words<4> value;
  std::memcpy(&value, plain.get() + sizeof value * i, sizeof value);
  return value;
}

words<4> vector_part::at(size_t i) const {
  const auto found = std::lower_bound(indices.begin(), indices.end(), i);
  if (found != indices.end() && *found == i) return values[size_t(found - indices.begin())];
  return plain_at(i);
}

void compact_vector::unmap::operator()(uint8_t* bytes) const { ::munmap(bytes, size); }

size_t parted_vector::size() const {
  size_t n = 0;
  for (const vector_part& part : parts) n += part.n;
  return n;
}

compact_vector parted_vector::compact(const executor& exec) && {
  std::array<size_t, 3> exceptions{};
  for (const vector_part& part : parts) {
    for (size_t k = 0; k < exceptions.size(); k++) exceptions[k] += part.exceptions[k];
  }
  const size_t n = size();
  const vector_kind kind = smallest(n, exceptions);
  compact_vector made = allocate(kind, n, exceptions[size_t(kind)]);
  uint8_t* const bytes = made.bytes.get();
  destination next{kind, bytes + made.head().values_at,
                   reinterpret_cast<uint32_t*>(bytes + made.head().indices_at),
                   reinterpret_cast<words<4>*>(bytes + made.head().exception_values_at), 0};
  std::vector<destination> destinations;
  for (const vector_part& part : parts) {
    destinations.push_back(next);
    next.first += part.n;
    next.indices += part.exceptions[size_t(kind)];
    next.values += part.exceptions[size_t(kind)];
  }
  exec.run(parts.size(), [&](size_t i, unsigned) {
    destinations[i].take(parts[i]);
    parts[i] = {};
  });
  return made;
}

template <class T, class FromByte, class FromValue>
void parted_vector::expand_parts(T* to, const executor& exec, FromByte&& from_byte,
                                 FromValue&& from_value) {
  std::vector<size_t> starts;
  size_t start = 0;
  for (const vector_part& part : parts) {
    starts.push_back(start);
    start += part.n;
  }
  exec.run(parts.size(), [&](size_t k, unsigned) {
    T* const out = to + starts[k];
    parts[k].for_each([&](size_t i, int8_t byte) { out[i] = from_byte(byte); },
                      [&](size_t i, const words<4>& value) { out[i] = from_value(value); });
    parts[k] = {};
  });
}

void parted_vector::expand(words<4>* to, const executor& exec) && {
  std::array<words<4>, 256> table;
  for (int i = -127; i < 128; i++) table[uint8_t(i)] = canonical_of(i);
  expand_parts(to, exec, [&](int8_t byte) { return table[uint8_t(byte)]; },
               [](const words<4>& value) { return value; });
}

void parted_vector::expand(bls12_381_fr* to, const executor& exec) && {
  std::array<bls12_381_fr, 256> table;
  for (int i = -127; i < 128; i++) table[uint8_t(i)] = bls12_381_fr::from_canonical(canonical_of(i));
  expand_parts(to, exec, [&](int8_t byte) { return table[uint8_t(byte)]; },
               [](const words<4>& value) { return bls12_381_fr::from_canonical(value); });
}

}  // namespace proofline
