#include "program/compact.hpp"

#include <cstring>

#include "check.hpp"
#include "samples.hpp"

using namespace proofline;

namespace {

using compact_format::header;

// Values of which `large` in a thousand are full-size and `small` are small numbers; others are bits.
std::vector<words<4>> sample(size_t n, unsigned small, unsigned large) {
  std::vector<words<4>> values;
  for (size_t i = 0; i < n; i++) {
    const uint64_t draw = samples::random_word() % 1000;
    if (draw < large) {
      values.push_back(samples::random_below<bls12_381_fr_params>());
    } else if (draw < large + small) {
      values.push_back(canonical_of(int64_t(samples::random_word() % 255) - 127));
    } else {
      values.push_back(canonical_of(int64_t(draw % 2)));
    }
  }
  return values;
}

// In parts of uneven lengths, some of them empty.
parted_vector parted(const std::vector<words<4>>& values) {
  parted_vector vector;
  for (size_t at = 0; at < values.size();) {
    const size_t length = std::min<size_t>(values.size() - at, samples::random_word() % 301);
    byte_vector part;
    for (size_t i = 0; i < length; i++) part.push(values[at + i]);
    vector.parts.push_back(vector_part::of(part));
    for (size_t i = 0; i < length; i++) CHECK(vector.parts.back().at(i) == values[at + i]);
    at += length;
  }
  return vector;
}

// By the description of the format alone.
std::vector<words<4>> read(const compact_vector& vector) {
  header h;
  std::memcpy(&h, vector.bytes.get(), sizeof h);
  CHECK(std::memcmp(h.magic, "PLCV", 4) == 0 && h.version == 1 && h.zero == 0);
  CHECK(h.values_at % 64 == 0 && h.indices_at % 64 == 0 && h.exception_values_at % 64 == 0);
  CHECK(h.exception_values_at + 32 * h.exceptions <= vector.size());
  const uint8_t* const at = vector.bytes.get();
  std::vector<words<4>> values(h.n);
  for (size_t i = 0; i < h.n; i++) {
    if (h.kind == vector_kind::bits) values[i] = {{uint64_t(at[h.values_at + i / 8] >> i % 8 & 1)}};
    if (h.kind == vector_kind::small) values[i] = canonical_of(int8_t(at[h.values_at + i]));
    if (h.kind == vector_kind::full) std::memcpy(&values[i], at + h.values_at + 32 * i, 32);
  }
  int64_t last = -1;
  for (size_t k = 0; k < h.exceptions; k++) {
    uint32_t index;
    std::memcpy(&index, at + h.indices_at + 4 * k, 4);
    CHECK(int64_t(index) > last && index < h.n);
    last = index;
    CHECK(values[index].is_zero());
    std::memcpy(&values[index], at + h.exception_values_at + 32 * k, 32);
  }
  return values;
}

}  // namespace

TEST(every_kind_from_every_kind) {
  thread_pool pool(3);
  const executor exec(pool);
  const struct {
    unsigned small, large;
    vector_kind kind;
  } mixtures[] = {{0, 0, vector_kind::bits},  {5, 10, vector_kind::bits},  {400, 10, vector_kind::small},
                  {0, 990, vector_kind::full}, {300, 600, vector_kind::small}, {500, 0, vector_kind::small}};
  for (const auto& [small, large, kind] : mixtures) {
    for (const size_t n : {size_t{1}, size_t{7}, size_t{64}, size_t{20011}}) {
      const auto values = sample(n, small, large);
      const compact_vector made = parted(values).compact(exec);
      CHECK(n < 1000 || made.head().kind == kind);
      CHECK(made.head().n == n && read(made) == values);
    }
  }
}

// Parts of all kinds in one vector.
TEST(mixed_parts) {
  thread_pool pool(3);
  const executor exec(pool);
  for (const size_t weight : {size_t{0}, size_t{1}, size_t{2}}) {
    std::vector<words<4>> values;
    parted_vector vector;
    for (size_t k = 0; k < 30; k++) {
      const size_t kind = k % 3, n = kind == weight ? 3001 : 101;
      const auto some = sample(n, kind == 1 ? 900 : 3, kind == 2 ? 990 : 3);
      values.insert(values.end(), some.begin(), some.end());
      for (auto& part : parted(some).parts) vector.parts.push_back(std::move(part));
    }
    CHECK(read(std::move(vector).compact(exec)) == values);
  }
}

TEST(expanded_in_both_forms) {
  thread_pool pool(3);
  const executor exec(pool);
  const auto values = sample(5003, 200, 300);
  std::vector<words<4>> canonical(values.size());
  std::vector<bls12_381_fr> montgomery(values.size());
  parted(values).expand(canonical.data(), exec);
  parted(values).expand(montgomery.data(), exec);
  CHECK(canonical == values);
  for (size_t i = 0; i < values.size(); i++) CHECK(montgomery[i].to_canonical() == values[i]);
}

TEST(bytes_of_values) {
  for (int i = -127; i < 128; i++) CHECK(byte_of(canonical_of(i)) == i);
  for (const int i : {-128, 128, -1000, 1000}) CHECK(byte_of(canonical_of(i)) == no_byte);
}
