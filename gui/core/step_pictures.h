// Steps as timelines whose 0 is the begin of the step, so that two of them have one axis: as it was measured and as it
// is simulated, or those of two runs. Of one rank and its GPU: a lane for each stream.
#pragma once

#include <QString>
#include <memory>
#include <optional>
#include <vector>

#include "advisor/advice.h"
#include "analyzer/timeline/timeline.h"

namespace swinscope::gui {

struct StepPicture {
  // Streams with few events share lanes where there are many. The names' ids of both pictures of a step are the same.
  Timeline timeline;
  std::size_t streams = 0;   // on which something ran
  std::int64_t step_ns = 0;  // when the step ends
  std::int64_t idle_ns = 0;  // of these without work on any stream
  // By lane and position: work that falls away in the simulation. Of the measured step; empty: none does.
  std::vector<std::vector<bool>> falls_away;
  std::size_t events() const { return timeline.event_count(); }
  std::size_t falling_away() const;
};

struct StepPictures {
  std::int32_t rank = 0;
  std::int64_t step = 0;  // from 1
  StepPicture measured;
  StepPicture simulated;
};

// A step of a run as it was measured, of the rank whose steps take longest the one of median length.
struct MeasuredStep {
  std::int32_t rank = 0;
  std::int64_t step = 0;  // from 1
  StepPicture picture;
};
// Nothing where the run has no steps, or no device did anything in them.
std::optional<MeasuredStep> median_step(const RunFacts& run);

// The step whose pictures are drawn: of the rank whose steps take longest, the one of median length.
class ShownStep {
 public:
  // Nothing where the run has no steps. The run must outlive it.
  static std::optional<ShownStep> choose(const RunFacts& run, const DependencyGraph& graph, const Replay& replay);

  // Of the graph as it was made of the run, or with changes, and its replay.
  StepPictures pictures(const DependencyGraph& graph, const Replay& replay) const;

 private:
  StepPicture measured(const DependencyGraph& graph) const;
  StepPicture simulated(const DependencyGraph& graph, const Replay& replay) const;
  ShownStep(const RunFacts& run, std::uint32_t rank, std::int32_t device, std::int64_t number);

  const Trace* trace_;
  std::uint32_t rank_;  // in DependencyGraph::ranks
  std::size_t rank_index_ = 0;
  std::int32_t device_;
  std::int64_t number_;
  std::shared_ptr<const RunFacts> facts_;  // of this step alone
};

// What a screen reader says: "236.0 ms, 1,234 kernels and copies in 2 lanes, 12.00 ms without GPU work".
QString picture_text(const StepPicture& picture);

}  // namespace swinscope::gui
