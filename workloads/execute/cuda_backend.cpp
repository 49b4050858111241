#include "workloads/execute/cuda_backend.h"

#include <algorithm>
#include <map>
#include <memory>
#include <stdexcept>
#include <utility>

#include "kernels/bias.h"
#include "kernels/continuous_bias.h"
#include "kernels/convert.h"
#include "kernels/gelu.h"
#include "kernels/linear.h"
#include "kernels/narrow_block.h"
#include "kernels/normalized_rows.h"
#include "kernels/patch_embed.h"
#include "kernels/patch_merge.h"
#include "kernels/pool.h"
#include "kernels/qkv_attention.h"
#include "kernels/quantize.h"
#include "kernels/residual.h"
#include "kernels/window_attention_steps.h"
#include "workloads/cuda/element_type.h"
#include "workloads/graph/cost.h"

namespace swinscope {

DataType data_type_of(Precision precision) {
  if (precision == Precision::kFp16 || byte_format_of(precision) != ByteFormat::kNone) return DataType::kFp16;
  return precision == Precision::kBf16 ? DataType::kBf16 : DataType::kFp32;
}

cuda::MatmulShape product_of(const Op& op, Precision precision) {
  const auto& linear = op.as<LinearShape>();
  cuda::MatmulShape shape;
  shape.m = linear.rows;
  shape.n = linear.outputs;
  shape.k = linear.inputs;
  shape.operand_type = shape.result_type = element_type_of(data_type_of(precision));
  if (precision == Precision::kTf32) shape.arithmetic = cuda::MatmulArithmetic::kTf32;
  if (op.in[2] != kNoTensor) shape.epilogue = op.gelu ? cuda::Epilogue::kBiasGelu : cuda::Epilogue::kBias;
  shape.accumulate = op.input(3) != kNoTensor;
  const ByteFormat bytes = byte_format_of(precision);
  if (op.to_bytes || op.beside) shape.byte_result = bytes;
  if (op.kind == OpKind::kQuantizedLinear) {
    shape.arithmetic = bytes == ByteFormat::kInt8 ? cuda::MatmulArithmetic::kInt8 : cuda::MatmulArithmetic::kFp8;
    shape.scaled = true;
  }
  return shape;
}

CudaBackend::CudaBackend(const Graph& graph, const CudaBackendOptions& options, DeviceMemory memory,
                         cuda::MatmulLibrary& library, cuda::ConvolutionLibrary* convolutions, cuda::Stream stream)
    : graph_(graph),
      options_(options),
      product_precision_(options.precision),
      memory_(std::move(memory)),
      library_(library),
      convolutions_(convolutions),
      stream_(stream),
      type_(element_type_of(graph.type)),
      serpentine_(options.features.serpentine) {
  options_.precision = precision_around(options.precision);
}

std::vector<DeviceStep> CudaBackend::steps_of(const std::vector<Op>& ops) {
  for (const Op& op : ops)
    emit(op);
  return std::exchange(steps_, {});
}

// A section of the model is done where the next one's ops begin: the gradients of its parameters are final then.
BackwardSteps CudaBackend::backward(bool accumulate, const ParameterLayout& parameters) {
  accumulate_ = accumulate;
  std::map<int, std::int64_t> ends;  // of each section's gradients
  for (const Op& op : graph_.forward) {
    for (const TensorId id : op.in) {
      if (id == kNoTensor || graph_.at(id).role != TensorRole::kParameter) continue;
      const ParameterInfo& tensor = parameters.find(graph_.at(id).name);
      ends[op.section] = std::max(ends[op.section], tensor.offset + tensor.count);
    }
  }
  BackwardSteps result;
  const std::vector<Op>& ops = graph_.backward;
  for (std::size_t i = 0; i < ops.size(); ++i) {
    emit(ops[i]);
    const bool last = i + 1 == ops.size();
    if (last || ops[i + 1].section != ops[i].section)
      result.marks.push_back({steps_.size(), last ? parameters.flat_count() : ends[ops[i].section]});
  }
  result.steps = std::exchange(steps_, {});
  return result;
}

bool CudaBackend::in_place(const Op& op, std::size_t addend) const {
  if (op.input(addend) == kNoTensor) return false;
  if (in(op, addend) != out(op)) throw std::logic_error("a sum that is not in place: " + op.path);
  return true;
}

void CudaBackend::step(const Op& op, Run run, bool backwards) {
  const bool bytes = op.kind == OpKind::kQuantizedLinear || op.kind == OpKind::kByteWeightGradient;
  step(op.path, payload_of(graph_, op, bytes ? product_precision_ : options_.precision), std::move(run), backwards);
}

void CudaBackend::step(const std::string& path, const OperationPayload& payload, Run run, bool backwards) {
  steps_.push_back({RangeName(path), payload, std::move(run)});
  serpentine_.went(backwards);
}

void CudaBackend::emit(const Op& op) {
  if (op.backward || op.kind == OpKind::kAdd || op.kind == OpKind::kZero) return emit_backward(op);
  const ElementType type = type_;
  const void* const x = in(op, 0);
  void* const y = out(op);
  const std::int64_t count = graph_.at(op.out[0]).count();
  switch (op.kind) {
    case OpKind::kLinear:
      return linear(op);
    case OpKind::kQuantize:
    case OpKind::kQuantizeWeight:
    case OpKind::kCountMagnitudes:
      return quantize(op);
    case OpKind::kQuantizedLinear:
      return quantized_linear(op);
    case OpKind::kAdvanceScales:
      return advance_scales(op);
    case OpKind::kByteWeights:
      return byte_weights(op);
    case OpKind::kByteWeightGradient:
      return byte_weight_gradient(op);
    case OpKind::kLayerNorm:
      return layernorm(op);
    case OpKind::kResidualNorm:
      return residual_norm(op);
    case OpKind::kWindowAttention:
      return op.by_steps ? attention_by_steps(op) : attention(op);
    case OpKind::kQkvAttention:
      return qkv_attention(op);
    case OpKind::kExpandBias:
      return expand_bias(op);
    case OpKind::kJointBias:
      return joint_bias(op);
    case OpKind::kPositionBias:
      return position_bias(op);
    case OpKind::kWindowRoll:
    case OpKind::kWindowPartition:
    case OpKind::kWindowReverse:
      return copy_windows(op);
    case OpKind::kNarrowQkv:
    case OpKind::kNarrowMlp:
    case OpKind::kNarrowBlockEnd:
      return narrow(op);
    case OpKind::kNormalizedRows:
      return normalized_rows(op);
    case OpKind::kPatchColumns:
    case OpKind::kNormalizedPatchEmbed:
      return patches(op);
    case OpKind::kGelu:
      return step(
          op,
          [=, backwards = turn(true), copy = copy_of(op), wide = wide(op)](cuda::Stream stream) {
            cuda::gelu_forward(count, type, x, wide, stream, backwards, copy);
          },
          turn(true));
    case OpKind::kResidual:
      return step(op, [=, shape = op.as<ResidualShape>(), branch = in(op, 1), scale = in_floats(op, 2)](
                          cuda::Stream stream) { cuda::residual_forward(shape, type, x, branch, scale, y, stream); });
    case OpKind::kBias:
      return step(op, [=, shape = BiasShape{rows(op), count / rows(op)}, bias = in(op, 1)](cuda::Stream stream) {
        cuda::bias_forward(shape, type, x, bias, y, stream);
      });
    case OpKind::kPatchMerge:
      return step(op, [=, shape = op.as<PatchMergeShape>()](cuda::Stream stream) {
        cuda::patch_merge_forward(shape, type, x, y, stream);
      });
    case OpKind::kPool:
      return step(
          op, [=, shape = op.as<PoolShape>()](cuda::Stream stream) { cuda::pool_forward(shape, type, x, y, stream); });
    default:
      return emit_map(op);
  }
}

void CudaBackend::emit_map(const Op& op) {
  switch (op.kind) {
    case OpKind::kConvolution:
      return convolution(op);
    case OpKind::kBatchSums:
      return op.backward ? batch_norm_backward(op) : batch_sums(op);
    case OpKind::kAllReduce:
      return all_reduce(op);
    case OpKind::kBatchStatistics:
    case OpKind::kRunningStatistics:
      return batch_statistics(op);
    case OpKind::kBatchNorm:
      return op.backward ? batch_norm_backward(op) : batch_norm(op);
    case OpKind::kResize:
      return resize(op);
    case OpKind::kGridPool:
      return grid_pool(op);
    case OpKind::kTapPack:
      return tap_pack(op);
    case OpKind::kTapProduct:
      return tap_product(op);
    case OpKind::kTapGather:
      return tap_gather(op);
    default:
      throw std::logic_error("CudaBackend: no kernel for " + op.path);
  }
}

// Inference: the classifier in fp32 has a kernel of its own, with shorter sums.
void CudaBackend::linear(const Op& op) {
  const LinearShape linear = op.as<LinearShape>();
  cuda::MatmulOperands operands{in(op, 0), in(op, 1), in(op, 2), out(op)};
  const bool classifies = op.out[0] == graph_.find("logits") && graph_.at(op.out[0]).shape.size() == 2;
  if (options_.weights != nullptr && options_.precision == Precision::kFp32 && classifies) {
    return step(op, [=, type = type_](cuda::Stream stream) {
      cuda::linear_forward(linear, type, operands.a, operands.b, operands.bias, operands.y, stream);
    });
  }
  const cuda::MatmulShape shape = product_of(op, product_precision_);
  operands.gamma = in(op, 4);
  operands.beta = in(op, 5);
  multiply(op, shape, operands);
}

// Results in 8 bits have a scale of their own, where they stand.
void CudaBackend::multiply(const Op& op, const cuda::MatmulShape& shape, cuda::MatmulOperands operands) {
  (void)in_place(op, 3);
  const TensorId bytes = op.beside ? op.out[1] : op.out[0];
  operands.result_scale = graph_.at(bytes).scale;
  if (op.beside) operands.bytes = at(bytes);
  const cuda::Matmul* const matmul = operands.gamma == nullptr ? &library_.prepare(shape, stream_)
                                                               : library_.prepare_result_normalized(shape, stream_);
  operands.backwards = turn(matmul->turns());
  step(
      op, [=](cuda::Stream stream) { matmul->run(operands, stream); }, operands.backwards);
}

void CudaBackend::quantized_linear(const Op& op) {
  cuda::MatmulOperands operands{in(op, 0), in(op, 1), in(op, 2), out(op)};
  operands.scales = in_floats(op, 4);
  operands.gamma = in(op, 5);
  operands.beta = in(op, 6);
  multiply(op, product_of(op, product_precision_), operands);
}

void CudaBackend::quantize(const Op& op) {
  const std::int64_t count = graph_.at(op.in[0]).count();
  const ElementType type = type_;
  const void* const x = in(op, 0);
  void* const y = out(op);
  if (op.kind == OpKind::kQuantizeWeight) {
    return step(op, [=, shape = op.as<WeightShape>(), factors = out_floats(op, 1)](cuda::Stream stream) {
      cuda::quantize_weight(shape, type, x, y, factors, stream);
    });
  }
  if (op.kind == OpKind::kQuantize && graph_.at(op.out[0]).scale_slot >= 0) {
    return step(
        op, [=, copy = copy_to(op.out[0])](cuda::Stream stream) { cuda::copy_to_bytes(count, type, x, copy, stream); });
  }
  if (op.kind == OpKind::kQuantize) {
    const GraphTensor& bytes = graph_.at(op.out[0]);
    return step(op, [=, format = byte_format_of(bytes.type), scale = bytes.scale](cuda::Stream stream) {
      cuda::quantize(count, type, x, format, scale, y, stream);
    });
  }
  step(op, [=](cuda::Stream stream) { cuda::count_magnitudes(count, x, static_cast<std::uint32_t*>(y), stream); });
}

cuda::ByteCopy CudaBackend::copy_to(TensorId bytes) const {
  const GraphTensor& tensor = graph_.at(bytes);
  return {at(bytes), scale_at(tensor.scale_slot), byte_format_of(tensor.type)};
}

cuda::ByteCopy CudaBackend::copy_of(const Op& op) const {
  if (op.beside) return copy_to(op.out[bytes_index(op)]);
  return graph_.only_in_bytes(op) ? copy_to(op.out[rounded_index(op)]) : cuda::ByteCopy{};
}

void CudaBackend::advance_scales(const Op& op) {
  step(op, [=, count = graph_.at(op.out[0]).shape[0], format = op.as<WeightShape>().format,
            scales = scale_at(0)](cuda::Stream stream) { cuda::advance_scales(count, format, scales, stream); });
}

void CudaBackend::byte_weights(const Op& op) {
  std::vector<cuda::ByteWeight> weights;
  for (std::size_t i = 0; i < op.out.size(); i += kByteWeightTensors) {
    const TensorId weight = op.in[1 + i / kByteWeightTensors];
    cuda::ByteWeight one{graph_.at(weight).shape[0], graph_.at(weight).shape[1], at(weight)};
    one.input_scale = scale_at(graph_.at(op.out[i + 1]).scale_slot);
    one.bytes = out(op, i);
    one.factors = out_floats(op, i + 1);
    one.transposed = out(op, i + 2);
    one.transposed_factors = out_floats(op, i + 3);
    if (op.out[i + 3] != kNoTensor) one.gradient_scale = scale_at(graph_.at(op.out[i + 3]).scale_slot);
    weights.push_back(one);
  }
  const auto all = std::make_shared<const cuda::ByteWeights>(weights, op.as<WeightShape>().format, stream_);
  step(op, [=](cuda::Stream stream) { all->run(stream); });
}

void CudaBackend::layernorm(const Op& op) {
  cuda::LayerNormTensors tensors{in(op, 0), in(op, 1), in(op, 2), wide(op), in(op, 3)};
  const auto shape = op.as<LayerNormShape>();
  tensors.sample_scale = in_floats(op, 4);
  if (op.to_bytes) {
    const TensorId bytes = tensors.residual == nullptr ? op.out[0] : op.out[1];
    tensors.bytes = at(bytes);
    tensors.byte_format = byte_format_of(graph_.at(bytes).type);
    tensors.byte_scale = graph_.at(bytes).scale;
  }
  tensors.copy = copy_of(op);
  tensors.rows_per_sample = shape.rows / graph_.at(op.out[0]).shape[0];
  if (op.gather) {
    return step(op, [=, type = type_, gather = *op.gather](cuda::Stream stream) {
      cuda::layernorm_forward(shape, type, tensors, stream, &gather);
    });
  }
  if (op.ahead_first != kNoTensor) {
    const DeviceWeights::Range ahead =
        options_.weights->ahead(graph_.at(op.ahead_first).name, graph_.at(op.ahead_last).name);
    tensors.ahead = ahead.begin;
    tensors.ahead_bytes = ahead.bytes;
  }
  tensors.x_eviction = op.in_policy;
  tensors.y_eviction = op.out_policy;
  const bool plain = !options_.features.layernorm;
  tensors.backwards = turn(!plain);
  const auto forward = plain ? [](const LayerNormShape& s, ElementType t, const cuda::LayerNormTensors& all,
                                  cuda::Stream stream) { cuda::layernorm_forward_plain(s, t, all, stream); }
                             : [](const LayerNormShape& s, ElementType t, const cuda::LayerNormTensors& all,
                                  cuda::Stream stream) { cuda::layernorm_forward(s, t, all, stream); };
  step(
      op, [=, type = type_](cuda::Stream stream) { forward(shape, type, tensors, stream); }, tensors.backwards);
}

void CudaBackend::residual_norm(const Op& op) {
  const auto shape = op.as<LayerNormShape>();
  const cuda::ResidualNormTensors tensors{
      in(op, 0),  in(op, 1),  in_floats(op, 2), shape.rows / graph_.at(op.out[0]).shape[0],
      in(op, 3),  in(op, 4),  out(op, 0),       wide(op),
      turn(true), copy_of(op)};
  step(
      op, [=, type = type_](cuda::Stream stream) { cuda::residual_layernorm_forward(shape, type, tensors, stream); },
      tensors.backwards);
}

void CudaBackend::patches(const Op& op) {
  const auto shape = op.as<PatchEmbedShape>();
  const ElementType type = type_;
  if (op.kind == OpKind::kPatchColumns) {
    return step(op, [=, images = in(op, 0), columns = out(op)](cuda::Stream stream) {
      cuda::patch_columns(shape, type, images, columns, stream);
    });
  }
  const cuda::NormalizedPatchEmbedTensors tensors{in(op, 0), in(op, 1), in(op, 2), in(op, 3), in(op, 4), out(op)};
  step(op, [=](cuda::Stream stream) { cuda::normalized_patch_embed_forward(shape, type, tensors, stream); });
}

void CudaBackend::normalized_rows(const Op& op) {
  const GraphTensor& y = graph_.at(op.out[0]);
  const cuda::NormalizedRowsShape shape{y.rows(),  graph_.at(op.in[0]).channels(), y.channels(), op.gelu, type_,
                                        turn(true)};
  const cuda::NormalizedRowsTensors tensors{in(op, 0), in(op, 1), in(op, 2), in(op, 3), in(op, 4), out(op)};
  step(
      op, [=](cuda::Stream stream) { cuda::normalized_rows_forward(shape, tensors, stream); }, shape.backwards);
}

void CudaBackend::narrow(const Op& op) {
  const auto weights = [&](std::size_t first) {
    return cuda::NarrowMlpWeights{in(op, first),     in(op, first + 1), in(op, first + 2),
                                  in(op, first + 3), in(op, first + 4), in(op, first + 5)};
  };
  const cuda::NarrowShape shape{rows(op), type_, op.kind != OpKind::kNarrowMlp && turn(true)};
  Run run;
  if (op.kind == OpKind::kNarrowQkv) {
    const cuda::NarrowQkvTensors tensors{in(op, 0), in(op, 1), in(op, 2), in(op, 3), in(op, 4), out(op)};
    run = [=](cuda::Stream stream) { cuda::narrow_qkv_forward(shape, tensors, stream); };
  } else if (op.kind == OpKind::kNarrowMlp) {
    const cuda::NarrowMlpTensors tensors{in(op, 0), weights(1), out(op)};
    run = [=](cuda::Stream stream) { cuda::narrow_mlp_forward(shape, tensors, stream); };
  } else {
    const cuda::NarrowBlockEndTensors tensors{in(op, 0), in(op, 1), in(op, 2), weights(4), in(op, 3), out(op)};
    run = [=](cuda::Stream stream) { cuda::narrow_block_end_forward(shape, tensors, stream); };
  }
  step(op, std::move(run), shape.backwards);
}

}  // namespace swinscope
