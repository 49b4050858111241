// swin infer --device cuda.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "workloads/cuda/calibration.h"
#include "workloads/cuda/device_model.h"
#include "workloads/cuda/element_type.h"
#include "workloads/cuda/sensitivity.h"
#include "workloads/error.h"
#include "workloads/model_cost.h"
#include "workloads/program/device_commands.h"
#include "workloads/program/device_passes.h"
#include "workloads/program/device_scenes.h"
#include "workloads/program/image_inference.h"
#include "workloads/program/interrupt.h"
#include "workloads/program/say.h"
#include "workloads/quantized_weights.h"
#include "workloads/redraw.h"
#include "workloads/synthetic_data.h"
#include "workloads/verify/verify.h"

namespace swinscope {
namespace {

constexpr std::int64_t kDatasetSize = 1024;
constexpr double kTuneSeconds = 20.0;
// Of longer passes, some 3 ms, a product alone says enough of a product in the pass.
constexpr double kTunedFlops = 1e12;

DeviceModelOptions model_options(const InferOptions& options, const SwinConfig& config, RunOptions& run) {
  const Level& level = find_level(options.level);
  DeviceModelOptions result;
  if (run.precision.empty()) run.precision = level.default_precision;
  result.precision = parse_inference_precision(run.precision);
  result.features = select_features(level, options.with, options.without, FeatureUse::kInference);
  result.features.adamw = false;  // of training
  result.gelu = gelu_form(options);
  result.algorithm_folder = algorithm_folder();
  const bool short_pass = static_cast<double>(model_cost(config).flops() * run.batch) <= kTunedFlops;
  result.tune_seconds = options.tune_seconds.value_or(short_pass ? kTuneSeconds : 0.0);
  return result;
}

std::vector<int> largest_logits(const std::vector<float>& logits, std::int64_t batch, int classes) {
  std::vector<int> predictions;
  for (std::int64_t i = 0; i < batch; ++i) {
    const auto first = logits.begin() + i * classes;
    predictions.push_back(static_cast<int>(std::max_element(first, first + classes) - first));
  }
  return predictions;
}

std::vector<float> synthetic_images(const SwinConfig& config, std::int64_t batch, std::uint64_t seed) {
  const SyntheticData data(config, kDatasetSize, seed);
  std::vector<float> images(static_cast<std::size_t>(batch * kImageChannels * config.image_size * config.image_size));
  std::vector<std::int32_t> labels(static_cast<std::size_t>(batch));
  data.fill<float>(0, images, labels);
  return images;
}

// Those of `swin quantize`, or else by these images.
InputRanges given_or_found_ranges(const RunOptions& run, const SwinConfig& config, const DeviceModelOptions& choice,
                                  const ParameterStore<float>& store, const std::vector<float>& images) {
  if (!run.weights.empty()) {
    if (const auto quantization = quantization_in(SafetensorsFile(run.weights)))
      return ranges_for(choice.precision, *quantization, run.weights);
  }
  const InputRanges ranges = ranges_of(count_inputs(config, run.batch, choice, store, {images}), Observer::kMse,
                                       byte_format_of(choice.precision));
  Sensitivity found = find_sensitivity(config, run.batch, choice, store, images, ranges, kLeastCosine);
  if (!run.quiet) {
    say("8 bits by {} synthetic images (`swin quantize` takes those of a folder): the logits' cosine with fp16 is "
        "{:.5f}\n",
        run.batch, found.chosen.cosine);
    for (const LayerGroup& group : found.groups)
      if (!group.kept) say("  {} stays in fp16\n", group.name);
  }
  return std::move(found.ranges);
}

// With what its products were chosen by, where that took time now. In 8 bits: see above.
std::unique_ptr<DeviceModel> make_model(const RunOptions& run, const SwinConfig& config, DeviceModelOptions choice,
                                        const std::vector<float>& images) {
  ParameterStore<float> store(config, false);
  if (!load_given_weights(run, store)) redraw_parameters(store, run.seed);
  if (byte_format_of(choice.precision) != ByteFormat::kNone)
    choice.input_ranges = given_or_found_ranges(run, config, choice, store, images);
  auto model = std::make_unique<DeviceModel>(config, run.batch, choice, store);
  const cuda::MatmulStatistics products = model->matmul_statistics();
  if (!run.quiet && products.timed > 0) {
    say("ways to compute {} products timed{}; kept for this GPU in {}\n", products.timed,
        products.exchanged == 0
            ? std::string()
            : fmt::format(", {} exchanged for what is faster in the whole pass", products.exchanged),
        choice.algorithm_folder.empty() ? "no file" : choice.algorithm_folder.string());
  }
  return model;
}

int measure_model(const InferOptions& options, const SwinConfig& config, const DeviceModelOptions& choice) {
  const RunOptions& run = options.run;
  const std::vector<float> images = synthetic_images(config, run.batch, run.seed);
  const std::unique_ptr<DeviceModel> made = make_model(run, config, choice, images);
  DeviceModel& model = *made;
  model.set_images(images);
  DevicePasses passes = measure_passes(run, model.stream(), [&] { model.forward(); });
  const std::vector<float> logits = model.logits();
  passes.graph_nodes = model.graph_nodes();
  passes.products = model.matmul_statistics();
  write_logits(options, config, images, {run.batch, config.classes}, logits);
  profile_operations(options, model.steps(), model.stream(), passes);
  nlohmann::ordered_json row = describe_passes(options, config, passes);
  row["predictions"] = largest_logits(logits, run.batch, config.classes);
  nlohmann::ordered_json document = start_document("swin.infer/1", run, config, RankInfo{}, 1);
  describe_device(options, choice.features, document["run"]);
  print_passes(options, std::string(config.name), passes, std::move(row), std::move(document));
  if (!std::ranges::all_of(logits, [](float value) { return std::isfinite(value); }))
    refuse_logits_that_are_not_finite();
  return interrupted() ? kInterruptedStatus : 0;
}

int classify_given_files(const InferOptions& options, const SwinConfig& config, const DeviceModelOptions& choice) {
  ImageReader reader(options.images, config.image_size);
  const std::unique_ptr<DeviceModel> model =
      make_model(options.run, config, choice, synthetic_images(config, options.run.batch, options.run.seed));
  nlohmann::ordered_json document = start_document("swin.infer/1", options.run, config, RankInfo{}, 1);
  document["run"]["gpu"] = cuda::device_info().name;
  return classify_files(std::move(reader), options.run, config, std::move(document),
                        [&](std::span<const float> images) {
                          model->set_images(images);
                          model->forward();
                          return model->logits();
                        });
}

}  // namespace

int infer_on_device(const InferOptions& given, const SwinConfig& config) {
  InferOptions options = given;
  if (options.task == Task::kSegmentation) {
    const DeviceSegmenterOptions choice = segmenter_options(options);
    check_device();
    check_segmenter(config, choice, options.run.batch, cuda::free_memory());
    return infer_scenes_on_device(options, config, choice);
  }
  const DeviceModelOptions choice = model_options(options, config, options.run);
  if (!options.images.empty() && (options.operations || !options.logits.empty())) {
    throw WorkloadError(WorkloadErrorKind::kUsage, "--operations and --logits are for synthetic images", {},
                        "leave out --images, or take --json, which has each file's class");
  }
  check_device();
  if (byte_format_of(choice.precision) != ByteFormat::kNone)
    check_eight_bits(cuda::device_info(), options.run.precision);
  check_device_memory(config, options.run.batch, choice);
  catch_interrupts();
  if (!options.images.empty()) return classify_given_files(options, config, choice);
  return measure_model(options, config, choice);
}

}  // namespace swinscope
