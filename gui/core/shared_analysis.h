// The facts of one selection of a run, computed once for all pages: whoever asks first computes them.
#pragma once

#include <memory>
#include <mutex>

#include "analyzer/analyses/run_facts.h"

namespace swinscope::gui {

class SharedAnalysis {
 public:
  // `trace` is always the same one; what is returned keeps it. Throws as RunFacts does. Any thread may ask; the
  // facts of the latest selection stay.
  std::shared_ptr<const RunFacts> of(const std::shared_ptr<const Trace>& trace, const Selection& selection);

 private:
  std::mutex mutex_;  // held while computing: who asks for the same meanwhile waits for it
  Selection selection_;
  std::shared_ptr<const RunFacts> latest_;
};

}  // namespace swinscope::gui
