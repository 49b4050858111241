#include "workloads/program/train_log.h"

#include <cerrno>
#include <cstring>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "workloads/error.h"

namespace swinscope {

TrainLog::TrainLog(const std::filesystem::path& file, bool resuming) {
  if (file.empty()) return;
  std::error_code ignored;
  if (!resuming && std::filesystem::exists(file, ignored)) {
    throw WorkloadError(WorkloadErrorKind::kUsage, fmt::format("--log {}: the file is there", file.string()), {},
                        "name another one; with --resume lines are added to it");
  }
  out_.open(file, std::ios::app);
  if (!out_) {
    throw WorkloadError(WorkloadErrorKind::kFailure, fmt::format("--log {}: cannot be written", file.string()),
                        std::strerror(errno));
  }
}

void TrainLog::step(std::int64_t step, double epoch, const StepResult& result, std::int64_t duration_ns,
                    std::int64_t images) {
  if (!out_.is_open()) return;
  const nlohmann::ordered_json line = {
      {"type", "step"},
      {"step", step},
      {"epoch", epoch},
      {"loss", result.loss},
      {"accuracy", result.accuracy},
      {"learning_rate", result.learning_rate},
      {"gradient_norm", result.gradient_norm},
      {"skipped", result.skipped},
      {"time_ns", duration_ns},
      {"data_ns", result.data_ns},
      {"input_wait_ns", result.input_wait_ns},
      {"images_per_second", static_cast<double>(images) / (static_cast<double>(duration_ns) * 1e-9)}};
  out_ << line.dump() << std::endl;
}

void TrainLog::epoch(const EpochResult& result) {
  if (!out_.is_open()) return;
  nlohmann::ordered_json line = {
      {"type", "epoch"},
      {"epoch", result.epoch},
      {"step", result.step},
      {"elapsed_ns",
       std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - began_).count()},
      {"loss", result.loss},
      {"accuracy", result.accuracy}};
  if (result.validation.images > 0) {
    line["validation_loss"] = result.validation.loss;
    line["validation_accuracy"] = result.validation.accuracy;
    if (result.validation.mean_iou) line["validation_mean_iou"] = *result.validation.mean_iou;
  }
  out_ << line.dump() << std::endl;
}

void TrainLog::skipped(const SkippedPath& skipped) {
  if (!out_.is_open()) return;
  const nlohmann::ordered_json line = {
      {"type", "skipped"}, {"path", skipped.path.string()}, {"reason", skipped.reason}};
  out_ << line.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) << std::endl;
}

}  // namespace swinscope
