#include "analyzer/experiment/gate.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analyzer/base/commands.h"
#include "analyzer/base/text.h"
#include "analyzer/table/cells.h"

namespace swinscope {
namespace {

constexpr std::size_t kMostNamed = 3;

Sameness sameness(const std::string& base, const std::string& run) {
  if (base.empty() || run.empty()) return Sameness::kNotKnown;
  return base == run ? Sameness::kSame : Sameness::kOther;
}

ComparabilityCheck check(std::string what, std::string base, std::string run) {
  const Sameness same = sameness(base, run);
  return {std::move(what), std::move(base), std::move(run), same};
}

std::string gpus_text(const ComparedRun& run) { return fmt::format("{}", fmt::join(run.gpu_names, ", ")); }

std::string count_text(std::int64_t count) { return count > 0 ? format_count(count) : ""; }

std::string unit_text(const ComparedRun& run) { return run.work.is_of_steps ? "a step" : "the whole trace"; }

// By what the runs say of their images, else by the options of their commands.
ComparabilityCheck batch_check(const ComparedRun& base, const ComparedRun& run) {
  if (base.images_per_step && run.images_per_step) {
    const auto text = [](double images) { return fmt::format("{:g} images per step", images); };
    return check("batch", text(*base.images_per_step), text(*run.images_per_step));
  }
  const std::string a = batch_text(base.command);
  const std::string b = batch_text(run.command);
  if (base.command.empty() || run.command.empty() || (a.empty() && b.empty() && base.command != run.command))
    return check("batch", a, b);
  const auto text = [](const std::string& options) { return options.empty() ? "none given" : options; };
  return check("batch", text(a), text(b));
}

std::vector<ComparabilityCheck> checks_of(const ComparedRun& base, const ComparedRun& run) {
  std::vector<ComparabilityCheck> checks;
  // Programs without GPU work have none that matters.
  if (base.gpus + run.gpus > 0) {
    checks.push_back(check("GPU", gpus_text(base), gpus_text(run)));
    checks.push_back(check("GPUs in use", format_count(base.gpus), format_count(run.gpus)));
  }
  checks.push_back(check("program and model", task_text(base.command), task_text(run.command)));
  if (are_unlike_tasks(base.command, run.command))
    checks.back().same = Sameness::kOther;
  else if (checks.back().same == Sameness::kOther)
    checks.back().same = Sameness::kSame;  // the order of options
  checks.push_back(batch_check(base, run));
  checks.push_back(check("ranks", count_text(base.ranks), count_text(run.ranks)));
  checks.push_back(check("recorded by", base.recorded_by, run.recorded_by));
  checks.push_back(check("figures are of", unit_text(base), unit_text(run)));
  return checks;
}

// Why nothing can be said, whatever the steps took.
std::vector<std::string> reasons_of(const ComparedRun& base, const ComparedRun& run, const Gate& gate) {
  std::vector<std::string> reasons;
  for (const ComparabilityCheck& one : gate.checks) {
    if (one.same == Sameness::kOther)
      reasons.push_back(
          fmt::format("not the same {}: {} in {}, {} in {}", one.what, one.base, base.name, one.run, run.name));
  }
  for (const ComparedRun* each : {&base, &run}) {
    if (each->corrupt) reasons.push_back(fmt::format("{} is damaged: part of it is lost", each->name));
    if (each->work.single_ns.size() < 2)
      reasons.push_back(fmt::format("{} has fewer than two steps, so its noise is not known", each->name));
  }
  return reasons;
}

// The change of the step in percent of the base's, and half its interval.
double change_percent(const WorkDifference& work) { return percent_of(work.change_ns(), work.base_step_ns); }
double noise_percent(const WorkDifference& work) {
  return percent_of(work.half_width_ns.value_or(0), work.base_step_ns);
}

// Whether a step that is slower by more than `above` lies within the noise. Repeats differ by kNoticeable anyway.
bool may_hide_regression(const WorkDifference& work, double above) {
  return change_percent(work) + noise_percent(work) > 100 * std::max(above, kNoticeable);
}

void find_grown(Gate& gate) {
  for (const WorkChange& kernel : grouped(gate.work.changes, ChangeGrouping::kKernel)) {
    const bool has_grown = kernel.verdict == ChangeVerdict::kSlower || kernel.verdict == ChangeVerdict::kNew;
    if (has_grown && kernel.change_ns() > 0) gate.grown.push_back(kernel);
  }
  std::ranges::stable_sort(gate.grown, std::ranges::greater(), &WorkChange::change_ns);
}

std::string grown_text(const Gate& gate) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < std::min(kMostNamed, gate.grown.size()); ++i) {
    const WorkChange& kernel = gate.grown[i];
    const std::string share = kernel.verdict == ChangeVerdict::kNew
                                  ? "new"
                                  : fmt::format("+{:.1f} %", 100 * kernel.change_ns() / kernel.base.ns);
    names.push_back(fmt::format("{}, +{} per step ({})", kernel.key.name,
                                format_duration(std::llround(kernel.change_ns())), share));
  }
  return names.empty() ? "" : fmt::format("; grew most: {}", fmt::join(names, "; "));
}

std::string sentence_of(const ComparedRun& base, const ComparedRun& run, double above, const Gate& gate) {
  const std::string name(gate_name(gate.outcome));
  if (gate.outcome == GateOutcome::kInconclusive) return fmt::format("{}: {}", name, fmt::join(gate.reasons, "; "));
  const WorkDifference& work = gate.work;
  return fmt::format("{}: {} takes {} per step, {} {} ({:+.1f} % ± {:.1f}; {:g} % allowed){}", name, run.name,
                     format_duration(work.other_step_ns), base.name, format_duration(work.base_step_ns),
                     change_percent(work), noise_percent(work), 100 * above,
                     gate.outcome == GateOutcome::kRegression ? grown_text(gate) : "");
}

Table checks_table(const Gate& gate) {
  Table table{
      "comparability",
      "Can they be compared",
      {{"what", "what"}, {"base", "base"}, {"run", "run"}, {"same", "same"}},
      {},
      "What must be the same in both runs for their steps to be compared; not known: one of them does not say."};
  for (const ComparabilityCheck& one : gate.checks) {
    const auto cell = [](const std::string& text) { return text.empty() ? Cell() : Cell(text); };
    const char* const same = one.same == Sameness::kSame ? "yes" : one.same == Sameness::kOther ? "no" : "not known";
    table.rows.push_back({one.what, cell(one.base), cell(one.run), same});
  }
  return table;
}

Table regressions_table(const Gate& gate) {
  Table table{"regressions",
              "Slower than allowed",
              {{"what", "what"},
               {"base_ns", "base", Unit::kDuration},
               {"time_ns", "run", Unit::kDuration},
               {"change_percent", "change", Unit::kPercent}},
              {},
              "The step, and kernels of 1 % of it or more, that are slower than in the base by more than is allowed, "
              "beyond the noise of the steps; per step."};
  for (const Regression& one : gate.regressions)
    table.rows.push_back({one.what, one.base_ns, one.ns, one.percent()});
  return table;
}

}  // namespace

std::string_view gate_name(GateOutcome outcome) {
  switch (outcome) {
    case GateOutcome::kPass:
      return "pass";
    case GateOutcome::kRegression:
      return "regression";
    case GateOutcome::kInconclusive:
      break;
  }
  return "inconclusive";
}

Gate gate(const ComparedRun& base, const ComparedRun& run, double above) {
  Gate gate;
  gate.work = difference_of(base, run);
  gate.checks = checks_of(base, run);
  gate.reasons = reasons_of(base, run, gate);
  find_grown(gate);
  if (!gate.reasons.empty()) return gate;
  gate.regressions = regressions_of(gate.work, above);
  if (gate.regressions.empty() && may_hide_regression(gate.work, above)) {
    gate.reasons.push_back(fmt::format(
        "the step changed by {:+.1f} % ± {:.1f}, so that it is slower by more than {:g} % cannot be excluded: record "
        "more steps",
        change_percent(gate.work), noise_percent(gate.work), 100 * std::max(above, kNoticeable)));
    return gate;
  }
  gate.outcome = gate.regressions.empty() ? GateOutcome::kPass : GateOutcome::kRegression;
  const bool all_known =
      std::ranges::none_of(gate.checks, [](const ComparabilityCheck& one) { return one.same == Sameness::kNotKnown; });
  gate.confidence = all_known && base.warnings.empty() && run.warnings.empty() ? "high" : "medium";
  return gate;
}

GateResult gate_document(const ComparedRun& base, const ComparedRun& run, double above, std::size_t top) {
  const Gate judged = gate(base, run, above);
  Document document = runs_document({base, run}, {.order = RunOrder::kAsGiven, .top = top});
  document.schema = "gate";
  document.headline.insert(document.headline.begin(), sentence_of(base, run, above, judged));
  document.finding = {fmt::format("{}", fmt::join(judged.reasons, "; ")), judged.confidence,
                      work_sql(run, judged.grown.empty() ? "" : judged.grown.front().key.name)};
  document.facts = {{"outcome", "outcome", std::string(gate_name(judged.outcome))},
                    {"fail_above_percent", "slower by so much is allowed", 100 * above, Unit::kPercent},
                    {"step_change_percent", "change of the step",
                     judged.work.base_step_ns > 0 ? Cell(change_percent(judged.work)) : Cell(), Unit::kPercent},
                    {"step_noise_percent", "its noise, ±",
                     judged.work.half_width_ns ? Cell(noise_percent(judged.work)) : Cell(), Unit::kPercent}};
  document.tables.insert(document.tables.begin(), checks_table(judged));
  if (!judged.regressions.empty()) document.tables.insert(document.tables.begin(), regressions_table(judged));
  return {judged.outcome, std::move(document)};
}

}  // namespace swinscope
