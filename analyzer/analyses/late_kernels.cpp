#include "analyzer/analyses/late_kernels.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "analyzer/base/statistics.h"

namespace swinscope {

void LateKernels::add(std::size_t device, const Stretch& late, std::vector<Stretch> others, std::int64_t delay_ns) {
  Pending& pending = pending_[device];
  pending.late = late;
  pending.others = std::move(others);
  pending.delay_ns += delay_ns;
}

LateKernels::Times LateKernels::times_in(const Stretch& stretch) const {
  Times times;
  const GpuEvents& gpu = trace_.ranks[stretch.member.rank_index].gpu;
  for (const DeviceScope& device : scope_.devices()) {
    if (device.rank_index != stretch.member.rank_index || device.device != stretch.member.device) continue;
    auto e = std::ranges::lower_bound(device.events, stretch.interval.begin_ns, {},
                                      [&](EventIndex event) { return gpu.start_ns[event]; });
    for (; e != device.events.end() && gpu.start_ns[*e] < stretch.interval.end_ns; ++e) {
      if (gpu.gpu_class[*e] == GpuClass::kCompute || gpu.gpu_class[*e] == GpuClass::kUnknown)
        times[gpu.short_name[*e]] += std::min(gpu.end_ns[*e], stretch.interval.end_ns) - gpu.start_ns[*e];
    }
  }
  return times;
}

void LateKernels::finish_stretch(std::size_t device) {
  const auto found = pending_.find(device);
  if (found == pending_.end()) return;
  const Pending pending = std::move(found->second);
  pending_.erase(found);
  std::vector<Times> others;
  for (const Stretch& other : pending.others)
    others.push_back(times_in(other));
  std::map<StringId, std::int64_t> longer;
  std::int64_t whole = 0;
  for (const auto& [name, time] : times_in(pending.late)) {
    std::vector<std::int64_t> usual;
    for (const Times& times : others) {
      const auto of = times.find(name);
      usual.push_back(of == times.end() ? 0 : of->second);
    }
    std::ranges::sort(usual);
    const std::int64_t excess = time - quantile(usual, 0.5);
    if (excess > 0) longer[name] = excess, whole += excess;
  }
  for (const auto& [name, excess] : longer) {
    delays_[device][name] +=
        std::llround(static_cast<double>(pending.delay_ns) * static_cast<double>(excess) / static_cast<double>(whole));
  }
}

void LateKernels::take(std::size_t device, StringId& kernel, std::int64_t& delay_ns) {
  finish_stretch(device);
  for (const auto& [name, delay] : delays_[device]) {
    if (delay > delay_ns) kernel = name, delay_ns = delay;
  }
}

}  // namespace swinscope
