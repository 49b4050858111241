// The global filter above every page: run, rank, scope, steps, stream, name.
#pragma once

#include <QWidget>

#include "gui/core/filter.h"
#include "gui/core/opened.h"

class QComboBox;
class QLineEdit;
class QSpinBox;
class QTimer;

namespace swinscope::gui {

class FilterBar : public QWidget {
  Q_OBJECT

 public:
  FilterBar(FilterModel& model, QWidget* parent);

  void set_runs(const QStringList& titles, int current);
  // Offers its ranks, steps and streams. What was chosen stays as far as the run has it, and comes back with one that
  // does.
  void set_run(const OpenedRun* run);
  // Whether the page that is shown is filtered; the filter cannot be changed on others.
  void set_in_use(bool in_use);
  // As if it were typed.
  void set_name(const QString& name);
  // As if it were chosen; all where the run does not have it.
  void set_rank(std::int32_t rank);
  void focus_name();
  void clear();

 Q_SIGNALS:
  void run_chosen(int index);

 private:
  void build_layout();
  void apply();
  QWidget* labelled(const QString& label, QWidget* field);

  void choose(const Filter& filter);
  Filter read() const;

  FilterModel& model_;
  Filter wanted_;  // by the user, whatever the present run has of it
  QComboBox* run_;
  QComboBox* rank_;
  QComboBox* scope_;
  QSpinBox* first_step_;
  QSpinBox* last_step_;
  QComboBox* stream_;
  QLineEdit* name_;
  QTimer* typing_;  // so that not every letter starts the analyses again
};

}  // namespace swinscope::gui
