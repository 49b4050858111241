#include "workloads/program/scene_inference.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "kernels/upsample_loss.h"
#include "workloads/annotate.h"
#include "workloads/confusion.h"
#include "workloads/data/synthetic_scenes.h"
#include "workloads/error.h"
#include "workloads/images/scene_folder.h"
#include "workloads/model_cost.h"
#include "workloads/program/interrupt.h"
#include "workloads/program/scene_files.h"
#include "workloads/program/step_times.h"
#include "workloads/redraw.h"
#include "workloads/segmentation_model.h"

namespace swinscope {
namespace {

constexpr int kMostClasses = 254;  // masks hold class + 1
constexpr std::int64_t kMeasuredScenes = 16;

// T is float or double.
template <typename T>
class Segmenter {
 public:
  Segmenter(const InferOptions& options, const SwinConfig& config)
      : config_(config),
        batch_(options.run.batch),
        alone_(make_single_rank()),
        store_(config, false),
        loaded_(load_given_weights(options.run, store_)),
        model_(config, batch_, {.tap_fusion = options.tap_fusion}, store_, *alone_) {
    if (!loaded_) {
      redraw_parameters(store_, options.run.seed);
      for (const ParameterInfo& buffer : store_.layout().buffers())
        std::ranges::fill(store_.buffer(buffer), static_cast<T>(buffer.name.ends_with("running_var") ? 1.0 : 0.0));
    }
    model_.weights_changed();
  }

  // images: [batch, 3, size, size].
  void forward(std::span<const float> images) {
    images_.assign(images.begin(), images.end());
    logits_ = model_.forward(images_.data()).main;
  }

  // The classes of the pixels of image `index` of the last batch, a picture of width x height that was fitted into the
  // square at the top left: the logits are enlarged to the picture's own size.
  LabelMask answer(std::int64_t index, int width, int height, const std::string& name) {
    const std::int64_t side = stage_shape(config_, 0).resolution;
    const std::int64_t elements = side * side * config_.classes;
    const T* const logits = logits_ + index * elements;
    if (!std::all_of(logits, logits + elements, [](T value) { return std::isfinite(value); })) {
      throw WorkloadError(WorkloadErrorKind::kFailure, fmt::format("{}: the logits are not finite", name),
                          "the weights are damaged, or a value left the range of the precision", {});
    }
    const std::int64_t square = std::max(width, height);
    square_.resize(static_cast<std::size_t>(square * square));
    const UpsampleShape shape{1, side, side, square, square, config_.classes};
    const Operation operation{RangeName("answer"),
                              make_payload(upsample_argmax_cost(shape, sizeof(T)), OperationClass::kOther,
                                           precision_of<T>(), {side, side, config_.classes}, {square, square}),
                              {}};
    const OperationRange range(operation.name, operation.forward);
    cpu::upsample_argmax<T>(shape, logits, square_.data());
    LabelMask mask{width, height, {}};
    mask.labels.reserve(static_cast<std::size_t>(width) * static_cast<std::size_t>(height));
    for (std::int64_t row = 0; row < height; ++row)
      mask.labels.insert(mask.labels.end(), square_.begin() + row * square, square_.begin() + row * square + width);
    return mask;
  }

 private:
  SwinConfig config_;
  std::int64_t batch_;
  std::unique_ptr<Communicator> alone_;
  ParameterStore<T> store_;
  bool loaded_;
  SegmentationModel<T> model_;
  std::vector<T> images_;
  std::vector<std::uint8_t> square_;
  const T* logits_ = nullptr;
};

std::size_t image_elements(const SwinConfig& config) {
  return static_cast<std::size_t>(kImageChannels) * static_cast<std::size_t>(config.image_size) *
         static_cast<std::size_t>(config.image_size);
}

template <typename T>
SceneRun segment_files(SceneReader& reader, const InferOptions& options, const SwinConfig& config) {
  Segmenter<T> segmenter(options, config);
  const RunOptions& run_options = options.run;
  SceneRun run(config.classes);
  run.judged = !options.annotations.empty();
  std::vector<float> images(static_cast<std::size_t>(run_options.batch) * image_elements(config));
  for (std::uint64_t batch = 0; !interrupted(); ++batch) {
    const StepRange range({batch, static_cast<std::uint64_t>(run_options.batch)});
    std::vector<ReadScene> scenes;
    {
      const PhaseRange phase(Phase::kData);
      scenes = reader.next(run_options.batch, images);
    }
    if (scenes.empty()) break;
    const PhaseRange phase(Phase::kForward);
    for (std::int64_t i = 0; batch == 0 && i < run_options.warmup; ++i)
      segmenter.forward(images);
    const std::int64_t start_ns = now_ns();
    segmenter.forward(images);
    std::vector<LabelMask> answers;
    answers.reserve(scenes.size());
    for (const ReadScene& scene : scenes) {
      answers.push_back(
          segmenter.answer(static_cast<std::int64_t>(answers.size()), scene.width, scene.height, scene.file.string()));
    }
    run.times.add(now_ns() - start_ns);
    for (std::size_t i = 0; i < scenes.size(); ++i) {
      if (!options.output.empty()) write_answer(options.output / scenes[i].mask, answers[i]);
      run.add(scenes[i], answers[i]);
    }
  }
  return run;
}

template <typename T>
StepTimes measure_synthetic(const InferOptions& options, const SwinConfig& config) {
  Segmenter<T> segmenter(options, config);
  const RunOptions& run = options.run;
  SyntheticScenes data(config.image_size, kMeasuredScenes, run.seed);
  std::vector<float> images(static_cast<std::size_t>(run.batch) * image_elements(config));
  std::vector<std::uint8_t> labels(images.size() / kImageChannels);
  StepTimes times;
  for (std::int64_t step = 0; step < run.warmup + run.steps && !interrupted(); ++step) {
    const std::int64_t start_ns = now_ns();
    const StepRange range({static_cast<std::uint64_t>(step), static_cast<std::uint64_t>(run.batch)});
    {
      const PhaseRange phase(Phase::kData);
      data.load(step * run.batch, images, labels);
    }
    const PhaseRange phase(Phase::kForward);
    segmenter.forward(images);
    for (std::int64_t i = 0; i < run.batch; ++i)
      segmenter.answer(i, config.image_size, config.image_size, "synthetic");
    if (step >= run.warmup) times.add(now_ns() - start_ns);
  }
  return times;
}

nlohmann::ordered_json document_of(const InferOptions& options, const SwinConfig& config, const RankInfo& rank,
                                   int threads) {
  nlohmann::ordered_json document = start_document("swin.infer/1", options.run, config, rank, threads);
  document["run"]["task"] = "segmentation";
  document["run"]["classes"] = config.classes;
  document["run"]["tap_fusion"] = options.tap_fusion;
  return document;
}

void print_times(const InferOptions& options, const SwinConfig& config, const StepTimes& times,
                 nlohmann::ordered_json document) {
  nlohmann::ordered_json row = summarize(times, options.run.batch, model_cost(config).flops());
  if (options.run.json) {
    document["data"].push_back(std::move(row));
    fmt::print("{}\n", document.dump(2));
  } else if (!times.empty()) {
    fmt::print("{}, segmentation: {:.2f} images/s, {:.3f} ms a step of {} images (median of {}), {:.1f} GFLOP/s\n",
               config.name, row["images_per_second"].get<double>(), row["step_time_median_ns"].get<double>() * 1e-6,
               options.run.batch, times.count(), row["gflops_per_second"].get<double>());
  }
}

[[noreturn]] void refuse(const char* what, const char* why, const char* hint) {
  throw WorkloadError(WorkloadErrorKind::kUsage, what, why, hint);
}

}  // namespace

void prepare_scene_inference(const InferOptions& options, SwinConfig& config) {
  if (options.run.device != "cpu") refuse("--task segmentation: not on a GPU yet", "", "--device cpu is");
  if (options.images.empty() && !options.annotations.empty()) {
    refuse("--annotations: of which pictures?", "", "add --images FOLDER");
  }
  if (options.images.empty() && !options.output.empty()) {
    refuse("--output: the masks of which pictures?", "", "add --images FOLDER");
  }
  set_segmentation(options.run, options.head_channels, config);
  if (options.run.weights.empty()) config.classes = kAde20kClasses;
  if (config.classes > kMostClasses) {
    throw WorkloadError(WorkloadErrorKind::kUsage,
                        fmt::format("{}: of {} classes", options.run.weights.string(), config.classes),
                        fmt::format("masks of 8 bits tell 1 to {} apart", kMostClasses), {});
  }
}

void refuse_scene_options(const InferOptions& options) {
  if (options.annotations.empty() && options.output.empty() && !options.tap_fusion && options.head_channels == 0)
    return;
  refuse("--annotations, --output, --tap-fusion and --head-channels are for segmentation", "",
         "add --task segmentation");
}

int infer_scenes(const InferOptions& options, const SwinConfig& config) {
  const RankInfo rank = discover_rank();
  const int threads = use_threads(options.run, 1);
  const bool fp64 = options.run.precision == "fp64";
  catch_interrupts();
  nlohmann::ordered_json document = document_of(options, config, rank, threads);
  if (options.images.empty()) {
    const StepTimes times =
        fp64 ? measure_synthetic<double>(options, config) : measure_synthetic<float>(options, config);
    // Ranks run apart from each other; one prints.
    if (rank.rank == 0) print_times(options, config, times, std::move(document));
    return interrupted() ? kInterruptedStatus : 0;
  }
  if (!options.output.empty()) make_answer_folder(options.output);
  SceneReader reader(options.images, options.annotations, config);
  const SceneRun run =
      fp64 ? segment_files<double>(reader, options, config) : segment_files<float>(reader, options, config);
  print_scene_run(run, reader.skipped(), options.run, config, std::move(document));
  if (interrupted()) return kInterruptedStatus;
  return reader.skipped().empty() ? 0 : static_cast<int>(WorkloadErrorKind::kInput);
}

}  // namespace swinscope
