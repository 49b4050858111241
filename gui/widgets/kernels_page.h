// GPU time by kernel, what one kernel's durations look like, and its calls one after the other.
#pragma once

#include <QWidget>

#include "gui/core/actions.h"
#include "gui/core/background.h"
#include "gui/core/filter.h"
#include "gui/core/kernel_events.h"
#include "gui/core/opened.h"

class QLabel;
class QPlainTextEdit;

namespace swinscope::gui {

class ChartWidget;
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
  ChartWidget& histogram() { return *histogram_; }
  const std::vector<KernelCall>& calls() const { return calls_; }
  QString summary() const;
  bool is_busy() const { return !counting_.is_idle() || !collecting_.is_idle(); }

 Q_SIGNALS:
  void call_requested(std::uint32_t process, EventIndex event);
  void actions_changed();

 private:
  void build_layout();
  void count();
  void show_kernel(int row);
  void show_calls();
  void step(bool forward);

  RunPointer run_;
  Filter filter_;
  std::vector<KernelCall> calls_;  // of the selected kernel
  int current_call_ = -1;
  QString selected_name_;  // full; kept when the filter changes

  TablePanel* table_;
  ChartWidget* histogram_;
  QPlainTextEdit* summary_;
  QLabel* message_;  // in place of a table without rows
  Background counting_;
  Background collecting_;
};

}  // namespace swinscope::gui
