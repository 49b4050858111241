// A roofline as places on a log-log plot: FLOP a byte to the right, TFLOP/s upwards, each in whole powers of two around
// what has to be seen.
#pragma once

#include <QPointF>
#include <QRectF>
#include <QString>
#include <cstddef>
#include <optional>
#include <vector>

#include "analyzer/analyses/roofline.h"

namespace swinscope::gui {

struct RooflineDot {
  std::size_t point = 0;  // in Roofline::points
  QPointF place;
  double radius = 0;  // its area is the layer's share of the time of all points
};

struct RoofLine {
  QString label;
  QPointF from;
  QPointF to;
};

class RooflinePlot {
 public:
  RooflinePlot() = default;
  // Points without FLOPs, or without bytes, have no place.
  RooflinePlot(Roofline roofline, const QRectF& area);

  const Roofline& roofline() const { return roofline_; }
  const QRectF& area() const { return area_; }
  const std::vector<RooflineDot>& dots() const { return dots_; }  // the longest first
  const std::vector<RoofLine>& roofs() const { return roofs_; }
  // Powers of two on the axes, and where they are: x of FLOP a byte, y of TFLOP/s.
  std::vector<std::pair<double, double>> x_ticks() const;
  std::vector<std::pair<double, double>> y_ticks() const;
  // The dot under it, or nearest to it within a few pixels.
  std::optional<std::size_t> dot_at(QPointF position) const;
  // Of the time of all points what those without a place take; 0 to 1.
  double share_without_place() const;

 private:
  double x_of(double intensity) const;
  double y_of(double flop_per_ns) const;
  void find_range();
  void place_dots();
  void place_roofs();

  Roofline roofline_;
  QRectF area_;
  double least_x_ = 0;  // log2
  double most_x_ = 1;
  double least_y_ = 0;
  double most_y_ = 1;
  std::vector<RooflineDot> dots_;
  std::vector<RoofLine> roofs_;
};

// "stage2.block1.mlp.fc1 forward: 128.3 us per step, 410 TFLOP/s at 204.4 FLOP a byte, 41.7 % of the memory's roof"
QString text_of(const RooflinePoint& point, const QString& unit);

}  // namespace swinscope::gui
