#include "analyzer/analyses/stretch_parts.h"

#include <algorithm>
#include <utility>

namespace swinscope {
namespace {

using enum StretchPart;

StretchPart part_of_gap(IdleCause cause) {
  if (cause == &IdleCauses::host_ns) return kHost;
  if (cause == &IdleCauses::synchronization_ns) return kSynchronization;
  if (cause == &IdleCauses::input_ns) return kInput;
  return cause == &IdleCauses::other_ns ? kOther : kDependency;
}

std::int64_t& at(StretchParts::Lengths& lengths, StretchPart part) { return lengths[static_cast<std::size_t>(part)]; }

}  // namespace

void StretchParts::add(const Rank& rank, const DeviceScope& device, const IdleJudge& judge) {
  std::vector<Interval> kernels;
  std::vector<Interval> communication;
  std::vector<Interval> copies;
  for (const EventIndex e : device.events) {
    const Interval interval{rank.gpu.start_ns[e], rank.gpu.end_ns[e]};
    const GpuClass of = rank.gpu.gpu_class[e];
    (of == GpuClass::kCommunication ? communication : of == GpuClass::kMemory ? copies : kernels).push_back(interval);
  }
  const IntervalSet running = clip(unite(std::move(kernels)), device.window);
  const IntervalSet sending = subtract(clip(unite(std::move(communication)), device.window), running);
  const IntervalSet copying = subtract(subtract(clip(unite(std::move(copies)), device.window), running), sending);
  std::vector<std::pair<Interval, StretchPart>> all;
  for (const auto& [set, part] : {std::pair(&running, kKernels), {&sending, kCommunication}, {&copying, kCopies}})
    for (const Interval& interval : *set)
      all.emplace_back(interval, part);
  judge.for_each_gap(device, [&](const JudgedGap& gap) { all.emplace_back(gap.time, part_of_gap(gap.cause)); });
  std::ranges::sort(all, {}, [](const auto& piece) { return piece.first.begin_ns; });
  for (const auto& [interval, part] : all)
    add(interval.begin_ns, part);
  add(device.window.end_ns, kOther);
}

void StretchParts::add(std::int64_t begin_ns, StretchPart part) {
  if (begin_ns_.size() % kEvery == 0) before_.push_back(begin_ns_.empty() ? Lengths{} : up_to(begin_ns));
  begin_ns_.push_back(begin_ns);
  part_.push_back(part);
}

StretchParts::Lengths StretchParts::up_to(std::int64_t time_ns) const {
  const auto after = static_cast<std::size_t>(std::ranges::upper_bound(begin_ns_, time_ns) - begin_ns_.begin());
  if (after == 0) return {};
  const std::size_t first = std::min((after - 1) / kEvery, before_.size() - 1) * kEvery;
  Lengths lengths = before_[first / kEvery];
  for (std::size_t i = first; i < after; ++i)
    at(lengths, part_[i]) += (i + 1 < after ? begin_ns_[i + 1] : time_ns) - begin_ns_[i];
  return lengths;
}

StretchParts::Lengths StretchParts::of(Interval interval) const {
  if (interval.length() <= 0) return {};
  Lengths lengths = up_to(interval.end_ns);
  const Lengths before = up_to(interval.begin_ns);
  for (std::size_t i = 0; i < kStretchParts; ++i)
    lengths[i] -= before[i];
  if (begin_ns_.empty() || interval.begin_ns < begin_ns_.front())
    at(lengths, kOther) +=
        std::min(interval.end_ns, begin_ns_.empty() ? interval.end_ns : begin_ns_.front()) - interval.begin_ns;
  return lengths;
}

}  // namespace swinscope
