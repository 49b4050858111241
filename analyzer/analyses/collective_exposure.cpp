#include "analyzer/analyses/collective_exposure.h"

#include <algorithm>
#include <map>
#include <utility>

#include "analyzer/base/intervals.h"

namespace swinscope {
namespace {

using Device = std::pair<std::size_t, std::int32_t>;

// The wait or the transfer of a member.
struct Part {
  Interval interval;
  std::int64_t* exposed_ns;
};

struct Parts {
  std::vector<Part> waits;
  std::vector<Part> transfers;
};

IntervalSet intervals_of(const std::vector<Part>& parts) {
  std::vector<Interval> all;
  all.reserve(parts.size());
  for (const Part& part : parts)
    all.push_back(part.interval);
  return unite(std::move(all));
}

// Gives each part of `set` to the first that covers it.
void share(const IntervalSet& set, std::vector<Part>& parts) {
  std::ranges::stable_sort(parts, {}, [](const Part& part) { return part.interval.begin_ns; });
  std::int64_t given_until = INT64_MIN;
  auto next = set.begin();
  for (const Part& part : parts) {
    const Interval rest{std::max(part.interval.begin_ns, given_until), part.interval.end_ns};
    if (rest.length() <= 0) continue;
    given_until = rest.end_ns;
    while (next != set.end() && next->end_ns <= rest.begin_ns)
      ++next;
    for (auto of = next; of != set.end() && of->begin_ns < rest.end_ns; ++of)
      *part.exposed_ns += std::min(of->end_ns, rest.end_ns) - std::max(of->begin_ns, rest.begin_ns);
  }
}

IntervalSet kernels_of(const Rank& rank, const DeviceScope& device) {
  std::vector<Interval> kernels;
  for (const EventIndex e : device.events) {
    const GpuClass of = rank.gpu.gpu_class[e];
    if (of == GpuClass::kCompute || of == GpuClass::kUnknown)
      kernels.push_back({rank.gpu.start_ns[e], rank.gpu.end_ns[e]});
  }
  return unite(std::move(kernels));
}

}  // namespace

std::vector<std::vector<CollectiveExposure>> collective_exposure(const Trace& trace, const RunScope& scope,
                                                                 const std::vector<Collective>& collectives,
                                                                 const CollectiveWaits& waits) {
  std::vector<std::vector<CollectiveExposure>> exposure(collectives.size());
  std::map<Device, Parts> by_device;
  for (std::size_t c = 0; c < collectives.size(); ++c) {
    exposure[c].resize(collectives[c].members.size());
    for (std::size_t m = 0; m < exposure[c].size(); ++m) {
      const auto& [rank_index, device, event] = collectives[c].members[m];
      const GpuEvents& gpu = trace.ranks[rank_index].gpu;
      const auto wait = waits.wait_ns(rank_index, event);
      if (!wait) continue;
      const std::int64_t arrived = gpu.start_ns[event] + *wait;
      Parts& parts = by_device[{rank_index, device}];
      parts.waits.push_back({{gpu.start_ns[event], arrived}, &exposure[c][m].wait_ns});
      parts.transfers.push_back({{arrived, gpu.end_ns[event]}, &exposure[c][m].transfer_ns});
    }
  }
  for (const DeviceScope& device : scope.devices()) {
    const auto found = by_device.find({device.rank_index, device.device});
    if (found == by_device.end()) continue;
    Parts& parts = found->second;
    const IntervalSet kernels = kernels_of(trace.ranks[device.rank_index], device);
    const IntervalSet waiting = clip(subtract(intervals_of(parts.waits), kernels), device.window);
    const IntervalSet wire = clip(subtract(intervals_of(parts.transfers), kernels), device.window);
    share(waiting, parts.waits);
    share(subtract(wire, waiting), parts.transfers);
  }
  return exposure;
}

}  // namespace swinscope
