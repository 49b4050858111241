#include "workloads/cuda/pass_tuner.h"

#include <algorithm>
#include <map>
#include <string>

namespace swinscope {
namespace {

constexpr double kFasterBy = 0.998;

class Tuner {
 public:
  explicit Tuner(const PassTrials& trials) : trials_(trials), best_(trials.milliseconds()) {}

  // Once through all choices. Returns whether any was exchanged.
  bool sweep() {
    bool changed = false;
    for (const bool pairs : {true, false}) {
      for (const cuda::MatmulChoice& choice : trials_.open()) {
        if (choice.is_pair == pairs) changed = try_ways(choice) || changed;
      }
    }
    return changed;
  }

  TunedPass result() const {
    const auto exchanged = std::ranges::count_if(kept_, [](const auto& choice) { return choice.second != 0; });
    return {trial_count_, static_cast<int>(exchanged)};
  }

 private:
  bool try_ways(const cuda::MatmulChoice& choice) {
    int& kept = kept_[choice.name];
    const int before = kept;
    for (int way = 0; way < choice.ways && !trials_.over(); ++way) {
      if (way != before && is_faster(choice, kept, way)) kept = way;
    }
    return kept != before;
  }

  // It is in use afterwards, else `kept` is.
  bool is_faster(const cuda::MatmulChoice& choice, int kept, int way) {
    ++trial_count_;
    trials_.use(choice, way);
    const double time = trials_.milliseconds();
    bool faster = time < best_ * kFasterBy;
    if (faster) {
      trials_.use(choice, kept);
      best_ = trials_.milliseconds();  // the GPU may only have become faster by itself
      faster = time < best_ * kFasterBy;
    }
    trials_.use(choice, faster ? way : kept);
    if (faster) best_ = time;
    return faster;
  }

  const PassTrials& trials_;
  double best_;
  int trial_count_ = 0;
  std::map<std::string, int> kept_;
};

}  // namespace

TunedPass tune_pass(const PassTrials& trials) {
  Tuner tuner(trials);
  while (tuner.sweep() && !trials.over()) {
  }
  return tuner.result();
}

}  // namespace swinscope
