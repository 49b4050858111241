#include "analyzer/analyses/exclusive_time.h"

#include <algorithm>
#include <array>
#include <utility>

#include "analyzer/base/intervals.h"

namespace swinscope {
namespace {

constexpr std::array kOrder = {GpuClass::kCompute, GpuClass::kUnknown, GpuClass::kCommunication, GpuClass::kMemory};

}  // namespace

std::vector<std::int64_t> exclusive_ns(const Rank& rank, const DeviceScope& device) {
  const GpuEvents& gpu = rank.gpu;
  std::vector<std::int64_t> exclusive(device.events.size());
  IntervalSet before;  // what the classes so far take
  for (const GpuClass gpu_class : kOrder) {
    IntervalCover covered(before);
    std::vector<Interval> taken;
    std::int64_t until = device.window.begin_ns;
    for (std::size_t i = 0; i < device.events.size(); ++i) {
      const EventIndex e = device.events[i];
      if (gpu.gpu_class[e] != gpu_class) continue;
      const Interval own{std::max(gpu.start_ns[e], until), std::min(gpu.end_ns[e], device.window.end_ns)};
      if (own.length() <= 0) continue;
      exclusive[i] = own.length() - covered.of(own);
      until = own.end_ns;
      taken.push_back(own);
    }
    taken.insert(taken.end(), before.begin(), before.end());
    before = unite(std::move(taken));
  }
  return exclusive;
}

}  // namespace swinscope
