#include "program/instances.hpp"

#include <algorithm>

namespace proofline {
namespace {

using program_format::aux_code;

constexpr uint32_t part_size_max = uint32_t{1} << 20;

void cut(const circuit_program& program, const instance& at, std::vector<instance>& parts) {
  const auto* const composite = std::get_if<composite_template>(&at.of->body);
  const bool is_root = at.of == &program.root();
  const auto& counts = at.of->counts;
  if (composite == nullptr || (!is_root && std::max(counts.aux, counts.rows) <= part_size_max)) {
    parts.push_back(at);
    return;
  }
  instance inner;
  for (const child_instance& child : composite->children) {
    enter(program, at, child, inner);
    cut(program, inner, parts);
  }
}

}  // namespace

schedule::schedule(const circuit_program& program) {
  cut(program, {&program.root(), {}, {}}, parts);
  std::vector<uint32_t> wave_of(parts.size());
  // The part of each public input.
  std::vector<uint32_t> part_of_public(program.inputs());
  for (uint32_t i = 0; i < parts.size(); i++) {
    const auto& [of, base, bound] = parts[i];
    for (const uint32_t code : bound) {
      const bool is_aux = (code & aux_code) != 0;
      const uint32_t from = is_aux ? part_of_aux(code & ~aux_code) : part_of_public[code];
      wave_of[i] = std::max(wave_of[i], wave_of[from] + 1);
    }
    for (uint32_t k = 0; k < of->counts.publics; k++) part_of_public[base.publics + k] = i;
    if (waves.size() <= wave_of[i]) waves.resize(wave_of[i] + 1);
    waves[wave_of[i]].push_back(i);
  }
  for (auto& wave : waves) {
    std::stable_sort(wave.begin(), wave.end(), [&](uint32_t x, uint32_t y) {
      return parts[x].of->counts.rows > parts[y].of->counts.rows;
    });
  }
}

uint32_t schedule::part_of_aux(uint32_t aux) const {
  const auto after = std::upper_bound(parts.begin(), parts.end(), aux, [](uint32_t index, const instance& part) {
    return index < part.base.aux;
  });
  // Of parts that begin there, the last one has the variable: those before it have none.
  return uint32_t(after - parts.begin()) - 1;
}

}  // namespace proofline
