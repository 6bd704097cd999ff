#include "program/program.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "core/errors.hpp"
#include "program/crc32.hpp"

namespace proofline {
namespace {

using namespace program_format;

// Composites in composites; a circuit has about five.
constexpr uint32_t depth_max = 64;
// Indices of variables and rows have 31 bits.
constexpr uint64_t count_max = 0x7fffffff;

[[noreturn]] void refuse(const std::string& subject, const char* expected, const char* actual) {
  throw format_error("program" + (subject.empty() ? "" : ": " + subject), expected, actual);
}

void expect(bool condition, const std::string& subject, const char* expected) {
  if (!condition) refuse(subject, expected, "another");
}

header read_header(std::span<const uint8_t> bytes) {
  header h;
  if (bytes.size() < sizeof h || std::memcmp(bytes.data(), "PLCP", 4) != 0) {
    refuse("", "a program (PLCP)", "something else");
  }
  std::memcpy(&h, bytes.data(), sizeof h);
  const auto same = [](const char* subject, uint64_t actual, uint64_t expected) {
    if (actual == expected) return;
    throw format_error(subject, std::to_string(expected), std::to_string(actual));
  };
  same("program: version", h.version, version);
  same("program: curve", h.curve, curve_bls12_381);
  if (h.size != bytes.size()) {
    throw format_error("program", std::to_string(h.size) + " bytes", std::to_string(bytes.size()));
  }
  if (h.checksum != crc32(bytes.subspan(checked_from))) {
    refuse("", "bytes with its checksum", "other bytes");
  }
  return h;
}

// `count` items of `size` bytes at `at`. They lie on a multiple of 4.
template <class T>
std::span<const T> section(std::span<const uint8_t> bytes, const char* name, uint64_t at,
                           uint64_t count) {
  const bool inside = at % 4 == 0 && at <= bytes.size() && count <= (bytes.size() - at) / sizeof(T);
  expect(inside, name, "a section inside the program");
  return {reinterpret_cast<const T*>(bytes.data() + at), size_t(count)};
}

std::vector<std::string> read_labels(std::span<const uint8_t> bytes, const header& h) {
  const auto ends = section<uint32_t>(bytes, "labels", h.labels_at, h.labels);
  const auto text = bytes.subspan(h.labels_at + 4 * ends.size());
  std::vector<std::string> labels;
  uint32_t start = 0;
  for (const uint32_t end : ends) {
    expect(start <= end && end <= text.size(), "labels", "ends in ascending order");
    labels.emplace_back(reinterpret_cast<const char*>(text.data()) + start, end - start);
    start = end;
  }
  expect(!labels.empty() && labels[0].empty(), "labels", "the empty one first");
  return labels;
}

// `value` as add·2^(32·digit), if it is of that form or its negative is.
coefficient coefficient_of(const words<4>& value) {
  using P = bls12_381_fr_params;
  coefficient c{bls12_381_fr::from_canonical(value), 0, 0, false};
  for (const bool negative : {false, true}) {
    const words<4> magnitude = negative ? sub_words<P>(words<4>{}, value) : value;
    int lowest = 0;
    while (!magnitude.bit(lowest)) lowest++;
    const int digit = lowest / 32;
    uint64_t add = magnitude.w[digit / 2] >> 32 * (digit % 2);
    words<4> rest = magnitude;
    if (digit % 2 == 0) add &= 0xffffffff;
    rest.w[digit / 2] ^= add << 32 * (digit % 2);
    if (!rest.is_zero()) continue;
    return {c.value, negative ? -int64_t(add) : int64_t(add), uint8_t(digit), true};
  }
  return c;
}

std::vector<coefficient> read_coefficients(std::span<const uint8_t> bytes, const header& h) {
  expect(h.coefficients <= term_index_max + 1, "coefficients", "at most 65536");
  const auto from = section<uint8_t>(bytes, "coefficients", h.coefficients_at,
                                     uint64_t{scalar_bytes} * h.coefficients);
  std::vector<coefficient> coefficients;
  for (size_t i = 0; i < h.coefficients; i++) {
    words<4> value;
    std::memcpy(&value, from.data() + i * scalar_bytes, sizeof value);
    expect(value < bls12_381_fr_params::modulus() && !value.is_zero(), "coefficients",
           "numbers below r, not 0");
    coefficients.push_back(coefficient_of(value));
  }
  return coefficients;
}

class template_reader {
 public:
  template_reader(std::span<const uint32_t> all_words, const std::vector<std::string>& labels,
                  const std::vector<coefficient>& coefficients)
      : words_(all_words), labels_(labels), coefficients_(coefficients) {}

  program_template read(const template_record& record, const std::vector<program_template>& known) {
    subject_ = "template " + std::to_string(known.size());
    counts_ = {record.bound, record.publics, record.aux, record.rows, record.hints};
    require_valid(record.label < labels_.size(), "a label of the program");
    program_template made{labels_[record.label], counts_, 1, {}};
    if (record.kind == kind_leaf) {
      made.body = read_leaf(record.leaf);
    } else {
      require_valid(record.kind == kind_composite, "a leaf or a composite");
      made.body = read_composite(record.composite, known, made.depth);
    }
    return made;
  }

 private:
  void require_valid(bool condition, const char* expected) const {
    if (!condition) refuse(subject_, expected, "another");
  }

  std::span<const uint32_t> part(uint32_t at, uint64_t count) const {
    require_valid(at <= words_.size() && count <= words_.size() - at, "words of the program");
    return words_.subspan(at, size_t(count));
  }

  leaf_template read_leaf(const leaf_body& body) {
    const auto& [bound, publics, aux, rows, hints] = counts_;
    const uint64_t wires = uint64_t{1} + bound + publics + aux;
    require_valid(wires <= term_index_max + 1, "at most 65536 wires");
    require_valid(publics + aux + rows > 0, "a variable or a row");
    leaf_template leaf;
    leaf.lc_ends = part(body.lc_ends, body.lcs);
    leaf.terms = part(body.terms, body.term_count);
    leaf.rows = part(body.rows, uint64_t{3} * rows);
    leaf.operations = part(body.operations, uint64_t{operation_words} * aux);
    leaf.publics = part(body.publics, publics);
    leaf.marks = part(body.marks_at, uint64_t{2} * body.marks);
    check_lcs(leaf, uint32_t(wires));
    check_uses(leaf);
    check_operations(leaf);
    for (size_t i = 1; i < leaf.marks.size(); i += 2) {
      require_valid(leaf.marks[i] < labels_.size(), "marks with labels of the program");
    }
    return leaf;
  }

  // What is known of a linear combination once its terms are read: where it may be used.
  struct extent {
    uint32_t wires;  // its highest wire + 1
    bool has_public;
  };

  void check_lcs(leaf_template& leaf, uint32_t wires) {
    const uint32_t first_public = 1 + counts_.bound, first_aux = first_public + counts_.publics;
    require_valid(!leaf.lc_ends.empty() && leaf.lc_ends[0] == 0, "an empty linear combination first");
    extents_.clear();
    uint32_t start = 0;
    for (const uint32_t end : leaf.lc_ends) {
      require_valid(start <= end && end <= leaf.terms.size(), "linear combinations of its terms");
      extent e{0, false};
      bool is_small = true;
      for (const uint32_t term : leaf.terms.subspan(start, end - start)) {
        const uint32_t wire = term & term_index_max, c = term >> 16;
        require_valid(wire < wires && c < coefficients_.size(), "terms of its wires");
        e.wires = std::max(e.wires, wire + 1);
        e.has_public |= wire >= first_public && wire < first_aux;
        is_small &= coefficients_[c].is_digit && coefficients_[c].digit == 0;
      }
      extents_.push_back(e);
      leaf.kinds.push_back(kind_of(leaf.terms.subspan(start, end - start), is_small));
      start = end;
    }
  }

  lc_kind kind_of(std::span<const uint32_t> terms, bool is_small) const {
    if (terms.empty()) return lc_kind::empty;
    if (terms.size() == 1 && coefficients_[terms[0] >> 16].is_digit &&
        coefficients_[terms[0] >> 16].add == 1 && is_small) {
      return lc_kind::wire;
    }
    return is_small ? lc_kind::small : lc_kind::general;
  }

  // Finds those that are used more than once.
  void check_uses(leaf_template& leaf) const {
    std::vector<uint32_t> uses(leaf.lc_ends.size());
    const auto use = [&](uint32_t lc) {
      require_valid(lc < uses.size(), "linear combinations that exist");
      uses[lc]++;
    };
    for (const uint32_t lc : leaf.rows) use(lc);
    for (const uint32_t lc : leaf.publics) {
      use(lc);
      require_valid(!extents_[lc].has_public, "public inputs of other wires");
    }
    for (size_t i = 0; i < leaf.operations.size(); i += operation_words) {
      const uint32_t op = leaf.operations[i];
      const int lcs = op == product ? 3 : op == bit || op == linear ? 1 : 0;
      for (int k = 1; k <= lcs; k++) use(leaf.operations[i + size_t(k)]);
    }
    leaf.slots.resize(uses.size());
    for (size_t lc = 0; lc < uses.size(); lc++) {
      const bool pays = leaf.kinds[lc] == lc_kind::general || leaf.terms_of(uint32_t(lc)).size() > 4;
      if (uses[lc] > 1 && pays) leaf.slots[lc] = ++leaf.slot_count;
    }
  }

  // Operands stand before the variable they make.
  void check_operations(const leaf_template& leaf) const {
    const uint32_t first_public = 1 + counts_.bound, first_aux = first_public + counts_.publics;
    for (uint32_t i = 0; i < counts_.aux; i++) {
      const auto operation = leaf.operations.subspan(size_t{operation_words} * i, operation_words);
      const uint32_t op = operation[0], own = first_aux + i;
      const auto known = [&](uint32_t wire) {
        return wire < own && (wire < first_public || wire >= first_aux);
      };
      require_valid(op <= product, "known operations");
      if (op == hint) require_valid(operation[1] < counts_.hints, "private inputs of its own");
      if (op == bit) require_valid(operation[2] < 256, "bits of 256");
      const int literals = op >= xor_ && op <= majority ? (op >= choose ? 3 : 2) : 0;
      const int lcs = op == product ? 3 : op == bit || op == linear ? 1 : 0;
      for (int k = 1; k <= literals; k++) {
        require_valid(known(operation[size_t(k)] >> 1), "operands that are known");
      }
      for (int k = 1; k <= lcs; k++) {
        const extent& e = extents_[operation[size_t(k)]];
        require_valid(e.wires <= own && !e.has_public, "operands that are known");
      }
    }
  }

  composite_template read_composite(const composite_body& body,
                                    const std::vector<program_template>& known, uint32_t& depth) {
    composite_template made;
    const auto records = part(body.children_at, uint64_t{sizeof(child_record) / 4} * body.children);
    uint64_t publics = 0, aux = 0, rows = 0, hints = 0;
    for (size_t i = 0; i < body.children; i++) {
      child_record child;
      std::memcpy(&child, records.data() + i * sizeof child / 4, sizeof child);
      require_valid(child.template_index < known.size(), "templates before it");
      require_valid(child.label < labels_.size(), "labels of the program");
      const program_template& of = known[child.template_index];
      const bool follows = child.public_base == publics && child.aux_base == aux &&
                           child.row_base == rows && child.hint_base == hints;
      require_valid(follows, "children one after another");
      made.children.push_back({child, part(child.bindings, of.counts.bound)});
      check_bindings(made.children.back());
      publics += of.counts.publics, aux += of.counts.aux;
      rows += of.counts.rows, hints += of.counts.hints;
      require_valid(std::max({publics, aux, rows, hints}) <= count_max, "fewer variables and rows");
      depth = std::max(depth, of.depth + 1);
    }
    require_valid(depth <= depth_max && body.children > 0, "a composite of children, 64 deep");
    require_valid(publics == counts_.publics && aux == counts_.aux && rows == counts_.rows &&
                      hints == counts_.hints,
                  "the counts of its children");
    return made;
  }

  // They are known before the child begins.
  void check_bindings(const child_instance& child) const {
    const uint64_t first_public = uint64_t{1} + counts_.bound;
    const uint64_t first_aux = first_public + counts_.publics;
    for (const uint32_t wire : child.bindings) {
      const bool is_known = wire != 0 && (wire < first_public ||
                                          (wire < first_aux && wire < first_public + child.base.public_base) ||
                                          (wire >= first_aux && wire < first_aux + child.base.aux_base));
      require_valid(is_known, "bound wires that are known");
    }
  }

  std::span<const uint32_t> words_;
  const std::vector<std::string>& labels_;
  const std::vector<coefficient>& coefficients_;
  std::string subject_;
  template_counts counts_{};
  std::vector<extent> extents_;
};

}  // namespace

circuit_program::circuit_program(std::span<const uint8_t> bytes) {
  static_assert(std::endian::native == std::endian::little, "the bytes are used as they are");
  if (reinterpret_cast<uintptr_t>(bytes.data()) % 4 != 0) {
    copy_.resize((bytes.size() + 3) / 4);
    std::memcpy(copy_.data(), bytes.data(), bytes.size());
    bytes = {reinterpret_cast<const uint8_t*>(copy_.data()), bytes.size()};
  }
  const header h = read_header(bytes);
  labels_ = read_labels(bytes, h);
  coefficients_ = read_coefficients(bytes, h);
  const auto all_words = section<uint32_t>(bytes, "words", h.words_at, h.words);
  template_reader reader(all_words, labels_, coefficients_);
  for (const auto& record :
       section<template_record>(bytes, "templates", h.templates_at, h.templates)) {
    templates_.push_back(reader.read(record, templates_));
  }
  expect(!templates_.empty() && root().counts.bound == 0, "", "a root without bound wires");
}

}  // namespace proofline
