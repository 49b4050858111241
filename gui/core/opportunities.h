// What changes of a program would save of a run's step, as a page shows it: the cards of an Advisor, which of them are
// applied, and the step with these. Finding and simulating are done beside the window; what no longer matters when it
// comes is dropped.
#pragma once

#include <QObject>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "advisor/advice.h"
#include "gui/core/background.h"
#include "gui/core/calls.h"
#include "gui/core/opened.h"
#include "gui/core/problem.h"
#include "gui/core/step_pictures.h"

namespace swinscope::gui {

class Opportunities : public QObject {
  Q_OBJECT

 public:
  // Without options the advisor is the one that all pages share (SharedAnalysis).
  explicit Opportunities(std::optional<AdviceOptions> options = {}, QObject* parent = nullptr);

  // Of a part of the run, whose trace is there. Nothing is applied at first.
  void compute(const RunPointer& run, const Selection& selection);
  void clear();
  bool is_idle() const { return finding_.is_idle() && simulating_.is_idle(); }

  // Null before it was computed, and where that failed.
  const Advice* advice() const { return found_.advised == nullptr ? nullptr : &found_.advised->advisor->advice(); }
  // Why there are no cards: the trace cannot be replayed, or its replay is too far from it.
  const std::optional<Problem>& problem() const { return found_.problem; }

  // Indices are those of Advice::cards.
  bool is_applied(std::size_t index) const { return applied_[index]; }
  std::size_t applied_count() const;
  QStringList applied_ids() const;
  // Alternatives of one that is switched on are switched off.
  void apply(std::size_t index, bool is_on);
  // usual_changes() of the advice, and only these.
  void apply_all();
  void apply_none();
  // The step with what was applied when it was last simulated, by Estimate (the least saved first).
  const std::array<std::int64_t, 3>& joint_step_ns() const { return joint_step_ns_; }
  // A step as it was measured, and as it was simulated last; null where there is none to show.
  const std::shared_ptr<const StepPictures>& pictures() const { return pictures_; }
  // The first of the GPU events that a card is about.
  std::optional<Call> evidence(std::size_t index) const;

 Q_SIGNALS:
  void found();      // advice or problem are new
  void simulated();  // the joint step is that of what is applied now

 private:
  struct Advised {
    std::shared_ptr<const RunFacts> run;  // to which the advisor refers
    std::shared_ptr<const Advisor> advisor;
    std::optional<ShownStep> step;

    // Null where no step is shown.
    std::shared_ptr<const StepPictures> pictures(const DependencyGraph& graph, const Replay& replay) const;
  };
  struct Found {
    std::shared_ptr<const Advised> advised;
    std::shared_ptr<const StepPictures> pictures;  // as it was replayed
    std::optional<Problem> problem;
  };
  struct Simulated {
    std::array<std::int64_t, 3> step_ns = {0, 0, 0};
    std::shared_ptr<const StepPictures> pictures;
  };
  // For another thread.
  static Simulated simulate(const Advised& advised, const std::vector<std::string>& ids);
  static Found find(const OpenedRun& run, const Selection& selection, const std::optional<AdviceOptions>& options);
  void simulate();

  const std::optional<AdviceOptions> options_;
  Found found_;
  std::vector<bool> applied_;
  std::array<std::int64_t, 3> joint_step_ns_ = {0, 0, 0};
  std::shared_ptr<const StepPictures> pictures_;
  Background finding_;
  Background simulating_;
};

// "59.58 to 63.92 ms", "985.0 us to 1.200 ms"
QString range_text(std::int64_t low_ns, std::int64_t high_ns);
// "59.58 to 63.92 ms, likely"; without an interval "likely"
QString confidence_text(const swinscope::Card& card);
// "saves 63.06 ms, 26.7 % of the step"
QString share_text(std::int64_t saving_ns, std::int64_t step_ns);
// "saves 63.06 ms, 59.58 to 63.92 ms"
QString saving_text(const swinscope::Card& card);

}  // namespace swinscope::gui
