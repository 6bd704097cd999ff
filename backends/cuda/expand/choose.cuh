#pragma once

#include <cuda_runtime.h>

#include "expand/compact.hpp"

namespace proofline::cuda {

// Which wires of an assignment a part of a query has points for: those of [first_wire, end_wire)
// whose bit is set (all without bits). The points lie in wire order: with bits, the point of a wire
// is the number of set bits before it, less `first_point`; without, its distance from `first_wire`.
struct wire_choice {
  uint32_t first_wire = 0, end_wire = 0;
  const uint32_t* density = nullptr;        // on the device, bit i & 31 of word i >> 5, by wire
  const uint32_t* points_before = nullptr;  // set bits before each word
  uint32_t first_point = 0;
};

// Where the wires of a query go by their value: 0 nowhere, 1 as a point to add, the rest as a term
// of a sum. `ones` and `terms` have room for as many as there may be; terms are pairs of point and
// place of the value.
struct chosen_wires {
  uint32_t *ones, *term_points, *term_places;
  uint32_t* counts;  // ones, terms; zero before
};

// density ← the inputs' bits (all if null), then the auxiliary variables' bits. Bits beyond are 0.
void join_densities(uint32_t* d_density, const uint8_t* d_input_bits, uint32_t inputs,
                    const uint8_t* d_aux_bits, uint32_t aux, cudaStream_t stream);

size_t points_before_workspace_bytes(uint32_t wires);
// Running counts of the set bits; `words` of (wires + 31)/32, and the total behind them.
void count_points_before(uint32_t* d_points_before, const uint32_t* d_density, uint32_t wires,
                         void* d_work, cudaStream_t stream);

// Sorts the wires of one query by value. For a compact witness the place of a term is the number of
// its exception, for a full one its wire. Kind `small` is not accepted: expand it first.
void choose_wires(const compact_vector& witness, const wire_choice& choice, const chosen_wires& to,
                  cudaStream_t stream);

}  // namespace proofline::cuda
