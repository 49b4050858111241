#include "kernels/convolution_plans.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace swinscope::cuda {
namespace {

constexpr std::int64_t kFirst = 1;  // names of the tensors
constexpr std::int64_t kSecond = 2;
constexpr std::int64_t kResult = 3;
constexpr std::int64_t kMostProposals = 12;
constexpr std::int64_t kMostLastResorts = 8;

cudnnDataType_t data_type(ElementType type) {
  if (type == ElementType::kFp16) return CUDNN_DATA_HALF;
  return type == ElementType::kBf16 ? CUDNN_DATA_BFLOAT16 : CUDNN_DATA_FLOAT;
}

// cuDNN names extents as NCHW whatever the layout is, which the strides tell: [a, height, width, b] in memory.
CudnnDescriptor tensor(std::int64_t name, ElementType type, std::int64_t a, std::int64_t b, std::int64_t height,
                       std::int64_t width) {
  CudnnDescriptor result(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  result.set(CUDNN_ATTR_TENSOR_UNIQUE_ID, name);
  result.set(CUDNN_ATTR_TENSOR_DATA_TYPE, data_type(type));
  result.set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, std::int64_t{16});
  result.set(CUDNN_ATTR_TENSOR_DIMENSIONS, std::vector<std::int64_t>{a, b, height, width});
  result.set(CUDNN_ATTR_TENSOR_STRIDES, std::vector<std::int64_t>{height * width * b, 1, width * b, b});
  result.finalize();
  return result;
}

CudnnDescriptor convolution(std::int64_t kernel) {
  const std::vector<std::int64_t> ones(2, 1);
  const std::vector<std::int64_t> padding(2, kernel / 2);
  const cudnnConvolutionMode_t mode = CUDNN_CROSS_CORRELATION;
  CudnnDescriptor result(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
  result.set(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_DATA_FLOAT);
  result.set(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, 1, &mode);
  result.set(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, std::int64_t{2});
  result.set(CUDNN_ATTR_CONVOLUTION_DILATIONS, ones);
  result.set(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, ones);
  result.set(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, padding);
  result.set(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, padding);
  result.finalize();
  return result;
}

// The names of an operation and of its attributes, by pass.
struct OperationNames {
  cudnnBackendDescriptorType_t type;
  cudnnBackendAttributeName_t convolution, first, second, result, alpha, beta;
};

OperationNames names_of(ConvolutionPass pass) {
  switch (pass) {
    case ConvolutionPass::kForward:
      return {CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y,
              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA};
    case ConvolutionPass::kInputGradient:
      return {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA};
    case ConvolutionPass::kWeightGradient:
      break;
  }
  return {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
          CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC,
          CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
          CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY,
          CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
          CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA,
          CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA};
}

}  // namespace

ConvolutionGraph::ConvolutionGraph(cudnnHandle_t handle, const ConvolutionProblem& problem)
    : problem_(problem), convolution_(convolution(problem.shape.kernel)) {
  const ConvolutionShape& s = problem.shape;
  const auto map = [&](std::int64_t name, ElementType type, std::int64_t channels) {
    return tensor(name, type, s.batch, channels, s.height, s.width);
  };
  const auto weight = [&](std::int64_t name, ElementType type) {
    return tensor(name, type, s.outputs, s.inputs, s.kernel, s.kernel);
  };
  const ElementType type = problem.operand_type;
  const bool of_weight = problem.pass == ConvolutionPass::kWeightGradient;
  const bool of_input = problem.pass == ConvolutionPass::kInputGradient;
  first_ = map(kFirst, type, of_input ? s.outputs : s.inputs);
  second_ = of_weight ? map(kSecond, type, s.outputs) : weight(kSecond, type);
  result_ = of_weight ? weight(kResult, problem.result_type)
                      : map(kResult, problem.result_type, of_input ? s.inputs : s.outputs);
  const OperationNames names = names_of(problem.pass);
  operation_ = CudnnDescriptor(names.type);
  operation_.set(names.convolution, convolution_);
  operation_.set(names.first, first_);
  operation_.set(names.second, second_);
  operation_.set(names.result, result_);
  operation_.set(names.alpha, 1.0F);
  operation_.set(names.beta, 0.0F);
  operation_.finalize();
  if (handle == nullptr) return;
  graph_ = CudnnDescriptor(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
  graph_.set(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, 1, &handle);
  graph_.set(CUDNN_ATTR_OPERATIONGRAPH_OPS, operation_);
  graph_.finalize();
}

std::vector<CudnnDescriptor> ConvolutionGraph::configurations() const {
  std::vector<CudnnDescriptor> all;
  for (const cudnnBackendHeurMode_t mode : {CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_FALLBACK}) {
    CudnnDescriptor heuristics(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
    heuristics.set(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph_);
    heuristics.set(CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, 1, &mode);
    if (!heuristics.try_finalize()) continue;
    std::vector<CudnnDescriptor> proposed =
        heuristics.get_descriptors(CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR,
                                   mode == CUDNN_HEUR_MODE_A ? kMostProposals : kMostLastResorts);
    std::move(proposed.begin(), proposed.end(), std::back_inserter(all));
  }
  return all;
}

bool ConvolutionGraph::keeps_promises(const CudnnDescriptor& configuration) const {
  const CudnnDescriptor engine(CUDNN_BACKEND_ENGINE_DESCRIPTOR);
  configuration.get_descriptor(CUDNN_ATTR_ENGINECFG_ENGINE, engine);
  const bool strict = problem_.operand_type == ElementType::kFp32 && !problem_.tf32;
  const std::vector<cudnnBackendNumericalNote_t> notes = engine.numerical_notes();
  return std::none_of(notes.begin(), notes.end(), [&](cudnnBackendNumericalNote_t note) {
    switch (note) {
      case CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC:
      case CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION:
      case CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_6x6:  // their transforms cost digits
      case CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_13x13:
        return true;
      case CUDNN_NUMERICAL_NOTE_TENSOR_CORE:
      case CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS:
        return strict;
      default:
        return false;
    }
  });
}

std::unique_ptr<ConvolutionPlan> ConvolutionPlan::make(cudnnHandle_t handle, const CudnnDescriptor& configuration,
                                                       void* workspace, std::int64_t workspace_bytes) {
  CudnnDescriptor plan(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
  plan.set(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, 1, &handle);
  plan.set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, configuration);
  if (!plan.try_finalize()) return nullptr;
  if (plan.get_integer(CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE) > workspace_bytes) return nullptr;
  return std::unique_ptr<ConvolutionPlan>(new ConvolutionPlan(handle, std::move(plan), workspace));
}

void ConvolutionPlan::run(const void* first, const void* second, void* result, Stream stream) const {
  check_cudnn(try_run(first, second, result, stream), "cudnnBackendExecute");
}

cudnnStatus_t ConvolutionPlan::try_run(const void* first, const void* second, void* result, Stream stream) const {
  const std::vector<std::int64_t> names = {kFirst, kSecond, kResult};
  const void* const data[] = {first, second, result};
  CudnnDescriptor pack(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
  pack.set(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, names);
  pack.set(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, std::ssize(data), data);
  pack.set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1, &workspace_);
  pack.finalize();
  check_cudnn(cudnn().set_stream(handle_, stream), "cudnnSetStream");
  return cudnn().execute(handle_, plan_.get(), pack.get());
}

}  // namespace swinscope::cuda
