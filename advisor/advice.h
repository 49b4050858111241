// What changes would gain: each found candidate replayed, ranked by what it saves of the step, and all of them together
// as one simulation. The replay's own error comes first; above a bound nothing is promised.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "advisor/change.h"
#include "advisor/rates.h"
#include "advisor/recording_cost.h"
#include "advisor/replay.h"
#include "advisor/work.h"
#include "analyzer/analyses/run_facts.h"
#include "analyzer/table/render.h"

namespace swinscope {

// A change with what it saves when it is the only one; by Estimate, ascending.
struct Card {
  Change change;
  std::array<std::int64_t, 3> saving_ns = {0, 0, 0};  // of a step
  // But at the least, products are taken to be launched as what no library prepares: `change.assumptions` says so.
  bool launches_otherwise = false;
  std::int64_t likely_ns() const { return saving_ns[static_cast<std::size_t>(Estimate::kLikely)]; }
};

// A GPU event of the trace.
struct EvidenceEvent {
  std::size_t rank_index = 0;  // in Trace::ranks
  EventIndex event = kNoEvent;
};

// What cannot be said, and why.
struct Abstention {
  std::string of;  // a kind of change, or "advice"
  std::string reason;
};

struct AdviceOptions {
  // Ids of the changes that are simulated together, or kinds, for all changes of one; empty: all but the speculative
  // ones that are worth a card.
  std::vector<std::string> applied = {};
  std::optional<std::filesystem::path> peaks = {};  // the GPU's rates; nothing: those that come with the program
  std::string gpu = {};                             // whose rates those are (Rates::named); empty: the run's
  std::vector<std::string> kept_precision = {};     // layers (Work::keep_precision())
  double bound = 0.05;                              // of the step: above it the replay is not good enough
  double least_share = 0.002;  // of the step: what saves at most less, or is likely to cost, is no card
  std::size_t most_of_a_kind = 8;
  // Only the card that next_line() tells of is wanted.
  bool first_only = false;
};

struct Advice {
  ReplayError error;
  std::vector<Card> cards;  // by likely saving, most first
  std::vector<Abstention> abstained;
  // The step with the applied changes, by Estimate (the least saved first); nothing where none was applied.
  std::optional<std::array<std::int64_t, 3>> joint_step_ns;
  std::optional<std::int64_t> joint_by_gpu_ns;  // as step_by_gpu_ns() has it
  std::vector<std::string> applied;             // ids

  // The step as it is, replayed without the recorder's own cost where that is known: what savings are of.
  std::int64_t unrecorded_step_ns = 0;
  RecordingCost recording_cost;  // that was taken away
  // Where the rates are not known to be of the run's GPU: "rates are those of NVIDIA H200, the run is of NVIDIA
  // A100-SXM4-40GB".
  std::string other_rates;
  std::vector<std::string> doubts;  // of the trace, as `analyze` has them (trace_doubts.h); not where first_only

  bool is_refused() const { return !abstained.empty() && abstained.front().of == "advice"; }
  std::int64_t step_ns() const { return unrecorded_step_ns; }
  bool has_recording_cost() const {
    return recording_cost.per_launch_ns > 0 || recording_cost.per_kernel_ns > 0 || recording_cost.per_overlap_ns > 0 ||
           recording_cost.per_operator_ns > 0 || recording_cost.host_share < 1;
  }
};

// What some changes make of a step.
struct Simulation {
  std::array<std::int64_t, 3> step_ns = {0, 0, 0};  // by Estimate (the least saved first)
  DependencyGraph graph;                            // with the likely effect of each
  Replay replay;                                    // of that graph
};

// Keeps the graph of a run, so that changes are switched on and off without making it anew. Several threads may
// simulate at once.
class Advisor {
 public:
  // Finds the changes and what each saves. Throws as make_graph does, and Error(kUsage) for a kept layer that the run
  // does not have. The run must outlive it.
  Advisor(const RunFacts& run, const AdviceOptions& options);

  // Nothing is applied yet.
  const Advice& advice() const { return advice_; }
  // Of the step without the recorder's cost, where that is known.
  const DependencyGraph& graph() const { return graph_; }
  // The step with these changes, by Estimate (the least saved first): ids or kinds, also of changes that save too
  // little by themselves for a card. Throws Error(kUsage) for what is neither, and for alternatives of each other.
  std::array<std::int64_t, 3> simulate(const std::vector<std::string>& ids) const;
  // The same with when everything would happen.
  Simulation simulation(const std::vector<std::string>& ids) const;
  // The likely step with these changes if launches took the host no longer than drivers need at best. How long they
  // take is known of the program as it is, not of the kernels that would stand in their place.
  std::int64_t step_by_gpu_ns(const std::vector<std::string>& ids) const;
  // The work that a card's change is about, in the order of its evidence.
  std::vector<EvidenceEvent> evidence_of(const Card& card) const;

 private:
  // One change that is made alone.
  struct Edit {
    const Change* change = nullptr;
    Estimate estimate = Estimate::kLikely;
  };
  // The graphs that edits are made in, one for each thread: kept from call to call, their memory is.
  using Scratch = std::vector<DependencyGraph>;
  std::vector<std::int64_t> steps_ns(const std::vector<Edit>& edits, Scratch& scratch) const;
  DependencyGraph edited(const std::vector<const Change*>& changes, Estimate estimate) const;
  std::int64_t step_ns(const std::vector<const Change*>& changes, Estimate estimate) const;
  void remove_recording_cost();
  void take_rates(std::optional<Rates> rates, const std::string& asked_gpu);
  void find_cards(const Work& work, const AdviceOptions& options);
  std::int64_t most_saved_ns(const Change& change) const;
  bool find_first_card(const Work& work, const AdviceOptions& options);
  bool is_worth(const Card& card, const AdviceOptions& options) const;
  std::vector<Card> evaluate(std::vector<Change> changes, Scratch& scratch) const;
  Card card_of(Change change, const std::array<std::int64_t, 3>& steps_ns) const;
  std::vector<const Change*> changes_of(const std::vector<std::string>& ids) const;

  const RunFacts& run_;
  DependencyGraph graph_;
  std::optional<Rates> rates_;
  LaunchCosts launch_costs_;
  Advice advice_;
  std::vector<Change> others_;  // that are worth no card by themselves
};

// Everything at once: these changes are applied; where there are none, usual_changes(). Throws as Advisor does.
Advice advise(const Advisor& advisor, const std::vector<std::string>& applied = {});
// With those of `options.applied`.
Advice advise(const RunFacts& run, const AdviceOptions& options);

// With these options, where that is quick: nullptr of a large trace, or one that cannot be replayed.
std::unique_ptr<const Advisor> advisor_if_quick(const RunFacts& run, const AdviceOptions& options = {});
// Why there is none: "savings are of a step, and this is the whole trace, since no steps were found".
std::string why_not_quick(const RunFacts& run);
// Those that are applied where nobody chooses: all but the speculative ones, of alternatives the one that saves most.
std::vector<std::string> usual_changes(const Advice& advice);
// The one to try next: the first that is not speculative; nullptr where none is worth a line. `analyze`, `advise` and
// the desktop program's first page all lead with it.
const Card* next_card(const Advice& advice);
// That one, then the others as they are ranked, `most` at most. Empty where nothing is said.
std::vector<const Card*> leading_cards(const Advice& advice, std::size_t most);
// What makes savings doubtful, a line each: of the trace, of rates that are another GPU's, of timing runs whose steps
// differ.
std::vector<std::string> doubts_of(const Advice& advice);
// Of next_card(): "next: Gather instead of …, saves 63.06 ms (59.58 ms to 63.92 ms) of 236.0
// ms"; "" where nothing is worth a line.
std::string next_line(const Advice& advice);

Table advice_table(const Advice& advice);
Document advice_document(const Trace& trace, const Advice& advice);

}  // namespace swinscope
