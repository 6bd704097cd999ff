#pragma once

#include <optional>

#include "key_plan.hpp"
#include "prover/query.hpp"

namespace proofline::cuda {

// Runs fn<G>(query) for each query of a curve.
template <class Curve, class Fn>
void for_each_query(Fn&& fn) {
  using g1 = typename Curve::g1;
  for (const query_id query : {query_id::h, query_id::l, query_id::a, query_id::b_g1}) fn.template operator()<g1>(query);
  fn.template operator()<typename Curve::g2>(query_id::b_g2);
}

constexpr const char* name_of(query_id query) {
  constexpr const char* names[] = {"h", "l", "a", "bG1", "bG2"};
  return names[size_t(query)];
}

// `n` points of a query from `first` on, as a query of their own.
template <class G>
record_slice points_of(const record_slice& query, size_t first, size_t n) {
  constexpr size_t size = sizeof(typename G::affine);
  return {{query.slice.path, query.slice.offset + first * size, n * size}, n};
}

// Points that lie on the device as they do in the file become points as the kernels want them.
template <class G>
void prepare_points(typename G::affine* d_points, size_t n, point_form form, uint32_t first, uint32_t* d_bad,
                    cudaStream_t stream) {
  if (form == point_form::canonical_be) return decode_points<G>(d_points, n, first, d_bad, stream);
  mark_infinity<G>(d_points, n, stream);
}

// The error of a point that the device refused: the host says what is wrong with it.
template <class G>
[[noreturn]] void refuse_point(const char* name, const record_slice& query, size_t place, point_form form,
                               const executor& exec) {
  proofline::query<G>::load(name, points_of<G>(query, place, 1), form, true, exec, place);
  throw internal_error(std::string(name) + ": the device refused a point that the host takes");
}

// The points of a key that are not resident, on their way to the device: two parts of its memory by turns, the
// copy of one beside the sums over the other.
template <class Curve>
class streamed_points {
 public:
  // `pinned`: keeps all points in page-locked memory; else they are read from the file each time.
  streamed_points(const key_source& source, const key_plan<Curve>& plan, bool pinned, const call_context& context)
      : source_(source), plan_(plan) {
    if (!pinned) {
      ring_.emplace(context.exec);
      return;
    }
    for (size_t i = 0; i < pinned_.size(); i++) {
      const file_slice& slice = key_plan<Curve>::records(source, query_id(i)).slice;
      pinned_[i] = pinned_block(slice.length, context.exec);
      if (slice.length == 0) continue;
      const open_file file(slice);
      context.exec.run_ranges(slice.length, size_t{1} << 22, [&](size_t begin, size_t end, unsigned) {
        read_slice(file, slice, begin, pinned_[i].data() + begin, end - begin);
      });
    }
  }

  // See point_feed; `key_block` is where the plan's parts lie.
  template <class G>
  const void* take(query_id query, size_t first, size_t n, const guarded_block& key_block, uint32_t* d_bad,
                   cudaStream_t stream, const call_context& context) {
    const size_t part = next_++ % 2;
    auto* const d_points = reinterpret_cast<typename G::affine*>(key_block.at(plan_.parts[part]));
    if (next_ > 2) left_[part].hold(copies_);
    const size_t skip = first * sizeof(typename G::affine), length = n * sizeof(typename G::affine);
    const pinned_block& pinned = pinned_[size_t(query)];
    if (pinned.data() != nullptr) {
      context.exec.check_cancelled();
      CUDA_OK(cudaMemcpyAsync(d_points, pinned.data() + skip, length, cudaMemcpyHostToDevice, copies_));
    } else {
      ring_->upload(plan_.records(source_, query).slice, skip, d_points, length, copies_, context.exec);
    }
    prepare_points<G>(d_points, n, source_.points, uint32_t(first), d_bad, copies_);
    there_[part].record(copies_);
    there_[part].hold(stream);
    last_ = part;
    return d_points;
  }
  void leave(cudaStream_t stream) { left_[last_].record(stream); }

 private:
  const key_source& source_;
  const key_plan<Curve>& plan_;
  std::array<pinned_block, 5> pinned_;
  std::optional<staging_ring> ring_;
  stream copies_;
  std::array<event, 2> there_, left_;
  size_t next_ = 0, last_ = 0;
};

}  // namespace proofline::cuda
