#pragma once

#include "field/scalar.cuh"

// The layers of a transform. Stage s has 2^s blocks; block b uses twiddle b of one table for all
// sizes and both directions, in bit-reversed order: w[k] is the product over the bits j of k of a
// primitive 2^(j+2)-th root. Forward takes (x, y) to (x + wy, x − wy); the inverse takes it to (x +
// y, (x − y)/w), with 1/w = −w[k'] and k' is k with all bits below its top one flipped; block 0 has
// a short table of its own.
namespace proofline::cuda {

template <class P>
PROOFLINE_DEVICE element<P> load8(const element<P>* p) {
  const uint4 a = reinterpret_cast<const uint4*>(p)[0], b = reinterpret_cast<const uint4*>(p)[1];
  return {{a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w}};
}
template <class P>
PROOFLINE_DEVICE element<P> load8_constant(const element<P>* p) {
  const uint4 a = __ldg(reinterpret_cast<const uint4*>(p)),
              b = __ldg(reinterpret_cast<const uint4*>(p) + 1);
  return {{a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w}};
}
template <class P>
PROOFLINE_DEVICE void store8(element<P>* p, const element<P>& v) {
  reinterpret_cast<uint4*>(p)[0] = make_uint4(v.l[0], v.l[1], v.l[2], v.l[3]);
  reinterpret_cast<uint4*>(p)[1] = make_uint4(v.l[4], v.l[5], v.l[6], v.l[7]);
}

// Q layers on 2^Q elements; `id` is the block's number at the first of them. Any 256-bit numbers.
template <class P, int Q>
PROOFLINE_DEVICE void forward_layers(element<P>* x, const element<P>* twiddles, uint32_t id) {
#pragma unroll
  for (int i = 0; i < Q; i++) {
    const int h = 1 << (Q - 1 - i);
#pragma unroll
    for (int j = 0; j < 1 << i; j++) {
      const bool one = j == 0 && id == 0;
      element<P> w;
      if (!one) w = load8_constant<P>(twiddles + ((size_t(id) << i) | uint32_t(j)));
#pragma unroll
      for (int m = 0; m < h; m++) {
        element<P>&u = x[2 * j * h + m], &v = x[2 * j * h + m + h], z = v;
        if (one) {
          narrow<P>(z.l);
        } else {
          z = scalar_product<P>(v, w);
        }
        v = u;
        subtract_r<P>(v.l, z.l);
        add_wide<P>(u.l, z.l);
      }
    }
  }
}

// Numbers below r and a little. `first_block`: this block and those it splits into are in block 0
// of the pass.
template <class P, int Q>
PROOFLINE_DEVICE void inverse_layers(element<P>* x, const element<P>* twiddles,
                                     const element<P>* first, bool first_block, uint32_t id) {
  const element<P>* const table = first_block ? first : twiddles;
  const uint32_t flipped = first_block ? id : id ^ ((1u << (31 - __clz(int(id)))) - 1);
#pragma unroll
  for (int i = Q - 1; i >= 0; i--) {
    const int h = 1 << (Q - 1 - i);
#pragma unroll
    for (int j = 0; j < 1 << i; j++) {
      const uint32_t k = (flipped << i) | uint32_t(first_block ? j : (1 << i) - 1 - j);
      const bool one = j == 0 && id == 0;
      element<P> w;
      if (!one) w = load8_constant<P>(table + k);
#pragma unroll
      for (int m = 0; m < h; m++) {
        element<P>&u = x[2 * j * h + m], &v = x[2 * j * h + m + h], z = v;
        if (one) {
          z = u;
          subtract_once<P>(z.l);
          subtract_once<P>(v.l);
          const element<P> y = v;
          subtract_r<P>(z.l, y.l);
          add_near<P>(u.l, y.l);
          v = z;
        } else {
          subtract_2r<P>(z.l, u.l);
          add_near<P>(u.l, v.l);
          v = scalar_product<P>(z, w);
        }
      }
    }
  }
}

// What happens to a pass's results, or to its input.
template <class P>
struct fused {
  const element<P>*rows = nullptr,
        *columns = nullptr;  // coset: element i times rows[i >> …]·columns[i & …]
  const element<P>* other = nullptr;
  element<P>* target = nullptr;
  element<P> factor{};
};

}  // namespace proofline::cuda
