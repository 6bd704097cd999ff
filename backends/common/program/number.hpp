#pragma once

#include <optional>

#include "program/compact.hpp"

namespace proofline {

// An element of F_r: an integer that stands for itself mod r, or a value in one or both forms.
class number {
 public:
  using fr = bls12_381_fr;

  number(int64_t value = 0) : is_small_(true), small_(value) {}
  static number of(const words<4>& canonical) {
    number n;
    n.is_small_ = false;
    n.canonical_ = canonical;
    return n;
  }
  static number of(const fr& field) {
    number n;
    n.is_small_ = false;
    n.field_ = field;
    return n;
  }
  static number of(const words<4>& canonical, const fr& field) {
    number n = of(canonical);
    n.field_ = field;
    return n;
  }

  bool is_small() const { return is_small_; }
  int64_t small() const { return small_; }

  const words<4>& canonical() {
    if (!canonical_) canonical_ = is_small_ ? canonical_of(small_) : field_->to_canonical();
    return *canonical_;
  }
  const fr& field() {
    if (!field_) field_ = fr::from_canonical(canonical());
    return *field_;
  }

 private:
  bool is_small_;
  int64_t small_ = 0;
  std::optional<words<4>> canonical_;
  std::optional<fr> field_;
};

}  // namespace proofline
