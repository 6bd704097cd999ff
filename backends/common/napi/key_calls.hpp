#pragma once

#include <napi.h>

#include "napi/call.hpp"
#include "napi/handle.hpp"
#include "napi/parse.hpp"

// The calls of a loaded key, the same for every native prover. An addon defines PROOFLINE_ADDON_TAG, a number of
// its own, so that it refuses another addon's objects.
namespace proofline::napi {

using pool_handle = std::shared_ptr<thread_pool>;
using staged_handle = std::unique_ptr<staged_partition>;
using computed_handle = std::unique_ptr<computed_partition>;

struct device_key {
  pool_handle pool;
  std::unique_ptr<const loaded_key> key;
};
using key_handle = std::shared_ptr<const device_key>;

template <>
inline constexpr napi_type_tag tag_of<key_handle>{0x2f6f0d0c8a5b4e12, PROOFLINE_ADDON_TAG};
template <>
inline constexpr napi_type_tag tag_of<staged_handle>{0x2f6f0d0c8a5b4e13, PROOFLINE_ADDON_TAG};
template <>
inline constexpr napi_type_tag tag_of<computed_handle>{0x2f6f0d0c8a5b4e14, PROOFLINE_ADDON_TAG};

// std::function copies what it holds; a result that cannot be copied goes through here.
template <class Pointer>
settlement handing_over(Pointer content) {
  const auto shared = std::make_shared<Pointer>(std::move(content));
  return [shared](Napi::Env env) -> Napi::Value { return wrap(env, std::move(*shared)); };
}

inline Napi::Value to_js(Napi::Env env, const bytes& content) {
  return Napi::Buffer<uint8_t>::Copy(env, content.data(), content.size());
}

// A call of a key handle: `load` makes the key.
template <class Load>
Napi::Value start_load(Napi::Env env, const pool_handle& pool, const Napi::Function& listener, Load load) {
  return running_call::start(env, pool, listener, {}, [=](const call_context& context) {
    auto key = std::make_shared<device_key>();
    key->pool = pool;
    key->key = load(context);
    return handing_over<key_handle>(std::move(key));
  });
}

// stage(key, partitionInput, listener): call of a staged handle
inline Napi::Value stage(const Napi::CallbackInfo& info) {
  const key_handle key = unwrap<key_handle>(info[0]);
  std::vector<Napi::ObjectReference> keep;
  const auto input = partition_of(info[1].As<Napi::Object>(), keep);
  return running_call::start(info.Env(), key->pool, info[2].As<Napi::Function>(), std::move(keep),
                             [=](const call_context& context) {
                               return handing_over(key->key->stage(input, context));
                             });
}

// compute(key, staged, blinding, listener): call of a computed handle. Consumes `staged`.
inline Napi::Value compute(const Napi::CallbackInfo& info) {
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
inline Napi::Value finish(const Napi::CallbackInfo& info) {
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

// release(handle): frees what it holds; calls that use it run on.
inline void release(const Napi::CallbackInfo& info) { holder_of(info[0]).reset(); }

inline void add_key_calls(Napi::Env env, Napi::Object exports) {
  exports.Set("stage", Napi::Function::New(env, stage, "stage"));
  exports.Set("compute", Napi::Function::New(env, compute, "compute"));
  exports.Set("finish", Napi::Function::New(env, finish, "finish"));
  exports.Set("release", Napi::Function::New(env, release, "release"));
}

}  // namespace proofline::napi
