// The first page: the verdict, the key figures, charts and tables of a run, or the scaling of an experiment or of
// several.
#pragma once

#include <QScrollArea>

#include "gui/core/actions.h"
#include "gui/core/background.h"
#include "gui/core/filter.h"
#include "gui/core/opened.h"

class QGridLayout;
class QLabel;
class QVBoxLayout;

namespace swinscope::gui {

class Card;
class ChartWidget;
class TablePanel;

class OverviewPage : public QScrollArea {
  Q_OBJECT

 public:
  explicit OverviewPage(QWidget* parent = nullptr);

  // What is null is not open.
  void set_run(RunPointer run);
  // What of the run the figures are of.
  void set_filter(const Filter& filter);
  // The analyses of the run will not come.
  void set_unfinished();
  void set_experiment(ExperimentPointer experiment);
  void set_comparison(ComparisonPointer comparison);
  QString verdict() const;
  const std::vector<ChartWidget*>& charts() const { return charts_; }
  const std::vector<Card*>& cards() const { return cards_; }
  const std::vector<TablePanel*>& tables() const { return tables_; }

 Q_SIGNALS:
  // The evidence of a figure is on another page.
  void page_requested(ActionId page);
  // A point of the experiment: index into Experiment::points.
  void point_requested(std::size_t point);
  // A series of the comparison: index into OpenedComparison::paths.
  void experiment_requested(int series);

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  struct Figure {
    QString title;
    QString value;
    QString note;
    ActionId page;
  };
  void clear();
  void clear_widgets();
  void show_headline(const Document& document);
  void add_cards(const std::vector<Figure>& figures);
  void add_charts(const Document& document);
  void add_tables(const Document& document, const std::vector<std::string>& keys);
  void show_run(const AnalyzedRun& analyzed);
  std::vector<Figure> figures_of(const KeyFigures& figures) const;
  std::vector<Figure> figures_of(const OpenedExperiment& experiment) const;
  std::vector<Figure> figures_of(const OpenedComparison& comparison) const;
  void request_series(const QString& name);
  void reflow();

  RunPointer run_;
  Filter filter_;
  ExperimentPointer experiment_;
  ComparisonPointer comparison_;
  QLabel* headline_;
  QLabel* notes_;
  QGridLayout* card_grid_;
  QGridLayout* chart_grid_;
  QVBoxLayout* table_column_;
  std::vector<Card*> cards_;
  std::vector<ChartWidget*> charts_;
  std::vector<TablePanel*> tables_;
  std::vector<QLabel*> table_titles_;
  int card_columns_ = 0;
  int chart_columns_ = 0;
  Background analyzing_;
};

}  // namespace swinscope::gui
