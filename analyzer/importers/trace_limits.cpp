#include "analyzer/importers/trace_limits.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "analyzer/base/intervals.h"
#include "store/error.h"

namespace swinscope {
namespace {

constexpr std::int64_t kNoTime = std::numeric_limits<std::int64_t>::max();

void refuse_too_many_gpus(const Trace& trace) {
  for (const Rank& rank : trace.ranks) {
    std::size_t gpus = 0;
    for (std::size_t i = 0; i < rank.gpu_lanes.size(); ++i)
      gpus += i == 0 || rank.gpu_lanes[i].device != rank.gpu_lanes[i - 1].device ? 1U : 0U;
    if (gpus <= kMostGpus) continue;
    throw Error(ErrorKind::kInput, fmt::format("{}: too many GPUs", trace.path),
                fmt::format("rank {} has work on {} of them; a process uses those of one machine, at most {}",
                            rank.run.rank, gpus, kMostGpus),
                "record or export it again");
  }
}

// What analyses add up, durations, delays of launches and windows, together.
double added_up_ns(const Rank& rank) {
  double sum = 0;
  Interval span{kNoTime, -kNoTime};
  const auto add = [&](std::int64_t begin_ns, std::int64_t end_ns) {
    sum += static_cast<double>(end_ns - begin_ns);
    span = {std::min(span.begin_ns, begin_ns), std::max(span.end_ns, end_ns)};
  };
  for (EventIndex i = 0; i < rank.gpu.size(); ++i) {
    add(rank.gpu.start_ns[i], rank.gpu.end_ns[i]);
    if (rank.gpu.launch[i] == kNoEvent) continue;
    sum += std::abs(static_cast<double>(rank.gpu.start_ns[i]) -
                    static_cast<double>(rank.api.start_ns[rank.gpu.launch[i]]));
  }
  for (EventIndex i = 0; i < rank.api.size(); ++i)
    add(rank.api.start_ns[i], rank.api.end_ns[i]);
  for (EventIndex i = 0; i < rank.ranges.size(); ++i)
    add(rank.ranges.start_ns[i], rank.ranges.end_ns[i]);
  const auto lanes = static_cast<double>(rank.gpu_lanes.size() + rank.api_lanes.size() + rank.range_lanes.size());
  return lanes == 0 ? 0 : sum + lanes * static_cast<double>(span.length());
}

void refuse_impossible_times(const Trace& trace) {
  constexpr double kMostNs = 4e18;  // below 2^62
  double sum = 0;
  for (const Rank& rank : trace.ranks)
    sum += added_up_ns(rank);
  if (sum < kMostNs) return;
  throw Error(ErrorKind::kInput, fmt::format("{}: its times cannot be", trace.path),
              fmt::format("its events last {:.0f} years together", sum / 1e9 / 86'400 / 365),
              "record or export it again");
}

}  // namespace

void refuse_impossible(const Trace& trace) {
  refuse_too_many_gpus(trace);
  refuse_impossible_times(trace);
}

}  // namespace swinscope
