#include "analyzer/trace/metric_series.h"

#include <algorithm>
#include <utility>

namespace swinscope {
namespace {

void sort_by_time(MetricSeries& series) {
  if (std::ranges::is_sorted(series.time_ns)) return;
  std::vector<std::pair<std::int64_t, std::int64_t>> samples;
  samples.reserve(series.time_ns.size());
  for (std::size_t i = 0; i < series.time_ns.size(); ++i)
    samples.emplace_back(series.time_ns[i], series.value[i]);
  std::ranges::stable_sort(samples, {}, &std::pair<std::int64_t, std::int64_t>::first);
  for (std::size_t i = 0; i < samples.size(); ++i)
    std::tie(series.time_ns[i], series.value[i]) = samples[i];
}

}  // namespace

MetricSeries& MetricSeriesBuilder::series_of(MetricSource source, std::uint8_t gpu, std::int32_t metric) {
  const auto [entry, is_new] = series_.try_emplace({source, gpu, metric});
  MetricSeries& series = entry->second;
  if (is_new) series.source = source, series.gpu = gpu, series.metric = metric;
  return series;
}

void MetricSeriesBuilder::add(const MetricRecord& sample) {
  MetricSeries& series = series_of(sample.source, sample.gpu, sample.metric);
  series.time_ns.push_back(sample.time_ns);
  series.value.push_back(sample.value);
}

void MetricSeriesBuilder::add(const MetricNameRecord& name) {
  series_of(name.source, name.gpu, name.metric).name = name.name;
}

void MetricSeriesBuilder::append(const MetricSeriesBuilder& later, std::int64_t shift_ns) {
  for (const auto& [key, from] : later.series_) {
    MetricSeries& to = series_of(from.source, from.gpu, from.metric);
    if (to.name.empty()) to.name = from.name;
    for (const std::int64_t time_ns : from.time_ns)
      to.time_ns.push_back(time_ns + shift_ns);
    to.value.insert(to.value.end(), from.value.begin(), from.value.end());
  }
}

std::vector<MetricSeries> MetricSeriesBuilder::take() {
  std::vector<MetricSeries> all;
  for (auto& [key, series] : series_) {
    if (series.time_ns.empty()) continue;
    sort_by_time(series);
    all.push_back(std::move(series));
  }
  series_.clear();
  return all;
}

}  // namespace swinscope
