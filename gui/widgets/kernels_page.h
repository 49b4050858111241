// GPU time by kernel, what one kernel's durations look like, and its calls one after the other.
#pragma once

#include <QWidget>

#include "gui/core/actions.h"
#include "gui/core/background.h"
#include "gui/core/calls.h"
#include "gui/core/filter.h"
#include "gui/core/opened.h"

class QLabel;

namespace swinscope::gui {

class CallsPanel;
class TablePanel;

class KernelsPage : public QWidget {
  Q_OBJECT

 public:
  explicit KernelsPage(QWidget* parent = nullptr);

  void set_run(RunPointer run);
  void set_filter(const Filter& filter);
  bool perform(ActionId action);
  bool can_perform(ActionId action) const;

  TablePanel& table() { return *table_; }
  CallsPanel& calls() { return *calls_; }
  bool is_busy() const { return !counting_.is_idle() || !collecting_.is_idle(); }

 Q_SIGNALS:
  void call_requested(const swinscope::gui::Call& call);
  void actions_changed();

 private:
  void build_layout();
  void count();
  void show_kernel(int row);

  RunPointer run_;
  Filter filter_;
  QString selected_name_;  // full; kept when the filter changes

  TablePanel* table_;
  CallsPanel* calls_;  // of the selected kernel
  QLabel* message_;    // in place of a table without rows
  Background counting_;
  Background collecting_;
};

}  // namespace swinscope::gui
