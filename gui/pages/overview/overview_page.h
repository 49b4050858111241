// The first page: the verdict, the key figures, charts and tables of a run, or the scaling of an experiment or of
// several.
#pragma once

#include "gui/core/background.h"
#include "gui/pages/page.h"

class QGridLayout;
class QLabel;
class QScrollArea;
class QVBoxLayout;

namespace swinscope::gui {

class Card;
class ChartWidget;
class TablePanel;
class TableTitle;

class OverviewPage : public Page {
  Q_OBJECT

 public:
  explicit OverviewPage(QWidget* parent = nullptr);

  void set_session(const Session& session) override;
  void set_filter(const Filter& filter) override;
  void set_unfinished() override;
  bool is_settled() const override { return analyzing_.is_idle(); }
  QString verdict() const;
  const std::vector<ChartWidget*>& charts() const { return charts_; }
  const std::vector<Card*>& cards() const { return cards_; }
  const std::vector<TablePanel*>& tables() const { return tables_; }
  const std::vector<TableTitle*>& table_titles() const { return table_titles_; }  // in the order of the tables

 protected:
  // Of the scroll area's viewport: when its width changes, other columns fit.
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  struct Figure {
    QString title;
    QString value;
    QString note;
    const char* page;  // where its evidence is
  };
  void build_layout();
  void clear();
  void clear_widgets();
  void show_headline(const Document& document);
  void add_cards(const std::vector<Figure>& figures);
  void add_charts(const Document& document);
  void add_tables(const Document& document, const std::vector<std::string>& keys);
  void show_run();
  void show_analyzed(const AnalyzedRun& analyzed);
  void show_experiment();
  void show_comparison();
  // The run of a point of the experiment: index into Experiment::points.
  void open_point(std::size_t point);
  std::vector<Figure> figures_of(const KeyFigures& figures) const;
  std::vector<Figure> figures_of(const OpenedExperiment& experiment) const;
  std::vector<Figure> figures_of(const OpenedComparison& comparison) const;
  void open_series(const QString& name);
  void reflow();

  Filter filter_;
  // One of them is what is shown, or none.
  RunPointer run_;
  ExperimentPointer experiment_;
  ComparisonPointer comparison_;

  QScrollArea* scroll_;
  QWidget* content_;
  QLabel* headline_;
  QLabel* notes_;
  QGridLayout* card_grid_;
  QGridLayout* chart_grid_;
  QVBoxLayout* table_column_;
  std::vector<Card*> cards_;
  std::vector<ChartWidget*> charts_;
  std::vector<TablePanel*> tables_;
  std::vector<TableTitle*> table_titles_;
  int card_columns_ = 0;
  int chart_columns_ = 0;
  Background analyzing_;
};

}  // namespace swinscope::gui
