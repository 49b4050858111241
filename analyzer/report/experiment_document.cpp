// The document of a scaling experiment: its table, how far it is from ideal and how sure that is, and what to look at.
#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analyzer/base/text.h"
#include "analyzer/experiment/launch_bound.h"
#include "analyzer/experiment/scaling.h"
#include "analyzer/experiment/scaling_loss.h"
#include "analyzer/report/documents.h"
#include "store/shell.h"

namespace swinscope {
namespace {

constexpr double kTooMuchDistortion = 0.2;  // METRICS: beyond it causes are indicative only

std::string factors_text(const ExperimentPoint& point) {
  std::string text;
  for (const auto& [name, value] : point.factors)
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, value);
  return text;
}

std::string point_name(const Experiment& experiment, const ScalingRow& row, std::string_view counted) {
  return experiment.mode == "sweep" ? factors_text(row.point) : format_counted(row.point.gpus(), counted);
}

std::string with_ci(double value, const std::optional<double>& half) {
  return half ? fmt::format("{:.2f} ± {:.2f}", value, *half) : fmt::format("{:.2f}", value);
}

constexpr std::string_view kMeasureMore = "measure more: longer runs (more steps) or a larger --repeat";

// How sure a ratio is that ideally would be, or against no change is, `reference`.
std::string certainty(std::string_view what, double value, const std::optional<double>& half, double reference,
                      std::string_view reference_name) {
  constexpr double kWide = 0.1;  // of the value
  if (!half) return "one run: no interval, so noise cannot be told from an effect; --repeat 3 gives one";
  const std::string interval = with_ci(value, half);
  if (std::abs(value - reference) <= *half) {
    return fmt::format("the noise is larger than the effect: {} {} cannot be told from {}; {}", what, interval,
                       reference_name, kMeasureMore);
  }
  if (*half <= kWide * value) return {};
  return fmt::format("{} {} is anything between {:.2f} and {:.2f}; {}", what, interval, std::max(0.0, value - *half),
                     value + *half, kMeasureMore);
}

std::string step_times(const ScalingRow& row, const ScalingRow& base) {
  return fmt::format("{} per step against {}", format_duration(row.step_ns), format_duration(base.step_ns));
}

void add_scaling_lines(const std::vector<ScalingRow>& rows, std::string_view counted, std::vector<std::string>& lines) {
  const ScalingRow& last = rows.back();
  lines.push_back(fmt::format("parallel efficiency {} at {}: speedup {}, {}{}",
                              with_ci(last.efficiency, last.efficiency_ci), format_counted(last.point.gpus(), counted),
                              with_ci(last.speedup, last.speedup_ci), step_times(last, rows.front()),
                              last.traced_only ? " (traced times only)" : ""));
  lines.push_back(certainty("the efficiency", last.efficiency, last.efficiency_ci, 1, "1, no loss"));
}

// Of a sweep whose images are known: by the time for the same images, over the first point, or where that is the
// fastest, of it over the slowest.
const ScalingRow& add_fastest_lines(const std::vector<ScalingRow>& rows, std::vector<std::string>& lines) {
  const ScalingRow& fastest = *std::ranges::max_element(rows, {}, &ScalingRow::speedup);
  const ScalingRow& slowest = *std::ranges::min_element(rows, {}, &ScalingRow::speedup);
  const bool is_first = &fastest == &rows.front();
  const ScalingRow& other = is_first ? slowest : rows.front();
  const double times = is_first ? 1 / slowest.speedup : fastest.speedup;
  auto half = is_first ? slowest.speedup_ci : fastest.speedup_ci;
  if (half && is_first) *half *= times / slowest.speedup;  // the same relative width
  lines.push_back(fmt::format("fastest: {}, {} times as fast as {} for the same images ({}), parallel efficiency {}{}",
                              factors_text(fastest.point), with_ci(times, half), factors_text(other.point),
                              step_times(fastest, other), with_ci(fastest.efficiency, fastest.efficiency_ci),
                              fastest.traced_only ? " (traced times only)" : ""));
  lines.push_back(certainty("the ratio", times, half, 1, "1, no difference"));
  return fastest;
}

const ScalingRow& add_shortest_lines(const std::vector<ScalingRow>& rows, std::vector<std::string>& lines) {
  const ScalingRow& shortest = *std::ranges::min_element(rows, {}, &ScalingRow::step_ns);
  const ScalingRow& longest = *std::ranges::max_element(rows, {}, &ScalingRow::step_ns);
  lines.push_back(fmt::format("shortest step: {}, {} with {}{}", factors_text(shortest.point),
                              step_times(shortest, longest), factors_text(longest.point),
                              shortest.traced_only ? " (traced times only)" : ""));
  lines.emplace_back(
      "images per step are not known of every point, so which point is the fastest is not known either: "
      "give --images-per-step");
  return shortest;
}

// "step by stdout lines "step N loss N": 40 steps, spread 1.2 %"
std::string step_line(const ScalingRow& row) {
  std::string text = fmt::format("  step by {}: {}", row.step_how, format_counted(row.steps, "steps"));
  if (row.step_spread) text += fmt::format(", spread {:.1f} %", 100 * *row.step_spread);
  return text;
}

// The verdict: how far the largest point is from ideal, in a sweep which one is the fastest, and what to look at.
std::vector<std::string> scaling_headline(const Experiment& experiment, const std::vector<ScalingRow>& rows,
                                          std::string_view counted) {
  if (rows.empty()) return {"no point of the experiment is complete yet: run the same command to go on"};
  std::vector<std::string> lines;
  const ScalingRow* shown = &rows.back();
  if (rows.size() == 1) {
    lines.push_back(fmt::format("{} per step with {}{}", format_duration(shown->step_ns),
                                format_counted(shown->point.gpus(), counted),
                                shown->traced_only ? " (traced times only)" : ""));
  } else if (experiment.mode != "sweep") {
    add_scaling_lines(rows, counted, lines);
  } else if (std::ranges::all_of(rows, [](const ScalingRow& row) { return row.images_per_step > 0; })) {
    shown = &add_fastest_lines(rows, lines);
  } else {
    shown = &add_shortest_lines(rows, lines);
  }
  std::erase(lines, std::string());
  if (!experiment.step.empty() && !shown->step_how.empty()) lines.push_back(step_line(*shown));
  if (shown->is_unexplained) {
    lines.emplace_back(
        "  no process used NVTX or CUDA, so nothing tells where the time goes: NVTX ranges around the parts of a step "
        "do");
  } else if (!shown->point.tracing.empty()) {
    lines.push_back(fmt::format("  evidence: swinscope analyze {}",
                                path_argument((shown->point.folder / shown->point.tracing).string())));
  }
  return lines;
}

// Of the point that the headline is about.
Finding finding_of(const std::vector<ScalingRow>& rows, bool has_warnings) {
  if (rows.empty()) return {"no point of the experiment is complete yet", "", ""};
  const bool is_indicative = std::ranges::any_of(
      rows, [](const ScalingRow& row) { return std::abs(row.distortion().value_or(0)) > kTooMuchDistortion; });
  return {"", is_indicative ? "low" : has_warnings ? "medium" : "high", ""};
}

std::string crowding_text(const Crowding& crowding) {
  const std::string ranks = crowding.threads > 1
                                ? fmt::format("{} of {} threads each (OMP_NUM_THREADS)",
                                              format_counted(crowding.ranks, "ranks"), crowding.threads)
                                : format_counted(crowding.ranks, "ranks");
  return fmt::format("{} share {:g} core{}{}{}: step times and efficiency are those of too few cores", ranks,
                     crowding.cores, crowding.cores == 1 ? "" : "s", crowding.host.empty() ? "" : " of ",
                     crowding.host);
}

// Why figures of a point may say something else than they seem to.
void add_point_warnings(const Experiment& experiment, const ScalingRow& row, std::string_view counted,
                        std::vector<std::string>& warnings) {
  const std::string name = point_name(experiment, row, counted);
  if (const double distortion = row.distortion().value_or(0); std::abs(distortion) > kTooMuchDistortion) {
    warnings.push_back(fmt::format("{}: with tracing a step took {:.1f} % {} than without: causes are indicative only",
                                   name, 100 * std::abs(distortion), distortion > 0 ? "longer" : "less"));
  }
  if (row.drift) {
    warnings.push_back(fmt::format(
        "{}: steps get {}, from {} in the first third to {} in the last: leave out more of them (--warmup-steps), or "
        "time "
        "more{}",
        name, row.drift->gets_longer() ? "longer" : "shorter", format_duration(row.drift->early_ns),
        format_duration(row.drift->late_ns),
        row.drift->gets_longer() ? "; a host that does not wait for its GPU runs ahead until the GPU's queue is full"
                                 : ""));
  }
  if (row.traced_only) {
    warnings.push_back(fmt::format("point gpus={}: traced times only, tracing cost included", row.point.gpus()));
  }
  if (row.point.incomplete()) {
    warnings.push_back(fmt::format("{}: incomplete, {} of {} are there: the same command goes on", name,
                                   row.point.runs(),
                                   format_counted(static_cast<std::int64_t>(row.point.planned_runs), "runs")));
  }
  if (!row.point.gone.empty()) {
    warnings.push_back(fmt::format("{}: {} {} not there any more: the figures are of the other runs", name,
                                   fmt::join(row.point.gone, ", "), row.point.gone.size() == 1 ? "is" : "are"));
  }
  if (row.crowding) {
    warnings.push_back((experiment.mode == "sweep" ? name + ": " : std::string()) + crowding_text(*row.crowding));
  }
  if (row.job && !row.job->may_have(row.point.gpus())) {
    warnings.push_back(
        fmt::format("point gpus={}: its runs are of {}, so its speedup and efficiency are not those of {}",
                    row.point.gpus(), describe(*row.job), row.point.gpus()));
  }
}

void add_warnings(const Experiment& experiment, const std::vector<ScalingRow>& rows, std::string_view counted,
                  std::vector<std::string>& warnings) {
  const auto complete = std::ranges::count_if(rows, [](const ScalingRow& row) { return !row.point.incomplete(); });
  if (complete < static_cast<std::int64_t>(experiment.planned)) {
    warnings.push_back(
        fmt::format("{} of {} points are complete: the same command goes on", complete, experiment.planned));
  }
  for (const std::string& point : experiment.gone)
    warnings.push_back(fmt::format("{}: left out, for none of its runs is there", point));
  for (const ScalingRow& row : rows)
    add_point_warnings(experiment, row, counted, warnings);
  const auto other_images = std::ranges::find_if(rows, [&](const ScalingRow& row) {
    return row.images_per_step > 0 && rows.front().images_per_step > 0 &&
           row.images_per_step != rows.front().images_per_step;
  });
  if (experiment.mode != "strong" || other_images == rows.end()) return;
  warnings.push_back(fmt::format(
      "the mode is strong scaling, but a step takes {} images with {} and {} with {}: speedup is for the same images",
      rows.front().images_per_step, format_counted(rows.front().point.gpus(), counted), other_images->images_per_step,
      format_counted(other_images->point.gpus(), counted)));
}

std::string note_on_cost(const GpuPrice& price, const std::vector<ScalingRow>& rows) {
  const std::string of = price.gpu.empty() ? "" : fmt::format(" ({})", price.gpu);
  if (std::ranges::any_of(rows, [](const ScalingRow& row) { return row.train_cost.has_value(); }))
    return fmt::format("Training cost: hours of training x GPUs x {}, the price of a GPU hour{}.", price.per_hour, of);
  const auto other =
      std::ranges::find_if(rows, [&](const ScalingRow& row) { return !row.gpu.empty() && !price.is_of(row.gpu); });
  if (other != rows.end())
    return fmt::format("Training cost is not known: the price is of another GPU{}, the runs were on {}.", of,
                       other->gpu);
  return fmt::format("Training cost is not known: {}.",
                     std::ranges::any_of(rows, [](const ScalingRow& row) { return row.train_time_ns > 0; })
                         ? "the runs used no GPU"
                         : "the training time is not, without --images-per-step");
}

void add_notes(const Experiment& experiment, const std::vector<ScalingRow>& rows, std::vector<std::string>& notes) {
  if (std::ranges::any_of(rows, [](const ScalingRow& row) { return row.images_per_step > 0; })) {
    notes.push_back(fmt::format("Training time is extrapolated from the measured steps to {} images.",
                                format_count(experiment.images)));
  }
  if (experiment.price.is_given()) notes.push_back(note_on_cost(experiment.price, rows));
  notes.emplace_back("Step time: the median over repeats of the slowest rank's window / steps.");
  if (std::ranges::any_of(rows, [](const ScalingRow& row) { return row.step_ci_ns.has_value(); })) {
    notes.emplace_back(
        "95 % CI: half the width of the 95 % confidence interval (Student's t over repeats; none for one run); of "
        "speedup and efficiency, of both points' step times.");
  }
  notes.emplace_back("CPU: process trees of all ranks / (wall x cores allowed).");
  if (std::ranges::any_of(rows, [](const ScalingRow& row) { return row.gpu_busy.has_value(); })) {
    notes.emplace_back("GPU busy, compute and idle are those of the traced run's measured steps.");
  }
  if (std::ranges::any_of(rows, [](const ScalingRow& row) { return row.distortion().has_value(); })) {
    notes.emplace_back("Tracing slowdown: how much longer the steps of the traced run took.");
  }
  if (experiment.mode == "sweep") {
    notes.emplace_back(
        "Speedup is over the first line; efficiency over the fewest GPUs with all other factors the same.");
  }
  const bool all_images = std::ranges::all_of(rows, [](const ScalingRow& row) { return row.images_per_step > 0; });
  if (!all_images && rows.size() > 1) {
    notes.emplace_back(experiment.mode == "strong"
                           ? "Images per step are not known: speedup takes all points to share one global batch."
                           : "Images per step are not known: speedup takes each GPU or rank to do as much work a step "
                             "as at the first point (--images-per-step says how much).");
  }
  if (std::ranges::any_of(rows, [](const ScalingRow& row) { return row.step_spread && !row.step_how.empty(); }) &&
      !experiment.step.empty()) {
    notes.emplace_back("Spread: (third - first quartile) / median of the single steps; of whole runs, of the repeats.");
  }
  if (std::ranges::any_of(rows, &ScalingRow::is_period)) {
    notes.emplace_back("A period of the kernel sequence is as likely a layer as a step, and no warm-up is left out.");
  }
  notes.insert(notes.end(), experiment.notes.begin(), experiment.notes.end());
}

bool is_loss_within_noise(const ScalingRow& row, const ScalingRow& base) {
  if (!row.step_ci_ns || !base.step_ci_ns) return false;
  const double half = std::hypot(static_cast<double>(*row.step_ci_ns),
                                 row.work_of_base.value_or(1) * static_cast<double>(*base.step_ci_ns));
  return std::abs(static_cast<double>(row.step_ns) - *row.work_of_base * static_cast<double>(base.step_ns)) <= half;
}

// Why the points with more GPUs take longer: a sentence for the last of them behind the verdict, and the tables.
void add_losses(const std::vector<ScalingRow>& rows, const std::vector<std::string>& names, Document& document) {
  constexpr std::size_t kTop = 10;
  const std::vector<ScalingLoss> losses = scaling_losses(rows);
  if (losses.empty()) return;
  const ScalingLoss& last = losses.back();
  const std::string sentence =
      loss_sentence(last, names[last.row], names[last.base], is_loss_within_noise(rows[last.row], rows[last.base]));
  document.headline.insert(document.headline.begin() + 1, sentence);
  const std::vector<NamedDifference> differences = named(losses, names);
  document.tables.push_back(waterfall_table("scaling_loss", "Why steps take longer, per step", "point", differences));
  document.tables.push_back(changes_table("scaling_kernels", "Kernels whose time changed most, per step", "point",
                                          differences, ChangeGrouping::kKernel, kTop));
  document.tables.push_back(pop_table(rows, names));
}

// How the steps of each point were found.
Table step_table(const Experiment& experiment, const std::vector<ScalingRow>& rows, std::string_view counted) {
  Table table{"point_steps",
              "Steps",
              {{"point", "point"},
               {"found_by", "found by"},
               {"steps", "steps", Unit::kCount},
               {"spread_percent", "spread", Unit::kPercent}},
              {}};
  for (const ScalingRow& row : rows) {
    table.rows.push_back({point_name(experiment, row, counted), row.step_how, row.steps,
                          row.step_spread ? Cell(100 * *row.step_spread) : Cell()});
  }
  return table;
}

}  // namespace

std::vector<std::string> point_names(const Experiment& experiment, const std::vector<ScalingRow>& rows) {
  const Table table = scaling_rows_table(rows);
  std::vector<std::string> names;
  names.reserve(rows.size());
  for (const ScalingRow& row : rows)
    names.push_back(point_name(experiment, row, counted_in(table)));
  return names;
}

Document experiment_document(const Experiment& experiment) {
  return experiment_document(experiment, scaling_table(experiment));
}

Document experiment_document(const Experiment& experiment, const std::vector<ScalingRow>& rows) {
  Document document;
  document.schema = "scaling";
  document.run = experiment.folder.string();
  document.tables = {scaling_rows_table(rows)};
  const std::string counted(counted_in(document.tables.front()));  // the tables may move
  document.headline = scaling_headline(experiment, rows, counted);
  add_losses(rows, point_names(experiment, rows), document);
  document.facts = {{"mode", "mode", experiment.mode},
                    {"images", "images", experiment.images, Unit::kCount},
                    {"warmup_steps", "warm-up steps", std::int64_t{experiment.warmup_steps}, Unit::kCount}};
  if (const std::string sentence = launch_bound_sentence(rows); !sentence.empty()) {
    document.headline.push_back(sentence);
    document.tables.push_back(launch_bound_table(rows, point_names(experiment, rows)));
  }
  if (!experiment.step.empty()) {
    document.facts.push_back({"step_rule", "step rule", experiment.step});
    document.tables.push_back(step_table(experiment, rows, counted));
  }
  add_notes(experiment, rows, document.notes);
  add_warnings(experiment, rows, counted, document.warnings);
  document.finding = finding_of(rows, !document.warnings.empty());
  return document;
}

}  // namespace swinscope
