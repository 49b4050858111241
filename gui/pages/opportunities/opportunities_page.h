// What changes of the program would save of a step, ranked; those that are switched on are simulated together. Computed
// when it is first shown, since that takes a replay of the run for each of them.
#pragma once

#include <vector>

#include "gui/core/opportunities.h"
#include "gui/pages/page.h"

class QLabel;
class QScrollArea;
class QVBoxLayout;

namespace swinscope::gui {

class OpportunityCard;
class StepPanel;
class StepTimelines;

class OpportunitiesPage : public Page {
  Q_OBJECT

 public:
  explicit OpportunitiesPage(QWidget* parent = nullptr);

  void set_session(const Session& session) override;
  void set_filter(const Filter& filter) override;
  void set_unfinished() override;
  bool has(ActionId action) const override;
  bool can_perform(ActionId action) const override;
  void perform(ActionId action) override;
  bool is_settled() const override { return !(is_stale_ && isVisible()) && opportunities_.is_idle(); }

  const std::vector<OpportunityCard*>& cards() const { return cards_; }
  StepPanel& step() { return *step_; }
  StepTimelines& timelines() { return *timelines_; }
  // In place of cards.
  QString message() const;
  // What cannot be said, a line each.
  QString abstained() const;

 protected:
  void showEvent(QShowEvent* event) override;

 private:
  void build_layout();
  void invalidate();
  void refresh();
  void show_message(const QString& text);
  void show_found();
  void add_cards(const Advice& advice);
  void show_abstained(const Advice& advice);
  void show_applied();
  void show_timelines();
  void keep_named();
  void show_evidence(std::size_t index);
  void clear_cards();

  RunPointer run_;
  bool has_experiment_ = false;
  bool is_unfinished_ = false;
  Filter filter_;
  bool is_stale_ = true;  // what is shown is of another run or another part of it
  Opportunities opportunities_;

  StepPanel* step_;
  QLabel* message_;
  QScrollArea* scroll_;
  StepTimelines* timelines_;
  QVBoxLayout* card_column_;
  QLabel* none_named_ = nullptr;
  QLabel* abstained_title_ = nullptr;
  QLabel* abstained_ = nullptr;
  std::vector<OpportunityCard*> cards_;
};

}  // namespace swinscope::gui
