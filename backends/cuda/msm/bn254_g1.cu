#include "msm/msm_impl.cuh"

PROOFLINE_MSM_INSTANCES(proofline::bn254_g1)
