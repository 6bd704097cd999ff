#pragma once

#include "curve/point.hpp"

// The four groups. `b` and `generator` are in canonical form in the text and Montgomery form in the
// result.
namespace proofline {

// EIP-196: y² = x³ + 3.
struct bn254_g1 {
  using field = bn254_fp;
  using scalar = bn254_fr;
  using affine = affine_t<field>;
  using xyzz = xyzz_t<field>;

  static field b() { return field::from_u64(3); }
  static affine generator() { return {field::from_u64(1), field::from_u64(2)}; }
};

// EIP-197: y² = x³ + 3/(9 + u).
struct bn254_g2 {
  using field = bn254_fp2;
  using scalar = bn254_fr;
  using affine = affine_t<field>;
  using xyzz = xyzz_t<field>;

  static field b() {
    const field xi{bn254_fp::from_u64(9), bn254_fp::one()};
    return xi.inverse() * bn254_fp::from_u64(3);
  }
  static affine generator() {
    using fp = bn254_fp;
    return {{fp::from_canonical({{0x46debd5cd992f6ed, 0x674322d4f75edadd, 0x426a00665e5c4479,
                                  0x1800deef121f1e76}}),
             fp::from_canonical({{0x97e485b7aef312c2, 0xf1aa493335a9e712, 0x7260bfb731fb5d25,
                                  0x198e9393920d483a}})},
            {fp::from_canonical({{0x4ce6cc0166fa7daa, 0xe3d1e7690c43d37b, 0x4aab71808dcb408f,
                                  0x12c85ea5db8c6deb}}),
             fp::from_canonical({{0x55acdadcd122975b, 0xbc4b313370b38ef3, 0xec9e99ad690c3395,
                                  0x090689d0585ff075}})}};
  }
};

// Zcash protocol specification, 5.4.9.2: y² = x³ + 4.
struct bls12_381_g1 {
  using field = bls12_381_fp;
  using scalar = bls12_381_fr;
  using affine = affine_t<field>;
  using xyzz = xyzz_t<field>;

  static field b() { return field::from_u64(4); }
  static affine generator() {
    return {field::from_canonical({{0xfb3af00adb22c6bb, 0x6c55e83ff97a1aef, 0xa14e3a3f171bac58,
                                    0xc3688c4f9774b905, 0x2695638c4fa9ac0f,
                                    0x17f1d3a73197d794}}),
            field::from_canonical({{0x0caa232946c5e7e1, 0xd03cc744a2888ae4, 0x00db18cb2c04b3ed,
                                    0xfcf5e095d5d00af6, 0xa09e30ed741d8ae4,
                                    0x08b3f481e3aaa0f1}})};
  }
};

// The same, on the twist: y² = x³ + 4·(1 + u).
struct bls12_381_g2 {
  using field = bls12_381_fp2;
  using scalar = bls12_381_fr;
  using affine = affine_t<field>;
  using xyzz = xyzz_t<field>;

  static field b() { return {bls12_381_fp::from_u64(4), bls12_381_fp::from_u64(4)}; }
  static affine generator() {
    using fp = bls12_381_fp;
    return {{fp::from_canonical({{0xd48056c8c121bdb8, 0x0bac0326a805bbef, 0xb4510b647ae3d177,
                                  0xc6e47ad4fa403b02, 0x260805272dc51051, 0x024aa2b2f08f0a91}}),
             fp::from_canonical({{0xe5ac7d055d042b7e, 0x334cf11213945d57, 0xb5da61bbdc7f5049,
                                  0x596bd0d09920b61a, 0x7dacd3a088274f65, 0x13e02b6052719f60}})},
            {fp::from_canonical({{0xe193548608b82801, 0x923ac9cc3baca289, 0x6d429a695160d12c,
                                  0xadfd9baa8cbdd3a7, 0x8cc9cdc6da2e351a, 0x0ce5d527727d6e11}}),
             fp::from_canonical({{0xaaa9075ff05f79be, 0x3f370d275cec1da1, 0x267492ab572e99ab,
                                  0xcb3e287e85a763af, 0x32acd2b02bc28b99,
                                  0x0606c4a02ea734cc}})}};
  }
};

// True for infinity too.
template <class G>
bool on_curve(const typename G::affine& p) {
  return p.is_infinity() || p.y.sqr() == p.x.sqr() * p.x + G::b();
}

}  // namespace proofline
