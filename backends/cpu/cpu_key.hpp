#pragma once

#include <memory>

#include "core/thread_pool.hpp"
#include "prover/types.hpp"

namespace proofline {

// Maps or decodes the key's queries and builds what proving needs beside them. `check` looks at each point's
// curve and group.
// @throws format_error, file_error, cancelled_error
std::unique_ptr<loaded_key> load_cpu_key(const key_source& source, bool check,
                                         const call_context& context);

}  // namespace proofline
