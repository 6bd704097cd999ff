#include "prover/partition_impl.cuh"

template class proofline::cuda::device_prover<proofline::bls12_381>;
