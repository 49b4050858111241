// The durations of a kernel's calls as a small histogram in which one call is marked.
#pragma once

#include <QWidget>
#include <optional>
#include <vector>

#include "gui/core/calls.h"

namespace swinscope::gui {

class CallHistogram : public QWidget {
  Q_OBJECT

 public:
  explicit CallHistogram(QWidget* parent = nullptr);

  // Hidden with fewer than two calls. `marked_ns`: the duration of the call that is marked.
  void set_calls(const std::vector<Call>& calls, std::int64_t marked_ns);
  // The bin in which the marked call is.
  std::optional<std::size_t> marked_bin() const { return marked_; }

  QSize sizeHint() const override { return {200, 84}; }

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  std::optional<DurationBins> bins_;
  std::optional<std::size_t> marked_;
};

}  // namespace swinscope::gui
