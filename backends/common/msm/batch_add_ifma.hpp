#pragma once

#include "msm/addition.hpp"

// The AVX-512 IFMA path of msm/batch_add.hpp: eight additions at a time. Callable where
// `has(isa::ifma)`. Its unit includes no header with functions that other units share.
namespace proofline {

struct bn254_g1;
struct bn254_g2;
struct bls12_381_g1;
struct bls12_381_g2;

// Bytes of `scratch`, aligned to 64, for a batch of n.
template <class G>
size_t ifma_scratch_bytes(size_t n);

// Operands and sums have coordinates below p + p/1024. `invert` replaces N words, a number below
// 2p, by its inverse mod p.
template <class G>
void batch_add_ifma(const addition* list, size_t n, void* scratch, void (*invert)(uint64_t* words),
                    prefetch_stream& ahead);

}  // namespace proofline
