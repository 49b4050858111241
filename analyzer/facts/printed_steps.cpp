#include "analyzer/facts/printed_steps.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "analyzer/facts/output_steps.h"
#include "analyzer/importers/run_place.h"
#include "store/error.h"

namespace swinscope {
namespace {

constexpr std::int64_t kMostSteps = 10'000'000;

int ranks_in(const Trace& trace) {
  std::set<std::int32_t> ranks;
  for (const Rank& rank : trace.ranks)
    ranks.insert(rank.run.rank);
  return std::max(1, static_cast<int>(ranks.size()));
}

RankSteps steps_of(const std::vector<ClosedSteps>& lines, const Rank& rank) {
  RankSteps steps;
  steps.method = StepMethod::kOutputLines;
  std::int64_t left = kMostSteps;
  for (const ClosedSteps& closed : lines) {
    const std::int64_t count = std::min(closed.count, left);
    left -= count;
    const std::int64_t begin_ns = closed.time.begin_ns - rank.run.utc_epoch_ns;
    for (std::int64_t i = 0; i < count; ++i) {
      steps.steps.push_back(
          {begin_ns + closed.time.length() / count * i, begin_ns + closed.time.length() / count * (i + 1)});
    }
  }
  return steps;
}

}  // namespace

std::vector<RankSteps> printed_steps(const Trace& trace, const std::string& pattern) {
  std::vector<RankSteps> of_ranks(trace.ranks.size());
  OutputSteps lines;
  try {
    lines = output_steps(read_output(run_folder_of(trace.path)), pattern, ranks_in(trace));
  } catch (const Error&) {
    return of_ranks;  // a run of the experiment without a log: its steps are not known
  }
  if (!lines.usable()) return of_ranks;
  for (std::size_t r = 0; r < trace.ranks.size(); ++r) {
    const auto number = static_cast<std::size_t>(std::max(0, trace.ranks[r].run.rank));
    of_ranks[r] = steps_of(lines.ranks.at(number < lines.ranks.size() ? number : 0), trace.ranks[r]);
    of_ranks[r].how = fmt::format("{} by stdout lines \"{}\"", of_ranks[r].steps.size(), lines.shown);
  }
  return of_ranks;
}

}  // namespace swinscope
