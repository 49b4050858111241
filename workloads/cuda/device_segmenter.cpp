#include "workloads/cuda/device_segmenter.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "kernels/batchnorm.h"
#include "kernels/check.h"
#include "kernels/convert.h"
#include "kernels/upsample_loss.h"
#include "workloads/cuda/element_type.h"
#include "workloads/cuda/memory_fit.h"
#include "workloads/cuda/step_launcher.h"
#include "workloads/error.h"
#include "workloads/execute/inference_pass.h"
#include "workloads/models/model.h"
#include "workloads/plan/memory_plan.h"

namespace swinscope {
namespace {

// kernels/upsample.h
constexpr std::int64_t kLargestExtent = 16384;
// Blocks of the kernel that takes the largest resized logit, of which there are two for a row of logits.
constexpr std::int64_t kMostRows = ((1 << 16) - 1) / 2;

std::int64_t picture_elements(const SwinConfig& config) {
  return std::int64_t{kImageChannels} * config.image_size * config.image_size;
}

bool all_finite(std::span<const float> values) {
  return std::ranges::all_of(values, [](float value) { return std::isfinite(value); });
}

}  // namespace

std::int64_t segmenter_memory_need(const SwinConfig& config, const DeviceSegmenterOptions& options,
                                   std::int64_t batch) {
  // Without kernels that keep more to themselves.
  const Graph graph = device_graph(config, batch, options, {}, [](const Op&, bool) { return false; });
  const std::int64_t parameters = ParameterLayout(config).flat_count() *
                                  (element_bytes(element_type_of(options.precision)) + 4);  // while converted
  std::int64_t constants = 0, largest = 0;
  for (const GraphTensor& tensor : graph.tensors) {
    if (tensor.role == TensorRole::kConstant) constants += tensor.bytes();
    largest = std::max(largest, tensor.bytes());
  }
  const std::int64_t pictures = batch * picture_elements(config);
  const std::int64_t staging =
      pictures * (element_bytes(ElementType::kFp32) + element_bytes(element_type_of(options.precision)));
  // Products and convolutions are timed on operands and results of their own.
  constexpr std::int64_t kTimedOperands = 3;
  return parameters + constants + plan_memory(graph, false).bytes + staging + pictures / kImageChannels +
         kTimedOperands * largest + kDeviceReserve;
}

void check_segmenter(const SwinConfig& config, const DeviceSegmenterOptions& options, std::int64_t batch,
                     std::int64_t free_bytes) {
  const std::int64_t most = kMostRows / (config.image_size / kPatchSize);
  if (batch > most) {
    throw WorkloadError(WorkloadErrorKind::kUsage,
                        fmt::format("--batch {}: more than the kernels of the head take", batch),
                        fmt::format("they take {} images of {} pixels at once", most, config.image_size),
                        fmt::format("--batch {} is the largest", most));
  }
  const auto need = [&](std::int64_t images) { return segmenter_memory_need(config, options, images); };
  if (need(batch) <= free_bytes) return;
  const std::int64_t fits = largest_fitting_batch(batch, need, free_bytes);
  throw WorkloadError(
      WorkloadErrorKind::kUsage, fmt::format("--batch {}: does not fit into the GPU's memory", batch),
      fmt::format("segmenting with {} needs about {:.1f} GiB for it and {:.1f} GiB are free", config.name,
                  gibibytes(need(batch)), gibibytes(free_bytes)),
      fits > 0 ? fmt::format("--batch {} fits", fits) : "not even one image fits: end what else uses the GPU");
}

struct DeviceSegmenter::State {
  State(const SwinConfig& model, std::int64_t images, const DeviceSegmenterOptions& wanted,
        const ParameterStore<float>& store)
      : config(model),
        batch(images),
        options(wanted),
        type(element_type_of(wanted.precision)),
        side(stage_shape(model, 0).resolution),
        staging(images * picture_elements(model) * element_bytes(ElementType::kFp32)),
        moments(moments_shape().sum_elements() * element_bytes(ElementType::kFp32)),
        workspace(cuda::batchnorm_workspace_bytes(moments_shape())),
        predicted(wanted.answers ? images * picture_elements(model) / kImageChannels : 0),
        library(wanted.algorithm_folder),
        convolutions(library, wanted.algorithm_folder),
        weights(store, type, stream.get()),
        pass(model, images, wanted, weights, library, stream.get(), cuda::device_info(), &convolutions),
        steps(pass.steps()) {
    pass.poison(stream.get());  // what nobody writes shows
    if (options.answers) steps.push_back(answer_step());
    library.finish_tuning();
    convolutions.finish_tuning();
    if (options.features.graph) capture_pass(steps, stream.get(), graph);
    cuda::synchronize(stream.get());
  }

  // Nothing may go while the device still works with it.
  ~State() {
    try {
      cuda::synchronize(stream.get());
    } catch (const cuda::Error&) {
      return;
    }
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  State(State&&) = delete;
  State& operator=(State&&) = delete;

  std::int64_t image_logits() const { return side * side * config.classes; }
  const void* logits_of(std::int64_t image) const {
    require(image >= 0 && image < batch, "DeviceSegmenter", "no such image in the batch");
    return static_cast<const char*>(pass.logits()) + image * image_logits() * element_bytes(type);
  }
  BatchNormShape moments_shape() const { return {.rows = side * side, .channels = config.classes}; }

  DeviceStep answer_step() {
    const UpsampleShape shape{batch, side, side, config.image_size, config.image_size, config.classes};
    const OperationPayload payload =
        make_payload(upsample_argmax_cost(shape, element_bytes(type)), OperationClass::kOther, options.precision,
                     {batch, shape.height, shape.width, shape.channels}, {batch, config.image_size, config.image_size});
    return {RangeName("answer"), payload,
            [shape, element = type, logits = pass.logits(), answers = static_cast<std::uint8_t*>(predicted.data())](
                cuda::Stream on) { cuda::upsample_argmax(shape, element, logits, answers, on); }};
  }

  std::vector<float> logits(const void* from, std::int64_t count) const {
    const cuda::DeviceBuffer floats(count * element_bytes(ElementType::kFp32));
    cuda::convert(count, type, from, ElementType::kFp32, floats.data(), stream.get());
    std::vector<float> values(static_cast<std::size_t>(count));
    cuda::copy_to_host(values.data(), floats.data(), floats.bytes(), stream.get());
    return values;
  }

  SwinConfig config;
  std::int64_t batch;
  DeviceSegmenterOptions options;
  ElementType type;
  std::int64_t side;  // of the logits
  cuda::OwnedStream stream;
  cuda::DeviceBuffer staging, moments, workspace, predicted;
  cuda::DeviceBuffer square;  // answers of one image, as large as was needed so far
  cuda::MatmulLibrary library;
  cuda::ConvolutionLibrary convolutions;
  DeviceWeights weights;
  InferencePass pass;
  std::vector<DeviceStep> steps;
  cuda::Graph graph;
};

DeviceSegmenter::DeviceSegmenter(const SwinConfig& config, std::int64_t batch, const DeviceSegmenterOptions& options,
                                 const ParameterStore<float>& store) {
  check_config(config);
  check_segmentation(config);
  state_ = std::make_unique<State>(config, batch, options, store);
}

DeviceSegmenter::~DeviceSegmenter() = default;

void DeviceSegmenter::set_images(std::span<const float> images) {
  const State& state = *state_;
  require(static_cast<std::int64_t>(images.size_bytes()) == state.staging.bytes(), "DeviceSegmenter",
          "one batch of images is needed");
  cuda::copy_to_device(state.staging.data(), images.data(), state.staging.bytes(), stream());
  cuda::convert(static_cast<std::int64_t>(images.size()), ElementType::kFp32, state.staging.data(), state.type,
                state.pass.images(), stream());
}

void DeviceSegmenter::forward() {
  if (state_->graph.captured()) {
    state_->graph.launch(stream());
  } else {
    run_steps(state_->steps, stream());
  }
}

std::vector<float> DeviceSegmenter::logits() const {
  return state_->logits(state_->logits_of(0), state_->batch * state_->image_logits());
}

std::vector<std::uint8_t> DeviceSegmenter::answers() const {
  require(state_->options.answers, "DeviceSegmenter", "its passes end before the answers");
  const cuda::DeviceBuffer& predicted = state_->predicted;
  std::vector<std::uint8_t> classes(static_cast<std::size_t>(predicted.bytes()));
  cuda::copy_to_host(classes.data(), predicted.data(), predicted.bytes(), stream());
  return classes;
}

bool DeviceSegmenter::finite(std::int64_t image) const {
  const State& state = *state_;
  // The mean and the sum of squares of a class are not finite where one of its logits is not, and are much less to
  // bring to the host.
  const void* const logits = state.logits_of(image);
  auto* const moments = static_cast<float*>(state.moments.data());
  cuda::batchnorm_moments(state.moments_shape(), state.type, logits, moments, state.workspace.data(), stream());
  std::vector<float> values(static_cast<std::size_t>(state.moments_shape().sum_elements()));
  cuda::copy_to_host(values.data(), moments, state.moments.bytes(), stream());
  // Squares of finite values may be beyond fp32.
  return all_finite(values) || all_finite(state.logits(logits, state.image_logits()));
}

std::vector<std::uint8_t> DeviceSegmenter::answer(std::int64_t image, std::int64_t side) {
  State& state = *state_;
  const void* const logits = state.logits_of(image);
  const UpsampleShape shape{1, state.side, state.side, side, side, state.config.classes};
  std::vector<std::uint8_t> classes(static_cast<std::size_t>(side * side));
  if (side > kLargestExtent) {
    cpu::upsample_argmax<float>(shape, state.logits(logits, state.image_logits()).data(), classes.data());
    return classes;
  }
  const auto bytes = static_cast<std::int64_t>(classes.size());
  if (state.square.bytes() < bytes) state.square = cuda::DeviceBuffer(bytes);
  auto* const square = static_cast<std::uint8_t*>(state.square.data());
  cuda::upsample_argmax(shape, state.type, logits, square, stream());
  cuda::copy_to_host(classes.data(), square, bytes, stream());
  return classes;
}

cuda::Stream DeviceSegmenter::stream() const { return state_->stream.get(); }
std::span<const DeviceStep> DeviceSegmenter::steps() const { return state_->steps; }
std::size_t DeviceSegmenter::graph_nodes() const { return state_->graph.nodes(); }
std::int64_t DeviceSegmenter::memory_bytes() const {
  return state_->weights.bytes() + state_->pass.bytes() + state_->predicted.bytes();
}
cuda::MatmulStatistics DeviceSegmenter::matmul_statistics() const { return state_->library.statistics(); }

}  // namespace swinscope
