// Batch normalization of NHWC maps, also synchronized over ranks, on the CPU and on the device. Each direction has two
// halves, sums over the rows and then the map, so that the caller can add the sums of all ranks between them.
#pragma once

#include <cstdint>

#include "kernels/cost.h"
#include "kernels/device.h"

namespace swinscope {

// Batch normalization (Ioffe and Szegedy 2015, arXiv:1502.03167) of rows [rows, channels], as torch.nn.BatchNorm2d on
// an NHWC map: y = (x - mean) * rstd * gamma + beta, with the mean and the biased variance of the batch in training and
// the running ones in evaluation.
//
// Synchronized over ranks as torch.nn.SyncBatchNorm: what a rank contributes are plain sums, forward and backward, that
// the caller adds up over the ranks between the two halves of each direction. Alone there is nothing to add.
struct BatchNormShape {
  std::int64_t rows = 0;  // of this rank
  std::int64_t channels = 0;
  double epsilon = 1e-5;
  double momentum = 0.1;  // running = (1 - momentum) * running + momentum * new

  // Elements of the sums: forward sum of x, sum of x^2, and at the end the number of rows; backward sum of dy and sum
  // of dy * normalized x, and again the number of rows.
  constexpr std::int64_t sum_elements() const { return 2 * channels + 1; }
};

OperationCost batchnorm_sums_cost(const BatchNormShape& shape, std::int64_t element_bytes);
OperationCost batchnorm_forward_cost(const BatchNormShape& shape, std::int64_t element_bytes);
OperationCost batchnorm_backward_sums_cost(const BatchNormShape& shape, std::int64_t element_bytes);
OperationCost batchnorm_backward_cost(const BatchNormShape& shape, std::int64_t element_bytes);

namespace cpu {

// sums: [shape.sum_elements()], overwritten. In double, whose digits bear the subtraction that makes a variance of them
// also for means a thousand times the standard deviation.
template <typename T>
void batchnorm_sums(const BatchNormShape& shape, const T* x, double* sums);

// mean, rstd: [channels], from sums over all ranks. The running statistics, null where they are not wanted, take the
// unbiased variance, as torch's. Throws std::invalid_argument when the sums count no row.
template <typename T>
void batchnorm_statistics(const BatchNormShape& shape, const double* sums, T* mean, T* rstd, T* running_mean,
                          T* running_variance);

// What evaluation normalizes with: mean = running_mean, rstd = 1 / sqrt(running_variance + epsilon).
template <typename T>
void batchnorm_running(const BatchNormShape& shape, const T* running_mean, const T* running_variance, T* mean, T* rstd);

// y may be x.
template <typename T>
void batchnorm_forward(const BatchNormShape& shape, const T* x, const T* mean, const T* rstd, const T* gamma,
                       const T* beta, T* y);

// sums: overwritten. dgamma += this rank's sum of dy * normalized x, dbeta += that of dy: like every gradient they are
// added up over the ranks with the others.
template <typename T>
void batchnorm_backward_sums(const BatchNormShape& shape, const T* x, const T* mean, const T* rstd, const T* dy,
                             double* sums, T* dgamma, T* dbeta);

// dx, overwritten, from sums over all ranks; may be dy.
template <typename T>
void batchnorm_backward(const BatchNormShape& shape, const T* x, const T* mean, const T* rstd, const T* gamma,
                        const double* sums, const T* dy, T* dx);

}  // namespace cpu
namespace cuda {

// In fp32. A rank's moments, [sum_elements()], are the mean of each channel, the sum of the squares of the distances to
// it, and the number of rows: unlike plain sums they keep their digits where the mean is large, and those of several
// ranks are merged one after another (Chan, Golub, LeVeque 1979). Two-stage sums in fixed order, no atomics.
std::int64_t batchnorm_workspace_bytes(const BatchNormShape& shape);
void batchnorm_moments(const BatchNormShape& shape, ElementType type, const void* x, float* moments, void* workspace,
                       Stream stream);

// moments: [ranks, sum_elements()], merged in this order. statistics: [sum_elements()], mean and rstd of each channel
// and the number of all rows. The running statistics, null where they are not wanted, as the CPU's.
void batchnorm_statistics(const BatchNormShape& shape, const float* moments, std::int64_t ranks, float* statistics,
                          float* running_mean, float* running_variance, Stream stream);

// Those of evaluation; the number of rows is 0.
void batchnorm_running(const BatchNormShape& shape, const float* running_mean, const float* running_variance,
                       float* statistics, Stream stream);

// Pointers to maps must be aligned to 16 bytes where channels and strides are multiples of 16 bytes, which is what is
// fast.
struct BatchNormTensors {
  const void* x = nullptr;
  const float* statistics = nullptr;
  const void* gamma = nullptr;  // of the element type, as beta
  const void* beta = nullptr;
  bool relu = false;          // y = max(normalized x, 0)
  void* y = nullptr;          // may be x
  std::int64_t y_stride = 0;  // elements from row to row: y is a slice of a wider map. 0: channels
};

void batchnorm_forward(const BatchNormShape& shape, ElementType type, const BatchNormTensors& tensors, Stream stream);

struct BatchNormGradientTensors {
  const void* x = nullptr;  // of the forward pass, as all that it read
  const float* statistics = nullptr;
  const void* gamma = nullptr;
  const void* beta = nullptr;
  bool relu = false;  // dy counts where the forward pass's y is above 0, which is found out again
  const void* dy = nullptr;
  std::int64_t dy_stride = 0;  // as y_stride
  // [2, channels]: sum of dy and of dy * normalized x. This rank's at first, then those of all ranks.
  float* sums = nullptr;
  float* dgamma = nullptr;  // [channels], as dbeta: of this rank
  float* dbeta = nullptr;
  bool accumulate = false;  // dgamma and dbeta are added to, else overwritten
  void* dx = nullptr;       // may be dy if that is no slice
  void* workspace = nullptr;
};

// sums, dgamma and dbeta.
void batchnorm_backward_sums(const BatchNormShape& shape, ElementType type, const BatchNormGradientTensors& tensors,
                             Stream stream);
// dx, from sums over all ranks.
void batchnorm_backward(const BatchNormShape& shape, ElementType type, const BatchNormGradientTensors& tensors,
                        Stream stream);

}  // namespace cuda
}  // namespace swinscope
