// The part of CudaBackend that is a segmentation head's maps: convolutions, batch normalizations, resizes, fused taps.
#include <utility>

#include "kernels/adaptive_pool.h"
#include "kernels/batchnorm.h"
#include "kernels/tap_fusion.h"
#include "kernels/upsample.h"
#include "workloads/execute/cuda_backend.h"
#include "workloads/graph/cost.h"

namespace swinscope {

// Elements from pixel to pixel of a part of a wider map; 0: it is none.
std::int64_t CudaBackend::stride(TensorId id) const {
  const TensorId whole = graph_.at(id).whole;
  return whole == kNoTensor ? 0 : graph_.at(whole).channels();
}

void CudaBackend::convolution(const Op& op) {
  cuda::ConvolutionProblem problem;
  problem.shape = op.as<ConvolutionShape>();
  problem.operand_type = problem.result_type = type_;
  problem.tf32 = options_.precision == Precision::kTf32;
  const void *first = in(op, 0), *second = in(op, 1);
  void* result = out(op);
  if (op.backward && op.out[0] == kNoTensor) {
    problem.pass = cuda::ConvolutionPass::kWeightGradient;
    problem.result_type = ElementType::kFp32;
    second = in(op, 2);
    result = out(op, 1);
  } else if (op.backward) {
    problem.pass = cuda::ConvolutionPass::kInputGradient;
    first = in(op, 2);
  }
  const cuda::Convolution& convolution = convolutions_->prepare(problem, stream_);
  step(op, [=, &convolution](cuda::Stream stream) { convolution.run(first, second, result, stream); });
}

// A sum over the ranks of what only one of them has: all get everyone's moments.
void CudaBackend::batch_sums(const Op& op) {
  const auto shape = op.as<BatchNormShape>();
  const std::int64_t size = options_.ranks == nullptr ? 1 : options_.ranks->size();
  const std::int64_t rank = options_.ranks == nullptr ? 0 : options_.ranks->rank();
  const std::int64_t count = shape.sum_elements();
  step(op,
       [=, type = type_, x = in(op, 0), all = out_floats(op, 0), workspace = memory_.workspace](cuda::Stream stream) {
         if (size > 1) cuda::clear(all, size * count * 4, stream);
         cuda::batchnorm_moments(shape, type, x, all + rank * count, workspace, stream);
       });
}

void CudaBackend::all_reduce(const Op& op) {
  step(op, [=, ranks = options_.ranks, sums = out(op), count = graph_.at(op.out[0]).count()](cuda::Stream stream) {
    ranks->all_reduce_sum(sums, count, ReduceType::kFp32, stream);
  });
}

void CudaBackend::batch_statistics(const Op& op) {
  const auto shape = op.as<BatchNormShape>();
  if (op.kind == OpKind::kRunningStatistics) {
    return step(op, [=, mean = in_floats(op, 0), variance = in_floats(op, 1), statistics = out_floats(op, 0)](
                        cuda::Stream stream) { cuda::batchnorm_running(shape, mean, variance, statistics, stream); });
  }
  step(op, [=, moments = in_floats(op, 0), ranks = graph_.at(op.in[0]).count() / shape.sum_elements(),
            mean = in_floats(op, 1), variance = in_floats(op, 2), statistics = out_floats(op, 0)](cuda::Stream stream) {
    cuda::batchnorm_statistics(shape, moments, ranks, statistics, mean, variance, stream);
  });
}

void CudaBackend::batch_norm(const Op& op) {
  cuda::BatchNormTensors tensors;
  tensors.x = in(op, 0);
  tensors.statistics = in_floats(op, 1);
  tensors.gamma = in(op, 3);
  tensors.beta = in(op, 4);
  tensors.relu = op.relu;
  tensors.y = out(op);
  tensors.y_stride = stride(op.out[0]);
  step(op, [=, shape = op.as<BatchNormShape>(), type = type_](cuda::Stream stream) {
    cuda::batchnorm_forward(shape, type, tensors, stream);
  });
}

// The sums, or from them dx.
void CudaBackend::batch_norm_backward(const Op& op) {
  const bool sums = op.kind == OpKind::kBatchSums;
  cuda::BatchNormGradientTensors tensors;
  tensors.x = in(op, 0);
  tensors.statistics = in_floats(op, 1);
  tensors.gamma = in(op, 3);
  tensors.beta = in(op, 4);
  tensors.relu = op.relu;
  tensors.dy = at(op.in.back());
  tensors.dy_stride = stride(op.in.back());
  tensors.sums = sums ? out_floats(op, 0) : in_floats(op, 5);
  tensors.accumulate = accumulate_;
  tensors.workspace = memory_.workspace;
  if (sums) {
    tensors.dgamma = out_floats(op, 1);
    tensors.dbeta = out_floats(op, 2);
  } else {
    tensors.dx = out(op);
  }
  step(op, [=, shape = op.as<BatchNormShape>(), type = type_](cuda::Stream stream) {
    if (sums) {
      cuda::batchnorm_backward_sums(shape, type, tensors, stream);
    } else {
      cuda::batchnorm_backward(shape, type, tensors, stream);
    }
  });
}

void CudaBackend::resize(const Op& op) {
  const auto shape = op.as<UpsampleShape>();
  if (op.backward) {
    cuda::UpsampleGradientTensors tensors;
    tensors.dy = in(op, 0);
    tensors.dy_stride = stride(op.in[0]);
    tensors.dx = out(op);
    tensors.accumulate = in_place(op, 1);
    return step(op, [=, type = type_](cuda::Stream stream) { cuda::upsample_backward(shape, type, tensors, stream); });
  }
  const cuda::UpsampleTensors tensors{in(op, 0), in(op, 1), out(op), stride(op.out[0])};
  step(op, [=, type = type_](cuda::Stream stream) { cuda::upsample_forward(shape, type, tensors, stream); });
}

void CudaBackend::grid_pool(const Op& op) {
  const auto shape = op.as<AdaptivePoolShape>();
  step(op, [=, backward = op.backward, accumulate = in_place(op, 1), type = type_, from = in(op, 0),
            to = out(op)](cuda::Stream stream) {
    if (backward) {
      cuda::adaptive_pool_backward(shape, type, from, accumulate, to, stream);
    } else {
      cuda::adaptive_pool_forward(shape, type, from, to, stream);
    }
  });
}

// Slices of a weight as the convolution of the first part and the products of the others want them, and back.
void CudaBackend::tap_pack(const Op& op) {
  const GraphTensor& weight = graph_.at(op.backward ? op.out[0] : op.in[0]);
  void* const to = out(op);
  const void* const from = in(op, 0);
  if (std::holds_alternative<UpsampleShape>(op.shape)) {
    const auto copy = op.as<UpsampleShape>();
    const std::int64_t between = weight.channels();
    return step(op, [=, backward = op.backward, type = type_](cuda::Stream stream) {
      if (backward) {
        cuda::upsample_forward(copy, ElementType::kFp32, {from, nullptr, to, between}, stream);
      } else {
        cuda::upsample_backward(copy, type, {from, between, to, false, nullptr}, stream);
      }
    });
  }
  const auto shape = op.as<TapFusionShape>();
  if (op.backward) {
    return step(
        op, [=, accumulate = accumulate_, dpacked = in_floats(op, 0), dweight = out_floats(op, 0) + op.weight_offset](
                cuda::Stream stream) { cuda::tap_fusion_unpack(shape, dpacked, accumulate, dweight, stream); });
  }
  const auto* const slice = static_cast<const char*>(from) + op.weight_offset * element_bytes(type_);
  step(op, [=, type = type_](cuda::Stream stream) { cuda::tap_fusion_pack(shape, type, slice, to, stream); });
}

void CudaBackend::tap_product(const Op& op) {
  const auto& linear = op.as<LinearShape>();
  cuda::MatmulShape shape;
  shape.m = linear.rows;
  shape.n = linear.outputs;
  shape.k = linear.inputs;
  shape.operand_type = shape.result_type = type_;
  if (options_.precision == Precision::kTf32) shape.arithmetic = cuda::MatmulArithmetic::kTf32;
  cuda::MatmulOperands operands{in(op, 0), in(op, 1), nullptr, out(op)};
  if (op.backward && op.out[0] == kNoTensor) {
    shape.m = linear.outputs;
    shape.n = linear.inputs;
    shape.k = linear.rows;
    shape.transpose_a = true;
    shape.transpose_b = false;
    shape.result_type = ElementType::kFp32;
    operands = {in(op, 2), in(op, 0), nullptr, out(op, 1)};
  } else if (op.backward) {
    shape.n = linear.inputs;
    shape.k = linear.outputs;
    shape.transpose_b = false;
    operands.a = in(op, 2);
  }
  const cuda::Matmul& matmul = library_.prepare(shape, stream_);
  step(op, [=, &matmul](cuda::Stream stream) { matmul.run(operands, stream); });
}

void CudaBackend::tap_gather(const Op& op) {
  const auto shape = op.as<TapFusionShape>();
  if (op.backward) {
    return step(op, [=, type = type_, dy = in(op, 0), dtaps = out(op)](cuda::Stream stream) {
      cuda::tap_fusion_gather_backward(shape, type, dy, dtaps, stream);
    });
  }
  (void)in_place(op, 0);
  step(op, [=, type = type_, taps = in(op, 1), y = out(op)](cuda::Stream stream) {
    cuda::tap_fusion_gather(shape, type, taps, y, stream);
  });
}

}  // namespace swinscope
