#pragma once

#include <span>
#include <vector>

#include "field/mont.hpp"
#include "field/params.hpp"

namespace proofline {

// Poseidon over F_r of BLS12-381 with x^5 and its round constants moved through the linear layers
// (eprint 2019/458, appendix B): src/math/poseidon.ts, whose constants it is given.
class poseidon {
 public:
  static constexpr size_t width_max = 40, full_rounds = 8;

  // Canonical, little-endian, 32 bytes each. Matrices row by row; of each sparse one its first
  // column, then the rest of its first row.
  struct constants {
    std::span<const uint8_t> round_keys, mds, pre_sparse, sparse;
  };

  // @throws format_error for constants of another count, or of r or more
  poseidon(size_t width, const constants& from);

  size_t width() const { return width_; }

  // Of a state of `width` elements below r (not checked), the tag first.
  words<4> hash(std::span<const words<4>> preimage) const;

 private:
  using F = bls12_381_fr;

  void full_round(F* state, const std::vector<F>& matrix, const F*& key) const;

  size_t width_;
  std::vector<F> keys_, mds_, pre_sparse_, sparse_;
};

}  // namespace proofline
