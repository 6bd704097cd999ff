#include "cuda_key.hpp"
#include "napi/key_calls.hpp"
#include "runtime/guarded.hpp"

namespace proofline::napi {

using device_handle = std::shared_ptr<cuda::device>;

template <>
inline constexpr napi_type_tag tag_of<device_handle>{0x2f6f0d0c8a5b4e16, PROOFLINE_ADDON_TAG};

namespace {

// probe(): {version, devices} or {reason}
Napi::Value probe(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const cuda::found_devices found = cuda::find_devices();
  const Napi::Object result = Napi::Object::New(env);
  if (found.devices.empty()) {
    result.Set("reason", found.reason);
    return result;
  }
  const Napi::Array devices = Napi::Array::New(env, found.devices.size());
  for (size_t i = 0; i < found.devices.size(); i++) {
    const cuda::found_device& device = found.devices[i];
    const Napi::Object object = Napi::Object::New(env);
    object.Set("id", std::to_string(device.id));
    object.Set("name", device.name);
    object.Set("memoryBytes", double(device.memory_bytes));
    object.Set("capability", std::to_string(device.major) + "." + std::to_string(device.minor));
    devices.Set(uint32_t(i), object);
  }
  result.Set("version", found.version);
  result.Set("devices", devices);
  return result;
}

// openDevice(id, memoryBytes, threads, listener): call of a device handle
Napi::Value open_device(const Napi::CallbackInfo& info) {
  const int id = info[0].As<Napi::Number>();
  const auto memory_bytes = size_t(info[1].As<Napi::Number>().Int64Value());
  const auto pool = std::make_shared<thread_pool>(info[2].As<Napi::Number>().Uint32Value());
  return running_call::start(
      info.Env(), pool, info[3].As<Napi::Function>(), {}, [=](const call_context&) {
        return handing_over<device_handle>(std::make_shared<cuda::device>(id, memory_bytes, pool));
      });
}

cuda::residency residency_of(const std::string& name) {
  require(name == "device" || name == "pinned" || name == "mapped", "a residency's name");
  return name == "device"   ? cuda::residency::device
         : name == "pinned" ? cuda::residency::pinned
                            : cuda::residency::mapped;
}

// estimate(device, keySource, residency, batch): {deviceBytes, pinnedBytes, hostBytes}
Napi::Value estimate(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const device_handle on = unwrap<device_handle>(info[0]);
  try {
    const cuda::memory_estimate bytes =
        cuda::estimate_cuda_key(*on, key_source_of(info[1].As<Napi::Object>()), residency_of(info[2].As<Napi::String>()),
                                size_t(info[3].As<Napi::Number>().Int64Value()));
    const Napi::Object object = Napi::Object::New(env);
    object.Set("deviceBytes", double(bytes.device_bytes));
    object.Set("pinnedBytes", double(bytes.pinned_bytes));
    object.Set("hostBytes", double(bytes.host_bytes));
    return object;
  } catch (const prover_error& e) {
    return refusal(e)(env);
  }
}

// load(device, keySource, residency, checkPoints, listener): call of a key handle
Napi::Value load(const Napi::CallbackInfo& info) {
  const device_handle on = unwrap<device_handle>(info[0]);
  const auto source = key_source_of(info[1].As<Napi::Object>());
  const cuda::residency where = residency_of(info[2].As<Napi::String>());
  const bool check = info[3].As<Napi::Boolean>();
  return start_load(info.Env(), on->pool(), info[4].As<Napi::Function>(), [=](const call_context& context) {
    return load_cuda_key(on, source, where, check, context);
  });
}

// usedBytes(device): of its budget
Napi::Value used_bytes(const Napi::CallbackInfo& info) {
  return Napi::Number::New(info.Env(), double(unwrap<device_handle>(info[0])->memory()->used_bytes()));
}

// budgetBytes(device)
Napi::Value budget_bytes(const Napi::CallbackInfo& info) {
  return Napi::Number::New(info.Env(), double(unwrap<device_handle>(info[0])->memory()->budget_bytes()));
}

// useGuards(on): for blocks taken from now on. For tests.
void use_guards(const Napi::CallbackInfo& info) { cuda::guards_in_use = bool(info[0].As<Napi::Boolean>()); }

// plantFault('allocation' | 'registration' | 'launch' | 'loss', call): the call-th of its kind from now on fails;
// 0 for none. For tests.
void plant_fault(const Napi::CallbackInfo& info) {
  constexpr const char* sites[] = {"allocation", "registration", "launch", "loss"};
  const std::string name = info[0].As<Napi::String>();
  for (int site = 0; site < 4; site++)
    if (name == sites[site]) cuda::faults::planted().plant(cuda::fault_site(site), info[1].As<Napi::Number>());
}

Napi::Object init(Napi::Env env, Napi::Object exports) {
  add_key_calls(env, exports);
  const auto add = [&](const char* name, auto function) {
    exports.Set(name, Napi::Function::New(env, function, name));
  };
  add("probe", probe);
  add("openDevice", open_device);
  add("estimate", estimate);
  add("load", load);
  add("usedBytes", used_bytes);
  add("budgetBytes", budget_bytes);
  add("useGuards", use_guards);
  add("plantFault", plant_fault);
  return exports;
}

NODE_API_MODULE(cuda, init)

}  // namespace
}  // namespace proofline::napi
