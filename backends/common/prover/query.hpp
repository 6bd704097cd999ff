#pragma once

#include <memory>

#include "core/first_failure.hpp"
#include "curve/point_bytes.hpp"
#include "curve/subgroup.hpp"
#include "msm/digits.hpp"
#include "prover/file.hpp"

namespace proofline {

// One base vector of a key. Montgomery form is used where it lies in the file; canonical form is decoded once.
template <class G>
class query {
 public:
  using affine = typename G::affine;

  // @throws format_error for a coordinate that is not below the modulus, infinity in canonical form, and, if
  // `check`, a point off the curve or outside the group; file_error. `first` is the place of the first point in
  // the whole query, for messages.
  static query load(const char* name, const record_slice& source, point_form form, bool check,
                    const executor& exec, size_t first = 0) {
    query q;
    q.count_ = source.count;
    require(source.slice.length == source.count * sizeof(affine), "a query as long as its points");
    mapped_slice mapped(source.slice);
    const subject of{source.slice.name() + ": " + name};
    // An odd address has no place for the sign that msm/addition.hpp keeps in its lowest bit.
    const bool in_place = form == point_form::montgomery_le && source.slice.offset % 2 == 0;
    if (!in_place) q.decoded_ = std::make_unique_for_overwrite<affine[]>(source.count);
    first_failure failure;
    exec.run_ranges(source.count, 256, [&](size_t begin, size_t end, unsigned) {
      failure.guard(begin, [&] {
        for (size_t i = begin; i < end; i++) {
          const uint8_t* const at = mapped.data() + i * sizeof(affine);
          affine point;
          if (form == point_form::canonical_be) {
            point = decode(at, of, first + i);
          } else {
            point = load_unaligned(at);
          }
          if (check) check_point(point, of, first + i);
          if (!in_place) q.decoded_[i] = point;
        }
      });
    });
    failure.rethrow();
    if (in_place) q.mapped_ = std::move(mapped);
    return q;
  }

  size_t count() const { return count_; }
  points_view<G> view() const {
    const void* const decoded = decoded_.get();
    return {decoded != nullptr ? decoded : mapped_.data(), count_};
  }

 private:
  struct subject {
    std::string name;
    std::string at(size_t i) const { return name + "[" + std::to_string(i) + "]"; }
  };

  static affine load_unaligned(const uint8_t* at) {
    affine point;
    std::memcpy(&point, at, sizeof point);
    return point;
  }

  static affine decode(const uint8_t* at, const subject& of, size_t i) {
    if ((at[0] & 0x40) != 0) throw format_error(of.at(i), "a finite point", "the point at infinity");
    affine point;
    if (!read_point(at, point)) throw too_large(of, i);
    if (point.is_infinity()) throw format_error(of.at(i), "a finite point", "the origin");
    return point;
  }

  static void check_point(const affine& point, const subject& of, size_t i) {
    if (!below_modulus(point.x) || !below_modulus(point.y)) throw too_large(of, i);
    if (!on_curve<G>(point)) {
      throw format_error(of.at(i), "a point of the key's group", "a point off the curve");
    }
    if (!in_subgroup<G>(point)) {
      throw format_error(of.at(i), "a point of the key's group",
                         "a point of the curve outside the group");
    }
  }

  static prover_error too_large(const subject& of, size_t i) {
    return format_error(of.at(i), "coordinates below the field modulus", "a larger one");
  }

  size_t count_ = 0;
  mapped_slice mapped_;
  std::unique_ptr<affine[]> decoded_;
};

}  // namespace proofline
