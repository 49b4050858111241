// General matrix product on the CPU: OpenBLAS, cut into tasks by shape alone. The device's products are matmul.h's.
#pragma once

#include <cstdint>
#include <type_traits>

#include "kernels/cost.h"

namespace swinscope {

enum class Transpose : std::uint8_t { kNo, kYes };

// C[m, n] = alpha * op(A)[m, k] * op(B)[k, n] + beta * C, all row-major. op(A) is A or its transpose, so A is
// stored [m, k] or [k, m]. A leading dimension (elements from one stored row to the next) of 0 means densely
// packed.
struct GemmShape {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  Transpose transpose_a = Transpose::kNo;
  Transpose transpose_b = Transpose::kNo;
  std::int64_t lda = 0;
  std::int64_t ldb = 0;
  std::int64_t ldc = 0;
};

// C is counted as read when it is accumulated into (beta != 0).
OperationCost gemm_cost(const GemmShape& shape, bool accumulates, std::int64_t element_bytes);

namespace cpu {

// beta == 0 never reads C, which may hold NaN. k == 0 scales C by beta. T is float or double.
// Throws std::invalid_argument for a negative extent, a leading dimension shorter than its row, or one beyond
// INT_MAX.
template <typename T>
void gemm(const GemmShape& shape, std::type_identity_t<T> alpha, const T* a, const T* b, std::type_identity_t<T> beta,
          T* c);

}  // namespace cpu
}  // namespace swinscope
