// The calls of what is selected in a table or tree: how long they take, on each rank, and one after the other.
#pragma once

#include <QString>
#include <QWidget>
#include <optional>
#include <vector>

#include "gui/core/calls.h"

class QPlainTextEdit;

namespace swinscope::gui {

class ChartWidget;

class CallsPanel : public QWidget {
  Q_OBJECT

 public:
  // `accessible_name` is that of the text beside the charts.
  explicit CallsPanel(const QString& accessible_name, QWidget* parent = nullptr);

  // By rank, then start. The ranks get boxes where there are several.
  void set_calls(const QString& name, std::vector<Call> calls, const Trace& trace);
  // There is nothing to show, and why.
  void clear(const QString& message);
  // To the call behind or before the one that was last asked for.
  void step(bool forward);
  // To the longest call; when it was the last one asked for so, to the next shorter one.
  void step_by_length();
  // To the next call whose duration is in that bin of the histogram.
  void step_in_bin(int bin);

  const std::vector<Call>& calls() const { return calls_; }
  ChartWidget& histogram() { return *histogram_; }
  ChartWidget& boxes() { return *boxes_; }
  QString summary() const;

 Q_SIGNALS:
  void call_requested(const swinscope::gui::Call& call);
  void changed();

 private:
  void summarize();
  void go_to(std::size_t call);

  QString name_;
  std::vector<Call> calls_;
  int current_ = -1;
  std::vector<std::size_t> by_length_;      // calls, the longest first; made when asked for
  std::optional<std::size_t> length_rank_;  // in by_length_: the one that was gone to by its length
  ChartWidget* histogram_;
  ChartWidget* boxes_;
  QPlainTextEdit* summary_;
};

}  // namespace swinscope::gui
