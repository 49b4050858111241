#include <algorithm>
#include <memory>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "workloads/annotate.h"
#include "workloads/error.h"
#include "workloads/execute/host_model.h"
#include "workloads/model_cost.h"
#include "workloads/program/commands.h"
#include "workloads/program/device_commands.h"
#include "workloads/program/image_inference.h"
#include "workloads/program/interrupt.h"
#include "workloads/program/run_options.h"
#include "workloads/program/scene_inference.h"
#include "workloads/program/step_times.h"
#include "workloads/redraw.h"
#include "workloads/synthetic_data.h"

namespace swinscope {
namespace {

constexpr std::int64_t kDatasetSize = 1024;

struct InferenceResult {
  StepTimes times;
  std::vector<int> predictions;  // of the last batch
};

template <typename T>
std::vector<int> largest_logits(const T* logits, std::int64_t batch, int classes) {
  std::vector<int> predictions;
  for (std::int64_t i = 0; i < batch; ++i) {
    const T* const row = logits + i * classes;
    predictions.push_back(static_cast<int>(std::max_element(row, row + classes) - row));
  }
  return predictions;
}

template <typename T>
InferenceResult run_inference(const RunOptions& options, const SwinConfig& config) {
  ParameterStore<T> store(config, false);
  if (!load_given_weights(options, store)) redraw_parameters(store, options.seed);
  HostModel<T> model(config, options.batch, {}, store);
  model.weights_changed();
  const SyntheticData data(config, kDatasetSize, options.seed);
  std::vector<T> images(
      static_cast<std::size_t>(options.batch * kImageChannels * config.image_size * config.image_size));
  std::vector<std::int32_t> labels(static_cast<std::size_t>(options.batch));
  InferenceResult result;
  for (std::int64_t step = 0; step < options.warmup + options.steps && !interrupted(); ++step) {
    const std::int64_t start_ns = now_ns();
    const StepRange range({static_cast<std::uint64_t>(step), labels.size()});
    {
      const PhaseRange phase(Phase::kData);
      data.fill<T>(step * options.batch, images, labels);
    }
    const PhaseRange phase(Phase::kForward);
    result.predictions = largest_logits(model.forward(images.data()).main, options.batch, config.classes);
    if (step >= options.warmup) result.times.add(now_ns() - start_ns);
  }
  return result;
}

template <typename T>
int classify_given_files(const InferOptions& options, const SwinConfig& config, int threads) {
  const RunOptions& run = options.run;
  ImageReader reader(options.images, config.image_size);
  ParameterStore<T> store(config, false);
  if (!load_given_weights(run, store)) redraw_parameters(store, run.seed);
  HostModel<T> model(config, run.batch, {}, store);
  model.weights_changed();
  return classify_files(std::move(reader), run, config,
                        start_document("swin.infer/1", run, config, RankInfo{}, threads),
                        [&](std::span<const float> images) {
                          const std::vector<T> converted(images.begin(), images.end());
                          const T* const logits = model.forward(converted.data()).main;
                          return std::vector<float>(logits, logits + run.batch * config.classes);
                        });
}

void print_summary(const RunOptions& options, const SwinConfig& config, const RankInfo& rank, int threads,
                   const InferenceResult& result) {
  nlohmann::ordered_json row = summarize(result.times, options.batch, model_cost(config).flops());
  row["predictions"] = result.predictions;
  if (options.json) {
    nlohmann::ordered_json document = start_document("swin.infer/1", options, config, rank, threads);
    document["data"].push_back(std::move(row));
    fmt::print("{}\n", document.dump(2));
  } else if (!result.times.empty()) {
    fmt::print("{}: {:.2f} images/s, {:.3f} ms a step of {} images (median of {}), {:.1f} GFLOP/s\n", config.name,
               row["images_per_second"].get<double>(), row["step_time_median_ns"].get<double>() * 1e-6, options.batch,
               result.times.count(), row["gflops_per_second"].get<double>());
  }
}

int infer(InferOptions wanted) {
  SwinConfig config = resolve_config(wanted.run);
  const bool segments = wanted.task == Task::kSegmentation;
  if (segments) {
    prepare_scene_inference(wanted, config);
  } else {
    refuse_scene_options(wanted);
  }
  if (!wanted.images.empty() && discover_rank().size > 1) {
    throw WorkloadError(WorkloadErrorKind::kUsage, "--images: not as one of several ranks",
                        "each would classify all files", "start `swin infer --images` once");
  }
  if (wanted.run.device == "cuda") return infer_on_device(wanted, config);
  refuse_device_options(wanted);
  require_cpu(wanted.run);
  if (segments) return infer_scenes(wanted, config);
  const RunOptions& options = wanted.run;
  const RankInfo rank = discover_rank();
  const int threads = use_threads(options, 1);
  catch_interrupts();
  if (!wanted.images.empty()) {
    return options.precision == "fp64" ? classify_given_files<double>(wanted, config, threads)
                                       : classify_given_files<float>(wanted, config, threads);
  }
  const InferenceResult result =
      options.precision == "fp64" ? run_inference<double>(options, config) : run_inference<float>(options, config);
  // Ranks run apart from each other; one prints.
  if (rank.rank == 0) print_summary(options, config, rank, threads, result);
  return interrupted() ? kInterruptedStatus : 0;
}

}  // namespace

void add_infer_command(Program& program) {
  Command& command = program.add_command("infer", "Classify or segment images and measure the time of a batch");
  const auto options = std::make_shared<InferOptions>();
  add_run_options(command, options->run, "--batch,--batch-per-gpu");
  command.option("--images", options->images,
                 "JPEG file, or folder of them, to go through once (default: synthetic images, for --steps)");
  const auto task = std::make_shared<std::string>("classification");
  add_task_option(command, *task);
  command.option("--annotations", options->annotations,
                 "segmentation: folder with the mask NAME.png of each NAME.jpg, to judge by (mean IoU)");
  command.option("--output", options->output,
                 "segmentation: new folder to write NAME.png into for each NAME.jpg: class + 1 of each pixel");
  add_head_options(command, options->head_channels, options->tap_fusion);
  const std::vector<Option> for_device = add_device_options(command, *options);
  command.does([options, task, for_device] {
    options->task = parse_task(*task);
    options->given = std::ranges::any_of(for_device, &Option::is_given);
    return infer(*options);
  });
}

}  // namespace swinscope
