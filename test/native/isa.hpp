#pragma once

#include <cstdio>

#include "core/cpu.hpp"

// Runs `body` once on each path that this processor has, the portable one first.
template <class Body>
void on_each_isa(Body&& body) {
  using proofline::isa;
  for (const isa level : {isa::portable, isa::adx, isa::ifma}) {
    if (level > proofline::detected_isa()) {
      std::printf("     skipped %s: this processor lacks it\n", proofline::name_of(level));
      continue;
    }
    proofline::isa_in_use = level;
    body(level);
  }
  proofline::isa_in_use = proofline::detected_isa();
}
