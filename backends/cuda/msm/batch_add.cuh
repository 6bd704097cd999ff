#pragma once

#include "msm/lanes.cuh"
#include "msm/pairs.cuh"

// Batch-affine additions (Montgomery's trick): out = left + right for independent pairs, in chunks
// of K pairs a lane; a block draws chunks from a counter until none is left.
//   Forward: products of the differences x2 − x1; their prefixes go to global memory (a region a
//   block, used
//     again for every chunk).
//   Inversion: groups of four lanes multiply up, one warp of the block inverts the 32 group
//   products. Backward: 1/d, slope, sum. 5M + 1S an addition, plus about (4 + 53/4)M / K.
// Both passes fetch indices two pairs ahead and coordinates one pair ahead. Three blocks of 128 on
// a multiprocessor with up to 168 registers beat four with 128 registers and spills.
namespace proofline::cuda {

constexpr int add_threads = 128, add_blocks_each = 3;
constexpr uint32_t add_pairs_min = 4, add_pairs_max = 128;

struct add_scratch {
  uint4* prefixes;
  uint32_t* ticket;  // 0 before each launch
};

template <class G>
struct batch_adder {
  using L = lanes_of<G>;
  using P = typename L::params;
  using E = element<P>;
  static constexpr int N = E::N, vectors = N / 4;
  static constexpr uint32_t items = add_threads / L::lanes;
  static constexpr size_t prefix_bytes_a_block = size_t{add_pairs_max} * add_threads * sizeof(E);

  enum kind_of_pair { normal, doubling, keep_left, keep_right, nothing };

  static PROOFLINE_DEVICE E load(const E* from) {
    E r;
#pragma unroll
    for (int i = 0; i < vectors; i++) {
      const uint4 v = reinterpret_cast<const uint4*>(from)[i];
      r.l[4 * i] = v.x, r.l[4 * i + 1] = v.y, r.l[4 * i + 2] = v.z, r.l[4 * i + 3] = v.w;
    }
    return r;
  }
  static PROOFLINE_DEVICE void store(E* to, const E& v) {
#pragma unroll
    for (int i = 0; i < vectors; i++)
      reinterpret_cast<uint4*>(to)[i] =
          make_uint4(v.l[4 * i], v.l[4 * i + 1], v.l[4 * i + 2], v.l[4 * i + 3]);
  }
  // 16-byte words, a block's lanes apart.
  static PROOFLINE_DEVICE E load_prefix(const uint4* p) {
    E r;
#pragma unroll
    for (int i = 0; i < vectors; i++) {
      const uint4 v = p[i * add_threads];
      r.l[4 * i] = v.x, r.l[4 * i + 1] = v.y, r.l[4 * i + 2] = v.z, r.l[4 * i + 3] = v.w;
    }
    return r;
  }
  static PROOFLINE_DEVICE void store_prefix(uint4* p, const E& v) {
#pragma unroll
    for (int i = 0; i < vectors; i++)
      p[i * add_threads] = make_uint4(v.l[4 * i], v.l[4 * i + 1], v.l[4 * i + 2], v.l[4 * i + 3]);
  }

  // This lane's part of x of a point; y lies `lanes` elements further. `infinite` stands for no
  // point.
  template <pair_kind Kind>
  static PROOFLINE_DEVICE const E* part_of(const void* points, uint32_t index, const E* infinite) {
    const E* const x = static_cast<const E*>(points) +
                       size_t(index & 0x7fffffffu) * (2 * L::lanes) +
                       (threadIdx.x & (L::lanes - 1));
    if constexpr (Kind == pair_kind::listed || Kind == pair_kind::in_place) return x;
    return index == no_point ? infinite : x;
  }
  // Only listed pairs have signs.
  template <pair_kind Kind>
  static PROOFLINE_DEVICE E signed_y(const E& y, uint32_t index) {
    if constexpr (Kind != pair_kind::listed) return y;
    return int32_t(index) < 0 ? negated<P>(y) : y;
  }

  // Whole waves of chunks: pairs a lane in each.
  static PROOFLINE_DEVICE uint32_t pairs_a_lane(uint32_t count) {
    const uint64_t slots = uint64_t(gridDim.x) * items;
    uint64_t waves = (count + slots * add_pairs_max - 1) / (slots * add_pairs_max);
    if (waves < 1) waves = 1;
    const uint32_t k = uint32_t((count + slots * waves - 1) / (slots * waves));
    return k < add_pairs_min ? add_pairs_min : k > add_pairs_max ? add_pairs_max : k;
  }

  // The denominator of the slope. Never 0; 1 where there is nothing to divide.
  template <pair_kind Kind>
  static PROOFLINE_DEVICE kind_of_pair denominator(E& d, const pair_list& list, const E* infinite,
                                                   uint32_t i, bool active, const E& x1,
                                                   const E& x2) {
    kind_of_pair kind = normal;
    d = difference<P>(x2, x1);  // equal x exactly if d = p
    const bool no_left = x1.l[N - 1] == infinity_word, no_right = x2.l[N - 1] == infinity_word;
    if (no_left || no_right || !active) {
      kind = !active ? nothing : no_right ? keep_left : keep_right;
      d = L::one();
    }
    bool same = kind == normal && d.l[0] == modulus_words<P>::p(0);
    if (L::any(same)) {
      const modulus_array<P> m;
#pragma unroll
      for (int j = 0; j < N; j++) same = same && d.l[j] == m.w[j];
      same = L::both(same);
      E y1{}, y2{};
      if (same) {
        const pair p = list.at<Kind>(i);
        y1 = signed_y<Kind>(load(part_of<Kind>(list.points, p.left, infinite) + L::lanes), p.left);
        y2 = signed_y<Kind>(load(part_of<Kind>(list.more_points, p.right, infinite) + L::lanes),
                            p.right);
      }
      const bool twice = L::both(same && equal<P>(y1, y2));
      if (same) {
        kind = twice ? doubling : nothing;
        E sum = y1;
        add_in_place<N>(sum.l, y1.l);
        d = twice ? sum : L::one();
      }
    }
    return kind;
  }
};

// `infinite_point`: for lists that name none. `count` is below 2^31. `count_at`: the number of
// pairs where only the device knows it, or null.
template <class G, pair_kind Kind>
__global__ void __launch_bounds__(add_threads, add_blocks_each)
    batch_add(const pair_list list, const void* infinite_point, const uint32_t* count_at,
              uint32_t count, const add_scratch scratch) {
  using A = batch_adder<G>;
  using L = typename A::L;
  using P = typename A::P;
  using E = typename A::E;
  constexpr int N = A::N;
  constexpr uint32_t items = A::items;
  __shared__ E inverses[32];
  __shared__ uint32_t chunk;
  const uint32_t thread = threadIdx.x;
  const E* const infinite = static_cast<const E*>(infinite_point) + (thread & (L::lanes - 1));
  if (count_at != nullptr) count = *count_at;
  const uint32_t K = A::pairs_a_lane(count);
  uint4* const prefixes =
      scratch.prefixes + blockIdx.x * (A::prefix_bytes_a_block / sizeof(uint4)) + thread;
  constexpr int stride = A::vectors * add_threads;
  const auto left_part = [&](const pair& p) {
    return A::template part_of<Kind>(list.points, p.left, infinite);
  };
  const auto right_part = [&](const pair& p) {
    return A::template part_of<Kind>(list.more_points, p.right, infinite);
  };

#pragma unroll 1
  for (;;) {
    __syncthreads();
    if (thread == 0) chunk = atomicAdd(scratch.ticket, 1);
    __syncthreads();
    const uint64_t base = uint64_t(chunk) * K * items;
    if (base >= count) break;
    const uint32_t first = uint32_t(base) + thread / L::lanes;
    const int turns = int(min(K, uint32_t((count - base + items - 1) / items)));
    // A lane without a pair of its own reads the last one and adds nothing.
    const auto number = [&](int k) { return min(first + uint32_t(k) * items, count - 1); };
    const auto active = [&](int k) { return first + uint32_t(k) * items < count; };
    E product_so_far = L::one();
    {
      pair p = list.at<Kind>(number(0)), next = p;
      E x1 = A::load(left_part(p)), x2 = A::load(right_part(p));
      if (turns > 1) next = list.at<Kind>(number(1));
#pragma unroll 1
      for (int k = 0; k < turns; k++) {
        E d;
        A::template denominator<Kind>(d, list, infinite, number(k), active(k), x1, x2);
        if (k + 1 < turns) {
          x1 = A::load(left_part(next));
          x2 = A::load(right_part(next));
        }
        if (k + 2 < turns) next = list.at<Kind>(number(k + 2));
        A::store_prefix(prefixes + k * stride, product_so_far);
        product_so_far = L::mul(product_so_far, d);
      }
    }
    {
      // o: the product of the group's other lanes.
      E o, group;
      if constexpr (L::lanes == 1) {
        o = shuffled<P>(product_so_far, 1);
        group = L::mul(product_so_far, o);
        const E other = shuffled<P>(group, 2);
        o = L::mul(o, other);
        group = L::mul(group, other);
      } else {
        o = shuffled<P>(product_so_far, 2);
        group = L::mul(product_so_far, o);
      }
      const E norm = L::norm(group);
      if ((thread & 3) == 0) inverses[thread >> 2] = norm;
      __syncthreads();
      if (thread >> 5 == blockIdx.x * add_blocks_each / gridDim.x)
        inverses[thread & 31] = inverse_of<P>(inverses[thread & 31]);
      __syncthreads();
      product_so_far = L::mul(L::inverse_from(group, inverses[thread >> 2]), o);
    }
    {
      pair p = list.at<Kind>(number(turns - 1)), next = p;
      const E *left = left_part(p), *right = right_part(p);
      E x1 = A::load(left), x2 = A::load(right);
      E inverse = A::load_prefix(prefixes + (turns - 1) * stride);
      if (turns > 1) next = list.at<Kind>(number(turns - 2));
#pragma unroll 1
      for (int k = turns - 1; k >= 0; k--) {
        E y1 = A::load(left + L::lanes), y2 = A::load(right + L::lanes), d;
        const auto kind =
            A::template denominator<Kind>(d, list, infinite, number(k), active(k), x1, x2);
        inverse = L::mul(inverse, product_so_far);
        product_so_far = L::mul(product_so_far, d);
        y1 = A::template signed_y<Kind>(y1, p.left);
        y2 = A::template signed_y<Kind>(y2, p.right);
        E n = difference<P>(y2, y1);
        if (L::any(kind == A::doubling)) {
          const E xx = L::sqr(x1), three = loose_sum<P>(loose_sum<P>(xx, xx), xx);
          n = selected<P>(kind == A::doubling, three, n);
        }
        const E slope = L::mul(inverse, n);
        E sum = x1, x_left = x1;
        add_in_place<N>(sum.l, x2.l);
        E* const to =
            static_cast<E*>(list.out) + size_t(p.out) * (2 * L::lanes) + (thread & (L::lanes - 1));
        const bool add = kind == A::normal || kind == A::doubling, kept = active(k);
        // What stands in the sum's place where there is nothing to add.
        E other_x, other_y;
        if (!add) {
          other_x = selected<P>(kind == A::keep_right, x2, x1);
          other_y = selected<P>(kind == A::keep_right, y2, y1);
          if (kind == A::nothing) other_x.l[N - 1] = infinity_word;
        }
        E x = reduced<P>(loose_difference<P>(L::sqr(slope), sum));
        // Here, and not before the square: 3 % of a large sum.
        p = next;
        if (k > 0) {
          left = left_part(p), right = right_part(p);
          x1 = A::load(left), x2 = A::load(right);
          inverse = A::load_prefix(prefixes + (k - 1) * stride);
        }
        if (k > 1) next = list.at<Kind>(number(k - 2));
        E y = reduced<P>(loose_difference<P>(L::mul(difference<P>(x_left, x), slope), y1));
        if (!add) x = other_x, y = other_y;
        if (kept) {
          A::store(to, x);
          A::store(to + L::lanes, y);
        }
      }
    }
  }
}

}  // namespace proofline::cuda
