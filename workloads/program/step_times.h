// Times of measured steps and what is reported of them.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace swinscope {

class StepTimes {
 public:
  void add(std::int64_t duration_ns) { durations_ns_.push_back(duration_ns); }
  bool empty() const { return durations_ns_.empty(); }
  std::size_t count() const { return durations_ns_.size(); }
  std::int64_t total_ns() const;
  double mean_ns() const;
  // The value below which the share `p` of the steps lies, linear between neighbours (numpy's default); p in [0, 1].
  double percentile_ns(double p) const;

 private:
  std::vector<std::int64_t> durations_ns_;
};

inline std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// The figures that every command reports of its measured steps. `images`: of all ranks in one step; `flops`: of one
// image in one step (forward and, in training, backward). All null without a measured step.
nlohmann::ordered_json summarize(const StepTimes& times, std::int64_t images, std::int64_t flops);

}  // namespace swinscope
