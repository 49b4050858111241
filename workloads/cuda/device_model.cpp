#include "workloads/cuda/device_model.h"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

#include "kernels/check.h"
#include "kernels/convert.h"
#include "workloads/cuda/element_type.h"
#include "workloads/cuda/memory_fit.h"
#include "workloads/cuda/pass_tuner.h"
#include "workloads/cuda/step_launcher.h"
#include "workloads/cuda/step_profile.h"
#include "workloads/error.h"
#include "workloads/execute/inference_pass.h"

namespace swinscope {
namespace {

constexpr int kOldestMajor = 8;  // compute capability 8.0: bf16 and asynchronous copies

bool tunes(const DeviceModelOptions& options) { return options.tune_seconds > 0.0 && options.features.graph; }

}  // namespace

DeviceMemoryNeed device_memory_need(const SwinConfig& config, const DeviceModelOptions& options) {
  const ElementType type = element_type_of(options.precision);
  const std::int64_t parameters = ParameterLayout(config).flat_count();
  DeviceMemoryNeed need;
  // In fp32 first, while they are converted.
  need.fixed = parameters * (element_bytes(type) + element_bytes(ElementType::kFp32)) + kDeviceReserve;
  if (byte_format_of(options.precision) != ByteFormat::kNone) need.fixed += parameters;  // in 8 bits beside them
  need.per_image = device_activation_bytes(config, 1, options);
  return need;
}

void check_device() {
  if (cuda::device_count() == 0) {
    throw WorkloadError(WorkloadErrorKind::kFailure, "--device cuda: no GPU answers",
                        "there is no NVIDIA driver, or it shows no GPU to this process",
                        "`nvidia-smi` should list one; --device cpu runs without");
  }
  check_capability(cuda::device_info());
}

void check_capability(const cuda::DeviceInfo& info) {
  if (info.major >= kOldestMajor) return;
  throw WorkloadError(WorkloadErrorKind::kFailure,
                      fmt::format("--device cuda: {} has compute capability {}.{}", info.name, info.major, info.minor),
                      "the kernels need 8.0 or newer (A100, RTX 30, H100 and their successors)",
                      "--device cpu runs everywhere");
}

void check_eight_bits(const cuda::DeviceInfo& info, const std::string& precision) {
  if (info.major == 9) return;
  throw WorkloadError(
      WorkloadErrorKind::kFailure,
      fmt::format("--precision {}: {} has compute capability {}.{}", precision, info.name, info.major, info.minor),
      "products of 8-bit numbers are for 9.0 (H100, H200)", "--precision fp16 runs on this GPU, with the same weights");
}

void check_device_memory(const SwinConfig& config, std::int64_t batch, const DeviceModelOptions& options) {
  check_memory(config, batch, options, cuda::free_memory());
}

void check_memory(const SwinConfig& config, std::int64_t batch, const DeviceModelOptions& options,
                  std::int64_t free_bytes) {
  const DeviceMemoryNeed need = device_memory_need(config, options);
  if (need.total(batch) <= free_bytes) return;
  const std::int64_t fits = (free_bytes - need.fixed) / need.per_image;
  throw WorkloadError(
      WorkloadErrorKind::kUsage, fmt::format("--batch {}: does not fit into the GPU's memory", batch),
      fmt::format("{} needs about {:.1f} GiB for it and {:.1f} GiB are free", config.name, gibibytes(need.total(batch)),
                  gibibytes(free_bytes)),
      fits > 0 ? fmt::format("--batch {} fits", fits) : "not even one image fits: end what else uses the GPU");
}

struct DeviceModel::State {
  State(const SwinConfig& config, std::int64_t batch, const DeviceModelOptions& options,
        const ParameterStore<float>& store)
      : type(element_type_of(options.precision)),
        images(batch * kImageChannels * config.image_size * config.image_size),
        outputs(batch * config.classes),
        library(options.algorithm_folder, tunes(options) ? "pass" : ""),
        weights(store, type, stream.get()),
        float_logits(outputs * element_bytes(ElementType::kFp32)),
        pass(config, batch, options, weights, library, stream.get(), cuda::device_info()),
        steps(pass.steps()) {
    if (tunes(options) && library.statistics().timed > 0) tune(options.tune_seconds);
    library.finish_tuning();
    if (options.features.graph) capture_pass(steps, stream.get(), graph);
    cuda::synchronize(stream.get());
  }

  void tune(double seconds) {
    const auto begun = std::chrono::steady_clock::now();
    cuda::fill_random(images, type, 1, pass.images(), stream.get());
    run_unannotated(steps, stream.get());  // which loads the kernels
    cuda::synchronize(stream.get());
    time_as_graph(steps, stream.get());  // the clocks rise
    PassTrials trials;
    trials.open = [&] { return library.open_choices(); };
    trials.use = [&](const cuda::MatmulChoice& choice, int way) { library.use(choice, way); };
    trials.milliseconds = [&] { return time_as_graph(steps, stream.get()); };
    trials.over = [&] {
      return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count() >= seconds;
    };
    exchanged = tune_pass(trials).exchanged;
  }

  ElementType type;
  std::int64_t images;
  std::int64_t outputs;
  cuda::OwnedStream stream;
  cuda::MatmulLibrary library;
  DeviceWeights weights;
  cuda::DeviceBuffer float_logits;
  InferencePass pass;
  const std::vector<DeviceStep>& steps;
  cuda::Graph graph;
  int exchanged = 0;
};

DeviceModel::DeviceModel(const SwinConfig& config, std::int64_t batch, const DeviceModelOptions& options,
                         const ParameterStore<float>& store) {
  check_config(config);
  state_ = std::make_unique<State>(config, batch, options, store);
}

DeviceModel::~DeviceModel() = default;

void DeviceModel::set_images(std::span<const float> images) {
  require(static_cast<std::int64_t>(images.size()) == state_->images, "DeviceModel", "one batch of images is needed");
  const cuda::DeviceBuffer staging(state_->images * element_bytes(ElementType::kFp32));
  cuda::copy_to_device(staging.data(), images.data(), staging.bytes(), stream());
  cuda::convert(state_->images, ElementType::kFp32, staging.data(), state_->type, state_->pass.images(), stream());
  cuda::synchronize(stream());
}

void DeviceModel::forward() {
  if (state_->graph.captured()) {
    state_->graph.launch(stream());
  } else {
    run_steps(state_->steps, stream());
  }
}

std::vector<float> DeviceModel::logits() {
  State& state = *state_;
  cuda::convert(state.outputs, state.type, state.pass.logits(), ElementType::kFp32, state.float_logits.data(),
                stream());
  std::vector<float> values(static_cast<std::size_t>(state.outputs));
  cuda::copy_to_host(values.data(), state.float_logits.data(), state.outputs * 4, stream());
  return values;
}

void DeviceModel::poison_activations() {
  state_->pass.poison(stream());
  state_->float_logits.poison(stream());
}

cuda::Stream DeviceModel::stream() const { return state_->stream.get(); }
std::span<const DeviceStep> DeviceModel::steps() const { return state_->steps; }
std::size_t DeviceModel::graph_nodes() const { return state_->graph.nodes(); }
cuda::MatmulStatistics DeviceModel::matmul_statistics() const {
  cuda::MatmulStatistics statistics = state_->library.statistics();
  statistics.exchanged = state_->exchanged;
  return statistics;
}

}  // namespace swinscope
