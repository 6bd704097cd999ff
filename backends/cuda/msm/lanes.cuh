#pragma once

#include "curve/groups.hpp"
#include "field/element.cuh"

// A coordinate as the lanes of a warp hold it: of G1 one lane has it whole, of G2 lane 2k has c0
// and lane 2k + 1 has c1, so that both groups need the same registers. Operations on pairs exchange
// words by shuffles: the whole warp must take part.
namespace proofline::cuda {

constexpr unsigned whole_warp = 0xffffffffu;

template <class P>
PROOFLINE_DEVICE element<P> shuffled(const element<P>& a, int mask) {
  element<P> r;
#pragma unroll
  for (int i = 0; i < element<P>::N; i++) r.l[i] = __shfl_xor_sync(whole_warp, a.l[i], mask);
  return r;
}

template <class P>
PROOFLINE_DEVICE element<P> selected(bool first, const element<P>& a, const element<P>& b) {
  element<P> r;
#pragma unroll
  for (int i = 0; i < element<P>::N; i++) r.l[i] = first ? a.l[i] : b.l[i];
  return r;
}

template <class F>
struct lanes_of_field;

template <class P>
struct lanes_of_field<mont_t<P>> {
  using params = P;
  using part = element<P>;
  static constexpr int lanes = 1;

  static PROOFLINE_DEVICE part one() { return one_of<P>(); }
  static PROOFLINE_DEVICE part mul(const part& a, const part& b) { return product<P>(a, b); }
  static PROOFLINE_DEVICE part sqr(const part& a) { return square<P>(a); }
  static PROOFLINE_DEVICE bool both(bool own) { return own; }
  // Whether to enter a part of the code with products: by lane here, by warp where lanes work in
  // pairs.
  static PROOFLINE_DEVICE bool any(bool own) { return own; }
  // What has to be inverted in F_p for the inverse of a, and the inverse from it.
  static PROOFLINE_DEVICE part norm(const part& a) { return a; }
  static PROOFLINE_DEVICE part inverse_from(const part&, const part& norm_inverse) {
    return norm_inverse;
  }
};

template <class P>
struct lanes_of_field<fp2_t<mont_t<P>>> {
  using params = P;
  using part = element<P>;
  static constexpr int lanes = 2;

  static PROOFLINE_DEVICE bool second() { return threadIdx.x & 1; }
  static PROOFLINE_DEVICE part one() {
    part r = one_of<P>();
#pragma unroll
    for (int i = 0; i < part::N; i++) r.l[i] = second() ? 0 : r.l[i];
    return r;
  }
  // a·b + c·d as a loose value.
  static PROOFLINE_DEVICE part two_products(const part& a, const part& b, const part& c,
                                            const part& d) {
    const part r = sum_of_two_products<P>(a, b, c, d);
    if constexpr (P::bits > 256) return r;
    return reduced<P>(r);
  }
  // Lane 0: a0·b0 − a1·b1. Lane 1: a1·b0 + a0·b1. The lane's own a meets b0, the other's meets b1.
  static PROOFLINE_DEVICE part mul(const part& a, const part& b) {
    const part other_a = shuffled<P>(a, 1), other_b = shuffled<P>(b, 1);
    const part b0 = selected<P>(second(), other_b, b), b1 = selected<P>(second(), b, other_b);
    return two_products(a, b0, selected<P>(second(), other_a, loose_negated<P>(other_a)), b1);
  }
  // Lane 0: (a0 + a1)(a0 − a1). Lane 1: 2a0·a1.
  static PROOFLINE_DEVICE part sqr(const part& a) {
    const part other = shuffled<P>(a, 1);
    const part x = loose_sum<P>(selected<P>(second(), other, a), other);
    return product<P>(x, selected<P>(second(), a, loose_difference<P>(a, other)));
  }
  static PROOFLINE_DEVICE bool any(bool own) { return __any_sync(whole_warp, own); }
  static PROOFLINE_DEVICE bool both(bool own) {
    return (__shfl_xor_sync(whole_warp, int(own), 1) != 0) & own;
  }
  static PROOFLINE_DEVICE part norm(const part& a) {
    const part own = square<P>(a);
    return loose_sum<P>(own, shuffled<P>(own, 1));
  }
  static PROOFLINE_DEVICE part inverse_from(const part& a, const part& norm_inverse) {
    return product<P>(selected<P>(second(), loose_negated<P>(a), a), norm_inverse);
  }
};

template <class G>
using lanes_of = lanes_of_field<typename G::field>;

// The top word of a coordinate that marks the point at infinity on the device: batch additions read
// x only.
constexpr uint32_t infinity_word = 0xffffffffu;

}  // namespace proofline::cuda
