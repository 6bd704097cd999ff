#pragma once

#include <bit>
#include <memory>
#include <span>
#include <vector>

#include "core/thread_pool.hpp"
#include "curve/point_bytes.hpp"
#include "msm/batch_add.hpp"
#include "prover/types.hpp"

namespace proofline {

// Multiples of the generator by windows (Brickell, Gordon, McCurley and Wilson, 1992): one addition for each
// window of the scalar, from a table. Variable time: for development keys.
template <class G>
class fixed_base {
 public:
  using affine = typename G::affine;

  // `count`: multiples that will be asked for, about; decides how large a table pays.
  fixed_base(size_t count, const executor& exec)
      : bits_(std::clamp(int(std::bit_width(count)) - 4, 4, 12)),
        windows_((scalar_bits + bits_ - 1) / bits_),
        table_(std::make_unique_for_overwrite<affine[]>(windows_ << bits_)) {
    auto base = G::xyzz::from(G::generator());
    for (size_t w = 0; w < windows_; w++) {
      row(w)[0] = affine::infinity();
      row(w)[1] = base.to_affine();
      for (int i = 0; i < bits_; i++) base = base.dbl();
    }
    exec.run(windows_, [&](size_t w, unsigned) { fill(row(w)); });
  }

  // scalar·generator for each, as bytes of `form`; infinity is all zero.
  bytes multiples(std::span<const words<4>> scalars, point_form form, const executor& exec) const {
    bytes out(scalars.size() * sizeof(affine));
    exec.run_ranges(scalars.size(), 2048, [&](size_t begin, size_t end, unsigned) {
      multiply(scalars.subspan(begin, end - begin), form, out.data() + begin * sizeof(affine));
    });
    return out;
  }

 private:
  static constexpr size_t scalar_bits = 256;

  affine* row(size_t window) const { return table_.get() + (window << bits_); }

  // t[d] = d·t[1]: each power of two is twice the one before, each other entry the sum of two earlier ones.
  void fill(affine* t) const {
    batch_scratch scratch;
    std::vector<addition> additions;
    for (size_t power = 2; power < size_t{1} << bits_; power *= 2) {
      additions.clear();
      additions.push_back({ref_to(t + power / 2), ref_to(t + power / 2), t + power});
      batch_add<G>(additions.data(), 1, scratch);
      additions.clear();
      for (size_t d = 1; d < power; d++) {
        additions.push_back({ref_to(t + power), ref_to(t + d), t + power + d});
      }
      batch_add<G>(additions.data(), additions.size(), scratch);
    }
    for (size_t d = 1; d < size_t{1} << bits_; d++) t[d] = canonical_point<G>(t + d);
  }

  size_t digit(const words<4>& scalar, size_t window) const {
    const size_t bit = window * size_t(bits_), word = bit / 64, shift = bit % 64;
    uint64_t v = scalar.w[word] >> shift;
    if (shift + size_t(bits_) > 64 && word + 1 < 4) v |= scalar.w[word + 1] << (64 - shift);
    return v & ((size_t{1} << bits_) - 1);
  }

  void multiply(std::span<const words<4>> scalars, point_form form, uint8_t* out) const {
    batch_scratch scratch;
    std::vector<addition> additions;
    std::vector<affine> sums(scalars.size(), affine::infinity());
    for (size_t w = 0; w < windows_; w++) {
      additions.clear();
      for (size_t i = 0; i < scalars.size(); i++) {
        const size_t d = digit(scalars[i], w);
        if (d == 0) continue;
        if (sums[i].is_infinity()) {
          sums[i] = row(w)[d];
        } else {
          additions.push_back({ref_to(&sums[i]), ref_to(row(w) + d), &sums[i]});
        }
      }
      batch_add<G>(additions.data(), additions.size(), scratch);
    }
    for (size_t i = 0; i < sums.size(); i++) {
      const affine point = canonical_point<G>(&sums[i]);
      uint8_t* const to = out + i * sizeof point;
      if (form == point_form::montgomery_le) {
        std::memcpy(to, &point, sizeof point);
      } else {
        write_point(to, point);
      }
    }
  }

  int bits_;
  size_t windows_;
  std::unique_ptr<affine[]> table_;
};

}  // namespace proofline
