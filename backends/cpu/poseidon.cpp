#include "poseidon.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "core/errors.hpp"

namespace proofline {
namespace {

using F = bls12_381_fr;

std::vector<F> elements(const char* name, std::span<const uint8_t> from) {
  require(from.size() % sizeof(words<4>) == 0, "elements of 32 bytes");
  std::vector<F> out(from.size() / sizeof(words<4>));
  for (size_t i = 0; i < out.size(); i++) {
    words<4> canonical;
    std::memcpy(&canonical, from.data() + i * sizeof canonical, sizeof canonical);
    if (!(canonical < F::params::modulus()))
      throw format_error(name, "elements below r", "a larger one");
    out[i] = F::from_canonical(canonical);
  }
  return out;
}

void expect_count(const char* name, size_t actual, size_t expected) {
  if (actual == expected) return;
  throw format_error(name, std::to_string(expected) + " elements", std::to_string(actual));
}

F fifth_power(const F& x) {
  return x.sqr().sqr() * x;
}

}  // namespace

poseidon::poseidon(size_t width, const constants& from)
    : width_(width),
      keys_(elements("round keys", from.round_keys)),
      mds_(elements("mds", from.mds)),
      pre_sparse_(elements("matrix before the sparse ones", from.pre_sparse)),
      sparse_(elements("sparse matrices", from.sparse)) {
  if (width < 2 || width > width_max) {
    throw format_error("width", "2 to " + std::to_string(width_max), std::to_string(width));
  }
  expect_count("mds", mds_.size(), width * width);
  expect_count("matrix before the sparse ones", pre_sparse_.size(), width * width);
  const size_t each = 2 * width - 1, partial_rounds = sparse_.size() / each;
  expect_count("sparse matrices", sparse_.size(), partial_rounds * each);
  expect_count("round keys", keys_.size(), full_rounds * width + partial_rounds);
}

void poseidon::full_round(F* state, const std::vector<F>& matrix, const F*& key) const {
  const F* const end = keys_.data() + keys_.size();
  std::array<F, width_max> powers;
  for (size_t i = 0; i < width_; i++) {
    powers[i] = fifth_power(state[i]);
    if (key != end) powers[i] += *key++;
  }
  for (size_t j = 0; j < width_; j++) {
    F sum = powers[0] * matrix[j];
    for (size_t i = 1; i < width_; i++) sum += powers[i] * matrix[i * width_ + j];
    state[j] = sum;
  }
}

words<4> poseidon::hash(std::span<const words<4>> preimage) const {
  require(preimage.size() == width_, "a state of the width");
  std::array<F, width_max> state;
  const F* key = keys_.data();
  for (size_t i = 0; i < width_; i++) state[i] = F::from_canonical(preimage[i]) + *key++;
  for (size_t round = 0; round < full_rounds / 2; round++)
    full_round(state.data(), round == full_rounds / 2 - 1 ? pre_sparse_ : mds_, key);
  for (const F* column = sparse_.data(); column != sparse_.data() + sparse_.size();) {
    const F* const row = column + width_;
    const F first = fifth_power(state[0]) + *key++;
    F sum = first * column[0];
    for (size_t i = 1; i < width_; i++) {
      sum += state[i] * column[i];
      state[i] += first * row[i - 1];
    }
    state[0] = sum;
    column = row + width_ - 1;
  }
  for (size_t round = 0; round < full_rounds / 2; round++) full_round(state.data(), mds_, key);
  return state[1].to_canonical();
}

}  // namespace proofline
