#pragma once

#include <algorithm>
#include <atomic>
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

// Lists of points: list k is refs[start[k] .. start[k] + length[k]).
struct point_lists {
  std::vector<point_ref> refs;
  std::vector<uint32_t> start, length;

  size_t count() const { return length.size(); }
  prefetch_stream stream() const { return {refs.data(), refs.data() + refs.size()}; }
};

// One worker's memory.
template <class G>
struct bucket_scratch {
  batch_scratch batch;
  point_lists current, next;
  std::vector<addition> additions;
  std::vector<typename G::affine> sums;
};

// out[k] ← the sum of list k, infinity if it is empty. The lists are used up.
template <class G>
void sum_lists(point_lists& lists, typename G::affine* out, bucket_scratch<G>& s,
               prefetch_stream& ahead) {
  using affine = typename G::affine;
  size_t sums = 0;
  for (const uint32_t length : lists.length) sums += length / 2;
  if (s.sums.size() < sums) s.sums.resize(sums);
  if (s.additions.size() < sums) s.additions.resize(sums);

  affine* next_sum = s.sums.data();
  for (bool first = true;; first = false) {
    addition* next = s.additions.data();
    for (size_t k = 0; k < lists.count(); k++) {
      const uint32_t length = lists.length[k], half = length / 2;
      if (half == 0) continue;
      point_ref* const list = lists.refs.data() + lists.start[k];
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
      lists.length[k] = length - half;
    }
    const size_t count = size_t(next - s.additions.data());
    if (count == 0) break;
    batch_add<G>(s.additions.data(), count, s.batch, ahead);
  }
  for (size_t k = 0; k < lists.count(); k++) {
    if (lists.length[k] == 0) {
      out[k] = affine::infinity();
    } else if (const point_ref last = lists.refs[lists.start[k]]; last != ref_to(out + k)) {
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
  std::unique_ptr<entry[]> entries;
  std::vector<uint32_t> part_begin;  // parts() + 1

  template <class G>
  static parted_window make(const digit_table<G>& table, int window) {
    const size_t n = table.table().size();
    const int16_t* const digits = table.negated_digits(window);
    parted_window p;
    p.shape = window_shape::of(table.plan().buckets_log(window), n);
    p.part_begin.assign(p.shape.parts() + 1, 0);
    const auto bucket_of = [](int16_t digit) { return uint32_t(digit < 0 ? -digit : digit) - 1; };
    for (size_t i = 0; i < n; i++)
      if (digits[i] != 0) p.part_begin[(bucket_of(digits[i]) >> p.shape.part_log) + 1]++;
    for (size_t k = 0; k < p.shape.parts(); k++) p.part_begin[k + 1] += p.part_begin[k];

    p.entries = std::make_unique_for_overwrite<entry[]>(p.part_begin.back());
    std::vector<uint32_t> next(p.part_begin.begin(), p.part_begin.end() - 1);
    const uint32_t low = uint32_t(p.shape.part_buckets() - 1);
    for (size_t i = 0; i < n; i++) {
      if (digits[i] == 0) continue;
      const uint32_t bucket = bucket_of(digits[i]);
      p.entries[next[bucket >> p.shape.part_log]++] =
          entry::of(uint32_t(i), digits[i] > 0, bucket & low);
    }
    return p;
  }
};

// Sums that are independent of each other, each small enough for one worker's cache, then the sums of those
// that were cut: whoever is free takes the next. Each worker prepares its next piece first, and has the cache
// fetch that piece's points while it works on the present one.
template <class G>
class list_sums {
 public:
  using affine = typename G::affine;

  explicit list_sums(std::span<const affine> table) : table_(table) {}

  // A window's buckets to out[0 .. buckets).
  void add_window(const parted_window& w, affine* out) {
    for (size_t k = 0; k < w.shape.parts(); k++) {
      const size_t begin = w.part_begin[k], end = w.part_begin[k + 1];
      cut(end - begin, w.shape.part_buckets(), out + k * w.shape.part_buckets(),
          [&](size_t from, size_t count) {
            return piece{w.entries.get() + begin + from, nullptr, count, w.shape.part_buckets()};
          });
    }
  }

  // One list to *out.
  void add_list(std::span<const point_ref> refs, affine* out) {
    cut(refs.size(), 1, out,
        [&](size_t from, size_t count) { return piece{nullptr, refs.data() + from, count, 1}; });
  }

  void run(const executor& exec, std::vector<bucket_scratch<G>>& scratch) {
    partial_ = std::make_unique_for_overwrite<affine[]>(partial_size_);
    for (piece& p : pieces_)
      if (p.out == nullptr) p.out = partial_.get() + p.partial;
    std::atomic<size_t> taken{0};
    exec.run(exec.lanes(), [&](size_t, unsigned lane) { work(exec, taken, scratch[lane]); });
    exec.run(merges_.size(), [&](size_t i, unsigned lane) { merge(merges_[i], scratch[lane]); });
  }

 private:
  // A table of this size stays in the second-level cache, where fetching ahead costs more than it saves.
  static constexpr size_t small_table = size_t{2} << 20;

  // `count` entries of the table, or references, for `buckets` sums at `out`.
  struct piece {
    const entry* entries;
    const point_ref* refs;
    size_t count, buckets;
    affine* out = nullptr;
    size_t partial = 0;
  };
  struct merge_task {
    size_t pieces, buckets, partial;
    affine* out;
  };

  // What is crowded becomes several pieces with sums of their own, merged afterwards.
  template <class Make>
  void cut(size_t count, size_t buckets, affine* out, Make&& make) {
    constexpr size_t wanted = window_shape::part_entries;
    const size_t pieces = count <= 2 * wanted ? 1 : (count - 1) / wanted + 1;
    if (pieces > 1) merges_.push_back({pieces, buckets, partial_size_, out});
    for (size_t i = 0; i < pieces; i++) {
      const size_t from = count * i / pieces, to = count * (i + 1) / pieces;
      piece p = make(from, to - from);
      if (pieces == 1) {
        p.out = out;
      } else {
        p.partial = partial_size_;
        partial_size_ += buckets;
      }
      pieces_.push_back(p);
    }
  }

  void work(const executor& exec, std::atomic<size_t>& taken, bucket_scratch<G>& s) const {
    const auto take = [&](point_lists& lists) -> const piece* {
      const size_t i = taken.fetch_add(1, std::memory_order_relaxed);
      if (i >= pieces_.size()) return lists.refs.clear(), nullptr;
      prepare(pieces_[i], lists);
      return &pieces_[i];
    };
    for (const piece* now = take(s.next); now != nullptr;) {
      exec.check_cancelled();
      std::swap(s.current, s.next);
      const piece* const next = take(s.next);
      prefetch_stream ahead;
      if (table_.size_bytes() > small_table) ahead = s.next.stream();
      sum_lists<G>(s.current, now->out, s, ahead);
      now = next;
    }
  }

  void prepare(const piece& p, point_lists& lists) const {
    lists.length.assign(p.buckets, 0);
    lists.start.assign(p.buckets, 0);
    lists.refs.resize(p.count);
    if (p.refs != nullptr) {
      std::copy_n(p.refs, p.count, lists.refs.begin());
      lists.length[0] = uint32_t(p.count);
      return;
    }
    const std::span<const entry> entries{p.entries, p.count};
    for (const entry e : entries) lists.length[e.bucket()]++;
    uint32_t at = 0;
    for (size_t k = 0; k < p.buckets; k++) at += lists.length[k], lists.start[k] = at;
    for (const entry e : entries)
      lists.refs[--lists.start[e.bucket()]] = ref_to(&table_[e.index()], e.negate());
  }

  void merge(const merge_task& t, bucket_scratch<G>& s) const {
    point_lists& lists = s.current;
    lists.length.assign(t.buckets, 0);
    lists.start.assign(t.buckets, 0);
    lists.refs.clear();
    for (size_t k = 0; k < t.buckets; k++) {
      lists.start[k] = uint32_t(lists.refs.size());
      for (size_t i = 0; i < t.pieces; i++) {
        const affine& sum = partial_[t.partial + i * t.buckets + k];
        if (!sum.is_infinity()) lists.refs.push_back(ref_to(&sum));
      }
      lists.length[k] = uint32_t(lists.refs.size()) - lists.start[k];
    }
    prefetch_stream nothing;
    sum_lists<G>(lists, t.out, s, nothing);
  }

  std::span<const affine> table_;
  std::vector<piece> pieces_;
  std::vector<merge_task> merges_;
  size_t partial_size_ = 0;
  std::unique_ptr<affine[]> partial_;
};

}  // namespace proofline
