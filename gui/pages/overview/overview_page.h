// The first page, to decide from: the verdict, what a step costs, what would save most of it, what was run and how far
// its figures can be believed; or the scaling of an experiment or of several.
#pragma once

#include "analyzer/report/report.h"
#include "gui/core/background.h"
#include "gui/pages/page.h"

class QGridLayout;
class QLabel;
class QPushButton;
class QScrollArea;
class QVBoxLayout;

namespace swinscope::gui {

class AdviceCards;
class Card;
class ChartWidget;
class FactList;
class StartPanel;
class StepCost;
class TablePanel;
class TableStack;
class TableTitle;
struct Figure;

class OverviewPage : public Page {
  Q_OBJECT

 public:
  explicit OverviewPage(QWidget* parent = nullptr);

  void set_session(const Session& session) override;
  void set_filter(const Filter& filter) override;
  void set_unfinished() override;
  bool is_settled() const override;
  // A table of the page, by its key.
  void present(const Evidence& evidence) override;
  QString command() const override;
  QString verdict() const;
  QPushButton& evidence() { return *evidence_; }
  // Why the steps of an experiment's largest point take longer; empty where that is not known.
  QString why() const;
  const std::vector<ChartWidget*>& charts() const { return charts_; }
  const std::vector<Card*>& cards() const { return cards_; }
  const std::vector<TablePanel*>& tables() const;
  const std::vector<TableTitle*>& table_titles() const;  // in the order of the tables
  StepCost& step_cost() { return *step_cost_; }
  AdviceCards& advice() { return *advice_; }
  FactList& what_was_run() { return *what_; }
  StartPanel& start() { return *start_; }
  FactList& data_quality() { return *quality_; }

 protected:
  void showEvent(QShowEvent* event) override;
  // Of the scroll area's viewport: when its width changes, other columns fit.
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void build_layout();
  void clear();
  void clear_widgets();
  void show_headline(const Document& document);
  void add_cards(const std::vector<Figure>& figures);
  void add_facts(const WhatWasRun& what, const std::vector<QualityFact>& quality);
  void add_charts(const Document& document);
  void add_chart(const ReportChart& chart);
  ChartWidget* add_waterfall(ReportChart chart, const Table* parts, QVBoxLayout& column);
  void add_tables(const Document& document, const std::vector<std::string>& keys);
  void activate_cell(const Table& table, std::size_t row, const std::string& column);
  void show_run();
  void show_analyzed(const AnalyzedRun& analyzed);
  void show_experiment();
  void show_comparison();
  // The run of a point of the experiment: index into OpenedExperiment::points.
  void open_point(std::size_t point);
  // Where the evidence of a row of the tables "scaling_loss", "scaling_kernels" and "pop" is.
  void open_evidence(const Table& table, std::size_t row);
  void open_series(const QString& name);
  // What the verdict is from.
  void open_verdict();
  void reflow();

  Filter filter_;
  // One of them is what is shown, or none.
  RunPointer run_;
  ExperimentPointer experiment_;
  ComparisonPointer comparison_;

  QScrollArea* scroll_;
  QWidget* content_;
  QLabel* headline_;
  StartPanel* start_;  // while nothing is open
  QLabel* why_;
  QPushButton* evidence_;
  QLabel* notes_;
  QGridLayout* card_grid_;
  StepCost* step_cost_;
  AdviceCards* advice_;
  QVBoxLayout* first_waterfall_;  // that of the point which the headline is of
  QGridLayout* chart_grid_;
  QLabel* chart_note_;  // what all charts above it have in common
  QVBoxLayout* waterfall_column_;
  FactList* what_;
  FactList* quality_;
  TableStack* tables_;
  std::vector<Card*> cards_;
  std::vector<ChartWidget*> charts_;
  std::vector<QLabel*> chart_notes_;
  int card_columns_ = 0;
  int chart_columns_ = 0;
  Background analyzing_;
};

}  // namespace swinscope::gui
