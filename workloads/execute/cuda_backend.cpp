#include "workloads/execute/cuda_backend.h"

#include <algorithm>
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
#include "kernels/residual.h"
#include "kernels/window_attention_steps.h"
#include "workloads/graph/cost.h"
#include "workloads/models/model.h"
#include "workloads/passes/passes.h"

namespace swinscope {
namespace {

DataType data_type_of(Precision precision) {
  if (precision == Precision::kFp16) return DataType::kFp16;
  return precision == Precision::kBf16 ? DataType::kBf16 : DataType::kFp32;
}

cuda::MatmulShape product_of(const Op& op, Precision precision, ElementType type) {
  const auto& linear = op.as<LinearShape>();
  cuda::MatmulShape shape;
  shape.m = linear.rows;
  shape.n = linear.outputs;
  shape.k = linear.inputs;
  shape.operand_type = shape.result_type = type;
  if (precision == Precision::kTf32) shape.arithmetic = cuda::MatmulArithmetic::kTf32;
  if (op.in[2] != kNoTensor) shape.epilogue = op.gelu ? cuda::Epilogue::kBiasGelu : cuda::Epilogue::kBias;
  shape.accumulate = op.input(3) != kNoTensor;
  return shape;
}

bool tanh_gelu(const DeviceModelOptions& options) {
  if (options.gelu == GeluForm::kErf) return false;
  return options.gelu == GeluForm::kTanh || data_bytes(data_type_of(options.precision)) == 2;
}

}  // namespace

std::int64_t device_activation_bytes(const SwinConfig& config, std::int64_t batch, const DeviceModelOptions& options) {
  // Without kernels that keep more to themselves.
  const Graph graph = device_graph(config, batch, options, {}, [](const Op&, bool) { return false; });
  return plan_memory(graph, false).bytes + graph.at(graph.find("images")).bytes() + batch * config.classes * 4;
}

Graph device_graph(const SwinConfig& config, std::int64_t batch, const DeviceModelOptions& options,
                   const cuda::DeviceInfo& gpu,
                   const std::function<bool(const Op& linear, bool accumulates)>& normalizes_result) {
  Graph graph = build_model(config, batch, {}, data_type_of(options.precision));
  PassContext context;
  context.features = options.features;
  context.tanh_gelu = tanh_gelu(options);
  context.gpu = gpu;
  context.normalizes_result = normalizes_result;
  optimize(graph, context);
  return graph;
}

CudaBackend::CudaBackend(const SwinConfig& config, std::int64_t batch, const DeviceModelOptions& options,
                         DeviceWeights& weights, cuda::MatmulLibrary& library, cuda::Stream stream,
                         const cuda::DeviceInfo& gpu)
    : options_(options),
      type_(element_type_of(data_type_of(options.precision))),
      weights_(weights),
      library_(library),
      stream_(stream),
      graph_(device_graph(config, batch, options, gpu,
                          [this](const Op& op, bool accumulates) {
                            cuda::MatmulShape shape = product_of(op, options_.precision, type_);
                            shape.accumulate = accumulates;
                            return library_.prepare_result_normalized(shape, stream_) != nullptr;
                          })),
      serpentine_(options.features.serpentine) {
  place();
  once_ = true;
  for (const Op& op : graph_.once)
    emit(op);
  once_ = false;
  for (const Op& op : graph_.forward)
    emit(op);
}

// Parameters lie where the weights are, and what follows from them alone beside them; all else within the arena.
void CudaBackend::place() {
  const MemoryPlan plan = plan_memory(graph_, false);
  arena_ = cuda::DeviceBuffer(plan.bytes);
  images_ = cuda::DeviceBuffer(graph_.at(graph_.find("images")).bytes());
  for (std::size_t i = 0; i < graph_.tensors.size(); ++i) {
    const GraphTensor& tensor = graph_.tensors[i];
    void* place = nullptr;
    if (tensor.role == TensorRole::kInput) place = images_.data();
    if (tensor.role == TensorRole::kConstant) place = weights_.reserve(constant_bytes(static_cast<TensorId>(i)));
    if (tensor.role == TensorRole::kParameter) {
      const bool floats = tensor.type == DataType::kFp32 && graph_.type != DataType::kFp32;
      place = floats ? const_cast<float*>(weights_.find_floats(tensor.name))  // NOLINT: parameters are read only
                     : const_cast<void*>(weights_.find(tensor.name));         // NOLINT
    }
    if (place == nullptr && plan.offsets[i] >= 0) place = static_cast<char*>(arena_.data()) + plan.offsets[i];
    memory_.push_back(place);
  }
}

// The bias of all pairs of tokens has the form in which the attention kernel reads it.
std::int64_t CudaBackend::constant_bytes(TensorId id) const {
  for (const std::vector<Op>* const ops : {&graph_.once, &graph_.forward})
    for (const Op& op : *ops)
      if (op.out[0] == id && op.kind == OpKind::kExpandBias && !op.by_steps)
        return cuda::attention_bias_bytes(op.as<WindowAttentionShape>(), type_);
  return graph_.at(id).bytes();
}

void* CudaBackend::at(TensorId id) const { return id == kNoTensor ? nullptr : memory_[static_cast<std::size_t>(id)]; }

void CudaBackend::step(const Op& op, Run run, bool backwards) {
  if (once_) return run(stream_);
  steps_.push_back({RangeName(op.path), payload_of(graph_, op, options_.precision), std::move(run)});
  serpentine_.went(backwards);
}

void CudaBackend::emit(const Op& op) {
  const ElementType type = type_;
  const void* const x = in(op, 0);
  void* const y = out(op);
  const std::int64_t count = graph_.at(op.out[0]).count();
  switch (op.kind) {
    case OpKind::kLinear:
      return linear(op);
    case OpKind::kLayerNorm:
      return layernorm(op);
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
      return step(op, [=](cuda::Stream stream) { cuda::gelu_forward(count, type, x, y, stream); });
    case OpKind::kResidual:
      return step(op, [=, shape = op.as<ResidualShape>(), branch = in(op, 1)](cuda::Stream stream) {
        cuda::residual_forward(shape, type, x, branch, y, stream);
      });
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
      throw std::logic_error("CudaBackend: no kernel for " + op.path);
  }
}

// The classifier in fp32 has a kernel of its own, with shorter sums.
void CudaBackend::linear(const Op& op) {
  const LinearShape linear = op.as<LinearShape>();
  cuda::MatmulOperands operands{in(op, 0), in(op, 1), in(op, 2), out(op)};
  if (options_.precision == Precision::kFp32 && op.out[0] == graph_.find("logits")) {
    return step(op, [=, type = type_](cuda::Stream stream) {
      cuda::linear_forward(linear, type, operands.a, operands.b, operands.bias, operands.y, stream);
    });
  }
  const cuda::MatmulShape shape = product_of(op, options_.precision, type_);
  if (shape.accumulate && in(op, 3) != operands.y) throw std::logic_error("a sum that is not in place: " + op.path);
  operands.gamma = in(op, 4);
  operands.beta = in(op, 5);
  const cuda::Matmul* const matmul = operands.gamma == nullptr ? &library_.prepare(shape, stream_)
                                                               : library_.prepare_result_normalized(shape, stream_);
  operands.backwards = turn(matmul->turns());
  step(
      op, [=](cuda::Stream stream) { matmul->run(operands, stream); }, operands.backwards);
}

void CudaBackend::layernorm(const Op& op) {
  cuda::LayerNormTensors tensors{in(op, 0), in(op, 1), in(op, 2), out(op), in(op, 3)};
  const auto shape = op.as<LayerNormShape>();
  if (op.gather) {
    return step(op, [=, type = type_, gather = *op.gather](cuda::Stream stream) {
      cuda::layernorm_forward(shape, type, tensors, stream, &gather);
    });
  }
  if (op.ahead_first != kNoTensor) {
    const DeviceWeights::Range ahead = weights_.ahead(graph_.at(op.ahead_first).name, graph_.at(op.ahead_last).name);
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
