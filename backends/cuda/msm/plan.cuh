#pragma once

#include "msm/batch_add.cuh"
#include "msm/msm.cuh"

// From scalars to lists of additions.
//   digits  signed windows of c bits; one (bucket, point) pair per scalar and window
//   plan    in the sorted list, every element of a bucket except its first is the right operand of
//   exactly one
//           addition: with rel its place in the bucket, in round ctz(rel), with the left operand at
//           rel − 2^ctz(rel). One list a round. Sums stay in place, in slots of two elements each:
//           ((start + bucket) >> 1) + (rel >> 1), which no two buckets share.
namespace proofline::cuda {

// s/2^256 mod r, at most r, and r only for 0 mod r.
template <class P>
PROOFLINE_DEVICE void out_of_montgomery(uint32_t* s) {
#pragma unroll
  for (int i = 0; i < 8; i++) {
    const uint32_t m = s[0] * modulus_words<P>::inverse;
    uint64_t carry = (uint64_t(m) * modulus_words<P>::p(0) + s[0]) >> 32;
#pragma unroll
    for (int j = 1; j < 8; j++) {
      carry += uint64_t(m) * modulus_words<P>::p(j) + s[j];
      s[j - 1] = uint32_t(carry);
      carry >>= 32;
    }
    s[7] = uint32_t(carry);
  }
}

// The parts of an MSM that the kernels share. A set is one window of every table: window j·sets +
// set belongs to table j, which holds 2^(c·sets·j)·P.
struct digit_layout {
  uint32_t n;             // scalars
  uint32_t table_stride;  // points of a table
  int window_bits, windows, sets, tables;
  int first_set, group;  // the sets of this run
};

// Column (set − first_set)·tables + table of `keys` and `values` has the digits of one window.
template <class P>
__global__ void __launch_bounds__(256)
    make_digits(uint32_t* keys, uint32_t* values, const msm_terms terms, const digit_layout d) {
  const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= d.n) return;
  const uint4* const scalar = reinterpret_cast<const uint4*>(
      terms.scalars + (terms.places != nullptr ? terms.places[i] : i));
  const uint4 low = scalar[0], high = scalar[1];
  uint32_t s[8] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
  if (terms.montgomery) out_of_montgomery<P>(s);
  const uint32_t point = terms.point_of != nullptr ? terms.point_of[i] : i;
  uint32_t negative = 0;
  {
    // Above r/2, r − s instead: one bit less.
    uint32_t t[8];
    t[0] = sub_cc(modulus_words<P>::p(0), s[0]);
#pragma unroll
    for (int j = 1; j < 8; j++) t[j] = subc_cc(modulus_words<P>::p(j), s[j]);
    bool smaller = false, known = false;
#pragma unroll
    for (int j = 7; j >= 0; j--) {
      if (!known && t[j] != s[j]) known = true, smaller = t[j] < s[j];
    }
    negative = smaller ? 0x80000000u : 0;
#pragma unroll
    for (int j = 0; j < 8; j++) s[j] = smaller ? t[j] : s[j];
  }
  const int c = d.window_bits;
  const uint32_t half = 1u << (c - 1), mask = (1u << c) - 1, none = uint32_t(d.group) << (c - 1);
  uint32_t carry = 0;
  int set = 0, table = 0;
  for (int w = 0; w < d.sets * d.tables; w++) {
    uint32_t digit = (s[0] & mask) + carry, sign = negative;
    carry = digit > half;
    if (carry) digit = (1u << c) - digit, sign ^= 0x80000000u;
    const int column = set - d.first_set;
    if (column >= 0 && column < d.group) {
      const size_t q = size_t(column * d.tables + table) * d.n + i;
      keys[q] = digit != 0 ? uint32_t(column) * half + digit - 1 : none;
      values[q] = (uint32_t(table) * d.table_stride + point) | sign;
    }
#pragma unroll
    for (int l = 0; l < 7; l++) s[l] = __funnelshift_r(s[l], s[l + 1], c);
    s[7] >>= c;
    if (++set == d.sets) set = 0, table++;
  }
}

// The part [start, end) of each bucket in the sorted keys; both zero before.
static __global__ void __launch_bounds__(256)
    find_buckets(uint32_t* start, uint32_t* end, const uint32_t* keys, uint32_t n,
                 uint32_t buckets) {
  const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const uint32_t k = keys[i], before = i > 0 ? keys[i - 1] : no_point;
  if (k != before) {
    if (k < buckets) start[k] = i;
    if (before < buckets) end[before] = i;
  }
  if (i == n - 1 && k < buckets) end[k] = n;
}

// Where the list of round r ≥ 1 starts: a bucket needs 2^r + 1 elements for one pair of it.
PROOFLINE_HD inline uint64_t round_offset(int r, uint64_t n) { return n - (n >> (r - 1)); }

template <class G>
PROOFLINE_DEVICE void copy_signed(void* to, uint32_t slot, const void* points, uint32_t value) {
  using A = batch_adder<G>;
  using E = typename A::E;
  constexpr int lanes = A::L::lanes;
  const E* const from = static_cast<const E*>(points) + size_t(value & 0x7fffffffu) * (2 * lanes);
  E* const out = static_cast<E*>(to) + size_t(slot) * (2 * lanes);
#pragma unroll
  for (int i = 0; i < lanes; i++) {
    A::store(out + i, A::load(from + i));
    A::store(out + lanes + i,
             A::template signed_y<pair_kind::listed>(A::load(from + lanes + i), value));
  }
}

struct planned {
  uint32_t *left, *right, *result;  // round 0: operands and slots
  uint32_t* rounds;                 // slots of the right operands of later rounds
  uint32_t* counts;                 // 32, zero before
};

template <class G>
__global__ void __launch_bounds__(256)
    plan_rounds(const uint32_t* keys, const uint32_t* values, const uint32_t* start,
                const uint32_t* end, uint32_t n, uint32_t buckets, const void* points, void* slots,
                const planned to) {
  __shared__ uint32_t count[32], base[32];
  if (threadIdx.x < 32) count[threadIdx.x] = 0;
  __syncthreads();
  const uint32_t i = blockIdx.x * 256 + threadIdx.x, lane = threadIdx.x & 31;
  const uint32_t k = i < n ? keys[i] : buckets;
  uint32_t slot = 0, round = 32, rank = 0, value = 0;
  if (k < buckets) {
    const uint32_t first = start[k], rel = i - first;
    slot = uint32_t((uint64_t(first) + k) >> 1) + (rel >> 1);
    value = values[i];
    if (rel != 0) round = __ffs(rel) - 1;
    // No partner in round 0: goes to its slot as it is.
    if ((rel & 1) == 0 && i + 1 == end[k]) copy_signed<G>(slots, slot, points, value);
  }
  const uint32_t peers = __match_any_sync(whole_warp, round);
  if (round < 32) {
    const int leader = __ffs(peers) - 1;
    uint32_t b = 0;
    if (int(lane) == leader) b = atomicAdd(&count[round], __popc(peers));
    rank = __shfl_sync(peers, b, leader) + __popc(peers & ((1u << lane) - 1));
  }
  __syncthreads();
  if (threadIdx.x < 32 && count[threadIdx.x] != 0)
    base[threadIdx.x] = atomicAdd(&to.counts[threadIdx.x], count[threadIdx.x]);
  __syncthreads();
  if (round == 0) {
    const uint32_t q = base[0] + rank;
    to.left[q] = values[i - 1], to.right[q] = value, to.result[q] = slot;
  } else if (round < 32) {
    to.rounds[round_offset(int(round), n) + base[round] + rank] = slot;
  }
}

}  // namespace proofline::cuda
