#include "workloads/program/device_scenes.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "workloads/data/synthetic_scenes.h"
#include "workloads/error.h"
#include "workloads/program/device_passes.h"
#include "workloads/program/interrupt.h"
#include "workloads/program/scene_inference.h"
#include "workloads/verify/verify.h"

namespace swinscope {
namespace {

ParameterStore<float> given_parameters(const RunOptions& run, const SwinConfig& config) {
  ParameterStore<float> store(config, false);
  fill_scene_parameters(run, store);
  return store;
}

class SceneDevice : public SceneSegmenter {
 public:
  SceneDevice(const InferOptions& options, const SwinConfig& config, const DeviceSegmenterOptions& choice)
      : precision_(choice.precision),
        segmenter_(config, options.run.batch, choice, given_parameters(options.run, config)) {}

  void forward(std::span<const float> images) override {
    segmenter_.set_images(images);
    segmenter_.forward();
  }
  bool finite(std::int64_t image) override { return segmenter_.finite(image); }
  std::vector<std::uint8_t> answer(std::int64_t image, std::int64_t side) override {
    return segmenter_.answer(image, side);
  }
  Precision precision() const override { return precision_; }

 private:
  Precision precision_;
  DeviceSegmenter segmenter_;
};

int measure_scenes(const InferOptions& options, const SwinConfig& config, const DeviceSegmenterOptions& choice,
                   nlohmann::ordered_json document) {
  const RunOptions& run = options.run;
  const std::int64_t pixels = std::int64_t{config.image_size} * config.image_size;
  std::vector<float> images(static_cast<std::size_t>(run.batch * kImageChannels * pixels));
  std::vector<std::uint8_t> labels(static_cast<std::size_t>(run.batch * pixels));
  SyntheticScenes(config.image_size, run.batch, run.seed).load(0, images, labels);
  DeviceSegmenter segmenter(config, run.batch, choice, given_parameters(run, config));
  segmenter.set_images(images);
  DevicePasses passes = measure_passes(run, segmenter.stream(), [&] { segmenter.forward(); });
  bool finite = true;
  for (std::int64_t image = 0; image < run.batch && !passes.device.empty(); ++image)
    finite = finite && segmenter.finite(image);
  const std::int64_t side = stage_shape(config, 0).resolution;
  if (!options.logits.empty())
    write_logits(options, config, images, {run.batch, side, side, config.classes}, segmenter.logits());
  profile_operations(options, segmenter.steps(), segmenter.stream(), passes);
  passes.graph_nodes = segmenter.graph_nodes();
  passes.products = segmenter.matmul_statistics();
  print_passes(options, std::string(config.name) + ", segmentation,", passes, describe_passes(options, config, passes),
               std::move(document));
  if (!finite) refuse_logits_that_are_not_finite();
  return interrupted() ? kInterruptedStatus : 0;
}

}  // namespace

DeviceSegmenterOptions segmenter_options(InferOptions& options) {
  if (options.tune_seconds) {
    throw WorkloadError(WorkloadErrorKind::kUsage, "--tune-seconds: segmentation chooses products alone", {},
                        "leave it out");
  }
  if (!options.images.empty() && (options.operations || !options.logits.empty())) {
    throw WorkloadError(WorkloadErrorKind::kUsage, "--operations and --logits are for synthetic scenes", {},
                        "leave out --images, or take --output, which writes each picture's classes");
  }
  const Level& level = find_level(options.level);
  if (options.run.precision.empty()) options.run.precision = level.default_precision;
  DeviceSegmenterOptions result;
  result.precision = parse_device_precision(options.run.precision);
  result.features = select_features(level, options.with, options.without, FeatureUse::kInference);
  result.gelu = gelu_form(options);
  result.tap_fusion = options.tap_fusion;
  // Pictures are answered at their own sizes.
  result.answers = options.images.empty();
  result.algorithm_folder = algorithm_folder();
  return result;
}

int infer_scenes_on_device(const InferOptions& options, const SwinConfig& config,
                           const DeviceSegmenterOptions& choice) {
  nlohmann::ordered_json document = scene_document(options, config, RankInfo{}, 1);
  describe_device(options, choice.features, document["run"]);
  catch_interrupts();
  if (options.images.empty()) return measure_scenes(options, config, choice, std::move(document));
  SceneReader reader = open_scenes(options, config);
  SceneDevice segmenter(options, config, choice);
  return segment_files(options, config, reader, segmenter, std::move(document));
}

}  // namespace swinscope
