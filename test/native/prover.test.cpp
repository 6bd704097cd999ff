#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "check.hpp"
#include "cpu_key.hpp"
#include "isa.hpp"
#include "ntt/domain.hpp"
#include "prover/assembly.hpp"
#include "prover/fixed_base.hpp"

// Whole proofs against field arithmetic: every point of a key is a known multiple of its generator,
// so that the logarithms of A, B and C follow from the formulas. The keys belong to no circuit;
// none is needed.
using namespace proofline;

namespace {

template <class P>
std::vector<mont_t<P>> random_elements(size_t n) {
  using F = mont_t<P>;
  auto& engine = check::random_engine();
  std::vector<F> v(n);
  for (F& x : v) {
    const auto kind = engine() % 6;
    x = kind == 0 ? F::zero() : kind == 1 ? F::one() : kind == 2 ? -F::one() : F::from_u64(engine());
    if (kind > 3) x = x * F::from_u64(engine()) * F::from_u64(engine()) * F::from_u64(engine());
  }
  return v;
}

template <class P>
std::vector<words<4>> canonical(const std::vector<mont_t<P>>& v) {
  std::vector<words<4>> out;
  for (const auto& x : v) out.push_back(x.to_canonical());
  return out;
}

template <class T>
bytes image(const std::vector<T>& v) {
  const auto* const first = reinterpret_cast<const uint8_t*>(v.data());
  return bytes(first, first + v.size() * sizeof(T));
}

// A file that goes away with the test.
class temporary_file {
 public:
  temporary_file() {
    std::string name = (std::filesystem::temp_directory_path() / "proofline-test-XXXXXX").string();
    const int fd = ::mkstemp(name.data());
    CHECK(fd >= 0);
    ::close(fd);
    path_ = name;
  }
  ~temporary_file() { std::filesystem::remove(path_); }

  file_slice append(const bytes& content) {
    std::ofstream out(path_, std::ios::binary | std::ios::app);
    const uint64_t offset = std::filesystem::file_size(path_);
    out.write(reinterpret_cast<const char*>(content.data()), std::streamsize(content.size()));
    return {path_, offset, content.size()};
  }

 private:
  std::string path_;
};

struct entry {
  uint32_t matrix, row, wire;
};

template <class Curve>
class example {
 public:
  using P = typename Curve::fr;
  using F = mont_t<P>;
  using elements = std::vector<F>;

  example(bool zkey, int log_n, size_t inputs, size_t aux)
      : zkey_(zkey), log_n_(log_n), inputs_(inputs), exec_(pool_) {
    const size_t n = size_t{1} << log_n, wires = inputs + aux;
    witness_ = random_elements<P>(wires);
    auto& engine = check::random_engine();
    row_a_.assign(n, F::zero());
    row_b_.assign(n, F::zero());
    bytes records;
    for (size_t i = 0; i < 3 * n; i++) {
      const entry e{uint32_t(engine() % 2), uint32_t(engine() % n), uint32_t(engine() % wires)};
      const F value = random_elements<P>(1)[0];
      (e.matrix == 0 ? row_a_ : row_b_)[e.row] += value * witness_[e.wire];
      const F squared = F::from_canonical(value.limb);  // v·R²
      records.resize(records.size() + 44);
      std::memcpy(&records[records.size() - 44], &e, 12);
      std::memcpy(&records[records.size() - 32], &squared, 32);
    }
    for (size_t i = 0; i < wires; i++) {
      in_a_.push_back(zkey || i < inputs || engine() % 4 != 0);
      in_b_.push_back(zkey || engine() % 4 != 0);
    }
    source_.curve = std::is_same_v<Curve, bn254> ? curve_id::bn254 : curve_id::bls12_381;
    source_.points = zkey ? point_form::montgomery_le : point_form::canonical_be;
    source_.every_wire = zkey;
    source_.input_count = inputs;
    source_.aux_count = aux;
    source_.log_n = log_n;
    source_.basis = zkey ? h_basis::odd_lagrange : h_basis::monomial;
    source_.h = points<typename Curve::g1>(h_ = logs(zkey ? n : n - 1));
    source_.l = points<typename Curve::g1>(l_ = logs(aux));
    source_.a = points<typename Curve::g1>(a_ = logs(size_t(std::count(in_a_.begin(), in_a_.end(), true))));
    b_ = logs(size_t(std::count(in_b_.begin(), in_b_.end(), true)));
    source_.b_g1 = points<typename Curve::g1>(b_);
    source_.b_g2 = points<typename Curve::g2>(b_);
    if (zkey) source_.rows = {file_.append(records), records.size() / 44};
    alpha_ = nonzero(), beta_ = nonzero(), delta_ = nonzero();
    source_.alpha_g1 = point<typename Curve::g1>(alpha_);
    source_.beta_g1 = point<typename Curve::g1>(beta_);
    source_.delta_g1 = point<typename Curve::g1>(delta_);
    source_.beta_g2 = point<typename Curve::g2>(beta_);
    source_.delta_g2 = point<typename Curve::g2>(delta_);
  }

  key_source& source() { return source_; }
  thread_pool& pool() { return pool_; }

  call_context context(const cancel_token* cancel = nullptr) {
    return {executor(pool_, cancel), [](const char*, int64_t, int64_t) {}, [](double) {},
            [] { return int64_t{0}; }};
  }

  std::unique_ptr<loaded_key> load() { return load_cpu_key(source_, true, context()); }

  partition_input input() {
    keep_ = {image(canonical(witness_)), image(canonical(row_a_)), image(canonical(row_b_))};
    const auto vector = [&](int i) {
      return scalar_vector{keep_[size_t(i)].size() / 32, std::span<const uint8_t>(keep_[size_t(i)])};
    };
    partition_input input{{}, vector(0), {}};
    if (!zkey_) {
      input.evaluated = {vector(1), vector(2), density(in_a_, inputs_, in_a_.size()),
                         density(in_b_, 0, inputs_), density(in_b_, inputs_, in_b_.size())};
    }
    return input;
  }

  void proves() {
    const auto key = load();
    const blinding_pair blinding{nonzero().to_canonical(), nonzero().to_canonical()};
    const proof_points proof = key->finish(
        key->compute(key->stage(input(), context()), blinding, context()), context());
    const F r = F::from_canonical(blinding.r), s = F::from_canonical(blinding.s);
    const F a = alpha_ + dot(chosen(in_a_), a_) + r * delta_;
    const F b = beta_ + dot(chosen(in_b_), b_) + s * delta_;
    const elements aux(witness_.begin() + std::ptrdiff_t(inputs_), witness_.end());
    const F c = dot(quotient(), h_) + dot(aux, l_) + s * a + r * b - r * s * delta_;
    CHECK(proof.a == point<typename Curve::g1>(a));
    CHECK(proof.b == point<typename Curve::g2>(b));
    CHECK(proof.c == point<typename Curve::g1>(c));
  }

 private:
  F nonzero() {
    F x = F::from_u64(check::random_engine()() | 1);
    for (int i = 0; i < 3; i++) x = x * F::from_u64(check::random_engine()() | 1);
    return x;
  }

  // Some points of a zkey are at infinity; bellman's files hold none.
  elements logs(size_t n) {
    elements v;
    for (size_t i = 0; i < n; i++)
      v.push_back(zkey_ && check::random_engine()() % 5 == 0 ? F::zero() : nonzero());
    return v;
  }

  template <class G>
  record_slice points(const elements& v) {
    const fixed_base<G> base(v.size(), exec_);
    return {file_.append(base.multiples(canonical(v), source_.points, exec_)), v.size()};
  }

  template <class G>
  static bytes point(const F& log) {
    const auto p = multiply(G::generator(), log.to_canonical()).to_affine();
    bytes out(sizeof p);
    write_point(out.data(), p);
    return out;
  }

  static bytes density(const std::vector<bool>& in, size_t begin, size_t end) {
    bytes bits((end - begin + 7) / 8);
    for (size_t i = begin; i < end; i++)
      if (in[i]) bits[(i - begin) / 8] |= uint8_t(1u << ((i - begin) % 8));
    return bits;
  }

  elements chosen(const std::vector<bool>& in) const {
    elements v;
    for (size_t i = 0; i < in.size(); i++)
      if (in[i]) v.push_back(witness_[i]);
    return v;
  }

  static F dot(const elements& x, const elements& y) {
    CHECK(x.size() == y.size());
    F sum = F::zero();
    for (size_t i = 0; i < x.size(); i++) sum += x[i] * y[i];
    return sum;
  }

  // Coefficients from values on the domain, in natural order: the definition, O(n²).
  static elements coefficients(const elements& values, const F& root) {
    const size_t n = values.size();
    const F inverse = root.inverse(), scale = F::from_u64(n).inverse();
    elements out(n, F::zero());
    for (size_t k = 0; k < n; k++) {
      const F step = inverse.pow(words<1>{{k}});
      F x = F::one();
      for (size_t i = 0; i < n; i++, x *= step) out[k] += values[i] * x;
      out[k] *= scale;
    }
    return out;
  }

  elements quotient() const {
    const uint32_t generator = !zkey_ && std::is_same_v<Curve, bls12_381> ? 7 : 5;
    const size_t n = row_a_.size();
    const F root = root_of_unity<P>(generator, log_n_);
    const elements a = coefficients(row_a_, root), b = coefficients(row_b_, root);
    // a·b = lower + xⁿ·upper, and c = lower + upper: the quotient is upper.
    elements product(2 * n, F::zero());
    for (size_t i = 0; i < n; i++)
      for (size_t j = 0; j < n; j++) product[i + j] += a[i] * b[j];
    const elements upper(product.begin() + std::ptrdiff_t(n), product.end());
    if (!zkey_) return elements(upper.begin(), upper.end() - 1);
    const F shift = root_of_unity<P>(generator, log_n_ + 1);
    elements out;
    for (size_t i = 0; i < n; i++) {
      const F x = shift.pow(words<1>{{2 * i + 1}});
      F value = F::zero();
      for (size_t k = n; k-- > 0;) value = value * x + upper[k];
      out.push_back(-(value + value));  // xⁿ − 1 = −2
    }
    return out;
  }

  bool zkey_;
  int log_n_;
  size_t inputs_;
  thread_pool pool_{3};
  executor exec_;
  temporary_file file_;
  key_source source_;
  elements witness_, row_a_, row_b_, h_, l_, a_, b_;
  std::vector<bool> in_a_, in_b_;
  F alpha_, beta_, delta_;
  std::array<bytes, 3> keep_;
};

template <class Fn>
prover_status status_of(Fn&& fn) {
  try {
    fn();
    return prover_status::ok;
  } catch (const prover_error& e) {
    return e.status;
  }
}

template <class Curve>
void proves_all_sizes(bool zkey) {
  on_each_isa([&](isa) {
    for (const int log_n : {1, 3, 5, 7}) {
      const size_t n = size_t{1} << log_n;
      example<Curve>(zkey, log_n, 1, n).proves();
      example<Curve>(zkey, log_n, 3, n - 1).proves();
    }
  });
}

}  // namespace

TEST(bn254_zkey) { proves_all_sizes<bn254>(true); }
TEST(bls12_381_zkey) { proves_all_sizes<bls12_381>(true); }
TEST(bls12_381_bellman) { proves_all_sizes<bls12_381>(false); }

TEST(two_partitions_at_a_time) {
  example<bn254> e(true, 6, 2, 50);
  const auto key = e.load();
  const auto input = e.input();
  const auto prove = [&](bytes& out) {
    out = key->finish(key->compute(key->stage(input, e.context()), {{{3}}, {{4}}}, e.context()),
                      e.context())
              .c;
  };
  bytes first, second;
  std::thread other([&] { prove(first); });
  prove(second);
  other.join();
  CHECK(first == second);
}

TEST(cancel) {
  example<bn254> e(true, 6, 2, 50);
  cancel_token cancel;
  cancel.request();
  const auto context = e.context(&cancel);
  const auto key = e.load();
  const auto cancelled = [&](auto&& fn) { return status_of(fn) == prover_status::cancelled; };
  CHECK(cancelled([&] { load_cpu_key(e.source(), true, context); }));
  CHECK(cancelled([&] { key->stage(e.input(), context); }));
  auto staged = key->stage(e.input(), e.context());
  CHECK(cancelled([&] { key->compute(std::move(staged), {}, context); }));
}

TEST(partitions_of_another_key_are_refused) {
  example<bn254> one(true, 3, 2, 6), two(true, 3, 2, 6);
  const auto key = one.load(), other = two.load();
  auto staged = key->stage(one.input(), one.context());
  CHECK(status_of([&] { other->compute(std::move(staged), {}, two.context()); }) ==
        prover_status::internal);
}

TEST(hostile_keys_are_refused) {
  const auto refuses = [](auto&& change) {
    example<bn254> e(true, 4, 2, 12);
    change(e.source());
    return status_of([&] { e.load(); });
  };
  using source = key_source&;
  CHECK(refuses([](source s) { s.l.slice.path += "-absent"; }) == prover_status::bad_file);
  CHECK(refuses([](source s) { s.h.slice.offset = UINT64_MAX - 8; }) == prover_status::bad_format);
  CHECK(refuses([](source s) { s.b_g2.slice.offset += 1 << 20; }) == prover_status::bad_format);
  CHECK(refuses([](source s) { s.aux_count -= 1; }) == prover_status::bad_format);
  CHECK(refuses([](source s) { s.log_n = 3; }) == prover_status::bad_format);
  CHECK(refuses([](source s) { s.delta_g2[5] ^= 1; }) == prover_status::bad_format);
  CHECK(refuses([](source s) { s.rows->slice.offset += 4; }) == prover_status::bad_format);
}
