#pragma once

#include <cstddef>
#include <cstdint>

#include "core/cpu.hpp"
#include "field/mul_adx.hpp"
#include "field/mul_portable.hpp"
#include "field/params.hpp"
#include "field/safegcd.hpp"

namespace proofline {

// Element of F_p holding v·R mod p, R = 2^(64·N), always < p. N little-endian words and nothing
// else, so T[n] has one byte image on host, on device and in a proving key that keeps Montgomery
// form.
template <class P>
struct mont_t {
  static constexpr int N = P::limbs;
  using params = P;
  using canonical = words<N>;

  words<N> limb;

  static PROOFLINE_HD constexpr mont_t zero() { return {}; }
  static PROOFLINE_HD constexpr mont_t one() {
    constexpr words<N> r = power_of_two<P>(64 * N);
    return {r};
  }

  // `v` may be any N-word number below p.
  static PROOFLINE_HD mont_t from_canonical(const words<N>& v) {
    constexpr words<N> r_squared = power_of_two<P>(128 * N);
    return mont_t{v} * mont_t{r_squared};
  }
  static PROOFLINE_HD mont_t from_u64(uint64_t v) { return from_canonical({{v}}); }
  PROOFLINE_HD words<N> to_canonical() const { return (*this * mont_t{{{1}}}).limb; }

  PROOFLINE_HD constexpr bool is_zero() const { return limb.is_zero(); }
  friend PROOFLINE_HD constexpr bool operator==(const mont_t& a, const mont_t& b) {
    return a.limb == b.limb;
  }

  friend PROOFLINE_INLINE PROOFLINE_HD constexpr mont_t operator+(const mont_t& a,
                                                                   const mont_t& b) {
    return {add_words<P>(a.limb, b.limb)};
  }
  friend PROOFLINE_INLINE PROOFLINE_HD constexpr mont_t operator-(const mont_t& a,
                                                                   const mont_t& b) {
    return {sub_words<P>(a.limb, b.limb)};
  }
  PROOFLINE_HD constexpr mont_t operator-() const { return zero() - *this; }
  PROOFLINE_HD constexpr mont_t dbl() const { return *this + *this; }

  // a·b·R⁻¹ mod p.
  friend PROOFLINE_HD mont_t operator*(const mont_t& a, const mont_t& b) {
    mont_t r;
    multiply(r, a, b);
    return r;
  }
  PROOFLINE_HD mont_t sqr() const { return *this * *this; }

  // Whether `sum_of_products` costs less than two products.
  static PROOFLINE_HD bool fuses_products() {
#if defined(PROOFLINE_HAS_ADX) && !defined(__CUDA_ARCH__)
    return has(isa::adx);
#else
    return false;
#endif
  }

  // a·b + c·d.
  static PROOFLINE_HD mont_t sum_of_products(const mont_t& a, const mont_t& b, const mont_t& c,
                                             const mont_t& d) {
#if defined(PROOFLINE_HAS_ADX) && !defined(__CUDA_ARCH__)
    static_assert(P::bits <= 64 * N - 2, "2p² + 2^(64N)·p is below 2^(64N)·2p");
    if (has(isa::adx)) {
      mont_t r;
      adx::mul_add<P>(r.limb, a.limb, b.limb, c.limb, d.limb);
      return r;
    }
#endif
    return a * b + c * d;
  }

  PROOFLINE_HD mont_t& operator+=(const mont_t& b) { return *this = *this + b; }
  PROOFLINE_HD mont_t& operator-=(const mont_t& b) { return *this = *this - b; }
  PROOFLINE_HD mont_t& operator*=(const mont_t& b) {
    multiply(*this, *this, b);
    return *this;
  }

  // Variable time in the exponent.
  template <int M>
  PROOFLINE_HD mont_t pow(const words<M>& exponent) const {
    mont_t r = one();
    for (int i = 64 * M - 1; i >= 0; i--) {
      r = r.sqr();
      if (exponent.bit(i)) r *= *this;
    }
    return r;
  }

  // 1/a, and 0 for 0. Variable time on the host (field/safegcd.hpp); a^(p−2) on the device.
  PROOFLINE_HD mont_t inverse() const {
#if defined(__CUDA_ARCH__)
    words<N> exponent = P::modulus();
    exponent.w[0] -= 2;
    return pow(exponent);
#else
    constexpr words<N> r_cubed = power_of_two<P>(192 * N);
    return mont_t{safegcd_inverse<P>(limb)} * mont_t{r_cubed};
#endif
  }

 private:
  // `r` may be `a` or `b`.
  PROOFLINE_INLINE static PROOFLINE_HD void multiply(mont_t& r, const mont_t& a, const mont_t& b) {
#if defined(__CUDA_ARCH__)
    r.limb = mul_words32<P>(a.limb, b.limb);
#else
#if defined(PROOFLINE_HAS_ADX)
    if (has(isa::adx)) return adx::mul<P>(r.limb, a.limb, b.limb);
#endif
    r.limb = mul_words<P>(a.limb, b.limb);
#endif
  }
};

// a[i] ← 1/a[i]; zeros stay zero. One inversion and 3(n − 1) multiplications (Montgomery's trick,
// H. Cohen, A Course in Computational Algebraic Number Theory, 10.3.4). `scratch` holds n elements.
template <class F>
void batch_inverse(F* a, F* scratch, size_t n) {
  F product = F::one();
  for (size_t i = 0; i < n; i++) {
    scratch[i] = product;
    if (!a[i].is_zero()) product *= a[i];
  }
  product = product.inverse();
  for (size_t i = n; i-- > 0;) {
    if (a[i].is_zero()) continue;
    const F inverse = product * scratch[i];
    product *= a[i];
    a[i] = inverse;
  }
}

using bn254_fp = mont_t<bn254_fp_params>;
using bn254_fr = mont_t<bn254_fr_params>;
using bls12_381_fp = mont_t<bls12_381_fp_params>;
using bls12_381_fr = mont_t<bls12_381_fr_params>;

static_assert(sizeof(bn254_fp) == 32 && sizeof(bn254_fr) == 32 && sizeof(bls12_381_fr) == 32 &&
                  sizeof(bls12_381_fp) == 48,
              "the bytes of an element are its words");

}  // namespace proofline
