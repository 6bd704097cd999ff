#pragma once

#include "program/program.hpp"
#include "prover/scalars.hpp"

namespace proofline {

// The secrets of a setup, below r, none zero.
struct toxic_waste {
  words<4> alpha, beta, gamma, delta, tau;
};

struct scalar_column {
  scalar_array values;
  size_t count = 0;
};

// Discrete logarithms of bellman parameters' points, canonical, as src/groth16/query-scalars.ts has
// them: of a and b by variable, inputs first; of ic by input, of l by aux variable; of h by power.
struct setup_scalars {
  scalar_column a, b, ic, l, h;
};

// Of a circuit's program, which is never written out: of each instance, each row adds its weight.
// Memory: four scalars of 32 bytes for each row of the domain and each variable, about.
// @throws format_error for a circuit without rows, cancelled_error
setup_scalars setup_scalars_of(const circuit_program& program, const toxic_waste& waste,
                               const call_context& context);

}  // namespace proofline
