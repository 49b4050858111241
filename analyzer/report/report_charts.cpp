// Charts out of the tables that every other output shows, too: a chart never has a figure of its own.
#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "analyzer/base/text.h"
#include "analyzer/experiment/scaling.h"
#include "analyzer/report/report.h"
#include "analyzer/table/waterfall.h"

namespace swinscope {
namespace {

const Table* find_table(const Document& document, std::string_view key) {
  const auto found =
      std::find_if(document.tables.begin(), document.tables.end(), [&](const Table& t) { return t.key == key; });
  return found == document.tables.end() || found->rows.empty() ? nullptr : &*found;
}

std::string text_of_fact(const Document& document, std::string_view key) {
  const auto fact = std::ranges::find(document.facts, key, &Fact::key);
  return fact == document.facts.end() ? std::string() : format_cell(fact->value, fact->unit);
}

std::optional<double> number(const Cell& cell) {
  if (const auto* integer = std::get_if<std::int64_t>(&cell)) return static_cast<double>(*integer);
  if (const auto* real = std::get_if<double>(&cell)) return *real;
  return std::nullopt;
}

Series series_of(const Table& table, std::string_view column, std::string name, double unit = 1) {
  Series series;
  series.name = std::move(name);
  const std::size_t index = find_column(table, column);
  for (const auto& row : table.rows) {
    const auto value = number(row[index]);
    series.values.push_back(value ? std::optional(*value / unit) : std::nullopt);
    series.texts.push_back(format_cell(row[index], table.columns[index].unit));
  }
  return series;
}

bool is_empty(const Series& series) {
  return std::none_of(series.values.begin(), series.values.end(), [](const auto& v) { return v.has_value(); });
}

// So that 0.94 beside 1 is seen the axis of efficiencies begins as far below the smallest as this is below 1; at 0
// where that is far.
void scale_efficiency(Chart& chart) {
  constexpr double kFar = 0.5;
  constexpr double kLeast = 0.02;
  double least = 1;
  for (const Series& one : chart.series) {
    for (std::size_t i = 0; i < one.values.size(); ++i) {
      const double half = one.half_widths.empty() ? 0 : one.half_widths[i];
      least = std::min(least, one.values[i].value_or(1) - half);
    }
  }
  if (least <= kFar) return;
  chart.y_min = 1 - std::max(2 * (1 - least), kLeast);
  chart.y_title = "axis not from 0";
}

constexpr std::size_t kWaterfallValue = 3;  // the column of waterfall_table() that bars are of

constexpr std::string_view kEfficiency = "Parallel efficiency";

// Columns of a table, in this order; the table of a chart.
Table columns_of(const Table& table, const std::vector<std::string>& keys) {
  Table part{table.key, table.title, {}, {}};
  part.rows.resize(table.rows.size());
  for (const std::string& key : keys) {
    const std::size_t index = find_column(table, key);
    part.columns.push_back(table.columns[index]);
    part.columns.back().detail = false;
    for (std::size_t i = 0; i < table.rows.size(); ++i)
      part.rows[i].push_back(table.rows[i][index]);
  }
  return part;
}

// The charts of a scaling experiment, which are the thesis's figures 1 to 5.
class ScalingCharts {
 public:
  // `images`: that the training time is for; empty: not known.
  ScalingCharts(const Table& table, std::string images) : table_(table), images_(std::move(images)) {
    const std::size_t gpus = find_column(table, "gpus");
    for (const auto& row : table.rows) {
      gpus_.push_back(number(row[gpus]).value_or(1));
      categories_.push_back(fmt::format("{:g}", gpus_.back()));
    }
  }

  std::vector<ReportChart> make() {
    const auto times = series_of(table_, "train_time_ns", "measured").values;
    constexpr double kHourNs = 3600e9;
    const bool is_in_hours = std::ranges::any_of(times, [](const auto& ns) { return ns.value_or(0) >= kHourNs; });
    const std::string unit = is_in_hours ? "hours" : "seconds";  // as the values say them
    add("Training time", images_.empty() ? unit : fmt::format("{} for {} images", unit, images_),
        {series_of(table_, "train_time_ns", "measured", is_in_hours ? kHourNs : 1e9)}, {"train_time_ns"});
    add("Step time", "ms", {with_interval("step_ns", "step_ci95_ns", 1e6)}, {"step_ns", "step_ci95_ns", "repeats"});
    add("Throughput", "images/s", {series_of(table_, "images_per_s", "measured"), ideal("images_per_s")},
        {"images_per_s"});
    add("Speedup", "times the first point", {with_interval("speedup", "speedup_ci95"), ideal("speedup")},
        {"speedup", "speedup_ci95", "repeats"});
    add(std::string(kEfficiency), "", {with_interval("efficiency", "efficiency_ci95")},
        {"efficiency", "efficiency_ci95", "repeats"}, 1);
    add("GPU utilization", "%",
        {series_of(table_, "gpu_busy_percent", "busy"), series_of(table_, "gpu_compute_percent", "compute")},
        {"gpu_busy_percent", "gpu_compute_percent"}, 100);
    add("CPU utilization", "% of the cores allowed", {series_of(table_, "cpu_util_percent", "CPU")},
        {"cpu_util_percent"}, 100);
    add("Shares of the compute time", "% of GPU and CPU time together",
        {series_of(table_, "thesis_gpu_percent", "GPU"), series_of(table_, "thesis_cpu_percent", "CPU")},
        {"thesis_gpu_percent", "thesis_cpu_percent"}, 100);
    return std::move(charts_);
  }

 private:
  Series with_interval(std::string_view column, std::string_view half_width, double unit = 1) const {
    Series series = series_of(table_, column, "measured", unit);
    for (const auto& half : series_of(table_, half_width, "", unit).values)
      series.half_widths.push_back(half.value_or(0));
    return series;
  }

  // The first point's value, growing with the GPUs.
  Series ideal(std::string_view column) const {
    Series series;
    series.name = "ideal";
    series.is_reference = true;
    const auto first = series_of(table_, column, "").values.front();
    for (const double gpus : gpus_)
      series.values.push_back(first ? std::optional(*first * gpus / gpus_.front()) : std::nullopt);
    return series;
  }

  void add(const std::string& title, const std::string& unit, std::vector<Series> series,
           std::vector<std::string> columns, std::optional<double> y_max = std::nullopt) {
    if (std::all_of(series.begin(), series.end(), is_empty)) return;
    Chart chart;
    chart.title = title;
    chart.x_title = counted_in(table_);
    chart.y_title = unit;
    chart.categories = categories_;
    chart.y_max = y_max;
    const Series& first = series.front();
    if (first.values.front() && first.values.back()) {
      chart.description =
          fmt::format("{} from {} at {} to {} at {} {}", title, format_number(*first.values.front()),
                      categories_.front(), format_number(*first.values.back()), categories_.back(), chart.x_title);
    }
    chart.series = std::move(series);
    if (title == kEfficiency) scale_efficiency(chart);
    columns.insert(columns.begin(), "gpus");
    charts_.push_back({std::move(chart), note(), columns_of(table_, columns)});
  }

  // The same for all charts of the experiment, so that it need be said only once.
  std::string note() const {
    std::vector<std::int64_t> counts;
    const std::size_t column = find_column(table_, "repeats");
    for (const auto& row : table_.rows)
      counts.push_back(static_cast<std::int64_t>(number(row[column]).value_or(0)));
    const auto [least, most] = std::ranges::minmax(counts);
    if (most < 2) return "n = 1 run at each point: no confidence interval. Dashed: ideal.";
    const std::string runs = least == most ? fmt::format("{}", most) : fmt::format("{} to {}", least, most);
    return fmt::format("n = {} runs at each point; bars: 95 % confidence interval (Student's t){}. Dashed: ideal.",
                       runs, least < 2 ? ", none for one run" : "");
  }

  const Table& table_;
  std::string images_;
  std::vector<double> gpus_;
  std::vector<std::string> categories_;
  std::vector<ReportChart> charts_;
};

// Several experiments, a line each: the thesis's figures 6 to 8, after the training time.
class ComparisonCharts {
 public:
  explicit ComparisonCharts(const Table& table)
      : table_(table), name_(find_column(table, "series")), gpus_(find_column(table, "gpus")) {
    std::set<double> counts;
    for (const auto& row : table.rows) {
      counts.insert(number(row[gpus_]).value_or(1));
      const auto& name = std::get<std::string>(row[name_]);
      if (std::ranges::find(names_, name) == names_.end()) names_.push_back(name);
    }
    counts_.assign(counts.begin(), counts.end());
  }

  std::vector<ReportChart> make() {
    constexpr double kHourNs = 3600e9;
    add("Training time", "hours", "train_time_ns", kHourNs);
    add("Throughput", "images/s", "images_per_s");
    Series ideal{"ideal", {}, {}, true};
    for (const double gpus : counts_)
      ideal.values.emplace_back(gpus / counts_.front());
    add("Speedup", "times the first point", "speedup", 1, std::nullopt, ideal);
    add(std::string(kEfficiency), "", "efficiency", 1, 1);
    add("GPU utilization", "% (compute)", "gpu_compute_percent", 1, 100);
    add("CPU utilization", "% of the cores allowed", "cpu_util_percent", 1, 100);
    add("GPU share of the compute time", "% of GPU and CPU time together", "thesis_gpu_percent", 1, 100);
    add("CPU share of the compute time", "% of GPU and CPU time together", "thesis_cpu_percent", 1, 100);
    return std::move(charts_);
  }

 private:
  Series series_named(const std::string& name, std::size_t column, double unit) const {
    Series series;
    series.name = name;
    series.values.resize(counts_.size());
    for (const auto& row : table_.rows) {
      const auto value = number(row[column]);
      if (std::get<std::string>(row[name_]) != name || !value) continue;
      const auto at = std::ranges::find(counts_, number(row[gpus_]).value_or(1)) - counts_.begin();
      series.values[static_cast<std::size_t>(at)] = *value / unit;
    }
    return series;
  }

  void add(const std::string& title, const std::string& unit, const std::string& key, double divisor = 1,
           std::optional<double> y_max = std::nullopt, const std::optional<Series>& reference = std::nullopt) {
    Chart chart;
    chart.title = title;
    chart.x_title = "GPUs or ranks";
    chart.y_title = unit;
    chart.y_max = y_max;
    for (const double gpus : counts_)
      chart.categories.push_back(fmt::format("{:g}", gpus));
    for (const std::string& name : names_) {
      Series series = series_named(name, find_column(table_, key), divisor);
      if (!is_empty(series)) chart.series.push_back(std::move(series));
    }
    if (chart.series.empty()) return;
    chart.description = fmt::format("{} of {} series over GPUs", title, chart.series.size());
    if (title == kEfficiency) scale_efficiency(chart);
    if (reference) chart.series.push_back(*reference);
    charts_.push_back({std::move(chart), "One line for each experiment; published results are as their sources say.",
                       columns_of(table_, {"series", "gpus", "source", key})});
  }

  const Table& table_;
  std::size_t name_;
  std::size_t gpus_;
  std::vector<std::string> names_;
  std::vector<double> counts_;
  std::vector<ReportChart> charts_;
};

ReportChart breakdown_chart(const Table& table) {
  constexpr std::string_view kTitle = "Time breakdown, ";  // what follows is the scope
  Chart chart;
  chart.kind = ChartKind::kStackedBar;
  chart.title = fmt::format("Time of each device, {}", table.title.substr(std::min(table.title.size(), kTitle.size())));
  chart.description =
      "Kernels of known and of unknown kind, communication and copies that nothing hides, and idle time, for each "
      "device";
  chart.x_title = "rank / GPU";
  chart.y_title = "ms";
  const std::size_t rank = find_column(table, "rank");
  const std::size_t device = find_column(table, "device");
  for (const auto& row : table.rows)
    chart.categories.push_back(
        fmt::format("{:g} / {:g}", number(row[rank]).value_or(0), number(row[device]).value_or(0)));
  chart.series = {series_of(table, "compute_ns", "kernels", 1e6),  // "compute" is a part of these where time is bound
                  series_of(table, "unknown_ns", "kernels of unknown kind", 1e6),
                  series_of(table, "exposed_communication_ns", "exposed communication", 1e6),
                  series_of(table, "exposed_memory_ns", "exposed copies", 1e6),
                  series_of(table, "idle_ns", "idle", 1e6)};
  return {std::move(chart), "One recording; the five parts sum to the device's window.",
          columns_of(table, {"rank", "device", "compute_ns", "unknown_ns", "exposed_communication_ns",
                             "exposed_memory_ns", "idle_ns"})};
}

// A point for each measured point of the experiment, slowest first; bars from the least to the most.
ReportChart quality_chart(const Table& table) {
  constexpr std::size_t kFactor = 0;
  const std::size_t gpus = find_column(table, "gpus");
  const std::size_t rate = find_column(table, "images_per_s");
  const std::size_t step = find_column(table, "step_ns");
  const std::size_t quality = find_column(table, "quality");
  const bool has_images =
      std::ranges::all_of(table.rows, [&](const std::vector<Cell>& row) { return number(row[rate]).has_value(); });
  const bool says_gpus = gpus != kFactor && std::ranges::any_of(table.rows, [&](const std::vector<Cell>& row) {
                           return row[gpus] != table.rows.front()[gpus];
                         });
  Chart chart;
  chart.title = table.title;
  chart.x_title = fmt::format("{}: {}", table.columns[kFactor].title, has_images ? "images/s" : "step");
  chart.y_title = table.columns[quality].title;
  Series measured = series_of(table, "quality", "measured");
  double least = 0, most = 0;
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const std::vector<Cell>& row = table.rows[i];
    std::string name = format_cell(row[kFactor], table.columns[kFactor].unit);
    if (says_gpus) name += fmt::format(" x{:g}", number(row[gpus]).value_or(1));
    const std::size_t speed = has_images ? rate : step;
    chart.categories.push_back(fmt::format("{}: {}", name, format_cell(row[speed], table.columns[speed].unit)));
    const double low = number(row[find_column(table, "least")]).value_or(0);
    const double high = number(row[find_column(table, "most")]).value_or(0);
    measured.half_widths.push_back((high - low) / 2);
    least = i == 0 ? low : std::min(least, low);
    most = i == 0 ? high : std::max(most, high);
    chart.description += fmt::format("{}{}, {}", i == 0 ? "" : "; ", chart.categories.back(), measured.texts[i]);
  }
  // What differs is seen though all of it is far above 0.
  const double room = std::max(most - least, 0.02 * std::abs(most));
  chart.y_min = least - room;
  chart.y_max = most + room;
  chart.series = {std::move(measured)};
  return {
      std::move(chart),
      "Slowest first. The axis does not begin at 0. Bars: half of what lies between the least and the most that was "
      "measured, to either side of the mean.",
      table};
}

// Of the rows of one run or point: from the step of the base to its own.
ReportChart waterfall_chart(const Table& table, const std::string& name) {
  Table rows = columns_of(table, {table.columns.front().key, "what", table.columns[kWaterfallValue].key});
  std::erase_if(rows.rows, [&](const std::vector<Cell>& row) { return row.front() != Cell(name); });
  const Column& value = rows.columns.back();
  const bool is_time = value.unit == Unit::kDuration;
  Chart chart;
  chart.kind = ChartKind::kWaterfall;
  chart.title = fmt::format("{}: {}", table.title, name);
  chart.y_title = is_time ? "ms" : value.title;
  chart.series = {series_of(rows, value.key, name, is_time ? 1e6 : 1)};
  for (const std::vector<Cell>& row : rows.rows) {
    chart.categories.push_back(std::get<std::string>(row[1]));
    chart.description += fmt::format("{}{} {}", chart.description.empty() ? "" : ", ", chart.categories.back(),
                                     format_cell(row.back(), value.unit));
  }
  std::string note = "The first bar and what lies between sum to the last one.";
  if (const double begin = waterfall_begin(chart); begin > 0)
    note += fmt::format(" The axis begins at {:.6g} {}, not at 0, so that small parts are seen.", begin, chart.y_title);
  return {std::move(chart), std::move(note), std::move(rows)};
}

// One for each run or point of the table.
void add_waterfalls(const Table& table, std::vector<ReportChart>& charts) {
  std::vector<std::string> names;
  for (const std::vector<Cell>& row : table.rows) {
    const auto& name = std::get<std::string>(row.front());
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  }
  for (const std::string& name : names)
    charts.push_back(waterfall_chart(table, name));
}

}  // namespace

std::vector<ReportChart> charts_of(const Document& document) {
  std::vector<ReportChart> charts;
  if (const Table* points = find_table(document, "points"))
    charts = ScalingCharts(*points, text_of_fact(document, "images")).make();
  if (const Table* quality = find_table(document, "quality")) charts.push_back(quality_chart(*quality));
  for (const char* key : {"scaling_loss", "difference"}) {
    if (const Table* parts = find_table(document, key)) add_waterfalls(*parts, charts);
  }
  if (const Table* comparison = find_table(document, "comparison")) return ComparisonCharts(*comparison).make();
  if (const Table* breakdown = find_table(document, "breakdown")) charts.push_back(breakdown_chart(*breakdown));
  return charts;
}

}  // namespace swinscope
