#pragma once

#include "msm/buckets.hpp"

// Σ sᵢ·Pᵢ by Pippenger's bucket method: signed windows, buckets by batch-affine additions.
namespace proofline {

namespace msm_detail {

// The weighted sums Σ k·bucket[k] of several windows, each in segments of consecutive buckets that
// advance together, one batch a step. With run = Σ of a segment's buckets so far, from its top, and
// sum = Σ of its runs, the segment's part is sum + (number of buckets below it)·run.
template <class G>
class window_sums {
 public:
  using affine = typename G::affine;
  using xyzz = typename G::xyzz;
  struct window {
    const affine* buckets;
    size_t count;  // a power of two
  };

  window_sums(std::vector<window> windows, unsigned lanes) : windows_(std::move(windows)) {
    size_t total = 0;
    for (const window& w : windows_) total += w.count;
    const size_t wanted = std::bit_ceil(std::max<size_t>(total / (2 * lanes * batch_wanted), 1));
    length_ = std::clamp<size_t>(wanted, 16, 128);
    for (const window& w : windows_) {
      first_.push_back(segments_.size());
      const size_t length = std::min(length_, w.count);
      for (size_t at = 0; at < w.count; at += length) segments_.push_back({w.buckets + at, length});
    }
    first_.push_back(segments_.size());
    state_ = huge_array<state>(segments_.size());
  }

  void run(const executor& exec, std::vector<bucket_scratch<G>>& scratch, xyzz* out) {
    const size_t lanes = exec.lanes();
    const size_t rounds = (segments_.size() + lanes * batch_wanted - 1) / (lanes * batch_wanted);
    const size_t tasks = std::min(segments_.size(), rounds * lanes);
    exec.run(tasks, [&](size_t task, unsigned lane) {
      advance(segments_.size() * task / tasks, segments_.size() * (task + 1) / tasks,
              scratch[lane]);
    });
    exec.run(windows_.size(), [&](size_t w, unsigned) { out[w] = combine(w); });
  }

 private:
  static constexpr size_t batch_wanted = 256;

  struct segment {
    const affine* buckets;
    size_t length;
  };
  struct state {
    affine run[2], sum;  // run of the even and of the odd steps
  };

  // Step t adds the bucket t below the top to `run`, and the run of step t − 1 to `sum`.
  void advance(size_t begin, size_t end, bucket_scratch<G>& s) {
    size_t steps = 0;
    for (size_t i = begin; i < end; i++) {
      const segment& seg = segments_[i];
      state_[i].run[0] = seg.buckets[seg.length - 1];
      state_[i].sum = affine::infinity();
      steps = std::max(steps, seg.length);
    }
    for (size_t t = 1; t <= steps; t++) {
      s.additions.clear();
      addition* const first = s.additions.space(2 * (end - begin));
      addition* next = first;
      for (size_t i = begin; i < end; i++) {
        const segment& seg = segments_[i];
        if (t > seg.length) continue;
        state& at = state_[i];
        const affine* const before = &at.run[(t - 1) % 2];
        if (!before->is_infinity()) {
          if (t == 1 || at.sum.is_infinity()) {
            at.sum = *before;
          } else {
            *next++ = {ref_to(&at.sum), ref_to(before), &at.sum};
          }
        }
        if (t == seg.length) continue;
        const affine* const bucket = seg.buckets + seg.length - 1 - t;
        affine* const after = &at.run[t % 2];
        if (bucket->is_infinity()) {
          *after = *before;
        } else if (before->is_infinity()) {
          *after = *bucket;
        } else {
          *next++ = {ref_to(before), ref_to(bucket), after};
        }
      }
      batch_add<G>(first, size_t(next - first), s.batch);
    }
  }

  xyzz combine(size_t w) const {
    xyzz sum = xyzz::infinity(), run = xyzz::infinity(), weighted = xyzz::infinity();
    const size_t length = segments_[first_[w]].length;
    for (size_t i = first_[w + 1]; i-- > first_[w];) {
      weighted += run;  // at last: Σ over segments of (segments below it)·run
      run += canonical_point<G>(&state_[i].run[(length - 1) % 2]);
      sum += canonical_point<G>(&state_[i].sum);
    }
    for (size_t l = length; l > 1; l /= 2) weighted = weighted.dbl();
    return sum + weighted;
  }

  std::vector<window> windows_;
  size_t length_ = 0;
  std::vector<size_t> first_;
  std::vector<segment> segments_;
  huge_array<state> state_;
};

// Windows that are worked on together: all of a small block, fewer of a large one, to bound its
// memory.
inline size_t windows_at_once(size_t n, size_t windows, unsigned lanes) {
  constexpr size_t entries_wanted = size_t{1} << 21;
  return std::min(windows, std::max<size_t>(entries_wanted / std::max<size_t>(n, 1), lanes));
}

template <class G>
typename G::xyzz msm_block(const points_view<G>& points, const words<4>* scalars,
                           const executor& exec, std::vector<bucket_scratch<G>>& scratch) {
  using affine = typename G::affine;
  using xyzz = typename G::xyzz;
  const digit_table<G> table(points, scalars, exec);
  const window_plan& plan = table.plan();

  affine ones = affine::infinity();
  list_sums<G> sum_of_ones({});
  sum_of_ones.add_list(table.ones(), &ones);
  sum_of_ones.run(exec, scratch);

  std::vector<xyzz> sums(size_t(plan.count), xyzz::infinity());
  const size_t at_once = windows_at_once(table.table().size(), sums.size(), exec.lanes());
  for (size_t first = 0; first < sums.size(); first += at_once) {
    const size_t count = std::min(at_once, sums.size() - first);
    std::vector<parted_window> windows(count);
    exec.run(count, [&](size_t i, unsigned) {
      windows[i] = parted_window::make<G>(table, int(first + i));
    });
    size_t buckets = 0;
    for (const parted_window& w : windows) buckets += w.shape.buckets();
    const huge_array<affine> storage(buckets);
    list_sums<G> bucket_sums(table.table());
    std::vector<typename window_sums<G>::window> to_sum;
    affine* next = storage.data();
    for (const parted_window& w : windows) {
      bucket_sums.add_window(w, next);
      to_sum.push_back({next, w.shape.buckets()});
      next += w.shape.buckets();
    }
    bucket_sums.run(exec, scratch);
    window_sums<G>(std::move(to_sum), exec.lanes()).run(exec, scratch, &sums[first]);
  }

  xyzz result = xyzz::infinity();
  for (size_t w = sums.size(); w-- > 0;) {
    for (int i = 0; i < plan.bits; i++) result = result.dbl();
    result += sums[w];
  }
  return result + canonical_point<G>(&ones);
}

}  // namespace msm_detail

// Peak bytes that `msm` allocates for n full-size scalars; fewer for others.
template <class G>
size_t msm_memory_bytes(size_t n, unsigned lanes) {
  using affine = typename G::affine;
  n = std::min(n, block_points_max);
  std::array<size_t, 257> lengths{};
  lengths[size_t(G::scalar::params::bits) - 1] = n;
  const window_plan plan = plan_windows(lengths);
  const size_t at_once = msm_detail::windows_at_once(n, size_t(plan.count), lanes);
  const size_t buckets = at_once << (plan.bits - 1);
  const size_t lane = 8 * piece_points<G> * (sizeof(point_ref) + sizeof(affine) / 2);
  return n * (sizeof(affine) + size_t(plan.count) * sizeof(int16_t) + at_once * sizeof(entry)) +
         buckets * (sizeof(affine) + sizeof(affine) / 4) + lanes * (lane + (size_t{1} << 20));
}

// Σ scalars[i]·points[i]. The points are of the group's curve (not checked), the scalars below r.
// Zeros cost nothing, ±1 one addition each, a scalar of b bits (or r minus one) as many as b bits
// have digits. Blocks until done, on the pool's threads and the caller's; memory:
// `msm_memory_bytes`.
// @throws cancelled_error between pieces of work of about a millisecond
template <class G>
typename G::xyzz msm(const points_view<G>& points, std::span<const words<4>> scalars,
                     const executor& exec) {
  require(points.count == scalars.size(), "as many points as scalars");
  std::vector<bucket_scratch<G>> scratch(exec.lanes());
  auto sum = G::xyzz::infinity();
  for (size_t begin = 0; begin < points.count; begin += block_points_max) {
    const size_t n = std::min(block_points_max, points.count - begin);
    sum += msm_detail::msm_block<G>(points.part(begin, n), scalars.data() + begin, exec, scratch);
  }
  return sum;
}

}  // namespace proofline
