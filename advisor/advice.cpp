#include "advisor/advice.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "advisor/candidates/candidates.h"
#include "analyzer/base/text.h"
#include "analyzer/table/cells.h"
#include "store/error.h"

namespace swinscope {
namespace {

// Where they were not measured: what Hopper GPUs show.
constexpr GraphCosts kUsualGraphCosts{10'000, 100, 700};

// Replays a graph with changes.
class Simulator {
 public:
  Simulator(const RunFacts& run, const DependencyGraph& graph) : run_(run), graph_(graph) {}

  std::int64_t step_ns(const std::vector<const Change*>& changes, Estimate estimate) const {
    DependencyGraph edited = graph_;
    for (const Change* change : changes)
      apply(*change, estimate, kUsualGraphCosts, edited);
    return replayed_step_ns(edited, replay(edited), run_);
  }

 private:
  const RunFacts& run_;
  const DependencyGraph& graph_;
};

Card evaluate(const Simulator& simulator, Change change, std::int64_t step_ns) {
  Card card;
  for (const Estimate estimate : kEstimates)
    card.saving_ns[static_cast<std::size_t>(estimate)] = step_ns - simulator.step_ns({&change}, estimate);
  std::ranges::sort(card.saving_ns);
  card.change = std::move(change);
  return card;
}

void find_cards(const Work& work, const Simulator& simulator, const AdviceOptions& options, Advice& advice) {
  for (const ChangeKind& kind : change_kinds()) {
    std::vector<Change> changes = kind.find(work);
    const std::size_t found = changes.size();
    if (found == 0) {
      const bool lacks_rate = kind.needs_copy_rate && work.copy_rate() <= 0;
      advice.abstained.push_back({std::string(kind.key), lacks_rate ? "the rate at which this GPU copies is not known"
                                                                    : "no place for it was found in the trace"});
      continue;
    }
    changes.resize(std::min(found, options.most_of_a_kind));
    std::size_t kept = 0;
    for (Change& change : changes) {
      Card card = evaluate(simulator, std::move(change), advice.step_ns());
      if (static_cast<double>(card.saving_ns.back()) < options.least_share * static_cast<double>(advice.step_ns())) continue;
      ++kept;
      advice.cards.push_back(std::move(card));
    }
    if (kept == 0) {
      advice.abstained.push_back({std::string(kind.key),
                                  fmt::format("{}: none saves {:.1f} % of the step", format_counted(static_cast<std::int64_t>(found), "places"),
                                              100 * options.least_share)});
    }
  }
  std::ranges::stable_sort(advice.cards, std::ranges::greater(), &Card::likely_ns);
}

void apply_together(const Simulator& simulator, const AdviceOptions& options, Advice& advice) {
  for (const std::string& id : options.applied) {
    if (std::ranges::find(advice.cards, id, [](const Card& card) { return card.change.id; }) != advice.cards.end()) continue;
    std::vector<std::string> ids;
    for (const Card& card : advice.cards)
      ids.push_back(card.change.id);
    throw Error(ErrorKind::kUsage, fmt::format("--apply {}: there is no such change", id), "",
                ids.empty() ? "none was found" : fmt::format("there are {}", fmt::join(ids, ", ")));
  }
  std::vector<const Change*> applied;
  for (const ChangeKind& kind : change_kinds()) {  // in the order in which they are made
    for (const Card& card : advice.cards) {
      if (card.change.kind != kind.key) continue;
      const bool is_asked = options.applied.empty()
                                ? card.change.confidence != Confidence::kSpeculative
                                : std::ranges::find(options.applied, card.change.id) != options.applied.end();
      if (!is_asked) continue;
      applied.push_back(&card.change);
      advice.applied.push_back(card.change.id);
    }
  }
  if (applied.empty()) return;
  std::array<std::int64_t, 3> step_ns{};
  for (const Estimate estimate : kEstimates)
    step_ns[static_cast<std::size_t>(estimate)] = simulator.step_ns(applied, estimate);
  std::ranges::sort(step_ns, std::ranges::greater());
  advice.joint_step_ns = step_ns;
}

}  // namespace

Advice advise(const RunFacts& run, const AdviceOptions& options) {
  const DependencyGraph graph = make_graph(run);
  Advice advice;
  advice.error = replay_error(graph, replay(graph), run);
  if (advice.error.step_error() > options.bound) {
    advice.abstained.push_back(
        {"advice", fmt::format("the replay of the step as it is takes {}, the trace {}: {:.1f} % apart, more than {:.0f} %",
                               format_duration(advice.error.replayed_step_ns), format_duration(advice.error.traced_step_ns),
                               100 * advice.error.step_error(), 100 * options.bound)});
    return advice;
  }
  const Work work(run, graph);
  const Simulator simulator(run, graph);
  find_cards(work, simulator, options, advice);
  advice.abstained.push_back({"precision", "no table of this GPU's rates by precision was given"});
  apply_together(simulator, options, advice);
  return advice;
}

std::optional<Advice> advise_briefly(const RunFacts& run) {
  constexpr std::int64_t kMostEvents = 400'000;
  if (run.trace.gpu_event_count() == 0 || run.trace.gpu_event_count() > kMostEvents || !run.scope.is_of_steps())
    return std::nullopt;
  AdviceOptions options;
  options.most_of_a_kind = 3;
  options.least_share = 0.01;
  try {
    return advise(run, options);
  } catch (const Error&) {
    return std::nullopt;  // `swinscope advise` says why
  }
}

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
                          percent_of(card.likely_ns(), advice.step_ns()), std::string(confidence_name(change.confidence)),
                          std::string(is_applied ? "yes" : "no"), change.title, change.kind, change.why,
                          fmt::format("{}", fmt::join(change.assumptions, "; ")), change.accuracy,
                          int_cell(static_cast<std::int64_t>(change.evidence.size()))});
  }
  return table;
}

namespace {

std::string headline(const Advice& advice) {
  if (advice.is_refused()) return "no advice: " + advice.abstained.front().reason;
  const std::string next = next_line(advice);
  return next.empty() ? "no change was found that saves a noticeable part of the step" : next;
}

}  // namespace

std::string next_line(const Advice& advice) {
  if (advice.is_refused() || advice.cards.empty()) return {};
  const Card& first = advice.cards.front();
  return fmt::format("next: {}, saves {} ({} to {}) of {}", first.change.title, format_duration(first.likely_ns()),
                     format_duration(first.saving_ns.front()), format_duration(first.saving_ns.back()),
                     format_duration(advice.step_ns()));
}

Document advice_document(const Trace& trace, const Advice& advice) {
  Document document;
  document.schema = "advise";
  document.run = trace.path;
  document.headline = {headline(advice)};
  document.warnings = trace.warnings;
  if (advice.is_refused()) document.warnings.push_back("no savings are given: " + advice.abstained.front().reason);
  const ReplayError& error = advice.error;
  document.facts = {
      {"traced_step_ns", "step, traced", error.traced_step_ns, Unit::kDuration},
      {"replayed_step_ns", "step, replayed as it is", error.replayed_step_ns, Unit::kDuration},
      {"replay_error_percent", "replay error", 100 * error.step_error(), Unit::kPercent},
      {"start_error_p95_ns", "start of a kernel differs by (p95)", error.start_p95_ns, Unit::kDuration},
      {"starts_within_2us_percent", "starts that follow to 2 us", 100 * error.within_2us, Unit::kPercent}};
  if (advice.joint_step_ns) {
    document.facts.push_back({"applied", "applied together", fmt::format("{}", fmt::join(advice.applied, ", ")), Unit::kText});
    const auto& joint = *advice.joint_step_ns;
    document.facts.push_back({"joint_step_ns", "step with these", joint[1], Unit::kDuration});
    document.facts.push_back({"joint_step_most_ns", "at most", joint[0], Unit::kDuration});
    document.facts.push_back({"joint_step_least_ns", "at least", joint[2], Unit::kDuration});
  }
  if (!advice.is_refused()) document.tables.push_back(advice_table(advice));
  if (!advice.abstained.empty()) {
    Table table{"abstained", "What cannot be said", {{"of", "of"}, {"reason", "reason"}}, {}};
    for (const Abstention& abstention : advice.abstained)
      table.rows.push_back({abstention.of, abstention.reason});
    document.tables.push_back(std::move(table));
  }
  document.notes = {
      "A saving is what the step of the replay gets shorter when only that change is made; what is hidden behind other "
      "work saves nothing.",
      "Changes that are applied together are simulated together: their savings do not add up.",
      "Of the traced step: without the recorder's own cost it is somewhat shorter."};
  return document;
}

}  // namespace swinscope
