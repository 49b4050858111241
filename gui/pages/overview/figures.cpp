#include "gui/pages/overview/figures.h"

#include <algorithm>

#include "analyzer/base/text.h"
#include "analyzer/experiment/scaling.h"
#include "analyzer/report/registry.h"

namespace swinscope::gui {
namespace {

Evidence table(const char* key) { return {{}, QStringLiteral("tables"), QString::fromUtf8(key), {}}; }
// On this page.
Evidence below(const char* key) { return {{}, QStringLiteral("overview"), QString::fromUtf8(key), {}}; }

const QString& not_recorded() {
  static const QString text = QStringLiteral("not recorded");
  return text;
}

QString percent(const std::optional<double>& share) {
  return share ? QStringLiteral("%1 %").arg(100 * *share, 0, 'f', 1) : not_recorded();
}

QString duration(std::int64_t ns) { return QString::fromStdString(format_duration(ns)); }

}  // namespace

std::vector<Figure> figures_of(const KeyFigures& f) {
  const QString step_note = f.step_ci_ns
                                ? QStringLiteral("± %1, n = %2").arg(duration(*f.step_ci_ns)).arg(f.steps)
                                : QStringLiteral("n = ") + QString::fromStdString(format_counted(f.steps, "steps"));
  std::vector<Figure> figures;
  const auto add = [&](const char* title, const QString& value, const QString& note, Evidence evidence) {
    figures.push_back({QString::fromUtf8(title), value, note, std::move(evidence)});
  };
  if (f.step_ns) add("Step time", duration(*f.step_ns), step_note, table("steps"));
  if (f.images_per_second)
    add("Images/s", QString::number(*f.images_per_second, 'g', 4), QStringLiteral("of all ranks"), table("steps"));
  if (f.gpu_busy) add("GPU busy", percent(f.gpu_busy), QStringLiteral("mean over devices"), table("utilization"));
  if (f.idle) add("Idle", percent(f.idle), QStringLiteral("of the devices' time"), table("idle"));
  if (f.exposed_communication) {
    add("Exposed communication", percent(f.exposed_communication), QStringLiteral("of the devices' time"),
        table("breakdown"));
  }
  if (f.dropped && *f.dropped > 0) {
    add("Dropped records", QString::fromStdString(format_count(*f.dropped)), QStringLiteral("counted by the recorder"),
        table("drops"));
  }
  return figures;
}

std::vector<Figure> figures_of(const OpenedExperiment& experiment) {
  const Table& points = experiment.document.tables.front();
  if (points.rows.empty()) return {};
  const auto value = [&](const char* key) {
    const std::size_t column = find_column(points, key);
    const Cell& cell = points.rows.back()[column];
    return std::holds_alternative<std::monostate>(cell)
               ? not_recorded()
               : QString::fromStdString(format_cell(cell, points.columns[column].unit));
  };
  // Half the width of the 95 % confidence interval, and the runs behind it.
  const auto interval = [&](const char* key, const QString& otherwise) {
    const bool is_missing = std::holds_alternative<std::monostate>(points.rows.back()[find_column(points, key)]);
    return is_missing ? otherwise : QStringLiteral("± %1, n = %2").arg(value(key), value("repeats"));
  };
  const QString at = QStringLiteral("at %1 %2").arg(value("gpus"), QString::fromUtf8(counted_in(points).data()));
  return {
      {QStringLiteral("Images/s"), value("images_per_s"), at, below("points")},
      {QStringLiteral("Step time"), value("step_ns"), interval("step_ci95_ns", QStringLiteral("one run: no interval")),
       below("points")},
      {QStringLiteral("Speedup"), value("speedup"), interval("speedup_ci95", at), below("points")},
      {QStringLiteral("Parallel efficiency"), value("efficiency"), interval("efficiency_ci95", at), below("points")},
      {QStringLiteral("GPU busy"), value("gpu_busy_percent"), at, below("points")},
      {QStringLiteral("CPU"), value("cpu_util_percent"), QStringLiteral("of the cores allowed"), below("points")},
  };
}

std::vector<Figure> figures_of(const OpenedComparison& comparison) {
  const Table& table = *std::ranges::find(comparison.document.tables, "comparison", &Table::key);
  std::vector<Figure> figures;
  for (const QString& name : comparison.names) {
    const std::vector<Cell>* largest = nullptr;
    for (const std::vector<Cell>& row : table.rows) {
      if (std::get<std::string>(row.front()) == name.toStdString()) largest = &row;
    }
    if (largest == nullptr) continue;
    const auto value = [&](const char* key) {
      const std::size_t column = find_column(table, key);
      return QString::fromStdString(format_cell((*largest)[column], table.columns[column].unit));
    };
    figures.push_back({name, value("train_time_ns"),
                       QStringLiteral("training time at %1, efficiency %2").arg(value("gpus"), value("efficiency")),
                       below("comparison")});
  }
  return figures;
}

std::vector<std::string> keys_on_overview() {
  std::vector<std::string> keys;
  for (const AnalysisSection section : kAnalysisSections) {
    for (const Analysis& analysis : analyses()) {
      const bool is_shown = analysis.use == AnalysisUse::kOverview && analysis.key != "bounds";
      if (analysis.section == section && is_shown) keys.emplace_back(analysis.key);
    }
  }
  return keys;
}

}  // namespace swinscope::gui
