// How near layers come to what their GPU can do at most: the sentence and the table of `swinscope roofline`, and a plot
// of them. A row and its dot are one selection; opening either goes to the layer's longest call in the timeline.
#pragma once

#include <memory>

#include "analyzer/analyses/roofline.h"
#include "analyzer/analyses/run_facts.h"
#include "gui/core/background.h"
#include "gui/pages/computed_page.h"

class QLabel;
class QSplitter;

namespace swinscope::gui {

class RooflineChart;
class TablePanel;
class TableTitle;

class RooflinePage : public ComputedPage {
  Q_OBJECT

 public:
  explicit RooflinePage(QWidget* parent = nullptr);

  bool has(ActionId action) const override { return action == ActionId::kExportTable; }
  bool can_perform(ActionId action) const override;
  void perform(ActionId action) override;
  QString command() const override;

  RooflineChart& chart() { return *chart_; }
  TablePanel& rows() { return *rows_; }
  QString verdict() const;
  QString note() const;  // below the chart: what the current dot is, and what is not in it

 protected:
  void compute() override;
  void forget() override { computing_.forget(); }
  bool is_computing() const override { return !computing_.is_idle(); }
  void show_content(bool is_shown) override;

 private:
  struct Computed {
    std::shared_ptr<const RunFacts> run;  // null: nothing meets the selection
    Roofline roofline;
    Table rows;
    QString verdict;
    QString unit;
  };
  static Computed computed(const OpenedRun& run, const Filter& filter);

  void build_layout();
  void show_computed(Computed computed);
  void show_note();
  void follow_dot();
  void follow_row(int row);
  void open_point(std::size_t point);

  Computed computed_;
  Background computing_;

  QLabel* verdict_;
  QSplitter* content_;
  RooflineChart* chart_;
  QLabel* note_;
  TableTitle* title_;
  TablePanel* rows_;
};

}  // namespace swinscope::gui
