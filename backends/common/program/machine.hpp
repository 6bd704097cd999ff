#pragma once

#include <cstdint>
#include <vector>

#include "program/number.hpp"
#include "program/program.hpp"

namespace proofline {

// Computes one instance of a leaf after another: its bound wires are set, then its aux variables and public
// inputs computed, then its rows evaluated. One thread's.
class leaf_machine {
 public:
  using fr = bls12_381_fr;

  explicit leaf_machine(const circuit_program& program) : coefficients_(program.coefficients()) {}

  // Forgets the instance before. Wire 0 is 1.
  void begin(const program_template& of);

  void set(uint32_t wire, int8_t byte) { bytes_[wire] = byte; }
  void set(uint32_t wire, const words<4>& canonical) { set(wire, number::of(canonical)); }

  // @param hints canonical values, below r
  void compute(const words<4>* hints);

  // What wire i holds, for those that are set or computed.
  int8_t byte_at(uint32_t wire) const { return bytes_[wire]; }
  const words<4>& value_at(uint32_t wire) const { return canonical_[wire]; }

  uint32_t first_public() const { return 1 + counts_->bound; }
  uint32_t first_aux() const { return first_public() + counts_->publics; }

  // Rows in order, as push(a, b, c) where each is a byte or a canonical value.
  struct outputs {
    byte_vector *a, *b, *c;  // c may be null
  };
  // Returns the first row that does not hold, or the number of rows.
  uint32_t evaluate(const outputs& to);

 private:
  void set(uint32_t wire, number value);
  number local(uint32_t wire) const;
  number combine(uint32_t lc);
  bool sum_small(uint32_t lc, int64_t& sum) const;
  number sum_general(uint32_t lc) const;
  unsigned bit_of(uint32_t literal) const;
  static bool holds(number& a, number& b, number& c);

  const std::vector<coefficient>& coefficients_;
  const leaf_template* leaf_ = nullptr;
  const template_counts* counts_ = nullptr;
  std::vector<int8_t> bytes_;
  // Of wires without a byte.
  std::vector<words<4>> canonical_;
  std::vector<fr> field_;
  // Of linear combinations that are asked for more than once.
  std::vector<number> cached_;
  std::vector<uint32_t> cached_in_;
  uint32_t instance_ = 0;
};

}  // namespace proofline
