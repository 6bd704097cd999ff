#pragma once

#include <algorithm>
#include <array>

#include "cuda_key.hpp"
#include "input/values.cuh"
#include "prover/partition.cuh"
#include "runtime/guarded.hpp"

namespace proofline::cuda {

// Where everything of a key lies in its blocks, and how large they are: the only account, for `estimate` as for
// the allocations.
template <class Curve>
class key_plan {
 public:
  using P = typename Curve::fr;
  using F = mont_t<P>;
  using g1 = typename Curve::g1;
  using g2 = typename Curve::g2;

  // Distinct coefficients of a zkey's rows that have a place. A few thousand are the most that circuits were
  // seen to have.
  static constexpr size_t coefficients_max = size_t{1} << 16;

  key_plan(const key_source& source, residency where, const device& on) : shape(shape_of(source)) {
    const size_t budget = on.memory()->budget_bytes();
    streamed = where != residency::device;
    if (streamed) {
      shape.points_at_once = points_at_once(budget);
      for (size_t& part : parts) part = key.add(shape.points_at_once * sizeof(typename g1::affine));
    } else {
      for (size_t i = 0; i < 5; i++) queries[i] = key.add(records(source, query_id(i)).count * point_bytes(query_id(i)));
    }
    tables = key.add(domain<P>::table_bytes(shape.basis, shape.log_n));
    if (source.rows) {
      for (size_t& start : starts) start = key.add((shape.rows() + 1) * sizeof(uint32_t));
      entries = key.add(source.rows->count * sizeof(row_entry));
      coefficients = key.add(std::min(source.rows->count + 2, coefficients_max) * sizeof(F));
    }
    sum_bytes = sum_room(on.facts(), budget);
    core = work.add(prover(on).work_bytes());
    sums_g1 = work.add(device_prover<Curve>::partials_max * sizeof(typename g1::xyzz));
    sums_g2 = work.add(device_prover<Curve>::partials_max * sizeof(typename g2::xyzz));
    bad = work.add(sizeof(uint32_t));
  }

  device_prover<Curve> prover(const device& on) const { return {shape, on.facts(), sum_bytes}; }

  static const record_slice& records(const key_source& source, query_id query) {
    switch (query) {
      case query_id::h: return source.h;
      case query_id::l: return source.l;
      case query_id::a: return source.a;
      case query_id::b_g1: return source.b_g1;
      case query_id::b_g2: break;
    }
    return source.b_g2;
  }
  static constexpr size_t point_bytes(query_id query) {
    return query == query_id::b_g2 ? sizeof(typename g2::affine) : sizeof(typename g1::affine);
  }

  // Of a partition whose values all have 32 bytes.
  size_t full_partition_bytes(const device& on) const {
    compact_vector witness;
    witness.kind = compact_kind::full, witness.n = shape.wires();
    block_layout layout;
    layout.add(shape.wires() * sizeof(words<4>));
    for (int i = 0; i < 2; i++) layout.add(shape.rows() * sizeof(words<4>));
    if (!shape.every_wire) {
      for (const size_t n : {shape.aux, shape.inputs, shape.aux}) layout.add((n + 7) / 8);
    }
    layout.add(prover(on).stage_bytes(witness));
    layout.add(bad_words * sizeof(uint32_t));
    return whole_device_pages(layout.bytes());
  }

  // The first value out of range of the witness, of a and of b.
  static constexpr size_t bad_words = 3;

  partition_shape shape;
  bool streamed = false;
  size_t sum_bytes = 0;
  block_layout key, work;
  std::array<size_t, 5> queries{};
  std::array<size_t, 2> parts{}, starts{};
  size_t tables = 0, entries = 0, coefficients = 0, core = 0, sums_g1 = 0, sums_g2 = 0, bad = 0;

 private:
  static partition_shape shape_of(const key_source& source) {
    partition_shape shape;
    shape.inputs = uint32_t(source.input_count), shape.aux = uint32_t(source.aux_count);
    shape.log_n = source.log_n, shape.basis = source.basis, shape.every_wire = source.every_wire;
    shape.a_points = source.a.count, shape.b_points = source.b_g1.count;
    return shape;
  }

  // An eighth of the budget for two parts.
  static size_t points_at_once(size_t budget) {
    const size_t points = budget / 8 / (2 * sizeof(typename g1::affine));
    return std::clamp(std::bit_floor(std::max<size_t>(points, 1)), size_t{1} << 13, size_t{1} << 25);
  }

  // What the largest sum would like, as long as it takes no more than the quotient does before it or half of what
  // is left of the budget.
  size_t sum_room(const device_facts& facts, size_t budget) const {
    const size_t step = shape.points_at_once;
    size_t wanted = 0;
    const auto want = [&]<class G>(size_t n) {
      if (step != 0) n = std::min(n, std::is_same_v<G, g2> ? step / 2 : step);
      if (n == 0) return;
      wanted = std::max({wanted, msm<G>::workspace_bytes(msm<G>::choose(n, SIZE_MAX, facts), facts),
                         bit_sum<G>::workspace_bytes(n, facts)});
    };
    want.template operator()<g1>(std::max({shape.h_points(), size_t(shape.aux), shape.a_points}));
    want.template operator()<g2>(shape.b_points);
    const size_t fixed = std::min(budget, key.bytes());
    return std::min(wanted, std::max(2 * shape.rows() * sizeof(F), (budget - fixed) / 2));
  }
};

}  // namespace proofline::cuda
