// What changes of the program would save of a step, ranked; those that are switched on are simulated together. Computed
// when it is first shown, since that takes a replay of the run for each of them.
#pragma once

#include <vector>

#include "gui/core/opportunities.h"
#include "gui/pages/computed_page.h"

class QLabel;
class QScrollArea;
class QVBoxLayout;

namespace swinscope::gui {

class OpportunityCard;
class StepPanel;
class StepTimelines;

class OpportunitiesPage : public ComputedPage {
  Q_OBJECT

 public:
  explicit OpportunitiesPage(QWidget* parent = nullptr);

  bool has(ActionId action) const override;
  bool can_perform(ActionId action) const override;
  void perform(ActionId action) override;
  QString command() const override;
  // The card of a change, by its id.
  void present(const Evidence& evidence) override;

  // The one that `swinscope analyze` and the first page lead with, then the others as they are ranked.
  const std::vector<OpportunityCard*>& cards() const { return cards_; }
  StepPanel& step() { return *step_; }
  StepTimelines& timelines() { return *timelines_; }
  // What cannot be said, a line each.
  QString abstained() const;

 protected:
  void compute() override;
  void forget() override;
  bool is_computing() const override { return !opportunities_.is_idle(); }
  void show_content(bool is_shown) override;
  // Names are those of the cards that are shown.
  bool is_of_another(const Filter& before) override;
  QString without_run(const Session& session) const override;

 private:
  void build_layout();
  void show_found();
  void add_cards(const Advice& advice);
  void show_abstained(const Advice& advice);
  void show_applied();
  void show_timelines();
  void keep_named();
  void show_evidence(std::size_t index);
  void clear_cards();
  Q_INVOKABLE void show_wanted();

  Opportunities opportunities_;
  QString wanted_;  // id of the change that is gone to once its card is there

  StepPanel* step_;
  QScrollArea* scroll_;
  StepTimelines* timelines_;
  QVBoxLayout* card_column_;
  QLabel* none_named_ = nullptr;
  QLabel* abstained_title_ = nullptr;
  QLabel* abstained_ = nullptr;
  std::vector<OpportunityCard*> cards_;  // in the order of leading_cards()
  std::vector<std::size_t> indexes_;     // of the cards, in Advice::cards
};

}  // namespace swinscope::gui
