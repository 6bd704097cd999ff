#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "core/thread_pool.hpp"
#include "msm/batch_add.hpp"
#include "msm/huge_array.hpp"

// The scalars of one block of an MSM, cut into signed digits.
namespace proofline {

// n points in memory that nobody converts: canonical Montgomery coordinates with R = 2^(64·N), x
// then y (a zkey's layout), at any address of 2-byte alignment; all zero is infinity.
template <class G>
struct points_view {
  static constexpr size_t stride = sizeof(typename G::affine);

  const uint8_t* data = nullptr;
  size_t count = 0;

  points_view(const void* bytes, size_t count)
      : data(static_cast<const uint8_t*>(bytes)), count(count) {}
  points_view(std::span<const typename G::affine> points)
      : points_view(points.data(), points.size()) {}

  const uint8_t* at(size_t i) const { return data + i * stride; }
  points_view part(size_t begin, size_t n) const { return {at(begin), n}; }
  bool is_infinity(size_t i) const {
    return load<uint64_t>(at(i)) == 0 && load<typename G::affine>(at(i)).is_infinity();
  }
};

// One point of a window's list: its place in the table, its sign, and the low bits of its bucket.
struct entry {
  static constexpr int index_bits = 20, bucket_bits_max = 11;
  uint32_t bits;

  static entry of(uint32_t index, bool negate, uint32_t bucket) {
    return {index | uint32_t(negate) << index_bits | bucket << (index_bits + 1)};
  }
  uint32_t index() const { return bits & ((1u << index_bits) - 1); }
  bool negate() const { return bits >> index_bits & 1; }
  uint32_t bucket() const { return bits >> (index_bits + 1); }
};

inline constexpr size_t block_points_max = size_t{1} << entry::index_bits;

// Window w holds digits in (−2^(c−1), 2^(c−1)] of weight 2^(c·w), c = `bits`, and the top one is
// never negative. They are stored negated, to fit c bits.
struct window_plan {
  static constexpr int bits_max = 16;  // digits are kept in 16 bits
  int bits = 1, count = 0;
  int scalar_bits = 0;  // of the largest scalar; the top window's buckets end at what it can reach

  // Buckets 1 .. 2^buckets_log(w) of window w can be hit.
  int buckets_log(int w) const { return std::min(bits - 1, scalar_bits - w * bits); }

  // The digits of `size`, each negated, to digits[w·stride].
  void cut(const words<4>& size, int16_t* digits, size_t stride) const {
    const uint32_t mask = (1u << bits) - 1, half = 1u << (bits - 1);
    uint32_t carry = 0;
    for (int w = 0; w < count; w++) {
      const int bit = w * bits, word = bit >> 6, shift = bit & 63;
      uint64_t v = word < 4 ? size.w[word] >> shift : 0;
      if (shift + bits > 64 && word + 1 < 4) v |= size.w[word + 1] << (64 - shift);
      const uint32_t digit = (uint32_t(v) & mask) + carry;
      carry = digit > half;
      digits[size_t(w) * stride] = int16_t(int32_t(carry << bits) - int32_t(digit));
    }
  }
};

// The size that minimises the work, for `lengths[b]` scalars of b bits: an addition for each digit
// (less the zero ones) and two for each bucket, in smaller batches. From 2^10 to 2^18 points no
// other size was faster. The curves' endomorphism is not used: halves of scalars on twice the
// points have as many digits, and the buckets it saves (10 % of the additions at 2^12 points, 3 %
// at 2^20) are paid for by a product a point and a table of twice the size.
inline window_plan plan_windows(const std::array<size_t, 257>& lengths) {
  window_plan best;
  for (int b = 0; b <= 256; b++)
    if (lengths[size_t(b)] != 0) best.scalar_bits = b;
  double best_cost = 0;
  for (int c = 2; c <= window_plan::bits_max; c++) {
    window_plan plan{c, best.scalar_bits / c + 1, best.scalar_bits};
    double cost = 0;
    for (int b = 1; b <= plan.scalar_bits; b++) {
      // The top digit is often zero: it is 1 with a carry alone where c divides b.
      const double digits = b / c + (b % c == 0 ? 0.5 : 1.0);
      cost += double(lengths[size_t(b)]) * digits * (1.0 - 1.0 / double(1 << c));
    }
    for (int w = 0; w < plan.count; w++)
      cost += 2.2 * double(1 << std::max(plan.buckets_log(w), 0));
    if (best.count == 0 || cost < best_cost) best = plan, best_cost = cost;
  }
  return best;
}

// A scalar as sign and size, the smaller of s and r − s.
struct signed_scalar {
  words<4> size;
  bool negative;

  template <class R>
  static signed_scalar from(const words<4>& s) {
    constexpr words<4> r = R::modulus();
    words<4> opposite{};
    uint64_t borrow = 0;
    for (int i = 0; i < 4; i++) opposite.w[i] = sub_borrow(r.w[i], s.w[i], borrow);
    return opposite < s ? signed_scalar{opposite, true} : signed_scalar{s, false};
  }

  int length() const {
    for (int i = 3; i >= 0; i--)
      if (size.w[i] != 0) return 64 * i + 64 - std::countl_zero(size.w[i]);
    return 0;
  }
};

// The block's work: the points whose scalar is ±1, where they lie, and a table of the others with
// their digits. The table is a copy, in huge pages and without the points that a sum does not need,
// because each window reads it at random; a point with a negative scalar is negated in it. Scalars
// of 0 and points at infinity are gone.
template <class G>
class digit_table {
 public:
  using affine = typename G::affine;

  digit_table(const points_view<G>& points, const words<4>* scalars, const executor& exec) {
    const size_t n = points.count, ranges = (n + grain - 1) / grain;
    const auto size_of = [&](size_t i) {
      return signed_scalar::from<typename G::scalar::params>(scalars[i]);
    };
    std::vector<range_count> counts(ranges);
    const auto kinds = std::make_unique_for_overwrite<kind[]>(n);
    exec.run(ranges, [&](size_t range, unsigned) {
      for (size_t i = range * grain; i < std::min(n, (range + 1) * grain); i++) {
        kinds[i] = none;
        if (scalars[i].is_zero() || points.is_infinity(i)) continue;
        const signed_scalar s = size_of(i);
        const int length = s.length();
        if (length == 0) continue;  // r itself
        kinds[i] = length > 1 ? wide : s.negative ? minus_one : one;
        counts[range].add(length);
      }
    });
    count(counts);
    exec.run(ranges, [&](size_t range, unsigned) {
      size_t next_one = counts[range].ones, next_wide = counts[range].wide;
      for (size_t i = range * grain; i < std::min(n, (range + 1) * grain); i++) {
        if (kinds[i] == one || kinds[i] == minus_one)
          ones_[next_one++] = ref_to(points.at(i), kinds[i] == minus_one);
        if (kinds[i] != wide) continue;
        const signed_scalar s = size_of(i);
        table_[next_wide] = load_point<G>(ref_to(points.at(i), s.negative));
        plan_.cut(s.size, digits_.data() + next_wide, table_size_);
        next_wide++;
      }
    });
  }

  const window_plan& plan() const { return plan_; }
  std::span<const point_ref> ones() const { return ones_; }
  // The points that the digits belong to, in order.
  std::span<const affine> table() const { return {table_.data(), table_size_}; }
  const int16_t* negated_digits(int window) const {
    return digits_.data() + size_t(window) * table_size_;
  }

 private:
  static constexpr size_t grain = 4096;
  enum kind : uint8_t { none, one, minus_one, wide };

  // Counts of one range; after `count`, where the range's part of each list begins.
  struct range_count {
    size_t ones = 0, wide = 0;
    std::array<uint16_t, 257> lengths{};

    void add(int length) {
      (length == 1 ? ones : wide)++;
      if (length > 1) lengths[size_t(length)]++;
    }
  };

  void count(std::vector<range_count>& counts) {
    size_t ones = 0, wide = 0;
    std::array<size_t, 257> lengths{};
    for (range_count& c : counts) {
      for (size_t b = 0; b < lengths.size(); b++) lengths[b] += c.lengths[b];
      ones += std::exchange(c.ones, ones);
      wide += std::exchange(c.wide, wide);
    }
    ones_.resize(ones);
    table_ = huge_array<affine>(wide);
    table_size_ = wide;
    if (wide > 0) plan_ = plan_windows(lengths);
    digits_ = huge_array<int16_t>(wide * size_t(plan_.count));
  }

  window_plan plan_;
  std::vector<point_ref> ones_;
  huge_array<affine> table_;
  size_t table_size_ = 0;
  huge_array<int16_t> digits_;
};

}  // namespace proofline
