#pragma once

#include <napi.h>

#include <cstring>

#include "prover/types.hpp"

// The objects of src/groth16/types.ts and src/backend/backend.ts as the structures of prover/types.hpp. TypeScript
// has checked their types; what it cannot have checked is refused here. @throws TypeError
namespace proofline::napi {

inline Napi::Value field(const Napi::Object& object, const char* name) {
  const Napi::Value value = object.Get(name);
  if (value.IsUndefined()) {
    throw Napi::TypeError::New(object.Env(), std::string(name) + ": expected a value, got undefined");
  }
  return value;
}

inline Napi::Object object_at(const Napi::Object& object, const char* name) {
  return field(object, name).As<Napi::Object>();
}

inline uint64_t count_at(const Napi::Object& object, const char* name) {
  const double value = field(object, name).As<Napi::Number>().DoubleValue();
  if (!(value >= 0 && value <= 9007199254740991.0)) {
    throw Napi::TypeError::New(object.Env(), std::string(name) + ": expected a count");
  }
  return uint64_t(value);
}

inline std::string text_at(const Napi::Object& object, const char* name) {
  return field(object, name).As<Napi::String>().Utf8Value();
}

inline std::span<const uint8_t> view_of(const Napi::Value& value) {
  if (!value.IsTypedArray() || value.As<Napi::TypedArray>().TypedArrayType() != napi_uint8_array) {
    throw Napi::TypeError::New(value.Env(), "bytes: expected a Uint8Array");
  }
  const auto array = value.As<Napi::Uint8Array>();
  return {array.Data(), array.ByteLength()};
}

inline bytes bytes_at(const Napi::Object& object, const char* name) {
  const auto view = view_of(field(object, name));
  return {view.begin(), view.end()};
}

inline words<4> scalar_at(const Napi::Object& object, const char* name) {
  const auto view = view_of(field(object, name));
  words<4> scalar;
  if (view.size() != sizeof scalar) {
    throw Napi::TypeError::New(object.Env(), std::string(name) + ": expected 32 bytes");
  }
  std::memcpy(&scalar, view.data(), sizeof scalar);
  return scalar;
}

inline curve_id curve_of(const Napi::Value& value) {
  const std::string name = value.As<Napi::String>();
  if (name == "bn254") return curve_id::bn254;
  if (name == "bls12-381") return curve_id::bls12_381;
  throw Napi::TypeError::New(value.Env(), "curve: expected bn254 or bls12-381, got another name");
}

inline point_form form_of(const Napi::Value& value) {
  const std::string name = value.As<Napi::String>();
  if (name == "montgomery-le") return point_form::montgomery_le;
  if (name == "canonical-be") return point_form::canonical_be;
  throw Napi::TypeError::New(value.Env(), "points: expected montgomery-le or canonical-be, got another name");
}

inline file_slice slice_of(const Napi::Object& slice) {
  return {text_at(slice, "path"), count_at(slice, "offset"), count_at(slice, "length")};
}

inline record_slice records_of(const Napi::Object& records) {
  return {slice_of(object_at(records, "slice")), size_t(count_at(records, "count"))};
}

inline key_source key_source_of(const Napi::Object& key) {
  const Napi::Object verifying = object_at(key, "verifyingKey");
  key_source source;
  source.curve = curve_of(field(key, "curve"));
  source.points = form_of(field(key, "points"));
  source.every_wire = text_at(key, "format") == "zkey";
  source.input_count = count_at(key, "inputCount");
  source.aux_count = count_at(key, "auxCount");
  source.log_n = int(count_at(key, "logN"));
  source.basis = text_at(key, "hBasis") == "monomial" ? h_basis::monomial : h_basis::odd_lagrange;
  source.h = records_of(object_at(key, "h"));
  source.l = records_of(object_at(key, "l"));
  source.a = records_of(object_at(key, "a"));
  source.b_g1 = records_of(object_at(key, "bG1"));
  source.b_g2 = records_of(object_at(key, "bG2"));
  if (key.Get("rows").IsObject()) source.rows = records_of(object_at(key, "rows"));
  source.alpha_g1 = bytes_at(verifying, "alphaG1");
  source.beta_g1 = bytes_at(key, "betaG1");
  source.delta_g1 = bytes_at(key, "deltaG1");
  source.beta_g2 = bytes_at(verifying, "betaG2");
  source.delta_g2 = bytes_at(verifying, "deltaG2");
  return source;
}

// Views of memory stay valid while `keep` does.
inline scalar_vector scalars_of(const Napi::Object& vector, std::vector<Napi::ObjectReference>& keep) {
  scalar_vector scalars;
  scalars.n = count_at(vector, "n");
  if (vector.Get("slice").IsObject()) {
    scalars.content = slice_of(object_at(vector, "slice"));
  } else {
    scalars.content = view_of(field(vector, "bytes"));
    keep.push_back(Napi::Persistent(object_at(vector, "bytes")));
  }
  return scalars;
}

// The view stays valid while `keep` does.
inline std::span<const uint8_t> kept_view_at(const Napi::Object& object, const char* name,
                                             std::vector<Napi::ObjectReference>& keep) {
  const auto view = view_of(field(object, name));
  keep.push_back(Napi::Persistent(object_at(object, name)));
  return view;
}

inline partition_input partition_of(const Napi::Object& input,
                                    std::vector<Napi::ObjectReference>& keep) {
  partition_input partition;
  if (text_at(input, "kind") == "program") {
    partition.program = {kept_view_at(input, "program", keep), kept_view_at(input, "privateInputs", keep)};
    return partition;
  }
  partition.witness = scalars_of(object_at(input, "witness"), keep);
  if (text_at(input, "kind") == "evaluated") {
    partition.evaluated = {
        scalars_of(object_at(input, "a"), keep), scalars_of(object_at(input, "b"), keep),
        bytes_at(input, "aAuxDensity"), bytes_at(input, "bInputDensity"), bytes_at(input, "bAuxDensity")};
  }
  return partition;
}

}  // namespace proofline::napi
