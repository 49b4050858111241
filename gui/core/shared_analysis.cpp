#include "gui/core/shared_analysis.h"

namespace swinscope::gui {
namespace {

struct Facts {
  std::shared_ptr<const Trace> trace;  // to which the analysis refers
  RunFacts analysis;
};

struct Advised {
  std::shared_ptr<const RunFacts> facts;  // to which the advisor refers
  std::unique_ptr<const Advisor> advisor;
};

}  // namespace

std::shared_ptr<const RunFacts> SharedAnalysis::of(const std::shared_ptr<const Trace>& trace,
                                                   const Selection& selection) {
  const std::lock_guard lock(mutex_);
  if (latest_ == nullptr || !(selection_ == selection)) {
    const std::shared_ptr<const Facts> facts(new Facts{trace, RunFacts(*trace, selection)});
    latest_ = {facts, &facts->analysis};
    selection_ = selection;
  }
  return latest_;
}

std::shared_ptr<const Advisor> SharedAnalysis::advisor(const std::shared_ptr<const Trace>& trace,
                                                       const Selection& selection) {
  const std::shared_ptr<const RunFacts> facts = of(trace, selection);
  const std::lock_guard lock(advising_);
  if (advised_ != facts) {
    const std::shared_ptr<const Advised> advised(new Advised{facts, advisor_if_quick(*facts)});
    advisor_ = {advised, advised->advisor.get()};
    advised_ = facts;
  }
  return advisor_;
}

}  // namespace swinscope::gui
