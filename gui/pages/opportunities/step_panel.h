// Above the opportunities: the step as it was measured and as it is simulated with what is applied, as two bars, how
// far the replay can be trusted, and the buttons that apply all or none.
#pragma once

#include <QWidget>

class QGridLayout;
class QLabel;
class QPushButton;

namespace swinscope::gui {

class IntervalBar;
class Opportunities;

class StepPanel : public QWidget {
  Q_OBJECT

 public:
  explicit StepPanel(QWidget* parent = nullptr);

  // What its advice and what is applied are now.
  void show_step(const Opportunities& opportunities);

  // "236.0 ms" and "173.0 ms, 172.1 to 176.4 ms; 26.7 % less"
  QString measured() const;
  QString simulated() const;
  QString replay_error() const;
  QPushButton& apply_all() { return *all_; }
  QPushButton& apply_none() { return *none_; }

 private:
  QLabel* add_row(QGridLayout& grid, int row, QLabel& name, IntervalBar& bar);

  QLabel* measured_name_;
  IntervalBar* measured_bar_;
  QLabel* measured_;
  QLabel* simulated_name_;
  IntervalBar* simulated_bar_;
  QLabel* simulated_;
  QLabel* error_;
  QPushButton* all_;
  QPushButton* none_;
};

}  // namespace swinscope::gui
