// A time as a bar up to its likely value, with the interval that it lies in: a line between two ends. Bars below each
// other share a scale, so that their lengths compare.
#pragma once

#include <QWidget>

namespace swinscope::gui {

class IntervalBar : public QWidget {
  Q_OBJECT

 public:
  // `series`: of its colour (theme.h).
  explicit IntervalBar(int series, QWidget* parent = nullptr);

  // Where the bar begins (0, or less where there is less) and what its whole width is.
  void set_scale(double begin, double end);
  // Without an interval where both ends are the value. `text` says the same: a tooltip, and for screen readers its
  // name.
  void set_interval(double low, double likely, double high, const QString& text);

  QSize sizeHint() const override;
  QSize minimumSizeHint() const override { return sizeHint(); }

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  double x_of(double value) const;

  int series_;
  double begin_ = 0;
  double end_ = 1;
  double low_ = 0;
  double likely_ = 0;
  double high_ = 0;
};

}  // namespace swinscope::gui
