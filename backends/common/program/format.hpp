#pragma once

#include <cstdint>

// The bytes of an encoded circuit (docs/program-format.md); plain structures, for g++ and nvcc.
namespace proofline::program_format {

inline constexpr uint32_t version = 1, curve_bls12_381 = 1;
inline constexpr uint32_t header_bytes = 128, checked_from = 16, scalar_bytes = 32;
inline constexpr uint32_t kind_leaf = 0, kind_composite = 1;
inline constexpr uint32_t operation_words = 4, term_index_max = 0xffff;
// Set in the code of an aux variable, beside its index. The code of an input is its index.
inline constexpr uint32_t aux_code = 0x80000000;

struct header {
  char magic[4];
  uint32_t version, checksum, curve;
  uint64_t size;
  uint32_t templates, coefficients, labels, zero;
  uint64_t templates_at, coefficients_at, labels_at, words_at, words;
  uint64_t reserved[6];
};
static_assert(sizeof(header) == header_bytes);

// Of a leaf: indices and numbers of words, terms and linear combinations.
struct leaf_body {
  uint32_t lcs, lc_ends, terms, rows, operations, publics, marks, marks_at, term_count;
};
struct composite_body {
  uint32_t children, children_at, zero[7];
};

struct template_record {
  uint32_t kind, label, bound, publics, aux, rows, hints;
  union {
    leaf_body leaf;
    composite_body composite;
  };
};
static_assert(sizeof(template_record) == 64);

struct child_record {
  uint32_t template_index, label, bindings, public_base, aux_base, row_base, hint_base, zero;
};
static_assert(sizeof(child_record) == 32);

enum operation : uint32_t { hint, xor_, and_, choose, majority, bit, linear, product };

}  // namespace proofline::program_format
