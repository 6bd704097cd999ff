#include <napi.h>

#include <array>
#if defined(__GLIBC__)
#include <malloc.h>
#endif

#include "bench.hpp"
#include "core/cpu.hpp"
#include "cpu_key.hpp"
#include "napi/key_calls.hpp"
#include "prover/assembly.hpp"
#include "prover/fixed_base.hpp"
#include "poseidon.hpp"
#include "program/synthesis.hpp"
#include "setup_scalars.hpp"
#include "weighted_sum.hpp"

namespace proofline::napi {

using multiples_fn =
    std::function<bytes(std::span<const words<4>>, point_form, const executor&)>;
struct generator_table {
  pool_handle pool;
  multiples_fn multiples;
};
using table_handle = std::shared_ptr<const generator_table>;
using poseidon_handle = std::shared_ptr<const poseidon>;

template <>
inline constexpr napi_type_tag tag_of<pool_handle>{0x2f6f0d0c8a5b4e11, 0x9d1c3a7e52b84f60};
template <>
inline constexpr napi_type_tag tag_of<table_handle>{0x2f6f0d0c8a5b4e15, 0x9d1c3a7e52b84f64};
template <>
inline constexpr napi_type_tag tag_of<poseidon_handle>{0x2f6f0d0c8a5b4e16, 0x9d1c3a7e52b84f65};

namespace {

using napi::to_js;

// More than any machine has.
constexpr uint32_t threads_max = 4096;

// openPool(threads): handle
Napi::Value open_pool(const Napi::CallbackInfo& info) {
  const uint32_t threads = info[0].As<Napi::Number>().Uint32Value();
  if (threads > threads_max) {
    throw Napi::TypeError::New(info.Env(), "threads: expected at most " + std::to_string(threads_max));
  }
  return wrap(info.Env(), std::make_shared<thread_pool>(threads));
}

// load(pool, keySource, checkPoints, listener): call of a key handle
Napi::Value load(const Napi::CallbackInfo& info) {
  const auto source = key_source_of(info[1].As<Napi::Object>());
  const bool check = info[2].As<Napi::Boolean>();
  return start_load(
      info.Env(), unwrap<pool_handle>(info[0]), info[3].As<Napi::Function>(),
      [=](const call_context& context) { return load_cpu_key(source, check, context); });
}

template <class G>
multiples_fn multiples_of(size_t count, const executor& exec) {
  const auto base = std::make_shared<const fixed_base<G>>(count, exec);
  return [base](std::span<const words<4>> scalars, point_form form, const executor& exec) {
    return base->multiples(scalars, form, exec);
  };
}

// openTable(pool, curve, 'G1' | 'G2', count, listener): call of a table handle
Napi::Value open_table(const Napi::CallbackInfo& info) {
  const pool_handle pool = unwrap<pool_handle>(info[0]);
  const curve_id curve = curve_of(info[1]);
  const bool g1 = info[2].As<Napi::String>().Utf8Value() == "G1";
  const size_t count = size_t(info[3].As<Napi::Number>().Int64Value());
  return running_call::start(
      info.Env(), pool, info[4].As<Napi::Function>(), {}, [=](const call_context& context) {
        const auto make = curve == curve_id::bn254 ? g1 ? multiples_of<bn254_g1> : multiples_of<bn254_g2>
                          : g1                     ? multiples_of<bls12_381_g1>
                                                   : multiples_of<bls12_381_g2>;
        return handing_over<table_handle>(
            std::make_shared<generator_table>(generator_table{pool, make(count, context.exec)}));
      });
}

// 32 bytes each, little-endian.
std::vector<words<4>> scalars_of(const Napi::Value& value) {
  const auto view = view_of(value);
  std::vector<words<4>> scalars(view.size() / sizeof(words<4>));
  if (!scalars.empty()) std::memcpy(scalars.data(), view.data(), scalars.size() * sizeof(words<4>));
  return scalars;
}

// weightedSum(pool, curve, points, scalars, listener): call of the bytes of a point of G1
Napi::Value weighted_sum(const Napi::CallbackInfo& info) {
  const pool_handle pool = unwrap<pool_handle>(info[0]);
  const curve_id curve = curve_of(info[1]);
  const auto view = view_of(info[2]);
  const bytes points(view.begin(), view.end());
  const auto scalars = scalars_of(info[3]);
  return running_call::start(
      info.Env(), pool, info[4].As<Napi::Function>(), {}, [=](const call_context& context) {
        const auto sum = std::make_shared<const bytes>(
            proofline::weighted_sum(curve, points, scalars, context.exec));
        return settlement([sum](Napi::Env env) { return to_js(env, *sum); });
      });
}

// openPoseidon(width, roundKeys, mds, preSparse, sparse): handle
Napi::Value open_poseidon(const Napi::CallbackInfo& info) {
  const size_t width = info[0].As<Napi::Number>().Uint32Value();
  const poseidon::constants from{view_of(info[1]), view_of(info[2]), view_of(info[3]), view_of(info[4])};
  try {
    return wrap(info.Env(), poseidon_handle(std::make_shared<const poseidon>(width, from)));
  } catch (const prover_error& error) {
    throw Napi::TypeError::New(info.Env(), std::string("poseidon: ") + error.what());
  }
}

// poseidon(hash, state): the digest
Napi::Value poseidon_call(const Napi::CallbackInfo& info) {
  const poseidon_handle hash = unwrap<poseidon_handle>(info[0]);
  const auto state = info[1].As<Napi::Array>();
  if (!info[1].IsArray() || state.Length() != hash->width()) {
    throw Napi::TypeError::New(info.Env(), "state: expected as many elements as the width");
  }
  std::array<words<4>, poseidon::width_max> elements{};
  for (uint32_t i = 0; i < state.Length(); i++) {
    const Napi::Value element = state.Get(i);
    int sign = 0;
    size_t count = 4;
    if (element.IsBigInt()) element.As<Napi::BigInt>().ToWords(&sign, &count, elements[i].w);
    if (!element.IsBigInt() || sign != 0 || count > 4 ||
        !(elements[i] < bls12_381_fr::params::modulus())) {
      throw Napi::TypeError::New(info.Env(), "state: expected elements below r");
    }
  }
  const words<4> digest = hash->hash({elements.data(), hash->width()});
  return Napi::BigInt::New(info.Env(), 0, 4, digest.w);
}

// multiples(table, scalars, form, listener): call of bytes
Napi::Value multiples(const Napi::CallbackInfo& info) {
  const table_handle table = unwrap<table_handle>(info[0]);
  const auto scalars = scalars_of(info[1]);
  const point_form form = form_of(info[2]);
  return running_call::start(
      info.Env(), table->pool, info[3].As<Napi::Function>(), {}, [=](const call_context& context) {
        const auto points = std::make_shared<const bytes>(table->multiples(scalars, form, context.exec));
        return settlement([points](Napi::Env env) { return to_js(env, *points); });
      });
}

// A Buffer of the vector's own memory.
Napi::Value to_js(Napi::Env env, compact_vector& vector) {
  if (!vector.bytes) return env.Undefined();
  const size_t size = vector.size();
  auto* const owned = new compact_vector(std::move(vector));
  return Napi::Buffer<uint8_t>::New(env, owned->bytes.get(), size,
                                    [](Napi::Env, uint8_t*, compact_vector* v) { delete v; }, owned);
}

Napi::Object to_js(Napi::Env env, const failed_constraint& failed) {
  const Napi::Object object = Napi::Object::New(env);
  const Napi::Array path = Napi::Array::New(env, failed.path.size());
  for (size_t i = 0; i < failed.path.size(); i++) path.Set(uint32_t(i), failed.path[i]);
  object.Set("index", double(failed.index));
  object.Set("path", path);
  object.Set("template", failed.leaf);
  object.Set("row", failed.row);
  object.Set("aux", failed.aux ? Napi::Value(Napi::Number::New(env, *failed.aux)) : env.Undefined());
  return object;
}

struct synthesized {
  compact_vector witness, a, b, c;
  densities density;
  std::optional<failed_constraint> failed;
};

// synthesize(pool, program, privateInputs, keepC, listener): call of a Synthesis
Napi::Value synthesize(const Napi::CallbackInfo& info) {
  const pool_handle pool = unwrap<pool_handle>(info[0]);
  const auto program_bytes = view_of(info[1]), private_inputs = view_of(info[2]);
  const keep_c keep = info[3].As<Napi::Boolean>() ? keep_c::yes : keep_c::no;
  std::vector<Napi::ObjectReference> kept;
  for (const size_t i : {1, 2}) kept.push_back(Napi::Persistent(info[i].As<Napi::Object>()));
  return running_call::start(
      info.Env(), pool, info[4].As<Napi::Function>(), std::move(kept), [=](const call_context& context) {
        const executor& exec = context.exec;
        const circuit_program program(program_bytes);
        synthesis made = proofline::synthesize(program, private_inputs, keep, exec);
        const auto result = std::make_shared<synthesized>();
        result->witness = std::move(made.witness).compact(exec);
        result->a = std::move(made.a).compact(exec);
        result->b = std::move(made.b).compact(exec);
        if (keep == keep_c::yes) result->c = std::move(made.c).compact(exec);
        result->density = densities_of(program, exec);
        result->failed = std::move(made.failed);
        return settlement([result](Napi::Env env) -> Napi::Value {
          const Napi::Object object = Napi::Object::New(env);
          object.Set("witness", to_js(env, result->witness));
          object.Set("a", to_js(env, result->a));
          object.Set("b", to_js(env, result->b));
          object.Set("c", to_js(env, result->c));
          object.Set("aAuxDensity", to_js(env, result->density.a_aux));
          object.Set("bInputDensity", to_js(env, result->density.b_inputs));
          object.Set("bAuxDensity", to_js(env, result->density.b_aux));
          object.Set("failed", result->failed ? to_js(env, *result->failed) : env.Undefined());
          return object;
        });
      });
}

Napi::Value to_js(Napi::Env env, scalar_column& column) {
  const size_t size = column.count * sizeof(words<4>);
  words<4>* const owned = column.values.release();
  return Napi::Buffer<uint8_t>::New(env, reinterpret_cast<uint8_t*>(owned), size,
                                    [](Napi::Env, uint8_t*, words<4>* w) { delete[] w; }, owned);
}

// setupScalars(pool, program, waste, listener): call of {a, b, ic, l, h}. `waste`: alpha, beta, gamma, delta, tau.
Napi::Value setup_scalars_call(const Napi::CallbackInfo& info) {
  const pool_handle pool = unwrap<pool_handle>(info[0]);
  const auto program_bytes = view_of(info[1]);
  const auto secrets = scalars_of(info[2]);
  if (secrets.size() != 5) throw Napi::TypeError::New(info.Env(), "waste: expected five scalars");
  const toxic_waste waste{secrets[0], secrets[1], secrets[2], secrets[3], secrets[4]};
  std::vector<Napi::ObjectReference> kept;
  kept.push_back(Napi::Persistent(info[1].As<Napi::Object>()));
  return running_call::start(
      info.Env(), pool, info[3].As<Napi::Function>(), std::move(kept), [=](const call_context& context) {
        const circuit_program program(program_bytes);
        const auto made = std::make_shared<setup_scalars>(setup_scalars_of(program, waste, context));
        return settlement([made](Napi::Env env) -> Napi::Value {
          const Napi::Object object = Napi::Object::New(env);
          object.Set("a", to_js(env, made->a));
          object.Set("b", to_js(env, made->b));
          object.Set("ic", to_js(env, made->ic));
          object.Set("l", to_js(env, made->l));
          object.Set("h", to_js(env, made->h));
          return object;
        });
      });
}

settlement seconds(const std::vector<double>& runs) {
  return [runs](Napi::Env env) -> Napi::Value {
    const Napi::Array array = Napi::Array::New(env, runs.size());
    for (size_t i = 0; i < runs.size(); i++) array.Set(uint32_t(i), runs[i]);
    return array;
  };
}

// benchMsm(pool, curve, 'G1' | 'G2', logN, runs, listener): call of the seconds of each run
Napi::Value bench_msm(const Napi::CallbackInfo& info) {
  const pool_handle pool = unwrap<pool_handle>(info[0]);
  const curve_id curve = curve_of(info[1]);
  const bool g1 = info[2].As<Napi::String>().Utf8Value() == "G1";
  const int log_n = info[3].As<Napi::Number>(), runs = info[4].As<Napi::Number>();
  return running_call::start(info.Env(), pool, info[5].As<Napi::Function>(), {},
                             [=](const call_context& context) {
                               return seconds(proofline::bench_msm(curve, g1, log_n, runs, context.exec));
                             });
}

// benchSynthesis(pool, program, privateInputs, expanded, listener): call of the seconds of each part
Napi::Value bench_synthesis(const Napi::CallbackInfo& info) {
  const pool_handle pool = unwrap<pool_handle>(info[0]);
  const program_input input{view_of(info[1]), view_of(info[2])};
  const bool expanded = info[3].As<Napi::Boolean>();
  std::vector<Napi::ObjectReference> kept;
  for (const size_t i : {1, 2}) kept.push_back(Napi::Persistent(info[i].As<Napi::Object>()));
  return running_call::start(
      info.Env(), pool, info[4].As<Napi::Function>(), std::move(kept), [=](const call_context& context) {
        const auto took = proofline::bench_synthesis(input, expanded, context.exec);
        return settlement([took](Napi::Env env) -> Napi::Value {
          const Napi::Object object = Napi::Object::New(env);
          object.Set("open", took.open);
          object.Set("compute", took.compute);
          object.Set("output", took.output);
          object.Set("densities", took.densities);
          return object;
        });
      });
}

// benchNtt(pool, curve, logN, runs, listener): call of the seconds of each run
Napi::Value bench_ntt(const Napi::CallbackInfo& info) {
  const pool_handle pool = unwrap<pool_handle>(info[0]);
  const curve_id curve = curve_of(info[1]);
  const int log_n = info[2].As<Napi::Number>(), runs = info[3].As<Napi::Number>();
  return running_call::start(info.Env(), pool, info[4].As<Napi::Function>(), {},
                             [=](const call_context& context) {
                               return seconds(proofline::bench_ntt(curve, log_n, runs, context.exec));
                             });
}

// The path in use: 'portable', 'adx' or 'ifma'.
Napi::Value instruction_set(const Napi::CallbackInfo& info) {
  return Napi::String::New(info.Env(), name_of(isa_in_use));
}

// limitInstructionSet(name): takes the named path or, where the processor lacks it, the best one below.
void limit_instruction_set(const Napi::CallbackInfo& info) {
  const std::string name = info[0].As<Napi::String>();
  isa limit = isa::ifma;
  while (limit != isa::portable && name != name_of(limit)) limit = isa(int(limit) - 1);
  isa_in_use = std::min(limit, detected_isa());
}

// glibc raises the size from which it maps memory to that of the largest block freed so far, and keeps smaller
// ones for the thread: a proof's vectors would stay resident (measured at 2^18: 47 MiB more at the peak).
void return_large_blocks() {
#if defined(__GLIBC__)
  mallopt(M_MMAP_THRESHOLD, 1 << 20);
#endif
}

Napi::Object init(Napi::Env env, Napi::Object exports) {
  return_large_blocks();
  add_key_calls(env, exports);
  const auto add = [&](const char* name, auto function) {
    exports.Set(name, Napi::Function::New(env, function, name));
  };
  add("openPool", open_pool);
  add("load", load);
  add("synthesize", synthesize);
  add("openTable", open_table);
  add("multiples", multiples);
  add("weightedSum", weighted_sum);
  add("openPoseidon", open_poseidon);
  add("poseidon", poseidon_call);
  add("setupScalars", setup_scalars_call);
  add("benchMsm", bench_msm);
  add("benchNtt", bench_ntt);
  add("benchSynthesis", bench_synthesis);
  add("instructionSet", instruction_set);
  add("limitInstructionSet", limit_instruction_set);
  return exports;
}

NODE_API_MODULE(cpu, init)

}  // namespace
}  // namespace proofline::napi
