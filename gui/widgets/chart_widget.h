// A chart of analyzer/table/chart.h on the screen: the same marks that a report draws as SVG.
#pragma once

#include <QWidget>

#include "analyzer/table/chart.h"

class QPainter;

namespace swinscope::gui {

// Draws the marks of a layout in the palette's colours.
void draw_chart(QPainter& painter, const ChartLayout& layout, const QPalette& palette);

class ChartWidget : public QWidget {
  Q_OBJECT

 public:
  explicit ChartWidget(QWidget* parent = nullptr);

  void set_chart(Chart chart);
  const Chart& chart() const { return chart_; }
  // What is said of the mark at a place; empty where there is none.
  QString text_at(QPointF position) const;

  QSize sizeHint() const override { return {420, 280}; }
  QSize minimumSizeHint() const override { return {300, 220}; }

 Q_SIGNALS:
  // The user chose what stands at this category of the x-axis; `series` is -1 where no series was pointed at.
  void category_activated(int category, int series);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  bool event(QEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void contextMenuEvent(QContextMenuEvent* event) override;

 private:
  void lay_out_again();
  const Mark* mark_at(QPointF position) const;
  int category_at(QPointF position) const;
  void announce();
  void save(const QString& suffix);

  Chart chart_;
  ChartLayout layout_;
  int current_ = -1;  // category that the keyboard is at
};

}  // namespace swinscope::gui
