// What stragglers cost a job of several ranks, and whose they are: the what-if analysis of "Understanding Stragglers in
// Large Model Training Using What-if Analysis" (OSDI 2025).
//
// The job's steps are replayed as the work of its GPUs alone (device_steps.h):
//   T        every work takes its own time
//   T_ideal  every work takes what is usual for its kind over all ranks and steps: computation and copies their mean,
//            communication the median of its transfer
//   S = T / T_ideal     the slowdown by stragglers
// A kind is a kernel's name; of communication also what the source calls it, and the size of its messages. Of a part W
// of the work (a rank, a pipeline stage, a kind) it is said both ways which share of T - T_ideal it is to blame for:
//   removed = (T - T_without) / (T - T_ideal)      T_without: only W takes what is usual
//   added   = (T_only - T_ideal) / (T - T_ideal)   T_only: only W takes its own time
// They differ, since what several parts delay is gone only when none of them does. removed for the slowest ranks is the
// paper's M_W, for the last pipeline stage its M_S. All times are means over the steps.
//
// The stage of a rank is its place in the chain of ranks that send to each other, lower ranks first.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "advisor/graph.h"
#include "analyzer/analyses/run_facts.h"
#include "analyzer/table/render.h"

namespace swinscope {

// A part of the work; its times are those of the job's step in ns.
struct StragglingPart {
  std::string name;
  std::int64_t works = 0;
  double only_ns = 0;
  double without_ns = 0;
};

struct StragglingRank : StragglingPart {
  std::size_t rank_index = 0;  // in Trace::ranks
  std::optional<std::uint32_t> stage;
};

struct StragglingStep {
  std::int64_t step_ns = 0;
  std::int64_t ideal_ns = 0;
  std::size_t slowest = 0;      // in Stragglers::ranks: the one whose own times make the step longest
  std::int64_t slowest_ns = 0;  // the step with its times only
};

struct Stragglers {
  std::int64_t traced_step_ns = 0;
  double step_ns = 0;
  double ideal_step_ns = 0;
  std::vector<StragglingRank> ranks;
  std::vector<StragglingPart> stages;  // from first to last; empty where they are not known
  std::vector<StragglingPart> kinds;
  std::vector<StragglingStep> steps;
  StragglingPart slowest;           // the 3 % of the ranks with the longest only_ns, one at least; name: their ranks
  std::vector<std::string> doubts;  // of how collectives were matched and replayed, a line each

  double slowdown() const { return ideal_step_ns == 0 ? 1 : step_ns / ideal_step_ns; }
  // |T - traced| / traced. Above kMostError the host or delays decide the step, and nothing is said of stragglers.
  double replay_error() const;
  bool is_refused() const { return replay_error() > kMostError; }
  // Shares of T - T_ideal; nothing where that is below kLeastLoss of T_ideal, so that there is nothing to blame.
  std::optional<double> removed(const StragglingPart& part) const;
  std::optional<double> added(const StragglingPart& part) const;

  static constexpr double kMostError = 0.05;
  static constexpr double kLeastLoss = 0.005;
};

// Throws Error(kUsage) where the trace has one rank or nothing that joins its ranks; as DeviceSteps does.
Stragglers find_stragglers(const DependencyGraph& graph, const RunFacts& run);

Document straggler_document(const Trace& trace, const Stragglers& stragglers);

}  // namespace swinscope
