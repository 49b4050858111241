// The values that training starts from.
#pragma once

#include <cstdint>

#include "workloads/parameters.h"

namespace swinscope {

// The usual start of training: weights normal with standard deviation 0.02, the patch embedding's uniform within
// 1 / sqrt(fan in), norms 1 and biases 0, logit_scale ln 10, and V2's post-norms 0 (each block starts as the identity,
// section 3.2 of arXiv 2111.09883); running means 0 and variances 1. Deterministic in the seed.
template <typename T>
void initialize_parameters(ParameterStore<T>& store, SwinVersion version, std::uint64_t seed);

}  // namespace swinscope
