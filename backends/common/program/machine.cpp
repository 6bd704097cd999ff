#include "program/machine.hpp"

#include <cstdlib>

namespace proofline {
namespace {

using namespace program_format;
using P = bls12_381_fr_params;

// Σ digits[i]·2^(32·i): sums of products of words and bytes, which need no carries.
class digit_sum {
 public:
  void add(uint8_t digit, int64_t value) { digits_[digit] += value; }

  number value() const {
    bool is_small = true;
    for (int i = 1; i < count; i++) is_small &= digits_[i] == 0;
    if (is_small) return digits_[0];
    words<4> low{};
    int64_t carry = 0;
    for (int i = 0; i < count; i++) {
      const int64_t t = digits_[i] + carry;
      low.w[i / 2] |= uint64_t(uint32_t(t)) << 32 * (i % 2);
      carry = t >> 32;
    }
    // What stands for 2^256 in Montgomery form, read as a canonical value, is 2^256 mod r.
    while (!(low < P::modulus())) subtract_modulus(low);
    if (carry == 0) return number::of(low);
    const words<4> high = bls12_381_fr::from_u64(uint64_t(std::abs(carry))).limb;
    return number::of(carry > 0 ? add_words<P>(low, high) : sub_words<P>(low, high));
  }

 private:
  static constexpr int count = 8;

  static void subtract_modulus(words<4>& v) {
    const words<4> r = P::modulus();
    unsigned __int128 borrow = 0;
    for (int i = 0; i < 4; i++) {
      const unsigned __int128 t = (unsigned __int128)v.w[i] - r.w[i] - borrow;
      v.w[i] = uint64_t(t);
      borrow = t >> 64 & 1;
    }
  }

  int64_t digits_[count] = {};
};

}  // namespace

void leaf_machine::begin(const program_template& of) {
  leaf_ = &std::get<leaf_template>(of.body);
  counts_ = &of.counts;
  const size_t wires = first_aux() + counts_->aux;
  if (bytes_.size() < wires) {
    bytes_.resize(wires);
    canonical_.resize(wires);
    field_.resize(wires);
  }
  if (cached_.size() <= leaf_->slot_count) {
    cached_.resize(leaf_->slot_count + 1);
    cached_in_.resize(leaf_->slot_count + 1);
  }
  if (++instance_ == 0) {
    std::fill(cached_in_.begin(), cached_in_.end(), 0);
    instance_ = 1;
  }
  bytes_[0] = 1;
}

void leaf_machine::set(uint32_t wire, number value) {
  if (value.is_small() && value.small() >= -127 && value.small() <= 127) {
    bytes_[wire] = int8_t(value.small());
    return;
  }
  bytes_[wire] = byte_of(value.canonical());
  if (bytes_[wire] != no_byte) return;
  canonical_[wire] = value.canonical();
  field_[wire] = value.field();
}

number leaf_machine::local(uint32_t wire) const {
  if (bytes_[wire] != no_byte) return int64_t(bytes_[wire]);
  return number::of(canonical_[wire], field_[wire]);
}

// Of a literal. Of a wire that holds no bit, the lowest bit counts.
inline unsigned leaf_machine::bit_of(uint32_t literal) const {
  const uint32_t wire = literal >> 1;
  const int8_t byte = bytes_[wire];
  const unsigned bit = byte >= 0          ? unsigned(byte)
                       : byte != no_byte ? unsigned(canonical_of(byte).w[0])
                                         : unsigned(canonical_[wire].w[0]);
  return (bit ^ literal) & 1;
}

void leaf_machine::compute(const words<4>* hints) {
  const uint32_t* operation = leaf_->operations.data();
  uint32_t wire = first_aux();
  uint32_t known_lc = ~uint32_t{0};
  words<4> known{};
  for (uint32_t i = 0; i < counts_->aux; i++, wire++, operation += operation_words) {
    const uint32_t x = operation[1], y = operation[2], z = operation[3];
    switch (operation[0]) {
      case hint: set(wire, hints[x]); break;
      case xor_: bytes_[wire] = int8_t(bit_of(x) ^ bit_of(y)); break;
      case and_: bytes_[wire] = int8_t(bit_of(x) & bit_of(y)); break;
      case choose: bytes_[wire] = int8_t(bit_of(bit_of(x) == 1 ? y : z)); break;
      case majority: bytes_[wire] = int8_t((bit_of(x) + bit_of(y) + bit_of(z)) >> 1); break;
      case bit:
        if (known_lc != x) {
          known = combine(x).canonical();
          known_lc = x;
        }
        bytes_[wire] = int8_t(known.bit(int(y)));
        break;
      case linear: set(wire, combine(x)); break;
      case product: {
        number a = combine(x), b = combine(y), c = combine(z);
        set(wire, number::of(a.field() * b.field() + c.field()));
      }
    }
  }
  for (uint32_t i = 0; i < counts_->publics; i++) {
    set(first_public() + i, combine(leaf_->publics[i]));
  }
}

// False where a wire of it has no byte.
inline bool leaf_machine::sum_small(uint32_t lc, int64_t& sum) const {
  const lc_kind kind = leaf_->kinds[lc];
  if (kind == lc_kind::general) return false;
  sum = 0;
  const uint32_t end = leaf_->lc_ends[lc];
  for (uint32_t i = lc == 0 ? 0 : leaf_->lc_ends[lc - 1]; i < end; i++) {
    const uint32_t term = leaf_->terms[i];
    const int8_t byte = bytes_[term & term_index_max];
    if (byte == no_byte) return false;
    sum += coefficients_[term >> 16].add * byte;
  }
  return true;
}

number leaf_machine::combine(uint32_t lc) {
  const uint32_t slot = leaf_->slots[lc];
  if (slot != 0 && cached_in_[slot] == instance_) return cached_[slot];
  int64_t sum;
  const number value = sum_small(lc, sum) ? number(sum) : sum_general(lc);
  if (slot != 0) {
    cached_[slot] = value;
    cached_in_[slot] = instance_;
  }
  return value;
}

number leaf_machine::sum_general(uint32_t lc) const {
  const auto terms = leaf_->terms_of(lc);
  if (leaf_->kinds[lc] == lc_kind::wire) return local(terms[0] & term_index_max);
  digit_sum digits;
  fr large = fr::zero();
  bool is_large = false;
  for (const uint32_t term : terms) {
    const uint32_t wire = term & term_index_max;
    const coefficient& c = coefficients_[term >> 16];
    const int8_t byte = bytes_[wire];
    if (byte == 0) continue;
    if (byte != no_byte && c.is_digit) {
      digits.add(c.digit, c.add * byte);
      continue;
    }
    is_large = true;
    if (byte == 1) {
      large += c.value;
    } else if (byte != no_byte) {
      large += c.value * fr::from_canonical(canonical_of(byte));
    } else if (c.is_digit && c.digit == 0 && c.add == 1) {
      large += field_[wire];
    } else if (c.is_digit && c.digit == 0 && c.add == -1) {
      large -= field_[wire];
    } else {
      large += c.value * field_[wire];
    }
  }
  number rest = digits.value();
  if (!is_large) return rest;
  if (rest.is_small() && rest.small() == 0) return number::of(large);
  return number::of(large + rest.field());
}

bool leaf_machine::holds(number& a, number& b, number& c) {
  if (b.is_small() && b.small() == 1) return a.canonical() == c.canonical();
  return a.field() * b.field() == c.field();
}

uint32_t leaf_machine::evaluate(const outputs& to) {
  // Products of two numbers below this are exact, and equal mod r only if they are equal.
  constexpr int64_t exact = int64_t{1} << 31;
  const auto push_small = [](byte_vector& vector, int64_t value) {
    if (value >= -127 && value <= 127) return vector.push(int8_t(value));
    vector.push(canonical_of(value));
  };
  const auto push = [&](byte_vector& vector, number& value) {
    if (value.is_small()) return push_small(vector, value.small());
    vector.push(value.canonical());
  };
  const uint32_t* row = leaf_->rows.data();
  uint32_t failed = counts_->rows;
  for (uint32_t i = 0; i < counts_->rows; i++, row += 3) {
    int64_t a, b, c;
    if (sum_small(row[0], a) && sum_small(row[1], b) && sum_small(row[2], c) && std::abs(a) < exact &&
        std::abs(b) < exact) {
      if (a * b != c && failed == counts_->rows) failed = i;
      push_small(*to.a, a);
      push_small(*to.b, b);
      if (to.c != nullptr) push_small(*to.c, c);
      continue;
    }
    number large_a = combine(row[0]), large_b = combine(row[1]), large_c = combine(row[2]);
    if (failed == counts_->rows && !holds(large_a, large_b, large_c)) failed = i;
    push(*to.a, large_a);
    push(*to.b, large_b);
    if (to.c != nullptr) push(*to.c, large_c);
  }
  return failed;
}

}  // namespace proofline
