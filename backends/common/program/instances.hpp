#pragma once

#include <span>
#include <vector>

#include "program/program.hpp"

namespace proofline {

// Where an instance's variables, rows and private inputs begin, counted over the circuit. Input 0 is the 1.
struct instance_base {
  uint32_t publics = 1, aux = 0, rows = 0, hints = 0;

  instance_base inside(const program_format::child_record& child) const {
    return {publics + child.public_base, aux + child.aux_base, rows + child.row_base,
            hints + child.hint_base};
  }
};

// A use of a template; `bound` are the global codes of its bound wires.
struct instance {
  const program_template* of;
  instance_base base;
  std::vector<uint32_t> bound;

  // The global code of a local wire that is not the constant.
  uint32_t code(uint32_t wire) const {
    const auto& counts = of->counts;
    if (wire == 0) return 0;
    if (wire <= counts.bound) return bound[wire - 1];
    const uint32_t index = wire - 1 - counts.bound;
    if (index < counts.publics) return base.publics + index;
    return program_format::aux_code | (base.aux + index - counts.publics);
  }
};

// The instance of a child, written over `to`.
inline void enter(const circuit_program& program, const instance& parent, const child_instance& child,
                  instance& to) {
  to.of = &program.templates()[child.base.template_index];
  to.base = parent.base.inside(child.base);
  to.bound.clear();
  for (const uint32_t wire : child.bindings) to.bound.push_back(parent.code(wire));
}

// Leaves below an instance in the order of synthesis: visit(const instance&).
class leaf_walk {
 public:
  explicit leaf_walk(const circuit_program& program) : program_(program), inner_(program.root().depth) {}

  template <class Fn>
  void visit(const instance& at, Fn&& fn, size_t depth = 0) {
    const auto* const composite = std::get_if<composite_template>(&at.of->body);
    if (composite == nullptr) return fn(at);
    for (const child_instance& child : composite->children) {
      enter(program_, at, child, inner_[depth]);
      visit(inner_[depth], fn, depth + 1);
    }
  }

 private:
  const circuit_program& program_;
  std::vector<instance> inner_;  // by depth, so that their memory is used again
};

// The circuit cut into instances of at most a million variables and rows, in the order of synthesis, so that
// threads can share the work: `waves` lists them so that each needs only those of waves before its own, the
// largest first.
struct schedule {
  std::vector<instance> parts;
  std::vector<std::vector<uint32_t>> waves;

  explicit schedule(const circuit_program& program);

  // The part that makes an aux variable.
  uint32_t part_of_aux(uint32_t aux) const;
};

}  // namespace proofline
