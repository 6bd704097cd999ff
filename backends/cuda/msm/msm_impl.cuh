#pragma once

#include <algorithm>
#include <bit>
#include <utility>

#include "msm/last_sums.cuh"
#include "msm/msm.cuh"
#include "msm/plan.cuh"
#include "msm/sort.hpp"
#include "msm/workspace.hpp"
#include "runtime/error.hpp"

namespace proofline::cuda {

constexpr int rounds_max = 32, launches_a_group = rounds_max + 1, levels_max = 32,
              last_level_log = 10;

inline unsigned blocks_for(uint64_t n) { return unsigned((n + 255) / 256); }
inline unsigned adder_blocks(const device_facts& facts) {
  return unsigned(facts.sm_count * add_blocks_each);
}

// What every user of batch_add needs.
template <class G>
struct adder_space {
  uint4* prefixes;
  uint32_t* tickets;
  typename G::affine* infinite;
  unsigned blocks;
  unsigned launches, used = 0;

  adder_space(carver& space, const device_facts& facts, unsigned launches)
      : prefixes(space.take<uint4>(adder_blocks(facts) * batch_adder<G>::prefix_bytes_a_block /
                                   sizeof(uint4))),
        tickets(space.take<uint32_t>(launches)),
        infinite(space.take<typename G::affine>(1)),
        blocks(adder_blocks(facts)),
        launches(launches) {}

  void reset(cudaStream_t stream) {
    CUDA_OK(cudaMemsetAsync(tickets, 0, launches * sizeof(uint32_t), stream));
    CUDA_OK(cudaMemsetAsync(infinite, 0xff, sizeof *infinite, stream));
  }
  template <pair_kind Kind>
  void add(const pair_list& list, const uint32_t* count_at, uint32_t count, cudaStream_t stream) {
    require(used < launches, "a ticket for each launch");
    batch_add<G, Kind><<<blocks, add_threads, 0, stream>>>(list, infinite, count_at, count,
                                                           {prefixes, tickets + used++});
    CUDA_OK(cudaGetLastError());
  }
};

template <class G>
struct msm_layout {
  using affine = typename G::affine;

  int windows, sets, groups, level_log;  // level_log: log2 of a set's buckets
  uint32_t entries, buckets;             // of one group
  uint32_t *keys, *other_keys, *values, *other_values, *start, *rounds, *counts;
  affine *slots, *level, *other_level;
  void* sort_space;
  size_t sort_bytes;

  static int bits() { return G::scalar::params::bits; }
  static int windows_of(const msm_shape& s) { return (bits() + s.window_bits - 1) / s.window_bits; }
  static int sets_of(const msm_shape& s) { return (windows_of(s) + s.tables - 1) / s.tables; }
  static int key_bits(uint32_t buckets) { return std::bit_width(buckets); }

  msm_layout(const msm_shape& s, carver& space)
      : windows(windows_of(s)),
        sets(sets_of(s)),
        groups((sets + s.group - 1) / s.group),
        level_log(s.window_bits - 1) {
    const uint64_t n = uint64_t(s.n) * uint64_t(s.group) * uint64_t(s.tables);
    require(n < uint64_t{1} << 31 && s.table_stride * uint64_t(s.tables) < (uint64_t{1} << 31) - 1,
            "indices of 32 bits");
    entries = uint32_t(n), buckets = uint32_t(s.group) << level_log;
    keys = space.take<uint32_t>(n + 2), other_keys = space.take<uint32_t>(n + 2);
    values = space.take<uint32_t>(n + 2), other_values = space.take<uint32_t>(n + 2);
    start = space.take<uint32_t>(2 * size_t(buckets));
    rounds = space.take<uint32_t>(n + 64);
    counts = space.take<uint32_t>(size_t(rounds_max) * size_t(groups));
    slots = space.take<affine>(n / 2 + buckets / 2 + 2);
    // The first level of every set is kept until all are folded on together.
    const size_t level_points = 3 * ((size_t(sets) << level_log) / 4 + 1);
    level = space.take<affine>(level_points), other_level = space.take<affine>(level_points);
    sort_bytes = sort_workspace_bytes(entries, key_bits(buckets));
    sort_space = space.take<uint8_t>(sort_bytes);
  }
};

template <class G>
int msm<G>::windows(const msm_shape& s) {
  return msm_layout<G>::windows_of(s);
}
template <class G>
int msm<G>::sets(const msm_shape& s) {
  return msm_layout<G>::sets_of(s);
}

template <class G>
size_t msm<G>::workspace_bytes(const msm_shape& s, const device_facts& facts) {
  if (s.n == 0) return 0;
  carver space(nullptr);
  const msm_layout<G> layout(s, space);
  adder_space<G>(space, facts, unsigned(launches_a_group * layout.groups + levels_max));
  return space.used();
}

template <class G>
size_t msm<G>::partial_count(const msm_shape& s) {
  return s.n == 0 ? 0 : size_t(sets(s)) * size_t(s.window_bits);
}

template <class G>
msm_shape msm<G>::choose(size_t n, size_t work_bytes_max, const device_facts& facts, int tables) {
  msm_shape best{n, n, 4, tables, 1};
  double best_cost = 0;
  for (int c = 4; c <= 24; c++) {
    msm_shape s{n, n, c, tables, 1};
    const double additions = double(windows(s)) * double(n);
    // Folding a bucket takes about 2.5 slower additions.
    const double cost = additions + 2.5 * double(sets(s)) * double(uint64_t{1} << (c - 1));
    if (c > 4 && cost >= best_cost) continue;
    if (n != 0 && workspace_bytes(s, facts) > work_bytes_max) continue;
    best = s, best_cost = cost;
  }
  if (n == 0) return best;
  const auto fits = [&](int group) {
    msm_shape s = best;
    s.group = group;
    return uint64_t(n) * uint64_t(group) * uint64_t(tables) <= uint64_t{1} << 30 &&
           // Sorting takes a pass for each 8 bits: no fourth one.
           std::bit_width(uint64_t(group) << (best.window_bits - 1)) <=
               std::max(24, best.window_bits) &&
           workspace_bytes(s, facts) <= work_bytes_max;
  };
  if (!fits(1)) throw device_memory_error(workspace_bytes(best, facts), work_bytes_max);
  while (best.group < sets(best) && fits(best.group + 1)) best.group++;
  // Groups of equal size.
  const int groups = (sets(best) + best.group - 1) / best.group;
  best.group = (sets(best) + groups - 1) / groups;
  return best;
}

// Sorted digits to bucket sums, in the layout's slots.
template <class G>
void accumulate_group(const msm_layout<G>& l, uint32_t entries, uint32_t buckets, uint32_t* counts,
                      const typename G::affine* points, adder_space<G>& adder,
                      cudaStream_t stream) {
  const bool swapped =
      sort_pairs(l.keys, l.other_keys, l.values, l.other_values, entries,
                 msm_layout<G>::key_bits(buckets), l.sort_space, l.sort_bytes, stream);
  const uint32_t *keys = swapped ? l.other_keys : l.keys,
                 *values = swapped ? l.other_values : l.values;
  // The sort's other arrays take the operands of round 0.
  uint32_t* const left = swapped ? l.keys : l.other_keys;
  const planned to{left, left + entries / 2 + 1, swapped ? l.values : l.other_values, l.rounds,
                   counts};
  uint32_t* const end = l.start + buckets;
  CUDA_OK(cudaMemsetAsync(l.start, 0, 2 * size_t(buckets) * sizeof(uint32_t), stream));
  find_buckets<<<blocks_for(entries), 256, 0, stream>>>(l.start, end, keys, entries, buckets);
  plan_rounds<G><<<blocks_for(entries), 256, 0, stream>>>(keys, values, l.start, end, entries,
                                                          buckets, points, l.slots, to);
  CUDA_OK(cudaGetLastError());
  adder.template add<pair_kind::listed>({.points = points,
                                         .more_points = points,
                                         .out = l.slots,
                                         .left = to.left,
                                         .right = to.right,
                                         .result = to.result},
                                        counts, 0, stream);
  for (int r = 1; r < rounds_max && (uint64_t(entries) >> r) != 0; r++) {
    adder.template add<pair_kind::in_place>({.points = l.slots,
                                             .more_points = l.slots,
                                             .out = l.slots,
                                             .left = l.rounds + round_offset(r, entries),
                                             .distance = 1u << (r - 1)},
                                            counts + r, 0, stream);
  }
}

// Σ k·bucket[k] by halving: the sums of the buckets whose number has bit i. The first step, from
// the buckets of the group's sets.
template <class G>
void fold_buckets(const msm_layout<G>& l, int first_set, int sets, uint32_t buckets,
                  adder_space<G>& adder, cudaStream_t stream) {
  const uint32_t half = 1u << (l.level_log - 1), window = half + half / 2;
  adder.template add<pair_kind::fold>({.points = l.slots,
                                       .more_points = l.slots,
                                       .out = l.level + size_t(first_set) * window,
                                       .left = l.start,
                                       .right = l.start + buckets,
                                       .half = half,
                                       .a_window = window},
                                      nullptr, uint32_t(sets) * window, stream);
}

// The other steps, for all sets, and the sums of the last level.
template <class G>
void fold_levels(const msm_layout<G>& l, device_xyzz<G>* out, adder_space<G>& adder,
                 cudaStream_t stream) {
  const int m = l.level_log;
  typename G::affine *now = l.level, *next = l.other_level;
  int t = 1, q = m - 1;
  for (; q > std::min(last_level_log, m); q--, t++) {
    const uint32_t half = 1u << (q - 1), window = half + uint32_t(t + 1) * (half / 2);
    adder.template add<pair_kind::fold>({.points = now,
                                         .more_points = now,
                                         .out = next,
                                         .half = half,
                                         .levels = uint32_t(t),
                                         .a_window = window},
                                        nullptr, uint32_t(l.sets) * window, stream);
    std::swap(now, next);
  }
  sum_level<G><<<dim3(unsigned(m + 1), unsigned(l.sets)), last_threads, 0, stream>>>(
      out, reinterpret_cast<const device_affine<G>*>(now), q, t);
  CUDA_OK(cudaGetLastError());
}

template <class G>
void msm<G>::run(const msm_shape& s, const affine* d_points, const msm_terms& terms,
                 xyzz* d_partials, void* d_work, const device_facts& facts, cudaStream_t stream) {
  static_assert(sizeof(device_xyzz<G>) == sizeof(xyzz) &&
                sizeof(device_affine<G>) == sizeof(affine));
  if (s.n == 0) return;
  carver space(d_work);
  const msm_layout<G> l(s, space);
  adder_space<G> adder(space, facts, unsigned(launches_a_group * l.groups + levels_max));
  adder.reset(stream);
  CUDA_OK(cudaMemsetAsync(l.counts, 0, size_t(rounds_max) * size_t(l.groups) * sizeof(uint32_t),
                          stream));
  for (int first = 0, g = 0; first < l.sets; first += s.group, g++) {
    const int sets = std::min(s.group, l.sets - first);
    const uint32_t entries = uint32_t(s.n * size_t(sets) * size_t(s.tables)),
                   buckets = uint32_t(sets) << l.level_log;
    make_digits<typename G::scalar::params><<<blocks_for(s.n), 256, 0, stream>>>(
        l.keys, l.values, terms,
        {uint32_t(s.n), uint32_t(s.table_stride), s.window_bits, l.windows, l.sets, s.tables, first,
         sets});
    CUDA_OK(cudaGetLastError());
    accumulate_group<G>(l, entries, buckets, l.counts + rounds_max * g, d_points, adder, stream);
    fold_buckets<G>(l, first, sets, buckets, adder, stream);
  }
  fold_levels<G>(l, reinterpret_cast<device_xyzz<G>*>(d_partials), adder, stream);
}

// Σ over the sets of 2^(c·set)·(all + Σ 2^i·part_i), by Horner's rule.
template <class G>
typename G::xyzz msm<G>::combine(const msm_shape& s, const xyzz* h_partials) {
  xyzz sum = xyzz::infinity();
  if (s.n == 0) return sum;
  const int c = s.window_bits, m = c - 1;
  for (int set = sets(s); set-- > 0;) {
    const xyzz* const of_set = h_partials + size_t(set) * size_t(c);
    for (int i = c; i-- > 0;) {
      if (!sum.is_infinity()) sum = sum.dbl();
      if (i < m) sum += of_set[i];
    }
    sum += of_set[m];
  }
  return sum;
}

// Jacobian doublings, dbl-2009-l with a = 0 (2M + 5S), and one inversion a point. For G1.
template <class P>
PROOFLINE_DEVICE void doubled(element<P>& x, element<P>& y, int doublings) {
  using E = element<P>;
  E z = one_of<P>();
  const auto add = [](const E& a, const E& b) { return loose_sum<P>(a, b); };
  const auto sub = [](const E& a, const E& b) { return loose_difference<P>(a, b); };
#pragma unroll 1
  for (int i = 0; i < doublings; i++) {
    const E a = square<P>(x), b = square<P>(y), c = square<P>(b);
    const E half_d = sub(sub(square<P>(add(x, b)), a), c), d = add(half_d, half_d);
    const E e = add(add(a, a), a), yz = product<P>(y, z);
    x = sub(square<P>(e), add(d, d));
    const E c2 = add(c, c), c4 = add(c2, c2);
    y = sub(product<P>(e, sub(d, x)), add(c4, c4));
    z = add(yz, yz);
  }
  const E inverse = inverse_of<P>(z), square_inverse = square<P>(inverse);
  x = reduced<P>(product<P>(x, square_inverse));
  y = reduced<P>(product<P>(y, product<P>(square_inverse, inverse)));
}

template <class G>
__global__ void __launch_bounds__(128)
    multiply_points(void* out, const void* in, size_t n, int doublings) {
  using A = batch_adder<G>;
  const size_t i = blockIdx.x * size_t{128} + threadIdx.x;
  if (i >= n) return;
  const auto* const from = static_cast<const typename A::E*>(in) + 2 * i;
  auto* const to = static_cast<typename A::E*>(out) + 2 * i;
  auto x = A::load(from), y = A::load(from + 1);
  if (x.l[A::N - 1] != infinity_word) doubled<typename A::P>(x, y, doublings);
  A::store(to, x);
  A::store(to + 1, y);
}

template <class G>
void msm<G>::make_tables(const msm_shape& s, affine* d_points, cudaStream_t stream) {
  if constexpr (lanes_of<G>::lanes == 1) {
    for (int j = 1; j < s.tables; j++) {
      multiply_points<G><<<unsigned((s.table_stride + 127) / 128), 128, 0, stream>>>(
          d_points + size_t(j) * s.table_stride, d_points + size_t(j - 1) * s.table_stride,
          s.table_stride, s.window_bits * sets(s));
      CUDA_OK(cudaGetLastError());
    }
  } else {
    require(s.tables == 1, "tables of points of G1");
  }
}

// A tree of additions; the last 2^10 sums by one block.
constexpr uint32_t tree_leaves_last = 1u << last_level_log;

template <class G>
size_t bit_sum<G>::workspace_bytes(size_t count, const device_facts& facts) {
  carver space(nullptr);
  space.take<typename G::affine>((count + 1) / 2);
  space.take<typename G::affine>((count + 3) / 4);
  adder_space<G>(space, facts, rounds_max);
  return space.used();
}

template <class G>
void bit_sum<G>::run(const typename G::affine* d_points, const uint32_t* d_index, uint32_t count,
                     typename G::xyzz* d_partial, void* d_work, const device_facts& facts,
                     cudaStream_t stream) {
  using affine = typename G::affine;
  carver space(d_work);
  affine* now = space.take<affine>((size_t(count) + 1) / 2);
  affine* next = space.take<affine>((size_t(count) + 3) / 4);
  adder_space<G> adder(space, facts, rounds_max);
  adder.reset(stream);
  const affine* points = d_points;
  const uint32_t* index = d_index;
  while (count > tree_leaves_last) {
    const uint32_t sums = count / 2 + count % 2;
    adder.template add<pair_kind::tree>(
        {.points = points, .more_points = points, .out = now, .left = index, .count = count},
        nullptr, sums, stream);
    points = now, index = nullptr, count = sums;
    std::swap(now, next);
  }
  sum_points<G><<<1, last_threads, 0, stream>>>(reinterpret_cast<device_xyzz<G>*>(d_partial),
                                                reinterpret_cast<const device_affine<G>*>(points),
                                                index, count);
  CUDA_OK(cudaGetLastError());
}

template <class G>
size_t point_grid<G>::workspace_bytes(const device_facts& facts) {
  carver space(nullptr);
  adder_space<G>(space, facts, 1);
  return space.used();
}

template <class G>
void point_grid<G>::run(const typename G::affine* d_left, const typename G::affine* d_right,
                        int shift, uint32_t n, typename G::affine* d_out, void* d_work,
                        const device_facts& facts, cudaStream_t stream) {
  carver space(d_work);
  adder_space<G> adder(space, facts, 1);
  adder.reset(stream);
  adder.template add<pair_kind::grid>(
      {.points = d_left, .more_points = d_right, .out = d_out, .shift = uint32_t(shift)}, nullptr,
      n, stream);
}

template <class G>
__global__ void __launch_bounds__(256) mark_zeros(typename G::affine* points, size_t n) {
  const size_t i = blockIdx.x * size_t{256} + threadIdx.x;
  if (i >= n) return;
  uint32_t* const w = reinterpret_cast<uint32_t*>(points + i);
  constexpr int N = lanes_of<G>::part::N, parts = lanes_of<G>::lanes;
  uint32_t any = 0;
  for (int j = 0; j < 2 * N * parts; j++) any |= w[j];
  if (any != 0) return;
  for (int j = 0; j < parts; j++) w[N * (j + 1) - 1] = infinity_word;
}

template <class G>
void mark_infinity(typename G::affine* d_points, size_t n, cudaStream_t stream) {
  if (n == 0) return;
  mark_zeros<G><<<blocks_for(n), 256, 0, stream>>>(d_points, n);
  CUDA_OK(cudaGetLastError());
}

}  // namespace proofline::cuda

#define PROOFLINE_MSM_INSTANCES(G)                \
  template struct proofline::cuda::msm<G>;        \
  template struct proofline::cuda::bit_sum<G>;    \
  template struct proofline::cuda::point_grid<G>; \
  template void proofline::cuda::mark_infinity<G>(typename G::affine*, size_t, cudaStream_t);
