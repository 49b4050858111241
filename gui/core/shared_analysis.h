// The facts of one selection of a run, and what the advisor makes of them, computed once for all pages: whoever asks
// first computes them.
#pragma once

#include <memory>
#include <mutex>

#include "advisor/advice.h"
#include "analyzer/analyses/run_facts.h"

namespace swinscope::gui {

class SharedAnalysis {
 public:
  // `trace` is always the same one; what is returned keeps it. Throws as RunFacts does. Any thread may ask; the
  // facts of the latest selection stay.
  std::shared_ptr<const RunFacts> of(const std::shared_ptr<const Trace>& trace, const Selection& selection);
  // Of these facts, where it is quick (advisor_if_quick), else null.
  std::shared_ptr<const Advisor> advisor(const std::shared_ptr<const Trace>& trace, const Selection& selection);

 private:
  std::mutex mutex_;  // held while computing: who asks for the same meanwhile waits for it
  Selection selection_;
  std::shared_ptr<const RunFacts> latest_;

  std::mutex advising_;                      // likewise
  std::shared_ptr<const RunFacts> advised_;  // that the advisor is of
  std::shared_ptr<const Advisor> advisor_;
};

}  // namespace swinscope::gui
