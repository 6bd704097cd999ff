#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "prover/types.hpp"

namespace proofline {

class open_file {
 public:
  // @throws file_error; format_error if the slice does not lie inside the file
  explicit open_file(const file_slice& slice) : fd_(::open(slice.path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (fd_ < 0) throw file_error(slice.name(), std::strerror(errno));
    struct stat status {};
    const bool is_file = ::fstat(fd_, &status) == 0 && S_ISREG(status.st_mode);
    const uint64_t size = is_file ? uint64_t(status.st_size) : 0;
    if (slice.offset <= size && slice.length <= size - slice.offset) return;
    ::close(fd_);
    throw format_error(slice.name(),
                       std::to_string(slice.length) + " bytes at offset " + std::to_string(slice.offset),
                       "a file of " + std::to_string(size) + " bytes");
  }
  ~open_file() { ::close(fd_); }
  open_file(const open_file&) = delete;
  open_file& operator=(const open_file&) = delete;

  int descriptor() const { return fd_; }

 private:
  int fd_;
};

// `length` bytes of the slice, from `skip` on. @throws as open_file
inline void read_slice(const open_file& file, const file_slice& slice, uint64_t skip, void* to,
                       size_t length) {
  for (size_t done = 0; done < length;) {
    const ssize_t got = ::pread(file.descriptor(), static_cast<uint8_t*>(to) + done, length - done,
                                off_t(slice.offset + skip + done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) throw file_error(slice.name(), got < 0 ? std::strerror(errno) : "became shorter");
    done += size_t(got);
  }
}

// A slice of a file as read-only memory: its pages stay the file's. A file that somebody shortens while it is
// mapped ends the process (SIGBUS), which is why a device host is a process of its own.
class mapped_slice {
 public:
  mapped_slice() = default;
  // @throws as open_file
  explicit mapped_slice(const file_slice& slice) {
    if (slice.length == 0) return;
    const open_file file(slice);
    const uint64_t page = uint64_t(::sysconf(_SC_PAGESIZE)), skip = slice.offset % page;
    length_ = slice.length + skip;
    void* const at = ::mmap(nullptr, length_, PROT_READ, MAP_SHARED, file.descriptor(),
                            off_t(slice.offset - skip));
    if (at == MAP_FAILED) throw file_error(slice.name(), std::strerror(errno));
    start_ = static_cast<uint8_t*>(at);
    data_ = start_ + skip;
  }
  ~mapped_slice() {
    if (start_ != nullptr) ::munmap(start_, length_);
  }
  mapped_slice(mapped_slice&& other) noexcept
      : start_(std::exchange(other.start_, nullptr)),
        data_(std::exchange(other.data_, nullptr)),
        length_(std::exchange(other.length_, 0)) {}
  mapped_slice& operator=(mapped_slice&& other) noexcept {
    std::swap(start_, other.start_);
    std::swap(data_, other.data_);
    std::swap(length_, other.length_);
    return *this;
  }

  const uint8_t* data() const { return data_; }

 private:
  uint8_t* start_ = nullptr;
  const uint8_t* data_ = nullptr;
  size_t length_ = 0;
};

}  // namespace proofline
