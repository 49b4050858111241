// Times the ways to compute a GEMM (cuBLASLt's algorithms, our tiles), so that one is chosen: launches in a graph, on
// weights that come from memory as in a model.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "kernels/matmul.h"

namespace swinscope::cuda {

// Operands to time products on: random, and grown to the largest product.
class TuningData {
 public:
  void fit(const MatmulShape& shape, Stream stream);
  // Each launch takes the next of several weights, so that they come from memory as in a model.
  MatmulOperands operands(int launch) const;
  void* stream() const { return stream_.buffer.data(); }  // [m, n] like y, where results are normalized

 private:
  struct Operand {
    DeviceBuffer buffer;
    ElementType type = ElementType::kFp32;
    bool single_bytes = false;
  };

  static void grow(Operand& operand, std::int64_t bytes, ElementType type, bool single_bytes, Stream stream);

  Operand a_, weights_, y_, stream_, bias_, scales_, bytes_;
  std::int64_t weight_bytes_ = 1;
};

// Microseconds of one launch within a graph of several. `launch` gets their number and returns whether it was accepted;
// nothing where the first one is not.
std::optional<double> time_launches(const std::function<bool(int)>& launch, Stream stream);

// Grows when takes_own_kernel() or a kernel of our own changes.
inline constexpr int kChoiceRule = 3;
// Whether a product of `rows` rows goes to the kernel of our own, whose launch takes so long alone, or to cuBLASLt's;
// infinity: cannot do it. With few rows the own one may take longer: in a model it begins while the kernel before it
// ends, and lets the next one do so.
bool takes_own_kernel(std::int64_t rows, double own_microseconds, double lt_microseconds);

}  // namespace swinscope::cuda
