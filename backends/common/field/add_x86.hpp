#pragma once

#include "field/params.hpp"

#if defined(__x86_64__) && defined(__GNUC__) && defined(__OPTIMIZE__)
#define PROOFLINE_HAS_X86_ADD

#ifdef __NVCC__
#pragma nv_diagnostic push
#pragma nv_diag_suppress 550  // an output of assembly that only clobbers
#endif

// Carry chains of plain x86-64 for what field/mul_portable.hpp writes in C++; compilers keep a
// carry in a register between words, and turn the selections into vector code that waits for
// stores.
namespace proofline::x86 {

#define PROOFLINE_R4(r) \
  [r##0] "+&r"(r.w[0]), [r##1] "+&r"(r.w[1]), [r##2] "+&r"(r.w[2]), [r##3] "+&r"(r.w[3])
#define PROOFLINE_R6(r) PROOFLINE_R4(r), [r##4] "+&r"(r.w[4]), [r##5] "+&r"(r.w[5])
#define PROOFLINE_W4(r) \
  [r##0] "=&r"(r.w[0]), [r##1] "=&r"(r.w[1]), [r##2] "=&r"(r.w[2]), [r##3] "=&r"(r.w[3])
#define PROOFLINE_W6(r) PROOFLINE_W4(r), [r##4] "=&r"(r.w[4]), [r##5] "=&r"(r.w[5])
#define PROOFLINE_M4(a) \
  [a##0] "m"(a.w[0]), [a##1] "m"(a.w[1]), [a##2] "m"(a.w[2]), [a##3] "m"(a.w[3])
#define PROOFLINE_M6(a) PROOFLINE_M4(a), [a##4] "m"(a.w[4]), [a##5] "m"(a.w[5])
#define PROOFLINE_EACH4(op, a, r) \
  op " %[" a "0], %[" r "0]\n\t" op " %[" a "1], %[" r "1]\n\t" \
  op " %[" a "2], %[" r "2]\n\t" op " %[" a "3], %[" r "3]\n\t"
#define PROOFLINE_EACH6(op, a, r) \
  PROOFLINE_EACH4(op, a, r) op " %[" a "4], %[" r "4]\n\t" op " %[" a "5], %[" r "5]\n\t"
#define PROOFLINE_CHAIN4(first, next, a, r) \
  first " %[" a "0], %[" r "0]\n\t" next " %[" a "1], %[" r "1]\n\t" \
  next " %[" a "2], %[" r "2]\n\t" next " %[" a "3], %[" r "3]\n\t"
#define PROOFLINE_CHAIN6(first, next, a, r) \
  PROOFLINE_CHAIN4(first, next, a, r) \
  next " %[" a "4], %[" r "4]\n\t" next " %[" a "5], %[" r "5]\n\t"
#define PROOFLINE_ZERO4(r) \
  "movl $0, %k[" r "0]\n\tmovl $0, %k[" r "1]\n\tmovl $0, %k[" r "2]\n\tmovl $0, %k[" r "3]\n\t"
#define PROOFLINE_ZERO6(r) PROOFLINE_ZERO4(r) "movl $0, %k[" r "4]\n\tmovl $0, %k[" r "5]\n\t"

// r ← r − p if r ≥ p.
PROOFLINE_INLINE void subtract_once(words<4>& r, const words<4>& p) {
  words<4> s;
  asm(PROOFLINE_EACH4("movq", "r", "s") PROOFLINE_CHAIN4("subq", "sbbq", "p", "s")
          PROOFLINE_EACH4("cmovncq", "s", "r")
      : PROOFLINE_R4(r), PROOFLINE_W4(s)
      : PROOFLINE_M4(p)
      : "cc");
}
PROOFLINE_INLINE void subtract_once(words<6>& r, const words<6>& p) {
  words<6> s;
  asm(PROOFLINE_EACH6("movq", "r", "s") PROOFLINE_CHAIN6("subq", "sbbq", "p", "s")
          PROOFLINE_EACH6("cmovncq", "s", "r")
      : PROOFLINE_R6(r), PROOFLINE_W6(s)
      : PROOFLINE_M6(p)
      : "cc");
}

// r ← r + b mod p.
PROOFLINE_INLINE void add(words<4>& r, const words<4>& b, const words<4>& p) {
  words<4> s;
  asm(PROOFLINE_CHAIN4("addq", "adcq", "b", "r") PROOFLINE_EACH4("movq", "r", "s")
          PROOFLINE_CHAIN4("subq", "sbbq", "p", "s") PROOFLINE_EACH4("cmovncq", "s", "r")
      : PROOFLINE_R4(r), PROOFLINE_W4(s)
      : PROOFLINE_M4(b), PROOFLINE_M4(p)
      : "cc");
}
PROOFLINE_INLINE void add(words<6>& r, const words<6>& b, const words<6>& p) {
  words<6> s;
  asm(PROOFLINE_CHAIN6("addq", "adcq", "b", "r") PROOFLINE_EACH6("movq", "r", "s")
          PROOFLINE_CHAIN6("subq", "sbbq", "p", "s") PROOFLINE_EACH6("cmovncq", "s", "r")
      : PROOFLINE_R6(r), PROOFLINE_W6(s)
      : PROOFLINE_M6(b), PROOFLINE_M6(p)
      : "cc");
}

// r ← r − b mod p.
PROOFLINE_INLINE void sub(words<4>& r, const words<4>& b, const words<4>& p) {
  words<4> s;
  asm(PROOFLINE_CHAIN4("subq", "sbbq", "b", "r") PROOFLINE_ZERO4("s")
          PROOFLINE_EACH4("cmovcq", "p", "s") PROOFLINE_CHAIN4("addq", "adcq", "s", "r")
      : PROOFLINE_R4(r), PROOFLINE_W4(s)
      : PROOFLINE_M4(b), PROOFLINE_M4(p)
      : "cc");
}
PROOFLINE_INLINE void sub(words<6>& r, const words<6>& b, const words<6>& p) {
  words<6> s;
  asm(PROOFLINE_CHAIN6("subq", "sbbq", "b", "r") PROOFLINE_ZERO6("s")
          PROOFLINE_EACH6("cmovcq", "p", "s") PROOFLINE_CHAIN6("addq", "adcq", "s", "r")
      : PROOFLINE_R6(r), PROOFLINE_W6(s)
      : PROOFLINE_M6(b), PROOFLINE_M6(p)
      : "cc");
}

#undef PROOFLINE_R4
#undef PROOFLINE_R6
#undef PROOFLINE_W4
#undef PROOFLINE_W6
#undef PROOFLINE_M4
#undef PROOFLINE_M6
#undef PROOFLINE_EACH4
#undef PROOFLINE_EACH6
#undef PROOFLINE_CHAIN4
#undef PROOFLINE_CHAIN6
#undef PROOFLINE_ZERO4
#undef PROOFLINE_ZERO6

}  // namespace proofline::x86

#ifdef __NVCC__
#pragma nv_diagnostic pop
#endif
#endif
