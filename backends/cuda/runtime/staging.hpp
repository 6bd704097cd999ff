#pragma once

#include <algorithm>
#include <mutex>
#include <span>
#include <variant>
#include <vector>

#include "prover/file.hpp"
#include "runtime/pinned.hpp"
#include "runtime/stream.hpp"

namespace proofline::cuda {

// Bytes in pageable memory or in a file.
using host_bytes = std::variant<std::span<const uint8_t>, file_slice>;

inline size_t length_of(const host_bytes& from) {
  const auto* const memory = std::get_if<std::span<const uint8_t>>(&from);
  return memory != nullptr ? memory->size() : size_t(std::get<file_slice>(from).length);
}

// A ring of page-locked pieces through which pageable bytes reach the device: all threads fill a piece while the
// copy engine empties the ones before it.
class staging_ring {
 public:
  static constexpr size_t pieces = 4, piece_bytes = size_t{8} << 20, bytes = pieces * piece_bytes;

  explicit staging_ring(const executor& exec) : memory_(bytes, exec), emptied_(pieces) {}

  // Enqueues the copy of `from`, `skip` bytes left out, to d_to on `stream`; returns when the last piece is
  // filled, so that `from` may go. Calls take turns. @throws file_error, cancelled_error
  void upload(const host_bytes& from, size_t skip, void* d_to, size_t length, cudaStream_t stream,
              const executor& exec) {
    std::lock_guard lock(mutex_);
    const auto* const memory = std::get_if<std::span<const uint8_t>>(&from);
    const auto* const slice = std::get_if<file_slice>(&from);
    const std::optional<open_file> file = slice != nullptr && length != 0
                                              ? std::optional<open_file>(std::in_place, *slice)
                                              : std::nullopt;
    for (size_t done = 0; done < length; done += piece_bytes) {
      const size_t part = std::min(piece_bytes, length - done), piece = next_++ % pieces;
      uint8_t* const to = memory_.data() + piece * piece_bytes;
      if (next_ > pieces) emptied_[piece].wait();
      exec.run_ranges(part, size_t{1} << 19, [&](size_t begin, size_t end, unsigned) {
        if (memory != nullptr) {
          std::memcpy(to + begin, memory->data() + skip + done + begin, end - begin);
        } else {
          read_slice(*file, *slice, skip + done + begin, to + begin, end - begin);
        }
      });
      CUDA_OK(cudaMemcpyAsync(static_cast<uint8_t*>(d_to) + done, to, part, cudaMemcpyHostToDevice, stream));
      emptied_[piece].record(stream);
    }
  }

 private:
  std::mutex mutex_;
  pinned_block memory_;
  std::vector<event> emptied_;
  size_t next_ = 0;
};

}  // namespace proofline::cuda
