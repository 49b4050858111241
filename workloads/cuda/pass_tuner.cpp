#include "workloads/cuda/pass_tuner.h"

#include <algorithm>
#include <map>
#include <string>

namespace swinscope {
namespace {

constexpr double kFasterBy = 0.998;

using Ways = std::map<std::string, int>;

class Tuner {
 public:
  explicit Tuner(const PassTrials& trials) : trials_(trials), best_(trials.milliseconds()) {}

  // Through all choices again and again, until nothing changes.
  void descend() {
    while (sweep() && !trials_.over()) {
    }
  }

  const Ways& kept() const { return kept_; }

  // The second way of each product, where it has one.
  Ways second_ways() const {
    Ways ways = kept_;
    for (const cuda::MatmulChoice& choice : trials_.open())
      ways[choice.name] = std::min(1, choice.ways - 1);
    return ways;
  }

  // Goes on from there, as far as these choices are open. Returns the time of a pass.
  double use(const Ways& ways) {
    for (const cuda::MatmulChoice& choice : trials_.open()) {
      const auto found = ways.find(choice.name);
      if (found == ways.end()) continue;
      if (found->second != kept_[choice.name]) trials_.use(choice, found->second);
      kept_[choice.name] = found->second;
    }
    best_ = trials_.milliseconds();
    return best_;
  }

  TunedPass result() const {
    const auto exchanged = std::ranges::count_if(kept_, [](const auto& choice) { return choice.second != 0; });
    return {trial_count_, static_cast<int>(exchanged)};
  }

 private:
  // Once through all choices. Returns whether any was exchanged.
  bool sweep() {
    bool changed = false;
    for (const cuda::MatmulChoice& choice : trials_.open())
      changed = try_ways(choice) || changed;
    return changed;
  }

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
  Ways kept_;
};

}  // namespace

TunedPass tune_pass(const PassTrials& trials) {
  Tuner tuner(trials);
  tuner.descend();
  if (trials.over()) return tuner.result();
  const Ways first = tuner.kept();
  (void)tuner.use(tuner.second_ways());
  tuner.descend();
  const Ways second = tuner.kept();
  const double first_time = tuner.use(first);  // measured again, beside the second one
  const double second_time = tuner.use(second);
  if (second_time >= kFasterBy * first_time) (void)tuner.use(first);
  return tuner.result();
}

}  // namespace swinscope
