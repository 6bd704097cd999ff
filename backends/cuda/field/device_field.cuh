#pragma once

#include "field/element.cuh"
#include "field/fp2.hpp"

// F_p for the formulas of backends/common (points, F_p²) in device code: canonical values, the
// bytes of mont_t. Products are calls: these formulas run where few of them are left to do, and
// inlined they would take minutes to compile.
namespace proofline::cuda {

template <class P>
__device__ __noinline__ element<P> called_product(const element<P>& a, const element<P>& b) {
  return reduced<P>(product<P>(a, b));
}

template <class P>
struct device_field {
  element<P> v;

  static __device__ device_field zero() { return {}; }
  static __device__ device_field one() { return {one_of<P>()}; }
  __device__ bool is_zero() const { return *this == zero(); }
  friend __device__ bool operator==(const device_field& a, const device_field& b) {
    return equal<P>(a.v, b.v);
  }

  friend __device__ device_field operator+(const device_field& a, const device_field& b) {
    element<P> t = a.v;
    add_in_place<element<P>::N>(t.l, b.v.l);
    return {reduced<P>(t)};
  }
  friend __device__ device_field operator-(const device_field& a, const device_field& b) {
    return {reduced<P>(difference<P>(a.v, b.v))};
  }
  __device__ device_field operator-() const { return zero() - *this; }
  __device__ device_field dbl() const { return *this + *this; }
  friend __device__ device_field operator*(const device_field& a, const device_field& b) {
    return {called_product<P>(a.v, b.v)};
  }
  __device__ device_field sqr() const { return *this * *this; }
  static __device__ constexpr bool fuses_products() { return false; }
  static __device__ device_field sum_of_products(const device_field& a, const device_field& b,
                                                 const device_field& c, const device_field& d) {
    return a * b + c * d;
  }
  __device__ device_field inverse() const { return {inverse_of<P>(v)}; }  // not of 0
};

template <class F>
struct device_field_of;
template <class P>
struct device_field_of<mont_t<P>> {
  using type = device_field<P>;
};
template <class P>
struct device_field_of<fp2_t<mont_t<P>>> {
  using type = fp2_t<device_field<P>>;
};

}  // namespace proofline::cuda
