#include "gui/core/shared_analysis.h"

namespace swinscope::gui {
namespace {

struct Facts {
  std::shared_ptr<const Trace> trace;  // to which the analysis refers
  RunFacts analysis;
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

}  // namespace swinscope::gui
