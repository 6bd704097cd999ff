#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "core/cpu.hpp"
#include "curve/groups.hpp"
#include "msm/addition.hpp"
#if defined(PROOFLINE_IFMA)
#include "msm/batch_add_ifma.hpp"
#endif

// Many independent additions of affine points with one inversion: the denominators of the slopes are inverted
// together (Montgomery's trick), which leaves 5M + 1S an addition where madd-2008-s takes 8M + 2S.
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

// Elements of memory as they are: an unaligned load.
template <class T>
T load(const void* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

template <class G>
typename G::affine load_point(point_ref ref) {
  const auto p = load<typename G::affine>(address_of(ref));
  return ref & 1 ? -p : p;
}

// The inversions of a batch are done in the base field: 1/d = conjugate(d)/norm(d).
template <class P>
mont_t<P> norm(const mont_t<P>& d) {
  return d;
}
template <class F>
F norm(const fp2_t<F>& d) {
  return d.c0.sqr() + d.c1.sqr();
}
template <class P>
mont_t<P> inverse_of_norm(const mont_t<P>&, const mont_t<P>& norm_inverse) {
  return norm_inverse;
}
template <class F>
fp2_t<F> inverse_of_norm(const fp2_t<F>& d, const F& norm_inverse) {
  return {d.c0 * norm_inverse, -(d.c1 * norm_inverse)};
}

// The portable path, and the reference of the others.
template <class G>
void batch_add_scalar(const addition* list, size_t n, batch_scratch& scratch,
                      prefetch_stream& ahead) {
  using field = typename G::field;
  using base = decltype(norm(field{}));
  enum kind : uint8_t { distinct, equal, done };
  struct pending {
    field denominator;
    base norm_of, product_before;
    kind what;
  };
  constexpr size_t batch = 1024;
  pending* const state = scratch.get<pending>(n < batch ? n : batch);

  for (size_t start = 0; start < n; start += batch) {
    const size_t count = n - start < batch ? n - start : batch;
    const addition* const part = list + start;
    base product = base::one();
    for (size_t i = 0; i < count; i++) {
      pending& s = state[i];
      const auto a = load<typename G::affine>(address_of(part[i].left));
      const auto b = load<typename G::affine>(address_of(part[i].right));
      s.what = distinct;
      s.denominator = b.x - a.x;
      if (a.is_infinity() || b.is_infinity() || s.denominator.is_zero()) {
        const auto p = load_point<G>(part[i].left), q = load_point<G>(part[i].right);
        if (!p.is_infinity() && p == q && !p.y.is_zero()) {
          s.what = equal;
          s.denominator = p.y.dbl();
        } else {
          s.what = done;
          const auto sum = p.is_infinity() ? q : q.is_infinity() ? p : G::affine::infinity();
          std::memcpy(part[i].out, &sum, sizeof sum);
          continue;
        }
      }
      s.norm_of = norm(s.denominator);
      s.product_before = product;
      product *= s.norm_of;
    }
    product = product.inverse();
    for (size_t i = count; i-- > 0;) {
      ahead.step<sizeof(typename G::affine)>(2);
      const pending& s = state[i];
      if (s.what == done) continue;
      const field inverse = inverse_of_norm(s.denominator, product * s.product_before);
      product *= s.norm_of;
      const auto p = load_point<G>(part[i].left), q = load_point<G>(part[i].right);
      const field numerator = s.what == distinct ? q.y - p.y : p.x.sqr() + p.x.sqr().dbl();
      const field slope = numerator * inverse;
      typename G::affine sum;
      sum.x = slope.sqr() - p.x - q.x;
      sum.y = slope * (p.x - sum.x) - p.y;
      std::memcpy(part[i].out, &sum, sizeof sum);
    }
  }
}

template <class P>
mont_t<P> reduced_once(const mont_t<P>& a) {
  return {subtract_p_once<P>(a.limb)};
}
template <class F>
fp2_t<F> reduced_once(const fp2_t<F>& a) {
  return {reduced_once(a.c0), reduced_once(a.c1)};
}

// Runs the additions on the best path. Sums are to be read by another batch or by `canonical_point`: the IFMA
// path leaves coordinates below p + p/1024.
template <class G>
void batch_add(const addition* list, size_t n, batch_scratch& scratch, prefetch_stream& ahead) {
  if (n == 0) return;
#if defined(PROOFLINE_IFMA)
  if (has(isa::ifma)) {
    using base = decltype(norm(typename G::field{}));
    void* const memory = scratch.get<uint8_t>(ifma_scratch_bytes<G>(n));
    batch_add_ifma<G>(list, n, memory, [](uint64_t* words) {
      const base a = reduced_once(load<base>(words));
      const auto inverse = safegcd_inverse<typename base::params>(a.limb);
      std::memcpy(words, &inverse, sizeof inverse);
    }, ahead);
    return;
  }
#endif
  batch_add_scalar<G>(list, n, scratch, ahead);
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
