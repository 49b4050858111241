// Ranks below each other, their steps from left to right, coloured by how long the others wait for a rank or how much
// longer its step takes. Arrows move from cell to cell, Home and End to the ends of a rank, Enter opens the cell. Where
// several steps share a pixel it shows the largest of them. What a cell says is text, too: below the map, as a tooltip,
// to screen readers and, where there is room, in the cell.
#pragma once

#include <QWidget>

#include "gui/core/rank_grid.h"

namespace swinscope::gui {

class RankHeatMap : public QWidget {
  Q_OBJECT

 public:
  explicit RankHeatMap(QWidget* parent = nullptr);

  // The current cell is the worst one.
  void set_grid(RankGrid grid);
  void set_value(GridValue value);
  GridValue value() const { return value_; }
  const RankGrid& grid() const { return grid_; }

  std::size_t current_row() const { return row_; }
  void set_current(std::size_t row, std::size_t step);
  // What the current cell says; empty where there is no cell.
  QString current_text() const;
  QRect cell_rect(std::size_t row, std::size_t step) const;

  QSize sizeHint() const override;
  QSize minimumSizeHint() const override { return sizeHint(); }

 Q_SIGNALS:
  void current_changed();
  void activated(std::size_t row, std::size_t step);

 protected:
  bool event(QEvent* event) override;
  void paintEvent(QPaintEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;

 private:
  bool has_cells() const { return !grid_.rows.empty() && grid_.steps > 0; }
  int row_height() const;
  QRect cells_rect() const;
  std::optional<std::pair<std::size_t, std::size_t>> cell_at(QPoint position) const;
  QColor color_of(std::int64_t value) const;
  void paint_row(QPainter& painter, std::size_t row);
  void paint_cell(QPainter& painter, const QRect& cell, std::int64_t value);
  void paint_labels(QPainter& painter);
  void paint_legend(QPainter& painter);
  void describe();

  RankGrid grid_;
  GridValue value_ = GridValue::kDelay;
  std::int64_t largest_ = 0;
  int label_width_ = 0;
  std::size_t row_ = 0;
  std::size_t step_ = 0;
};

}  // namespace swinscope::gui
