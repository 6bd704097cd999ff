#include "program/synthesis.hpp"

#include <atomic>
#include <cstring>

#include "core/errors.hpp"
#include "program/instances.hpp"
#include "program/machine.hpp"

namespace proofline {
namespace {

using program_format::aux_code;
using program_format::term_index_max;

std::vector<words<4>> read_private_inputs(std::span<const uint8_t> bytes, size_t count,
                                          const executor& exec) {
  if (bytes.size() != count * sizeof(words<4>)) {
    throw format_error("private inputs", std::to_string(count * sizeof(words<4>)) + " bytes",
                       std::to_string(bytes.size()));
  }
  std::vector<words<4>> values(count);
  if (count != 0) std::memcpy(values.data(), bytes.data(), bytes.size());
  for (size_t i = 0; i < count; i++) {
    if (i % 65536 == 0) exec.check_cancelled();
    if (values[i] < bls12_381_fr_params::modulus()) continue;
    throw format_error("private input " + std::to_string(i), "a number below r", "a larger one");
  }
  return values;
}

failed_constraint describe(const circuit_program& program, uint32_t index) {
  failed_constraint failed{index, {}, {}, 0, {}};
  instance at{&program.root(), {}, {}};
  while (const auto* const composite = std::get_if<composite_template>(&at.of->body)) {
    for (const child_instance& child : composite->children) {
      instance inner;
      enter(program, at, child, inner);
      if (index - inner.base.rows >= inner.of->counts.rows) continue;
      const std::string& label = program.label(child.base.label);
      if (!label.empty()) failed.path.push_back(label);
      at = std::move(inner);
      break;
    }
  }
  const auto& leaf = std::get<leaf_template>(at.of->body);
  failed.leaf = at.of->name;
  failed.row = index - at.base.rows;
  uint32_t label = 0;
  for (size_t i = 0; i < leaf.marks.size() && leaf.marks[i] <= failed.row; i += 2) {
    label = leaf.marks[i + 1];
  }
  if (!program.label(label).empty()) failed.path.push_back(program.label(label));
  uint32_t code = 0;
  for (const uint32_t lc : leaf.rows.subspan(3 * size_t{failed.row}, 3)) {
    for (const uint32_t term : leaf.terms_of(lc)) code = std::max(code, at.code(term & term_index_max));
  }
  if ((code & aux_code) != 0) failed.aux = code & ~aux_code;
  return failed;
}

class run {
 public:
  run(const circuit_program& program, std::vector<words<4>> hints, keep_c keep, const executor& exec)
      : program_(program), schedule_(program), hints_(std::move(hints)), keep_c_(keep), exec_(exec) {
    inputs_.resize(program.inputs());
    inputs_[0] = {{1}};
    for (auto* vector : {&aux_, &a_, &b_, &c_}) vector->resize(schedule_.parts.size());
    for (unsigned lane = 0; lane < exec.lanes(); lane++) lanes_.push_back(std::make_unique<lane_state>(program));
  }

  synthesis finish() {
    for (const auto& wave : schedule_.waves) {
      exec_.run(wave.size(), [&](size_t i, unsigned lane) { compute(wave[i], *lanes_[lane]); });
    }
    lanes_.clear();
    byte_vector inputs, zeros;
    for (const auto& input : inputs_) {
      inputs.push(input);
      zeros.push(int8_t{0});
    }
    synthesis made;
    made.witness.parts.push_back(vector_part::of(inputs));
    std::move(aux_.begin(), aux_.end(), std::back_inserter(made.witness.parts));
    made.a.parts = std::move(a_);
    made.b.parts = std::move(b_);
    made.c.parts = std::move(c_);
    made.a.parts.push_back(vector_part::of(inputs));
    made.b.parts.push_back(vector_part::of(zeros));
    made.c.parts.push_back(vector_part::of(zeros));
    if (keep_c_ == keep_c::no) made.c.parts.clear();
    if (first_failed_ != ~uint32_t{0}) made.failed = describe(program_, first_failed_);
    return made;
  }

 private:
  struct lane_state {
    explicit lane_state(const circuit_program& program) : machine(program), walk(program) {}
    leaf_machine machine;
    leaf_walk walk;
    byte_vector aux, a, b, c;
  };

  void compute(uint32_t index, lane_state& lane) {
    for (auto* vector : {&lane.aux, &lane.a, &lane.b, &lane.c}) vector->clear();
    const instance& part = schedule_.parts[index];
    lane.walk.visit(part, [&](const instance& leaf) { compute_leaf(part, leaf, lane); });
    aux_[index] = vector_part::of(lane.aux);
    a_[index] = vector_part::of(lane.a);
    b_[index] = vector_part::of(lane.b);
    if (keep_c_ == keep_c::yes) c_[index] = vector_part::of(lane.c);
  }

  void compute_leaf(const instance& part, const instance& leaf, lane_state& lane) {
    leaf_machine& machine = lane.machine;
    machine.begin(*leaf.of);
    for (uint32_t i = 0; i < leaf.bound.size(); i++) bind(machine, i + 1, leaf.bound[i], part, lane.aux);
    machine.compute(hints_.data() + leaf.base.hints);
    const auto& counts = leaf.of->counts;
    for (uint32_t i = 0; i < counts.publics; i++) {
      const uint32_t wire = machine.first_public() + i;
      const int8_t byte = machine.byte_at(wire);
      inputs_[leaf.base.publics + i] = byte == no_byte ? machine.value_at(wire) : canonical_of(byte);
    }
    for (uint32_t wire = machine.first_aux(), end = wire + counts.aux; wire < end; wire++) {
      const int8_t byte = machine.byte_at(wire);
      if (byte == no_byte) {
        lane.aux.push(machine.value_at(wire));
      } else {
        lane.aux.push(byte);
      }
    }
    const uint32_t failed =
        machine.evaluate({&lane.a, &lane.b, keep_c_ == keep_c::yes ? &lane.c : nullptr});
    if (failed < counts.rows) note_failed(leaf.base.rows + failed);
  }

  // The value of a variable that was made before: in this part, or in a part of an earlier wave.
  void bind(leaf_machine& machine, uint32_t wire, uint32_t code, const instance& part,
            const byte_vector& own) const {
    if ((code & aux_code) == 0) return machine.set(wire, inputs_[code]);
    const uint32_t aux = code & ~aux_code;
    if (aux >= part.base.aux) {
      const uint32_t at = aux - part.base.aux;
      if (own.bytes[at] != no_byte) return machine.set(wire, own.bytes[at]);
      return machine.set(wire, own.value_at(at));
    }
    const uint32_t from = schedule_.part_of_aux(aux);
    machine.set(wire, aux_[from].at(aux - schedule_.parts[from].base.aux));
  }

  void note_failed(uint32_t row) {
    uint32_t known = first_failed_.load();
    while (row < known && !first_failed_.compare_exchange_weak(known, row)) {
    }
  }

  const circuit_program& program_;
  const schedule schedule_;
  const std::vector<words<4>> hints_;
  const keep_c keep_c_;
  const executor& exec_;
  std::vector<words<4>> inputs_;
  // Of each part of the schedule.
  std::vector<vector_part> aux_, a_, b_, c_;
  std::vector<std::unique_ptr<lane_state>> lanes_;
  std::atomic<uint32_t> first_failed_ = ~uint32_t{0};
};

// Bits of a bitmap that several threads set.
class shared_bitmap {
 public:
  explicit shared_bitmap(size_t bits) : words_((bits + 63) / 64), bits_(bits) {}

  void set(size_t bit) { add(bit / 64, uint64_t{1} << bit % 64); }

  // From bit `at` on, `n` bits of `from`.
  void set(size_t at, const std::vector<uint64_t>& from) {
    const unsigned shift = at % 64;
    for (size_t i = 0; i < from.size(); i++) {
      add(at / 64 + i, from[i] << shift);
      if (shift != 0 && from[i] >> (64 - shift) != 0) add(at / 64 + i + 1, from[i] >> (64 - shift));
    }
  }

  std::vector<uint8_t> bytes() const {
    std::vector<uint8_t> made((bits_ + 7) / 8);
    if (!made.empty()) std::memcpy(made.data(), words_.data(), made.size());
    return made;
  }

 private:
  void add(size_t word, uint64_t bits) {
    const std::atomic_ref<uint64_t> at(words_[word]);
    if ((bits & ~at.load(std::memory_order_relaxed)) != 0) at.fetch_or(bits, std::memory_order_relaxed);
  }

  std::vector<uint64_t> words_;
  size_t bits_;
};

// The wires of one matrix of a leaf: those from outside and public ones by number, its own aux as bits.
struct leaf_density {
  std::vector<uint32_t> others;
  std::vector<uint64_t> aux;

  leaf_density() = default;
  leaf_density(const template_counts& counts, const leaf_template& leaf, size_t matrix)
      : aux((counts.aux + 63) / 64) {
    const uint32_t first_aux = 1 + counts.bound + counts.publics;
    std::vector<bool> seen(first_aux);
    for (size_t row = matrix; row < leaf.rows.size(); row += 3) {
      for (const uint32_t term : leaf.terms_of(leaf.rows[row])) {
        const uint32_t wire = term & term_index_max;
        if (wire >= first_aux) {
          aux[(wire - first_aux) / 64] |= uint64_t{1} << (wire - first_aux) % 64;
        } else if (!seen[wire]) {
          seen[wire] = true;
          others.push_back(wire);
        }
      }
    }
  }
};

}  // namespace

std::string failed_constraint::name() const {
  std::string text = "constraint " + std::to_string(index);
  for (size_t i = 0; i < path.size(); i++) text += (i == 0 ? " (" : ", ") + path[i];
  return path.empty() ? text : text + ")";
}

synthesis synthesize(const circuit_program& program, std::span<const uint8_t> private_inputs,
                     keep_c keep, const executor& exec) {
  auto hints = read_private_inputs(private_inputs, program.root().counts.hints, exec);
  return run(program, std::move(hints), keep, exec).finish();
}

densities densities_of(const circuit_program& program, const executor& exec) {
  const schedule all(program);
  const auto& templates = program.templates();
  std::vector<leaf_density> leaves(2 * templates.size());
  exec.run(leaves.size(), [&](size_t i, unsigned) {
    const program_template& of = templates[i / 2];
    const auto* const leaf = std::get_if<leaf_template>(&of.body);
    if (leaf != nullptr) leaves[i] = leaf_density(of.counts, *leaf, i % 2);
  });
  shared_bitmap inputs[2] = {shared_bitmap(program.inputs()), shared_bitmap(program.inputs())};
  shared_bitmap aux[2] = {shared_bitmap(program.aux()), shared_bitmap(program.aux())};
  exec.run(all.parts.size(), [&](size_t part, unsigned) {
    leaf_walk(program).visit(all.parts[part], [&](const instance& leaf) {
      const size_t at = size_t(leaf.of - templates.data());
      for (size_t matrix = 0; matrix < 2; matrix++) {
        const leaf_density& density = leaves[2 * at + matrix];
        aux[matrix].set(leaf.base.aux, density.aux);
        for (const uint32_t wire : density.others) {
          const uint32_t code = leaf.code(wire);
          if ((code & aux_code) != 0) {
            aux[matrix].set(code & ~aux_code);
          } else {
            inputs[matrix].set(code);
          }
        }
      }
    });
  });
  return {inputs[0].bytes(), aux[0].bytes(), inputs[1].bytes(), aux[1].bytes()};
}

}  // namespace proofline
