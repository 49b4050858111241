// The options that say which part of a run figures are of (METRICS "One scope"); every command that shows events has
// them.
#pragma once

#include <string>

#include "analyzer/facts/selection.h"
#include "options/options.h"

namespace swinscope::cli {

struct SelectionOptions {
  Selection selection;
  std::string scope = "steps";
  std::string steps;

  void add_to(Command& command);
  // What they say. Throws Error(kUsage) for steps that are no range.
  Selection get() const;
  // Of an experiment, whose figures are of the steps that it measured at every point: throws Error(kUsage) where a part
  // was chosen.
  void refuse_for(const std::string& experiment) const;
};

}  // namespace swinscope::cli
