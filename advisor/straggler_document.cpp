#include <cmath>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "advisor/stragglers.h"
#include "analyzer/base/text.h"
#include "analyzer/table/cells.h"

namespace swinscope {
namespace {

Cell percent_cell(const std::optional<double>& share) { return share ? Cell(100 * *share) : Cell(); }

double ratio(double ns, double ideal_ns) { return ideal_ns == 0 ? 1 : ns / ideal_ns; }

// What every part has, behind what names it.
void add_figures(std::vector<Cell>& row, const StragglingPart& part, const Stragglers& of) {
  row.emplace_back(ratio(part.only_ns, of.ideal_step_ns));
  row.push_back(percent_cell(of.added(part)));
  row.push_back(percent_cell(of.removed(part)));
}

Table part_table(std::string key, std::string title, std::vector<Column> columns) {
  columns.push_back({"slowdown", "slowdown", Unit::kNumber});
  columns.push_back({"added_percent", "added", Unit::kPercent});
  columns.push_back({"removed_percent", "removed", Unit::kPercent});
  return {std::move(key), std::move(title), std::move(columns), {}, {}};
}

Table rank_table(const Trace& trace, const Stragglers& of) {
  Table table = part_table("straggler_ranks", "Ranks, by what they alone would cost",
                           {{"rank", "rank", Unit::kValue}, {"stage", "stage", Unit::kValue}, {"host", "host"}});
  table.definition =
      "slowdown = step with the own times of this rank only / step without stragglers. added = (that step - step "
      "without "
      "stragglers) / loss; removed = what the step gets shorter without its own times / loss.";
  for (const StragglingRank& rank : of.ranks) {
    const RunInfo& run = trace.ranks[rank.rank_index].run;
    table.rows.push_back({int_cell(run.rank), rank.stage ? int_cell(*rank.stage + 1) : Cell(), run.host});
    add_figures(table.rows.back(), rank, of);
  }
  sort_rows(table, "slowdown");
  return table;
}

Table stage_table(const Stragglers& of) {
  Table table =
      part_table("straggler_stages", "Pipeline stages", {{"stage", "stage"}, {"works", "kernels", Unit::kCount}});
  table.definition = "As of ranks, of all that are in the same place of a chain of senders and receivers.";
  for (const StragglingPart& stage : of.stages) {
    table.rows.push_back({stage.name, int_cell(stage.works)});
    add_figures(table.rows.back(), stage, of);
  }
  return table;
}

Table kind_table(const Stragglers& of) {
  Table table = part_table("straggler_kinds", "Kinds of work", {{"kind", "kind"}, {"works", "kernels", Unit::kCount}});
  table.definition = "As of ranks, of all work with one name; of communication also with messages of one size.";
  for (const StragglingPart& kind : of.kinds) {
    table.rows.push_back({kind.name, int_cell(kind.works)});
    add_figures(table.rows.back(), kind, of);
  }
  sort_rows(table, "slowdown");
  return table;
}

Table step_table(const Stragglers& of) {
  Table table{"straggler_steps",
              "Steps",
              {{"step", "step", Unit::kValue},
               {"step_ns", "step", Unit::kDuration},
               {"ideal_step_ns", "without stragglers", Unit::kDuration},
               {"slowdown", "slowdown", Unit::kNumber},
               {"slowest_rank", "slowest rank"},
               {"slowest_slowdown", "its slowdown", Unit::kNumber}},
              {}};
  table.definition =
      "step: replayed, all GPUs begin it at once. Its slowest rank: the one whose own times alone make it longest.";
  for (std::size_t i = 0; i < of.steps.size(); ++i) {
    const StragglingStep& step = of.steps[i];
    const auto ideal_ns = static_cast<double>(step.ideal_ns);
    table.rows.push_back({int_cell(static_cast<std::int64_t>(i) + 1), step.step_ns, step.ideal_ns,
                          ratio(static_cast<double>(step.step_ns), ideal_ns), of.ranks[step.slowest].name,
                          ratio(static_cast<double>(step.slowest_ns), ideal_ns)});
  }
  return table;
}

std::string duration_text(double ns) { return format_duration(std::llround(ns)); }

std::string headline(const Stragglers& of) {
  if (of.is_refused()) {
    return fmt::format("Not said: the GPUs' work alone makes a step of {}, the traced one takes {}",
                       duration_text(of.step_ns), format_duration(of.traced_step_ns));
  }
  if (!of.removed(of.slowest)) return "No rank makes others wait: the step is as long as if all of them were alike";
  double removed = *of.removed(of.slowest);
  std::string whose = (of.slowest.name.find(',') == std::string::npos ? "rank " : "ranks ") + of.slowest.name;
  if (of.stages.size() > 1 && *of.removed(of.stages.back()) > removed) {
    removed = *of.removed(of.stages.back());
    whose = "the last pipeline stage";
  }
  return fmt::format(
      "Stragglers make a step {:.3f} times as long: {} of {} are lost to them, {:.0f} % of which go with {}",
      of.slowdown(), duration_text(of.step_ns - of.ideal_step_ns), duration_text(of.step_ns), 100 * removed, whose);
}

void add_blame(Document& document, const Stragglers& of) {
  document.facts.push_back(
      {"ideal_step_ns", "step without stragglers", int_cell(std::llround(of.ideal_step_ns)), Unit::kDuration});
  document.facts.push_back({"slowdown", "slowdown by stragglers (S)", of.slowdown(), Unit::kNumber});
  if (!of.removed(of.slowest)) return;
  document.facts.push_back({"slowest_ranks", "slowest ranks", of.slowest.name, Unit::kText});
  document.facts.push_back({"slowest_removed_percent", "of the loss, removed with them (M_W)",
                            percent_cell(of.removed(of.slowest)), Unit::kPercent});
  if (of.stages.size() > 1)
    document.facts.push_back({"last_stage_removed_percent", "with the last pipeline stage (M_S)",
                              percent_cell(of.removed(of.stages.back())), Unit::kPercent});
}

}  // namespace

Document straggler_document(const Trace& trace, const Stragglers& of) {
  Document document;
  document.schema = "stragglers";
  document.run = trace.path;
  document.headline = {headline(of)};
  document.warnings = trace.warnings;
  document.facts = {{"steps", "steps", int_cell(static_cast<std::int64_t>(of.steps.size())), Unit::kCount},
                    {"traced_step_ns", "step, traced", of.traced_step_ns, Unit::kDuration},
                    {"step_ns", "step, work of the GPUs alone", int_cell(std::llround(of.step_ns)), Unit::kDuration},
                    {"replay_error_percent", "they differ by", 100 * of.replay_error(), Unit::kPercent}};
  document.finding = {of.is_refused() ? headline(of) : "",
                      of.is_refused()     ? ""
                      : of.doubts.empty() ? "high"
                                          : "medium",
                      ""};
  if (of.is_refused()) {
    document.warnings.push_back(fmt::format(
        "nothing is said of stragglers: the step of the GPUs' work alone differs by {:.1f} % from the traced "
        "one, more than {:.0f} %: the host, delays, or work that steps share decide how long it takes",
        100 * of.replay_error(), 100 * Stragglers::kMostError));
    return document;
  }
  document.warnings.insert(document.warnings.end(), of.doubts.begin(), of.doubts.end());
  add_blame(document, of);
  document.tables.push_back(rank_table(trace, of));
  if (of.stages.size() > 1) document.tables.push_back(stage_table(of));
  document.tables.push_back(kind_table(of));
  document.tables.push_back(step_table(of));
  document.notes = {
      "Without stragglers: each kernel takes the mean over all ranks and steps of those with its name, communication "
      "the "
      "median of its transfer.",
      "added, removed: of what is lost to stragglers. They do not add up: what several delay is gone only without all "
      "of "
      "them."};
  return document;
}

}  // namespace swinscope
