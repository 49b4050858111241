// Products with weights of which two of each four that follow each other are zero (2:4 structured sparsity), by
// cuSPARSELt, which is opened at run time. Models do not use them: `swin peaks --alternatives` measures what they would
// gain.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "kernels/device.h"

namespace swinscope::cuda {

enum class SparseOperands : std::uint8_t { kFp16, kE4m3, kInt8 };

// y[m, n] = x[m, k] w[n, k]^T in fp16, row-major and densely packed, without bias; sums in fp32, of int8 in 32-bit
// integers. Dimensions must be multiples of 32.
struct SparseShape {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  SparseOperands operands = SparseOperands::kFp16;

  std::int64_t operand_bytes() const { return operands == SparseOperands::kFp16 ? 2 : 1; }
};

// Whether there is a cuSPARSELt whose interface is known; else `why`, where it is asked for.
bool sparse_products_offered(std::string* why = nullptr);

class SparseProduct {
 public:
  // Prunes w in place to the two larger ones of each four, compresses it, and times cuSPARSELt's ways to multiply by
  // it, all of it enqueued on the stream and waited for. Throws cuda::Error where cuSPARSELt is missing, of a version
  // whose interface is another one, or refuses the shape.
  SparseProduct(const SparseShape& shape, const void* x, void* w, void* y, Stream stream);
  ~SparseProduct();
  SparseProduct(const SparseProduct&) = delete;
  SparseProduct& operator=(const SparseProduct&) = delete;
  SparseProduct(SparseProduct&&) = delete;
  SparseProduct& operator=(SparseProduct&&) = delete;

  void run(const void* x, void* y, Stream stream) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace swinscope::cuda
