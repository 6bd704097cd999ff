#pragma once

#include <cstdint>

// The four prime fields. A modulus is typed here and nowhere else; everything that follows from it
// is computed by the compiler in field/mont.hpp. The functions are constexpr so that g++ and nvcc,
// host and device, share them.
//
// What ends in assembly is inlined by force: GCC takes each line of it for an instruction of
// unknown size, and an operand that a call passes through memory is written in words and read in
// vectors, which waits.
#ifdef __CUDACC__
#define PROOFLINE_HD __host__ __device__
#define PROOFLINE_INLINE inline
#else
#define PROOFLINE_HD
#define PROOFLINE_INLINE __attribute__((always_inline)) inline
#endif

namespace proofline {

// An unsigned integer of 64·N bits, little-endian words. `T[n]` has one byte image on every
// machine.
template <int N>
struct words {
  uint64_t w[N];

  PROOFLINE_HD constexpr bool bit(int i) const { return (w[i >> 6] >> (i & 63)) & 1; }

  PROOFLINE_HD constexpr bool is_zero() const {
    uint64_t any = 0;
    for (int i = 0; i < N; i++) any |= w[i];
    return any == 0;
  }

  friend PROOFLINE_HD constexpr bool operator==(const words& a, const words& b) {
    uint64_t different = 0;
    for (int i = 0; i < N; i++) different |= a.w[i] ^ b.w[i];
    return different == 0;
  }

  friend PROOFLINE_HD constexpr bool operator<(const words& a, const words& b) {
    for (int i = N - 1; i > 0; i--)
      if (a.w[i] != b.w[i]) return a.w[i] < b.w[i];
    return a.w[0] < b.w[0];
  }
};

// BN254 (alt_bn128): EIP-196 names both primes p (coordinates) and r (group order).
struct bn254_fp_params {
  static constexpr int limbs = 4, bits = 254;
  static PROOFLINE_HD constexpr words<4> modulus() {
    return {{0x3c208c16d87cfd47, 0x97816a916871ca8d, 0xb85045b68181585d, 0x30644e72e131a029}};
  }
};

struct bn254_fr_params {
  static constexpr int limbs = 4, bits = 254;
  static PROOFLINE_HD constexpr words<4> modulus() {
    return {{0x43e1f593f0000001, 0x2833e84879b97091, 0xb85045b68181585d, 0x30644e72e131a029}};
  }
};

// BLS12-381: Zcash protocol specification, 5.4.9.2.
struct bls12_381_fp_params {
  static constexpr int limbs = 6, bits = 381;
  static PROOFLINE_HD constexpr words<6> modulus() {
    return {{0xb9feffffffffaaab, 0x1eabfffeb153ffff, 0x6730d2a0f6b0f624, 0x64774b84f38512bf,
             0x4b1ba7b6434bacd7, 0x1a0111ea397fe69a}};
  }
};

struct bls12_381_fr_params {
  static constexpr int limbs = 4, bits = 255;
  static PROOFLINE_HD constexpr words<4> modulus() {
    return {{0xffffffff00000001, 0x53bda402fffe5bfe, 0x3339d80809a1d805, 0x73eda753299d7d48}};
  }
};

}  // namespace proofline
