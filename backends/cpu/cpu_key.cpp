#include "cpu_key.hpp"

#include "msm/msm.hpp"
#include "ntt/quotient.hpp"
#include "program/synthesis.hpp"
#include "prover/assembly.hpp"
#include "prover/query.hpp"
#include "prover/scalars.hpp"
#include "prover/sparse_rows.hpp"

namespace proofline {
namespace {

// The scalars of a query: part of the witness, or a copy of those whose wires occur.
struct query_scalars {
  scalar_array chosen;
  std::span<const words<4>> view;
};

template <class P>
struct staged_cpu : staged_partition {
  const loaded_key* key = nullptr;
  scalar_array witness;
  query_scalars l, a, b;
  std::unique_ptr<mont_t<P>[]> row_a, row_b;
};

template <class Curve>
struct computed_cpu : computed_partition {
  const loaded_key* key = nullptr;
  query_sums<Curve> sums;
  blinding_pair blinding;
};

// Shares of the progress of `compute`: about the time of each part when all scalars are full-size.
constexpr double share_ntt = 0.04, share_g1 = 0.15, share_g2 = 0.36;

template <class Curve>
class cpu_key : public loaded_key {
  using P = typename Curve::fr;
  using F = mont_t<P>;
  using g1 = typename Curve::g1;
  using g2 = typename Curve::g2;

 public:
  cpu_key(const key_source& source, bool check, const call_context& context)
      : input_count_(source.input_count),
        wires_(source.wires()),
        every_wire_(source.every_wire),
        constants_(key_constants<Curve>::from(source)),
        quotient_(source.basis, source.log_n, context.exec) {
    double done = 0;
    const size_t total = source.h.count + source.l.count + source.a.count + source.b_g1.count +
                         g2_weight * source.b_g2.count;
    const auto load = [&]<class G>(query<G>& to, const char* name, const record_slice& from) {
      to = query<G>::load(name, from, source.points, check, context.exec);
      done += double(from.count) * (std::is_same_v<G, g2> ? g2_weight : 1);
      context.on_progress(done / double(total));
    };
    load(h_, "h", source.h);
    load(l_, "l", source.l);
    load(a_, "a", source.a);
    load(b_g1_, "bG1", source.b_g1);
    load(b_g2_, "bG2", source.b_g2);
    check_counts();
    if (source.rows) rows_ = sparse_rows<P>::load(*source.rows, wires_, source.log_n, context.exec);
  }

  std::unique_ptr<staged_partition> stage(const partition_input& input,
                                          const call_context& context) const override {
    const executor& exec = context.exec;
    exec.check_cancelled();
    auto staged = std::make_unique<staged_cpu<P>>();
    staged->key = this;
    if (input.program) {
      context.timed("SYNTH", [&] { synthesize_into(*input.program, *staged, exec); });
      return staged;
    }
    if (input.witness.n != wires_) {
      throw format_error("witness", std::to_string(wires_) + " values",
                         std::to_string(input.witness.n));
    }
    if (!input.evaluated && !(rows_ && every_wire_)) throw not_evaluated();
    staged->witness = read_scalars<P>("witness", input.witness, wires_, exec);
    context.timed("EVALUATE", [&] { evaluate(input, *staged, exec); });
    if (every_wire_) {
      choose_every_wire(*staged);
    } else {
      const auto& [a, b, a_aux, b_inputs, b_aux] = *input.evaluated;
      choose_scalars({a_aux, b_inputs, b_aux}, *staged);
    }
    return staged;
  }

  std::unique_ptr<computed_partition> compute(std::unique_ptr<staged_partition> opaque,
                                              const blinding_pair& blinding,
                                              const call_context& context) const override {
    auto& staged = own<staged_cpu<P>>(*opaque);
    const executor& exec = context.exec;
    auto computed = std::make_unique<computed_cpu<Curve>>();
    computed->key = this;
    computed->blinding = blinding;
    query_sums<Curve>& sums = computed->sums;
    double done = 0;
    const auto advance = [&](double share) { context.on_progress(std::min(done += share, 1.0)); };

    scalar_array h = context.timed("NTT", [&] {
      return quotient_.run(std::move(staged.row_a), std::move(staged.row_b), exec);
    });
    advance(share_ntt);
    const auto sum = [&]<class G>(const char* stage, typename G::xyzz& to, const query<G>& points,
                                  std::span<const words<4>> scalars, double share) {
      to = context.timed(stage, [&] { return msm<G>(points.view(), scalars, exec); });
      advance(share);
    };
    sum("MSM_H", sums.h, h_, {h.get(), quotient_.scalar_count()}, share_g1);
    h.reset();
    sum("MSM_L", sums.l, l_, staged.l.view, share_g1);
    sum("MSM_A", sums.a, a_, staged.a.view, share_g1);
    sum("MSM_B_G1", sums.b_g1, b_g1_, staged.b.view, share_g1);
    sum("MSM_B_G2", sums.b_g2, b_g2_, staged.b.view, share_g2);
    return computed;
  }

  proof_points finish(std::unique_ptr<computed_partition> opaque,
                      const call_context& context) const override {
    context.exec.check_cancelled();
    const auto& computed = own<computed_cpu<Curve>>(*opaque);
    return assemble(constants_, computed.sums, computed.blinding);
  }

 private:
  static constexpr double g2_weight = 3;

  void check_counts() const {
    expect_points("h", h_.count(), quotient_.scalar_count());
    expect_points("l", l_.count(), wires_ - input_count_);
    expect_points("bG2", b_g2_.count(), b_g1_.count());
    if (!every_wire_) return;
    expect_points("a", a_.count(), wires_);
    expect_points("bG1", b_g1_.count(), wires_);
  }

  static prover_error not_evaluated() {
    return format_error("partition", "row values and densities (the key has no rows)", "a witness");
  }

  // Witness, A·w and B·w of a circuit.
  void synthesize_into(const program_input& input, staged_cpu<P>& staged, const executor& exec) const {
    if constexpr (std::is_same_v<F, bls12_381_fr>) {
      const circuit_program program(input.program);
      if (program.inputs() != input_count_ || program.inputs() + program.aux() != wires_ ||
          program.rows() > quotient_.size()) {
        throw format_error("program", "the circuit of the key", "another");
      }
      synthesis made = synthesize(program, input.private_inputs, keep_c::no, exec);
      if (made.failed) throw unsatisfied_error(made.failed->name() + " does not hold");
      staged.witness = std::make_unique_for_overwrite<words<4>[]>(wires_);
      std::move(made.witness).expand(staged.witness.get(), exec);
      staged.row_a = expanded_rows(std::move(made.a), program.rows(), exec);
      staged.row_b = expanded_rows(std::move(made.b), program.rows(), exec);
      if (every_wire_) return choose_every_wire(staged);
      const densities found = densities_of(program, exec);
      choose_scalars({found.a_aux, found.b_inputs, found.b_aux}, staged);
    } else {
      throw format_error("key: curve", "that of programs, bls12-381", "another");
    }
  }

  // In Montgomery form, followed by zeros.
  std::unique_ptr<F[]> expanded_rows(parted_vector&& from, size_t rows, const executor& exec) const {
    auto to = std::make_unique_for_overwrite<F[]>(quotient_.size());
    std::move(from).expand(to.get(), exec);
    std::fill(to.get() + rows, to.get() + quotient_.size(), F::zero());
    return to;
  }

  // A·w and B·w: from the key's own rows, or as the circuit gave them.
  void evaluate(const partition_input& input, staged_cpu<P>& staged, const executor& exec) const {
    const size_t n = quotient_.size();
    if (input.evaluated) {
      const auto& [a, b] = std::tie(input.evaluated->a, input.evaluated->b);
      if (a.n != b.n || a.n > n) {
        throw format_error("row values", "up to " + std::to_string(n) + " of a and b",
                           std::to_string(a.n));
      }
      staged.row_a = in_montgomery_form(read_scalars<P>("a", a, n, exec).get(), n, exec);
      staged.row_b = in_montgomery_form(read_scalars<P>("b", b, n, exec).get(), n, exec);
      return;
    }
    const auto w = in_montgomery_form(staged.witness.get(), wires_, exec);
    staged.row_a = std::make_unique_for_overwrite<F[]>(n);
    staged.row_b = std::make_unique_for_overwrite<F[]>(n);
    rows_->multiply(w.get(), staged.row_a.get(), staged.row_b.get(), exec);
  }

  static std::unique_ptr<F[]> in_montgomery_form(const words<4>* from, size_t n,
                                                 const executor& exec) {
    auto to = std::make_unique_for_overwrite<F[]>(n);
    exec.run_ranges(n, 4096, [&](size_t begin, size_t end, unsigned) {
      // Vector kernels take eight at a time; what is left over is done by the scalar ones.
      const size_t whole = begin + (end - begin) / 8 * 8;
      ntt_kernels_for<P>(whole - begin).from_canonical(&to[begin], from + begin, whole - begin);
      scalar_ntt_kernels<P>().from_canonical(&to[whole], from + whole, end - whole);
    });
    return to;
  }

  void choose_every_wire(staged_cpu<P>& staged) const {
    staged.a.view = staged.b.view = {staged.witness.get(), wires_};
    staged.l.view = staged.a.view.subspan(input_count_);
  }

  // Which variables have points in a and b; all inputs have one in a.
  struct chosen_variables {
    const bytes &a_aux, &b_inputs, &b_aux;
  };

  void choose_scalars(const chosen_variables& chosen, staged_cpu<P>& staged) const {
    const std::span<const words<4>> witness(staged.witness.get(), wires_);
    const auto inputs = witness.first(input_count_), aux = witness.subspan(input_count_);
    const bytes all_inputs((input_count_ + 7) / 8, 0xff);
    staged.l.view = aux;
    staged.a = choose({{inputs, &all_inputs}, {aux, &chosen.a_aux}}, a_.count());
    staged.b = choose({{inputs, &chosen.b_inputs}, {aux, &chosen.b_aux}}, b_g1_.count());
  }

  struct dense_part {
    std::span<const words<4>> values;
    const bytes* density;
  };

  static query_scalars choose(std::initializer_list<dense_part> parts, size_t expected) {
    query_scalars scalars{std::make_unique_for_overwrite<words<4>[]>(expected), {}};
    size_t count = 0;
    for (const dense_part& part : parts) {
      const size_t n = part.values.size();
      if (part.density->size() < (n + 7) / 8) {
        throw format_error("density", std::to_string((n + 7) / 8) + " bytes",
                           std::to_string(part.density->size()));
      }
      for (size_t i = 0; i < n; i++) {
        if (((*part.density)[i / 8] >> (i % 8) & 1) == 0) continue;
        if (count < expected) scalars.chosen[count] = part.values[i];
        count++;
      }
    }
    if (count != expected) {
      throw format_error("densities", std::to_string(expected) + " wires that occur",
                         std::to_string(count));
    }
    scalars.view = {scalars.chosen.get(), count};
    return scalars;
  }

  size_t input_count_, wires_;
  bool every_wire_;
  key_constants<Curve> constants_;
  quotient_plan<P> quotient_;
  query<g1> h_, l_, a_, b_g1_;
  query<g2> b_g2_;
  std::optional<sparse_rows<P>> rows_;
};

}  // namespace

std::unique_ptr<loaded_key> load_cpu_key(const key_source& source, bool check,
                                         const call_context& context) {
  context.exec.check_cancelled();
  if (source.curve == curve_id::bn254) return std::make_unique<cpu_key<bn254>>(source, check, context);
  return std::make_unique<cpu_key<bls12_381>>(source, check, context);
}

}  // namespace proofline
