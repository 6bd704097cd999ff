#include "ntt/quotient_impl.cuh"

template class proofline::cuda::domain<proofline::bn254_fr_params>;
