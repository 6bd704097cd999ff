#pragma once

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace proofline {

// Each status but `ok` is one code of src/core/errors.ts; `code_of` is the only map.
enum class prover_status {
  ok,
  cancelled,
  bad_format,
  bad_file,
  unsatisfied,
  out_of_memory,
  unavailable,
  device_lost,
  internal
};

inline const char* code_of(prover_status status) {
  switch (status) {
    case prover_status::cancelled: return "ERR_CANCELLED";
    case prover_status::bad_format: return "ERR_FORMAT";
    case prover_status::bad_file: return "ERR_FILE";
    case prover_status::unsatisfied: return "ERR_WITNESS_UNSATISFIED";
    case prover_status::out_of_memory: return "ERR_DEVICE_OUT_OF_MEMORY";
    case prover_status::unavailable: return "ERR_BACKEND_UNAVAILABLE";
    case prover_status::device_lost: return "ERR_HOST_CRASHED";
    case prover_status::ok:
    case prover_status::internal: break;
  }
  return "ERR_INTERNAL";
}

// The fields that the error's text in src/core/errors.ts names. Never a witness value, scalar or blinding.
using error_data = std::vector<std::pair<std::string, std::string>>;

struct prover_error : std::runtime_error {
  prover_status status;
  error_data data;

  prover_error(prover_status status, error_data data)
      : std::runtime_error(code_of(status)), status(status), data(std::move(data)) {}
};

inline prover_error cancelled_error() { return {prover_status::cancelled, {{"jobId", "prove"}}}; }

inline prover_error format_error(std::string subject, std::string expected, std::string actual) {
  return {prover_status::bad_format,
          {{"subject", std::move(subject)},
           {"expected", std::move(expected)},
           {"actual", std::move(actual)}}};
}

// `path` is a file's base name, never its folder.
inline prover_error file_error(std::string path, std::string reason) {
  return {prover_status::bad_file, {{"path", std::move(path)}, {"reason", std::move(reason)}}};
}

// `detail` names the constraint that does not hold.
inline prover_error unsatisfied_error(std::string detail) {
  return {prover_status::unsatisfied, {{"detail", std::move(detail)}}};
}

inline prover_error internal_error(std::string reason) {
  return {prover_status::internal, {{"reason", std::move(reason)}}};
}

// A bug of ours, also in release builds: it ends the task that met it, never the process.
inline void require(bool condition, const char* what) {
  if (!condition) throw internal_error(what);
}

}  // namespace proofline
