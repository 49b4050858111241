// What a step costs: one bar, as long as the step, with a part for each thing that the time goes into, and a button for
// each part that says its time and leads to its evidence. The figures are those of the table "bounds".
#pragma once

#include <QWidget>
#include <vector>

#include "analyzer/table/table.h"

class QAbstractButton;
class QLabel;

namespace swinscope::gui {

class StepCost : public QWidget {
  Q_OBJECT

 public:
  explicit StepCost(QWidget* parent = nullptr);

  // Rows of the table "bounds"; those without time are left out. Hidden where there are none.
  void set_parts(const Table& bounds);
  // Largest first: "memory 157.3 ms, 66.7 %".
  const std::vector<QAbstractButton*>& buttons() const { return buttons_; }

 Q_SIGNALS:
  void part_activated(const QString& name);

 protected:
  void changeEvent(QEvent* event) override;

 private:
  class Bar;
  struct Part {
    QString name;
    QString text;
    double share = 0;     // of the whole
    std::size_t row = 0;  // of the table
  };
  void paint_buttons();

  std::vector<Part> parts_;
  QLabel* title_;
  Bar* bar_;
  QWidget* legend_;
  std::vector<QAbstractButton*> buttons_;
};

}  // namespace swinscope::gui
