#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <vector>

#include "core/cpu.hpp"
#include "curve/groups.hpp"
#include "msm/addition.hpp"
#if defined(PROOFLINE_IFMA)
#include "msm/batch_add_ifma.hpp"
#endif

// Many independent additions of affine points with one inversion: the denominators of the slopes
// are inverted together (Montgomery's trick), which leaves 5M + 1S an addition where madd-2008-s
// takes 8M + 2S.
namespace proofline {

inline const uint8_t* address_of(point_ref ref) {
  return reinterpret_cast<const uint8_t*>(ref & ~point_ref{1});
}

// One worker's memory, grown to what its largest batch needed.
class batch_scratch {
 public:
  template <class T>
  T* get(size_t n) {
    const size_t bytes = n * sizeof(T) + 64;
    if (bytes_.size() < bytes) bytes_.resize(bytes);
    return reinterpret_cast<T*>((reinterpret_cast<uintptr_t>(bytes_.data()) + 63) & ~uintptr_t{63});
  }

 private:
  std::vector<unsigned char> bytes_;
};

// An element of memory as it is, at any alignment.
template <class T>
T load(const void* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

// Word by word: a copy in wider pieces of words just written would wait until they have left the
// store buffer.
template <class T>
void store(void* to, const T& value) {
#if defined(__x86_64__) && defined(__GNUC__)
  const uint64_t* const words = reinterpret_cast<const uint64_t*>(&value);
  for (size_t i = 0; i < sizeof value / 8; i++) {
    uint8_t(&at)[8] = *reinterpret_cast<uint8_t(*)[8]>(static_cast<uint8_t*>(to) + 8 * i);
    asm("movq %1, %0" : "=m"(at) : "r"(words[i]));
  }
#else
  std::memcpy(to, &value, sizeof value);
#endif
}

template <class G>
typename G::affine load_point(point_ref ref) {
  const auto p = load<typename G::affine>(address_of(ref));
  return ref & 1 ? -p : p;
}

// A batch inverts in the base field: 1/d = conjugate(d)/norm(d). In F_p the norm is d itself.
template <class F>
struct batch_field {
  using base = F;
  struct denominator {
    F value;
    const F& norm() const { return value; }
    explicit denominator(const F& value) : value(value) {}
    F inverse(const F& a, const F& b) const { return a * b; }  // for a·b = 1/norm
  };
};
template <class F>
struct batch_field<fp2_t<F>> {
  using base = F;
  struct denominator {
    fp2_t<F> value;
    F norm_of;
    const F& norm() const { return norm_of; }
    explicit denominator(const fp2_t<F>& value)
        : value(value), norm_of(value.norm()) {}
    fp2_t<F> inverse(const F& a, const F& b) const {
      const F norm_inverse = a * b;
      return {value.c0 * norm_inverse, -(value.c1 * norm_inverse)};
    }
  };
};

// The portable path, and the reference of the others.
template <class G>
class scalar_batch {
 public:
  static constexpr size_t size_max = 1024;

  static void run(const addition* list, size_t n, batch_scratch& scratch) {
    for (size_t start = 0; start < n; start += size_max) {
      const size_t count = n - start < size_max ? n - start : size_max;
      pending* const state = scratch.get<pending>(count);
      base product = base::one();
      for (size_t i = 0; i < count; i++) {
        if (i + fetch_ahead < count) prefetch(list[start + i + fetch_ahead]);
        open(list[start + i], state[i], product);
      }
      product = product.inverse();
      for (size_t i = count; i-- > 0;) {
        if (i >= fetch_ahead) prefetch(list[start + i - fetch_ahead]);
        if (state[i].what != done) close(list[start + i], state[i], product);
      }
    }
  }

 private:
  using affine = typename G::affine;
  using field = typename G::field;
  using base = typename batch_field<field>::base;
  using denominator_t = typename batch_field<field>::denominator;
  enum kind : uint8_t { distinct, equal, done };
  struct pending {
    denominator_t denominator;
    base product_before;
    kind what;
  };

  // Additions between asking the cache for operands and using them.
  static constexpr size_t fetch_ahead = 8;

  static void prefetch(const addition& a) {
    prefetch_bytes<sizeof(affine)>(a.left);
    prefetch_bytes<sizeof(affine)>(a.right);
  }

  static void open(const addition& a, pending& s, base& product) {
    const field left = load<field>(address_of(a.left)), right = load<field>(address_of(a.right));
    new (&s.denominator) denominator_t(right - left);
    s.what = distinct;
    if (left.is_zero() || right.is_zero() || s.denominator.value.is_zero()) [[unlikely]]
      classify(a, s);
    if (s.what == done) return;
    s.product_before = product;
    product *= s.denominator.norm();
  }

  // Doublings, and sums with a point at infinity or that are one.
  static void classify(const addition& a, pending& s) {
    const auto p = load_point<G>(a.left), q = load_point<G>(a.right);
    if (!p.is_infinity() && !q.is_infinity() && !(p.x == q.x)) return;
    if (!p.is_infinity() && p == q && !p.y.is_zero()) {
      s.what = equal;
      new (&s.denominator) denominator_t(p.y.dbl());
    } else {
      s.what = done;
      store(a.out, p.is_infinity() ? q : q.is_infinity() ? p : affine::infinity());
    }
  }

  static void close(const addition& a, const pending& s, base& product) {
    field slope(s.denominator.inverse(product, s.product_before));
    product *= s.denominator.norm();
    const auto p = load_point<G>(a.left), q = load_point<G>(a.right);
    if (s.what == distinct) {
      slope *= q.y - p.y;
    } else {
      const field xx = p.x.sqr();
      slope *= xx.dbl() + xx;
    }
    const field x(slope.sqr() - (p.x + q.x));
    const field y(slope * (p.x - x) - p.y);
    store(a.out, x);
    store(static_cast<uint8_t*>(a.out) + sizeof x, y);
  }
};

template <class P>
mont_t<P> reduced_once(const mont_t<P>& a) {
  return {subtract_p_once<P>(a.limb)};
}
template <class F>
fp2_t<F> reduced_once(const fp2_t<F>& a) {
  return {reduced_once(a.c0), reduced_once(a.c1)};
}

// Runs the additions on the best path. Sums are to be read by another batch or by
// `canonical_point`: the IFMA path leaves coordinates below p + p/1024.
template <class G>
void batch_add(const addition* list, size_t n, batch_scratch& scratch, prefetch_stream& ahead) {
  if (n == 0) return;
#if defined(PROOFLINE_IFMA)
  if (has(isa::ifma)) {
    using base = typename batch_field<typename G::field>::base;
    void* const memory = scratch.get<uint8_t>(ifma_scratch_bytes<G>(n));
    batch_add_ifma<G>(list, n, memory, [](uint64_t* words) {
      const base a = reduced_once(load<base>(words));
      const auto inverse = safegcd_inverse<typename base::params>(a.limb);
      std::memcpy(words, &inverse, sizeof inverse);
    }, ahead);
    return;
  }
#endif
  scalar_batch<G>::run(list, n, scratch);
}

template <class G>
void batch_add(const addition* list, size_t n, batch_scratch& scratch) {
  prefetch_stream nothing;
  batch_add<G>(list, n, scratch, nothing);
}

// A sum that `batch_add` stored, with its coordinates below p.
template <class G>
typename G::affine canonical_point(const void* from) {
  const auto p = load<typename G::affine>(from);
  return {reduced_once(p.x), reduced_once(p.y)};
}

}  // namespace proofline
