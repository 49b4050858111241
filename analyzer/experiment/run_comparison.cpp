#include "analyzer/experiment/run_comparison.h"

#include <algorithm>

#include <fmt/format.h>

#include "analyzer/analyses/key_figures.h"
#include "analyzer/base/commands.h"
#include "analyzer/base/text.h"

namespace swinscope {
namespace {

// Larger is faster; 0 where it is not known. Images a second, or steps a second.
double speed_of(const ComparedRun& run, bool by_images) {
  if (by_images) return run.images_per_second.value_or(0);
  return run.step_ns.value_or(0) > 0 ? 1e9 / static_cast<double>(*run.step_ns) : 0;
}

bool all_have_images(const std::vector<ComparedRun>& runs) {
  return std::ranges::all_of(runs, [](const ComparedRun& run) { return run.images_per_second.value_or(0) > 0; });
}

std::vector<std::string> tell_apart(const std::vector<ComparedRun>& runs) {
  std::vector<std::vector<std::string>> commands;
  commands.reserve(runs.size());
  for (const ComparedRun& run : runs)
    commands.push_back(run.command);
  return telling_parts(commands);
}

std::string named(const ComparedRun& run, const std::string& part) {
  return part.empty() ? run.name : fmt::format("{} (`{}`)", run.name, part);
}

Table runs_table(const std::vector<ComparedRun>& runs, const std::vector<std::string>& parts, const ComparedRun& base,
                 bool by_images, RunOrder order) {
  Table table{"runs",
              "Runs",
              {{"run", "run"},
               {"differs_in", "differs in"},
               {"steps", "steps", Unit::kCount},
               {"step_ns", "step", Unit::kDuration},
               {"images_per_s", "images/s", Unit::kNumber},
               {"times_base", order == RunOrder::kAsGiven ? "speed vs base" : "speed vs slowest", Unit::kNumber},
               {"gpu_busy_percent", "GPU busy", Unit::kPercent},
               {"bound_by", "bound by"}},
              {}};
  const double base_speed = speed_of(base, by_images);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const ComparedRun& run = runs[i];
    const double speed = speed_of(run, by_images);
    table.rows.push_back(
        {run.name, parts[i].empty() ? Cell() : Cell(parts[i]), run.steps, run.step_ns ? Cell(*run.step_ns) : Cell(),
         run.images_per_second ? Cell(*run.images_per_second) : Cell(),
         speed > 0 && base_speed > 0 ? Cell(speed / base_speed) : Cell(),
         run.gpu_busy ? Cell(100 * *run.gpu_busy) : Cell(), run.bound.empty() ? Cell() : Cell(run.bound)});
  }
  return table;
}

std::vector<std::string> headline_of(const std::vector<ComparedRun>& runs, const std::vector<std::string>& parts,
                                     std::size_t base, bool by_images, RunOrder order) {
  std::vector<std::string> lines;
  const auto is_unlike = [&](const ComparedRun& run) { return are_unlike_tasks(run.command, runs[base].command); };
  if (std::ranges::any_of(runs, is_unlike)) {
    lines.emplace_back(
        "not the same work, so a ratio of times compares programs, models or tasks, too: see `differs in`");
  }
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const bool is_said = order == RunOrder::kAsGiven ? i != base : i == 0;
    const double speed = speed_of(runs[i], by_images);
    const double base_speed = speed_of(runs[base], by_images);
    if (!is_said || i == base || speed <= 0 || base_speed <= 0) continue;
    const double times = speed >= base_speed ? speed / base_speed : base_speed / speed;
    lines.push_back(fmt::format("{}{}: {:.2f} times {} than {} ({} per step against {}){}",
                                order == RunOrder::kFastestFirst ? "fastest: " : "", named(runs[i], parts[i]), times,
                                speed >= base_speed ? "faster" : "slower", named(runs[base], parts[base]),
                                format_duration(*runs[i].step_ns), format_duration(*runs[base].step_ns),
                                by_images ? " for the same images" : ", images per step not known"));
  }
  if (lines.empty()) lines.emplace_back("no steps were found in the runs, so their speeds cannot be compared");
  return lines;
}

}  // namespace

ComparedRun compared_run(const Trace& trace, const std::string& name, const Selection& selection) {
  ComparedRun run;
  run.name = name;
  run.warnings = trace.warnings;
  run.corrupt = trace.corrupt;
  if (trace.ranks.empty()) return run;
  run.command = split_command(trace.ranks.front().run.command);
  const RunFacts analysis(trace, selection);
  const KeyFigures figures = key_figures(analysis);
  run.steps = figures.steps;
  run.step_ns = figures.step_ns;
  run.images_per_second = figures.images_per_second;
  run.gpu_busy = figures.gpu_busy;
  if (analysis.verdict().bound) run.bound = bound_name(*analysis.verdict().bound);
  run.warnings.insert(run.warnings.end(), analysis.verdict().doubts.begin(), analysis.verdict().doubts.end());
  if (analysis.scope.is_of_repetitions()) {
    run.warnings.emplace_back("no step is marked: its steps are repetitions of a kernel sequence, which may be layers");
  }
  return run;
}

Document runs_document(std::vector<ComparedRun> runs, RunOrder order) {
  const bool by_images = all_have_images(runs);
  if (order == RunOrder::kFastestFirst) {
    std::ranges::stable_sort(runs, std::greater(), [&](const ComparedRun& run) { return speed_of(run, by_images); });
  }
  // The slowest of those whose speed is known, or the first.
  std::size_t base = 0;
  for (std::size_t i = 0; order == RunOrder::kFastestFirst && i < runs.size(); ++i) {
    if (speed_of(runs[i], by_images) > 0) base = i;
  }
  const std::vector<std::string> parts = tell_apart(runs);
  Document document;
  document.schema = "runs";
  document.headline = headline_of(runs, parts, base, by_images, order);
  document.tables = {runs_table(runs, parts, runs[base], by_images, order)};
  document.notes = {
      "These are runs of their own, not ranks of one job. Step, images/s and GPU busy are those that `swinscope "
      "analyze RUN` has for each."};
  if (!by_images)
    document.notes.emplace_back(
        "Images per step are not known of every run: speed is that of the steps, whatever they hold.");
  for (const ComparedRun& run : runs) {
    for (const std::string& warning : run.warnings)
      document.warnings.push_back(fmt::format("{}: {}", run.name, warning));
  }
  return document;
}

}  // namespace swinscope
