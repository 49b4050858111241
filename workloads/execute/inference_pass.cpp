#include "workloads/execute/inference_pass.h"

#include <utility>

#include "workloads/cuda/element_type.h"
#include "workloads/cuda/step_launcher.h"
#include "workloads/execute/cuda_backend.h"
#include "workloads/models/model.h"
#include "workloads/passes/passes.h"
#include "workloads/plan/memory_plan.h"

namespace swinscope {
namespace {

bool tanh_gelu(const DeviceModelOptions& options) {
  if (options.gelu == GeluForm::kErf) return false;
  return options.gelu == GeluForm::kTanh || data_bytes(data_type_of(options.precision)) == 2;
}

// Parameters lie where the weights are, and what follows from them alone beside them; all else within the arena.
DeviceMemory place(const Graph& graph, const MemoryPlan& plan, DeviceWeights& weights, void* images, void* arena) {
  DeviceMemory memory;
  for (std::size_t i = 0; i < graph.tensors.size(); ++i) {
    const GraphTensor& tensor = graph.tensors[i];
    void* place = nullptr;
    if (tensor.role == TensorRole::kInput) place = images;
    if (tensor.role == TensorRole::kConstant) place = weights.reserve(tensor.bytes());
    if (tensor.role == TensorRole::kParameter) {
      const bool floats = tensor.type == DataType::kFp32 && graph.type != DataType::kFp32;
      place = floats ? const_cast<float*>(weights.find_floats(tensor.name))  // NOLINT: parameters are read only
                     : const_cast<void*>(weights.find(tensor.name));         // NOLINT
    }
    if (tensor.role == TensorRole::kBuffer) place = const_cast<float*>(weights.find_buffer(tensor.name));  // NOLINT
    if (place == nullptr && plan.offsets[i] >= 0)
      place = static_cast<char*>(arena) + plan.offsets[i] + tensor.first * data_bytes(tensor.type);
    memory.tensors.push_back(place);
  }
  return memory;
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
  Graph graph = build_forward(config, batch, {.tap_fusion = options.tap_fusion}, data_type_of(options.precision));
  PassContext context;
  context.features = options.features;
  context.tanh_gelu = tanh_gelu(options);
  context.gpu = gpu;
  context.normalizes_result = normalizes_result;
  context.bytes = byte_format_of(options.precision);
  context.input_ranges = &options.input_ranges;
  optimize(graph, context);
  if (options.counts_inputs) count_inputs(graph);
  return graph;
}

InferencePass::InferencePass(const SwinConfig& config, std::int64_t batch, const DeviceModelOptions& options,
                             DeviceWeights& weights, cuda::MatmulLibrary& library, cuda::Stream stream,
                             const cuda::DeviceInfo& gpu, cuda::ConvolutionLibrary* convolutions)
    : graph_(device_graph(config, batch, options, gpu, [&](const Op& op, bool accumulates) {
        cuda::MatmulShape shape = product_of(op, options.precision);
        shape.accumulate = accumulates;
        return library.prepare_result_normalized(shape, stream) != nullptr;
      })) {
  const MemoryPlan plan = plan_memory(graph_, false);
  arena_ = cuda::DeviceBuffer(plan.bytes);
  images_ = cuda::DeviceBuffer(graph_.at(graph_.find("images")).bytes());
  DeviceMemory memory = place(graph_, plan, weights, images_.data(), arena_.data());
  for (const auto& [name, id] : graph_.named)
    named_[name] = memory.tensors[static_cast<std::size_t>(id)];
  CudaBackendOptions backend_options;
  backend_options.precision = options.precision;
  backend_options.features = options.features;
  backend_options.weights = &weights;
  CudaBackend backend(graph_, backend_options, std::move(memory), library, convolutions, stream);
  run_unannotated(backend.once(), stream);
  steps_ = backend.forward();
}

}  // namespace swinscope
