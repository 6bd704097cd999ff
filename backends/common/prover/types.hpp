#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "core/thread_pool.hpp"
#include "field/params.hpp"

// What crosses the boundary between TypeScript and a native prover: src/groth16/types.ts and
// src/backend/backend.ts, in C++.
namespace proofline {

using bytes = std::vector<uint8_t>;

enum class curve_id { bn254, bls12_381 };
enum class point_form { montgomery_le, canonical_be };
enum class h_basis { monomial, odd_lagrange };

struct file_slice {
  std::string path;
  uint64_t offset = 0, length = 0;

  std::string name() const { return path.substr(path.find_last_of('/') + 1); }
};

// `count` records without gaps: points of a query, or coefficients of 44 bytes.
struct record_slice {
  file_slice slice;
  size_t count = 0;
};

struct key_source {
  curve_id curve{};
  point_form points{};
  // One point of a and b for each wire (zkey); else for the wires that occur.
  bool every_wire = false;
  size_t input_count = 0, aux_count = 0;
  int log_n = 0;
  h_basis basis{};
  record_slice h, l, a, b_g1, b_g2;
  std::optional<record_slice> rows;
  // Canonical big-endian.
  bytes alpha_g1, beta_g1, delta_g1, beta_g2, delta_g2;

  size_t wires() const { return input_count + aux_count; }
};

// n scalars of 32 bytes, canonical little-endian, in memory that stays as it is during the call or in a file.
struct scalar_vector {
  size_t n = 0;
  std::variant<std::span<const uint8_t>, file_slice> content;
};

struct evaluations {
  scalar_vector a, b;
  // Bit i & 7 of byte i >> 3.
  bytes a_aux_density, b_input_density, b_aux_density;
};

// A circuit (docs/program-format.md) and its private inputs, in memory that stays as it is during the call.
struct program_input {
  std::span<const uint8_t> program, private_inputs;
};

// A program, or else a witness.
struct partition_input {
  std::optional<program_input> program;
  scalar_vector witness;
  std::optional<evaluations> evaluated;
};

struct blinding_pair {
  words<4> r, s;
};

// Canonical big-endian; all zero is infinity.
struct proof_points {
  bytes a, b, c;
};

// What a call runs on, obeys and reports to. The two functions are called on the call's own thread.
struct call_context {
  executor exec;
  // Name, start and end of a stage, in microseconds since the call began.
  std::function<void(const char* stage, int64_t start, int64_t end)> on_stage;
  std::function<void(double share)> on_progress;
  std::function<int64_t()> micros;

  // Reports the stage also when it fails.
  template <class Fn>
  auto timed(const char* stage, Fn&& fn) const {
    struct report {
      const call_context& context;
      const char* stage;
      int64_t start;
      ~report() { context.on_stage(stage, start, context.micros()); }
    } const at_end{*this, stage, micros()};
    exec.check_cancelled();
    return fn();
  }
};

// Opaque between the calls of one key.
struct staged_partition {
  virtual ~staged_partition() = default;
};
struct computed_partition {
  virtual ~computed_partition() = default;
};

// src/backend/backend.ts's LoadedKey. Calls may run at the same time on different threads.
class loaded_key {
 public:
  virtual ~loaded_key() = default;
  virtual std::unique_ptr<staged_partition> stage(const partition_input& input,
                                                  const call_context& context) const = 0;
  virtual std::unique_ptr<computed_partition> compute(std::unique_ptr<staged_partition> staged,
                                                      const blinding_pair& blinding,
                                                      const call_context& context) const = 0;
  virtual proof_points finish(std::unique_ptr<computed_partition> computed,
                              const call_context& context) const = 0;

 protected:
  // What an earlier call of this key made; its `key` says of which.
  template <class T, class Opaque>
  T& own(Opaque& opaque) const {
    T* const made = dynamic_cast<T*>(&opaque);
    require(made != nullptr && made->key == this, "a partition of this key");
    return *made;
  }
};

// @throws format_error for a query of another length
inline void expect_points(const char* query, size_t actual, size_t expected) {
  if (actual == expected) return;
  throw format_error(query, std::to_string(expected) + " points", std::to_string(actual));
}

}  // namespace proofline
