#include "weighted_sum.hpp"

#include <memory>

#include "curve/point_bytes.hpp"
#include "msm/msm.hpp"

namespace proofline {
namespace {

template <class G>
bytes sum_in(std::span<const uint8_t> points, std::span<const words<4>> scalars,
             const executor& exec) {
  using affine = typename G::affine;
  const size_t count = scalars.size();
  require(points.size() == count * sizeof(affine), "as many points as scalars");
  const auto decoded = std::make_unique_for_overwrite<affine[]>(count);
  exec.run_ranges(count, 256, [&](size_t begin, size_t end, unsigned) {
    for (size_t i = begin; i < end; i++) {
      if (read_point(points.data() + i * sizeof(affine), decoded[i])) continue;
      throw format_error("point " + std::to_string(i), "coordinates below the field modulus",
                         "a larger one");
    }
  });
  const affine sum = msm<G>({decoded.get(), count}, scalars, exec).to_affine();
  bytes out(sizeof(affine));
  write_point(out.data(), sum);
  return out;
}

}  // namespace

bytes weighted_sum(curve_id curve, std::span<const uint8_t> points,
                   std::span<const words<4>> scalars, const executor& exec) {
  return curve == curve_id::bn254 ? sum_in<bn254_g1>(points, scalars, exec)
                                  : sum_in<bls12_381_g1>(points, scalars, exec);
}

}  // namespace proofline
