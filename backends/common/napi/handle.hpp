#pragma once

#include <napi.h>

#include <memory>

// Native objects in JavaScript's hands: type-tagged, so that an object of another kind is refused rather than
// misread, and freed by `release` or, at the latest, by the garbage collector.
namespace proofline::napi {

template <class T>
inline constexpr napi_type_tag tag_of{};  // specialised for each kind

struct any_holder {
  virtual ~any_holder() = default;
  virtual void reset() = 0;
};

template <class Pointer>
struct holder : any_holder {
  Pointer content;

  explicit holder(Pointer content) : content(std::move(content)) {}
  void reset() override { content.reset(); }
};

// Pointer: a std::shared_ptr or std::unique_ptr.
template <class Pointer>
Napi::Object wrap(Napi::Env env, Pointer content) {
  const Napi::Object object = Napi::Object::New(env);
  auto owned = std::make_unique<holder<Pointer>>(std::move(content));
  const auto free = [](napi_env, void* data, void*) { delete static_cast<any_holder*>(data); };
  any_holder* const data = owned.get();
  NAPI_THROW_IF_FAILED(env, napi_wrap(env, object, data, free, nullptr, nullptr), Napi::Object());
  owned.release();
  object.TypeTag(&tag_of<Pointer>);
  return object;
}

inline any_holder& holder_of(const Napi::Value& value) {
  void* data = nullptr;
  if (napi_unwrap(value.Env(), value, &data) != napi_ok) {
    throw Napi::TypeError::New(value.Env(), "handle: expected a native object, got another value");
  }
  return *static_cast<any_holder*>(data);
}

// @throws TypeError for an object of another kind or one that was released or consumed
template <class Pointer>
Pointer& unwrap(const Napi::Value& value) {
  if (!value.IsObject() || !value.As<Napi::Object>().CheckTypeTag(&tag_of<Pointer>)) {
    throw Napi::TypeError::New(value.Env(), "handle: expected another kind of native object");
  }
  Pointer& content = static_cast<holder<Pointer>&>(holder_of(value)).content;
  if (!content) throw Napi::TypeError::New(value.Env(), "handle: expected one in use, got a released one");
  return content;
}

}  // namespace proofline::napi
