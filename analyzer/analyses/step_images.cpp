#include "analyzer/analyses/layers.h"
#include "analyzer/trace/own_payloads.h"

namespace swinscope {

StepImages count_images(const Trace& trace, const RunScope& scope) {
  StepImages count;
  for (std::size_t r = 0; r < trace.ranks.size(); ++r) {
    const Rank& rank = trace.ranks[r];
    for (EventIndex i = 0; i < rank.ranges.size(); ++i) {
      if (rank.ranges.json[i] == kNoString || trace.text(rank.ranges.name[i]) != "step") continue;
      if (!rank.is_within_windows(rank.ranges.start_ns[i], rank.ranges.end_ns[i])) continue;
      if (!scope.has_host_time(r, rank.ranges.start_ns[i])) continue;
      const auto images = images_of_step(trace.text(rank.ranges.json[i]));
      if (!images) continue;
      ++count.steps;
      count.images += *images;
    }
  }
  return count;
}

std::int64_t images_per_step(const Trace& trace, const RunScope& scope) {
  const StepImages count = count_images(trace, scope);
  std::int64_t ranks = 0;  // with steps
  for (std::size_t r = 0; r < trace.ranks.size(); ++r)
    ranks += scope.step_count(r) > 0 ? 1 : 0;
  return count.steps == 0 ? 0 : count.images * ranks / count.steps;
}

}  // namespace swinscope
