#include "analyzer/trace/launched_work.h"

#include <algorithm>
#include <bit>

namespace swinscope {
namespace {

constexpr std::size_t kBlock = 128;  // launches: as many are looked at one by one at either end of an interval

}  // namespace

void GpuWork::add(std::int64_t start_ns, std::int64_t end_ns) {
  first_ns = events == 0 ? start_ns : std::min(first_ns, start_ns);
  last_ns = events == 0 ? end_ns : std::max(last_ns, end_ns);
  total_ns += end_ns - start_ns;
  ++events;
}

void LaunchedWork::finish() {
  if (!std::ranges::is_sorted(launches_, {}, &Launch::at_ns)) std::ranges::stable_sort(launches_, {}, &Launch::at_ns);
  sums_.reserve(launches_.size() + 1);
  sums_.push_back(0);
  for (const Launch& launch : launches_)
    sums_.push_back(sums_.back() + gpu_->end_ns[launch.event] - gpu_->start_ns[launch.event]);
  const std::size_t blocks = launches_.size() / kBlock;  // whole ones
  if (blocks == 0) return;
  std::vector<Span>& lowest = blocks_.emplace_back();
  for (std::size_t b = 0; b < blocks; ++b)
    lowest.push_back(span_of_events(b * kBlock, (b + 1) * kBlock));
  for (std::size_t width = 2; width <= blocks; width *= 2) {
    std::vector<Span> level;
    const std::vector<Span>& below = blocks_.back();
    for (std::size_t b = 0; b + width <= blocks; ++b) {
      const Span& right = below[b + width / 2];
      level.push_back({std::min(below[b].first_ns, right.first_ns), std::max(below[b].last_ns, right.last_ns)});
    }
    blocks_.push_back(std::move(level));
  }
}

GpuWork LaunchedWork::within(std::int64_t begin_ns, std::int64_t end_ns, std::size_t& hint) const {
  hint = first_from(hint, begin_ns);
  const std::size_t end = first_from(hint, end_ns);
  GpuWork work;
  if (hint == end) return work;
  work.events = static_cast<std::int64_t>(end - hint);
  work.total_ns = sums_[end] - sums_[hint];
  const Span whole = span(hint, end);
  work.first_ns = whole.first_ns;
  work.last_ns = whole.last_ns;
  return work;
}

// The first launch from `from` on that is not before the time. Most ranges are short: it gallops.
std::size_t LaunchedWork::first_from(std::size_t from, std::int64_t time_ns) const {
  std::size_t low = from;
  std::size_t step = 1;
  for (; low + step <= launches_.size() && launches_[low + step - 1].at_ns < time_ns; step *= 2)
    low += step;
  const auto begin = launches_.begin() + static_cast<std::ptrdiff_t>(low);
  const auto end = launches_.begin() + static_cast<std::ptrdiff_t>(std::min(low + step, launches_.size()));
  return static_cast<std::size_t>(std::ranges::lower_bound(begin, end, time_ns, {}, &Launch::at_ns) -
                                  launches_.begin());
}

LaunchedWork::Span LaunchedWork::span_of_events(std::size_t begin, std::size_t end) const {
  Span span{gpu_->start_ns[launches_[begin].event], gpu_->end_ns[launches_[begin].event]};
  for (std::size_t i = begin; i < end; ++i) {
    span.first_ns = std::min(span.first_ns, gpu_->start_ns[launches_[i].event]);
    span.last_ns = std::max(span.last_ns, gpu_->end_ns[launches_[i].event]);
  }
  return span;
}

// Of launches [begin, end), at least one: the whole blocks in it by two entries that overlap.
LaunchedWork::Span LaunchedWork::span(std::size_t begin, std::size_t end) const {
  const std::size_t first_block = (begin + kBlock - 1) / kBlock;
  const std::size_t end_block = end / kBlock;
  if (first_block >= end_block) return span_of_events(begin, end);
  const std::size_t width = std::bit_floor(end_block - first_block);
  const std::vector<Span>& level = blocks_[static_cast<std::size_t>(std::countr_zero(width))];
  const Span& left = level[first_block];
  const Span& right = level[end_block - width];
  Span whole{std::min(left.first_ns, right.first_ns), std::max(left.last_ns, right.last_ns)};
  for (const auto& [from, to] : {std::pair(begin, first_block * kBlock), std::pair(end_block * kBlock, end)}) {
    if (from >= to) continue;
    const Span edge = span_of_events(from, to);
    whole = {std::min(whole.first_ns, edge.first_ns), std::max(whole.last_ns, edge.last_ns)};
  }
  return whole;
}

}  // namespace swinscope
