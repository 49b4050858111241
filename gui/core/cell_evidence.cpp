#include "gui/core/cell_evidence.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>

#include "analyzer/analyses/host_waits.h"
#include "analyzer/analyses/kernel_table.h"
#include "analyzer/analyses/verdict.h"
#include "analyzer/trace/kernel_names.h"

namespace swinscope::gui {
namespace {

QString qt(std::string_view text) { return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size())); }

// Where a figure leads, as the rows of the list say it.
struct Target {
  const char* page = "";
  const char* analysis = "";
  const char* name = "";
  const char* find = "";
  std::optional<GpuClass> kernels = {};  // of this class, together

  Evidence evidence() const {
    Evidence evidence{.page = QString::fromUtf8(page),
                      .analysis = QString::fromUtf8(analysis),
                      .name = QString::fromUtf8(name),
                      .find = QString::fromUtf8(find)};
    if (kernels) evidence.called = qt(class_name(*kernels));
    if (kernels) evidence.grouping = static_cast<std::size_t>(KernelGrouping::kClass);
    return evidence;
  }
};

constexpr Target page(const char* id, const char* name = "") { return {.page = id, .name = name}; }
constexpr Target table_of(const char* key) { return {.page = "tables", .analysis = key}; }
constexpr Target kernels_of(GpuClass kind) { return {.page = "kernels", .kernels = kind}; }
// By the name of a cause.
constexpr Target gaps_by(const char* cause) { return {.page = "tables", .analysis = "gaps", .find = cause}; }

// A column of a table; "": every other one of it.
struct Place {
  std::string_view table;
  std::string_view column;
  Target target;
};

constexpr std::array kPlaces = {
    Place{"idle", "host_ns", gaps_by("host")},
    Place{"idle", "synchronization_ns", gaps_by("synchronization")},
    Place{"idle", "input_ns", gaps_by("input")},
    Place{"idle", "communication_ns", gaps_by("communication")},
    Place{"idle", "dependency_ns", gaps_by("dependency")},
    Place{"idle", "other_ns", gaps_by("other")},
    Place{"idle", "", table_of("gaps")},
    Place{"host_waits", "", table_of("gaps")},
    Place{"breakdown", "compute_ns", kernels_of(GpuClass::kCompute)},
    Place{"breakdown", "math_ns", kernels_of(GpuClass::kCompute)},
    Place{"breakdown", "unknown_ns", kernels_of(GpuClass::kUnknown)},
    Place{"breakdown", "communication_ns", kernels_of(GpuClass::kCommunication)},
    Place{"breakdown", "exposed_communication_ns", table_of("collectives")},
    Place{"breakdown", "exposed_wait_ns", page("ranks")},
    Place{"breakdown", "exposed_transfer_ns", table_of("collectives")},
    Place{"breakdown", "overlap_percent", table_of("collectives")},
    Place{"breakdown", "memory_ns", kernels_of(GpuClass::kMemory)},
    Place{"breakdown", "exposed_memory_ns", kernels_of(GpuClass::kMemory)},
    Place{"breakdown", "exposed_host_copy_ns", page("kernels", "Memcpy")},
    Place{"breakdown", "idle_ns", table_of("idle")},
    Place{"breakdown", "idle_percent", table_of("idle")},
    Place{"breakdown", "", page("kernels")},
    Place{"utilization", "idle_ns", table_of("idle")},
    Place{"utilization", "idle_percent", table_of("idle")},
    Place{"utilization", "gpu_compute_percent", table_of("breakdown")},
    Place{"utilization", "", page("kernels")},
    Place{"rank_summary", "idle_ns", table_of("idle")},
    Place{"rank_summary", "exposed_communication_ns", table_of("collectives")},
    Place{"rank_summary", "compute_ns", kernels_of(GpuClass::kCompute)},
    Place{"rank_summary", "exposed_memory_ns", kernels_of(GpuClass::kMemory)},
    Place{"rank_summary", "", table_of("utilization")},
    Place{"steps", "", table_of("step_times")},
    Place{"step_times", "", page("ranks")},
    Place{"step_changes", "", table_of("step_times")},
    Place{"late_ranks", "", page("ranks")},
    Place{"launches", "", page("timeline", "Launch")},
    Place{"queue", "", page("timeline", "Launch")},
    Place{"input_wait", "", table_of("ranges")},
    Place{"thesis_utilization", "", page("kernels")},
    Place{"ranks", "kernels", page("kernels")},
    Place{"ranks", "copies", page("kernels", "Memcpy")},
    Place{"ranks", "sets", page("kernels", "Memset")},
    Place{"ranks", "collectives", table_of("collectives")},
    Place{"ranks", "ranges", table_of("ranges")},
    Place{"ranks", "steps", table_of("steps")},
};

constexpr std::array kBounds = {
    std::pair(Bound::kInput, table_of("input_wait")),
    std::pair(Bound::kHost, table_of("host_waits")),
    std::pair(Bound::kWaiting, page("ranks")),
    std::pair(Bound::kTransfer, table_of("collectives")),
    std::pair(Bound::kCommunication, table_of("collectives")),
    std::pair(Bound::kHostCopies, page("kernels", "Memcpy")),
    std::pair(Bound::kCompute, page("kernels")),
    std::pair(Bound::kMemory, page("kernels")),
    std::pair(Bound::kUnknown, page("kernels")),
    std::pair(Bound::kOther, table_of("idle")),
};

// Rows that are about something with a name lead to it, whatever the column.
Evidence evidence_of_name(const Table& table, std::size_t row) {
  if (table.key == "bounds") return evidence_of_bound(QString::fromStdString(text_in(table, row, "bound")));
  if (table.key == "gaps") return {.page = QStringLiteral("timeline"), .gap = row};
  if (table.key == "host_waits") {
    // What is left over has no name to look for: its gaps show it.
    const std::string name = text_in(table, row, "name");
    if (name == kNothingRecorded || name.ends_with(" others")) return {};
    QString searched = QString::fromStdString(name);
    return {.page = QStringLiteral("timeline"), .name = searched.remove(QLatin1Char('*'))};
  }
  if (table.key == "collectives") {
    QString kind = QString::fromStdString(text_in(table, row, "kind"));
    return {.page = QStringLiteral("timeline"), .name = kind.remove(QLatin1Char('-'))};
  }
  if (table.key == "ranges")
    return {.page = QStringLiteral("timeline"), .name = QString::fromStdString(text_in(table, row, "name"))};
  if (table.key == "roofline" || table.key == "layers")
    return {.page = QStringLiteral("layers"), .called = QString::fromStdString(text_in(table, row, "path"))};
  if (table.key == "layer_groups")
    return {.page = QStringLiteral("layers"),
            .called = QString::fromStdString(text_in(table, row, "path")),
            .grouping = kEqualLayersTogether};
  if (table.key == "kernels")
    return {.page = QStringLiteral("kernels"), .called = QString::fromStdString(text_in(table, row, "full_name"))};
  return {};
}

// Where a table has a row for each, the rank of this one.
std::optional<std::int32_t> rank_of(const Table& table, std::size_t row) {
  const auto column = std::ranges::find(table.columns, "rank", &Column::key) - table.columns.begin();
  if (column == std::ssize(table.columns) || table.rows.size() < 2) return std::nullopt;
  const auto* rank = std::get_if<std::int64_t>(&table.rows[row][static_cast<std::size_t>(column)]);
  return rank == nullptr ? std::nullopt : std::optional(static_cast<std::int32_t>(*rank));
}

}  // namespace

Evidence evidence_of_bound(const QString& part) {
  const auto found = std::ranges::find(kBounds, part.toStdString(),
                                       [](const auto& known) { return std::string(bound_name(known.first)); });
  return (found == kBounds.end() ? table_of("bounds") : found->second).evidence();
}

Evidence evidence_of_cell(const Table& table, std::size_t row, std::string_view column) {
  Evidence evidence = evidence_of_name(table, row);
  if (!evidence.page.isEmpty()) return evidence;
  const auto found = std::ranges::find_if(kPlaces, [&](const Place& place) {
    return place.table == table.key && (place.column == column || place.column.empty());
  });
  if (found == kPlaces.end()) return {};
  evidence = found->target.evidence();
  evidence.rank = rank_of(table, row);
  return evidence;
}

}  // namespace swinscope::gui
