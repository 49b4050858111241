#include "analyzer/experiment/run_comparison.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analyzer/analyses/gpu_power.h"
#include "analyzer/analyses/key_figures.h"
#include "analyzer/base/commands.h"
#include "analyzer/base/text.h"
#include "analyzer/experiment/configuration.h"
#include "analyzer/experiment/difference_tables.h"
#include "analyzer/table/cells.h"
#include "analyzer/trace/trace_facts.h"

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

std::string unlike_text(const ComparedRun& base, const ComparedRun& run) {
  return "not the same work: " + difference_text(run.name, run.command, base.name, base.command);
}

std::vector<std::string> headline_of(const std::vector<ComparedRun>& runs, const std::vector<std::string>& parts,
                                     std::size_t base, bool by_images, RunOrder order) {
  std::vector<std::string> lines;
  const auto is_unlike = [&](const ComparedRun& run) { return are_unlike_tasks(run.command, runs[base].command); };
  if (const auto unlike = std::ranges::find_if(runs, is_unlike); unlike != runs.end())
    lines.push_back(unlike_text(runs[base], *unlike) + ", so a ratio of times compares programs, models or tasks, too");
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

// Of each run over the first one.
std::vector<WorkDifference> differences_of(const std::vector<ComparedRun>& runs,
                                           Normalization by = Normalization::kStep) {
  std::vector<WorkDifference> differences;
  const double base_weight = weight_of(runs.front(), runs, by);
  for (auto run = runs.begin() + 1; run < runs.end(); ++run) {
    const double weight = weight_of(*run, runs, by);
    const bool by_shape = by == Normalization::kStep || is_same_work(runs.front(), *run);
    differences.push_back(work_difference(runs.front().work, run->work, base_weight / weight, by_shape));
    scale(differences.back(), weight);
  }
  return differences;
}

// "B: 2.500 ms more per step than A (+25.0 %), slower beyond the noise (± 0.100 ms): 1.900 ms kernels slowed …"
std::string why(const ComparedRun& base, const ComparedRun& run, const WorkDifference& work, const Measure& measure) {
  const std::int64_t change = work.change_ns();
  const std::string noise =
      work.half_width_ns ? fmt::format("{} (steps: ± {})",
                                       work.verdict == ChangeVerdict::kSame ? "within the noise" : "beyond the noise",
                                       amount_text(*work.half_width_ns, measure))
                         : "a single step, so noise is not known";
  const std::string parts =
      work.is_split ? parts_text(work, change, measure) : "; no GPU activity in one of them to tell why";
  return fmt::format("{}: {} {} {} than {} ({:+.1f} %), {}{}", run.name, amount_text(std::abs(change), measure),
                     change < 0 ? "less" : "more", measure.per, base.name, percent_of(change, work.base_step_ns), noise,
                     parts);
}

std::string no_common_unit(const ComparedRun& base, const ComparedRun& run) {
  const bool base_has = base.work.is_of_steps;
  return fmt::format(
      "{}: not compared with {}: {} has steps and {} none, and a step is no whole trace; --scope trace compares both "
      "as a "
      "whole",
      run.name, base.name, base_has ? base.name : run.name, base_has ? run.name : base.name);
}

std::string why_not_compared(const ComparedRun& base, const ComparedRun& run) {
  if (run.work.is_of_steps != base.work.is_of_steps) return no_common_unit(base, run);
  const ComparedRun& empty = base.work.step_ns > 0 ? run : base;
  return fmt::format("{}: not compared with {}: {} has neither steps nor GPU activity, so there is no time to compare",
                     run.name, base.name, empty.name);
}

// Of the first run that is said of, over the base.
Finding finding_of(const std::vector<ComparedRun>& runs, bool by_images) {
  const ComparedRun& base = runs.front();
  const ComparedRun& run = runs[1];
  const bool is_compared = run.work.is_of_steps == base.work.is_of_steps && base.work.step_ns > 0;
  if (!is_compared && (speed_of(base, by_images) <= 0 || speed_of(run, by_images) <= 0))
    return {why_not_compared(base, run), "", ""};
  const WorkDifference work = difference_of(base, run);
  const std::vector<WorkChange> kernels = grouped(work.changes, ChangeGrouping::kKernel);
  const auto most = std::ranges::max_element(kernels, {}, &WorkChange::change_ns);
  const bool has_grown = most != kernels.end() && most->change_ns() > 0;
  const std::string evidence = work_sql(run, has_grown ? most->key.name : "");
  if (are_unlike_tasks(base.command, run.command)) return {unlike_text(base, run), "", evidence};
  const bool is_sure = work.half_width_ns && by_images && base.warnings.empty() && run.warnings.empty() &&
                       base.gpu_names == run.gpu_names;
  return {"", is_sure ? "high" : "medium", evidence};
}

std::string titled(std::string_view what, const Measure& measure) { return fmt::format("{}, {}", what, measure.per); }

void add_differences(const std::vector<ComparedRun>& runs, const RunsOptions& options, Document& document) {
  const std::vector<WorkDifference> differences = differences_of(runs, options.by);
  const Measure measure = measure_of(runs, options.by);
  std::vector<NamedDifference> named;
  for (std::size_t i = 0; i < differences.size(); ++i) {
    const WorkDifference& work = differences[i];
    const ComparedRun& run = runs[i + 1];
    if (run.work.is_of_steps != runs.front().work.is_of_steps) {
      document.headline.push_back(no_common_unit(runs.front(), run));
      continue;
    }
    if (work.base_step_ns <= 0 || work.other_step_ns <= 0) continue;
    document.headline.push_back(why(runs.front(), run, work, measure));
    if (!work.is_split) continue;
    named.push_back({run.name, fmt::format("{}, of {}", measure.noun, runs.front().name), &work, work.base_step_ns,
                     work.other_step_ns});
  }
  std::vector<Configuration> configurations;
  configurations.reserve(runs.size());
  for (const ComparedRun& run : runs)
    configurations.push_back({run.name, run.configuration});
  if (Table unlike = differences_table(configurations); !unlike.rows.empty())
    document.tables.push_back(std::move(unlike));
  if (named.empty()) return;
  document.tables.push_back(waterfall_table(
      "difference",
      titled(options.by == Normalization::kStep ? "Why steps take longer or shorter" : "What differs", measure), "run",
      named, measure));
  document.tables.push_back(changes_table("kernel_differences", titled("Kernels whose time changed most", measure),
                                          "run", named, ChangeGrouping::kKernel, options.top, measure));
  const bool has_layers = std::ranges::all_of(runs, [](const ComparedRun& run) { return run.work.has_layers; });
  if (has_layers) {
    document.tables.push_back(changes_table("layer_differences", titled("Layers whose time changed most", measure),
                                            "run", named, ChangeGrouping::kLayer, options.top, measure));
  }
  document.notes.emplace_back(
      "Times of kernels and layers are exclusive: of several at once, the time is that of the one that computes and "
      "began first. Within noise: by less than the 95 % interval of the single steps, or than 1 %.");
}

}  // namespace

std::vector<std::string> short_names(const std::vector<std::filesystem::path>& paths) {
  std::vector<std::vector<std::string>> parts;
  for (const std::filesystem::path& path : paths) {
    std::vector<std::string>& own = parts.emplace_back();
    for (const std::filesystem::path& part : path.lexically_normal()) {
      if (!part.empty()) own.push_back(part.string());
    }
  }
  std::vector<std::string> names;
  names.reserve(parts.size());
  for (const auto& own : parts)
    names.push_back(own.back());
  if (std::set(names.begin(), names.end()).size() == names.size()) return names;
  std::size_t shared = 0;
  const auto has_shared = [&](const auto& own) { return shared + 1 < own.size() && own[shared] == parts[0][shared]; };
  while (std::ranges::all_of(parts, has_shared))
    ++shared;
  for (std::size_t i = 0; i < parts.size(); ++i)
    names[i] =
        fmt::format("{}", fmt::join(parts[i].begin() + static_cast<std::ptrdiff_t>(shared), parts[i].end(), "/"));
  return names;
}

ComparedRun compared_run(const Trace& trace, const std::string& name, const Selection& selection) {
  if (!trace.ranks.empty()) return compared_run(RunFacts(trace, selection), name);
  ComparedRun run;
  run.name = name;
  run.warnings = trace.warnings;
  run.corrupt = trace.corrupt;
  return run;
}

ComparedRun compared_run(const RunFacts& analysis, const std::string& name) {
  const Trace& trace = analysis.trace;
  ComparedRun run;
  run.name = name;
  run.warnings = trace.warnings;
  run.corrupt = trace.corrupt;
  if (!trace.ranks.empty()) run.command = split_command(trace.ranks.front().run.command);
  std::ranges::copy_if(environment_facts(trace), std::back_inserter(run.configuration), tells_apart);
  for (const Rank& rank : trace.ranks) {
    for (const GpuInfo& gpu : rank.run.gpus)
      run.gpu_names.insert(gpu.name);
  }
  run.ranks = std::max<std::int64_t>(world_size(trace), rank_count(trace));
  if (!trace.ranks.empty()) run.recorded_by = trace.ranks.front().run.source;
  const KeyFigures figures = key_figures(analysis);
  run.steps = figures.steps;
  run.step_ns = figures.step_ns;
  run.images_per_second = figures.images_per_second;
  run.gpu_busy = figures.gpu_busy;
  if (run.images_per_second && run.step_ns)
    run.images_per_step = *run.images_per_second * static_cast<double>(*run.step_ns) / 1e9;
  run.watts = gpu_power_w(analysis);
  run.work = step_work(analysis);
  run.sql = ScopeSql(trace, analysis.scope);
  run.gpus = std::ssize(run.work.devices);
  if (analysis.verdict().bound) run.bound = bound_name(*analysis.verdict().bound);
  run.warnings.insert(run.warnings.end(), analysis.verdict().doubts.begin(), analysis.verdict().doubts.end());
  if (analysis.scope.is_of_repetitions()) {
    run.warnings.emplace_back("no step is marked: its steps are repetitions of a kernel sequence, which may be layers");
  }
  return run;
}

Document runs_document(std::vector<ComparedRun> runs, const RunsOptions& options) {
  const RunOrder order = options.order;
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
  if (order == RunOrder::kAsGiven) add_differences(runs, options, document);
  if (order == RunOrder::kAsGiven && runs.size() > 1) document.finding = finding_of(runs, by_images);
  if (!by_images)
    document.notes.emplace_back(
        "Images per step are not known of every run: speed is that of the steps, whatever they hold.");
  for (const ComparedRun& run : runs) {
    for (const std::string& warning : run.warnings)
      document.warnings.push_back(fmt::format("{}: {}", run.name, warning));
  }
  return document;
}

std::string work_sql(const ComparedRun& run, const std::string& kernel) {
  std::vector<std::string> names;
  for (const WorkRow& row : run.work.rows) {
    const bool is_it = row.gpu_class != GpuClass::kMemory && row.short_name == kernel;
    if (is_it && std::ranges::find(names, row.key.name) == names.end()) names.push_back(row.key.name);
  }
  return run.sql.work(names);
}

WorkDifference difference_of(const ComparedRun& base, const ComparedRun& run) {
  return differences_of({base, run}).front();
}

std::string Regression::text() const {
  return fmt::format("{} takes {} instead of {} per step (+{:.1f} %)", what, format_duration(std::llround(ns)),
                     format_duration(std::llround(base_ns)), percent());
}

std::vector<Regression> regressions_of(const WorkDifference& work, double above) {
  std::vector<Regression> found;
  const auto base_ns = static_cast<double>(work.base_step_ns);
  const auto step_ns = static_cast<double>(work.other_step_ns);
  if (work.verdict == ChangeVerdict::kSlower && step_ns > (1 + above) * base_ns)
    found.push_back({"the step", base_ns, step_ns});
  for (const WorkChange& kernel : grouped(work.changes, ChangeGrouping::kKernel)) {
    const bool counts = kernel.verdict == ChangeVerdict::kSlower && kernel.base.ns >= kGatedShare * base_ns;
    if (counts && kernel.other.ns > (1 + above) * kernel.base.ns)
      found.push_back({kernel.key.name, kernel.base.ns, kernel.other.ns});
  }
  return found;
}

Regressions find_regressions(const std::vector<ComparedRun>& runs, double above) {
  Regressions found;
  const std::vector<WorkDifference> differences = differences_of(runs);
  for (std::size_t i = 0; i < differences.size(); ++i) {
    const std::string& name = runs[i + 1].name;
    if (differences[i].verdict == ChangeVerdict::kUnknown) {
      found.not_judged.push_back(fmt::format("{}: it or the base has fewer than two steps", name));
      continue;
    }
    for (const Regression& regression : regressions_of(differences[i], above))
      found.slower.push_back(fmt::format("{}: {}", name, regression.text()));
  }
  return found;
}

}  // namespace swinscope
