#include "advisor/advice.h"

#include <algorithm>
#include <cmath>
#include <future>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <span>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "advisor/candidates/candidates.h"
#include "analyzer/base/parallel.h"
#include "analyzer/base/statistics.h"
#include "analyzer/base/text.h"
#include "analyzer/facts/trace_doubts.h"
#include "store/error.h"

namespace swinscope {
namespace {

// What is saved, or lost.
std::string in_words(std::int64_t saving_ns) {
  if (saving_ns < 0) return format_duration(-saving_ns) + " longer";
  return saving_ns > 0 ? format_duration(saving_ns) : "nothing";
}

// Where they were not measured: what Hopper GPUs show.
constexpr double kGraphNs = 10'000;
constexpr double kGraphNodeNs = 100;
constexpr double kGraphGapNs = 700;

// Each has a graph of its own.
int threads() {
  constexpr int kMost = 8;
  return std::min(processors(), kMost);
}

void refuse_alternatives(const std::vector<const Change*>& changes) {
  std::map<std::string, const Change*> by_alternative;
  for (const Change* change : changes) {
    if (change->alternative.empty()) continue;
    const auto [first, is_new] = by_alternative.emplace(change->alternative, change);
    if (is_new) continue;
    throw Error(ErrorKind::kUsage, fmt::format("{} and {} exclude each other", first->second->id, change->id),
                fmt::format("both decide the {}", change->alternative), "apply one of them");
  }
}

// Of the ranks that are looked at.
std::set<std::string> gpus_of(const RunFacts& run) {
  std::set<std::string> gpus;
  for (std::size_t r = 0; r < run.trace.ranks.size(); ++r) {
    const Rank& rank = run.trace.ranks[r];
    if (rank.gpu.size() == 0 || !run.scope.has_rank(r)) continue;
    for (const GpuInfo& gpu : rank.run.gpus)
      gpus.insert(gpu.name);
  }
  return gpus;
}

// Those that were asked for, else of the run's GPU; a run of several kinds of GPUs has none.
std::optional<Rates> rates_for(const RunFacts& run, const AdviceOptions& options) {
  if (options.peaks) return Rates::read(*options.peaks);
  if (!options.gpu.empty()) return Rates::named(options.gpu);
  const std::set<std::string> gpus = gpus_of(run);
  return gpus.size() == 1 ? Rates::of_gpu(*gpus.begin()) : std::nullopt;
}

// Of each rank's kernels that read and write each element once: no library prepares those.
std::vector<std::optional<HostTimes>> usual_launches(const Work& work) {
  constexpr std::size_t kFew = 8;
  struct Times {
    std::vector<std::int64_t> own_ns;
    std::vector<std::int64_t> segment_ns;
  };
  std::vector<Times> times(work.graph.ranks.size());
  for (const WorkStream& stream : work.streams()) {
    const RankGraph& rank = work.graph.ranks[stream.rank];
    for (const WorkItem& item : stream.items) {
      const NodeIndex call = rank.ops[item.ref.op].call;
      if (!is_pointwise(item.kind) || call == kNoNode || rank.calls[call].ops.size() != 1) continue;
      times[stream.rank].own_ns.push_back(rank.calls[call].own_ns);
      times[stream.rank].segment_ns.push_back(rank.calls[call].segment_ns);
    }
  }
  std::vector<std::optional<HostTimes>> usual(times.size());
  for (std::size_t r = 0; r < times.size(); ++r) {
    if (times[r].own_ns.size() < kFew) continue;
    usual[r] = HostTimes{quantile_of(times[r].own_ns, 0.5), quantile_of(times[r].segment_ns, 0.5)};
  }
  return usual;
}

void keep_precision(Work& work, const std::vector<std::string>& layers) {
  const std::vector<std::string> unknown = work.keep_precision(layers);
  if (unknown.empty()) return;
  throw Error(ErrorKind::kUsage, fmt::format("--keep-precision {}: no layer of the run is called so", unknown.front()),
              "", "name layers as `swinscope layers RUN` does; parts such as the block may be left out");
}

}  // namespace

Advisor::Advisor(const RunFacts& run, const AdviceOptions& options) : run_(run) {
  // Beside the graph: to read a file of rates takes half as long.
  std::future<std::optional<Rates>> rates = std::async(std::launch::async, [&] { return rates_for(run, options); });
  graph_ = make_graph(run);
  if (!options.first_only) advice_.doubts = doubts_of(run.trace, run.scope);
  advice_.error = replay_error(graph_, replay(graph_), run);
  if (advice_.error.step_error() > options.bound) {
    advice_.abstained.push_back(
        {"advice",
         fmt::format("the replay of the step as it is takes {}, the trace {}: {:.1f} % apart, more than {:.0f} %",
                     format_duration(advice_.error.replayed_step_ns), format_duration(advice_.error.traced_step_ns),
                     100 * advice_.error.step_error(), 100 * options.bound)});
    return;
  }
  take_rates(rates.get(), options.gpu);
  remove_recording_cost();
  Work work(run_, graph_);
  if (rates_) work.set_rates(*rates_);
  keep_precision(work, options.kept_precision);
  launch_costs_.usual = usual_launches(work);
  if (!options.first_only || !find_first_card(work, options)) find_cards(work, options);
}

void Advisor::remove_recording_cost() {
  advice_.recording_cost = find_recording_cost(graph_, run_, rates_ ? &*rates_ : nullptr);
  advice_.unrecorded_step_ns = advice_.error.replayed_step_ns;
  if (!advice_.has_recording_cost()) return;
  remove(advice_.recording_cost, run_, graph_);
  advice_.unrecorded_step_ns = replayed_step_ns(graph_, replay(graph_), run_);
}

void Advisor::take_rates(std::optional<Rates> rates, const std::string& asked_gpu) {
  launch_costs_ = {kGraphNs, kGraphNodeNs, kGraphGapNs};
  rates_ = std::move(rates);
  if (!rates_) return;
  const std::set<std::string> gpus = gpus_of(run_);
  if (gpus.empty() && !asked_gpu.empty())
    advice_.other_rates = fmt::format("rates are those of {}, the run does not name its GPU", rates_->gpu());
  else if (!gpus.empty() && gpus != std::set{rates_->gpu()})
    advice_.other_rates = fmt::format("rates are those of {}, the run is of {}", rates_->gpu(), fmt::join(gpus, ", "));
  if (const std::optional<double> base_ns = rates_->graph_launch_ns(0)) {
    launch_costs_.graph_ns = std::max(launch_costs_.graph_ns, *base_ns);
    launch_costs_.per_node_ns = rates_->graph_launch_ns(1).value_or(*base_ns) - *base_ns;
  }
}

// On several threads, each with one graph that it edits anew: copies of it would cost more than the replays.
std::vector<std::int64_t> Advisor::steps_ns(const std::vector<Edit>& edits, Scratch& scratch) const {
  std::vector<std::int64_t> steps(edits.size());
  const auto workers = std::min(static_cast<std::size_t>(threads()), edits.size());
  scratch.resize(std::max(scratch.size(), workers));
  parallel_for(workers, static_cast<int>(workers), [&](std::size_t worker) {
    DependencyGraph& graph = scratch[worker];
    for (std::size_t i = worker; i < edits.size(); i += workers) {
      graph = graph_;
      apply(*edits[i].change, edits[i].estimate, launch_costs_, graph);
      steps[i] = replayed_step_ns(graph, replay(graph), run_);
    }
  });
  return steps;
}

DependencyGraph Advisor::edited(const std::vector<const Change*>& changes, Estimate estimate) const {
  DependencyGraph graph = graph_;
  for (const Change* change : changes)
    apply(*change, estimate, launch_costs_, graph);
  return graph;
}

std::int64_t Advisor::step_ns(const std::vector<const Change*>& changes, Estimate estimate) const {
  const DependencyGraph graph = edited(changes, estimate);
  return replayed_step_ns(graph, replay(graph), run_);
}

std::vector<Card> Advisor::evaluate(std::vector<Change> changes, Scratch& scratch) const {
  std::vector<Edit> edits;
  for (const Change& change : changes)
    for (const Estimate estimate : kEstimates)
      edits.push_back({&change, estimate});
  const std::vector<std::int64_t> steps = steps_ns(edits, scratch);
  std::vector<Card> cards;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    std::array<std::int64_t, 3> of_change{};
    std::copy_n(steps.begin() + static_cast<std::ptrdiff_t>(i * of_change.size()), of_change.size(), of_change.begin());
    cards.push_back(card_of(std::move(changes[i]), of_change));
  }
  return cards;
}

Card Advisor::card_of(Change change, const std::array<std::int64_t, 3>& steps_ns) const {
  Card card{.change = std::move(change)};
  for (std::size_t estimate = 0; estimate < steps_ns.size(); ++estimate)
    card.saving_ns[estimate] = advice_.step_ns() - steps_ns[estimate];
  std::ranges::sort(card.saving_ns);
  const auto is_launched_otherwise = [&](const Scaled& scaled) {
    return scaled.is_of_library && scaled.op.rank < launch_costs_.usual.size() && launch_costs_.usual[scaled.op.rank];
  };
  card.launches_otherwise =
      !card.change.keeps_launches && std::ranges::any_of(card.change.scaled, is_launched_otherwise);
  if (card.launches_otherwise) {
    card.change.assumptions.emplace_back(
        "the host launches the product as quickly as the program's elementwise kernels (at the least, as now)");
  }
  return card;
}

bool Advisor::is_worth(const Card& card, const AdviceOptions& options) const {
  return card.likely_ns() >= 0 &&
         static_cast<double>(card.saving_ns.back()) >= options.least_share * static_cast<double>(advice_.step_ns());
}

// The most that a change can save of a step: all of the work that it touches, with the host's way to it, since whatever
// waits for that work is launched after it, and keeps its own launch. What is launched otherwise or earlier, or may
// overlap, has no such bound, nor has anything where launches wait for room.
std::int64_t Advisor::most_saved_ns(const Change& change) const {
  const auto is_full = [](const RankGraph& rank) { return rank.queue_length > 0; };
  const bool is_of_the_host = !change.captured.empty() || !change.hastened.empty() || !change.without_wait.empty();
  if (is_of_the_host || !change.overlapped.empty() || std::ranges::any_of(graph_.ranks, is_full))
    return std::numeric_limits<std::int64_t>::max();
  std::int64_t most_ns = 0;
  const auto add = [&](const OpRef& ref) {
    const RankGraph& rank = graph_.ranks[ref.rank];
    const OpNode& op = rank.ops[ref.op];
    most_ns += op.duration_ns + op.latency_ns + std::max<std::int64_t>(op.gap_ns, 0) + op.wait_delay_ns;
    if (op.call == kNoNode) return;
    const CallNode& call = rank.calls[op.call];
    most_ns += call.own_ns + std::min(kLongestDispatchNs, call.segment_ns);
  };
  for (const Scaled& scaled : change.scaled) {
    add(scaled.op);
    std::ranges::for_each(scaled.others(), add);
  }
  std::int64_t steps = std::numeric_limits<std::int64_t>::max();
  for (const DeviceScope& device : run_.scope.devices())
    steps = std::min(steps, std::max<std::int64_t>(1, device.steps));
  return most_ns / steps;
}

// By the likely saving alone, which is one simulation of three, and only of changes that can save more than the best
// so far. False: it is not worth a card, though another may be.
bool Advisor::find_first_card(const Work& work, const AdviceOptions& options) {
  struct Candidate {
    Change change;
    std::int64_t most_ns;
    std::size_t place;
  };
  std::vector<Candidate> all;
  for (const ChangeKind& kind : change_kinds()) {
    std::vector<Change> changes = kind.find(work);
    changes.resize(std::min(changes.size(), options.most_of_a_kind));
    for (Change& change : changes) {
      if (change.confidence == Confidence::kSpeculative) continue;
      const std::int64_t most_ns = most_saved_ns(change);
      all.push_back({std::move(change), most_ns, all.size()});
    }
  }
  if (all.empty()) return false;
  std::ranges::stable_sort(all, std::ranges::greater(), &Candidate::most_ns);
  const Candidate* first = nullptr;
  std::int64_t saved_ns = std::numeric_limits<std::int64_t>::min();
  const auto at_once = static_cast<std::size_t>(threads());
  Scratch scratch;
  for (std::size_t begin = 0; begin < all.size() && all[begin].most_ns >= saved_ns; begin += at_once) {
    const std::span<const Candidate> some = std::span(all).subspan(begin, std::min(at_once, all.size() - begin));
    std::vector<Edit> edits;
    for (const Candidate& candidate : some)
      edits.push_back({&candidate.change, Estimate::kLikely});
    const std::vector<std::int64_t> steps = steps_ns(edits, scratch);
    for (std::size_t i = 0; i < some.size(); ++i) {
      const std::int64_t saving_ns = advice_.step_ns() - steps[i];
      if (saving_ns < saved_ns || (saving_ns == saved_ns && some[i].place > first->place)) continue;
      saved_ns = saving_ns;
      first = &some[i];
    }
  }
  const std::vector<std::int64_t> ends =
      steps_ns({{&first->change, Estimate::kLeast}, {&first->change, Estimate::kMost}}, scratch);
  Card card = card_of(first->change, {ends[0], advice_.step_ns() - saved_ns, ends[1]});
  if (!is_worth(card, options)) return false;
  advice_.cards.push_back(std::move(card));
  return true;
}

void Advisor::find_cards(const Work& work, const AdviceOptions& options) {
  Scratch scratch;
  for (const ChangeKind& kind : change_kinds()) {
    std::vector<Change> changes = kind.find(work);
    const std::size_t found = changes.size();
    if (found == 0) {
      const std::string_view lacking = kind.lacks == nullptr ? std::string_view() : kind.lacks(work);
      advice_.abstained.push_back(
          {std::string(kind.key), std::string(lacking.empty() ? "no place for it was found in the trace" : lacking)});
      continue;
    }
    const auto first_left = changes.begin() + static_cast<std::ptrdiff_t>(std::min(found, options.most_of_a_kind));
    std::move(first_left, changes.end(), std::back_inserter(others_));
    changes.erase(first_left, changes.end());
    std::size_t kept = 0;
    std::string nearest;
    std::int64_t nearest_ns = std::numeric_limits<std::int64_t>::min();
    for (Card& card : evaluate(std::move(changes), scratch)) {
      if (!is_worth(card, options)) {
        if (card.likely_ns() > nearest_ns) {
          nearest_ns = card.likely_ns();
          nearest = card.change.title;
        }
        others_.push_back(std::move(card.change));
        continue;
      }
      ++kept;
      advice_.cards.push_back(std::move(card));
    }
    if (kept == 0) {
      advice_.abstained.push_back(
          {std::string(kind.key), fmt::format("{}: none saves {:.1f} % of the step; nearest: {}, {}",
                                              format_counted(static_cast<std::int64_t>(found), "places"),
                                              100 * options.least_share, nearest, in_words(nearest_ns))});
    }
  }
  std::ranges::stable_sort(advice_.cards, std::ranges::greater(), &Card::likely_ns);
}

// In the order in which they are made.
std::vector<const Change*> Advisor::changes_of(const std::vector<std::string>& ids) const {
  std::vector<const Change*> known;
  for (const Card& card : advice_.cards)
    known.push_back(&card.change);
  const std::size_t cards = known.size();
  for (const Change& change : others_)
    known.push_back(&change);
  for (const std::string& id : ids) {
    if (std::ranges::any_of(known, [&](const Change* change) { return change->id == id || change->kind == id; }))
      continue;
    std::vector<std::string> names;
    for (std::size_t i = 0; i < cards; ++i)
      names.push_back(known[i]->id);
    throw Error(ErrorKind::kUsage, fmt::format("{}: there is no such change", id), "",
                names.empty() ? "none was found" : fmt::format("there are {}", fmt::join(names, ", ")));
  }
  std::vector<const Change*> made;
  for (const ChangeKind& kind : change_kinds()) {
    for (const Change* change : known) {
      const auto names_it = [&](const std::string& id) { return id == change->id || id == kind.key; };
      if (change->kind == kind.key && std::ranges::any_of(ids, names_it)) made.push_back(change);
    }
  }
  refuse_alternatives(made);
  return made;
}

Simulation Advisor::simulation(const std::vector<std::string>& ids) const {
  const std::vector<const Change*> applied = changes_of(ids);
  Simulation result;
  result.graph = edited(applied, Estimate::kLikely);
  result.replay = replay(result.graph);
  for (const Estimate estimate : kEstimates) {
    result.step_ns[static_cast<std::size_t>(estimate)] = estimate == Estimate::kLikely
                                                             ? replayed_step_ns(result.graph, result.replay, run_)
                                                             : step_ns(applied, estimate);
  }
  std::ranges::sort(result.step_ns, std::ranges::greater());
  return result;
}

std::array<std::int64_t, 3> Advisor::simulate(const std::vector<std::string>& ids) const {
  return simulation(ids).step_ns;
}

std::int64_t Advisor::step_by_gpu_ns(const std::vector<std::string>& ids) const {
  constexpr double kAllOfIt = 1e9;
  DependencyGraph graph = edited(changes_of(ids), Estimate::kLikely);
  remove_from_launches(kAllOfIt, run_, graph);
  return replayed_step_ns(graph, replay(graph), run_);
}

std::vector<EvidenceEvent> Advisor::evidence_of(const Card& card) const {
  std::vector<EvidenceEvent> events;
  events.reserve(card.change.evidence.size());
  for (const OpRef& ref : card.change.evidence) {
    const RankGraph& rank = graph_.ranks[ref.rank];
    events.push_back({rank.rank_index, rank.ops[ref.op].event});
  }
  return events;
}

std::vector<std::string> usual_changes(const Advice& advice) {
  std::vector<std::string> ids;
  std::set<std::string> taken;
  for (const Card& card : advice.cards) {  // the one that saves most comes first
    const Change& change = card.change;
    if (change.confidence == Confidence::kSpeculative) continue;
    if (!change.alternative.empty() && !taken.insert(change.alternative).second) continue;
    ids.push_back(change.id);
  }
  return ids;
}

Advice advise(const Advisor& advisor, const std::vector<std::string>& applied) {
  Advice advice = advisor.advice();
  if (advice.is_refused()) return advice;
  advice.applied = applied.empty() ? usual_changes(advice) : applied;
  if (advice.applied.empty()) return advice;
  advice.joint_step_ns = advisor.simulate(advice.applied);
  advice.joint_by_gpu_ns = advisor.step_by_gpu_ns(advice.applied);
  return advice;
}

Advice advise(const RunFacts& run, const AdviceOptions& options) {
  return advise(Advisor(run, options), options.applied);
}

namespace {

constexpr std::int64_t kMostEvents = 400'000;  // that are replayed without being asked for

}  // namespace

std::string why_not_quick(const RunFacts& run) {
  const auto events = static_cast<std::int64_t>(run.trace.gpu_event_count());
  if (events == 0) return "nothing ran on a GPU";
  if (!run.scope.is_of_steps()) return fmt::format("savings are of a step, and this is {}", run.scope.title());
  if (events > kMostEvents) return fmt::format("replaying {} GPU events takes a while", format_count(events));
  try {
    make_graph(run);
  } catch (const Error& error) {
    return error.cause().empty() ? std::string(error.what()) : fmt::format("{}: {}", error.what(), error.cause());
  }
  return {};
}

std::unique_ptr<const Advisor> advisor_if_quick(const RunFacts& run, const AdviceOptions& options) {
  if (run.trace.gpu_event_count() == 0 || run.trace.gpu_event_count() > kMostEvents || !run.scope.is_of_steps())
    return nullptr;
  try {
    return std::make_unique<const Advisor>(run, options);
  } catch (const Error&) {
    return nullptr;  // `swinscope advise` says why
  }
}

}  // namespace swinscope
