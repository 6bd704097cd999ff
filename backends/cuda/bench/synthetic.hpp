#pragma once

#include <span>
#include <string>
#include <vector>

#include "expand/compact.hpp"
#include "field/mont.hpp"
#include "core/thread_pool.hpp"
#include "prover/types.hpp"

// Assignments with the sizes and the mix of values of Filecoin's circuits.
namespace proofline::cuda {

struct synthetic_shape {
  const char* name;
  uint32_t inputs, aux, rows;
  int log_n;
  double a_density, b_density;  // of the auxiliary variables
  double field_elements;        // share of values that are no bits; 1: vectors are full
  bool circom = false;          // BN254, a point for each wire, h in the basis of a zkey
};

// Sizes of one partition of sectors of 32 GiB, and of circom circuits with full-size values. PoRep
// has 1.05 % field elements, in clusters of 128 (its Poseidon hashes), two thirds of which occur in
// B.
constexpr synthetic_shape synthetic_shapes[] = {
    {"porep", 328, 130169893, 130278869, 27, 0.99680, 0.25433, 0.01051},
    {"winning", 133, 375210, 370723, 19, 0.75708, 0.72506, 1},
    {"window", 25840, 126902376, 125305057, 27, 0.75770, 0.72418, 1},
    {"snap", 5, 80978488, 81049504, 27, 0.99710, 0.25912, 0.01051},
    {"circom20", 2, 1040000, 1040002, 20, 1, 1, 1, true},
    {"circom22", 2, 4190000, 4190002, 22, 1, 1, 1, true},
    {"tiny", 40, 5000, 5050, 13, 0.996, 0.25523, 0.05},
    {"small", 40, 2685673, 2687961, 22, 0.99599, 0.25523, 0.01051},
};

inline const synthetic_shape& synthetic_shape_of(const std::string& name) {
  for (const synthetic_shape& s : synthetic_shapes)
    if (name == s.name) return s;
  throw format_error("shape", "porep, winning, window, snap, circom20, circom22, small or tiny",
                     name);
}

// Random bits by word, with the share of ones that each range asks for; the same for each number of
// threads.
inline uint64_t mixed(uint64_t z) {
  z += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}
inline bool chance(uint64_t seed, uint64_t i, double share) {
  return double(mixed(seed ^ i * 0xd1342543de82ef95u) >> 11) * 0x1p-53 < share;
}

// Below 2^253, so below r of both curves.
inline words<4> random_canonical(uint64_t seed, uint64_t i) {
  words<4> v;
  for (int j = 0; j < 4; j++) v.w[j] = mixed(seed + 4 * i + uint64_t(j));
  v.w[3] >>= 3;
  return v;
}

// A compact vector's buffer; `element(i)` as a scalar.
struct synthetic_vector {
  std::vector<uint8_t> header_and_sections;
  compact_vector view;

  static size_t aligned(size_t bytes) { return (bytes + 63) / 64 * 64; }

  // Kind bits or small with clusters of exceptions, or full.
  static synthetic_vector make(compact_kind kind, uint32_t n, double field_elements, uint64_t seed,
                               const executor& exec) {
    std::vector<uint32_t> indices;
    if (kind != compact_kind::full) {
      const uint32_t cluster = 128, period = uint32_t(cluster / field_elements);
      for (uint64_t start = mixed(seed) % period; start + cluster <= n; start += period)
        for (uint32_t i = 0; i < cluster; i++) indices.push_back(uint32_t(start) + i);
    }
    const size_t values = kind == compact_kind::bits    ? (size_t(n) + 7) / 8
                          : kind == compact_kind::small ? n
                                                        : 32 * size_t(n);
    const size_t indices_at = 64 + aligned(values),
                 exceptions_at = indices_at + aligned(4 * indices.size());
    synthetic_vector v;
    v.header_and_sections.resize(exceptions_at + 32 * indices.size());
    uint8_t* const b = v.header_and_sections.data();
    std::memcpy(b, "PLCV\1\0\0\0", 8);
    const uint64_t fields[] = {uint64_t(kind), n, indices.size(), 64, indices_at, exceptions_at};
    std::memcpy(b + 8, fields, sizeof fields);
    std::memcpy(b + indices_at, indices.data(), 4 * indices.size());
    exec.run_ranges(indices.size(), 65536, [&](size_t begin, size_t end, unsigned) {
      for (size_t i = begin; i < end; i++) {
        const words<4> w = random_canonical(seed + 1, i);
        std::memcpy(b + exceptions_at + 32 * i, &w, 32);
      }
    });
    fill(kind, n, seed, b + 64, exec);
    for (const uint32_t i : indices) {
      if (kind == compact_kind::small)
        b[64 + i] = 0;
      else
        b[64 + i / 8] &= uint8_t(~(1u << (i & 7)));
    }
    v.view = compact_vector::parse(v.header_and_sections, "synthetic vector");
    return v;
  }

 private:
  static void fill(compact_kind kind, uint32_t n, uint64_t seed, uint8_t* to,
                   const executor& exec) {
    exec.run_ranges((size_t(n) + 63) / 64, 4096, [&](size_t begin, size_t end, unsigned) {
      for (size_t block = begin; block < end; block++) {
        const size_t first = block * 64, count = std::min<size_t>(64, n - first);
        if (kind == compact_kind::bits) {
          uint64_t bits = mixed(seed + 2 + block);
          if (count < 64) bits &= (uint64_t{1} << count) - 1;
          std::memcpy(to + first / 8, &bits, (count + 7) / 8);
          continue;
        }
        for (size_t i = first; i < first + count; i++) {
          if (kind == compact_kind::full) {
            words<4> w = random_canonical(seed + 3, i);
            // One in a hundred is a bit.
            if (w.w[0] % 100 == 0) w = words<4>{{w.w[1] & 1}};
            std::memcpy(to + 32 * i, &w, 32);
          } else {
            to[i] = uint8_t(int8_t(int(mixed(seed + 4 + i) % 255) - 127));
          }
        }
      }
    });
  }
};

// Random bits with the share of ones that is asked for, and room behind them for reads by word.
inline bytes synthetic_density(uint32_t n, double share, uint64_t seed, const executor& exec) {
  bytes bits((size_t(n) + 7) / 8 + 64);
  exec.run_ranges((size_t(n) + 7) / 8, 65536, [&](size_t begin, size_t end, unsigned) {
    for (size_t byte = begin; byte < end; byte++)
      for (uint32_t i = 0; i < 8 && byte * 8 + i < n; i++)
        if (chance(seed, byte * 8 + i, share)) bits[byte] |= uint8_t(1u << i);
  });
  return bits;
}

inline size_t set_bits(const bytes& bits) {
  size_t count = 0;
  for (const uint8_t b : bits) count += size_t(__builtin_popcount(b));
  return count;
}

// Σ value·log(point) over the wires of [first_wire, n) that occur; a point for each wire without
// bits.
template <class F, class Log>
F expected_sum(const compact_vector& w, uint32_t first_wire, uint32_t inputs,
               const bytes* input_bits, const bytes* aux_bits, const Log& log,
               const executor& exec) {
  const uint32_t n = uint32_t(w.n), step = 1 << 16;
  const size_t blocks = (size_t(n) + step - 1) / step;
  const auto occurs = [&](uint32_t i) {
    if (i < first_wire) return false;
    const bytes* const bits = i < inputs ? input_bits : aux_bits;
    const uint32_t at = i < inputs ? i : i - inputs;
    return bits == nullptr || ((*bits)[at / 8] >> (at & 7) & 1) != 0;
  };
  std::vector<size_t> before(blocks + 1);
  exec.run(blocks, [&](size_t k, unsigned) {
    size_t count = 0;
    for (uint32_t i = uint32_t(k * step); i < std::min<size_t>(n, (k + 1) * step); i++)
      count += occurs(i);
    before[k + 1] = count;
  });
  for (size_t k = 0; k < blocks; k++) before[k + 1] += before[k];
  std::vector<F> partial(blocks, F::zero());
  exec.run(blocks, [&](size_t k, unsigned) {
    size_t point = before[k];
    const uint32_t* e = std::lower_bound(w.indices, w.indices + w.exceptions, uint32_t(k * step));
    F sum = F::zero();
    for (uint32_t i = uint32_t(k * step); i < std::min<size_t>(n, (k + 1) * step); i++) {
      const bool exception = w.exceptions != 0 && e < w.indices + w.exceptions && *e == i;
      const uint8_t* const wide = w.kind == compact_kind::full ? w.values + 32 * size_t(i)
                                  : exception ? w.exception_values + 32 * (e - w.indices)
                                              : nullptr;
      if (exception) e++;
      if (!occurs(i)) continue;
      const size_t p = point++;
      if (wide != nullptr) {
        words<4> v;
        std::memcpy(&v, wide, 32);
        if (!v.is_zero()) sum += F::from_canonical(v) * log(p);
      } else if (w.values[i >> 3] >> (i & 7) & 1) {
        sum += log(p);
      }
    }
    partial[k] = sum;
  });
  F sum = F::zero();
  for (const F& p : partial) sum += p;
  return sum;
}

}  // namespace proofline::cuda
