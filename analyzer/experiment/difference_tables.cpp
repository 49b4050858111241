#include "analyzer/experiment/difference_tables.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "analyzer/base/text.h"
#include "analyzer/table/cells.h"

namespace swinscope {
namespace {

LossPart part_at(std::size_t i) { return LossPart{static_cast<std::uint8_t>(i)}; }

// What a kernel adds to a part; nothing where kernels are not what the part is of.
std::optional<double> share_of(const WorkChange& change, LossPart part) {
  switch (part) {
    case LossPart::kBeside:
      return change.beside_ns;
    case LossPart::kSlowed:
      return change.slowed_ns;
    case LossPart::kWork:
      return change.work_ns;
    case LossPart::kCopies:
      return change.copies_ns;
    default:
      return std::nullopt;
  }
}

// The kernel that adds most to a part, in the direction of the whole part; nullptr where it is of none.
const WorkChange* largest_in(std::span<const WorkChange> kernels, LossPart part, std::int64_t part_ns) {
  const WorkChange* largest = nullptr;
  for (const WorkChange& kernel : kernels) {
    const double share = share_of(kernel, part).value_or(0) * (part_ns < 0 ? -1 : 1);
    if (share > (largest == nullptr ? 0.5 : std::abs(*share_of(*largest, part)))) largest = &kernel;
  }
  return largest;
}

std::string part_text(const WorkDifference& difference, std::span<const WorkChange> kernels, LossPart part,
                      const Measure& measure) {
  const std::int64_t ns = difference.part(part);
  std::string text = fmt::format("{} {}", amount_text(ns, measure), loss_part_title(part));
  if (const WorkChange* kernel = largest_in(kernels, part, ns))
    text += fmt::format(" ({}, {})", kernel->key.name, amount_text(std::llround(*share_of(*kernel, part)), measure));
  return text;
}

// The largest parts first, whatever their sign; those too small to explain anything are left out.
std::vector<LossPart> telling_parts(const WorkDifference& difference, std::int64_t loss_ns) {
  constexpr double kTooSmall = 0.05;
  std::vector<LossPart> parts;
  for (std::size_t i = 0; i < kLossParts; ++i) {
    const auto size = static_cast<double>(std::abs(difference.part_ns[i]));
    if (size > 0 && size >= kTooSmall * static_cast<double>(std::abs(loss_ns))) parts.push_back(part_at(i));
  }
  std::ranges::stable_sort(parts, std::greater(), [&](LossPart part) { return std::abs(difference.part(part)); });
  return parts;
}

Cell percent_cell(std::int64_t ns, std::int64_t of_ns) { return of_ns == 0 ? Cell() : Cell(percent_of(ns, of_ns)); }

Cell duration_cell(double ns) { return Cell(std::int64_t{std::llround(ns)}); }

// The rows of one difference.
class WaterfallRows {
 public:
  WaterfallRows(const NamedDifference& difference, const Measure& measure, Table& table)
      : difference_(difference),
        noun_(measure.noun),
        kernels_(grouped(difference.work->changes, ChangeGrouping::kKernel)),
        table_(table) {}

  void add() {
    add_step("base_step", difference_.base_name, difference_.base_ns);
    for (std::size_t i = 0; i < kLossParts; ++i) {
      if (difference_.work->part_ns[i] != 0) add_part(part_at(i), difference_.work->part_ns[i]);
    }
    if (difference_.distortion_ns) add_step("distortion", "tracing distortion", *difference_.distortion_ns);
    add_step("step", fmt::format("{}, of {}", noun_, difference_.name), difference_.step_ns);
  }

 private:
  void add_step(std::string_view key, std::string what, std::int64_t ns) {
    table_.rows.push_back({difference_.name, std::string(key), std::move(what), ns,
                           percent_cell(ns, difference_.base_ns), Cell(), Cell()});
  }

  void add_part(LossPart part, std::int64_t ns) {
    add_step(loss_part_key(part), std::string(loss_part_title(part)), ns);
    const WorkChange* kernel = largest_in(kernels_, part, ns);
    if (kernel == nullptr) return;
    table_.rows.back()[5] = kernel->key.name;
    table_.rows.back()[6] = duration_cell(*share_of(*kernel, part));
  }

  const NamedDifference& difference_;
  const std::string noun_;
  std::vector<WorkChange> kernels_;
  Table& table_;
};

std::vector<Cell> change_row(const WorkChange& change) {
  return {change.base.calls,
          change.other.calls,
          duration_cell(change.base.ns),
          duration_cell(change.other.ns),
          duration_cell(change.change_ns()),
          change.base.ns > 0 ? Cell(100 * change.change_ns() / change.base.ns) : Cell(),
          duration_cell(change.beside_ns),
          duration_cell(change.slowed_ns),
          duration_cell(change.work_ns),
          std::string(change_name(change.verdict))};
}

// Durations become numbers of the measure's unit.
void write_in(Table& table, const Measure& measure) {
  if (measure.unit.empty()) return;
  for (std::size_t column = 0; column < table.columns.size(); ++column) {
    Column& own = table.columns[column];
    if (own.unit != Unit::kDuration) continue;
    own.unit = Unit::kNumber;
    own.key.replace(own.key.rfind("_ns"), 3, "_amount");
    own.title += ", " + measure.unit;
    for (std::vector<Cell>& row : table.rows) {
      if (const auto* amount = std::get_if<std::int64_t>(&row[column]))
        row[column] = static_cast<double>(*amount) / 1e6;
    }
  }
}

}  // namespace

std::string parts_text(const WorkDifference& work, std::int64_t whole_ns, const Measure& measure) {
  const std::vector<WorkChange> kernels = grouped(work.changes, ChangeGrouping::kKernel);
  std::string text;
  for (const LossPart part : telling_parts(work, whole_ns))
    text += (text.empty() ? ": " : ", ") + part_text(work, kernels, part, measure);
  return text;
}

Table waterfall_table(std::string key, std::string title, const std::string& column,
                      std::span<const NamedDifference> differences, const Measure& measure) {
  Table table{std::move(key),
              std::move(title),
              {{column, column},
               {"part", "part", Unit::kText, true},
               {"what", "what"},
               {"time_ns", "time", Unit::kDuration},
               {"percent_of_step", "of the base step", Unit::kPercent},
               {"largest", "largest kernel"},
               {"largest_ns", "its part", Unit::kDuration}},
              {}};
  table.definition =
      "The parts, and the distortion where steps are timed, sum to the difference of the two steps, in ns. They are "
      "differences of exclusive times per step, mean over the devices, of the traced runs.";
  table.columns.front().detail = differences.size() == 1;
  for (const NamedDifference& difference : differences)
    WaterfallRows(difference, measure, table).add();
  write_in(table, measure);
  return table;
}

Table changes_table(std::string key, std::string title, const std::string& column,
                    std::span<const NamedDifference> differences, ChangeGrouping grouping, std::size_t top,
                    const Measure& measure) {
  const bool by_layer = grouping == ChangeGrouping::kLayer;
  Table table{std::move(key), std::move(title), {{column, column}}, {}};
  if (by_layer) {
    table.columns.insert(table.columns.end(), {{"path", "layer"}, {"phase", "phase"}});
  } else {
    table.columns.push_back({"kernel", "kernel"});
  }
  table.columns.insert(table.columns.end(), {{"base_calls", "base calls", Unit::kNumber},
                                             {"calls", "calls", Unit::kNumber},
                                             {"base_ns", "base time", Unit::kDuration},
                                             {"time_ns", "time", Unit::kDuration},
                                             {"change_ns", "change", Unit::kDuration},
                                             {"change_percent", "change", Unit::kPercent},
                                             {"beside_ns", "beside communication", Unit::kDuration},
                                             {"slowed_ns", "slowed", Unit::kDuration},
                                             {"work_ns", "more work", Unit::kDuration},
                                             {"verdict", "verdict"}});
  table.definition =
      "Exclusive time per step, mean over the devices: of several events at once, it is that of the one that computes "
      "and began first. Slower or faster: by more than the 95 % interval of the steps and by more than 1 %.";
  table.columns.front().detail = differences.size() == 1;
  for (const NamedDifference& difference : differences) {
    std::vector<WorkChange> changes = grouped(difference.work->changes, grouping);
    if (top > 0 && changes.size() > top) changes.resize(top);
    for (const WorkChange& change : changes) {
      std::vector<Cell>& row = table.rows.emplace_back();
      row.emplace_back(difference.name);
      row.emplace_back(by_layer ? change.key.path : change.key.name);
      if (by_layer) row.emplace_back(change.key.phase);
      std::ranges::move(change_row(change), std::back_inserter(row));
    }
  }
  write_in(table, measure);
  return table;
}

}  // namespace swinscope
