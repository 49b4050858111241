#include "analyzer/analyses/gpu_power.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "analyzer/facts/gpu_samples.h"
#include "analyzer/table/cells.h"

namespace swinscope {
namespace {

struct Reason {
  std::int64_t bit;
  std::string_view name;
};
// nvml.h, nvmlClocksEventReason…; not among them: 1 idle, 2 application clocks, 0x100 display clocks.
constexpr std::array kThrottling = {Reason{0x04, "power cap"},
                                    Reason{0x08, "hardware slowdown"},
                                    Reason{0x10, "sync boost"},
                                    Reason{0x20, "software thermal slowdown"},
                                    Reason{0x40, "hardware thermal slowdown"},
                                    Reason{0x80, "hardware power brake"}};

std::optional<Sampled> summary_of(const std::vector<std::int64_t>& values, double unit) {
  if (values.empty()) return std::nullopt;
  const auto [min, max] = std::ranges::minmax(values);
  double sum = 0;
  for (const std::int64_t value : values)
    sum += static_cast<double>(value);
  return Sampled{std::ssize(values), unit * sum / static_cast<double>(values.size()), unit * static_cast<double>(min),
                 unit * static_cast<double>(max)};
}

std::string share_text(std::string_view what, std::int64_t part, std::size_t whole) {
  return fmt::format("{} {:.1f} %", what, percent_of(part, static_cast<std::int64_t>(whole)));
}

std::string reasons_of(const std::vector<std::int64_t>& masks) {
  std::string text;
  for (const Reason& reason : kThrottling) {
    const auto with = std::ranges::count_if(masks, [&](std::int64_t mask) { return (mask & reason.bit) != 0; });
    if (with > 0) text += (text.empty() ? "" : ", ") + share_text(reason.name, with, masks.size());
  }
  return text.empty() ? "no" : text;
}

std::string without_reasons(const std::vector<std::int64_t>& mhz, std::optional<double> highest_mhz) {
  if (mhz.empty() || !highest_mhz) return "not recorded";
  const auto low = std::ranges::count_if(
      mhz, [&](std::int64_t clock) { return static_cast<double>(clock) < kLowClock * *highest_mhz; });
  return share_text(fmt::format("reasons not recorded; SM clock below {:.0f} % of the highest in", 100 * kLowClock),
                    low, mhz.size()) +
         " of the samples";
}

// The samples of one device, of all its windows.
class Samples {
 public:
  Samples(const RunFacts& run, std::size_t rank_index, std::int32_t device)
      : run_(run), rank_index_(rank_index), device_(device) {}

  GpuPower measure() const {
    GpuPower row;
    row.rank_index = rank_index_;
    row.device = device_;
    for (const DeviceScope& device : run_.scope.devices()) {
      if (!is_of(device)) continue;
      row.steps += device.steps;
      row.window_ns += device.window.length();
    }
    row.watts = summary_of(of("Power [mW]"), 1e-3);
    if (!row.watts) row.watts = summary_of(of("Power [W]"), 1);
    const std::vector<std::int64_t> mhz = of("SM clock");
    row.sm_mhz = summary_of(mhz, 1);
    if (const auto hottest = summary_of(of("Temperature"), 1)) row.hottest_c = hottest->max;
    const auto& gpus = run_.trace.ranks[rank_index_].run.gpus;
    const auto gpu = std::ranges::find(gpus, device_, &GpuInfo::device);
    if (gpu != gpus.end() && gpu->clock_hz > 0) row.highest_mhz = static_cast<double>(gpu->clock_hz) / 1e6;
    tell_throttling(mhz, row);
    return row;
  }

 private:
  bool is_of(const DeviceScope& device) const { return device.rank_index == rank_index_ && device.device == device_; }
  std::vector<std::int64_t> of(std::string_view metric) const {
    std::vector<std::int64_t> all;
    for (const DeviceScope& device : run_.scope.devices()) {
      if (!is_of(device)) continue;
      const std::vector<std::int64_t> values = gpu_samples(run_.trace, rank_index_, device_, metric, device.window);
      all.insert(all.end(), values.begin(), values.end());
    }
    return all;
  }
  void tell_throttling(const std::vector<std::int64_t>& mhz, GpuPower& row) const {
    const std::vector<std::int64_t> masks = of("Throttle reasons");
    if (masks.empty()) {
      row.throttling = without_reasons(mhz, row.highest_mhz);
      return;
    }
    const auto throttled = std::ranges::count_if(masks, [](std::int64_t mask) {
      return std::ranges::any_of(kThrottling, [&](const Reason& reason) { return (mask & reason.bit) != 0; });
    });
    row.throttled_percent = percent_of(throttled, std::ssize(masks));
    row.throttling = reasons_of(masks);
  }

  const RunFacts& run_;
  std::size_t rank_index_;
  std::int32_t device_;
};

bool is_sampled(const GpuPower& row) { return row.watts || row.sm_mhz || row.hottest_c || row.throttled_percent; }

}  // namespace

std::optional<double> GpuPower::joules() const {
  return watts ? std::optional(watts->mean * static_cast<double>(window_ns) / 1e9) : std::nullopt;
}

std::vector<GpuPower> gpu_power(const RunFacts& run) {
  std::vector<GpuPower> rows;
  for (const DeviceScope& device : run.scope.devices()) {
    const bool is_known =
        !rows.empty() && rows.back().rank_index == device.rank_index && rows.back().device == device.device;
    if (!is_known) rows.push_back(Samples(run, device.rank_index, device.device).measure());
  }
  if (std::ranges::none_of(rows, &is_sampled)) rows.clear();
  return rows;
}

Table gpu_power_table(const RunFacts& run) {
  Table table{"gpu_power",
              "Power and clocks",
              {{"rank", "rank", Unit::kCount},
               {"device", "GPU", Unit::kCount},
               {"samples", "samples", Unit::kCount},
               {"power_mean_w", "mean W", Unit::kNumber},
               {"power_min_w", "min W", Unit::kNumber},
               {"power_max_w", "max W", Unit::kNumber},
               {"energy_j", "energy J", Unit::kNumber},
               {"energy_per_step_j", fmt::format("J per {}", run.scope.unit()), Unit::kNumber},
               {"sm_clock_mean_mhz", "SM clock MHz", Unit::kNumber},
               {"sm_clock_min_mhz", "min MHz", Unit::kNumber},
               {"sm_clock_max_mhz", "max MHz", Unit::kNumber},
               {"sm_clock_highest_mhz", "highest MHz", Unit::kNumber},
               {"temperature_max_c", "hottest °C", Unit::kNumber},
               {"throttled_percent", "throttled", Unit::kPercent},
               {"throttling", "by"}},
              {}};
  const auto cells = [](const std::optional<Sampled>& of) {
    return of ? std::array<Cell, 3>{of->mean, of->min, of->max} : std::array<Cell, 3>{};
  };
  for (const GpuPower& row : gpu_power(run)) {
    const std::array<Cell, 3> watts = cells(row.watts);
    const std::array<Cell, 3> mhz = cells(row.sm_mhz);
    const auto joules = row.joules();
    const std::int64_t samples = row.watts ? row.watts->samples : row.sm_mhz ? row.sm_mhz->samples : 0;
    table.rows.push_back({int_cell(run.trace.ranks[row.rank_index].run.rank), int_cell(row.device), samples, watts[0],
                          watts[1], watts[2], optional_cell(joules),
                          joules && row.steps > 0 ? Cell(*joules / static_cast<double>(row.steps)) : Cell(), mhz[0],
                          mhz[1], mhz[2], optional_cell(row.highest_mhz), optional_cell(row.hottest_c),
                          optional_cell(row.throttled_percent), row.throttling});
  }
  hide_empty(table, {"energy_per_step_j", "sm_clock_highest_mhz", "temperature_max_c", "throttled_percent"});
  return table;
}

std::optional<double> gpu_power_w(const RunFacts& run) {
  const std::vector<GpuPower> rows = gpu_power(run);
  if (rows.empty() || std::ranges::any_of(rows, [](const GpuPower& row) { return !row.watts; })) return std::nullopt;
  double watts = 0;
  for (const GpuPower& row : rows)
    watts += row.watts->mean;
  return watts;
}

}  // namespace swinscope
