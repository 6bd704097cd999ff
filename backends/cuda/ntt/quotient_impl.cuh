#pragma once

#include <algorithm>
#include <cstring>

#include "msm/workspace.hpp"
#include "ntt/columns.cuh"
#include "ntt/domain_roots.hpp"
#include "ntt/quotient.cuh"
#include "ntt/tiles.cuh"
#include "runtime/error.hpp"

namespace proofline::cuda {
namespace {

constexpr size_t first_twiddles = size_t{1} << tile_layers;
// The layers of larger domains that tiles do; at least one is left for the pass above them.
constexpr int log_tiled = 2 * tile_layers;

// Of the coset tables: the widest pass's rows where that is a tile.
int rows_log(int log_n) {
  return std::min(log_n == log_tiled + low_tile_layers ? low_tile_layers : tile_layers, log_n);
}

template <class P>
element<P> in_words(const mont_t<P>& v) {
  element<P> e;
  std::memcpy(e.l, &v, sizeof e.l);
  return e;
}
template <class P>
element<P>* in_words(mont_t<P>* v) {
  return reinterpret_cast<element<P>*>(v);
}

template <class P, bool Contiguous, int Ops, int Layers = tile_layers>
void launch_tile(int log_n, const tile_pass<P>& pass, cudaStream_t stream) {
  auto* const kernel = tile_kernel<P, Contiguous, Layers, Ops>;
  CUDA_OK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, tile_bytes));
  kernel<<<unsigned((size_t{1} << log_n) / tile_elements), tile_threads, tile_bytes, stream>>>(
      pass);
  CUDA_OK(cudaGetLastError());
}

// Whether the layers above the lower tiles are one tile too, and that tile.
inline bool has_upper_tile(int log_n) {
  return log_n == log_tiled + tile_layers || log_n == log_tiled + low_tile_layers;
}
template <class P, int Ops>
void launch_upper_tile(int log_n, const tile_pass<P>& pass, cudaStream_t stream) {
  if (log_n == log_tiled + tile_layers) return launch_tile<P, false, Ops>(log_n, pass, stream);
  launch_tile<P, false, Ops, low_tile_layers>(log_n, pass, stream);
}

template <class P>
struct tables_of {
  element<P>*twiddles, *first;
};

// The layers `stage` … `stage + layers − 1` by columns; `last`: the results are the transform's.
template <class P, bool Forward>
void launch_columns(element<P>* d, const tables_of<P>& t, int log_n, int stage, int layers,
                    bool last, const fused<P>& with, cudaStream_t stream) {
  const auto launch = [&](auto* kernel) {
    const size_t threads = size_t{1} << (log_n - layers);
    kernel<<<unsigned((threads + 255) / 256), 256, 0, stream>>>(
        d, t.twiddles, t.first, {log_n, stage}, last, with, log_n - rows_log(log_n));
    CUDA_OK(cudaGetLastError());
  };
  if (layers == 3) return launch(column_kernel<P, 3, Forward>);
  if (layers == 2) return launch(column_kernel<P, 2, Forward>);
  launch(column_kernel<P, 1, Forward>);
}

// The layers above `end`, from the widest on.
template <class P>
void forward_columns(element<P>* d, const tables_of<P>& t, int log_n, int end,
                     cudaStream_t stream) {
  for (int stage = 0; stage < end;) {
    const int layers = std::min(3, end - stage);
    launch_columns<P, true>(d, t, log_n, stage, layers, stage + layers == log_n, {}, stream);
    stage += layers;
  }
}
// The other way; `with` applies after the widest.
template <class P>
void inverse_columns(element<P>* d, const tables_of<P>& t, int log_n, int end, const fused<P>& with,
                     cudaStream_t stream) {
  while (end > 0) {
    const int layers = end % 3 == 0 ? 3 : end % 3;
    end -= layers;
    launch_columns<P, false>(d, t, log_n, end, layers, end == 0, with, stream);
  }
}

}  // namespace

template <class P>
domain<P>::domain(h_basis basis, int log_n, void* d_tables) : basis_(basis), log_n_(log_n) {
  require(log_n >= 0 && log_n <= log_domain_max, "a domain of at most 2^27");
  carver space(d_tables);
  const int rows = rows_log(log_n);
  const auto take = [&](int log) { return space.take<F>(size_t{1} << log); };
  twiddles_ = take(std::max(log_n - 1, 0)), first_inverse_twiddles_ = space.take<F>(first_twiddles);
  forward_.rows = take(rows), forward_.columns = take(log_n - rows);
  back_.rows = take(rows), back_.columns = take(log_n - rows);
  over_size_ = F::from_u64(size()).inverse();
  over_vanishing_ =
      basis == h_basis::monomial
          ? over_size_ * (coset_shift<P>(basis, log_n).pow(words<1>{{size()}}) - F::one()).inverse()
          : F::zero();
}

template <class P>
size_t domain<P>::table_bytes(h_basis, int log_n) {
  carver space(nullptr);
  const int rows = rows_log(log_n);
  space.take<F>(size_t{1} << std::max(log_n - 1, 0));
  space.take<F>(first_twiddles);
  for (int i = 0; i < 2; i++)
    space.take<F>(size_t{1} << rows), space.take<F>(size_t{1} << (log_n - rows));
  return space.used();
}

template <class P>
size_t domain<P>::workspace_bytes(h_basis basis, int log_n) {
  return (size_t{1} << log_n) * sizeof(F) * (basis == h_basis::monomial ? 1 : 2) + 256;
}

template <class P>
void domain<P>::make_tables(cudaStream_t stream) const {
  table_roots<P> roots{}, inverses{};
  for (int j = 0; j + 2 <= log_domain_max; j++) {
    const F root = domain_root<P>(basis_, j + 2);
    roots.root[j] = in_words(root), inverses.root[j] = in_words(root.inverse());
  }
  const auto grid = [](size_t n) { return unsigned((n + 255) / 256); };
  const size_t n = std::max<size_t>(size() / 2, 1);
  twiddle_kernel<P><<<grid(n), 256, 0, stream>>>(in_words(twiddles_), n, roots, false);
  twiddle_kernel<P><<<grid(first_twiddles), 256, 0, stream>>>(in_words(first_inverse_twiddles_),
                                                              first_twiddles, inverses, true);
  CUDA_OK(cudaGetLastError());
  const int rows = rows_log(log_n_), columns = log_n_ - rows;
  const auto powers = [&](F* table, int log, const F& base, const F& first) {
    const size_t count = size_t{1} << log;
    power_kernel<P>
        <<<grid(count), 256, 0, stream>>>(in_words(table), count, in_words(base), in_words(first));
    CUDA_OK(cudaGetLastError());
  };
  const F shift = coset_shift<P>(basis_, log_n_), unshift = shift.inverse();
  const words<1> row{{uint64_t{1} << columns}};
  powers(forward_.rows, rows, shift.pow(row), over_size_),
      powers(forward_.columns, columns, shift, F::one());
  powers(back_.rows, rows, unshift.pow(row), over_vanishing_),
      powers(back_.columns, columns, unshift, F::one());
}

template <class P>
bool domain<P>::tiled() const {
  return log_n_ > log_tiled;
}

template <class P>
tile_pass<P> domain<P>::pass_of(F* d, int stride_log) const {
  return {in_words(d), in_words(twiddles_), in_words(first_inverse_twiddles_), stride_log, {}};
}

template <class P>
void domain<P>::evaluate(F* d, cudaStream_t stream) const {
  if (has_upper_tile(log_n_)) {
    launch_upper_tile<P, op_forward>(log_n_, pass_of(d, 2 * tile_layers), stream);
  } else {
    forward_columns<P>(in_words(d),
                       tables_of<P>{in_words(twiddles_), in_words(first_inverse_twiddles_)}, log_n_,
                       tiled() ? log_n_ - log_tiled : log_n_, stream);
  }
  evaluate_lower(d, stream);
}

template <class P>
void domain<P>::evaluate_lower(F* d, cudaStream_t stream) const {
  if (!tiled()) return;
  launch_tile<P, false, op_forward>(log_n_, pass_of(d, tile_layers), stream);
  launch_tile<P, true, op_forward | op_canonical>(log_n_, pass_of(d, tile_layers), stream);
}

// The layers of the two lower tiles of an interpolation.
template <class P>
void domain<P>::interpolate_lower(F* d, cudaStream_t stream) const {
  launch_tile<P, true, op_inverse>(log_n_, pass_of(d, tile_layers), stream);
  launch_tile<P, false, op_inverse>(log_n_, pass_of(d, tile_layers), stream);
}

// The layers above them.
template <class P>
template <int Ops>
void domain<P>::interpolate_upper(F* d, const fused<P>& with, cudaStream_t stream) const {
  if (has_upper_tile(log_n_)) {
    tile_pass<P> pass = pass_of(d, 2 * tile_layers);
    pass.with = with;
    launch_upper_tile<P, op_inverse | Ops>(log_n_, pass, stream);
  } else {
    fused<P> columns = with;
    // Columns always scale, by 1 if nothing else is asked for.
    if ((Ops & (op_scale | op_coset)) == 0) columns.factor = in_words(F::one());
    inverse_columns<P>(in_words(d),
                       tables_of<P>{in_words(twiddles_), in_words(first_inverse_twiddles_)}, log_n_,
                       tiled() ? log_n_ - log_tiled : log_n_, columns, stream);
  }
}

template <class P>
void domain<P>::interpolate(F* d, cudaStream_t stream) const {
  if (tiled()) interpolate_lower(d, stream);
  interpolate_upper<op_canonical | op_scale>(d, {.factor = in_words(over_size_)}, stream);
}

// Values on the domain to the polynomial's values on the coset, both reversed; all but the last
// tile if `open`.
template <class P>
void domain<P>::to_coset(F* d, bool lower_done, bool open, cudaStream_t stream) const {
  if (tiled() && !lower_done) interpolate_lower(d, stream);
  const fused<P> with{.rows = in_words(forward_.rows), .columns = in_words(forward_.columns)};
  if (has_upper_tile(log_n_)) {
    tile_pass<P> pass = pass_of(d, 2 * tile_layers);
    pass.with = with;
    launch_upper_tile<P, op_inverse | op_coset | op_forward>(log_n_, pass, stream);
  } else {
    interpolate_upper<op_coset>(d, with, stream);
    forward_columns<P>(in_words(d),
                       tables_of<P>{in_words(twiddles_), in_words(first_inverse_twiddles_)}, log_n_,
                       tiled() ? log_n_ - log_tiled : log_n_, stream);
  }
  if (!tiled()) return;
  launch_tile<P, false, op_forward>(log_n_, pass_of(d, tile_layers), stream);
  if (!open)
    launch_tile<P, true, op_forward | op_canonical>(log_n_, pass_of(d, tile_layers), stream);
}

template <class P>
void domain<P>::multiply(F* out, const F* a, const F* b, cudaStream_t stream) const {
  const auto words_of = [](const F* v) { return reinterpret_cast<const element<P>*>(v); };
  multiply_kernel<P><<<unsigned((size() + 255) / 256), 256, 0, stream>>>(in_words(out), words_of(a),
                                                                         words_of(b), size());
  CUDA_OK(cudaGetLastError());
}

template <class P>
const mont_t<P>* domain<P>::quotient(F* d_a, F* d_b, void* d_work, cudaStream_t stream) const {
  F* const c = static_cast<F*>(d_work);
  // c = a·b, and the first pass over it.
  if (tiled()) {
    tile_pass<P> first = pass_of(d_a, tile_layers);
    first.with.other = in_words(d_b), first.with.target = in_words(c);
    launch_tile<P, true, op_inverse | op_times_input>(log_n_, first, stream);
    launch_tile<P, false, op_inverse>(log_n_, pass_of(c, tile_layers), stream);
  } else {
    multiply(c, d_a, d_b, stream);
  }
  return basis_ == h_basis::monomial ? coefficients(d_a, d_b, c, stream)
                                     : values(d_a, d_b, c, stream);
}

// a·b − c at the odd points of the domain of 2n.
template <class P>
const mont_t<P>* domain<P>::values(F* a, F* b, F* c, cudaStream_t stream) const {
  to_coset(a, false, false, stream);
  to_coset(b, false, false, stream);
  to_coset(c, true, false, stream);
  F* const out = c + size();
  combine_kernel<P><<<unsigned((size() + 255) / 256), 256, 0, stream>>>(
      in_words(out), in_words(a), in_words(b), in_words(c), log_n_);
  CUDA_OK(cudaGetLastError());
  return out;
}

// On the coset of g, a·b is lower + gⁿ·upper of degree below n, while c = lower + upper: their
// difference over gⁿ − 1 is the quotient, without c on the coset.
template <class P>
const mont_t<P>* domain<P>::coefficients(F* a, F* b, F* c, cudaStream_t stream) const {
  interpolate_upper<op_canonical>(c, {}, stream);
  to_coset(a, false, false, stream);
  to_coset(b, false, true, stream);
  if (tiled()) {
    tile_pass<P> product = pass_of(b, tile_layers);
    product.with.other = in_words(a);
    launch_tile<P, true, op_forward | op_times | op_inverse>(log_n_, product, stream);
    launch_tile<P, false, op_inverse>(log_n_, pass_of(b, tile_layers), stream);
  } else {
    multiply(b, a, b, stream);
  }
  interpolate_upper<op_coset | op_subtract | op_canonical>(b,
                                                           {.rows = in_words(back_.rows),
                                                            .columns = in_words(back_.columns),
                                                            .other = in_words(c),
                                                            .factor = in_words(over_vanishing_)},
                                                           stream);
  return b;
}

}  // namespace proofline::cuda
