#include "workloads/execute/host_backend.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "kernels/channels.h"
#include "kernels/gelu.h"
#include "kernels/relu.h"
#include "workloads/graph/cost.h"
#include "workloads/plan/memory_plan.h"

namespace swinscope {

template <typename T>
HostBackend<T>::HostBackend(Graph graph, ParameterStore<T>& store, Communicator* communicator)
    : graph_(std::move(graph)),
      communicator_(communicator),
      once_(steps_of(graph_.once)),
      forward_(steps_of(graph_.forward)),
      backward_(steps_of(graph_.backward)),
      flat_count_(store.layout().flat_count()),
      memory_(graph_.tensors.size()),
      gradient_ends_(graph_.tensors.size()) {
  if (data_bytes(graph_.type) != sizeof(T)) throw std::invalid_argument("HostBackend: a graph of another type");
  place(store);
}

template <typename T>
std::vector<typename HostBackend<T>::Step> HostBackend<T>::steps_of(const std::vector<Op>& ops) const {
  std::vector<Step> steps;
  steps.reserve(ops.size());
  for (const Op& op : ops) {
    const Precision precision = op.kind == OpKind::kAllReduce ? Precision::kFp64 : precision_of<T>();
    steps.push_back({&op, RangeName(op.path), payload_of(graph_, op, precision)});
  }
  return steps;
}

template <typename T>
void HostBackend<T>::place(ParameterStore<T>& store) {
  const MemoryPlan plan = plan_memory(graph_);
  planned_bytes_ = plan.bytes;
  arena_ = std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(plan.bytes + MemoryPlan::kAlignment));
  void* begin = arena_.get();
  auto space = static_cast<std::size_t>(plan.bytes + MemoryPlan::kAlignment);
  begin = std::align(MemoryPlan::kAlignment, static_cast<std::size_t>(plan.bytes), begin, space);
  for (std::size_t i = 0; i < memory_.size(); ++i) {
    const GraphTensor& tensor = graph_.tensors[i];
    if (tensor.role == TensorRole::kGradient) {
      const ParameterInfo& parameter = store.layout().find(tensor.name);
      gradient_ends_[i] = parameter.offset + parameter.count;
    }
    memory_[i] = plan.offsets[i] < 0 ? place_of(tensor, store) : static_cast<std::byte*>(begin) + plan.offsets[i];
  }
}

template <typename T>
void* HostBackend<T>::place_of(const GraphTensor& tensor, ParameterStore<T>& store) {
  switch (tensor.role) {
    case TensorRole::kParameter:
      return store.values(store.layout().find(tensor.name)).data();
    case TensorRole::kGradient:
      return store.gradients(store.layout().find(tensor.name)).data();
    case TensorRole::kBuffer:
      return store.buffer(store.layout().find_buffer(tensor.name)).data();
    default:
      return nullptr;
  }
}

template <typename T>
void HostBackend<T>::bind(TensorId input, const T* values) {
  memory_.at(static_cast<std::size_t>(input)) = const_cast<T*>(values);  // NOLINT: inputs are read only
}

template <typename T>
std::span<const T> HostBackend<T>::values(TensorId id) const {
  return {at(id), static_cast<std::size_t>(count(id))};
}

template <typename T>
void HostBackend<T>::run(const std::vector<Step>& steps) {
  for (const Step& step : steps)
    run(step);
}

template <typename T>
void HostBackend<T>::run(const Step& step) {
  std::optional<OperationRange> range;
  if (!step.op->path.empty()) range.emplace(step.name, step.payload);
  if (step.op->backward) {
    run_backward(*step.op);
  } else {
    run_forward(*step.op);
  }
}

template <typename T>
void HostBackend<T>::backward(const GradientsReady& ready) {
  std::int64_t end = 0;
  for (std::size_t i = 0; i < backward_.size(); ++i) {
    const Op& op = *backward_[i].op;
    run(backward_[i]);
    for (const TensorId id : op.out)
      if (id != kNoTensor) end = std::max(end, gradient_ends_[static_cast<std::size_t>(id)]);
    if (i + 1 == backward_.size()) return ready(flat_count_);
    if (backward_[i + 1].op->section != op.section) ready(end);
  }
}

template <typename T>
void HostBackend<T>::copy_unless_shared(TensorId from, TensorId to) {
  if (at(from) != at(to)) std::copy_n(at(from), count(from), at(to));
}

template <typename T>
void HostBackend<T>::add(const Op& op) {
  // The sum may stand where either of the two was.
  const bool in_second = out(op, 0) == in(op, 1);
  if (!in_second) copy_unless_shared(op.in[0], op.out[0]);
  cpu::add_into<T>(count(op.out[0]), in(op, in_second ? 0 : 1), out(op, 0));
}

template <typename T>
void HostBackend<T>::concat(const Op& op) {
  const TensorId whole = op.backward ? op.in[0] : op.out[0];
  const std::int64_t together = graph_.at(whole).channels();
  T* place = at(whole);
  for (const TensorId id : op.backward ? op.out : op.in) {
    const GraphTensor& part = graph_.at(id);
    if (op.backward) {
      cpu::copy_channels<T>({part.rows(), part.channels(), together, part.channels()}, place, false, at(id));
    } else {
      cpu::copy_channels<T>({part.rows(), part.channels(), part.channels(), together}, at(id), false, place);
    }
    place += part.channels();
  }
}

// V2 has no key bias: q's and v's stand around zeros.
template <typename T>
void HostBackend<T>::joint_bias(const Op& op) {
  const std::int64_t channels = count(op.backward ? op.out[0] : op.in[0]);
  if (op.backward) {
    cpu::add_into<T>(channels, in(op, 0), out(op, 0));
    cpu::add_into<T>(channels, in(op, 0) + 2 * channels, out(op, 1));
    return;
  }
  T* const joined = static_cast<T*>(memory_[static_cast<std::size_t>(op.out[0])]);
  std::copy_n(in(op, 0), channels, joined);
  std::fill_n(joined + channels, channels, T{});
  std::copy_n(in(op, 1), channels, joined + 2 * channels);
}

template <typename T>
void HostBackend<T>::all_reduce(const Op& op) {
  communicator_->all_reduce_sum(std::span(sums(op.out[0]), static_cast<std::size_t>(count(op.out[0]))));
}

template <typename T>
void HostBackend<T>::run_forward(const Op& op) {
  T* const x = in(op, 0);
  T* const y = out(op, 0);
  const auto i = [&](std::size_t index) { return in(op, index); };
  switch (op.kind) {
    case OpKind::kPatchEmbed:
      return cpu::patch_embed_forward<T>(op.as<PatchEmbedShape>(), x, i(1), i(2), out(op, 1), y);
    case OpKind::kLayerNorm:
      return cpu::layernorm_forward<T>(op.as<LayerNormShape>(), x, i(1), i(2), y, out(op, 1), out(op, 2));
    case OpKind::kLinear:
      return cpu::linear_forward<T>(op.as<LinearShape>(), x, i(1), i(2), y);
    case OpKind::kGelu:
      return cpu::gelu_forward<T>(count(op.out[0]), x, y);
    case OpKind::kRelu:
      return cpu::relu_forward<T>(count(op.out[0]), x, y);
    case OpKind::kResidual:
      return cpu::residual_forward<T>(op.as<ResidualShape>(), x, i(1), i(2), y);
    case OpKind::kAdd:
      return add(op);
    case OpKind::kZero:
      std::fill_n(y, count(op.out[0]), T{});
      return;
    case OpKind::kWindowAttention:
      return cpu::window_attention_forward<T>(op.as<WindowAttentionShape>(), {x, i(1), i(3), i(2)}, y, out(op, 1));
    case OpKind::kPositionBias:
      return cpu::continuous_bias_forward<T>(op.as<ContinuousBiasShape>(), x, i(1), i(2), out(op, 1), out(op, 2), y);
    case OpKind::kJointBias:
      return joint_bias(op);
    case OpKind::kPatchMerge:
      return cpu::patch_merge_forward<T>(op.as<PatchMergeShape>(), x, y);
    case OpKind::kPool:
      return cpu::pool_forward<T>(op.as<PoolShape>(), x, y);
    case OpKind::kConvolution:
      return cpu::convolution_forward<T>(op.as<ConvolutionShape>(), x, i(1), false, y);
    case OpKind::kBatchSums:
      return cpu::batchnorm_sums<T>(op.as<BatchNormShape>(), x, sums(op.out[0]));
    case OpKind::kAllReduce:
      return all_reduce(op);
    case OpKind::kBatchStatistics:
      return cpu::batchnorm_statistics<T>(op.as<BatchNormShape>(), sums(op.in[0]), y, out(op, 1), i(1), i(2));
    case OpKind::kRunningStatistics:
      return cpu::batchnorm_running<T>(op.as<BatchNormShape>(), x, i(1), y, out(op, 1));
    case OpKind::kBatchNorm:
      return cpu::batchnorm_forward<T>(op.as<BatchNormShape>(), x, i(1), i(2), i(3), i(4), y);
    case OpKind::kGridPool:
      return cpu::adaptive_pool_forward<T>(op.as<AdaptivePoolShape>(), x, y);
    case OpKind::kResize:
      if (i(1) != nullptr) copy_unless_shared(op.in[1], op.out[0]);
      return cpu::upsample_forward<T>(op.as<UpsampleShape>(), x, i(1) != nullptr, y);
    case OpKind::kConcat:
      return concat(op);
    case OpKind::kTapFusion:
      copy_unless_shared(op.in[0], op.out[0]);
      return cpu::tap_fusion_forward<T>(op.as<TapFusionShape>(), i(1), i(2) + op.weight_offset, out(op, 1), y);
    default:
      throw std::logic_error("HostBackend: an op for devices: " + op.path);
  }
}

template <typename T>
void HostBackend<T>::run_backward(const Op& op) {
  const auto i = [&](std::size_t index) { return in(op, index); };
  const auto o = [&](std::size_t index) { return out(op, index); };
  switch (op.kind) {
    case OpKind::kPatchEmbed:
      return cpu::patch_embed_backward<T>(op.as<PatchEmbedShape>(), i(0), i(1), i(2), o(0), o(1), nullptr, nullptr);
    case OpKind::kLayerNorm:
      return cpu::layernorm_backward<T>(op.as<LayerNormShape>(), i(0), i(1), i(2), i(3), i(4), o(0), o(1), o(2));
    case OpKind::kLinear:
      return cpu::linear_backward<T>(op.as<LinearShape>(), i(0), i(1), i(2), o(0), o(1), o(2));
    case OpKind::kGelu:
      return cpu::gelu_backward<T>(count(op.out[0]), i(0), i(1), o(0));
    case OpKind::kRelu:
      return cpu::relu_backward<T>(count(op.out[0]), i(0), i(1), o(0));
    case OpKind::kResidual:
      return cpu::residual_backward<T>(op.as<ResidualShape>(), i(0), i(1), o(0));
    case OpKind::kWindowAttention:
      return cpu::window_attention_backward<T>(op.as<WindowAttentionShape>(), {i(0), i(1), i(3), i(2)}, i(4), i(5),
                                               {o(0), o(1), o(3), o(2)}, sums(op.out[4]));
    case OpKind::kPositionBias:
      return cpu::continuous_bias_backward<T>(op.as<ContinuousBiasShape>(), i(2), i(3), i(4), i(5), i(6), o(0), o(1),
                                              o(2), o(3));
    case OpKind::kJointBias:
      return joint_bias(op);
    case OpKind::kPatchMerge:
      return cpu::patch_merge_backward<T>(op.as<PatchMergeShape>(), i(0), o(0));
    case OpKind::kPool:
      return cpu::pool_backward<T>(op.as<PoolShape>(), i(0), o(0));
    default:
      return run_maps_backward(op);
  }
}

template <typename T>
void HostBackend<T>::run_maps_backward(const Op& op) {
  const auto i = [&](std::size_t index) { return in(op, index); };
  const auto o = [&](std::size_t index) { return out(op, index); };
  switch (op.kind) {
    case OpKind::kConvolution:
      cpu::convolution_backward_weight<T>(op.as<ConvolutionShape>(), i(0), i(2), o(1));
      return cpu::convolution_backward_input<T>(op.as<ConvolutionShape>(), i(1), i(2), o(0));
    case OpKind::kBatchSums:
      return cpu::batchnorm_backward_sums<T>(op.as<BatchNormShape>(), i(0), i(1), i(2), i(5), sums(op.out[0]), o(1),
                                             o(2));
    case OpKind::kBatchNorm:
      return cpu::batchnorm_backward<T>(op.as<BatchNormShape>(), i(0), i(1), i(2), i(3), sums(op.in[5]), i(6), o(0));
    case OpKind::kGridPool:
      return cpu::adaptive_pool_backward<T>(op.as<AdaptivePoolShape>(), i(0), false, o(0));
    case OpKind::kResize:
      return cpu::upsample_backward<T>(op.as<UpsampleShape>(), i(0), false, o(0));
    case OpKind::kConcat:
      return concat(op);
    case OpKind::kTapFusion:
      return cpu::tap_fusion_backward<T>(op.as<TapFusionShape>(), i(0), i(1) + op.weight_offset, i(2), o(2), o(0),
                                         o(1) + op.weight_offset);
    default:
      throw std::logic_error("HostBackend: no backward form of " + op.path);
  }
}

template class HostBackend<float>;
template class HostBackend<double>;

}  // namespace swinscope
