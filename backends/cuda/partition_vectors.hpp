#pragma once

#include "expand/compact.hpp"
#include "prover/partition.cuh"
#include "program/synthesis.hpp"
#include "runtime/staging.hpp"

namespace proofline::cuda {

// Values on their way to the device: their bytes, and what they mean there.
struct value_vector {
  host_bytes bytes;
  compact_vector head;  // sections where `bytes` has them
  bool compact = false;

  // Full-size values. @throws format_error for another number of bytes
  static value_vector full(const char* name, const scalar_vector& from) {
    value_vector vector;
    if (const auto* memory = std::get_if<std::span<const uint8_t>>(&from.content)) vector.bytes = *memory;
    if (const auto* slice = std::get_if<file_slice>(&from.content)) vector.bytes = *slice;
    vector.head = head_of_full(from.n);
    if (length_of(vector.bytes) != vector.length())
      throw format_error(name, std::to_string(vector.length()) + " bytes", "another length");
    return vector;
  }
  static value_vector of(const proofline::compact_vector& from, const char* name) {
    value_vector vector;
    const std::span<const uint8_t> all(from.bytes.get(), from.size());
    vector.bytes = all, vector.head = compact_vector::parse(all, name), vector.compact = true;
    return vector;
  }
  // n values that the device computes itself.
  static value_vector to_come(size_t n) {
    value_vector vector;
    vector.head = head_of_full(n);
    return vector;
  }

  size_t length() const { return compact ? length_of(bytes) : head.n * sizeof(words<4>); }
  compact_vector on_device(const uint8_t* d_bytes) const {
    if (compact) return head.moved(std::get<std::span<const uint8_t>>(bytes).data(), d_bytes);
    compact_vector vector = head;
    vector.values = d_bytes;
    return vector;
  }

 private:
  static compact_vector head_of_full(size_t n) {
    compact_vector head;
    head.kind = compact_kind::full, head.n = n;
    return head;
  }
};

// A partition's values, checked against the key's shape; those of a program are computed first.
struct partition_vectors {
  value_vector witness, a, b;
  // Whether a and b come from the host.
  bool rows_given = true;
  std::span<const uint8_t> a_aux_density, b_input_density, b_aux_density;

  // `input` must outlive it. @throws format_error, witness_error, cancelled_error
  partition_vectors(const partition_input& input, const partition_shape& shape, bool key_has_rows,
                    const call_context& context) {
    if (input.program) {
      context.timed("SYNTH", [&] { synthesize(*input.program, shape, context.exec); });
    } else {
      witness = value_vector::full("witness", input.witness);
      expect_wires(input.witness.n, shape);
      if (input.evaluated) {
        take(*input.evaluated);
      } else if (key_has_rows && shape.every_wire) {
        rows_given = false;
        a = b = value_vector::to_come(shape.rows());
      } else {
        throw format_error("partition", "row values and densities (the key has no rows)", "a witness");
      }
    }
    if (a.head.n != b.head.n || a.head.n > shape.rows())
      throw format_error("row values", "up to " + std::to_string(shape.rows()) + " of a and b",
                         std::to_string(a.head.n));
    if (shape.every_wire) return;
    expect_bits(a_aux_density, shape.aux);
    expect_bits(b_input_density, shape.inputs);
    expect_bits(b_aux_density, shape.aux);
  }

 private:
  void take(const evaluations& e) {
    a = value_vector::full("a", e.a), b = value_vector::full("b", e.b);
    a_aux_density = e.a_aux_density, b_input_density = e.b_input_density, b_aux_density = e.b_aux_density;
  }

  void synthesize(const program_input& input, const partition_shape& shape, const executor& exec) {
    const circuit_program program(input.program);
    if (program.inputs() != shape.inputs || program.aux() != shape.aux || program.rows() > shape.rows())
      throw format_error("program", "the circuit of the key", "another");
    synthesis result = proofline::synthesize(program, input.private_inputs, keep_c::no, exec);
    if (result.failed) throw unsatisfied_error(result.failed->name() + " does not hold");
    made_[0] = std::move(result.witness).compact(exec);
    made_[1] = std::move(result.a).compact(exec);
    made_[2] = std::move(result.b).compact(exec);
    witness = value_vector::of(made_[0], "witness");
    if (witness.head.kind == compact_kind::small) expand_witness(exec);
    a = value_vector::of(made_[1], "a"), b = value_vector::of(made_[2], "b");
    found_ = densities_of(program, exec);
    a_aux_density = found_.a_aux, b_input_density = found_.b_inputs, b_aux_density = found_.b_aux;
  }

  // The kernels sort a witness of bits or of full-size values.
  void expand_witness(const executor& exec) {
    const compact_vector from = witness.head;
    expanded_ = std::make_unique_for_overwrite<words<4>[]>(from.n);
    exec.run_ranges(from.n, 65536, [&](size_t begin, size_t end, unsigned) {
      for (size_t i = begin; i < end; i++) expanded_[i] = canonical_of(int8_t(from.values[i]));
    });
    for (size_t k = 0; k < from.exceptions; k++)
      std::memcpy(&expanded_[from.indices[k]], from.exception_values + 32 * k, sizeof(words<4>));
    const std::span<const words<4>> all(expanded_.get(), from.n);
    witness = value_vector::to_come(from.n);
    witness.bytes = std::span(reinterpret_cast<const uint8_t*>(all.data()), all.size_bytes());
  }

  static void expect_wires(size_t n, const partition_shape& shape) {
    if (n == shape.wires()) return;
    throw format_error("witness", std::to_string(shape.wires()) + " values", std::to_string(n));
  }
  static void expect_bits(std::span<const uint8_t> density, size_t bits) {
    if (density.size() >= (bits + 7) / 8) return;
    throw format_error("density", std::to_string((bits + 7) / 8) + " bytes", std::to_string(density.size()));
  }

  std::array<proofline::compact_vector, 3> made_;
  std::unique_ptr<words<4>[]> expanded_;
  densities found_;
};

}  // namespace proofline::cuda
