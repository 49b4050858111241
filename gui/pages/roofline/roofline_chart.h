// Layers as dots under the roofs of their GPU: the area of a dot is its share of the time, a hollow one is estimated,
// one above its roof is crossed. Left and Right move from dot to dot, the longest first, Enter opens the current one.
// What a dot says is text, too: below the chart, as a tooltip and to screen readers.
#pragma once

#include <QWidget>

#include "gui/core/roofline_plot.h"

namespace swinscope::gui {

class RooflineChart : public QWidget {
  Q_OBJECT

 public:
  explicit RooflineChart(QWidget* parent = nullptr);

  // `unit`: what times are per.
  void set_roofline(Roofline roofline, const QString& unit);
  const RooflinePlot& plot() const { return plot_; }
  // In Roofline::points; nothing where no dot is current.
  std::optional<std::size_t> current_point() const;
  void set_current_point(std::size_t point);
  QString current_text() const;

  QSize sizeHint() const override { return {480, 300}; }
  QSize minimumSizeHint() const override { return {320, 200}; }

 Q_SIGNALS:
  void current_changed();
  void activated(std::size_t point);

 protected:
  bool event(QEvent* event) override;
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;

 private:
  void lay_out(Roofline roofline);
  void set_current(std::size_t dot);
  void describe();
  void paint_axes(QPainter& painter) const;
  void paint_roofs(QPainter& painter) const;
  void paint_dot(QPainter& painter, const RooflineDot& dot) const;

  RooflinePlot plot_;
  QString unit_;
  std::size_t current_ = 0;  // of the plot's dots
};

}  // namespace swinscope::gui
