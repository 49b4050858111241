// Two to six runs beside each other: how they are configured differently, why the steps of one take longer than those
// of the base, kernel by kernel or layer by layer, and a step of both on one axis of time. The figures are those of
// `swinscope compare`. What is open is the base until another one is chosen; the others are read when the page is
// shown.
#pragma once

#include "analyzer/table/table.h"
#include "gui/core/compared_runs.h"
#include "gui/pages/page.h"

class QComboBox;
class QLabel;
class QPushButton;
class QScrollArea;

namespace swinscope::gui {

class Banner;
class ChartWidget;
class RunStrip;
class StepTimelines;
class TablePanel;
class TableTitle;

class ComparePage : public Page {
  Q_OBJECT

 public:
  explicit ComparePage(QWidget* parent = nullptr);

  void set_session(const Session& session) override;
  void set_filter(const Filter& filter) override;
  void set_unfinished() override;
  void compare_runs(const QStringList& paths) override;
  bool has(ActionId action) const override;
  bool can_perform(ActionId action) const override;
  void perform(ActionId action) override;
  QString command() const override;
  bool is_settled() const override { return !(is_stale_ && isVisible()) && runs_.is_idle(); }

  // As “Compare with…” does.
  void compare_with(const QStringList& paths);

  ComparedRuns& runs() { return runs_; }
  RunStrip& strip() { return *strip_; }
  ChartWidget& waterfall() { return *waterfall_; }
  TablePanel& table() { return *table_; }
  StepTimelines& timelines() { return *timelines_; }
  Banner& differences() { return *differences_; }
  QComboBox& against() { return *against_; }
  QComboBox& rows() { return *rows_; }
  QComboBox& normalization() { return *normalization_; }
  QPushButton& cancel_button() { return *cancel_; }
  QString why() const;
  // Why some normalizations are not offered.
  QString not_known() const;
  // In place of a comparison.
  QString message() const;

 protected:
  void showEvent(QShowEvent* event) override;

 private:
  void build_controls();
  void build_layout();
  void connect_parts();
  void choose_files();
  void refresh();
  void show_all();
  void show_message(const QString& text);
  void fill_choices();
  void show_differences();
  void show_against();
  void show_rows();
  void show_steps();
  QString name_against() const;
  // Where the evidence of a bar, and of a row of the table, is.
  void open_bar(int bar);
  void open_row(int row);
  void open(Evidence evidence, bool is_of_base);

  RunPointer open_;
  bool is_unfinished_ = false;
  bool is_stale_ = false;  // runs are to be read
  Filter filter_;
  ComparedRuns runs_;
  Table shown_rows_;  // of the table, without those of other runs

  QPushButton* add_;
  QComboBox* against_;
  QComboBox* rows_;
  QComboBox* normalization_;
  QPushButton* cancel_;
  RunStrip* strip_;
  QLabel* not_known_;
  QLabel* message_;
  QScrollArea* scroll_;
  Banner* differences_;
  QLabel* why_;
  ChartWidget* waterfall_;
  QLabel* waterfall_note_;
  TableTitle* title_;
  TablePanel* table_;
  StepTimelines* timelines_;
};

}  // namespace swinscope::gui
