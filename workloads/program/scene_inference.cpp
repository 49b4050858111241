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
#include "workloads/execute/host_model.h"
#include "workloads/images/scene_folder.h"
#include "workloads/model_cost.h"
#include "workloads/program/file_report.h"
#include "workloads/program/interrupt.h"
#include "workloads/program/scene_files.h"
#include "workloads/program/step_times.h"
#include "workloads/redraw.h"

namespace swinscope {
namespace {

constexpr int kMostClasses = 254;  // masks hold class + 1
constexpr std::int64_t kMeasuredScenes = 16;

// T is float or double.
template <typename T>
class CpuSegmenter : public SceneSegmenter {
 public:
  CpuSegmenter(const InferOptions& options, const SwinConfig& config)
      : config_(config),
        store_(config, false),
        model_(config, options.run.batch, {.tap_fusion = options.tap_fusion}, store_) {
    fill_scene_parameters(options.run, store_);
    model_.weights_changed();
  }

  void forward(std::span<const float> images) override {
    images_.assign(images.begin(), images.end());
    logits_ = model_.forward(images_.data()).main;
  }
  bool finite(std::int64_t image) override {
    const std::span<const T> logits(logits_of(image), static_cast<std::size_t>(image_logits()));
    return std::ranges::all_of(logits, [](T value) { return std::isfinite(value); });
  }
  std::vector<std::uint8_t> answer(std::int64_t image, std::int64_t side) override {
    std::vector<std::uint8_t> classes(static_cast<std::size_t>(side * side));
    const std::int64_t own = stage_shape(config_, 0).resolution;
    cpu::upsample_argmax<T>({1, own, own, side, side, config_.classes}, logits_of(image), classes.data());
    return classes;
  }
  Precision precision() const override { return precision_of<T>(); }

 private:
  std::int64_t image_logits() const {
    const std::int64_t side = stage_shape(config_, 0).resolution;
    return side * side * config_.classes;
  }
  const T* logits_of(std::int64_t image) const { return logits_ + image * image_logits(); }

  SwinConfig config_;
  ParameterStore<T> store_;
  HostModel<T> model_;
  std::vector<T> images_;
  const T* logits_ = nullptr;
};

std::unique_ptr<SceneSegmenter> make_cpu_segmenter(const InferOptions& options, const SwinConfig& config) {
  if (options.run.precision == "fp64") return std::make_unique<CpuSegmenter<double>>(options, config);
  return std::make_unique<CpuSegmenter<float>>(options, config);
}

std::int64_t element_bytes_of(Precision precision) {
  if (precision == Precision::kFp64) return 8;
  return precision == Precision::kFp16 || precision == Precision::kBf16 ? 2 : 4;
}

// The classes of the pixels of an image of the last batch, a picture of width x height that was fitted into the square
// at the top left: the logits are enlarged to the picture's own size.
LabelMask answer_picture(SceneSegmenter& segmenter, const SwinConfig& config, std::int64_t image, int width, int height,
                         const std::string& name) {
  const std::int64_t side = stage_shape(config, 0).resolution;
  const std::int64_t square = std::max(width, height);
  const Precision precision = segmenter.precision();
  const UpsampleShape shape{1, side, side, square, square, config.classes};
  const OperationCost cost = upsample_argmax_cost(shape, element_bytes_of(precision));
  const RangeName range_name("answer");
  const OperationRange range(range_name, make_payload(cost, OperationClass::kOther, precision,
                                                      {side, side, config.classes}, {square, square}));
  if (!segmenter.finite(image)) {
    throw WorkloadError(WorkloadErrorKind::kFailure, fmt::format("{}: the logits are not finite", name),
                        "the weights are damaged, or a value left the range of the precision", {});
  }
  const std::vector<std::uint8_t> classes = segmenter.answer(image, square);
  LabelMask mask{width, height, {}};
  mask.labels.reserve(static_cast<std::size_t>(width) * static_cast<std::size_t>(height));
  for (std::int64_t row = 0; row < height; ++row)
    mask.labels.insert(mask.labels.end(), classes.begin() + row * square, classes.begin() + row * square + width);
  return mask;
}

std::size_t image_elements(const SwinConfig& config) {
  return static_cast<std::size_t>(kImageChannels) * static_cast<std::size_t>(config.image_size) *
         static_cast<std::size_t>(config.image_size);
}

// One batch: from the images to the masks, in the order of the scenes.
std::vector<LabelMask> answer_batch(SceneSegmenter& segmenter, const SwinConfig& config, std::span<const float> images,
                                    const std::vector<ReadScene>& scenes) {
  segmenter.forward(images);
  std::vector<LabelMask> answers;
  answers.reserve(scenes.size());
  for (const ReadScene& scene : scenes) {
    answers.push_back(answer_picture(segmenter, config, static_cast<std::int64_t>(answers.size()), scene.width,
                                     scene.height, scene.file.string()));
  }
  return answers;
}

SceneRun run_batches(const InferOptions& options, const SwinConfig& config, SceneReader& reader,
                     SceneSegmenter& segmenter) {
  const RunOptions& run_options = options.run;
  SceneRun run(config.classes);
  run.judged = !options.annotations.empty();
  std::vector<float> images(static_cast<std::size_t>(run_options.batch) * image_elements(config));
  for (std::uint64_t batch = 0; !interrupted(); ++batch) {
    const StepRange range({batch, static_cast<std::uint64_t>(run_options.batch)});
    std::vector<ReadScene> scenes;
    {
      // The rest of a last batch that is not full keeps older images, whose classes nobody asks for.
      const PhaseRange phase(Phase::kData);
      scenes = reader.next(run_options.batch, images);
    }
    if (scenes.empty()) break;
    const PhaseRange phase(Phase::kForward);
    for (std::int64_t i = 0; batch == 0 && i < run_options.warmup; ++i)
      segmenter.forward(images);
    const std::int64_t start_ns = now_ns();
    const std::vector<LabelMask> answers = answer_batch(segmenter, config, images, scenes);
    run.times.add(now_ns() - start_ns);
    for (std::size_t i = 0; i < scenes.size(); ++i) {
      if (!options.output.empty()) write_answer(options.output / scenes[i].mask, answers[i]);
      run.add(scenes[i], answers[i]);
    }
  }
  return run;
}

StepTimes measure_synthetic(const InferOptions& options, const SwinConfig& config, SceneSegmenter& segmenter) {
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
      answer_picture(segmenter, config, i, config.image_size, config.image_size, "synthetic");
    if (step >= run.warmup) times.add(now_ns() - start_ns);
  }
  return times;
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

template <typename T>
void fill_scene_parameters(const RunOptions& options, ParameterStore<T>& store) {
  if (load_given_weights(options, store)) return;
  redraw_parameters(store, options.seed);
  for (const ParameterInfo& buffer : store.layout().buffers())
    std::ranges::fill(store.buffer(buffer), static_cast<T>(buffer.name.ends_with("running_var") ? 1.0 : 0.0));
}
template void fill_scene_parameters<float>(const RunOptions&, ParameterStore<float>&);
template void fill_scene_parameters<double>(const RunOptions&, ParameterStore<double>&);

nlohmann::ordered_json scene_document(const InferOptions& options, const SwinConfig& config, const RankInfo& rank,
                                      int threads) {
  nlohmann::ordered_json document = start_document("swin.infer/1", options.run, config, rank, threads);
  document["run"]["task"] = "segmentation";
  document["run"]["classes"] = config.classes;
  document["run"]["tap_fusion"] = options.tap_fusion;
  return document;
}

int infer_scenes(const InferOptions& options, const SwinConfig& config) {
  const RankInfo rank = discover_rank();
  const int threads = use_threads(options.run, 1);
  catch_interrupts();
  nlohmann::ordered_json document = scene_document(options, config, rank, threads);
  if (options.images.empty()) {
    const StepTimes times = measure_synthetic(options, config, *make_cpu_segmenter(options, config));
    // Ranks run apart from each other; one prints.
    if (rank.rank == 0) print_times(options, config, times, std::move(document));
    return interrupted() ? kInterruptedStatus : 0;
  }
  SceneReader reader = open_scenes(options, config);
  return segment_files(options, config, reader, *make_cpu_segmenter(options, config), std::move(document));
}

SceneReader open_scenes(const InferOptions& options, const SwinConfig& config) {
  if (!options.output.empty()) make_answer_folder(options.output);
  return {options.images, options.annotations, config};
}

int segment_files(const InferOptions& options, const SwinConfig& config, SceneReader& reader, SceneSegmenter& segmenter,
                  nlohmann::ordered_json document) {
  const SceneRun run = run_batches(options, config, reader, segmenter);
  print_scene_run(run, reader.skipped(), options.run, config, std::move(document));
  return status_of_files(reader.skipped());
}

}  // namespace swinscope
