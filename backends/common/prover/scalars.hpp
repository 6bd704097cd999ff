#pragma once

#include <algorithm>
#include <memory>

#include "core/first_failure.hpp"
#include "field/mont.hpp"
#include "prover/file.hpp"

namespace proofline {

using scalar_array = std::unique_ptr<words<4>[]>;

// The scalars of a vector, followed by zeros up to `size`. `subject` is what messages call it.
// @throws format_error for one that is not below r, file_error
template <class P>
scalar_array read_scalars(const std::string& subject, const scalar_vector& vector, size_t size,
                          const executor& exec) {
  require(vector.n <= size, "room for the scalars");
  auto scalars = std::make_unique_for_overwrite<words<4>[]>(size);
  const size_t length = vector.n * sizeof(words<4>);
  const auto* const memory = std::get_if<std::span<const uint8_t>>(&vector.content);
  const auto* const slice = std::get_if<file_slice>(&vector.content);
  if ((memory != nullptr ? memory->size() : slice->length) != length) {
    throw format_error(subject, std::to_string(length) + " bytes", "another length");
  }
  const std::optional<open_file> file = slice != nullptr ? std::make_optional<open_file>(*slice)
                                                         : std::optional<open_file>();
  first_failure failure;
  exec.run_ranges(size, 16384, [&](size_t begin, size_t end, unsigned) {
    const size_t known = std::clamp(vector.n, begin, end);
    const size_t skip = begin * sizeof(words<4>), part = (known - begin) * sizeof(words<4>);
    if (memory != nullptr) {
      if (part != 0) std::memcpy(&scalars[begin], memory->data() + skip, part);
    } else {
      read_slice(*file, *slice, skip, &scalars[begin], part);
    }
    failure.guard(begin, [&] {
      for (size_t i = begin; i < known; i++) {
        if (scalars[i] < P::modulus()) continue;
        throw format_error(subject + "[" + std::to_string(i) + "]", "a value below r", "a larger one");
      }
    });
    for (size_t i = known; i < end; i++) scalars[i] = words<4>{};
  });
  failure.rethrow();
  return scalars;
}

}  // namespace proofline
