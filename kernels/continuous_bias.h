// The network that computes Swin V2's relative position bias: two layers from an offset within the window to one value
// a head, in fp32, forward and backward, on the CPU and on the device.
#pragma once

#include <cstdint>

#include "kernels/cost.h"
#include "kernels/device.h"
#include "kernels/window.h"

namespace swinscope {

// Log-spaced continuous relative position bias of Swin V2 (Liu et al. 2022, arXiv:2111.09883, section 3.3):
//   table[row, head] = 16 * sigmoid(relu(coordinates[row] * weight1^T + bias1) * weight2^T).
// A row is an offset (dy, dx) between two slots, in the order of bias_table_row(). Its coordinates are
//   c = 8 * d / max(extent - 1, 1),   sign(c) * log2(1 + |c|) / log2(8),
// where extent is the pretrained window's or, where that is zero, the window's. The table goes to
// window_attention.
struct ContinuousBiasShape {
  Extent2 window{};
  std::int64_t heads = 0;
  std::int64_t hidden = 512;
  Extent2 pretrained_window{};  // {0, 0}: the window itself

  constexpr std::int64_t rows() const { return bias_table_rows(window); }
  // Elements of T that continuous_bias_backward needs as workspace.
  constexpr std::int64_t backward_workspace() const { return rows() * (hidden + heads); }
};

// The products of the two layers. They depend on the parameters and not on the batch, so the usual count of a
// model's FLOPs per image leaves them out: inference computes the table once, when the weights are loaded.
OperationCost continuous_bias_forward_cost(const ContinuousBiasShape& shape, std::int64_t element_bytes);
OperationCost continuous_bias_backward_cost(const ContinuousBiasShape& shape, std::int64_t element_bytes);

namespace cpu {

// coordinates: [rows, 2], (vertical, horizontal).
template <typename T>
void continuous_bias_coordinates(const ContinuousBiasShape& shape, T* coordinates);

// weight1: [hidden, 2]; bias1: [hidden]; weight2: [heads, hidden]; coordinates: [rows, 2] and activations:
// [rows, hidden] are written and saved for the backward pass; table: [rows, heads].
template <typename T>
void continuous_bias_forward(const ContinuousBiasShape& shape, const T* weight1, const T* bias1, const T* weight2,
                             T* coordinates, T* activations, T* table);

// All three gradients are accumulated into.
template <typename T>
void continuous_bias_backward(const ContinuousBiasShape& shape, const T* weight2, const T* coordinates,
                              const T* activations, const T* table, const T* dtable, T* dweight1, T* dbias1,
                              T* dweight2, T* workspace);

}  // namespace cpu
namespace cuda {

// As the CPU's, in fp32 and as one kernel; nothing is kept for a backward pass.
void continuous_bias_forward(const ContinuousBiasShape& shape, const float* weight1, const float* bias1,
                             const float* weight2, float* table, Stream stream);

struct ContinuousBiasGradientTensors {
  const float* weight1 = nullptr;
  const float* bias1 = nullptr;
  const float* weight2 = nullptr;
  const float* table = nullptr;   // of the forward pass
  const float* dtable = nullptr;  // [rows, heads]
  float* dweight1 = nullptr;
  float* dbias1 = nullptr;
  float* dweight2 = nullptr;
  bool accumulate = false;  // the gradients are added to, else overwritten
};

// The hidden layer is computed again; no workspace.
void continuous_bias_backward(const ContinuousBiasShape& shape, const ContinuousBiasGradientTensors& tensors,
                              Stream stream);

}  // namespace cuda
}  // namespace swinscope
