#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <memory>
#include <span>
#include <vector>

#include "msm/digits.hpp"

// Bucket sums of a group of windows. The points of a window are parted by the high bits of their
// bucket into pieces that fit the cache; within a piece they are sorted by bucket, and each bucket
// is summed as a tree: a round adds all neighbours of all buckets. No two additions meet, whatever
// the scalars are, and a bucket that holds everything costs no more than many that share it. A
// batch is the first round of one piece with the second of the piece before, the third of the one
// before that and so on, which makes it large enough for its inversion to cost little.
namespace proofline {

// A batch under construction.
class addition_list {
 public:
  void clear() { size_ = 0; }
  // Room for n more, of which `added` says how many are used.
  addition* space(size_t n) {
    if (items_.size() < size_ + n) items_.resize(size_ + n);
    return items_.data() + size_;
  }
  void added(size_t n) { size_ += n; }
  const addition* data() const { return items_.data(); }
  size_t size() const { return size_; }

 private:
  std::vector<addition> items_;
  size_t size_ = 0;
};

// Lists of points, each to be summed to its place in `out`: list k is refs[start[k] .. start[k] +
// length[k]).
template <class G>
struct tree_sums {
  using affine = typename G::affine;

  std::vector<point_ref> refs;
  std::vector<uint32_t> start, length;
  affine* out = nullptr;

  void begin(size_t lists, affine* to) {
    refs.clear();
    start.assign(lists, 0);
    length.assign(lists, 0);
    out = to;
    additions_max_ = 0;
    first_ = true;
  }

  // Appends the next round's additions, which must have run before the next call; false when there
  // is none and all sums stand in `out`, infinity for an empty list.
  bool next_round(addition_list& batch) {
    if (first_) {
      for (const uint32_t l : length) additions_max_ += l / 2;
      if (sums_.size() < additions_max_) sums_.resize(additions_max_);
    }
    addition* const begin = batch.space(additions_max_);
    addition* next = begin;
    affine* next_sum = sums_.data();
    for (size_t k = 0; k < length.size(); k++) {
      const uint32_t count = length[k], half = count / 2;
      if (half == 0) continue;
      point_ref* const list = refs.data() + start[k];
      for (uint32_t i = 0; i < half; i++) {
        const point_ref left = list[2 * i];
        // After the first round every left operand is a sum of ours, and may be overwritten.
        void* const to = count == 2 ? out + k
                         : first_   ? next_sum++
                                    : reinterpret_cast<void*>(left);
        *next++ = {left, list[2 * i + 1], to};
        list[i] = ref_to(to);
      }
      if (count % 2 != 0) list[half] = list[count - 1];
      length[k] = count - half;
    }
    first_ = false;
    batch.added(size_t(next - begin));
    if (next == begin) finish();
    return next != begin;
  }

 private:
  void finish() {
    for (size_t k = 0; k < length.size(); k++) {
      if (length[k] == 0) {
        out[k] = affine::infinity();
      } else if (const point_ref last = refs[start[k]]; last != ref_to(out + k)) {
        out[k] = load_point<G>(last);
      }
    }
  }

  std::vector<affine> sums_;
  size_t additions_max_ = 0;
  bool first_ = true;
};

// One worker's memory: trees at work, the one that is prepared, and those that may be used again.
template <class G>
struct bucket_scratch {
  using tree = std::unique_ptr<tree_sums<G>>;

  batch_scratch batch;
  addition_list additions;
  std::vector<tree> active, idle;

  tree take_idle() {
    if (idle.empty()) return std::make_unique<tree_sums<G>>();
    tree t = std::move(idle.back());
    idle.pop_back();
    return t;
  }

  // One round of each active tree.
  void advance(prefetch_stream& ahead) {
    additions.clear();
    for (tree& t : active)
      if (!t->next_round(additions)) idle.push_back(std::move(t));
    std::erase(active, nullptr);
    batch_add<G>(additions.data(), additions.size(), batch, ahead);
  }
};

// Points of a piece: its own and those fetched for the next one share the second-level cache with
// their sums.
template <class G>
inline constexpr size_t piece_points = (size_t{96} << 10) / sizeof(typename G::affine);

// Buckets 1 .. 2^log of one window, cut into parts of 2^part_log buckets.
struct window_shape {
  int log = 0, part_log = 0;

  size_t buckets() const { return size_t{1} << log; }
  size_t parts() const { return size_t{1} << (log - part_log); }
  size_t part_buckets() const { return size_t{1} << part_log; }

  static window_shape of(int log, size_t entries, size_t part_entries) {
    const int parts_log = int(std::bit_width(std::max<size_t>(entries / part_entries, 1))) - 1;
    return {log, std::clamp(log - parts_log, 0, entry::bucket_bits_max)};
  }
};

// The entries of one window, part by part.
struct parted_window {
  window_shape shape;
  huge_array<entry> entries;
  std::vector<uint32_t> part_begin;  // parts() + 1

  template <class G>
  static parted_window make(const digit_table<G>& table, int window) {
    const size_t n = table.table().size();
    const int16_t* const digits = table.negated_digits(window);
    parted_window p;
    p.shape = window_shape::of(table.plan().buckets_log(window), n, piece_points<G>);
    p.part_begin.assign(p.shape.parts() + 1, 0);
    const auto bucket_of = [](int16_t digit) { return uint32_t(digit < 0 ? -digit : digit) - 1; };
    for (size_t i = 0; i < n; i++)
      if (digits[i] != 0) p.part_begin[(bucket_of(digits[i]) >> p.shape.part_log) + 1]++;
    for (size_t k = 0; k < p.shape.parts(); k++) p.part_begin[k + 1] += p.part_begin[k];

    p.entries = huge_array<entry>(p.part_begin.back());
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

// Sums that are independent of each other, each small enough for one worker's cache, then the sums
// of those that were cut: whoever is free takes the next. Each worker prepares its next piece
// first, and has the cache fetch that piece's points while it works on the present one.
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
            return piece{w.entries.data() + begin + from, nullptr, count, w.shape.part_buckets()};
          });
    }
  }

  // One list to *out.
  void add_list(std::span<const point_ref> refs, affine* out) {
    cut(refs.size(), 1, out,
        [&](size_t from, size_t count) { return piece{nullptr, refs.data() + from, count, 1}; });
  }

  void run(const executor& exec, std::vector<bucket_scratch<G>>& scratch) {
    partial_ = huge_array<affine>(partial_size_);
    for (piece& p : pieces_)
      if (p.out == nullptr) p.out = partial_.data() + p.partial;
    std::atomic<size_t> taken{0};
    exec.run(exec.lanes(), [&](size_t, unsigned lane) { work(exec, taken, scratch[lane]); });
    exec.run(merges_.size(), [&](size_t i, unsigned lane) { merge(merges_[i], scratch[lane]); });
  }

 private:
  // A table of this size stays in the second-level cache, where fetching ahead costs more than it
  // saves.
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
    constexpr size_t wanted = piece_points<G>;
    const size_t pieces = count <= 3 * wanted ? 1 : (count - 1) / wanted + 1;
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
    const auto prepared = [&]() -> typename bucket_scratch<G>::tree {
      const size_t i = taken.fetch_add(1, std::memory_order_relaxed);
      if (i >= pieces_.size()) return nullptr;
      auto tree = s.take_idle();
      prepare(pieces_[i], *tree);
      return tree;
    };
    s.active.clear();
    for (auto next = prepared(); next != nullptr || !s.active.empty();) {
      exec.check_cancelled();
      if (next != nullptr) s.active.push_back(std::move(next));
      next = prepared();
      prefetch_stream ahead;
      if (next != nullptr && (table_.empty() || table_.size_bytes() > small_table))
        ahead = {next->refs.data(), next->refs.data() + next->refs.size()};
      s.advance(ahead);
    }
  }

  void prepare(const piece& p, tree_sums<G>& tree) const {
    tree.begin(p.buckets, p.out);
    tree.refs.resize(p.count);
    if (p.refs != nullptr) {
      std::copy_n(p.refs, p.count, tree.refs.begin());
      tree.length[0] = uint32_t(p.count);
      return;
    }
    const std::span<const entry> entries{p.entries, p.count};
    for (const entry e : entries) tree.length[e.bucket()]++;
    uint32_t at = 0;
    for (size_t k = 0; k < p.buckets; k++) at += tree.length[k], tree.start[k] = at;
    for (const entry e : entries)
      tree.refs[--tree.start[e.bucket()]] = ref_to(&table_[e.index()], e.negate());
  }

  void merge(const merge_task& t, bucket_scratch<G>& s) const {
    auto tree = s.take_idle();
    tree->begin(t.buckets, t.out);
    for (size_t k = 0; k < t.buckets; k++) {
      tree->start[k] = uint32_t(tree->refs.size());
      for (size_t i = 0; i < t.pieces; i++) {
        const affine& sum = partial_[t.partial + i * t.buckets + k];
        if (!sum.is_infinity()) tree->refs.push_back(ref_to(&sum));
      }
      tree->length[k] = uint32_t(tree->refs.size()) - tree->start[k];
    }
    s.active.clear();
    s.active.push_back(std::move(tree));
    prefetch_stream nothing;
    while (!s.active.empty()) s.advance(nothing);
  }

  std::span<const affine> table_;
  std::vector<piece> pieces_;
  std::vector<merge_task> merges_;
  size_t partial_size_ = 0;
  huge_array<affine> partial_;
};

}  // namespace proofline
