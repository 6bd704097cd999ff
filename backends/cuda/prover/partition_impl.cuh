#pragma once

#include <algorithm>

#include "prover/partition.cuh"
#include "runtime/error.hpp"

namespace proofline::cuda {

inline size_t words_of_wires(uint32_t wires) { return (size_t(wires) + 31) / 32; }

// Room for the lists of a query's points: each is a one or a term.
struct list_space {
  carver space;
  bool compact;
  uint64_t exceptions;

  chosen_wires take(size_t points) {
    const size_t terms = compact ? std::min<uint64_t>(points, exceptions) : points;
    return {space.take<uint32_t>(points), space.take<uint32_t>(terms), space.take<uint32_t>(terms),
            space.take<uint32_t>(2)};
  }
  // At least what `parts` calls take for `points` in all.
  void reserve(size_t points, size_t parts) {
    constexpr size_t rounding = 64;
    const size_t terms = compact ? std::min<uint64_t>(points, exceptions * parts) : points;
    space.take<uint32_t>(points + 2 * terms + parts * (3 * rounding + rounding));
  }
};

template <class Curve>
size_t device_prover<Curve>::stage_bytes(const compact_vector& witness) const {
  list_space lists{carver(nullptr), witness.kind == compact_kind::bits, witness.exceptions};
  const size_t whole = shape_.points_at_once / 64 * 64, wires = shape_.wires();
  const auto parts = [&](size_t step) { return step == 0 ? 1 : (wires + step - 1) / step + 1; };
  lists.reserve(shape_.aux, parts(whole));
  lists.reserve(shape_.a_points, parts(whole));
  lists.reserve(shape_.b_points, parts(whole / 2));
  for (int i = 0; i < 2; i++) {
    lists.space.take<uint32_t>(words_of_wires(shape_.wires()));
    lists.space.take<uint32_t>(words_of_wires(shape_.wires()) + 1);
  }
  lists.space.take<uint8_t>(points_before_workspace_bytes(shape_.wires()));
  return lists.space.used();
}

template <class Curve>
staged_device_partition device_prover<Curve>::stage(
    const compact_vector& witness, const compact_vector& row_a, const compact_vector& row_b,
    const uint8_t* d_a_aux_density, const uint8_t* d_b_input_density,
    const uint8_t* d_b_aux_density, void* d_block, cudaStream_t stream) const {
  const uint32_t wires = shape_.wires(), whole = uint32_t(shape_.points_at_once) / 64 * 64;
  if (witness.n != wires)
    throw format_error("witness", std::to_string(wires) + " values", std::to_string(witness.n));
  staged_device_partition staged{witness, row_a, row_b, {}, {}, {}};
  list_space lists{carver(d_block), witness.kind == compact_kind::bits, witness.exceptions};
  uint8_t* const scan_space = lists.space.take<uint8_t>(points_before_workspace_bytes(wires));
  const auto density_of = [&](const uint8_t* inputs, const uint8_t* aux, wire_choice& choice) {
    uint32_t* const density = lists.space.take<uint32_t>(words_of_wires(wires));
    uint32_t* const before = lists.space.take<uint32_t>(words_of_wires(wires) + 1);
    join_densities(density, inputs, shape_.inputs, aux, shape_.aux, stream);
    count_points_before(before, density, wires, scan_space, stream);
    choice.density = density, choice.points_before = before;
  };
  const auto word_of = [&](const uint32_t* d_before, uint32_t wire) {
    uint32_t points = 0;
    CUDA_OK(cudaMemcpyAsync(&points, d_before + wire / 32, sizeof points, cudaMemcpyDeviceToHost,
                            stream));
    CUDA_OK(cudaStreamSynchronize(stream));
    return points;
  };
  const auto choose = [&](std::vector<query_part>& parts, wire_choice all, uint32_t first,
                          size_t points, uint32_t step, const char* name) {
    if (all.points_before != nullptr) {
      const uint32_t set = word_of(all.points_before, uint32_t(words_of_wires(wires) * 32));
      if (set != points)
        throw format_error("densities", std::to_string(points) + " wires that occur in " + name,
                           std::to_string(set));
    }
    for (uint32_t wire = first; wire < wires;) {
      const uint32_t end = step == 0 ? wires : std::min<uint32_t>(wires, (wire / 32 * 32) + step);
      wire_choice c = all;
      c.first_wire = wire, c.end_wire = end;
      query_part part;
      if (c.points_before != nullptr) {
        c.first_point = wire == first ? 0 : word_of(c.points_before, wire);
        part.first_point = c.first_point;
        part.points = (end == wires ? points : word_of(c.points_before, end)) - c.first_point;
      } else {
        part.first_point = wire - first, part.points = end - wire;
      }
      part.lists = lists.take(part.points);
      CUDA_OK(cudaMemsetAsync(part.lists.counts, 0, 2 * sizeof(uint32_t), stream));
      choose_wires(witness, c, part.lists, stream);
      parts.push_back(part);
      wire = end;
    }
  };
  wire_choice a_choice, b_choice;
  if (!shape_.every_wire) {
    density_of(nullptr, d_a_aux_density, a_choice);
    density_of(d_b_input_density, d_b_aux_density, b_choice);
  }
  choose(staged.l, {}, shape_.inputs, shape_.aux, whole, "l");
  choose(staged.a, a_choice, 0, shape_.a_points, whole, "a");
  choose(staged.b, b_choice, 0, shape_.b_points, whole / 2, "b");
  for (auto* parts : {&staged.l, &staged.a, &staged.b})
    for (query_part& part : *parts)
      CUDA_OK(cudaMemcpyAsync(&part.ones, part.lists.counts, 2 * sizeof(uint32_t),
                              cudaMemcpyDeviceToHost, stream));
  CUDA_OK(cudaStreamSynchronize(stream));
  return staged;
}

template <class Curve>
size_t device_prover<Curve>::work_bytes() const {
  const size_t elements = shape_.basis == h_basis::monomial ? 3 : 4;
  return std::max(elements * shape_.rows() * sizeof(F) + 512, h_bytes() + sum_bytes_max_ + 512);
}

// h first, so that the sums have the rest: monomial [b: h][a][c], odd-lagrange [c][h][a][b].
template <class Curve>
const mont_t<typename Curve::fr>* device_prover<Curve>::quotient(
    const staged_device_partition& staged, const domain<P>& domain, void* d_work,
    cudaStream_t stream) const {
  F* const space = static_cast<F*>(d_work);
  const size_t n = shape_.rows();
  const bool monomial = shape_.basis == h_basis::monomial;
  F *const a = space + (monomial ? n : 2 * n), *const b = monomial ? space : space + 3 * n;
  F* const c = monomial ? space + 2 * n : space;
  expand_rows<P>(staged.row_a, shape_.log_n, a, stream);
  expand_rows<P>(staged.row_b, shape_.log_n, b, stream);
  return domain.quotient(a, b, c, stream);
}

template <class Curve>
template <class G>
void device_prover<Curve>::sum_terms(query_id query, const query_part& part,
                                     const words<4>* scalars, const typename G::affine* points,
                                     void* d_work, typename G::xyzz* partials,
                                     std::vector<typename results::item>& items, size_t& count,
                                     cudaStream_t stream) const {
  if (part.ones != 0) {
    require(bit_sum<G>::workspace_bytes(part.ones, facts_) <= sum_bytes_max_,
            "room for the sum of ones");
    bit_sum<G>::run(points, part.lists.ones, part.ones, partials + count, d_work, facts_, stream);
    items.push_back({query, {}, count++});
  }
  if (part.terms == 0) return;
  const msm_shape shape = msm<G>::choose(part.terms, sum_bytes_max_, facts_);
  msm<G>::run(shape, points, {scalars, false, part.lists.term_points, part.lists.term_places},
              partials + count, d_work, facts_, stream);
  items.push_back({query, shape, count});
  count += msm<G>::partial_count(shape);
  require(count <= partials_max, "room for the partial sums");
}

// The parts in the order of work. A streamed key's are mixed so that the copies for the sums of
// ones, which take longer than those sums, run beside the sums of h, which take longer than theirs.
template <class Curve>
std::vector<device_task> device_prover<Curve>::tasks(const staged_device_partition& staged) const {
  std::vector<device_task> of_h, others;
  const size_t step = shape_.points_at_once != 0 ? shape_.points_at_once : shape_.h_points();
  require(shape_.h_tables == 1 || shape_.points_at_once == 0, "tables of a whole query");
  for (size_t first = 0; first < shape_.h_points(); first += step)
    of_h.push_back({query_id::h, nullptr, first, std::min(step, shape_.h_points() - first)});
  const auto add = [&](query_id query, const std::vector<query_part>& parts) {
    for (const query_part& part : parts)
      if (part.points != 0) others.push_back({query, &part, part.first_point, part.points});
  };
  add(query_id::l, staged.l), add(query_id::a, staged.a), add(query_id::b_g1, staged.b),
      add(query_id::b_g2, staged.b);
  std::vector<device_task> all;
  size_t taken = 0;
  for (size_t i = 0; i < of_h.size(); i++) {
    all.push_back(of_h[i]);
    for (; taken < others.size() * (i + 1) / of_h.size(); taken++) all.push_back(others[taken]);
  }
  return all;
}

template <class Curve>
typename device_prover<Curve>::results device_prover<Curve>::compute(
    const staged_device_partition& staged, const domain<P>& domain, const point_feed& feed,
    void* d_work, typename g1::xyzz* d_g1, typename g2::xyzz* d_g2, cudaStream_t stream,
    const std::function<void(const char* stage)>& mark) const {
  results r;
  const F* const h = quotient(staged, domain, d_work, stream);
  mark("NTT");
  void* const work = static_cast<uint8_t*>(d_work) + (h_bytes() + 255) / 256 * 256;
  const auto* const scalars = reinterpret_cast<const words<4>*>(
      staged.witness.kind == compact_kind::full ? staged.witness.values
                                                : staged.witness.exception_values);
  const std::vector<device_task> all = tasks(staged);
  for (size_t i = 0; i < all.size(); i++) {
    const device_task& t = all[i];
    const void* const points = feed.points(t.query, t.first_point, t.points, stream);
    if (t.query == query_id::h) {
      sum_of_h(t, h, points, work, d_g1, r, stream);
    } else if (t.query == query_id::b_g2) {
      sum_terms<g2>(t.query, *t.part, scalars, static_cast<const typename g2::affine*>(points),
                    work, d_g2, r.g2_items, r.g2_count, stream);
    } else {
      sum_terms<g1>(t.query, *t.part, scalars, static_cast<const typename g1::affine*>(points),
                    work, d_g1, r.g1_items, r.g1_count, stream);
    }
    feed.used(t.query, t.first_point, stream);
    if (i + 1 == all.size() || all[i + 1].query != t.query) mark(stage_name(t.query));
  }
  return r;
}

template <class Curve>
void device_prover<Curve>::sum_of_h(const device_task& t, const F* h, const void* points,
                                    void* d_work, typename g1::xyzz* d_g1, results& r,
                                    cudaStream_t stream) const {
  const msm_shape shape = h_shape(t.points);
  msm<g1>::run(shape, static_cast<const typename g1::affine*>(points),
               {reinterpret_cast<const words<4>*>(h + t.first_point), true}, d_g1 + r.g1_count,
               d_work, facts_, stream);
  r.g1_items.push_back({query_id::h, shape, r.g1_count});
  r.g1_count += msm<g1>::partial_count(shape);
  require(r.g1_count <= partials_max, "room for the partial sums");
}

template <class Curve>
query_sums<Curve> device_prover<Curve>::combine(const results& r, const typename g1::xyzz* h_g1,
                                                const typename g2::xyzz* h_g2) {
  query_sums<Curve> sums{g1::xyzz::infinity(), g1::xyzz::infinity(), g1::xyzz::infinity(),
                         g1::xyzz::infinity(), g2::xyzz::infinity()};
  const auto of = [&](query_id query) -> typename g1::xyzz& {
    return query == query_id::h   ? sums.h
           : query == query_id::l ? sums.l
           : query == query_id::a ? sums.a
                                  : sums.b_g1;
  };
  for (const auto& item : r.g1_items)
    of(item.query) +=
        item.shape.n == 0 ? h_g1[item.at] : msm<g1>::combine(item.shape, h_g1 + item.at);
  for (const auto& item : r.g2_items)
    sums.b_g2 += item.shape.n == 0 ? h_g2[item.at] : msm<g2>::combine(item.shape, h_g2 + item.at);
  return sums;
}

}  // namespace proofline::cuda
