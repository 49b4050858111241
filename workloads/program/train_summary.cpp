#include "workloads/program/train_summary.h"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "workloads/model_cost.h"

namespace swinscope {
namespace {

nlohmann::ordered_json describe(const EpochResult& epoch) {
  nlohmann::ordered_json row = {{"epoch", epoch.epoch},
                                {"step", epoch.step},
                                {"steps", epoch.steps},
                                {"loss", epoch.loss},
                                {"accuracy", epoch.accuracy}};
  if (epoch.validation.images > 0) {
    row["validation_loss"] = epoch.validation.loss;
    row["validation_accuracy"] = epoch.validation.accuracy;
    if (epoch.validation.mean_iou) row["validation_mean_iou"] = *epoch.validation.mean_iou;
    row["validation_images"] = epoch.validation.images;
  }
  return row;
}

// Null for a class that does not occur.
nlohmann::ordered_json describe_classes(const std::vector<double>& iou) {
  nlohmann::ordered_json values = nlohmann::ordered_json::array();
  for (const double value : iou)
    values.push_back(value < 0.0 ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(value));
  return values;
}

nlohmann::ordered_json summarize_training(const TrainOptions& options, const SwinConfig& config, std::int64_t images,
                                          const TrainResult& result) {
  nlohmann::ordered_json row = summarize(result.times, images, model_cost(config).training_flops());
  row["steps_done"] = result.resumed_at + static_cast<std::int64_t>(result.steps.size());
  row["resumed_at"] = result.resumed_at;
  if (!result.steps.empty()) {
    row["loss_first"] = result.steps.front().loss;
    row["loss_last"] = result.steps.back().loss;
    row["accuracy_last"] = result.steps.back().accuracy;
  }
  row["steps_skipped"] = result.skipped;
  row["input_wait_share"] = nullptr;
  if (!result.input_wait_shares.empty()) {
    // The ranks go in step, so the one that waits longest is what costs all of them.
    row["input_wait_share"] = std::ranges::max(result.input_wait_shares);
    row["input_wait_shares"] = result.input_wait_shares;
  }
  if (options.folders || options.scenes) {
    row["files_skipped"] = result.skipped_files.size();
    row["epochs"] = nlohmann::ordered_json::array();
    for (const EpochResult& epoch : result.epochs)
      row["epochs"].push_back(describe(epoch));
    if (!result.epochs.empty() && result.epochs.back().validation.mean_iou) {
      row["validation_iou"] = describe_classes(result.epochs.back().validation.iou);
    }
  }
  return row;
}

void print_classes(const std::vector<double>& iou) {
  constexpr std::size_t kInALine = 7;
  std::size_t printed = 0;
  for (std::size_t label = 0; label < iou.size(); ++label) {
    if (iou[label] < 0.0) continue;
    fmt::print("{}class {:>3} {:5.1f} %", printed % kInALine == 0 ? (printed == 0 ? "IoU: " : "\n     ") : ", ", label,
               100.0 * iou[label]);
    ++printed;
  }
  if (printed > 0) fmt::print("\n");
}

void add_warnings(const TrainResult& result, nlohmann::ordered_json& warnings) {
  if (result.skipped > 0) warnings.push_back("steps with a gradient that is not finite were skipped");
  if (!result.steps.empty() && result.steps.back().stop) warnings.push_back("interrupted");
  for (const SkippedPath& skipped : result.skipped_files)
    warnings.push_back(fmt::format("{}: skipped: {}", skipped.path.string(), skipped.reason));
  if (!result.checkpoint_failure.empty()) {
    warnings.push_back(fmt::format("the last checkpoint could not be written: {}", result.checkpoint_failure));
  }
}

void print_lines(const TrainOptions& options, const SwinConfig& config, const RankInfo& rank, std::int64_t images,
                 const TrainResult& result, const nlohmann::ordered_json& row) {
  if (result.times.empty()) return;
  fmt::print("{} on {} rank{}: {:.2f} images/s, {:.3f} ms a step of {} images (median of {}), loss {:.4f} -> {:.4f}\n",
             config.name, rank.size, rank.size == 1 ? "" : "s", row["images_per_second"].get<double>(),
             row["step_time_median_ns"].get<double>() * 1e-6, images, result.times.count(), result.steps.front().loss,
             result.steps.back().loss);
  if (!options.folders && !options.scenes) return;
  const auto longest = std::ranges::max_element(result.input_wait_shares);
  const std::string where = rank.size == 1 ? std::string()
                                           : fmt::format(" on rank {}, the longest of {}",
                                                         longest - result.input_wait_shares.begin(), rank.size);
  fmt::print("waiting for images: {:.1f} % of the time{}; {} files skipped\n", 100.0 * *longest, where,
             result.skipped_files.size());
  if (result.epochs.empty() || result.epochs.back().validation.images == 0) return;
  const Evaluation& last = result.epochs.back().validation;
  if (last.mean_iou) {
    fmt::print("held out: mean IoU {:.2f} %, accuracy {:.2f} % of the pixels of {} images, loss {:.4f}\n",
               100.0 * *last.mean_iou, 100.0 * last.accuracy, last.images, last.loss);
    print_classes(last.iou);
    return;
  }
  fmt::print("held out: accuracy {:.2f} % of {} images, loss {:.4f}\n", 100.0 * last.accuracy, last.images, last.loss);
}

}  // namespace

void print_train_summary(const TrainOptions& options, const SwinConfig& config, const RankInfo& rank, int threads,
                         const TrainResult& result) {
  const std::int64_t images = options.run.batch * options.trainer.accumulate * rank.size;
  const nlohmann::ordered_json row = summarize_training(options, config, images, result);
  if (!options.run.json) {
    print_lines(options, config, rank, images, result, row);
    return;
  }
  nlohmann::ordered_json document = start_document("swin.train/1", options.run, config, rank, threads);
  document["run"]["data"] = options.data;
  document["run"]["task"] = config.task == Task::kSegmentation ? "segmentation" : "classification";
  document["run"]["classes"] = config.classes;
  document["run"]["new_classifier"] = result.new_classifier;
  document["run"].update(result.device);
  document["run"]["accumulate"] = options.trainer.accumulate;
  if (options.run.device != "cpu" && rank.size > 1) document["run"]["all_reduce"] = options.all_reduce;
  add_warnings(result, document["warnings"]);
  document["data"].push_back(row);
  fmt::print("{}\n", document.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

}  // namespace swinscope
