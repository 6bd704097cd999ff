#include <sys/mman.h>

#include <future>
#include <memory>
#include <optional>

#include "bench/bench.hpp"
#include "bench/known_points.cuh"
#include "bench/synthetic.hpp"
#include "ntt/domain_roots.hpp"
#include "prover/partition.cuh"

// Whole partitions of Filecoin's sizes over keys made on the device, pipelined: while one is
// computed the next is staged and the one before it finished. Every proof is compared with the one
// that the points' logarithms give, h with the identity that defines it.
namespace proofline::cuda {
namespace {

// Host memory that the device reads at full speed: touched by all threads, then registered.
class pinned_block {
 public:
  pinned_block(size_t length, const executor& exec) : length_((length + 4095) / 4096 * 4096) {
    void* const at =
        ::mmap(nullptr, length_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) throw file_error("host memory", "none left");
    data_ = static_cast<uint8_t*>(at);
    ::madvise(data_, length_, MADV_HUGEPAGE);
    exec.run_ranges(length_, size_t{1} << 25, [&](size_t begin, size_t end, unsigned) {
      for (size_t i = begin; i < end; i += 4096) data_[i] = 0;
    });
    CUDA_OK(cudaHostRegister(data_, length_, cudaHostRegisterDefault));
  }
  ~pinned_block() {
    cudaHostUnregister(data_);
    ::munmap(data_, length_);
  }
  pinned_block(const pinned_block&) = delete;
  pinned_block& operator=(const pinned_block&) = delete;
  uint8_t* data() const { return data_; }

 private:
  uint8_t* data_;
  size_t length_;
};

class stream_owner {
 public:
  stream_owner() { CUDA_OK(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking)); }
  ~stream_owner() { cudaStreamDestroy(stream_); }
  stream_owner(const stream_owner&) = delete;
  stream_owner& operator=(const stream_owner&) = delete;
  operator cudaStream_t() const { return stream_; }

 private:
  cudaStream_t stream_;
};

class event_owner {
 public:
  explicit event_owner(unsigned flags = cudaEventDisableTiming) {
    CUDA_OK(cudaEventCreateWithFlags(&event_, flags));
  }
  ~event_owner() { cudaEventDestroy(event_); }
  event_owner(const event_owner&) = delete;
  event_owner& operator=(const event_owner&) = delete;
  operator cudaEvent_t() const { return event_; }

 private:
  cudaEvent_t event_;
};

// A query's points on the host, for keys that are streamed.
struct host_query {
  std::unique_ptr<pinned_block> block;
  size_t point_bytes;
};

// Copies the parts of a streamed key in the order of use into a ring of buffers, as far ahead as it
// has room.
class streaming_feed {
 public:
  streaming_feed(std::vector<host_query>& queries, std::vector<device_task> order,
                 size_t buffer_bytes, int buffers)
      : queries_(queries), order_(std::move(order)) {
    for (int i = 0; i < buffers; i++) {
      memory_.emplace_back(buffer_bytes);
      copied_.push_back(std::make_unique<event_owner>());
      used_.push_back(std::make_unique<event_owner>());
    }
    while (issued_ < memory_.size()) issue();
  }

  point_feed feed() {
    return {[this](query_id query, size_t first, size_t, cudaStream_t stream) -> const void* {
              const device_task& t = order_[taken_ % order_.size()];
              require(t.query == query && t.first_point == first,
                      "points in the order that was announced");
              const size_t slot = taken_ % memory_.size();
              CUDA_OK(cudaStreamWaitEvent(stream, *copied_[slot]));
              return memory_[slot].get();
            },
            [this](query_id, size_t, cudaStream_t stream) {
              CUDA_OK(cudaEventRecord(*used_[taken_ % memory_.size()], stream));
              taken_++;
              issue();
            }};
  }
  size_t device_bytes() const { return memory_.size() * memory_[0].bytes(); }

 private:
  void issue() {
    const device_task& t = order_[issued_ % order_.size()];
    const host_query& from = queries_[size_t(t.query)];
    const size_t slot = issued_ % memory_.size();
    if (issued_ >= memory_.size()) CUDA_OK(cudaStreamWaitEvent(stream_, *used_[slot]));
    CUDA_OK(cudaMemcpyAsync(memory_[slot].get(),
                            from.block->data() + t.first_point * from.point_bytes,
                            t.points * from.point_bytes, cudaMemcpyHostToDevice, stream_));
    CUDA_OK(cudaEventRecord(*copied_[slot], stream_));
    issued_++;
  }

  std::vector<host_query>& queries_;
  std::vector<device_task> order_;
  std::vector<device_array<uint8_t>> memory_;
  std::vector<std::unique_ptr<event_owner>> copied_, used_;
  stream_owner stream_;
  size_t taken_ = 0, issued_ = 0;
};

// The vectors and densities of a partition in pinned memory.
struct host_input {
  std::unique_ptr<pinned_block> block;
  compact_vector witness, a, b;
  const uint8_t *a_aux, *b_input, *b_aux;
  size_t bytes;
};

host_input pinned(const synthetic_vector& w, const synthetic_vector& a, const synthetic_vector& b,
                  const bytes& a_aux, const bytes& b_input, const bytes& b_aux,
                  const executor& exec) {
  const auto size = [](size_t n) { return (n + 255) / 256 * 256; };
  const auto& parts = {&w.header_and_sections,
                       &a.header_and_sections,
                       &b.header_and_sections,
                       &a_aux,
                       &b_input,
                       &b_aux};
  host_input in{};
  for (const bytes* part : parts) in.bytes += size(part->size());
  in.block = std::make_unique<pinned_block>(in.bytes, exec);
  size_t at = 0;
  const uint8_t* places[6];
  int i = 0;
  for (const bytes* part : parts) {
    uint8_t* const to = in.block->data() + at;
    exec.run_ranges(part->size(), size_t{1} << 24, [&](size_t begin, size_t end, unsigned) {
      std::memcpy(to + begin, part->data() + begin, end - begin);
    });
    places[i++] = to;
    at += size(part->size());
  }
  const auto moved = [](const synthetic_vector& v, const uint8_t* to) {
    return v.view.moved(v.header_and_sections.data(), to);
  };
  in.witness = moved(w, places[0]), in.a = moved(a, places[1]), in.b = moved(b, places[2]);
  in.a_aux = places[3], in.b_input = places[4], in.b_aux = places[5];
  return in;
}

template <class P>
__global__ void __launch_bounds__(256) multiply_rows(element<P>* a, const element<P>* b, size_t n) {
  const size_t i = blockIdx.x * size_t{256} + threadIdx.x;
  if (i < n) store8<P>(a + i, scalar_product<P>(load8<P>(a + i), load8<P>(b + i)));
}
template <class P>
__global__ void __launch_bounds__(256)
    evaluate_rows(const element<P>* d, size_t n, element<P> x, element<P>* partial) {
  const size_t i = blockIdx.x * size_t{256} + threadIdx.x, length = n / (size_t(gridDim.x) * 256);
  element<P> sum{}, factor = one_of<P>(), base = x;
  for (size_t j = length; j-- > 0;) {
    sum = scalar_product<P>(sum, x);
    const element<P> e = load8<P>(d + i * length + j);
    add_wide<P>(sum.l, e.l);
    narrow<P>(sum.l);
  }
  for (size_t e = i * length; e != 0; e >>= 1) {
    if (e & 1) factor = scalar_product<P>(factor, base);
    base = scalar_product<P>(base, base);
  }
  store8<P>(partial + i, scalar_product<P>(sum, factor));
}

bytes encoded(const auto& affine) {
  bytes out(sizeof affine);
  write_point(out.data(), affine);
  return out;
}

template <class curve>
struct partition_bench {
  using P = typename curve::fr;
  using F = mont_t<P>;
  using g1 = typename curve::g1;
  using g2 = typename curve::g2;
  using prover = device_prover<curve>;

  static F value_at(const F* d, size_t n, const F& x) {
    const unsigned blocks = unsigned(std::min<size_t>(n / 256, 1024));
    device_array<element<P>> partial(blocks * 256);
    element<P> e;
    std::memcpy(e.l, &x, sizeof e.l);
    evaluate_rows<P><<<blocks, 256>>>(reinterpret_cast<const element<P>*>(d), n, e, partial.get());
    CUDA_OK(cudaGetLastError());
    F sum = F::zero();
    for (const auto& part : partial.read()) {
      F v;
      std::memcpy(&v, part.l, sizeof v);
      sum += v;
    }
    return sum;
  }

  // At one point; a, b, c from the rows by interpolation, in the work area behind h. monomial:
  // h·(xⁿ − 1) = a·b − c; odd-lagrange: h[i] = a·b − c at point 2i + 1 of the domain of 2n.
  static bool quotient_holds(const F* h, const staged_device_partition& staged, const domain<P>& d,
                             const partition_shape& shape, F* space) {
    const size_t n = shape.rows(), i = n / 3;
    const bool monomial = shape.basis == h_basis::monomial;
    const F x = monomial ? F::from_u64(0x123456789abcdef)
                         : domain_root<P>(shape.basis, shape.log_n + 1).pow(words<1>{{2 * i + 1}});
    F *const a = space, *const b = space + n;
    F at_x[3];
    for (int k = 0; k < 3; k++) {
      expand_rows<P>(staged.row_a, shape.log_n, a, nullptr);
      expand_rows<P>(staged.row_b, shape.log_n, b, nullptr);
      if (k == 2)
        multiply_rows<P><<<unsigned(n / 256), 256>>>(reinterpret_cast<element<P>*>(a),
                                                     reinterpret_cast<const element<P>*>(b), n);
      F* const v = k == 1 ? b : a;
      d.interpolate(v, nullptr);
      CUDA_OK(cudaDeviceSynchronize());
      at_x[k] = value_at(v, n, x);
    }
    const F difference = at_x[0] * at_x[1] - at_x[2];
    if (monomial) return value_at(h, n, x) * (x.pow(words<1>{{n}}) - F::one()) == difference;
    F h_i;
    CUDA_OK(cudaMemcpy(&h_i, h + i, sizeof h_i, cudaMemcpyDeviceToHost));
    return h_i == difference;
  }

  struct expected_logs {
    F h, l, a, b;
  };

  struct toxic {
    F alpha, beta, delta;
  };

  template <class G>
  static typename G::affine point_of(const F& log) {
    return multiply(G::generator(), log.to_canonical()).to_affine();
  }

  static bool proof_is_right(const proof_points& proof, const expected_logs& e, const toxic& t,
                             const blinding_pair& blinding) {
    const F r = F::from_canonical(blinding.r), s = F::from_canonical(blinding.s);
    const F a = t.alpha + e.a + r * t.delta, b = t.beta + e.b + s * t.delta;
    const F c = e.h + e.l + s * a + r * b - r * s * t.delta;
    return proof.a == encoded(point_of<g1>(a)) && proof.b == encoded(point_of<g2>(b)) &&
           proof.c == encoded(point_of<g1>(c));
  }

  struct bench_key {
    known_points<g1> h, l, a, b_g1;
    known_points<g2> b_g2;
  };

  // One staged partition's memory, and what follows it to its proof.
  struct slot {
    device_array<uint8_t> input, lists;
    staged_device_partition staged;
  };

  class pipeline {
   public:
    pipeline(const partition_shape& shape, const bench_context& context, const host_input& input,
             size_t sum_bytes)
        : context_(context),
          input_(input),
          prover_(shape, context.facts, sum_bytes),
          shape_(shape),
          tables_(domain<P>::table_bytes(shape.basis, shape.log_n)),
          domain_(shape.basis, shape.log_n, tables_.get()),
          work_(prover_.work_bytes()),
          d_g1_(prover::partials_max),
          d_g2_(prover::partials_max),
          h_g1_(prover::partials_max * sizeof(typename g1::xyzz), context.exec),
          h_g2_(prover::partials_max * sizeof(typename g2::xyzz), context.exec) {
      for (slot& s : slots_) {
        s.input = device_array<uint8_t>(input.bytes);
        s.lists = device_array<uint8_t>(prover_.stage_bytes(input.witness));
      }
      domain_.make_tables(nullptr);
      CUDA_OK(cudaDeviceSynchronize());
    }

    size_t device_bytes() const {
      return tables_.bytes() + work_.bytes() + d_g1_.bytes() + d_g2_.bytes() +
             2 * (slots_[0].input.bytes() + slots_[0].lists.bytes());
    }

    void stage(int k) {
      slot& s = slots_[k % 2];
      const uint8_t* const from = input_.block->data();
      uint8_t* const to = s.input.get();
      CUDA_OK(cudaMemcpyAsync(to, from, input_.bytes, cudaMemcpyHostToDevice, stage_stream_));
      s.staged = prover_.stage(input_.witness.moved(from, to), input_.a.moved(from, to),
                               input_.b.moved(from, to), to + (input_.a_aux - from),
                               to + (input_.b_input - from), to + (input_.b_aux - from),
                               s.lists.get(), stage_stream_);
    }

    // Waits for the device once.
    query_sums<curve> compute(int k, const point_feed& feed, bool print) {
      std::vector<std::pair<const char*, std::unique_ptr<event_owner>>> marks;
      const auto mark = [&](const char* name) {
        marks.emplace_back(name, std::make_unique<event_owner>(cudaEventDefault));
        CUDA_OK(cudaEventRecord(*marks.back().second, stream_));
      };
      mark("start");
      const auto results = prover_.compute(slots_[k % 2].staged, domain_, feed, work_.get(),
                                           d_g1_.get(), d_g2_.get(), stream_, mark);
      CUDA_OK(cudaMemcpyAsync(h_g1_.data(), d_g1_.get(),
                              results.g1_count * sizeof(typename g1::xyzz), cudaMemcpyDeviceToHost,
                              stream_));
      CUDA_OK(cudaMemcpyAsync(h_g2_.data(), d_g2_.get(),
                              results.g2_count * sizeof(typename g2::xyzz), cudaMemcpyDeviceToHost,
                              stream_));
      CUDA_OK(cudaStreamSynchronize(stream_));
      if (print) {
        std::printf("  stages, ms:");
        for (size_t i = 1; i < marks.size(); i++) {
          float ms = 0;
          CUDA_OK(cudaEventElapsedTime(&ms, *marks[i - 1].second, *marks[i].second));
          std::printf(" %s %.1f", marks[i].first, ms);
        }
        std::printf("\n");
      }
      return prover::combine(results, reinterpret_cast<const typename g1::xyzz*>(h_g1_.data()),
                             reinterpret_cast<const typename g2::xyzz*>(h_g2_.data()));
    }

    // Where `compute` leaves them.
    const F* h() const {
      return reinterpret_cast<const F*>(work_.get()) +
             (shape_.basis == h_basis::monomial ? 0 : shape_.rows());
    }
    F* behind_h() const {
      return reinterpret_cast<F*>(work_.get()) +
             shape_.rows() * (shape_.basis == h_basis::monomial ? 1 : 2);
    }
    const domain<P>& transforms() const { return domain_; }
    const staged_device_partition& staged(int k) const { return slots_[k % 2].staged; }
    const prover& sums() const { return prover_; }

   private:
    const bench_context& context_;
    const host_input& input_;
    prover prover_;
    partition_shape shape_;
    device_array<uint8_t> tables_;
    domain<P> domain_;
    device_array<uint8_t> work_;
    device_array<typename g1::xyzz> d_g1_;
    device_array<typename g2::xyzz> d_g2_;
    pinned_block h_g1_, h_g2_;
    slot slots_[2];
    stream_owner stream_, stage_stream_;
  };

  // Pipelined; the median of the times between two ends.
  static int run_pipeline(pipeline& p, const point_feed& feed, int partitions,
                          const key_constants<curve>& constants, const expected_logs& expected,
                          const toxic& toxic) {
    std::vector<proof_points> proofs(static_cast<size_t>(partitions));
    const auto blindings = random_elements<F>(2 * size_t(partitions), 77);
    const auto blinding = [&](int k) {
      return blinding_pair{blindings[2 * size_t(k)].to_canonical(),
                           blindings[2 * size_t(k) + 1].to_canonical()};
    };
    std::vector<double> ends;
    std::future<void> finishing;
    const double start = milliseconds();
    std::future<void> staging = std::async(std::launch::async, [&] { p.stage(0); });
    double staged_first = 0;
    for (int k = 0; k < partitions; k++) {
      staging.get();
      if (k == 0) staged_first = milliseconds() - start;
      if (k + 1 < partitions) staging = std::async(std::launch::async, [&, k] { p.stage(k + 1); });
      const auto sums = p.compute(k, feed, k + 1 == partitions);
      if (finishing.valid()) finishing.get();
      finishing = std::async(std::launch::async, [&, sums, k] {
        proofs[size_t(k)] = assemble<curve>(constants, sums, blinding(k));
      });
      ends.push_back(milliseconds());
    }
    finishing.get();
    const double all = milliseconds() - start;
    int wrong = 0;
    for (int k = 0; k < partitions; k++)
      wrong += !proof_is_right(proofs[size_t(k)], expected, toxic, blinding(k));
    std::vector<double> steps;
    for (size_t i = 1; i < ends.size(); i++) steps.push_back(ends[i] - ends[i - 1]);
    std::printf(
        "  %d partitions: %.3f s, %.3f s each; between ends median %.1f ms; first staged after "
        "%.1f ms; %d wrong\n",
        partitions, all / 1e3, all / 1e3 / partitions, steps.empty() ? all : median(steps),
        staged_first, wrong);
    std::fflush(stdout);
    return wrong;
  }

  static int run(const bench_context& context, const std::string& name, int partitions) {
    const bool streamed = name.ends_with("-streamed"), tables = name.ends_with("-tables");
    const synthetic_shape& s = synthetic_shape_of(name.substr(0, name.find('-')));
    const executor& exec = context.exec;
    double clock = milliseconds();
    const auto lap = [&](const char* what) {
      const double now = milliseconds();
      std::printf("  %s: %.2f s\n", what, (now - clock) / 1e3);
      clock = now;
    };
    std::printf("partition %s\n", name.c_str());
    const bool full = s.field_elements == 1;
    const uint32_t wires = s.inputs + s.aux;
    host_input input;
    bytes a_aux, b_input, b_aux;
    {
      const auto w = synthetic_vector::make(full ? compact_kind::full : compact_kind::bits, wires,
                                            s.field_elements, 1000, exec);
      const auto a = synthetic_vector::make(full ? compact_kind::full : compact_kind::small, s.rows,
                                            s.field_elements, 2000, exec);
      const auto b = synthetic_vector::make(full ? compact_kind::full : compact_kind::small, s.rows,
                                            s.field_elements, 3000, exec);
      a_aux = synthetic_density(s.aux, s.a_density, 1, exec),
      b_aux = synthetic_density(s.aux, s.b_density, 2, exec);
      b_input = synthetic_density(s.inputs, 0, 3, exec);
      b_input[0] = 1;
      for (uint64_t e = 0; e < w.view.exceptions;
           e++) {  // two thirds of the field elements occur in B
        const uint32_t wire = w.view.indices[e];
        if (wire < s.inputs) continue;
        const uint32_t i = wire - s.inputs;
        b_aux[i / 8] =
            uint8_t((b_aux[i / 8] & ~(1u << (i & 7))) | unsigned(chance(4, i, 0.67)) << (i & 7));
      }
      input = pinned(w, a, b, a_aux, b_input, b_aux, exec);
    }
    partition_shape shape{s.inputs,
                          s.aux,
                          s.log_n,
                          h_basis::monomial,
                          false,
                          s.inputs + set_bits(a_aux),
                          set_bits(b_input) + set_bits(b_aux),
                          streamed ? size_t{12} << 20 : 0,
                          tables ? 4 : 1};
    if (s.circom) {
      shape.basis = h_basis::odd_lagrange, shape.every_wire = true;
      shape.a_points = shape.b_points = wires;
    }
    lap("input");
    int wrong = 0;
    {
      bench_key key{{shape.h_points(), 11, context.facts, exec,
                     shape.h_points() * size_t(shape.h_tables - 1)},
                    {s.aux, 12, context.facts, exec},
                    {shape.a_points, 13, context.facts, exec},
                    {shape.b_points, 14, context.facts, exec},
                    {shape.b_points, 14, context.facts, exec}};
      lap("key");
      const auto secrets = random_elements<F>(3, 55);
      const toxic toxic{secrets[0], secrets[1], secrets[2]};
      const key_constants<curve> constants{point_of<g1>(toxic.alpha), point_of<g1>(toxic.beta),
                                           point_of<g1>(toxic.delta), point_of<g2>(toxic.beta),
                                           point_of<g2>(toxic.delta)};
      const auto log_of = [](const auto& points) {
        return [&](size_t i) { return points.log(i); };
      };
      expected_logs expected{
          F::zero(),
          expected_sum<F>(input.witness, s.inputs, s.inputs, nullptr, nullptr, log_of(key.l), exec),
          expected_sum<F>(input.witness, 0, s.inputs, nullptr, s.circom ? nullptr : &a_aux,
                          log_of(key.a), exec),
          expected_sum<F>(input.witness, 0, s.inputs, s.circom ? nullptr : &b_input,
                          s.circom ? nullptr : &b_aux, log_of(key.b_g1), exec)};
      lap("expected sums");
      const size_t key_bytes = key.h.points.bytes() + key.l.points.bytes() + key.a.points.bytes() +
                               key.b_g1.points.bytes() + key.b_g2.points.bytes();
      std::vector<host_query> host;
      if (streamed) {
        const auto move_out = [&](auto& points) {
          host.push_back({std::make_unique<pinned_block>(points.points.bytes(), exec),
                          points.points.bytes() / points.n});
          CUDA_OK(cudaMemcpy(host.back().block->data(), points.points.get(), points.points.bytes(),
                             cudaMemcpyDeviceToHost));
          points.points = std::remove_reference_t<decltype(points.points)>(0);
        };
        move_out(key.h), move_out(key.l), move_out(key.a), move_out(key.b_g1), move_out(key.b_g2);
        lap("key to pinned memory");
      }
      const size_t sum_bytes = streamed        ? 2 * shape.rows() * sizeof(F)
                               : tables        ? size_t{39} << 30
                               : s.log_n == 27 ? size_t{30} << 30
                                               : size_t{5} << 30;
      pipeline p(shape, context, input, sum_bytes);
      if (tables) {
        msm<g1>::make_tables(p.sums().h_shape(shape.h_points()), key.h.points.get(), nullptr);
        CUDA_OK(cudaDeviceSynchronize());
        lap("tables of h");
      }
      p.stage(0);
      std::optional<streaming_feed> stream;
      point_feed feed{[&](query_id query, size_t first, size_t, cudaStream_t) -> const void* {
                        switch (query) {
                          case query_id::h:
                            return key.h.points.get() + first;
                          case query_id::l:
                            return key.l.points.get() + first;
                          case query_id::a:
                            return key.a.points.get() + first;
                          case query_id::b_g1:
                            return key.b_g1.points.get() + first;
                          case query_id::b_g2:
                            break;
                        }
                        return key.b_g2.points.get() + first;
                      },
                      [](query_id, size_t, cudaStream_t) {}};
      if (streamed) {
        size_t buffer = 0;
        for (const device_task& t : p.sums().tasks(p.staged(0)))
          buffer = std::max(buffer, t.points * host[size_t(t.query)].point_bytes);
        stream.emplace(host, p.sums().tasks(p.staged(0)), buffer, 3);
        feed = stream->feed();
      }
      std::printf(
          "  key %.2f GB, a %zu, b %zu points; device memory beside it %.2f GB; input %.3f GB\n",
          double(key_bytes) / 1e9, shape.a_points, shape.b_points,
          double(p.device_bytes() + (stream ? stream->device_bytes() : 0)) / 1e9,
          double(input.bytes) / 1e9);
      p.compute(0, feed, true);
      expected.h =
          key.h.expected_log(reinterpret_cast<const element<P>*>(p.h()), nullptr, shape.h_points());
      const bool holds = quotient_holds(p.h(), p.staged(0), p.transforms(), shape, p.behind_h());
      std::printf("  quotient: %s\n", holds ? "right" : "WRONG");
      wrong += !holds;
      lap("first partition and checks");
      wrong += run_pipeline(p, feed, partitions, constants, expected, toxic);
    }
    return wrong;
  }
};

}  // namespace

int bench_partition(const bench_context& context, const std::string& name, int partitions) {
  const bool circom = synthetic_shape_of(name.substr(0, name.find('-'))).circom;
  return circom ? partition_bench<bn254>::run(context, name, partitions)
                : partition_bench<bls12_381>::run(context, name, partitions);
}

}  // namespace proofline::cuda
