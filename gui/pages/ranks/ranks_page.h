// Who waits for whom, and why: the sentence of `swinscope ranks`, a heat map of ranks and steps, the late ranks with
// the causes of their delay, and the collectives at which they were waited for.
#pragma once

#include <memory>

#include "analyzer/analyses/run_facts.h"
#include "gui/core/background.h"
#include "gui/core/rank_grid.h"
#include "gui/pages/computed_page.h"

class QComboBox;
class QLabel;
class QSplitter;

namespace swinscope::gui {

class RankHeatMap;
class TablePanel;
class TableTitle;

class RanksPage : public ComputedPage {
  Q_OBJECT

 public:
  explicit RanksPage(QWidget* parent = nullptr);

  bool has(ActionId action) const override { return action == ActionId::kExportTable; }
  bool can_perform(ActionId action) const override;
  // Of the collectives where they have the focus, else of the late ranks.
  void perform(ActionId action) override;
  QString command() const override;

  RankHeatMap& map() { return *map_; }
  TablePanel& late_ranks() { return *late_; }
  TablePanel& collectives() { return *collectives_; }
  QComboBox& shown_value() { return *value_; }
  QString verdict() const;
  // What the current cell of the map says.
  QString cell_text() const;

 protected:
  void compute() override;
  void forget() override { comparing_.forget(); }
  bool is_computing() const override { return !comparing_.is_idle(); }
  void show_content(bool is_shown) override;

 private:
  struct Compared {
    std::shared_ptr<const RunFacts> run;  // null: nothing meets the selection
    RankGrid grid;
    Table late;
    Table collectives;
    QString verdict;
  };
  static Compared compare(const OpenedRun& run, const Filter& filter);

  void build_layout();
  QWidget* titled(TableTitle& title, TablePanel& rows);
  void show_compared(Compared compared);
  void open_step(std::size_t row, std::size_t step);
  void open_worst_step_of(int late_row);

  Compared compared_;
  Background comparing_;

  QLabel* verdict_;
  QWidget* content_;
  QComboBox* value_;
  QLabel* cell_;
  RankHeatMap* map_;
  QSplitter* tables_;
  TableTitle* late_title_;
  TablePanel* late_;
  TableTitle* collectives_title_;
  TablePanel* collectives_;
};

}  // namespace swinscope::gui
