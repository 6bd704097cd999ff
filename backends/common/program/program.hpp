#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "field/mont.hpp"
#include "program/format.hpp"

namespace proofline {

struct template_counts {
  uint32_t bound, publics, aux, rows, hints;
};

// How a linear combination is computed.
enum class lc_kind : uint8_t { empty, wire, small, general };

// src/r1cs/template.ts's Leaf: views of the program's words.
struct leaf_template {
  std::span<const uint32_t> lc_ends, terms, rows, operations, publics, marks;
  std::vector<lc_kind> kinds;
  // For a linear combination that is asked for more than once, its place + 1 in a table of values; else 0.
  std::vector<uint32_t> slots;
  uint32_t slot_count = 0;

  std::span<const uint32_t> terms_of(uint32_t lc) const {
    const uint32_t start = lc == 0 ? 0 : lc_ends[lc - 1];
    return terms.subspan(start, lc_ends[lc] - start);
  }
};

struct child_instance {
  program_format::child_record base;
  // The composite's local wire for each bound wire of the child.
  std::span<const uint32_t> bindings;
};

struct composite_template {
  std::vector<child_instance> children;
};

struct program_template {
  std::string name;
  template_counts counts;
  uint32_t depth;
  std::variant<leaf_template, composite_template> body;
};

// A coefficient: add·2^(32·digit) where |add| < 2^32, else only the field element.
struct coefficient {
  bls12_381_fr value;
  int64_t add;
  uint8_t digit;
  bool is_digit;
};

// A circuit as templates and instances. Everything an interpreter relies on is checked when it is opened:
// wires and linear combinations exist before they are used, instances lie one after another.
class circuit_program {
 public:
  // Keeps views of `bytes`, which stay as they are.
  // @throws format_error for another version, damaged bytes, or an index or size out of its range
  explicit circuit_program(std::span<const uint8_t> bytes);

  const std::vector<program_template>& templates() const { return templates_; }
  // The whole circuit, which has no bound wires.
  const program_template& root() const { return templates_.back(); }
  const std::vector<coefficient>& coefficients() const { return coefficients_; }
  const std::string& label(uint32_t index) const { return labels_[index]; }

  size_t inputs() const { return size_t{1} + root().counts.publics; }
  size_t aux() const { return root().counts.aux; }
  size_t constraints() const { return root().counts.rows; }
  // Constraints and one row for each input.
  size_t rows() const { return constraints() + inputs(); }

 private:
  std::vector<uint32_t> copy_;  // of bytes that do not lie on a multiple of 4
  std::vector<program_template> templates_;
  std::vector<coefficient> coefficients_;
  std::vector<std::string> labels_;
};

}  // namespace proofline
