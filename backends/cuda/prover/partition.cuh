#pragma once

#include <functional>
#include <vector>

#include "expand/choose.cuh"
#include "expand/rows.cuh"
#include "msm/msm.cuh"
#include "msm/workspace.hpp"
#include "ntt/quotient.cuh"
#include "prover/assembly.hpp"

// One partition on the device: from compact vectors to the partial sums of its five multi-scalar
// multiplications. Nothing here waits for the device but `stage`, once or twice, on a stream of its
// own.
namespace proofline::cuda {

enum class query_id : int { h, l, a, b_g1, b_g2 };

// src/backend/backend.ts's names.
inline const char* stage_name(query_id query) {
  constexpr const char* names[] = {"MSM_H", "MSM_L", "MSM_A", "MSM_B_G1", "MSM_B_G2"};
  return names[int(query)];
}

struct partition_shape {
  uint32_t inputs = 0, aux = 0;
  int log_n = 0;
  h_basis basis{};
  bool every_wire = false;  // a and b have a point for each wire (zkey)
  size_t a_points = 0, b_points = 0;
  // At most this many points of a query at a time, of b half as many, which are twice as large in
  // G2; 0: all. Keys that do not fit are fed in such parts.
  size_t points_at_once = 0;
  // Of the h query: table 0 is the query, the others lie behind it (msm::make_tables). 1 if it is
  // fed in parts.
  int h_tables = 1;

  uint32_t wires() const { return inputs + aux; }
  size_t rows() const { return size_t{1} << log_n; }
  size_t h_points() const { return basis == h_basis::monomial ? rows() - 1 : rows(); }
};

// Terms of one part of a query.
struct query_part {
  size_t first_point = 0, points = 0;
  chosen_wires lists{};
  uint32_t ones = 0, terms = 0;
};

// What `stage` leaves on the device; everything lies in the block given to it.
struct staged_device_partition {
  compact_vector witness, row_a, row_b;
  std::vector<query_part> l, a, b;
};

// The points of a query that one step of the work sums up. `part`: their terms; null for h.
struct device_task {
  query_id query{};
  const query_part* part = nullptr;
  size_t first_point = 0, points = 0;
};

// Where a part of a query's points lies on the device once the stream has reached it. Called in the
// order of use; a feed that streams makes the stream wait for its copy, and learns by `used` that
// it may copy over it.
struct point_feed {
  std::function<const void*(query_id, size_t first_point, size_t points, cudaStream_t)> points;
  std::function<void(query_id, size_t first_point, cudaStream_t)> used;
};

template <class Curve>
class device_prover {
 public:
  using P = typename Curve::fr;
  using F = mont_t<P>;
  using g1 = typename Curve::g1;
  using g2 = typename Curve::g2;

  // `sum_bytes_max`: the most that one sum may use beside h.
  device_prover(const partition_shape& shape, const device_facts& facts, size_t sum_bytes_max)
      : shape_(shape), facts_(facts), sum_bytes_max_(sum_bytes_max) {}

  // Of the lists beside the vectors themselves; of the memory that `compute` works in; of its
  // results.
  size_t stage_bytes(const compact_vector& witness) const;
  size_t work_bytes() const;
  // Partial sums of each group that one `compute` may leave.
  static constexpr size_t partials_max = size_t{1} << 15;

  // The vectors' and densities' sections lie on the device. Densities null: all. Waits for the
  // stream.
  staged_device_partition stage(const compact_vector& witness, const compact_vector& row_a,
                                const compact_vector& row_b, const uint8_t* d_a_aux_density,
                                const uint8_t* d_b_input_density, const uint8_t* d_b_aux_density,
                                void* d_block, cudaStream_t stream) const;

  // Partial sums of one `compute`, in the order in which they were asked for.
  struct results {
    struct item {
      query_id query;
      msm_shape shape;  // n = 0: one finished sum
      size_t at;
    };
    std::vector<item> g1_items, g2_items;
    size_t g1_count = 0, g2_count = 0;
  };

  // Enqueues everything. `mark` is called between the stages with the stage that ended. Partials:
  // room for partials_max of each group.
  results compute(const staged_device_partition& staged, const domain<P>& domain,
                  const point_feed& feed, void* d_work, typename g1::xyzz* d_g1,
                  typename g2::xyzz* d_g2, cudaStream_t stream,
                  const std::function<void(const char* stage)>& mark) const;

  // How h is summed up; its table_stride and window_bits decide what the tables hold.
  msm_shape h_shape(size_t points) const {
    return msm<g1>::choose(points, sum_bytes_max_, facts_, shape_.h_tables);
  }

  static query_sums<Curve> combine(const results& r, const typename g1::xyzz* h_g1,
                                   const typename g2::xyzz* h_g2);

  // What `compute` will ask the feed for, in that order.
  std::vector<device_task> tasks(const staged_device_partition& staged) const;

 private:
  size_t h_bytes() const {
    return shape_.rows() * sizeof(F) * (shape_.basis == h_basis::monomial ? 1 : 2);
  }
  const F* quotient(const staged_device_partition& staged, const domain<P>& domain, void* d_work,
                    cudaStream_t stream) const;

  void sum_of_h(const device_task& task, const F* h, const void* points, void* d_work,
                typename g1::xyzz* d_g1, results& r, cudaStream_t stream) const;

  template <class G>
  void sum_terms(query_id query, const query_part& part, const words<4>* scalars,
                 const typename G::affine* points, void* d_work, typename G::xyzz* partials,
                 std::vector<typename results::item>& items, size_t& count,
                 cudaStream_t stream) const;

  partition_shape shape_;
  device_facts facts_;
  size_t sum_bytes_max_;
};

}  // namespace proofline::cuda
