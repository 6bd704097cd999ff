#include <napi.h>
#if defined(__GLIBC__)
#include <malloc.h>
#endif

#include "bench.hpp"
#include "core/cpu.hpp"
#include "cpu_key.hpp"
#include "napi/call.hpp"
#include "napi/handle.hpp"
#include "napi/parse.hpp"
#include "prover/assembly.hpp"
#include "prover/fixed_base.hpp"

namespace proofline::napi {

using pool_handle = std::shared_ptr<thread_pool>;
using staged_handle = std::unique_ptr<staged_partition>;
using computed_handle = std::unique_ptr<computed_partition>;

struct device_key {
  pool_handle pool;
  std::unique_ptr<const loaded_key> key;
};
using key_handle = std::shared_ptr<const device_key>;

using multiples_fn =
    std::function<bytes(std::span<const words<4>>, point_form, const executor&)>;
struct generator_table {
  pool_handle pool;
  multiples_fn multiples;
};
using table_handle = std::shared_ptr<const generator_table>;

template <>
inline constexpr napi_type_tag tag_of<pool_handle>{0x2f6f0d0c8a5b4e11, 0x9d1c3a7e52b84f60};
template <>
inline constexpr napi_type_tag tag_of<key_handle>{0x2f6f0d0c8a5b4e12, 0x9d1c3a7e52b84f61};
template <>
inline constexpr napi_type_tag tag_of<staged_handle>{0x2f6f0d0c8a5b4e13, 0x9d1c3a7e52b84f62};
template <>
inline constexpr napi_type_tag tag_of<computed_handle>{0x2f6f0d0c8a5b4e14, 0x9d1c3a7e52b84f63};
template <>
inline constexpr napi_type_tag tag_of<table_handle>{0x2f6f0d0c8a5b4e15, 0x9d1c3a7e52b84f64};

namespace {

// std::function copies what it holds; a result that cannot be copied goes through here.
template <class Pointer>
settlement handing_over(Pointer content) {
  const auto shared = std::make_shared<Pointer>(std::move(content));
  return [shared](Napi::Env env) -> Napi::Value { return wrap(env, std::move(*shared)); };
}

Napi::Value to_js(Napi::Env env, const bytes& content) {
  return Napi::Buffer<uint8_t>::Copy(env, content.data(), content.size());
}

// openPool(threads): handle
Napi::Value open_pool(const Napi::CallbackInfo& info) {
  const uint32_t threads = info[0].As<Napi::Number>().Uint32Value();
  return wrap(info.Env(), std::make_shared<thread_pool>(threads));
}

// load(pool, keySource, checkPoints, listener): call of a key handle
Napi::Value load(const Napi::CallbackInfo& info) {
  const pool_handle pool = unwrap<pool_handle>(info[0]);
  const auto source = key_source_of(info[1].As<Napi::Object>());
  const bool check = info[2].As<Napi::Boolean>();
  return running_call::start(
      info.Env(), pool, info[3].As<Napi::Function>(), {}, [=](const call_context& context) {
        auto key = std::make_shared<device_key>();
        key->pool = pool;
        key->key = load_cpu_key(source, check, context);
        return handing_over<key_handle>(std::move(key));
      });
}

// stage(key, partitionInput, listener): call of a staged handle
Napi::Value stage(const Napi::CallbackInfo& info) {
  const key_handle key = unwrap<key_handle>(info[0]);
  std::vector<Napi::ObjectReference> keep;
  const auto input = partition_of(info[1].As<Napi::Object>(), keep);
  return running_call::start(info.Env(), key->pool, info[2].As<Napi::Function>(), std::move(keep),
                             [=](const call_context& context) {
                               return handing_over(key->key->stage(input, context));
                             });
}

// compute(key, staged, blinding, listener): call of a computed handle. Consumes `staged`.
Napi::Value compute(const Napi::CallbackInfo& info) {
  const key_handle key = unwrap<key_handle>(info[0]);
  const auto staged = std::make_shared<staged_handle>(std::move(unwrap<staged_handle>(info[1])));
  const auto pair = info[2].As<Napi::Object>();
  const blinding_pair blinding{scalar_at(pair, "r"), scalar_at(pair, "s")};
  return running_call::start(
      info.Env(), key->pool, info[3].As<Napi::Function>(), {}, [=](const call_context& context) {
        return handing_over(key->key->compute(std::move(*staged), blinding, context));
      });
}

// finish(key, computed, listener): call of {a, b, c}. Consumes `computed`.
Napi::Value finish(const Napi::CallbackInfo& info) {
  const key_handle key = unwrap<key_handle>(info[0]);
  const auto computed =
      std::make_shared<computed_handle>(std::move(unwrap<computed_handle>(info[1])));
  return running_call::start(
      info.Env(), key->pool, info[2].As<Napi::Function>(), {}, [=](const call_context& context) {
        const proof_points proof = key->key->finish(std::move(*computed), context);
        return settlement([proof](Napi::Env env) -> Napi::Value {
          const Napi::Object object = Napi::Object::New(env);
          object.Set("a", to_js(env, proof.a));
          object.Set("b", to_js(env, proof.b));
          object.Set("c", to_js(env, proof.c));
          return object;
        });
      });
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
  const curve_id curve = curve_of(info[1].As<Napi::String>());
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

// multiples(table, scalars, form, listener): call of bytes. Scalars: 32 bytes each, little-endian.
Napi::Value multiples(const Napi::CallbackInfo& info) {
  const table_handle table = unwrap<table_handle>(info[0]);
  const auto view = view_of(info[1]);
  const point_form form = form_of(info[2].As<Napi::String>());
  std::vector<words<4>> scalars(view.size() / sizeof(words<4>));
  if (!scalars.empty()) std::memcpy(scalars.data(), view.data(), scalars.size() * sizeof(words<4>));
  return running_call::start(
      info.Env(), table->pool, info[3].As<Napi::Function>(), {}, [=](const call_context& context) {
        const auto points = std::make_shared<const bytes>(table->multiples(scalars, form, context.exec));
        return settlement([points](Napi::Env env) { return to_js(env, *points); });
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
  const curve_id curve = curve_of(info[1].As<Napi::String>());
  const bool g1 = info[2].As<Napi::String>().Utf8Value() == "G1";
  const int log_n = info[3].As<Napi::Number>(), runs = info[4].As<Napi::Number>();
  return running_call::start(info.Env(), pool, info[5].As<Napi::Function>(), {},
                             [=](const call_context& context) {
                               return seconds(proofline::bench_msm(curve, g1, log_n, runs, context.exec));
                             });
}

// benchNtt(pool, curve, logN, runs, listener): call of the seconds of each run
Napi::Value bench_ntt(const Napi::CallbackInfo& info) {
  const pool_handle pool = unwrap<pool_handle>(info[0]);
  const curve_id curve = curve_of(info[1].As<Napi::String>());
  const int log_n = info[2].As<Napi::Number>(), runs = info[3].As<Napi::Number>();
  return running_call::start(info.Env(), pool, info[4].As<Napi::Function>(), {},
                             [=](const call_context& context) {
                               return seconds(proofline::bench_ntt(curve, log_n, runs, context.exec));
                             });
}

// release(handle): frees what it holds; calls that use it run on.
void release(const Napi::CallbackInfo& info) { holder_of(info[0]).reset(); }

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
  const auto add = [&](const char* name, auto function) {
    exports.Set(name, Napi::Function::New(env, function, name));
  };
  add("openPool", open_pool);
  add("load", load);
  add("stage", stage);
  add("compute", compute);
  add("finish", finish);
  add("openTable", open_table);
  add("multiples", multiples);
  add("benchMsm", bench_msm);
  add("benchNtt", bench_ntt);
  add("release", release);
  add("instructionSet", instruction_set);
  add("limitInstructionSet", limit_instruction_set);
  return exports;
}

NODE_API_MODULE(cpu, init)

}  // namespace
}  // namespace proofline::napi
