// swin train --log: a line of JSON for each step, epoch and file that was skipped; written as they happen.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>

#include "workloads/program/train_options.h"

namespace swinscope {

class TrainLog {
 public:
  // An empty path: nothing is written. Appends when resuming (steps that are repeated appear again: the later line
  // holds); else throws WorkloadError (kUsage) for a file that is there. Throws kFailure if it cannot be opened.
  TrainLog(const std::filesystem::path& file, bool resuming);

  void step(std::int64_t step, double epoch, const StepResult& result, std::int64_t duration_ns, std::int64_t images);
  void epoch(const EpochResult& result);
  void skipped(const SkippedPath& skipped);

 private:
  std::ofstream out_;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

}  // namespace swinscope
