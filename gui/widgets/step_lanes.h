// One picture of a step: a heading, and a lane for each stream, drawn by the timeline's engine. Which part of the time
// is seen is told from outside, so that two of them show the same. What falls away is hatched instead of filled.
#pragma once

#include <QWidget>
#include <vector>

#include "gui/core/palette.h"
#include "gui/core/step_pictures.h"
#include "gui/core/viewport.h"

namespace swinscope::gui {

class StepLanes : public QWidget {
  Q_OBJECT

 public:
  // `name`: "Measured step", for those who cannot see it.
  explicit StepLanes(const QString& name, QWidget* parent = nullptr);

  // The picture has to stay until the next one; nullptr: there is none. `heading`: "Measured: step 2, 236.0 ms".
  void set_picture(const StepPicture* picture, const QString& heading);
  // In device pixels.
  void set_view(const Viewport& view);
  void set_header_width(int width);
  int header_width() const { return header_width_; }
  // That the names of its lanes need.
  int wanted_header_width() const;

  const StepPicture* picture() const { return picture_; }
  const QString& heading() const { return heading_; }
  // Where the lanes are; and the event drawn at a place, kNoPosition where there is none.
  QRect lanes_rect() const;
  TimelineEventId event_at(QPoint position) const;
  QSize sizeHint() const override;

 Q_SIGNALS:
  void zoom_requested(double factor, double x);  // x: in device pixels from the left of the lanes
  void pan_requested(double pixels);             // device pixels
  void fit_requested();

 protected:
  bool event(QEvent* event) override;
  void paintEvent(QPaintEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;

 private:
  int lane_height() const;
  QRect lane_rect(std::size_t lane) const;
  double x_of(std::int64_t time_ns) const;
  void paint_lanes(QPainter& painter);
  void paint_falling(QPainter& painter, std::size_t lane);
  void paint_end(QPainter& painter);
  void paint_headings(QPainter& painter);

  const StepPicture* picture_ = nullptr;
  QString heading_;
  std::vector<Color> colors_;
  Viewport view_;
  int header_width_ = 0;
  QPoint drag_last_;
};

}  // namespace swinscope::gui
