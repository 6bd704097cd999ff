#pragma once

#include <cstring>

#include "curve/groups.hpp"

// Points as canonical big-endian bytes, x‖y, in G2 x.c1‖x.c0‖y.c1‖y.c0 (Zcash's order).
namespace proofline {

template <class P>
words<P::limbs> read_be(const uint8_t* bytes) {
  words<P::limbs> v;
  for (int i = 0; i < P::limbs; i++) {
    uint64_t word;
    std::memcpy(&word, bytes + 8 * (P::limbs - 1 - i), 8);
    v.w[i] = __builtin_bswap64(word);
  }
  return v;
}

// False, and `to` unchanged, for a number that is not below p.
template <class P>
bool read_coordinate(const uint8_t* bytes, mont_t<P>& to) {
  const auto v = read_be<P>(bytes);
  if (!(v < P::modulus())) return false;
  to = mont_t<P>::from_canonical(v);
  return true;
}
template <class F>
bool read_coordinate(const uint8_t* bytes, fp2_t<F>& to) {
  return read_coordinate(bytes, to.c1) && read_coordinate(bytes + sizeof(F), to.c0);
}

template <class P>
void write_coordinate(uint8_t* bytes, const mont_t<P>& from) {
  const auto v = from.to_canonical();
  for (int i = 0; i < P::limbs; i++) {
    const uint64_t word = __builtin_bswap64(v.w[i]);
    std::memcpy(bytes + 8 * (P::limbs - 1 - i), &word, 8);
  }
}
template <class F>
void write_coordinate(uint8_t* bytes, const fp2_t<F>& from) {
  write_coordinate(bytes, from.c1);
  write_coordinate(bytes + sizeof(F), from.c0);
}

// All zero is infinity. False for a coordinate that is not below p; the curve is not checked.
template <class F>
bool read_point(const uint8_t* bytes, affine_t<F>& to) {
  return read_coordinate(bytes, to.x) && read_coordinate(bytes + sizeof(F), to.y);
}

template <class F>
void write_point(uint8_t* bytes, const affine_t<F>& from) {
  write_coordinate(bytes, from.x);
  write_coordinate(bytes + sizeof(F), from.y);
}

template <class P>
bool below_modulus(const mont_t<P>& a) {
  return a.limb < P::modulus();
}
template <class F>
bool below_modulus(const fp2_t<F>& a) {
  return below_modulus(a.c0) && below_modulus(a.c1);
}

}  // namespace proofline
