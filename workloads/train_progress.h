// What `swin train` says while it runs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "workloads/trainer.h"

namespace swinscope {

// "5.2 s", "3 min 20 s", "2 h 05 min".
std::string format_time_left(double seconds);

// Decides which steps are worth a line, and estimates the time left from the time since the first one: validation and
// checkpoints count, as they will again.
class TrainProgress {
 public:
  // `done`: steps of an earlier run; `global_batch`: images of a step on all ranks.
  TrainProgress(std::int64_t done, std::int64_t total, std::int64_t global_batch);

  // Step `step` (from 1) ended at `now_ns` on any steady clock. Empty where another line would be one too many: a line
  // for every tenth of the way, and else one in half a minute.
  std::optional<std::string> line(std::int64_t step, const StepResult& result, std::int64_t duration_ns,
                                  std::int64_t now_ns);

 private:
  std::int64_t total_;
  std::int64_t global_batch_;
  std::int64_t tenth_;      // steps
  std::int64_t first_ = 0;  // step from whose end on time is counted
  std::int64_t first_ns_ = 0;
  std::int64_t said_ns_ = 0;
};

}  // namespace swinscope
