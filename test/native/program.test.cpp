#include "program/program.hpp"

#include <cstring>
#include <fstream>
#include <iterator>
#include <map>

#include "check.hpp"
#include "core/errors.hpp"
#include "program/crc32.hpp"
#include "program/synthesis.hpp"

using namespace proofline;

namespace {

using bytes = std::vector<uint8_t>;

bytes golden(const std::string& name) {
  std::ifstream file(PROOFLINE_GOLDEN "/program/" + name, std::ios::binary);
  CHECK(file.good());
  return {std::istreambuf_iterator<char>(file), {}};
}

// Lines of a name and a checksum in hexadecimal.
std::map<std::string, uint32_t> golden_checksums() {
  std::ifstream file(PROOFLINE_GOLDEN "/program/small.crc32");
  std::map<std::string, uint32_t> sums;
  std::string name;
  for (uint32_t sum; file >> name >> std::hex >> sum;) sums[name] = sum;
  return sums;
}

uint32_t checksum_of(parted_vector&& vector, const executor& exec) {
  std::vector<words<4>> values(vector.size());
  std::move(vector).expand(values.data(), exec);
  return crc32({reinterpret_cast<const uint8_t*>(values.data()), values.size() * sizeof(words<4>)});
}

// The header's size and checksum as the content wants them, so that a reader gets to see the content.
void seal(bytes& program) {
  const uint64_t size = program.size();
  std::memcpy(&program[16], &size, sizeof size);
  const uint32_t sum = crc32({program.data() + 16, program.size() - 16});
  std::memcpy(&program[8], &sum, sizeof sum);
}

// Whatever the bytes are, they are refused as such, or make a circuit that can be run.
void check_hostile(const bytes& program, const bytes& inputs, const executor& exec) {
  try {
    const circuit_program opened(program);
    (void)synthesize(opened, inputs, keep_c::yes, exec).failed;
    (void)densities_of(opened, exec);
  } catch (const prover_error& e) {
    CHECK(e.status == prover_status::bad_format);
  }
}

}  // namespace

TEST(checksum_of_zlib) {
  const std::string text = "123456789";
  CHECK(crc32({reinterpret_cast<const uint8_t*>(text.data()), text.size()}) == 0xcbf43926);
}

TEST(golden_program) {
  const bytes program = golden("small.plcp"), inputs = golden("small.inputs");
  auto sums = golden_checksums();
  CHECK(sums.size() == 5 && crc32(program) == sums["program"]);
  for (const unsigned threads : {1u, 3u}) {
    thread_pool pool(threads);
    const executor exec(pool);
    const circuit_program opened(program);
    CHECK(opened.root().name == "small");
    synthesis made = synthesize(opened, inputs, keep_c::yes, exec);
    CHECK(!made.failed);
    CHECK(made.witness.size() == opened.inputs() + opened.aux());
    CHECK(made.a.size() == opened.rows());
    CHECK(checksum_of(std::move(made.witness), exec) == sums["witness"]);
    CHECK(checksum_of(std::move(made.a), exec) == sums["a"]);
    CHECK(checksum_of(std::move(made.b), exec) == sums["b"]);
    CHECK(checksum_of(std::move(made.c), exec) == sums["c"]);
  }
}

TEST(bytes_at_any_address) {
  const bytes program = golden("small.plcp");
  bytes shifted(program.size() + 1);
  std::copy(program.begin(), program.end(), shifted.begin() + 1);
  const circuit_program opened(std::span<const uint8_t>(shifted).subspan(1));
  CHECK(opened.rows() == circuit_program(program).rows());
}

TEST(wrong_private_inputs) {
  thread_pool pool(2);
  const executor exec(pool);
  const bytes program = golden("small.plcp");
  const circuit_program opened(program);
  bytes inputs = golden("small.inputs");
  // The second private input that has to be a bit.
  inputs[3 * 32] = 2;
  const synthesis made = synthesize(opened, inputs, keep_c::no, exec);
  CHECK(made.failed && made.failed->path == std::vector<std::string>{"part 0"});
  CHECK(made.failed->name() == "constraint " + std::to_string(made.failed->index) + " (part 0)");
  for (const size_t length : {size_t{0}, inputs.size() - 1, inputs.size() - 32}) {
    check_hostile(program, bytes(inputs.begin(), inputs.begin() + long(length)), exec);
  }
  std::fill(inputs.begin(), inputs.begin() + 32, uint8_t{0xff});
  bool refused = false;
  try {
    synthesize(opened, inputs, keep_c::no, exec);
  } catch (const prover_error& e) {
    refused = e.status == prover_status::bad_format && e.data[0].second == "private input 0";
  }
  CHECK(refused);
}

TEST(damaged_programs) {
  thread_pool pool(2);
  const executor exec(pool);
  const bytes program = golden("small.plcp"), inputs = golden("small.inputs");
  bytes flipped = program;
  flipped[program.size() / 2] ^= 1;
  check_hostile(flipped, inputs, exec);
  for (size_t length = 0; length < program.size(); length += 997) {
    bytes cut(program.begin(), program.begin() + long(length));
    check_hostile(cut, inputs, exec);
    if (length < 24) continue;
    seal(cut);
    check_hostile(cut, inputs, exec);
  }
}

// Every word of header and templates, and some of all others.
TEST(hostile_words) {
  thread_pool pool(1);
  const executor exec(pool);
  const bytes program = golden("small.plcp"), inputs = golden("small.inputs");
  auto& engine = check::random_engine();
  const size_t templates_end = 128 + 8 * 64;
  for (size_t i = 0; i < 3000; i++) {
    const size_t at = i < 1200 ? 20 + 4 * (i % ((templates_end - 20) / 4)) : 4 * (engine() % (program.size() / 4));
    if (at < 20) continue;
    const uint32_t hostile[] = {0, 1, 0xffff, 0x10000, 0x7fffffff, 0xffffffff, uint32_t(engine()),
                                uint32_t(engine() % 2000)};
    bytes changed = program;
    std::memcpy(&changed[at], &hostile[engine() % 8], 4);
    seal(changed);
    check_hostile(changed, inputs, exec);
  }
}
