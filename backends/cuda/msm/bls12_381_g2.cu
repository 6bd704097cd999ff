#include "msm/msm_impl.cuh"

PROOFLINE_MSM_INSTANCES(proofline::bls12_381_g2)
