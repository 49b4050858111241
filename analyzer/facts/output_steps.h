// Steps of a program by the lines that it prints: "step 12 loss 0.53", "[12/100]", "Epoch 1 iter 30".
//
// Lines are alike whose text is equal but for its numbers. Among those numbers one counts the steps: it rises from line
// to line, and where it falls a new count begins (an epoch). A line closes as many steps as the count rose since the
// line before, so that a line every 10 steps is as good as one for each; the time over a restart of the count belongs
// to no step. The first line closes an unknown time and is none.
//
// Ranks print into one output. Where another number of the lines names the rank, each rank is counted by itself; else
// a step is closed by the last of the ranks' lines with its number, however far one rank is ahead of another.
//
// A program that buffers its output prints many lines at once, and on a busy machine several wait to be read. Lines
// that come within a hundredth of the mean time between lines close their steps together; where fewer than three such
// times are left, the lines are refused.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/base/intervals.h"
#include "analyzer/facts/output_lines.h"

namespace swinscope {

// Some steps one after the other, as one line closes them.
struct ClosedSteps {
  Interval time;  // since 1970
  std::int64_t count = 1;
};

struct OutputSteps {
  std::string pattern;                          // with the number of the step in a group; "" where each line is a step
  std::string shown;                            // the lines' text: "step N loss N"
  std::vector<std::vector<ClosedSteps>> ranks;  // one where the lines do not tell the rank
  std::int64_t lines = 0;
  std::int64_t restarts = 0;  // of the count
  std::string refusal;        // why no times follow from the lines; "" where they do

  bool usable() const { return refusal.empty() && !ranks.empty(); }
  // Of the rank with the most.
  std::int64_t steps() const;
};

// The lines of one text that count steps: among those that cover at least half as much time as any, the ones whose
// number stands behind a word like "step", then the most. At least three intervals are needed.
OutputSteps find_output_steps(const std::vector<OutputLine>& lines, int ranks);

// The lines that match. Without a group in the expression the counting number is looked for as above; where there is
// none each line is a step, if there is one rank. Throws Error(kUsage) when the expression is none.
OutputSteps output_steps(const std::vector<OutputLine>& lines, const std::string& pattern, int ranks);

}  // namespace swinscope
