#pragma once

#include <algorithm>
#include <bit>
#include <memory>
#include <span>
#include <vector>

#include "msm/digits.hpp"

// Bucket sums of a group of windows. The points of a window are parted by the high bits of their bucket, so
// that a part's work fits the cache; within a part they are sorted by bucket, and each bucket is summed as a
// tree: in each round all neighbours of all buckets are added in one batch. No two additions meet, whatever
// the scalars are, and a bucket that holds everything costs no more than many that share it.
namespace proofline {

// One worker's memory.
template <class G>
struct bucket_scratch {
  batch_scratch batch;
  std::vector<point_ref> refs;
  std::vector<uint32_t> start, length;
  std::vector<addition> additions;
  std::vector<typename G::affine> sums;
};

// Sums each list refs[start[k] .. start[k] + length[k]) to out[k], an empty one to infinity. The lists are
// used up.
template <class G>
void sum_lists(bucket_scratch<G>& s, size_t lists, typename G::affine* out) {
  using affine = typename G::affine;
  size_t sums = 0;
  for (size_t k = 0; k < lists; k++) sums += s.length[k] / 2;
  if (s.sums.size() < sums) s.sums.resize(sums);
  if (s.additions.size() < sums) s.additions.resize(sums);

  affine* next_sum = s.sums.data();
  for (bool first = true;; first = false) {
    addition* next = s.additions.data();
    for (size_t k = 0; k < lists; k++) {
      const uint32_t length = s.length[k], half = length / 2;
      if (half == 0) continue;
      point_ref* const list = s.refs.data() + s.start[k];
      for (uint32_t i = 0; i < half; i++) {
        const point_ref left = list[2 * i];
        // After the first round every left operand is a sum of ours, and may be overwritten.
        void* const to = length == 2 ? out + k
                         : first     ? next_sum++
                                     : reinterpret_cast<void*>(left);
        *next++ = {left, list[2 * i + 1], to};
        list[i] = ref_to(to);
      }
      if (length % 2 != 0) list[half] = list[length - 1];
      s.length[k] = length - half;
    }
    const size_t count = size_t(next - s.additions.data());
    if (count == 0) break;
    batch_add<G>(s.additions.data(), count, s.batch);
  }
  for (size_t k = 0; k < lists; k++) {
    if (s.length[k] == 0) {
      out[k] = affine::infinity();
    } else if (const point_ref last = s.refs[s.start[k]]; last != ref_to(out + k)) {
      out[k] = load_point<G>(last);
    }
  }
}

// Buckets 1 .. 2^log of one window, cut into parts of 2^part_log buckets.
struct window_shape {
  int log = 0, part_log = 0;

  size_t buckets() const { return size_t{1} << log; }
  size_t parts() const { return size_t{1} << (log - part_log); }
  size_t part_buckets() const { return size_t{1} << part_log; }

  static constexpr size_t part_entries = 8192;

  static window_shape of(int log, size_t entries) {
    const int parts_log = int(std::bit_width(std::max<size_t>(entries / part_entries, 1))) - 1;
    return {log, std::clamp(log - parts_log, 0, entry::bucket_bits_max)};
  }
};

// The entries of one window, part by part.
struct parted_window {
  window_shape shape;
  std::unique_ptr<entry[]> storage;
  std::span<const entry> entries;
  std::vector<uint32_t> part_begin;  // parts() + 1

  static parted_window make(const digit_table& table, int window) {
    const size_t n = table.wide().size();
    const int16_t* const digits = table.negated_digits(window);
    parted_window p;
    p.shape = window_shape::of(table.plan().buckets_log(window), n);
    p.part_begin.assign(p.shape.parts() + 1, 0);
    const auto bucket_of = [](int16_t digit) { return uint32_t(digit < 0 ? -digit : digit) - 1; };
    for (size_t i = 0; i < n; i++)
      if (digits[i] != 0) p.part_begin[(bucket_of(digits[i]) >> p.shape.part_log) + 1]++;
    for (size_t k = 0; k < p.shape.parts(); k++) p.part_begin[k + 1] += p.part_begin[k];

    p.storage = std::make_unique_for_overwrite<entry[]>(p.part_begin.back());
    p.entries = {p.storage.get(), p.part_begin.back()};
    std::vector<uint32_t> next(p.part_begin.begin(), p.part_begin.end() - 1);
    const uint32_t low = uint32_t(p.shape.part_buckets() - 1);
    for (size_t i = 0; i < n; i++) {
      if (digits[i] == 0) continue;
      const uint32_t bucket = bucket_of(digits[i]);
      const entry point = table.wide()[i];
      p.storage[next[bucket >> p.shape.part_log]++] =
          entry::of(point.index(), point.negate() != (digits[i] > 0), bucket & low);
    }
    return p;
  }

  // All points in one bucket.
  static parted_window single(std::span<const entry> entries) {
    parted_window p;
    p.entries = entries;
    p.part_begin = {0, uint32_t(entries.size())};
    return p;
  }
};

// Sums the windows' buckets; out[i] receives those of windows[i].
template <class G>
class bucket_sums {
 public:
  using affine = typename G::affine;

  bucket_sums(const points_view<G>& points, std::span<const parted_window> windows,
              std::span<affine* const> out, std::vector<bucket_scratch<G>>& scratch)
      : points_(points), windows_(windows), out_(out), scratch_(scratch) {}

  void run(const executor& exec) {
    plan();
    exec.run(slices_.size(), [&](size_t i, unsigned lane) { sum_slice(slices_[i], scratch_[lane]); });
    exec.run(merges_.size(), [&](size_t i, unsigned lane) { merge(merges_[i], scratch_[lane]); });
  }

 private:
  struct slice {
    const parted_window* window;
    size_t begin, end;
    affine* out;
  };
  struct merge_task {
    size_t slices, buckets;
    const affine* partial;
    affine* out;
  };

  // A part is a slice; a crowded one is several, each with sums of its own, merged afterwards.
  void plan() {
    constexpr size_t slice_max = 2 * window_shape::part_entries;
    size_t partial = 0;
    const auto slices_of = [](size_t entries) {
      return entries <= slice_max ? 1 : (entries - 1) / window_shape::part_entries + 1;
    };
    const auto each_part = [&](auto&& fn) {
      for (size_t w = 0; w < windows_.size(); w++)
        for (size_t k = 0; k < windows_[w].shape.parts(); k++)
          fn(windows_[w], windows_[w].part_begin[k], windows_[w].part_begin[k + 1],
             out_[w] + k * windows_[w].shape.part_buckets());
    };
    each_part([&](const parted_window& w, size_t begin, size_t end, affine*) {
      const size_t count = slices_of(end - begin);
      if (count > 1) partial += count * w.shape.part_buckets();
    });
    partial_ = std::make_unique_for_overwrite<affine[]>(partial);
    affine* next = partial_.get();
    each_part([&](const parted_window& w, size_t begin, size_t end, affine* out) {
      const size_t count = slices_of(end - begin), buckets = w.shape.part_buckets();
      if (count > 1) merges_.push_back({count, buckets, next, out});
      for (size_t i = 0; i < count; i++) {
        slices_.push_back({&w, begin + (end - begin) * i / count, begin + (end - begin) * (i + 1) / count,
                           count > 1 ? next : out});
        if (count > 1) next += buckets;
      }
    });
  }

  void sum_slice(const slice& t, bucket_scratch<G>& s) const {
    const size_t buckets = t.window->shape.part_buckets();
    const std::span<const entry> entries = t.window->entries.subspan(t.begin, t.end - t.begin);
    s.length.assign(buckets, 0);
    s.start.assign(buckets + 1, 0);
    s.refs.resize(std::max(s.refs.size(), entries.size()));
    for (const entry e : entries) s.length[e.bucket()]++;
    for (size_t k = 0; k < buckets; k++) s.start[k + 1] = s.start[k] + s.length[k];
    for (const entry e : entries)
      s.refs[s.start[e.bucket()]++] = ref_to(points_.at(e.index()), e.negate());
    for (size_t k = 0; k < buckets; k++) s.start[k] -= s.length[k];
    sum_lists<G>(s, buckets, t.out);
  }

  void merge(const merge_task& t, bucket_scratch<G>& s) const {
    s.length.assign(t.buckets, 0);
    s.start.assign(t.buckets, 0);
    s.refs.resize(std::max(s.refs.size(), t.slices * t.buckets));
    for (size_t k = 0; k < t.buckets; k++) {
      s.start[k] = uint32_t(k * t.slices);
      for (size_t i = 0; i < t.slices; i++) {
        const affine& sum = t.partial[i * t.buckets + k];
        if (!sum.is_infinity()) s.refs[s.start[k] + s.length[k]++] = ref_to(&sum);
      }
    }
    sum_lists<G>(s, t.buckets, t.out);
  }

  const points_view<G>& points_;
  std::span<const parted_window> windows_;
  std::span<affine* const> out_;
  std::vector<bucket_scratch<G>>& scratch_;
  std::vector<slice> slices_;
  std::vector<merge_task> merges_;
  std::unique_ptr<affine[]> partial_;
};

}  // namespace proofline
