#pragma once

#include "ntt/butterflies.cuh"

// Nine or six layers in one pass over memory: tiles of 512 rows by 4 columns, or 64 by 32, of 32
// bytes in 64 KB of shared memory (two planes of 16 bytes), 256 threads with 8 elements in
// registers, three layers between exchanges.
namespace proofline::cuda {

constexpr int tile_layers = 9, low_tile_layers = 6, tile_elements = 2048, tile_threads = 256,
              tile_bytes = 65536;

enum tile_ops : int {
  op_forward = 1,
  op_inverse =
      2,  // both: inverse, then forward, if rows are strided; the other way round if contiguous
  op_canonical = 4,     // results below r
  op_scale = 8,         // times `factor`
  op_coset = 16,        // times rows[·]·columns[·]
  op_times = 32,        // between the two directions: times other[i]
  op_times_input = 64,  // the input is d[i]·other[i], the output goes to `target`
  op_subtract = 128,    // minus factor·other[i]
};

template <class P>
struct tile_pass {
  element<P>* d;
  const element<P>*twiddles, *first;
  int stride_log;  // of rows; contiguous tiles have their rows side by side and a block in each
                   // column
  fused<P> with;
};

// Where a thread's elements lie.
template <class P, bool Contiguous, int Layers>
struct tile_map {
  static constexpr int rows = 1 << Layers, columns_log = 11 - Layers, columns = 1 << columns_log;
  uint32_t block0;
  size_t base;
  int stride_log, column, y;

  PROOFLINE_DEVICE explicit tile_map(int stride_log) : stride_log(stride_log) {
    const uint32_t t = blockIdx.x, thread = threadIdx.x;
    if (Contiguous) {
      block0 = t * columns, base = size_t(t) * tile_elements;
      y = int(thread & (rows / 8 - 1)), column = int(thread >> (Layers - 3));
    } else {
      block0 = t >> (stride_log - columns_log);
      base = (size_t(block0) << (Layers + stride_log)) +
             (size_t(t & ((1u << (stride_log - columns_log)) - 1)) << columns_log);
      column = int(thread & (columns - 1)), y = int(thread >> columns_log);
    }
  }
  PROOFLINE_DEVICE size_t index(int row) const {
    return Contiguous ? base + size_t(column) * rows + row
                      : base + (size_t(row) << stride_log) + column;
  }
  PROOFLINE_DEVICE int slot(int row) const {
    return Contiguous ? column * rows + (row ^ (row >> 3 & 7))
                      : (row * columns + column) ^ (columns == 4 ? (row >> 3 & 1) * 4 : 0);
  }
  PROOFLINE_DEVICE uint32_t block() const {
    return Contiguous ? block0 + uint32_t(column) : block0;
  }
  // Rows of the thread before layer 3g: first_row(g) + (k << row_step(g)).
  static PROOFLINE_DEVICE int row_step(int g) { return Layers - 3 - 3 * g; }
  PROOFLINE_DEVICE int part(int g) const { return y >> row_step(g); }
  PROOFLINE_DEVICE int first_row(int g) const {
    const int step = row_step(g);
    return (part(g) << (step + 3)) + (y & ((1 << step) - 1));
  }
};

template <class P>
PROOFLINE_DEVICE element<P> load_shared(const uint4* s, int i) {
  const uint4 a = s[i], b = s[i + tile_elements];
  return {{a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w}};
}
template <class P>
PROOFLINE_DEVICE void store_shared(uint4* s, int i, const element<P>& v) {
  s[i] = make_uint4(v.l[0], v.l[1], v.l[2], v.l[3]);
  s[i + tile_elements] = make_uint4(v.l[4], v.l[5], v.l[6], v.l[7]);
}

template <class P, bool Contiguous, int Layers, int Ops>
struct tile_runner {
  using E = element<P>;
  static constexpr int steps = Layers / 3;
  const tile_pass<P>& a;
  const tile_map<P, Contiguous, Layers> map;
  uint4* const shared;
  E x[8];

  PROOFLINE_DEVICE tile_runner(const tile_pass<P>& a, uint4* shared)
      : a(a), map(a.stride_log), shared(shared) {}

  PROOFLINE_DEVICE E input(size_t i) const {
    const E v = load8<P>(a.d + i);
    return Ops & op_times_input ? scalar_product<P>(v, load8<P>(a.with.other + i)) : v;
  }
  PROOFLINE_DEVICE void output(size_t i, const E& v) const {
    store8<P>((Ops & op_times_input ? a.with.target : a.d) + i, v);
  }
  PROOFLINE_DEVICE void prefetch_twiddles() const {
    const size_t id = (size_t(map.block()) << (Layers - 3)) | uint32_t(map.y);
#pragma unroll
    for (int i = 0; i < 3; i++)
      asm volatile("prefetch.global.L2 [%0];" ::"l"(a.twiddles + (id << i)));
  }
  // Enters in the rows of step 0, leaves in those of the last step, in registers.
  PROOFLINE_DEVICE void forward(bool loaded) {
#pragma unroll 1
    for (int g = 0; g < steps; g++) {
      const int first = map.first_row(g), step = map.row_step(g);
      if (g > 0) {
        __syncthreads();
#pragma unroll
        for (int k = 0; k < 8; k++) x[k] = load_shared<P>(shared, map.slot(first + (k << step)));
      } else if (!loaded) {
#pragma unroll
        for (int k = 0; k < 8; k++) x[k] = input(map.index(first + (k << step)));
      }
      forward_layers<P, 3>(x, a.twiddles, map.block() << (3 * g) | uint32_t(map.part(g)));
      if (g < steps - 1) {
#pragma unroll
        for (int k = 0; k < 8; k++) store_shared<P>(shared, map.slot(first + (k << step)), x[k]);
      }
    }
  }
  // Enters in the rows of the last step (contiguous tiles: from shared memory), leaves in those of
  // step 0.
  PROOFLINE_DEVICE void inverse(bool loaded) {
#pragma unroll 1
    for (int g = steps - 1; g >= 0; g--) {
      const int first = map.first_row(g), step = map.row_step(g);
      if (g < steps - 1) {
        __syncthreads();
#pragma unroll
        for (int k = 0; k < 8; k++) x[k] = load_shared<P>(shared, map.slot(first + (k << step)));
      } else if (!loaded) {
#pragma unroll
        for (int k = 0; k < 8; k++)
          x[k] = Contiguous ? load_shared<P>(shared, map.slot(first + k))
                            : input(map.index(first + k));
      }
      inverse_layers<P, 3>(x, a.twiddles, a.first, map.block() == 0,
                           map.block() << (3 * g) | uint32_t(map.part(g)));
      if (g > 0) {
#pragma unroll
        for (int k = 0; k < 8; k++) store_shared<P>(shared, map.slot(first + (k << step)), x[k]);
      }
    }
  }
  PROOFLINE_DEVICE int early_row(int k) const { return map.y + k * (map.rows / 8); }
  PROOFLINE_DEVICE int late_row(int k) const { return map.y * 8 + k; }

  PROOFLINE_DEVICE void finish_inverse() {
    if (Ops & op_scale) {
#pragma unroll
      for (int k = 0; k < 8; k++) x[k] = scalar_product<P>(x[k], a.with.factor);
    }
    if (Ops & op_coset) {
      const E c = load8_constant<P>(a.with.columns + (map.base + map.column));
#pragma unroll
      for (int k = 0; k < 8; k++)
        x[k] = scalar_product<P>(scalar_product<P>(x[k], c),
                                 load8_constant<P>(a.with.rows + early_row(k)));
    }
    if (Ops & op_subtract) {
#pragma unroll
      for (int k = 0; k < 8; k++) {
        const E v =
            scalar_product<P>(load8<P>(a.with.other + map.index(early_row(k))), a.with.factor);
        subtract_once<P>(x[k].l);
        subtract_r<P>(x[k].l, v.l);
      }
    }
  }
  PROOFLINE_DEVICE void put_early() {
#pragma unroll
    for (int k = 0; k < 8; k++) {
      if (Ops & op_canonical) subtract_once<P>(x[k].l);
      output(map.index(early_row(k)), x[k]);
    }
  }
  PROOFLINE_DEVICE void put_late() {
    if (Ops & op_canonical) {
#pragma unroll
      for (int k = 0; k < 8; k++) narrow<P>(x[k].l);
    }
    if constexpr (!Contiguous) {
#pragma unroll
      for (int k = 0; k < 8; k++) output(map.index(late_row(k)), x[k]);
    } else {
#pragma unroll
      for (int k = 0; k < 8; k++) store_shared<P>(shared, map.slot(late_row(k)), x[k]);
      __syncthreads();
#pragma unroll
      for (int k = 0; k < 8; k++)
        output(map.index(early_row(k)), load_shared<P>(shared, map.slot(early_row(k))));
    }
  }
  PROOFLINE_DEVICE void run() {
    constexpr bool forward_first = (Ops & op_forward) && (Contiguous || !(Ops & op_inverse));
    if (forward_first) {
      if (Contiguous) prefetch_twiddles();
      forward(false);
      if (!(Ops & op_inverse)) return put_late();
      if (Ops & op_times) {
#pragma unroll
        for (int k = 0; k < 8; k++)
          x[k] = scalar_product<P>(x[k], load8<P>(a.with.other + map.index(late_row(k))));
      }
      inverse(true);
    } else {
      if (Contiguous) {
#pragma unroll
        for (int k = 0; k < 8; k++)
          store_shared<P>(shared, map.slot(early_row(k)), input(map.index(early_row(k))));
        __syncthreads();
      }
      inverse(false);
    }
    finish_inverse();
    if (!Contiguous && (Ops & op_forward)) {
      forward(true);
      return put_late();
    }
    put_early();
  }
};

template <class P, bool Contiguous, int Layers, int Ops>
__global__ void __launch_bounds__(tile_threads, 2) tile_kernel(const tile_pass<P> a) {
  extern __shared__ uint4 tile_memory[];
  tile_runner<P, Contiguous, Layers, Ops>(a, tile_memory).run();
}

}  // namespace proofline::cuda
