#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "program/compact.hpp"
#include "program/program.hpp"

namespace proofline {

// src/r1cs/program-witness.ts's FailedConstraint.
struct failed_constraint {
  size_t index;
  // From the outermost part inwards.
  std::vector<std::string> path;
  std::string leaf;
  uint32_t row;
  // The last aux variable of the row; none where it has none.
  std::optional<uint32_t> aux;

  // `constraint 1234567 (challenge 3, layer 7, sha256 block 12)`
  std::string name() const;
};

struct synthesis {
  // All inputs, 1 first, then all aux variables.
  parted_vector witness;
  // <A_i, w> and so on, input rows last; c only where it was asked for.
  parted_vector a, b, c;
  std::optional<failed_constraint> failed;
};

enum class keep_c { no, yes };

// Values of all variables and rows, on all lanes.
// @param private_inputs in the order of synthesis, 32 bytes each, canonical little-endian
// @throws format_error for another number of them, or one that is not below r; cancelled_error
synthesis synthesize(const circuit_program& program, std::span<const uint8_t> private_inputs, keep_c,
                     const executor& exec);

// Which variables have a coefficient in A or B: bit i & 7 of byte i >> 3. Input rows are not counted.
struct densities {
  std::vector<uint8_t> a_inputs, a_aux, b_inputs, b_aux;
};
densities densities_of(const circuit_program& program, const executor& exec);

}  // namespace proofline
