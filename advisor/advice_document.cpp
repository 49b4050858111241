#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "advisor/advice.h"
#include "analyzer/base/text.h"
#include "analyzer/table/cells.h"

namespace swinscope {

Table advice_table(const Advice& advice) {
  Table table{"opportunities",
              "Opportunities",
              {{"id", "id"},
               {"saving_ns", "saves per step", Unit::kDuration},
               {"least_ns", "at least", Unit::kDuration},
               {"most_ns", "at most", Unit::kDuration},
               {"share_percent", "of step", Unit::kPercent},
               {"confidence", "confidence"},
               {"applied", "applied"},
               {"change", "change"},
               {"kind", "kind", Unit::kText, true},
               {"why", "why", Unit::kText, true},
               {"assumptions", "assumptions", Unit::kText, true},
               {"accuracy", "accuracy", Unit::kText, true},
               {"events", "GPU events", Unit::kCount, true}},
              {}};
  for (const Card& card : advice.cards) {
    const Change& change = card.change;
    const bool is_applied = std::ranges::find(advice.applied, change.id) != advice.applied.end();
    table.rows.push_back({change.id, card.likely_ns(), card.saving_ns.front(), card.saving_ns.back(),
                          percent_of(card.likely_ns(), advice.step_ns()),
                          std::string(confidence_name(change.confidence)), std::string(is_applied ? "yes" : "no"),
                          change.title, change.kind, change.why, fmt::format("{}", fmt::join(change.assumptions, "; ")),
                          change.accuracy, int_cell(static_cast<std::int64_t>(change.evidence.size()))});
  }
  return table;
}

namespace {

std::string note_on_recording(const Advice& advice) {
  const RecordingCost& cost = advice.recording_cost;
  if (!advice.has_recording_cost()) {
    return cost.timed_step_ns
               ? "Savings are of the traced step as it is replayed: it is no longer than that of the timing runs."
               : "Savings are of the traced step: what the recorder cost is not known.";
  }
  std::vector<std::string> parts;
  const auto add = [&](std::int64_t ns, std::string_view of) {
    if (ns > 0) parts.push_back(fmt::format("{} for each {}", format_duration(ns), of));
  };
  add(cost.per_operator_ns, "operator");
  add(cost.per_launch_ns, "launch");
  add(cost.per_kernel_ns, "kernel");
  add(cost.per_overlap_ns, "kernel of a graph that would overlap the one before it");
  if (cost.host_share < 1)
    parts.push_back(fmt::format("{:.1f} % of the rest of the host's time", 100 * (1 - cost.host_share)));
  std::string_view how;
  if (cost.timed_step_ns)
    how = "; with these it comes nearest to that of the timing runs";
  else if (cost.per_operator_ns > 0)
    how = ", estimated by the trace's shortest operators: host-bound steps are known to a quarter";
  return fmt::format("Savings are of the step without the recorder's cost: {}{}.", fmt::join(parts, ", "), how);
}

// "63.06 ms (59.58 ms to 63.92 ms) of 236.0 ms".
std::string saving_of(const Card& card, const Advice& advice) {
  const std::string step = format_duration(advice.step_ns());
  return fmt::format("{} ({} to {}) of {}{}", format_duration(card.likely_ns()),
                     format_duration(card.saving_ns.front()), format_duration(card.saving_ns.back()), step,
                     advice.has_recording_cost()                            ? " without the recorder's cost"
                     : step != format_duration(advice.error.traced_step_ns) ? " as it is replayed"
                                                                            : "");
}

std::string headline(const Advice& advice) {
  if (advice.is_refused()) return "no advice: " + advice.abstained.front().reason;
  if (std::string next = next_line(advice); !next.empty()) return next;
  if (advice.cards.empty()) return "no change was found that saves a noticeable part of the step";
  const Card& first = advice.cards.front();
  return fmt::format("no change is sure to save a noticeable part of the step; {} may save {}, {}", first.change.title,
                     saving_of(first, advice), confidence_name(first.change.confidence));
}

}  // namespace

const Card* next_card(const Advice& advice) {
  if (advice.is_refused()) return nullptr;
  const auto found = std::ranges::find_if(
      advice.cards, [](const Card& card) { return card.change.confidence != Confidence::kSpeculative; });
  return found == advice.cards.end() ? nullptr : &*found;
}

std::vector<const Card*> leading_cards(const Advice& advice, std::size_t most) {
  std::vector<const Card*> cards;
  if (advice.is_refused()) return cards;
  for (const Card& card : advice.cards)
    cards.push_back(&card);
  const auto next = std::ranges::find(cards, next_card(advice));
  if (next != cards.end()) std::rotate(cards.begin(), next, next + 1);
  cards.resize(std::min(most, cards.size()));
  return cards;
}

std::vector<std::string> doubts_of(const Advice& advice) {
  std::vector<std::string> doubts = advice.doubts;
  if (!advice.other_rates.empty()) doubts.push_back(advice.other_rates);
  constexpr double kUnsteady = 0.05;
  if (const std::optional<double> spread = advice.recording_cost.timed_spread; spread && *spread > kUnsteady) {
    doubts.push_back(fmt::format("the steps of the timing runs differ by {:.1f} %: no saving is known better than that",
                                 100 * *spread));
  }
  return doubts;
}

std::string next_line(const Advice& advice) {
  const Card* next = next_card(advice);
  return next == nullptr ? "" : fmt::format("next: {}, saves {}", next->change.title, saving_of(*next, advice));
}

Document advice_document(const Trace& trace, const Advice& advice) {
  Document document;
  document.schema = "advise";
  document.run = trace.path;
  document.headline = {headline(advice)};
  document.warnings = trace.warnings;
  if (advice.is_refused()) document.warnings.push_back("no savings are given: " + advice.abstained.front().reason);
  for (const std::string& doubt : doubts_of(advice)) {
    const auto says_it = [&](const std::string& warning) { return warning.find(doubt) != std::string::npos; };
    if (std::ranges::none_of(trace.warnings, says_it)) document.warnings.push_back(doubt);
  }
  const ReplayError& error = advice.error;
  document.facts = {
      {"traced_step_ns", "step, traced", error.traced_step_ns, Unit::kDuration},
      {"replayed_step_ns", "step, replayed as it is", error.replayed_step_ns, Unit::kDuration},
      {"replay_error_percent", "replay error", 100 * error.step_error(), Unit::kPercent},
      {"start_error_p95_ns", "start of a kernel differs by (p95)", error.start_p95_ns, Unit::kDuration},
      {"starts_within_2us_percent", "starts that follow to 2 us", 100 * error.within_2us, Unit::kPercent}};
  if (advice.recording_cost.timed_step_ns) {
    document.facts.push_back(
        {"timed_step_ns", "step, in the timing runs", *advice.recording_cost.timed_step_ns, Unit::kDuration});
  }
  if (advice.has_recording_cost())
    document.facts.push_back(
        {"unrecorded_step_ns", "step, without the recorder's cost", advice.unrecorded_step_ns, Unit::kDuration});
  if (advice.joint_step_ns) {
    document.facts.push_back(
        {"applied", "applied together", fmt::format("{}", fmt::join(advice.applied, ", ")), Unit::kText});
    const auto& joint = *advice.joint_step_ns;
    document.facts.push_back({"joint_step_ns", "step with these", joint[1], Unit::kDuration});
    document.facts.push_back({"joint_step_most_ns", "at most", joint[0], Unit::kDuration});
    document.facts.push_back({"joint_step_least_ns", "at least", joint[2], Unit::kDuration});
    document.facts.push_back(
        {"joint_by_gpu_ns", "with launches at their best", *advice.joint_by_gpu_ns, Unit::kDuration});
    constexpr double kOfTheHost = 0.9;
    if (static_cast<double>(*advice.joint_by_gpu_ns) < kOfTheHost * static_cast<double>(joint[1])) {
      document.warnings.push_back(
          fmt::format("{} of the step with these is the host's, whose launches are taken to last as long as they do "
                      "now: {} would be "
                      "left if they took no longer than a driver needs",
                      format_duration(joint[1] - *advice.joint_by_gpu_ns), format_duration(*advice.joint_by_gpu_ns)));
    }
  }
  if (!advice.is_refused()) document.tables.push_back(advice_table(advice));
  if (!advice.abstained.empty()) {
    Table table{"abstained", "What cannot be said", {{"of", "of"}, {"reason", "reason"}}, {}};
    for (const Abstention& abstention : advice.abstained)
      table.rows.push_back({abstention.of, abstention.reason});
    document.tables.push_back(std::move(table));
  }
  for (const Card& card : advice.cards)
    if (!card.change.accuracy.empty())
      document.notes.push_back(fmt::format("{} changes results: {}.", card.change.id, card.change.accuracy));
  document.notes.emplace_back(
      "A saving is what the step of the replay gets shorter when only that change is made; what is hidden behind other "
      "work saves nothing.");
  document.notes.emplace_back("Changes that are applied together are simulated together: their savings do not add up.");
  if (std::ranges::any_of(advice.cards, &Card::launches_otherwise)) {
    document.notes.emplace_back(
        "A changed product is launched as quickly as the program's elementwise kernels are; at the least, no quicker "
        "than now.");
  }
  document.notes.push_back(note_on_recording(advice));
  return document;
}

}  // namespace swinscope
