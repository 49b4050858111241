#include "analyzer/trace/counters.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <tuple>

#include <fmt/format.h>

#include "store/database.h"
#include "store/records.h"
#include "store/table_reader.h"

namespace swinscope {
namespace {

struct Unit {
  std::string_view recorded;
  std::string_view shown;
  double factor;
};
constexpr std::array<Unit, 4> kUnits = {{{"0.01 %", "%", 0.01},
                                         {"Throughput %", "%", 1},
                                         {"mW", "W", 1e-3},
                                         {"bytes", "GiB", 1.0 / (1024.0 * 1024.0 * 1024.0)}}};

// Parts "SM active [0.01 %]"; returns what values are multiplied with.
double set_name(CounterSeries& series, std::string_view recorded) {
  const std::size_t bracket = recorded.find(" [");
  series.name = recorded.substr(0, bracket);
  if (bracket == std::string_view::npos || recorded.back() != ']') return 1;
  series.unit = recorded.substr(bracket + 2, recorded.size() - bracket - 3);
  const auto* const unit = std::ranges::find(kUnits, std::string_view(series.unit), &Unit::recorded);
  if (unit == kUnits.end()) return 1;
  series.unit = unit->shown;
  return unit->factor;
}

struct Sample {
  std::int64_t time_ns = 0;
  double value = 0;
};

// The samples of one series, as many of which are kept as it may have values.
class Samples {
 public:
  explicit Samples(std::size_t max_values) : max_values_(std::max<std::size_t>(max_values, 2)) {}

  // Each sample kept is the mean of `merged_` ones, the last of which may still be incomplete. Times so far off that
  // they cannot be added are none.
  void add(Sample sample) {
    constexpr std::int64_t kMostNs = std::int64_t{1} << 61;
    if (sample.time_ns <= -kMostNs || sample.time_ns >= kMostNs) return;
    if (in_last_ == 0 || in_last_ == merged_) {
      if (samples_.size() == max_values_) halve();
      samples_.push_back(sample);
      in_last_ = 1;
      return;
    }
    Sample& last = samples_.back();
    last.value += (sample.value - last.value) / static_cast<double>(++in_last_);
    last.time_ns = std::max(last.time_ns, sample.time_ns);
  }

  // Sorted by time, each time once.
  std::vector<Sample> take() {
    std::ranges::stable_sort(samples_, {}, &Sample::time_ns);
    const auto same_time = [](const Sample& a, const Sample& b) { return a.time_ns == b.time_ns; };
    samples_.erase(std::unique(samples_.begin(), samples_.end(), same_time), samples_.end());
    return std::move(samples_);
  }

 private:
  void halve() {
    std::size_t kept = 0;
    for (std::size_t i = 0; i + 1 < samples_.size(); i += 2)
      samples_[kept++] = {std::max(samples_[i].time_ns, samples_[i + 1].time_ns),
                          (samples_[i].value + samples_[i + 1].value) / 2};
    if (samples_.size() % 2 != 0) samples_[kept++] = samples_.back();
    samples_.resize(kept);
    merged_ *= 2;
  }

  std::size_t max_values_;
  std::vector<Sample> samples_;
  std::size_t merged_ = 1;
  std::size_t in_last_ = 0;
};

void finish(std::vector<CounterSeries>& all, CounterSeries series) {
  if (series.values.empty()) return;
  series.top = std::ranges::max(series.values);
  if (series.unit == "%") series.top = std::max(series.top, 100.0);
  all.push_back(std::move(series));
}

void add_gpu_metrics(std::vector<CounterSeries>& all, Database& db, std::size_t max_values) {
  using Key = std::tuple<std::int64_t, std::int64_t, std::int64_t>;  // GPU, source, metric
  const auto key_of = [](std::int64_t type, std::int64_t metric) { return Key{type & 0xFF, type, metric}; };
  std::map<Key, Samples> samples;
  TableReader values(db, "GPU_METRICS", {"typeId", "metricId", "timestamp", "value"}, 4);
  while (values.next()) {
    const Key key = key_of(values.integer<std::int64_t>(0), values.integer<std::int64_t>(1));
    samples.try_emplace(key, max_values).first->second.add({values.integer<std::int64_t>(2), values.real(3)});
  }
  std::map<Key, std::string> names;
  TableReader named(db, "TARGET_INFO_GPU_METRICS", {"typeId", "metricId", "metricName"}, 3);
  while (named.next())
    names[key_of(named.integer<std::int64_t>(0), named.integer<std::int64_t>(1))] = named.text(2);
  for (auto& [key, collected] : samples) {
    const std::vector<Sample> sorted = collected.take();
    if (sorted.size() < 2) continue;
    CounterSeries series;
    const auto name = names.find(key);
    const double factor =
        set_name(series, name != names.end() ? name->second : fmt::format("metric {}", std::get<2>(key)));
    series.name = fmt::format("GPU {} · {}", std::get<0>(key), series.name);
    const bool holds = std::get<1>(key) >> 8 == static_cast<std::int64_t>(MetricSource::kAllocator);
    if (!holds) series.edges_ns.push_back(2 * sorted[0].time_ns - sorted[1].time_ns);
    for (const Sample& sample : sorted) {
      series.edges_ns.push_back(sample.time_ns);
      series.values.push_back(sample.value * factor);
    }
    if (holds) series.edges_ns.push_back(series.edges_ns.back() + 1);
    finish(all, std::move(series));
  }
}

void add_cpu_time(std::vector<CounterSeries>& all, Database& db, std::size_t max_values) {
  constexpr std::int64_t kThreadBits = 0xFFFFFF;  // of a serialized id; thread 0 is the process
  TableReader rows(db, "SWINSCOPE_THREAD_CPU", {"timestamp", "globalTid", "cpuNs"}, 3);
  Samples samples(max_values);
  while (rows.next())
    if ((rows.integer<std::int64_t>(1) & kThreadBits) == 0) samples.add({rows.integer<std::int64_t>(0), rows.real(2)});
  CounterSeries series;
  series.name = "CPU, of one core";
  series.unit = "%";
  double before = 0;
  for (const Sample& sample : samples.take()) {
    if (!series.edges_ns.empty()) {
      const auto length_ns = static_cast<double>(sample.time_ns - series.edges_ns.back());
      series.values.push_back(100 * std::max(sample.value - before, 0.0) / length_ns);
    }
    series.edges_ns.push_back(sample.time_ns);
    before = sample.value;
  }
  finish(all, std::move(series));
}

}  // namespace

std::optional<double> CounterSeries::at(std::int64_t time_ns) const { return largest_in({time_ns, time_ns + 1}); }

std::optional<double> CounterSeries::largest_in(Interval window) const {
  if (values.empty() || window.end_ns <= edges_ns.front() || window.begin_ns >= edges_ns.back()) return std::nullopt;
  const auto first = std::ranges::upper_bound(edges_ns, window.begin_ns) - edges_ns.begin();
  const auto last = std::ranges::lower_bound(edges_ns, window.end_ns) - edges_ns.begin();
  const auto value = [&](std::ptrdiff_t edge) {
    return values.begin() + std::clamp<std::ptrdiff_t>(edge, 0, static_cast<std::ptrdiff_t>(values.size()));
  };
  return *std::max_element(value(first - 1), value(last));
}

std::vector<CounterSeries> read_counters(const std::filesystem::path& file, const std::atomic<bool>* cancel,
                                         std::size_t max_values) {
  Database db = Database::open_untrusted(file, {cancel});
  std::vector<CounterSeries> all;
  add_gpu_metrics(all, db, max_values);
  add_cpu_time(all, db, max_values);
  return all;
}

}  // namespace swinscope
