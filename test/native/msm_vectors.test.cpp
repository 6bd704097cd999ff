#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "check.hpp"
#include "curve/point_bytes.hpp"
#include "isa.hpp"
#include "msm/msm.hpp"

// Public vectors of BLS12-381, from the folder that PROOFLINE_VECTORS names; each test says so if
// they are absent.
using namespace proofline;

namespace {

using g1 = bls12_381_g1;
using g2 = bls12_381_g2;
using bytes_t = std::vector<uint8_t>;

// The file's bytes; empty, after saying so, if it is not there.
std::string vector_file(const std::string& name) {
  const char* const folder = std::getenv("PROOFLINE_VECTORS");
  std::ifstream file(std::string(folder != nullptr ? folder : "") + "/bls12_381/" + name,
                     std::ios::binary);
  if (!file) {
    std::printf("     skipped: PROOFLINE_VECTORS=%s has no bls12_381/%s\n",
                folder != nullptr ? folder : "", name.c_str());
    return {};
  }
  std::ostringstream text;
  text << file.rdbuf();
  CHECK(!text.str().empty());
  return text.str();
}

bytes_t from_hex(const std::string& hex) {
  CHECK(hex.size() % 2 == 0);
  bytes_t bytes;
  for (size_t i = 0; i < hex.size(); i += 2)
    bytes.push_back(uint8_t(std::stoul(hex.substr(i, 2), nullptr, 16)));
  return bytes;
}

// The values of `"key": "value"` in a JSON text without escapes, in order.
std::vector<std::string> strings_at(const std::string& json, const std::string& key) {
  std::vector<std::string> values;
  for (size_t at = 0; (at = json.find('"' + key + '"', at)) != std::string::npos;) {
    const size_t begin = json.find('"', json.find(':', at)) + 1;
    at = json.find('"', begin);
    values.push_back(json.substr(begin, at - begin));
  }
  return values;
}

// EIP-2537: a coordinate is 64 bytes, the first 16 zero; G2 writes c0 before c1.
template <class P>
mont_t<P> eip_coordinate(const uint8_t* at, mont_t<P>) {
  mont_t<P> x;
  CHECK(read_coordinate(at + 64 - sizeof x, x));
  return x;
}
template <class F>
fp2_t<F> eip_coordinate(const uint8_t* at, fp2_t<F>) {
  return {eip_coordinate(at, F{}), eip_coordinate(at + 64, F{})};
}
template <class G>
constexpr size_t eip_point_bytes = 2 * 64 * (sizeof(typename G::field) / sizeof(bls12_381_fp));

template <class G>
typename G::affine eip_point(const uint8_t* at) {
  using F = typename G::field;
  return {eip_coordinate(at, F{}), eip_coordinate(at + eip_point_bytes<G> / 2, F{})};
}

template <class G>
void additions_match(const char* name) {
  const std::string json = vector_file(std::string("eip-2537/") + name);
  if (json.empty()) return;
  const auto inputs = strings_at(json, "Input"), results = strings_at(json, "Expected");
  CHECK(inputs.size() == results.size() && inputs.size() >= 9);
  for (size_t i = 0; i < inputs.size(); i++) {
    const bytes_t input = from_hex(inputs[i]), result = from_hex(results[i]);
    CHECK(input.size() == 2 * eip_point_bytes<G> && result.size() == eip_point_bytes<G>);
    const auto p = eip_point<G>(input.data()), q = eip_point<G>(input.data() + eip_point_bytes<G>);
    const auto want = eip_point<G>(result.data());
    CHECK((G::xyzz::from(p) + q).to_affine() == want);
    CHECK((G::xyzz::from(p) + G::xyzz::from(q)).to_affine() == want);
    typename G::affine sum;
    const addition both{ref_to(&p), ref_to(&q), &sum};
    batch_scratch scratch;
    batch_add<G>(&both, 1, scratch);
    CHECK(canonical_point<G>(&sum) == want);
  }
}

// The remainder mod r of 32 big-endian bytes.
words<4> scalar_of(const uint8_t* at) {
  constexpr auto r = bls12_381_fr_params::modulus();
  words<4> s = read_be<bls12_381_fr_params>(at);
  while (!(s < r)) {
    uint64_t borrow = 0;
    for (int i = 0; i < 4; i++) s.w[i] = sub_borrow(s.w[i], r.w[i], borrow);
  }
  return s;
}

// Each case alone, then all of them as one sum.
template <class G>
void multiples_match(const char* name) {
  const std::string json = vector_file(std::string("eip-2537/") + name);
  if (json.empty()) return;
  const auto inputs = strings_at(json, "Input"), results = strings_at(json, "Expected");
  CHECK(inputs.size() == results.size() && inputs.size() >= 11);
  thread_pool pool(2);
  const executor exec(pool);
  std::vector<typename G::affine> points;
  std::vector<words<4>> scalars;
  auto sum = G::xyzz::infinity();
  for (size_t i = 0; i < inputs.size(); i++) {
    const bytes_t input = from_hex(inputs[i]), result = from_hex(results[i]);
    CHECK(input.size() == eip_point_bytes<G> + 32 && result.size() == eip_point_bytes<G>);
    points.push_back(eip_point<G>(input.data()));
    const uint8_t* const scalar = input.data() + eip_point_bytes<G>;
    scalars.push_back(scalar_of(scalar));
    const auto want = eip_point<G>(result.data());
    CHECK(multiply(points.back(), read_be<bls12_381_fr_params>(scalar)).to_affine() == want);
    const std::span<const typename G::affine> point(&points.back(), 1);
    CHECK(msm<G>(point, {&scalars.back(), 1}, exec).to_affine() == want);
    sum += want;
  }
  CHECK(msm<G>(std::span<const typename G::affine>(points), scalars, exec) == sum);
}

// zkcrypto: the multiples 0 .. 999 of the generator, uncompressed; the first byte's top bits are
// flags.
template <class G>
void generator_multiples_match(const char* name) {
  const std::string data = vector_file(std::string("zkcrypto/") + name);
  if (data.empty()) return;
  constexpr size_t size = sizeof(typename G::affine);
  CHECK(data.size() == 1000 * size);
  auto sum = G::xyzz::infinity();
  for (size_t i = 0; i < 1000; i++, sum += G::generator()) {
    bytes_t bytes(data.begin() + ptrdiff_t(i * size), data.begin() + ptrdiff_t((i + 1) * size));
    CHECK((bytes[0] & 0xe0) == (i == 0 ? 0x40 : 0));
    bytes[0] &= 0x1f;
    typename G::affine point;
    CHECK(read_point(bytes.data(), point));
    CHECK(on_curve<G>(point));
    CHECK(sum.to_affine() == point);
    if (i % 100 == 99) CHECK(multiply(G::generator(), words<1>{{i}}) == sum);
  }
}

// Zcash's compressed form: x with flags for compression and for the larger y.
std::string compressed(const g1::affine& p) {
  uint8_t x[48], y[48], minus_y[48];
  write_coordinate(x, p.x);
  write_coordinate(y, p.y);
  write_coordinate(minus_y, -p.y);
  x[0] |= std::memcmp(y, minus_y, sizeof y) > 0 ? 0xa0 : 0x80;
  std::string hex;
  for (const uint8_t byte : x) {
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", byte);
    hex += digits;
  }
  return hex;
}

}  // namespace

TEST(eip_2537_add) {
  on_each_isa([](isa) {
    additions_match<g1>("add_G1_bls.json");
    additions_match<g2>("add_G2_bls.json");
  });
}

TEST(eip_2537_mul) {
  on_each_isa([](isa) {
    multiples_match<g1>("mul_G1_bls.json");
    multiples_match<g2>("mul_G2_bls.json");
  });
}

TEST(zkcrypto_multiples_of_generators) {
  generator_multiples_match<g1>("g1_uncompressed_valid_test_vectors.dat");
  generator_multiples_match<g2>("g2_uncompressed_valid_test_vectors.dat");
}

TEST(zprize_msm) {
  std::istringstream points_text(vector_file("zprize2023-msm/points_381.hex"));
  std::istringstream scalars_text(vector_file("zprize2023-msm/scalars_381.hex"));
  const std::string json = vector_file("zprize2023-msm/expected_msm.json");
  if (json.empty()) return;
  std::vector<g1::affine> points;
  std::vector<words<4>> scalars;
  for (std::string x, y, s; points_text >> x >> y && scalars_text >> s;) {
    const auto montgomery = [](const std::string& hex) {
      return bls12_381_fp{read_be<bls12_381_fp_params>(from_hex(hex).data())};
    };
    points.push_back({montgomery(x), montgomery(y)});
    scalars.push_back(scalar_of(from_hex(s).data()));
    CHECK(on_curve<g1>(points.back()));
  }
  CHECK(points.size() == 8192);
  thread_pool pool(2);
  size_t checked = 0;
  on_each_isa([&](isa) {
    for (const size_t n : {1, 2, 3, 31, 256, 1024, 8192}) {
      const std::string key = '"' + std::to_string(n) + "\":";
      const auto want = strings_at(json.substr(json.find(key)), "compressed").at(0);
      const std::span<const g1::affine> first(points.data(), n);
      const auto sum = msm<g1>(first, {scalars.data(), n}, executor(pool));
      CHECK(compressed(sum.to_affine()) == want);
      checked++;
    }
  });
  CHECK(checked >= 7);
}
