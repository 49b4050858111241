// Kernels that no model uses, beside those that do the same today: 2:4 sparse products, and softmax, GELU and
// normalization in integers alone. docs/workloads.md says what came of them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/matmul.h"

namespace swinscope {

constexpr std::int64_t kAlternativesBatch = 128;

struct AlternativeRate {
  std::string name;  // what is computed: rows of one name follow each other, what models use first
  std::string form;  // how
  double microseconds = 0.0;
  std::string left_out;  // why there is no time
};

// Softmax of window attention, GELU and layer normalization of Swin-B at that batch size, on values of 8 bits:
// arithmetic in floating point and in integers alone.
std::vector<AlternativeRate> measure_integer_kernels();

// The linear layers of Swin-B's stages at that batch size, without an epilogue: dense in fp16 and fp8, and with half of
// the weights by cuSPARSELt.
std::vector<AlternativeRate> measure_sparse_products(cuda::MatmulLibrary& library);

}  // namespace swinscope
