#pragma once

#include <cstdint>

// Where the pairs of a batch of independent additions lie.
namespace proofline::cuda {

enum class pair_kind : int { listed, in_place, tree, fold, grid };

// Indices of points; bit 31 of an operand asks for its negative. No operand: the point at infinity.
constexpr uint32_t no_point = 0xffffffffu;

struct pair {
  uint32_t left, right, out;
};

// What the fields mean for each kind, with i the number of the pair:
//   listed        left[i] + right[i] → result[i]
//   in_place      slot list[i] − distance and slot list[i] → the former
//   tree          2i and 2i + 1 of `count` → i; with a list, the points that it names there
//   fold          levels = 0: the buckets' slots by pairs, and pairs of those with an odd number
//   (plan.cuh);
//                 else the same one level up
//   grid          i >> shift of `points` and i & mask of `more_points` → i
struct pair_list {
  const void *points, *more_points;
  void* out;
  const uint32_t *left = nullptr, *right = nullptr, *result = nullptr;
  uint32_t distance = 0, count = 0, half = 0, levels = 0, a_window = 0, shift = 0;

#if defined(__CUDACC__)
  __device__ __forceinline__ uint32_t slot(uint32_t bucket) const {
    const uint32_t start = left[bucket];
    return right[bucket] > start ? uint32_t((uint64_t(start) + bucket) >> 1) : no_point;
  }

  template <pair_kind Kind>
  __device__ __forceinline__ pair at(uint32_t i) const {
    if constexpr (Kind == pair_kind::listed) {
      return {__ldcs(left + i), __ldcs(right + i), __ldcs(result + i)};
    } else if constexpr (Kind == pair_kind::in_place) {
      const uint32_t b = __ldcs(left + i);
      return {b - distance, b, b - distance};
    } else if constexpr (Kind == pair_kind::tree) {
      const bool last = 2 * i + 1 >= count;
      if (left == nullptr) return {2 * i, last ? no_point : 2 * i + 1, i};
      return {__ldcs(left + 2 * i), last ? no_point : __ldcs(left + 2 * i + 1), i};
    } else if constexpr (Kind == pair_kind::fold) {
      return levels == 0 ? first_fold_at(i) : fold_at(i);
    } else {
      return {i >> shift, i & ((1u << shift) - 1), i};
    }
  }

  __device__ __forceinline__ pair first_fold_at(uint32_t i) const {
    const uint32_t w = i / a_window, o = i - w * a_window, base = w * 2 * half;
    const uint32_t a = base + (o < half ? 2 * o : 4 * (o - half) + 1);
    return {slot(a), slot(o < half ? a + 1 : a + 2), i};
  }

  // A level holds per window [A: 2h][O_0: h] … [O_{t−1}: h]; the next one, with h' = h/2, has
  // A' = sums of neighbours in A, O_s' = the same in O_s, O_t'[j] = A[4j + 1] + A[4j + 3].
  __device__ __forceinline__ pair fold_at(uint32_t i) const {
    const uint32_t w = i / a_window, o = i - w * a_window, base = w * (levels + 2) * half;
    if (o < half) return {base + 2 * o, base + 2 * o + 1, i};
    const uint32_t r = o - half, next = half >> 1, s = r / next, j = r - s * next;
    const uint32_t a = base + (s < levels ? 2 * half + s * half + 2 * j : 4 * j + 1);
    return {a, s < levels ? a + 1 : a + 2, i};
  }
#endif
};

}  // namespace proofline::cuda
