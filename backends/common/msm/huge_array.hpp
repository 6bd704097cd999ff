#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#ifdef __linux__
#include <sys/mman.h>
#endif

namespace proofline {

// n uninitialised elements, in huge pages where there are enough of them and the system has some to
// give: memory that is used at random misses the TLB with small ones (measured on 100 MB: 12 ns a
// cache line, 5 with huge pages), and each small page costs a fault.
template <class T>
class huge_array {
 public:
  huge_array() = default;
  explicit huge_array(size_t n) {
    if (n == 0) return;
    constexpr size_t huge_page = size_t{2} << 20, line = 64;
    const size_t unit = n * sizeof(T) >= huge_page ? huge_page : line;
    const size_t bytes = (n * sizeof(T) + unit - 1) / unit * unit;
    memory_.reset(static_cast<T*>(std::aligned_alloc(unit, bytes)));
    if (!memory_) throw std::bad_alloc();
#ifdef __linux__
    if (unit == huge_page) madvise(memory_.get(), bytes, MADV_HUGEPAGE);
#endif
  }

  T* data() const { return memory_.get(); }
  T& operator[](size_t i) const { return memory_.get()[i]; }

 private:
  struct release {
    void operator()(T* p) const { std::free(p); }
  };
  std::unique_ptr<T, release> memory_;
};

}  // namespace proofline
