// Layer normalization of [rows, channels], forward and backward, on the CPU and on the device. The device's kernels
// also read rows through a patch merging, add a residual, or prefetch what later kernels read into the L2 cache.
#pragma once

#include <cstdint>

#include "kernels/byte_format.h"
#include "kernels/cost.h"
#include "kernels/delayed_scale.h"
#include "kernels/device.h"
#include "kernels/eviction.h"

namespace swinscope {

// Layer normalization over the last dimension (Ba, Kiros, Hinton 2016, arXiv:1607.06450), as
// torch.nn.LayerNorm:
//   mean = sum(x) / C,  rstd = 1 / sqrt(sum((x - mean)^2) / C + epsilon),  y = (x - mean) * rstd * gamma +
//   beta.
struct LayerNormShape {
  std::int64_t rows = 0;
  std::int64_t channels = 0;
  double epsilon = 1e-5;
};

OperationCost layernorm_forward_cost(const LayerNormShape& shape, std::int64_t element_bytes);
OperationCost layernorm_backward_cost(const LayerNormShape& shape, std::int64_t element_bytes);

namespace cpu {

// x, y: [rows, channels]; gamma, beta: [channels]; mean, rstd: [rows], saved for the backward pass.
// The variance is taken in a second pass over the row, so that rows with |mean| >> sigma keep their digits. y
// may be x.
template <typename T>
void layernorm_forward(const LayerNormShape& shape, const T* x, const T* gamma, const T* beta, T* y, T* mean, T* rstd);

// With xhat = (x - mean) * rstd and g = dy * gamma, sums over the channels of a row:
//   dx = rstd * (g - sum(g) / C - xhat * sum(g * xhat) / C)   (overwritten; may be dy),
//   dgamma += sum over rows of dy * xhat,  dbeta += sum over rows of dy   (added up in double).
template <typename T>
void layernorm_backward(const LayerNormShape& shape, const T* x, const T* gamma, const T* mean, const T* rstd,
                        const T* dy, T* dx, T* dgamma, T* dbeta);

}  // namespace cpu
struct PatchMergeShape;

namespace cuda {

struct LayerNormTensors {
  const void* x = nullptr;
  const void* gamma = nullptr;
  const void* beta = nullptr;
  void* y = nullptr;               // may be x or residual
  const void* residual = nullptr;  // where given, y = residual + scale * LN(x): Swin V2's residual connection
  // Stochastic depth: the scale of row r is sample_scale[r / rows_per_sample]; 1 where there is none. Needs a residual.
  const float* sample_scale = nullptr;
  std::int64_t rows_per_sample = 0;
  // What kernels after the next one read: brought into the L2 cache meanwhile, from compute capability 9.0 on. Begins
  // and ends at multiples of 16 bytes; nothing waits for it, and nothing that the kernel computes depends on it.
  const void* ahead = nullptr;
  std::int64_t ahead_bytes = 0;
  // These three not by layernorm_forward_plain().
  bool backwards = false;  // from the last rows to the first: the same bits
  Eviction x_eviction = Eviction::kNormal;
  Eviction y_eviction = Eviction::kNormal;
  // y / byte_scale in 8 bits, of 16-bit types: with a residual beside y, which is rounded first, else instead of it.
  void* bytes = nullptr;
  ByteFormat byte_format = ByteFormat::kNone;
  float byte_scale = 1.0F;
  // Beside y, with or without a residual; not together with `bytes`, and not of gathered rows.
  ByteCopy copy = {};
};

// One kernel that reads each row once, in 16-byte pieces, and keeps it in registers for both passes.
// gather: x is a map [batch, height, width, C] and a row is one merged token of 4C channels (patch_merge.h), read in
// place; shape.channels is then 4C. The number of channels must be a multiple of 8.
void layernorm_forward(const LayerNormShape& shape, ElementType type, const LayerNormTensors& tensors, Stream stream,
                       const PatchMergeShape* gather = nullptr);

// The same by the plainest kernel: a block for each row, three passes over memory, any number of channels.
void layernorm_forward_plain(const LayerNormShape& shape, ElementType type, const LayerNormTensors& tensors,
                             Stream stream);

struct LayerNormGradientTensors {
  const void* x = nullptr;  // of the forward pass; mean and standard deviation are taken again
  const void* gamma = nullptr;
  const void* dy = nullptr;
  const void* residual = nullptr;  // added to dx: the gradient that goes past the normalization. May be null
  void* dx = nullptr;              // may be dy or residual
  // As in the forward pass: dy counts sample_scale[r / rows_per_sample] times. Not together with a residual.
  const float* sample_scale = nullptr;
  std::int64_t rows_per_sample = 0;
  float* dgamma = nullptr;  // [channels], as dbeta and dx_sums
  float* dbeta = nullptr;
  // Where given: sums of dx over the rows, the gradient of a bias that was added to x. Only for rows that
  // layernorm_forward() has a kernel for, and not with a gather.
  float* dx_sums = nullptr;
  bool accumulate = false;  // the three are added to, else overwritten
  void* workspace = nullptr;
  bool backwards = false;  // from the last rows to the first: the same bits
  // Of dx; of 16-bit types, for rows that layernorm_forward() has a kernel for, and not with a gather.
  ByteCopy copy = {};
};

std::int64_t layernorm_backward_workspace_bytes(const LayerNormShape& shape);

// Rows as in layernorm_forward(). gather: x and dx are maps, dy holds rows of merged tokens; what a row's padding would
// get is dropped, and there is no residual. dgamma and dbeta are summed up in two stages in fixed order, so that the
// same input gives the same bits.
void layernorm_backward(const LayerNormShape& shape, ElementType type, const LayerNormGradientTensors& tensors,
                        Stream stream, const PatchMergeShape* gather = nullptr);

// V1's residual connection and the normalization after it in one pass: sum = x + scale * branch, y = LN(sum).
struct ResidualNormTensors {
  const void* x = nullptr;
  const void* branch = nullptr;
  const float* sample_scale = nullptr;  // null: 1. See LayerNormTensors
  std::int64_t rows_per_sample = 0;
  const void* gamma = nullptr;
  const void* beta = nullptr;
  void* sum = nullptr;  // may be x or branch
  void* y = nullptr;    // may be branch
  bool backwards = false;
  ByteCopy copy = {};  // of y; of 16-bit types
};
// The number of channels must be one that layernorm_forward() has a kernel for: those of all models.
void residual_layernorm_forward(const LayerNormShape& shape, ElementType type, const ResidualNormTensors& tensors,
                                Stream stream);

}  // namespace cuda

}  // namespace swinscope
