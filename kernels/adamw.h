// The AdamW update, the norm of all gradients together and the clipping factor: definition, cost and the reference on
// the CPU. The device has one launch for all tensors of a model, multi_tensor_adamw.h.
#pragma once

#include <cstdint>
#include <span>

#include "kernels/cost.h"

namespace swinscope {

// AdamW (Loshchilov, Hutter 2019, arXiv:1711.05101, algorithm 2 with decoupled decay scaled by the learning
// rate, as torch.optim.AdamW). For step t = 1, 2, ... and gradient g * gradient_scale:
//   p *= 1 - lr * weight_decay
//   m  = beta1 * m + (1 - beta1) * g,   v = beta2 * v + (1 - beta2) * g^2
//   p -= lr * (m / (1 - beta1^t)) / (sqrt(v / (1 - beta2^t)) + epsilon)
struct AdamWOptions {
  double learning_rate = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  std::int64_t step = 1;        // of this call, from 1
  double gradient_scale = 1.0;  // clipping and loss-scale removal, applied on the fly
};

template <typename T>
struct AdamWTensor {
  T* parameter = nullptr;
  const T* gradient = nullptr;
  T* first_moment = nullptr;  // m; zero before step 1
  T* second_moment = nullptr;
  std::int64_t count = 0;
  double weight_decay = 0.0;
};

// A view of one gradient tensor.
template <typename T>
struct GradientTensor {
  const T* gradient = nullptr;
  std::int64_t count = 0;
};

OperationCost adamw_cost(std::int64_t count, std::int64_t element_bytes);
OperationCost gradient_norm_cost(std::int64_t count, std::int64_t element_bytes);

// The factor that clips a gradient of this global norm to max_norm: min(1, max_norm / (norm + 1e-6)), as
// torch.nn.utils.clip_grad_norm_. NaN if the norm is not finite: the caller then skips the step.
double clip_factor(double norm, double max_norm);

namespace cpu {

// Throws std::invalid_argument for a step below 1.
template <typename T>
void adamw_step(const AdamWOptions& options, std::span<const AdamWTensor<T>> tensors);

// Euclidean norm over all tensors together, squared and added up in double. Not finite if any element is not.
template <typename T>
double gradient_norm(std::span<const GradientTensor<T>> tensors);

}  // namespace cpu
}  // namespace swinscope
