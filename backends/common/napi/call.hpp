#pragma once

#include <napi.h>

#include <chrono>
#include <functional>
#include <list>
#include <memory>
#include <thread>

#include "prover/types.hpp"

// Calls that run on a thread of their own (never libuv's pool) and settle a promise once, on JavaScript's thread.
namespace proofline::napi {

// What a call came to: makes its result on JavaScript's thread.
using settlement = std::function<Napi::Value(Napi::Env)>;
using call_work = std::function<settlement(const call_context&)>;

// Throws the error of src/core/errors.ts that `e` stands for.
inline settlement refusal(const prover_error& e) {
  return [e](Napi::Env env) -> Napi::Value {
    const char* const code = code_of(e.status);
    const Napi::Error error = Napi::Error::New(env, code);
    const Napi::Object fields = Napi::Object::New(env);
    for (const auto& [name, value] : e.data) fields.Set(name, value);
    error.Set("code", code);
    error.Set("data", fields);
    throw error;
  };
}

// Runs on the call's thread: no N-API here. Thrown or not, it returns exactly one settlement.
inline settlement run_guarded(const call_work& work, const call_context& context) noexcept {
  try {
    return work(context);
  } catch (const prover_error& e) {
    return refusal(e);
  } catch (const std::bad_alloc&) {
    return refusal({prover_status::out_of_memory,
                    {{"device", "cpu"}, {"needBytes", "enough"}, {"freeBytes", "fewer"}}});
  } catch (const std::exception& e) {
    return refusal(internal_error(e.what()));
  }
}

class running_call;

// The calls of one environment. Before it goes, they are cancelled and waited for.
class running_calls {
 public:
  static running_calls& of(Napi::Env env) {
    auto* calls = env.GetInstanceData<running_calls>();
    if (calls == nullptr) {
      calls = new running_calls();
      env.SetInstanceData(calls);
      env.AddCleanupHook([](running_calls* all) { all->end(); }, calls);
    }
    return *calls;
  }

  void add(std::shared_ptr<running_call> call) { calls_.push_back(std::move(call)); }
  void remove(const running_call* call) {
    calls_.remove_if([&](const auto& other) { return other.get() == call; });
  }
  void end();

 private:
  std::list<std::shared_ptr<running_call>> calls_;
};

class running_call : public std::enable_shared_from_this<running_call> {
 public:
  // Returns {done: Promise, abort(): void}. `listener` is called as (stage, startMicros, endMicros) and, for
  // progress, (share). `keep` stays alive until the promise is settled.
  static Napi::Object start(Napi::Env env, std::shared_ptr<thread_pool> pool,
                            const Napi::Function& listener, std::vector<Napi::ObjectReference> keep,
                            call_work work) {
    const auto call = std::make_shared<running_call>(env, std::move(pool), listener, std::move(keep));
    call->start_thread(std::move(work));
    running_calls::of(env).add(call);
    const Napi::Object result = Napi::Object::New(env);
    result.Set("done", call->deferred_.Promise());
    result.Set("abort", Napi::Function::New(env, [cancel = call->cancel_](const Napi::CallbackInfo&) {
                 cancel->request();
               }));
    return result;
  }

  running_call(Napi::Env env, std::shared_ptr<thread_pool> pool, const Napi::Function& listener,
               std::vector<Napi::ObjectReference> keep)
      : deferred_(Napi::Promise::Deferred::New(env)),
        to_js_(Napi::ThreadSafeFunction::New(env, listener, "proofline", 0, 1)),
        keep_(std::move(keep)),
        pool_(std::move(pool)) {}

  void end() {
    cancel_->request();
    thread_.join();
  }

 private:
  using to_js = std::function<void(Napi::Env, const Napi::Function&)>;

  // What the thread says is heard on JavaScript's thread, and so after this has returned.
  void start_thread(call_work work) {
    try {
      thread_ = std::thread([this, work = std::move(work)] { run(work); });
    } catch (...) {
      to_js_.Release();
      throw;
    }
  }

  void run(const call_work& work) {
    const auto start = std::chrono::steady_clock::now();
    const call_context context{
        executor(*pool_, cancel_.get()),
        [this](const char* stage, int64_t begin, int64_t end) {
          post([=](Napi::Env env, const Napi::Function& listener) {
            listener.Call({Napi::String::New(env, stage), Napi::Number::New(env, double(begin)),
                           Napi::Number::New(env, double(end))});
          });
        },
        [this](double share) {
          post([=](Napi::Env env, const Napi::Function& listener) {
            listener.Call({Napi::Number::New(env, share)});
          });
        },
        [start] {
          return std::chrono::duration_cast<std::chrono::microseconds>(
                     std::chrono::steady_clock::now() - start)
              .count();
        }};
    auto result = run_guarded(work, context);
    post([this, result = std::move(result)](Napi::Env env, const Napi::Function&) {
      settle(env, result);
    });
    if (!closing_) to_js_.Release();
  }

  // After the environment has begun to close, the function must not be touched again.
  void post(to_js message) {
    if (closing_) return;
    auto* const data = new to_js(std::move(message));
    const napi_status status =
        to_js_.BlockingCall(data, [](Napi::Env env, Napi::Function listener, to_js* data) {
          const std::unique_ptr<to_js> owned(data);
          (*owned)(env, listener);
        });
    if (status == napi_ok) return;
    delete data;
    closing_ = true;
  }

  // The only place where a native status becomes a JavaScript error. A call that was aborted in time is
  // cancelled, even if its work was done first.
  void settle(Napi::Env env, const settlement& result) {
    const std::shared_ptr<running_call> self = shared_from_this();
    thread_.join();
    running_calls::of(env).remove(this);
    keep_.clear();
    try {
      deferred_.Resolve(cancel_->requested() ? refusal(cancelled_error())(env) : result(env));
    } catch (const Napi::Error& error) {
      deferred_.Reject(error.Value());
    }
  }

  Napi::Promise::Deferred deferred_;
  Napi::ThreadSafeFunction to_js_;
  std::vector<Napi::ObjectReference> keep_;
  std::shared_ptr<thread_pool> pool_;
  std::shared_ptr<cancel_token> cancel_ = std::make_shared<cancel_token>();
  std::thread thread_;
  bool closing_ = false;  // touched by the call's thread only
};

inline void running_calls::end() {
  for (const auto& call : calls_) call->end();
  calls_.clear();
}

}  // namespace proofline::napi
