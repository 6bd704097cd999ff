#pragma once

#include "field/mul_portable.hpp"

#if defined(__x86_64__) && defined(__GNUC__) && defined(__OPTIMIZE__)
#define PROOFLINE_HAS_ADX

#ifdef __NVCC__
#pragma nv_diagnostic push
#pragma nv_diag_suppress 550, 1675  // outputs of assembly that only clobber; GCC's unroll pragma
#endif

// The multiplication of mul_portable.hpp with the two carry chains of ADX. MULX, ADCX and ADOX
// appear only inside assembly, so that no compiler flag is needed and no other function may use
// them. Without optimisation GCC keeps too many operands in registers for the rows of six words.
namespace proofline::adx {

// The no-operation keeps Sapphire Rapids from binding both additions to one port: 22 ns a
// multiplication of six words instead of 27 there.
#define PROOFLINE_MULX(from, to)             \
  "mulxq %[x" #from "], %[lo], %[hi]\n\t" \
  "adoxq %[hi], %[t" #to "]\n\t"          \
  "nop\n\t"                              \
  "adcxq %[lo], %[t" #from "]\n\t"

// t += x·k. The sum must fit N + 1 words.
PROOFLINE_INLINE void mac_row(uint64_t (&t)[5], const words<4>& x, uint64_t k) {
  uint64_t lo, hi;
  asm("xorl %k[lo], %k[lo]\n\t"  // clears both carries
      PROOFLINE_MULX(0, 1) PROOFLINE_MULX(1, 2) PROOFLINE_MULX(2, 3) PROOFLINE_MULX(3, 4)
      "movl $0, %k[lo]\n\t"
      "adcxq %[lo], %[t4]\n\t"
      : [t0] "+&r"(t[0]), [t1] "+&r"(t[1]), [t2] "+&r"(t[2]), [t3] "+&r"(t[3]), [t4] "+&r"(t[4]),
        [lo] "=&r"(lo), [hi] "=&r"(hi)
      : [x0] "m"(x.w[0]), [x1] "m"(x.w[1]), [x2] "m"(x.w[2]), [x3] "m"(x.w[3]), "d"(k)
      : "cc");
}

PROOFLINE_INLINE void mac_row(uint64_t (&t)[7], const words<6>& x, uint64_t k) {
  uint64_t lo, hi;
  asm("xorl %k[lo], %k[lo]\n\t"
      PROOFLINE_MULX(0, 1) PROOFLINE_MULX(1, 2) PROOFLINE_MULX(2, 3) PROOFLINE_MULX(3, 4)
      PROOFLINE_MULX(4, 5) PROOFLINE_MULX(5, 6)
      "movl $0, %k[lo]\n\t"
      "adcxq %[lo], %[t6]\n\t"
      : [t0] "+&r"(t[0]), [t1] "+&r"(t[1]), [t2] "+&r"(t[2]), [t3] "+&r"(t[3]), [t4] "+&r"(t[4]),
        [t5] "+&r"(t[5]), [t6] "+&r"(t[6]), [lo] "=&r"(lo), [hi] "=&r"(hi)
      : [x0] "m"(x.w[0]), [x1] "m"(x.w[1]), [x2] "m"(x.w[2]), [x3] "m"(x.w[3]),
        [x4] "m"(x.w[4]), [x5] "m"(x.w[5]), "d"(k)
      : "cc");
}

#undef PROOFLINE_MULX

// t ← x·k.
PROOFLINE_INLINE void mul_row(uint64_t (&t)[5], const words<4>& x, uint64_t k) {
  uint64_t lo;
  asm("mulxq %[x0], %[t0], %[t1]\n\t"
      "mulxq %[x1], %[lo], %[t2]\n\taddq %[lo], %[t1]\n\t"
      "mulxq %[x2], %[lo], %[t3]\n\tadcq %[lo], %[t2]\n\t"
      "mulxq %[x3], %[lo], %[t4]\n\tadcq %[lo], %[t3]\n\t"
      "adcq $0, %[t4]\n\t"
      : [t0] "=&r"(t[0]), [t1] "=&r"(t[1]), [t2] "=&r"(t[2]), [t3] "=&r"(t[3]), [t4] "=&r"(t[4]),
        [lo] "=&r"(lo)
      : [x0] "m"(x.w[0]), [x1] "m"(x.w[1]), [x2] "m"(x.w[2]), [x3] "m"(x.w[3]), "d"(k)
      : "cc");
}

PROOFLINE_INLINE void mul_row(uint64_t (&t)[7], const words<6>& x, uint64_t k) {
  uint64_t lo;
  asm("mulxq %[x0], %[t0], %[t1]\n\t"
      "mulxq %[x1], %[lo], %[t2]\n\taddq %[lo], %[t1]\n\t"
      "mulxq %[x2], %[lo], %[t3]\n\tadcq %[lo], %[t2]\n\t"
      "mulxq %[x3], %[lo], %[t4]\n\tadcq %[lo], %[t3]\n\t"
      "mulxq %[x4], %[lo], %[t5]\n\tadcq %[lo], %[t4]\n\t"
      "mulxq %[x5], %[lo], %[t6]\n\tadcq %[lo], %[t5]\n\t"
      "adcq $0, %[t6]\n\t"
      : [t0] "=&r"(t[0]), [t1] "=&r"(t[1]), [t2] "=&r"(t[2]), [t3] "=&r"(t[3]), [t4] "=&r"(t[4]),
        [t5] "=&r"(t[5]), [t6] "=&r"(t[6]), [lo] "=&r"(lo)
      : [x0] "m"(x.w[0]), [x1] "m"(x.w[1]), [x2] "m"(x.w[2]), [x3] "m"(x.w[3]),
        [x4] "m"(x.w[4]), [x5] "m"(x.w[5]), "d"(k)
      : "cc");
}

// (t + m·p)/2^64 with the m that makes it exact.
template <class P>
PROOFLINE_INLINE void reduce_row(uint64_t (&t)[P::limbs + 1]) {
  constexpr int N = P::limbs;
  mac_row(t, modulus_in_memory<P>, t[0] * negated_inverse<P>());
#pragma GCC unroll 8
  for (int j = 0; j < N; j++) t[j] = t[j + 1];
  t[N] = 0;
}

template <class P>
PROOFLINE_INLINE words<P::limbs> result(const uint64_t (&t)[P::limbs + 1]) {
  words<P::limbs> r;
#pragma GCC unroll 8
  for (int j = 0; j < P::limbs; j++) r.w[j] = t[j];
  return subtract_p_once<P>(r);
}

// r ← a·b·2^(−64N) mod p, for a·b < 2^(64N)·p. `r` may be an operand. Not inlined: a call costs
// little beside it, and point formulas stay small enough for the instruction cache.
template <class P>
[[gnu::noinline]] void mul(words<P::limbs>& r, const words<P::limbs>& a, const words<P::limbs>& b) {
  uint64_t t[P::limbs + 1];
  mul_row(t, a, b.w[0]);
  reduce_row<P>(t);
#pragma GCC unroll 8
  for (int i = 1; i < P::limbs; i++) {
    mac_row(t, a, b.w[i]);
    reduce_row<P>(t);
  }
  r = result<P>(t);
}

// r ← (a·b + c·d)·2^(−64N) mod p, one reduction for both products: for a·b + c·d < 2^(64N)·p and
// factors whose rows fit, (a + c + p)·2^64 < 2^(64·(N + 1)). Cost: three quarters of two
// multiplications.
template <class P>
[[gnu::noinline]] void mul_add(words<P::limbs>& r, const words<P::limbs>& a,
                               const words<P::limbs>& b, const words<P::limbs>& c,
                               const words<P::limbs>& d) {
  uint64_t t[P::limbs + 1];
  mul_row(t, a, b.w[0]);
  mac_row(t, c, d.w[0]);
  reduce_row<P>(t);
#pragma GCC unroll 8
  for (int i = 1; i < P::limbs; i++) {
    mac_row(t, a, b.w[i]);
    mac_row(t, c, d.w[i]);
    reduce_row<P>(t);
  }
  r = result<P>(t);
}

}  // namespace proofline::adx

#ifdef __NVCC__
#pragma nv_diagnostic pop
#endif
#endif
