#pragma once

#include <cstdint>

// The instructions of multi-word arithmetic on 32-bit words. Those that read or write the carry
// flag are volatile: they keep their order, and ptxas pairs a mad.lo.cc with the madc.hi.cc behind
// it into one wide product with carry. On the host the flag is a variable, so that the code over
// them can be tested there.
#if defined(__CUDACC__)
#define PROOFLINE_DEVICE __device__ __forceinline__
#else
#define PROOFLINE_DEVICE inline
#endif

namespace proofline::cuda {

#if defined(__CUDA_ARCH__) || defined(__CUDACC__)

#define PROOFLINE_CARRY3(name, text)                              \
  PROOFLINE_DEVICE uint32_t name(uint32_t a, uint32_t b) {        \
    uint32_t r;                                                   \
    asm volatile(text " %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b)); \
    return r;                                                     \
  }
#define PROOFLINE_CARRY4(name, text)                                          \
  PROOFLINE_DEVICE uint32_t name(uint32_t a, uint32_t b, uint32_t c) {        \
    uint32_t r;                                                               \
    asm volatile(text " %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c)); \
    return r;                                                                 \
  }
PROOFLINE_CARRY3(add_cc, "add.cc.u32")
PROOFLINE_CARRY3(addc_cc, "addc.cc.u32")
PROOFLINE_CARRY3(addc, "addc.u32")
PROOFLINE_CARRY3(sub_cc, "sub.cc.u32")
PROOFLINE_CARRY3(subc_cc, "subc.cc.u32")
PROOFLINE_CARRY3(subc, "subc.u32")
PROOFLINE_CARRY4(mad_lo_cc, "mad.lo.cc.u32")
PROOFLINE_CARRY4(madc_lo_cc, "madc.lo.cc.u32")
PROOFLINE_CARRY4(madc_hi_cc, "madc.hi.cc.u32")
PROOFLINE_CARRY4(madc_hi, "madc.hi.u32")
#undef PROOFLINE_CARRY3
#undef PROOFLINE_CARRY4

#else

inline thread_local uint32_t carry_flag = 0;

inline uint32_t with_carry_out(uint64_t sum) {
  carry_flag = uint32_t(sum >> 32) & 1;
  return uint32_t(sum);
}
inline uint32_t high(uint32_t a, uint32_t b) { return uint32_t(uint64_t(a) * b >> 32); }
inline uint32_t add_cc(uint32_t a, uint32_t b) { return with_carry_out(uint64_t(a) + b); }
inline uint32_t addc_cc(uint32_t a, uint32_t b) {
  return with_carry_out(uint64_t(a) + b + carry_flag);
}
inline uint32_t addc(uint32_t a, uint32_t b) { return a + b + carry_flag; }
inline uint32_t sub_cc(uint32_t a, uint32_t b) { return with_carry_out(uint64_t(a) - b); }
inline uint32_t subc_cc(uint32_t a, uint32_t b) {
  return with_carry_out(uint64_t(a) - b - carry_flag);
}
inline uint32_t subc(uint32_t a, uint32_t b) { return a - b - carry_flag; }
inline uint32_t mad_lo_cc(uint32_t a, uint32_t b, uint32_t c) { return add_cc(a * b, c); }
inline uint32_t madc_lo_cc(uint32_t a, uint32_t b, uint32_t c) { return addc_cc(a * b, c); }
inline uint32_t madc_hi_cc(uint32_t a, uint32_t b, uint32_t c) { return addc_cc(high(a, b), c); }
inline uint32_t madc_hi(uint32_t a, uint32_t b, uint32_t c) { return addc(high(a, b), c); }

#endif

}  // namespace proofline::cuda
