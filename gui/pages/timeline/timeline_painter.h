// What is drawn around and over the engine's image: ruler, lane headers, names, selection, area, arrows.
#pragma once

#include <QPainter>
#include <span>
#include <vector>

#include "analyzer/timeline/timeline.h"
#include "gui/core/palette.h"
#include "gui/widgets/theme.h"

namespace swinscope::gui {

class TimelineView;
struct LaneRow;

// Paints one frame.
class TimelinePainter {
 public:
  explicit TimelinePainter(TimelineView& view);
  void paint();

 private:
  void paint_empty();
  void paint_headings();
  void paint_names();
  void paint_names_of(const Timeline& timeline, std::span<const LaneId> lanes, const QRect& place,
                      const std::vector<Color>& colors);
  void paint_name(const QString& name, const QRectF& box, Color color);
  void paint_layer_edges();
  void paint_hover();
  void paint_counters();
  void paint_counter(const CounterSeries& series, const QRect& place);
  void paint_steps();
  void paint_path();
  void paint_path_of(LaneId lane);
  QRect path_legend(const QRect& ruler) const;
  void paint_path_legend(const QRect& box);
  void paint_area();
  void paint_selection();
  void paint_arrows();
  void paint_arrow(const QPointF& from, const QPointF& to);
  void paint_collective();
  void paint_headers();
  void paint_header(const LaneRow& row);
  void paint_triangle(const QRect& room, bool is_folded, const QColor& ink);
  void paint_pin(const QRect& room, const QColor& ink);
  QColor heading_color(const LaneRow& row) const;
  void paint_ruler();

  TimelineView& view_;
  QPainter painter_;
  Colors colors_;
  QRect lanes_;
};

}  // namespace swinscope::gui
