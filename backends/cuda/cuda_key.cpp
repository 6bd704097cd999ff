#include "cuda_key.hpp"

#include "key_plan.hpp"
#include "key_points.hpp"
#include "partition_vectors.hpp"
#include "prover/assembly.hpp"
#include "prover/sparse_rows.hpp"
#include "stages.hpp"

namespace proofline::cuda {
namespace {

struct staged_cuda : staged_partition {
  const loaded_key* key = nullptr;
  guarded_block block;
  staged_device_partition content;
};

template <class Curve>
struct computed_cuda : computed_partition {
  const loaded_key* key = nullptr;
  typename device_prover<Curve>::results results;
  std::vector<typename Curve::g1::xyzz> sums_g1;
  std::vector<typename Curve::g2::xyzz> sums_g2;
  blinding_pair blinding;
};

// Points that are checked, uploaded and prepared between two looks at whether the call is cancelled.
constexpr size_t points_a_step = size_t{1} << 17;
// From this size on a stage takes long enough to wait for the one before.
constexpr int log_rows_in_turn = 20;

// Shares of the progress of `compute`, by stage, if all scalars are full-size.
double share_done(const std::string& stage) {
  constexpr std::pair<const char*, double> ends[] = {
      {"NTT", 0.15}, {"MSM_H", 0.4}, {"MSM_L", 0.55}, {"MSM_A", 0.65}, {"MSM_B_G1", 0.75}};
  for (const auto& [name, share] : ends)
    if (stage == name) return share;
  return 1;
}

template <class Curve>
class cuda_key : public loaded_key {
  using P = typename Curve::fr;
  using F = mont_t<P>;
  using g1 = typename Curve::g1;
  using g2 = typename Curve::g2;

 public:
  cuda_key(std::shared_ptr<device> on, const key_source& source, residency where, bool check,
           const call_context& context)
      : on_(std::move(on)),
        source_(source),
        plan_(source, where, *on_),
        constants_(key_constants<Curve>::from(source)) {
    const profiler_range range("load");
    on_->make_current();
    check_counts();
    require_room();
    key_block_ = guarded_block(on_->memory(), plan_.key);
    work_block_ = guarded_block(on_->memory(), plan_.work);
    stream_.emplace();
    const drained_at_end drained{*stream_};
    forget_bad(*stream_);
    if (check) check_points(context);
    if (plan_.streamed) {
      streamed_.emplace(source_, plan_, where == residency::pinned, context);
    } else {
      load_points(context);
    }
    domain_.emplace(plan_.shape.basis, plan_.shape.log_n, key_block_.at(plan_.tables));
    domain_->make_tables(*stream_);
    if (source_.rows) load_rows(context);
    CUDA_OK(cudaStreamSynchronize(*stream_));
    refuse_bad_points(context);
    key_block_.check_guards("key");
  }

  std::unique_ptr<staged_partition> stage(const partition_input& input,
                                          const call_context& context) const override {
    const profiler_range range("stage");
    on_->make_current();
    context.exec.check_cancelled();
    if (input.program && source_.curve != curve_id::bls12_381)
      throw format_error("key: curve", "that of programs, bls12-381", "another");
    const partition_vectors vectors(input, plan_.shape, source_.rows.has_value(), context);
    const staged_layout at(vectors, plan_, *on_);
    auto staged = std::make_unique<staged_cuda>();
    staged->key = this;
    staged->block = guarded_block(on_->memory(), at.layout);
    const guarded_block& block = staged->block;
    stream uploads;
    const drained_at_end drained{uploads};
    stage_clock clock(context, uploads, 0);
    const auto upload = [&](const host_bytes& from, size_t to) {
      on_->ring().upload(from, 0, block.at(to), length_of(from), uploads, context.exec);
    };
    upload(vectors.witness.bytes, at.witness);
    if (vectors.rows_given) {
      upload(vectors.a.bytes, at.a);
      upload(vectors.b.bytes, at.b);
    }
    if (!plan_.shape.every_wire) {
      upload(std::span(vectors.a_aux_density), at.a_aux);
      upload(std::span(vectors.b_input_density), at.b_input);
      upload(std::span(vectors.b_aux_density), at.b_aux);
    }
    clock.end("H2D", 0.8);
    auto* const bad = reinterpret_cast<uint32_t*>(block.at(at.bad));
    evaluate(vectors, at, block, bad, uploads);
    staged->content = prover().stage(vectors.witness.on_device(block.at(at.witness)),
                                     vectors.a.on_device(block.at(at.a)), vectors.b.on_device(block.at(at.b)),
                                     block.at(at.a_aux), block.at(at.b_input), block.at(at.b_aux),
                                     block.at(at.lists), uploads);
    clock.end("EVALUATE", 1);
    refuse_bad_values(bad);
    block.check_guards("partition");
    return staged;
  }

  std::unique_ptr<computed_partition> compute(std::unique_ptr<staged_partition> opaque,
                                              const blinding_pair& blinding,
                                              const call_context& context) const override {
    const profiler_range range("compute");
    on_->make_current();
    auto& staged = own<staged_cuda>(*opaque);
    const auto turn = wait_for_turn(context);
    const drained_at_end drained{*stream_};
    auto computed = std::make_unique<computed_cuda<Curve>>();
    computed->key = this;
    computed->blinding = blinding;
    stage_clock clock(context, *stream_, plan_.shape.log_n >= log_rows_in_turn ? 1 : SIZE_MAX);
    auto* const d_g1 = reinterpret_cast<typename g1::xyzz*>(work_block_.at(plan_.sums_g1));
    auto* const d_g2 = reinterpret_cast<typename g2::xyzz*>(work_block_.at(plan_.sums_g2));
    computed->results = prover().compute(staged.content, *domain_, feed(context), work_block_.at(plan_.core), d_g1,
                                         d_g2, *stream_,
                                         [&](const char* stage) { clock.end(stage, share_done(stage)); });
    clock.finish();
    const auto fetch = [&]<class T>(std::vector<T>& to, const T* from, size_t count) {
      to.resize(count);
      CUDA_OK(cudaMemcpyAsync(to.data(), from, count * sizeof(T), cudaMemcpyDeviceToHost, *stream_));
    };
    fetch(computed->sums_g1, d_g1, computed->results.g1_count);
    fetch(computed->sums_g2, d_g2, computed->results.g2_count);
    CUDA_OK(cudaStreamSynchronize(*stream_));
    refuse_bad_points(context);
    staged.block.check_guards("partition");
    key_block_.check_guards("key");
    work_block_.check_guards("work");
    return computed;
  }

  proof_points finish(std::unique_ptr<computed_partition> opaque, const call_context& context) const override {
    const profiler_range range("finish");
    context.exec.check_cancelled();
    const auto& computed = own<computed_cuda<Curve>>(*opaque);
    const auto sums =
        device_prover<Curve>::combine(computed.results, computed.sums_g1.data(), computed.sums_g2.data());
    return assemble(constants_, sums, computed.blinding);
  }

  ~cuda_key() override {
    cudaSetDevice(on_->id());
    if (stream_) cudaStreamSynchronize(*stream_);
  }

 private:
  // The arrays of one partition.
  struct staged_layout {
    block_layout layout;
    size_t witness = 0, a = 0, b = 0, a_aux = 0, b_input = 0, b_aux = 0, lists = 0, bad = 0;

    staged_layout(const partition_vectors& vectors, const key_plan<Curve>& plan, const device& on) {
      witness = layout.add(length_of(vectors.witness.bytes));
      a = layout.add(vectors.a.length());
      b = layout.add(vectors.b.length());
      if (!plan.shape.every_wire) {
        a_aux = layout.add(vectors.a_aux_density.size());
        b_input = layout.add(vectors.b_input_density.size());
        b_aux = layout.add(vectors.b_aux_density.size());
      }
      lists = layout.add(plan.prover(on).stage_bytes(vectors.witness.head));
      bad = layout.add(key_plan<Curve>::bad_words * sizeof(uint32_t));
    }
  };

  device_prover<Curve> prover() const { return plan_.prover(*on_); }

  void check_counts() const {
    const partition_shape& shape = plan_.shape;
    if (shape.log_n > log_domain_max)
      throw format_error("domain", "at most 2^" + std::to_string(log_domain_max) + " rows for a GPU",
                         "2^" + std::to_string(shape.log_n));
    expect_points("h", source_.h.count, shape.h_points());
    expect_points("l", source_.l.count, shape.aux);
    expect_points("bG2", source_.b_g2.count, source_.b_g1.count);
    if (!source_.every_wire) return;
    expect_points("a", source_.a.count, shape.wires());
    expect_points("bG1", source_.b_g1.count, shape.wires());
  }

  // A resident key that leaves no room for a partition is refused at once; a streamed one takes what partitions fit.
  void require_room() const {
    const size_t need = whole_device_pages(plan_.key.bytes()) + whole_device_pages(plan_.work.bytes()) +
                        (plan_.streamed ? 0 : plan_.full_partition_bytes(*on_));
    const device_memory& memory = *on_->memory();
    const size_t left = memory.budget_bytes() - memory.used_bytes();
    if (need > left) throw device_memory_error(need, left);
  }

  void check_points(const call_context& context) const {
    for_each_query<Curve>([&]<class G>(query_id query) {
      const record_slice& all = plan_.records(source_, query);
      for (size_t first = 0; first < all.count; first += points_a_step) {
        const size_t n = std::min(points_a_step, all.count - first);
        proofline::query<G>::load(name_of(query), points_of<G>(all, first, n), source_.points, true, context.exec,
                                  first);
      }
    });
  }

  void load_points(const call_context& context) {
    double done = 0, total = 0;
    for_each_query<Curve>([&]<class G>(query_id query) { total += double(plan_.records(source_, query).slice.length); });
    for_each_query<Curve>([&]<class G>(query_id query) {
      const record_slice& all = plan_.records(source_, query);
      auto* const d_points = reinterpret_cast<typename G::affine*>(key_block_.at(plan_.queries[size_t(query)]));
      require(all.slice.length == all.count * sizeof *d_points, "a query as long as its points");
      for (size_t first = 0; first < all.count; first += points_a_step) {
        const size_t n = std::min(points_a_step, all.count - first), length = n * sizeof *d_points;
        on_->ring().upload(all.slice, first * sizeof *d_points, d_points + first, length, *stream_, context.exec);
        prepare_points<G>(d_points + first, n, source_.points, uint32_t(first), bad(), *stream_);
        context.on_progress((done += double(length)) / total);
      }
      // One word serves all queries, so it is looked at after each.
      CUDA_OK(cudaStreamSynchronize(*stream_));
      if (const uint32_t place = bad_point(); place != none_bad)
        refuse_point<G>(name_of(query), all, place, source_.points, context.exec);
    });
  }

  void load_rows(const call_context& context) {
    const auto rows = sparse_rows<P>::load(*source_.rows, source_.wires(), source_.log_n, context.exec);
    const auto& coefficients = rows.coefficients();
    if (coefficients.size() > key_plan<Curve>::coefficients_max) {
      throw format_error("coefficients", "at most " + std::to_string(key_plan<Curve>::coefficients_max) +
                                             " that differ, for a GPU", std::to_string(coefficients.size()));
    }
    const auto upload = [&](const void* from, size_t bytes, size_t to) {
      on_->ring().upload(std::span(static_cast<const uint8_t*>(from), bytes), 0, key_block_.at(to), bytes, *stream_,
                         context.exec);
    };
    static_assert(sizeof(row_entry) == sizeof(typename sparse_rows<P>::entry));
    const size_t entries_of_a = rows.a().start.back();
    for (size_t i = 0; i < 2; i++) {
      const auto& matrix = i == 0 ? rows.a() : rows.b();
      upload(matrix.start.data(), matrix.start.size() * sizeof(uint32_t), plan_.starts[i]);
      upload(matrix.entries.get(), matrix.start.back() * sizeof(row_entry),
             plan_.entries + (i == 0 ? 0 : entries_of_a * sizeof(row_entry)));
    }
    upload(coefficients.data(), coefficients.size() * sizeof(F), plan_.coefficients);
    entries_of_a_ = entries_of_a;
    CUDA_OK(cudaStreamSynchronize(*stream_));
  }

  // A·w and B·w by the key's rows, where the circuit has not given them; and whether full-size values are below r
  // (those of compact vectors come from this process's own synthesis).
  void evaluate(const partition_vectors& vectors, const staged_layout& at, const guarded_block& block,
                uint32_t* bad, cudaStream_t stream) const {
    CUDA_OK(cudaMemsetAsync(bad, 0xff, key_plan<Curve>::bad_words * sizeof *bad, stream));
    const auto scalars = [&](size_t offset) { return reinterpret_cast<words<4>*>(block.at(offset)); };
    const auto check = [&](const value_vector& vector, size_t offset, size_t word) {
      if (!vector.compact) find_not_below_modulus<P>(scalars(offset), vector.head.n, bad + word, stream);
    };
    check(vectors.witness, at.witness, 0);
    if (vectors.rows_given) {
      check(vectors.a, at.a, 1);
      check(vectors.b, at.b, 2);
      return;
    }
    const auto* const entries = reinterpret_cast<const row_entry*>(key_block_.at(plan_.entries));
    const auto* const coefficients = reinterpret_cast<const F*>(key_block_.at(plan_.coefficients));
    for (size_t i = 0; i < 2; i++) {
      multiply_rows<P>(reinterpret_cast<const uint32_t*>(key_block_.at(plan_.starts[i])),
                       entries + (i == 0 ? 0 : entries_of_a_), coefficients, scalars(at.witness),
                       plan_.shape.rows(), scalars(i == 0 ? at.a : at.b), stream);
    }
  }

  static void refuse_bad_values(const uint32_t* d_bad) {
    std::array<uint32_t, key_plan<Curve>::bad_words> bad;
    CUDA_OK(cudaMemcpy(bad.data(), d_bad, sizeof bad, cudaMemcpyDeviceToHost));
    constexpr const char* names[] = {"witness", "a", "b"};
    for (size_t i = 0; i < bad.size(); i++) {
      if (bad[i] == none_bad) continue;
      throw format_error(std::string(names[i]) + "[" + std::to_string(bad[i]) + "]", "a value below r", "a larger one");
    }
  }

  uint32_t* bad() const { return reinterpret_cast<uint32_t*>(work_block_.at(plan_.bad)); }
  void forget_bad(cudaStream_t stream) const { CUDA_OK(cudaMemsetAsync(bad(), 0xff, sizeof(uint32_t), stream)); }
  uint32_t bad_point() const {
    uint32_t place;
    CUDA_OK(cudaMemcpy(&place, bad(), sizeof place, cudaMemcpyDeviceToHost));
    return place;
  }
  // Of a streamed key: its points are read again for each proof.
  void refuse_bad_points(const call_context& context) const {
    const uint32_t place = bad_point();
    if (place == none_bad) return;
    forget_bad(*stream_);
    for_each_query<Curve>([&]<class G>(query_id query) {
      const record_slice& all = plan_.records(source_, query);
      if (place < all.count)
        proofline::query<G>::load(name_of(query), points_of<G>(all, place, 1), source_.points, true, context.exec, place);
    });
    throw internal_error("the device refused a point that the host takes");
  }

  std::unique_lock<std::timed_mutex> wait_for_turn(const call_context& context) const {
    std::unique_lock turn(on_->computing(), std::defer_lock);
    while (!turn.try_lock_for(std::chrono::milliseconds(50))) context.exec.check_cancelled();
    return turn;
  }

  point_feed feed(const call_context& context) const {
    if (!streamed_) {
      return {[this](query_id query, size_t first, size_t, cudaStream_t) -> const void* {
                return key_block_.at(plan_.queries[size_t(query)]) + first * plan_.point_bytes(query);
              },
              [](query_id, size_t, cudaStream_t) {}};
    }
    return {[this, &context](query_id query, size_t first, size_t n, cudaStream_t stream) -> const void* {
              if (query == query_id::b_g2)
                return streamed_->template take<g2>(query, first, n, key_block_, bad(), stream, context);
              return streamed_->template take<g1>(query, first, n, key_block_, bad(), stream, context);
            },
            [this](query_id, size_t, cudaStream_t stream) { streamed_->leave(stream); }};
  }

  std::shared_ptr<device> on_;
  key_source source_;
  key_plan<Curve> plan_;
  key_constants<Curve> constants_;
  guarded_block key_block_, work_block_;
  std::optional<stream> stream_;
  std::optional<domain<P>> domain_;
  // Used by the one partition that computes.
  mutable std::optional<streamed_points<Curve>> streamed_;
  size_t entries_of_a_ = 0;
};

template <class Fn>
auto with_curve(curve_id curve, Fn&& fn) {
  return curve == curve_id::bn254 ? fn.template operator()<bn254>() : fn.template operator()<bls12_381>();
}

}  // namespace

memory_estimate estimate_cuda_key(const device& on, const key_source& source, residency where, size_t batch) {
  return with_curve(source.curve, [&]<class Curve>() {
    const key_plan<Curve> plan(source, where, on);
    size_t pinned = staging_ring::bytes;
    if (where == residency::mapped) pinned += staging_ring::bytes;
    if (where == residency::pinned)
      for (size_t i = 0; i < 5; i++) pinned += plan.records(source, query_id(i)).slice.length;
    const size_t values = source.wires() + (source.rows ? 0 : 2 * plan.shape.rows());
    return memory_estimate{
        whole_device_pages(plan.key.bytes()) + whole_device_pages(plan.work.bytes()) +
            batch * plan.full_partition_bytes(on),
        pinned, batch * values * sizeof(words<4>) + (source.rows ? source.rows->count * sizeof(row_entry) : 0)};
  });
}

std::unique_ptr<loaded_key> load_cuda_key(std::shared_ptr<device> on, const key_source& source, residency where,
                                          bool check, const call_context& context) {
  context.exec.check_cancelled();
  return with_curve(source.curve, [&]<class Curve>() -> std::unique_ptr<loaded_key> {
    return std::make_unique<cuda_key<Curve>>(std::move(on), source, where, check, context);
  });
}

}  // namespace proofline::cuda
