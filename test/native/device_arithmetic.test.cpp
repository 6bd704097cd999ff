#include <cmath>
#include <cstring>

#include "check.hpp"
#include "field/scalar.cuh"
#include "samples.hpp"

// The arithmetic of the device on the host, where the carry flag is a variable (field/carry.cuh),
// against mont_t. Values are loose: with p added or not, and with runs of equal bits.
using namespace proofline;
using namespace proofline::cuda;

namespace {

template <class P>
element<P> in_words(const words<P::limbs>& v) {
  element<P> e;
  std::memcpy(e.l, &v, sizeof e.l);
  return e;
}

template <class P>
words<P::limbs> random_words() {
  words<P::limbs> v;
  const bool runs = check::random_engine()() % 5 == 0;
  for (uint64_t& w : v.w)
    w = runs ? (check::random_engine()() % 2 ? ~uint64_t{0} : 0) : check::random_engine()();
  return v;
}

template <class P>
void subtract(words<P::limbs>& v) {
  uint64_t borrow = 0;
  for (int i = 0; i < P::limbs; i++) v.w[i] = sub_borrow(v.w[i], P::modulus().w[i], borrow);
}

template <class P>
element<P> loose(const mont_t<P>& x) {
  words<P::limbs> v = x.limb;
  uint64_t carry = 0;
  if (check::random_engine()() % 2)
    for (int i = 0; i < P::limbs; i++) v.w[i] = add_carry(v.w[i], P::modulus().w[i], carry);
  return in_words<P>(v);
}

// Whether `e` stands for x with at most `multiples` times p added.
template <class P>
bool is(const element<P>& e, const mont_t<P>& x, int multiples) {
  words<P::limbs> v;
  std::memcpy(&v, e.l, sizeof v);
  for (int i = 0; i < multiples && !(v < P::modulus()); i++) subtract<P>(v);
  return v == x.limb;
}

template <class P>
void check_coordinates() {
  for (int i = 0; i < 500; i++) {
    const auto a = samples::random_element<mont_t<P>>(), b = samples::random_element<mont_t<P>>(),
               c = samples::random_element<mont_t<P>>();
    const auto d = samples::random_element<mont_t<P>>();
    const auto x = loose<P>(a), y = loose<P>(b);
    CHECK(is<P>(product<P>(x, y), a * b, 1));
    CHECK(is<P>(square<P>(x), a * a, 1));
    CHECK(is<P>(sum_of_two_products<P>(x, y, loose<P>(c), loose<P>(d)), a * b + c * d,
                P::bits > 256 ? 1 : 2));
    CHECK(is<P>(loose_sum<P>(x, y), a + b, 1));
    CHECK(is<P>(loose_difference<P>(x, y), a - b, 1));
    CHECK(is<P>(difference<P>(in_words<P>(a.limb), in_words<P>(b.limb)), a - b, 1));
    CHECK(is<P>(reduced<P>(x), a, 0));
    if (i % 10 == 0 && !a.is_zero()) CHECK(is<P>(inverse_of<P>(x), a.inverse(), 0));
  }
}

template <class P>
void check_scalars() {
  for (int i = 0; i < 1000; i++) {
    const words<4> any = random_words<P>();
    words<4> canonical = any;
    while (!(canonical < P::modulus())) subtract<P>(canonical);
    const mont_t<P> a{canonical}, b = samples::random_element<mont_t<P>>();
    const auto x = in_words<P>(any), w = in_words<P>(b.limb);
    CHECK(is<P>(scalar_product<P>(x, w), a * b, 0));
    auto t = x;
    narrow<P>(t.l);
    CHECK(is<P>(t, a, 0));
    t = x, add_wide<P>(t.l, w.l), narrow<P>(t.l);
    CHECK(is<P>(t, a + b, 0));
    t = x, subtract_r<P>(t.l, w.l), narrow<P>(t.l);
    CHECK(is<P>(t, a - b, 0));
    t = in_words<P>(canonical), add_near<P>(t.l, w.l), narrow<P>(t.l);
    CHECK(is<P>(t, a + b, 0));
  }
}

}  // namespace

TEST(coordinates_of_bls12_381) { check_coordinates<bls12_381_fp_params>(); }
TEST(coordinates_of_bn254) { check_coordinates<bn254_fp_params>(); }
TEST(scalars_of_bls12_381) { check_scalars<bls12_381_fr_params>(); }
TEST(scalars_of_bn254) { check_scalars<bn254_fr_params>(); }
