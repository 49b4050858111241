#include "workloads/program/train_input.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "kernels/parallel.h"
#include "workloads/data/advancing_data.h"
#include "workloads/data/image_pipeline.h"
#include "workloads/data/scene_pipeline.h"
#include "workloads/data/synthetic_scenes.h"
#include "workloads/synthetic_data.h"

namespace swinscope {
namespace {

constexpr std::int64_t kSyntheticScenes = 16;

PipelineOptions pipeline_options(const TrainOptions& options, const SwinConfig& config, std::int64_t first, int ranks) {
  PipelineOptions pipeline;
  pipeline.image_size = config.image_size;
  pipeline.batch = options.run.batch;
  pipeline.stride = options.run.batch * ranks;
  pipeline.first = first;
  pipeline.workers = options.loader_threads > 0 ? options.loader_threads : cpu::thread_count();
  pipeline.least_area = options.crop_area;
  pipeline.seed = options.run.seed;
  return pipeline;
}

template <typename Pipeline>
std::function<std::vector<SkippedPath>()> skipped_of(const Pipeline& pipeline) {
  return [&pipeline] { return pipeline.skipped(); };
}

TrainInput open_images(const ImageFolder& folder, const PipelineOptions& options) {
  auto pipeline = std::make_unique<ImagePipeline>(folder, options);
  const auto skipped = skipped_of(*pipeline);
  return {std::move(pipeline), skipped};
}

TrainInput open_scenes(const std::vector<SceneFiles>& files, const std::vector<SkippedPath>& before, int classes,
                       const PipelineOptions& options) {
  auto pipeline = std::make_unique<ScenePipeline>(files, before, classes, options);
  const auto skipped = skipped_of(*pipeline);
  return {std::move(pipeline), skipped};
}

}  // namespace

TrainInput open_training_input(const TrainOptions& options, const SwinConfig& config, std::int64_t first, int ranks) {
  const PipelineOptions pipeline = pipeline_options(options, config, first, ranks);
  if (options.folders) return open_images(options.folders->train, pipeline);
  if (options.scenes) return open_scenes(options.scenes->train, options.scenes->skipped, config.classes, pipeline);
  if (config.task == Task::kSegmentation) {
    const std::int64_t different = std::min(kSyntheticScenes, options.dataset_size);
    return {std::make_unique<SyntheticScenes>(config.image_size, different, options.run.seed)};
  }
  return {std::make_unique<SyntheticData>(config, options.dataset_size, options.run.seed)};
}

std::vector<SkippedPath> skipped_in_listing(const TrainOptions& options) {
  if (options.scenes) return options.scenes->skipped;
  if (!options.folders) return {};
  std::vector<SkippedPath> skipped = options.folders->train.skipped;
  std::ranges::copy(options.folders->validation.skipped, std::back_inserter(skipped));
  return skipped;
}

std::int64_t validation_images(const TrainOptions& options) {
  if (options.folders) return static_cast<std::int64_t>(options.folders->validation.files.size());
  return options.scenes ? static_cast<std::int64_t>(options.scenes->validation.size()) : 0;
}

TrainInput open_validation_input(const TrainOptions& options, const SwinConfig& config, Communicator& communicator) {
  if (validation_images(options) == 0) return {};
  PipelineOptions pipeline =
      pipeline_options(options, config, communicator.rank() * options.run.batch, communicator.size());
  pipeline.training = false;
  TrainInput input = options.folders ? open_images(options.folders->validation, pipeline)
                                     : open_scenes(options.scenes->validation, {}, config.classes, pipeline);
  input.data = advancing(std::move(input.data), communicator);
  return input;
}

void open_data_folder(TrainOptions& options, SwinConfig& config) {
  if (options.data == kSyntheticData) return;
  if (config.task == Task::kSegmentation) {
    options.scenes = read_scene_folders(options.data);
    options.dataset_size = static_cast<std::int64_t>(options.scenes->train.size());
    config.classes = options.scenes->classes;
    return;
  }
  options.folders = read_train_and_validation(options.data);
  options.dataset_size = static_cast<std::int64_t>(options.folders->train.files.size());
  config.classes = static_cast<int>(options.folders->train.classes.size());
}

}  // namespace swinscope
