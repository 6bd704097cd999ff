#include "ntt/quotient_impl.cuh"

template class proofline::cuda::domain<proofline::bls12_381_fr_params>;
