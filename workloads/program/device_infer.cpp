// swin infer --device cuda: the measured passes and their report.
#include <algorithm>
#include <map>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "workloads/cuda/device_model.h"
#include "workloads/cuda/step_profile.h"
#include "workloads/error.h"
#include "workloads/model_cost.h"
#include "workloads/program/device_commands.h"
#include "workloads/program/image_inference.h"
#include "workloads/program/interrupt.h"
#include "workloads/program/operation_table.h"
#include "workloads/program/step_times.h"
#include "workloads/redraw.h"
#include "workloads/safetensors_writer.h"
#include "workloads/synthetic_data.h"
#include "workloads/verify/verify.h"

namespace swinscope {
namespace {

constexpr std::int64_t kDatasetSize = 1024;
constexpr std::int64_t kProfiledPasses = 7;

struct DeviceResult {
  StepTimes device;   // of a pass, on the device's clock
  StepTimes latency;  // from the call to the end of the pass, on the host's
  std::vector<float> logits;
  std::vector<OperationTime> operations;
  std::size_t graph_nodes = 0;
  cuda::MatmulStatistics products;
};

DeviceModelOptions model_options(const InferOptions& options, RunOptions& run) {
  const Level& level = find_level(options.level);
  DeviceModelOptions result;
  if (run.precision.empty()) run.precision = level.default_precision;
  result.precision = parse_device_precision(run.precision);
  result.features = select_features(level, options.with, options.without, FeatureUse::kInference);
  result.features.adamw = false;  // of training
  if (options.gelu == "erf") result.gelu = GeluForm::kErf;
  if (options.gelu == "tanh") result.gelu = GeluForm::kTanh;
  result.algorithm_folder = algorithm_folder();
  return result;
}

std::vector<float> synthetic_images(const SwinConfig& config, std::int64_t batch, std::uint64_t seed) {
  const SyntheticData data(config, kDatasetSize, seed);
  std::vector<float> images(static_cast<std::size_t>(batch * kImageChannels * config.image_size * config.image_size));
  std::vector<std::int32_t> labels(static_cast<std::size_t>(batch));
  data.fill<float>(0, images, labels);
  return images;
}

void write_logits(const InferOptions& options, const SwinConfig& config, const std::vector<float>& images,
                  const std::vector<float>& logits) {
  const std::int64_t size = config.image_size;
  const std::vector<TensorSource> tensors = {
      {"images", {options.run.batch, kImageChannels, size, size}, images, {}},
      {"logits", {options.run.batch, config.classes}, logits, {}},
  };
  write_safetensors(options.logits.string(), tensors, {});
}

DeviceResult run_passes(const InferOptions& options, const RunOptions& run, const SwinConfig& config,
                        const DeviceModelOptions& model_choice) {
  ParameterStore<float> store(config, false);
  if (!load_given_weights(run, store)) redraw_parameters(store, run.seed);
  DeviceModel model(config, run.batch, model_choice, store);
  const std::vector<float> images = synthetic_images(config, run.batch, run.seed);
  model.set_images(images);
  DeviceResult result;
  cuda::Event begin;
  cuda::Event end;
  for (std::int64_t step = 0; step < run.warmup + run.steps && !interrupted(); ++step) {
    const StepRange range({static_cast<std::uint64_t>(step), static_cast<std::uint64_t>(run.batch)});
    const PhaseRange phase(Phase::kForward);
    const std::int64_t start_ns = now_ns();
    begin.record(model.stream());
    model.forward();
    end.record(model.stream());
    cuda::synchronize(model.stream());
    const std::int64_t latency_ns = now_ns() - start_ns;
    if (step < run.warmup) continue;
    result.latency.add(latency_ns);
    result.device.add(static_cast<std::int64_t>(1e6 * static_cast<double>(cuda::Event::milliseconds(begin, end))));
  }
  result.logits = model.logits();
  result.graph_nodes = model.graph_nodes();
  result.products = model.matmul_statistics();
  if (!options.logits.empty()) write_logits(options, config, images, result.logits);
  if (options.operations) result.operations = profile_steps(model.steps(), model.stream(), kProfiledPasses);
  return result;
}

int classify_given_files(const InferOptions& options, const SwinConfig& config, const DeviceModelOptions& choice) {
  ImageReader reader(options.images, config.image_size);
  ParameterStore<float> store(config, false);
  if (!load_given_weights(options.run, store)) redraw_parameters(store, options.run.seed);
  DeviceModel model(config, options.run.batch, choice, store);
  nlohmann::ordered_json document = start_document("swin.infer/1", options.run, config, RankInfo{}, 1);
  document["run"]["gpu"] = cuda::device_info().name;
  return classify_files(std::move(reader), options.run, config, std::move(document),
                        [&](std::span<const float> images) {
                          model.set_images(images);
                          model.forward();
                          return model.logits();
                        });
}

nlohmann::ordered_json summarize_device(const InferOptions& options, const SwinConfig& config,
                                        const DeviceResult& result) {
  nlohmann::ordered_json row = summarize(result.device, options.run.batch, model_cost(config).flops());
  if (!result.device.empty()) {
    row["step_time_p90_ns"] = std::llround(result.device.percentile_ns(0.9));
    row["latency_median_ns"] = std::llround(result.latency.percentile_ns(0.5));
    row["latency_p90_ns"] = std::llround(result.latency.percentile_ns(0.9));
    row["latency_p99_ns"] = std::llround(result.latency.percentile_ns(0.99));
  }
  std::vector<int> predictions;
  for (std::int64_t i = 0; i < options.run.batch; ++i) {
    const auto first = result.logits.begin() + i * config.classes;
    predictions.push_back(static_cast<int>(std::max_element(first, first + config.classes) - first));
  }
  row["predictions"] = predictions;
  if (options.operations) row["operations"] = describe_operations(result.operations);
  return row;
}

void print_result(const InferOptions& options, const SwinConfig& config, const DeviceModelOptions& choice,
                  const DeviceResult& result) {
  const cuda::DeviceInfo info = cuda::device_info();
  nlohmann::ordered_json row = summarize_device(options, config, result);
  if (options.run.json) {
    nlohmann::ordered_json document = start_document("swin.infer/1", options.run, config, RankInfo{}, 1);
    document["run"]["gpu"] = info.name;
    document["run"]["cuda_driver"] = info.driver_version;
    document["run"]["cuda_runtime"] = info.runtime_version;
    document["run"]["level"] = options.level;
    document["run"]["features"] = describe(choice.features);
    document["run"]["gelu"] = options.gelu;
    document["run"]["graph_nodes"] = result.graph_nodes;
    document["run"]["products_timed"] = result.products.timed;
    document["data"].push_back(std::move(row));
    fmt::print("{}\n", document.dump(2));
    return;
  }
  if (!result.device.empty()) {
    fmt::print(
        "{} on {}: {:.1f} images/s, {:.3f} ms a step of {} images (median of {}; latency {:.3f} ms, p99 {:.3f} ms), "
        "{}, level {}, {:.1f} TFLOP/s\n",
        config.name, info.name, row["images_per_second"].get<double>(), row["step_time_median_ns"].get<double>() * 1e-6,
        options.run.batch, result.device.count(), row["latency_median_ns"].get<double>() * 1e-6,
        row["latency_p99_ns"].get<double>() * 1e-6, options.run.precision, options.level,
        row["gflops_per_second"].get<double>() * 1e-3);
  }
  if (options.operations) print_operations(result.operations);
}

}  // namespace

int infer_on_device(const InferOptions& given, const SwinConfig& config) {
  InferOptions options = given;
  const DeviceModelOptions choice = model_options(options, options.run);
  if (!options.images.empty() && (options.operations || !options.logits.empty())) {
    throw WorkloadError(WorkloadErrorKind::kUsage, "--operations and --logits are for synthetic images", {},
                        "leave out --images, or take --json, which has each file's class");
  }
  check_device();
  check_device_memory(config, options.run.batch, choice);
  catch_interrupts();
  if (!options.images.empty()) return classify_given_files(options, config, choice);
  const DeviceResult result = run_passes(options, options.run, config, choice);
  print_result(options, config, choice, result);
  const bool finite = std::ranges::all_of(result.logits, [](float value) { return std::isfinite(value); });
  if (!finite) {
    throw WorkloadError(WorkloadErrorKind::kFailure, "the logits are not finite",
                        "a value left the range of the precision, or the weights are damaged",
                        "try --precision bf16 or fp32; `swin verify` checks the kernels");
  }
  return interrupted() ? kInterruptedStatus : 0;
}

}  // namespace swinscope
