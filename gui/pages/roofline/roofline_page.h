// How near layers come to what their GPU can do at most: the sentence and the table of `swinscope roofline`, and a plot
// of them. A row and its dot are one selection; opening either goes to the layer's longest call in the timeline.
#pragma once

#include <memory>

#include "analyzer/analyses/roofline.h"
#include "analyzer/analyses/run_facts.h"
#include "gui/core/background.h"
#include "gui/pages/page.h"

class QLabel;
class QSplitter;

namespace swinscope::gui {

class RooflineChart;
class TablePanel;
class TableTitle;

class RooflinePage : public Page {
  Q_OBJECT

 public:
  explicit RooflinePage(QWidget* parent = nullptr);

  void set_session(const Session& session) override;
  void set_filter(const Filter& filter) override;
  void set_unfinished() override;
  bool is_settled() const override { return !(is_stale_ && isVisible()) && computing_.is_idle(); }

  RooflineChart& chart() { return *chart_; }
  TablePanel& rows() { return *rows_; }
  QString verdict() const;
  QString note() const;     // below the chart: what the current dot is, and what is not in it
  QString message() const;  // in place of all

 protected:
  void showEvent(QShowEvent* event) override;

 private:
  struct Computed {
    std::shared_ptr<const RunFacts> run;  // null: nothing meets the selection
    Roofline roofline;
    Table rows;
    QString verdict;
    QString unit;
  };
  static Computed compute(const OpenedRun& run, const Filter& filter);

  void build_layout();
  void invalidate();
  void refresh();
  void show_message(const QString& text);
  void show_computed(Computed computed);
  void show_note();
  void follow_dot();
  void follow_row(int row);
  void open_point(std::size_t point);

  RunPointer run_;
  bool is_unfinished_ = false;
  Filter filter_;
  bool is_stale_ = true;  // what is shown is of another run or another part of it
  Computed computed_;
  Background computing_;

  QLabel* verdict_;
  QLabel* message_;
  QSplitter* content_;
  RooflineChart* chart_;
  QLabel* note_;
  TableTitle* title_;
  TablePanel* rows_;
};

}  // namespace swinscope::gui
