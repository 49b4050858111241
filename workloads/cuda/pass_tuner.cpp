#include "workloads/cuda/pass_tuner.h"

namespace swinscope {
namespace {

constexpr double kFasterBy = 0.998;

class Tuner {
 public:
  explicit Tuner(const PassTrials& trials) : trials_(trials), best_(trials.milliseconds()) {}

  void try_all(bool pairs) {
    for (const cuda::MatmulChoice& choice : trials_.open()) {
      if (choice.is_pair == pairs) try_ways(choice);
    }
  }
  TunedPass result() const { return tuned_; }

 private:
  void try_ways(const cuda::MatmulChoice& choice) {
    int kept = 0;
    for (int way = 1; way < choice.ways && !trials_.over(); ++way) {
      if (is_faster(choice, kept, way)) kept = way;
    }
    if (kept != 0) ++tuned_.exchanged;
  }

  // It is in use afterwards, else `kept` is.
  bool is_faster(const cuda::MatmulChoice& choice, int kept, int way) {
    ++tuned_.trials;
    trials_.use(choice, way);
    const double time = trials_.milliseconds();
    bool faster = time < best_ * kFasterBy;
    trials_.use(choice, kept);
    if (!faster) return false;
    best_ = trials_.milliseconds();  // the GPU may only have become faster by itself
    faster = time < best_ * kFasterBy;
    if (!faster) return false;
    trials_.use(choice, way);
    best_ = time;
    return true;
  }

  const PassTrials& trials_;
  double best_;
  TunedPass tuned_;
};

}  // namespace

TunedPass tune_pass(const PassTrials& trials) {
  Tuner tuner(trials);
  tuner.try_all(true);
  tuner.try_all(false);
  return tuner.result();
}

}  // namespace swinscope
