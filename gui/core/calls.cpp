#include "gui/core/calls.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "analyzer/base/statistics.h"
#include "analyzer/base/text.h"

namespace swinscope::gui {

namespace {

constexpr double kLogarithmic = 20;  // where the longest is so many times the shortest
constexpr double kBinsPerDecade = 4;
constexpr std::size_t kMostBins = 24;

struct AxisUnit {
  double ns;
  const char* name;
};

// In which the longest duration has few digits.
const AxisUnit& unit_for(std::int64_t longest_ns) {
  static constexpr std::array<AxisUnit, 4> kUnits = {{{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}, {1, "ns"}}};
  const auto fits = [&](const AxisUnit& unit) { return static_cast<double>(longest_ns) >= unit.ns; };
  const auto found = std::find_if(kUnits.begin(), kUnits.end(), fits);
  return found == kUnits.end() ? kUnits.back() : *found;
}

std::string_view group_of(const Trace& trace, const GpuEvents& gpu, EventIndex event, KernelGrouping grouping) {
  switch (grouping) {
    case KernelGrouping::kName:
      break;
    case KernelGrouping::kShortName:
      return trace.text(gpu.short_name[event]);
    case KernelGrouping::kOperation:
      return operation_name(gpu.operation[event]);
    case KernelGrouping::kClass:
      return class_name(gpu.gpu_class[event]);
  }
  return trace.text(gpu.name[event]);
}

}  // namespace

DurationBins::DurationBins(const std::vector<Call>& calls) {
  if (calls.empty()) return;
  const auto shorter = [](const Call& a, const Call& b) { return a.duration_ns < b.duration_ns; };
  const auto [low, high] = std::minmax_element(calls.begin(), calls.end(), shorter);
  low_ns_ = static_cast<double>(low->duration_ns);
  // Behind the longest, which belongs to the last one.
  const double end_ns = static_cast<double>(high->duration_ns + 1);
  is_logarithmic_ = low_ns_ >= 1 && end_ns > kLogarithmic * low_ns_;
  // As many bins as the square root of the calls, the usual rule where nothing is known of the distribution.
  auto bins = static_cast<std::size_t>(std::ceil(std::sqrt(static_cast<double>(calls.size()))));
  if (is_logarithmic_)
    bins = std::max(bins, static_cast<std::size_t>(kBinsPerDecade * std::ceil(std::log10(end_ns / low_ns_))));
  bins = std::clamp<std::size_t>(bins, 1, kMostBins);
  const double count = static_cast<double>(bins);
  width_ = is_logarithmic_ ? std::log(end_ns / low_ns_) / count : (end_ns - low_ns_) / count;
  counts_.resize(bins);
  for (const Call& call : calls)
    ++counts_[bin_of(call.duration_ns)];
}

std::size_t DurationBins::bin_of(std::int64_t duration_ns) const {
  const auto value = static_cast<double>(duration_ns);
  const double bin = is_logarithmic_ ? std::log(std::max(value, 1.0) / low_ns_) / width_ : (value - low_ns_) / width_;
  return std::min(static_cast<std::size_t>(std::max(bin, 0.0)), counts_.size() - 1);
}

double DurationBins::edge_ns(std::size_t edge) const {
  const double steps = static_cast<double>(edge) * width_;
  return is_logarithmic_ ? low_ns_ * std::exp(steps) : low_ns_ + steps;
}

std::vector<Call> kernel_calls(const Trace& trace, const RunScope& scope, const std::string& name,
                               KernelGrouping grouping) {
  std::vector<Call> calls;
  for (std::size_t r = 0; r < trace.ranks.size(); ++r) {
    const GpuEvents& gpu = trace.ranks[r].gpu;
    const std::size_t first = calls.size();
    for (EventIndex i = 0; i < gpu.size(); ++i) {
      if (group_of(trace, gpu, i, grouping) != name || !scope.has_gpu_event(r, i)) continue;
      calls.push_back(
          {static_cast<std::uint32_t>(r), LaneKind::kKernels, i, gpu.start_ns[i], gpu.end_ns[i] - gpu.start_ns[i]});
    }
    std::sort(calls.begin() + static_cast<std::ptrdiff_t>(first), calls.end(),
              [](const Call& a, const Call& b) { return a.start_ns < b.start_ns; });
  }
  return calls;
}

std::vector<Call> calls_of(const std::vector<LayerCall>& calls) {
  std::vector<Call> result;
  result.reserve(calls.size());
  for (const LayerCall& call : calls) {
    const bool on_gpu = call.gpu_event != kNoEvent;
    result.push_back({static_cast<std::uint32_t>(call.rank), on_gpu ? LaneKind::kKernels : LaneKind::kRanges,
                      on_gpu ? call.gpu_event : call.range, call.start_ns, call.work_ns});
  }
  return result;
}

Chart duration_histogram(const std::vector<Call>& calls, const std::string& title) {
  Chart chart;
  chart.kind = ChartKind::kHistogram;
  chart.title = title;
  chart.y_title = "calls";
  if (calls.empty()) return chart;
  const DurationBins bins(calls);
  Series series{"calls", {}, {}, false};
  for (const std::size_t count : bins.counts())
    series.values.push_back(static_cast<double>(count));
  for (std::size_t i = 0; i <= bins.counts().size(); ++i)
    chart.categories.push_back(format_duration(std::llround(bins.edge_ns(i))));
  chart.x_title = bins.is_logarithmic() ? "duration, logarithmic" : "duration";
  const auto shorter = [](const Call& a, const Call& b) { return a.duration_ns < b.duration_ns; };
  const auto [low, high] = std::minmax_element(calls.begin(), calls.end(), shorter);
  chart.description = fmt::format("{} calls between {} and {}", calls.size(), format_duration(low->duration_ns),
                                  format_duration(high->duration_ns));
  chart.series = {std::move(series)};
  return chart;
}

Chart duration_boxes(const std::vector<Call>& calls, const Trace& trace, const std::string& title) {
  Chart chart;
  chart.kind = ChartKind::kBox;
  chart.title = title;
  if (calls.empty()) return chart;
  std::vector<std::vector<std::int64_t>> durations(trace.ranks.size());
  std::int64_t longest = 0;
  for (const Call& call : calls) {
    durations[call.process].push_back(call.duration_ns);
    longest = std::max(longest, call.duration_ns);
  }
  const AxisUnit& unit = unit_for(longest);
  for (const char* name : {"minimum", "lower quartile", "median", "upper quartile", "maximum"})
    chart.series.push_back({name, {}, {}, false});
  for (std::size_t r = 0; r < durations.size(); ++r) {
    std::sort(durations[r].begin(), durations[r].end());
    chart.categories.push_back(fmt::format("rank {}", trace.ranks[r].run.rank));
    for (std::size_t i = 0; i < chart.series.size(); ++i) {
      std::optional<double> value;
      if (!durations[r].empty())
        value = static_cast<double>(quantile(durations[r], static_cast<double>(i) / 4)) / unit.ns;
      chart.series[i].values.push_back(value);
    }
  }
  chart.y_title = fmt::format("duration ({})", unit.name);
  chart.description = "durations of the calls of each rank";
  return chart;
}

}  // namespace swinscope::gui
