// GPU time by kernel, what one kernel's durations look like, and its calls one after the other.
#pragma once

#include "gui/core/background.h"
#include "gui/pages/page.h"

class QLabel;

namespace swinscope::gui {

class CallsPanel;
class TablePanel;

class KernelsPage : public Page {
  Q_OBJECT

 public:
  explicit KernelsPage(QWidget* parent = nullptr);

  void set_session(const Session& session) override;
  void set_filter(const Filter& filter) override;
  bool has(ActionId action) const override;
  bool can_perform(ActionId action) const override;
  void perform(ActionId action) override;
  bool is_settled() const override { return counting_.is_idle() && collecting_.is_idle(); }

  TablePanel& table() { return *table_; }
  CallsPanel& calls() { return *calls_; }

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
