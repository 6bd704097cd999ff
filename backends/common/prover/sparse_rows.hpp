#pragma once

#include <unordered_map>

#include "field/mont.hpp"
#include "prover/file.hpp"

namespace proofline {

// A and B of a zkey, row by row. Few of their coefficients differ, so an entry names its one by a number.
template <class P>
class sparse_rows {
 public:
  using F = mont_t<P>;

  // Coefficient 0 is 1, coefficient 1 is −1.
  struct entry {
    uint32_t wire, coefficient;
  };
  // The entries of row i: [start[i], start[i + 1]).
  struct matrix {
    std::vector<uint32_t> start;
    std::unique_ptr<entry[]> entries;
  };

  const matrix& a() const { return matrices_[0]; }
  const matrix& b() const { return matrices_[1]; }
  const std::vector<F>& coefficients() const { return coefficients_; }

  // From a zkey's section 4: u32 matrix (0 = A, 1 = B), u32 row, u32 wire, v·R² mod r, in any order.
  // @throws format_error for a matrix, row, wire or value that the key does not have, file_error
  static sparse_rows load(const record_slice& source, size_t wires, int log_n, const executor& exec) {
    require(source.slice.length >= source.count * record::size, "a section as long as its records");
    require(source.count < UINT32_MAX, "records that u32 can count");
    sparse_rows rows;
    const mapped_slice mapped(source.slice);
    const std::string subject = source.slice.name() + ": coefficient ";
    const auto each_record = [&](auto&& fn) {
      for (size_t i = 0; i < source.count; i++) {
        if (i % 65536 == 0) exec.check_cancelled();
        fn(record::at(mapped.data() + i * record::size), i);
      }
    };
    for (matrix& m : rows.matrices_) m.start.assign((size_t{1} << log_n) + 1, 0);
    each_record([&](const record& r, size_t i) {
      check_record(r, subject, i, wires, log_n);
      rows.matrices_[r.matrix].start[size_t(r.row) + 1]++;
    });
    for (matrix& m : rows.matrices_) {
      for (size_t row = 0; row + 1 < m.start.size(); row++) m.start[row + 1] += m.start[row];
      m.entries = std::make_unique_for_overwrite<entry[]>(m.start.back());
    }
    coefficient_numbers numbers(rows.coefficients_);
    each_record([&](const record& r, size_t) {
      matrix& m = rows.matrices_[r.matrix];
      m.entries[m.start[r.row]++] = {r.wire, numbers.of(r.value)};
    });
    // Each start has become the next one's.
    for (matrix& m : rows.matrices_) {
      for (size_t row = m.start.size() - 1; row > 0; row--) m.start[row] = m.start[row - 1];
      m.start[0] = 0;
    }
    return rows;
  }

  // a ← A·w, b ← B·w: 2^log_n values each, in Montgomery form, as is w.
  void multiply(const F* w, F* a, F* b, const executor& exec) const {
    exec.run_ranges(matrices_[0].start.size() - 1, 2048, [&](size_t begin, size_t end, unsigned) {
      multiply(matrices_[0], w, a, begin, end);
      multiply(matrices_[1], w, b, begin, end);
    });
  }

 private:
  struct record {
    static constexpr size_t size = 44;
    uint32_t matrix, row, wire;
    words<4> value;

    static record at(const uint8_t* bytes) {
      record r;
      std::memcpy(&r.matrix, bytes, 4);
      std::memcpy(&r.row, bytes + 4, 4);
      std::memcpy(&r.wire, bytes + 8, 4);
      std::memcpy(&r.value, bytes + 12, 32);
      return r;
    }
  };

  static constexpr uint32_t one = 0, minus_one = 1;

  // Numbers coefficients in the order of their first occurrence, after 1 and −1.
  class coefficient_numbers {
   public:
    explicit coefficient_numbers(std::vector<F>& coefficients) : coefficients_(coefficients) {
      for (const F& c : {F::one(), -F::one()}) add(F::from_canonical(c.limb).limb, c);
    }

    uint32_t of(const words<4>& value) {
      if (value == last_value_) return last_;
      const auto known = numbers_.find(value);
      last_ = known != numbers_.end() ? known->second : add(value, {F{value}.to_canonical()});
      last_value_ = value;
      return last_;
    }

   private:
    struct hash {
      size_t operator()(const words<4>& v) const {
        return (v.w[0] ^ v.w[1] * 0x9e3779b97f4a7c15 ^ v.w[2] ^ v.w[3]) * 0xff51afd7ed558ccd >> 7;
      }
    };

    uint32_t add(const words<4>& value, const F& coefficient) {
      const auto number = uint32_t(coefficients_.size());
      coefficients_.push_back(coefficient);
      numbers_.emplace(value, number);
      last_value_ = value, last_ = number;
      return number;
    }

    std::vector<F>& coefficients_;
    std::unordered_map<words<4>, uint32_t, hash> numbers_;
    words<4> last_value_{};
    uint32_t last_ = 0;
  };

  static void check_record(const record& r, const std::string& subject, size_t i, size_t wires,
                           int log_n) {
    const auto refuse = [&](const char* what, const std::string& expected, const std::string& actual) {
      throw format_error(subject + std::to_string(i) + ": " + what, expected, actual);
    };
    const size_t rows = size_t{1} << log_n;
    if (r.matrix > 1) refuse("matrix", "0 or 1", std::to_string(r.matrix));
    if (r.row >= rows) refuse("row", "below " + std::to_string(rows), std::to_string(r.row));
    if (r.wire >= wires) refuse("wire", "below " + std::to_string(wires), std::to_string(r.wire));
    if (!(r.value < P::modulus())) refuse("value", "below r", "a larger number");
  }

  void multiply(const matrix& m, const F* w, F* out, size_t begin, size_t end) const {
    for (size_t row = begin; row < end; row++) {
      F sum = F::zero();
      for (uint32_t i = m.start[row]; i < m.start[row + 1]; i++) {
        const entry e = m.entries[i];
        if (e.coefficient == one) {
          sum += w[e.wire];
        } else if (e.coefficient == minus_one) {
          sum -= w[e.wire];
        } else {
          sum += coefficients_[e.coefficient] * w[e.wire];
        }
      }
      out[row] = sum;
    }
  }

  std::vector<F> coefficients_;
  matrix matrices_[2];
};

}  // namespace proofline
