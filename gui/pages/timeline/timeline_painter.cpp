#include "gui/pages/timeline/timeline_painter.h"

#include <QPainterPath>
#include <QScrollBar>
#include <QVector>
#include <algorithm>
#include <cmath>

#include "analyzer/base/text.h"
#include "analyzer/trace/kernel_names.h"
#include "gui/core/time_axis.h"
#include "gui/pages/timeline/timeline_view.h"

namespace swinscope::gui {
namespace {

constexpr int kNameWidth = 36;       // pixels; narrower events carry no name
constexpr std::size_t kArrows = 40;  // of a graph launch: more would only be a blot

constexpr std::size_t kNamedLanes = 8;  // of a folded row: of more it would be a patchwork
constexpr LanePosition kPieces = 400;   // of a layer lane in sight: more cannot be told apart
constexpr int kIndent = 10;
constexpr int kTriangle = 12;

QString shown_name(const Timeline& timeline, TimelineEventId id) {
  const std::string_view name = timeline.name(id);
  const std::string text =
      is_gpu(timeline.lanes[id.lane].key.kind) ? readable_kernel_name(name) : std::string(name.substr(0, 200));
  return QString::fromStdString(text);
}

}  // namespace

TimelinePainter::TimelinePainter(TimelineView& view)
    : view_(view), painter_(view.viewport()), colors_(colors_of(view.palette())), lanes_(view.lanes_rect()) {}

void TimelinePainter::paint() {
  painter_.fillRect(view_.viewport()->rect(), view_.palette().base());
  if (view_.timeline() == nullptr || view_.timeline()->lanes.empty()) {
    paint_empty();
    return;
  }
  painter_.drawImage(QPointF(lanes_.topLeft()), view_.image_);
  painter_.save();
  painter_.setClipRect(lanes_);
  paint_headings();
  paint_counters();
  paint_steps();
  paint_layer_edges();
  paint_names();
  paint_path();
  paint_area();
  paint_arrows();
  paint_selection();
  paint_hover();
  painter_.restore();
  paint_headers();
  paint_ruler();
}

void TimelinePainter::paint_empty() {
  painter_.setPen(colors_.muted);
  const QString text = view_.timeline() == nullptr
                           ? QStringLiteral("No trace is open.\nOpen one with Ctrl+O, or drop it here.")
                           : QStringLiteral("The trace holds no events that have a duration.");
  painter_.drawText(view_.viewport()->rect(), Qt::AlignCenter, text);
}

// Each as a band through all of its row.
void TimelinePainter::paint_headings() {
  painter_.save();
  painter_.setClipRect(lanes_.adjusted(0, view_.rows().pinned_height, 0, 0));
  for (const LaneRow& row : view_.rows().scrolled) {
    const QRect place = view_.row_rect(row);
    if (row.is_heading()) painter_.fillRect(place, heading_color(row));
    if (row.group && row.level == 0) {
      painter_.setPen(colors_.muted);
      painter_.drawLine(place.topLeft(), place.topRight());
    }
  }
  painter_.restore();
}

QColor TimelinePainter::heading_color(const LaneRow& row) const {
  const QColor window = view_.palette().color(QPalette::Window);
  return row.level == 0 ? QColor::fromRgb(blend(window.rgb(), colors_.muted.rgb(), 40)) : window;
}

void TimelinePainter::paint_counters() {
  painter_.save();
  painter_.setClipRect(lanes_.adjusted(0, view_.rows().pinned_height, 0, 0));
  for (const LaneRow& row : view_.rows().scrolled) {
    const QRect place = view_.row_rect(row);
    if (row.counter && place.bottom() >= lanes_.top() && place.top() <= lanes_.bottom())
      paint_counter(view_.timeline()->counters[*row.counter], place.adjusted(0, 2, 0, -2));
  }
  painter_.restore();
}

// A bar in each pixel, as high as the largest value there; the whole height is the top of the series.
void TimelinePainter::paint_counter(const CounterSeries& series, const QRect& place) {
  QVector<QRectF> bars;
  for (int x = lanes_.left(); x <= lanes_.right(); ++x) {
    const std::int64_t begin_ns = view_.time_at(x);
    const auto value = series.largest_in({begin_ns, std::max(view_.time_at(x + 1), begin_ns + 1)});
    if (!value || series.top <= 0) continue;
    const double height = place.height() * std::clamp(*value / series.top, 0.0, 1.0);
    bars.append(QRectF(x, place.bottom() + 1 - height, 1, height));
  }
  painter_.setPen(Qt::NoPen);
  painter_.setBrush(series_color(2, view_.palette()));
  painter_.drawRects(bars);
  painter_.setPen(colors_.grid);
  painter_.drawLine(lanes_.left(), place.bottom() + 1, lanes_.right(), place.bottom() + 1);
}

void TimelinePainter::paint_steps() {
  painter_.setPen(QPen(colors_.muted, 1, Qt::DotLine));
  for (const TimelineProcess& process : view_.timeline()->processes) {
    if (process.steps.empty()) continue;
    for (const Interval& step : process.steps) {
      const double x = view_.x_of(step.begin_ns);
      if (x >= lanes_.left() && x <= lanes_.right())
        painter_.drawLine(QPointF(x, lanes_.top()), QPointF(x, lanes_.bottom()));
    }
    break;  // those of the first process stand for all, as in the minimap
  }
}

void TimelinePainter::paint_names() {
  QFont font = view_.font();
  font.setPointSizeF(font.pointSizeF() * 0.9);
  painter_.setFont(font);
  for (const auto* part : {&view_.rows().pinned, &view_.rows().scrolled}) {
    for (const LaneRow& row : *part) {
      const QRect place = view_.row_rect(row);
      if (place.bottom() < lanes_.top() || place.top() > lanes_.bottom()) continue;
      if (!row.is_on_top) {
        painter_.setClipRect(lanes_.adjusted(0, view_.rows().pinned_height, 0, 0));
      } else {
        painter_.setClipRect(lanes_);
      }
      if (row.layer) {
        const LaneId lane = static_cast<LaneId>(*row.layer);
        paint_names_of(view_.layers()->timeline, std::span(&lane, 1), place, view_.layer_colors_);
      } else if (row.drawn.size() <= kNamedLanes) {
        paint_names_of(*view_.timeline(), row.drawn, place, view_.colors_);
      }
    }
  }
  painter_.setClipRect(lanes_);
}

// Only an event that covers most of a stretch as wide as the narrowest name can be wide enough for one.
void TimelinePainter::paint_names_of(const Timeline& timeline, std::span<const LaneId> lanes, const QRect& place,
                                     const std::vector<Color>& colors) {
  TimelineEventId last;
  constexpr int kStretch = kNameWidth / 2;
  for (int x = lanes_.left(); x < lanes_.right(); x += kStretch) {
    TimelineEventId at;
    std::int64_t busy_ns = -1;
    for (const LaneId lane : lanes) {
      const Occupancy there = timeline.lanes[lane].occupancy(view_.time_at(x), view_.time_at(x + kStretch));
      if (there.event == kNoPosition || there.busy_ns <= busy_ns) continue;
      at = {lane, there.event};
      busy_ns = there.busy_ns;
    }
    if (at.position == kNoPosition || at == last) continue;
    last = at;
    const LaneEvent event = timeline.event(at);
    const double left = view_.x_of(event.start_ns);
    const QRectF box = QRectF(left, place.top(), view_.x_of(event.end_ns()) - left, place.height());
    paint_name(shown_name(timeline, at), box.intersected(QRectF(lanes_)), colors[event.name]);
  }
}

void TimelinePainter::paint_name(const QString& name, const QRectF& box, Color color) {
  if (box.width() < kNameWidth) return;
  const QRectF room = box.adjusted(4, 0, -4, 0);
  painter_.setPen(text_on(QColor::fromRgb(color)));
  painter_.drawText(room, Qt::AlignLeft | Qt::AlignVCenter,
                    painter_.fontMetrics().elidedText(name, Qt::ElideRight, static_cast<int>(room.width())));
}

// Neighbouring pieces may have one colour.
void TimelinePainter::paint_layer_edges() {
  if (view_.layers() == nullptr) return;
  painter_.save();
  painter_.setClipRect(lanes_.adjusted(0, view_.rows().pinned_height, 0, 0));
  painter_.setPen(view_.palette().color(QPalette::Base));
  for (const LaneRow& row : view_.rows().scrolled) {
    const QRect place = view_.row_rect(row);
    if (!row.layer || place.bottom() < lanes_.top() || place.top() > lanes_.bottom()) continue;
    const TimelineLane& lane = view_.layers()->timeline.lanes[*row.layer];
    const auto [first, last] = lane.events_in(view_.seen().begin_ns, view_.seen().end_ns);
    for (LanePosition i = first; i < last && last - first <= kPieces; ++i) {
      const double x = view_.x_of(lane.start_ns(i));
      painter_.drawLine(QPointF(x, place.top()), QPointF(x, place.bottom()));
    }
  }
  painter_.restore();
}

// Where the mouse is.
void TimelinePainter::paint_hover() {
  if (!view_.hover_x_) return;
  painter_.setPen(QPen(colors_.muted, 1, Qt::DotLine));
  painter_.drawLine(*view_.hover_x_, lanes_.top(), *view_.hover_x_, lanes_.bottom());
}

void TimelinePainter::paint_area() {
  if (!view_.area()) return;
  const Interval window = view_.area()->window;
  const QRectF place(QPointF(view_.x_of(window.begin_ns), lanes_.top()),
                     QPointF(view_.x_of(window.end_ns), lanes_.bottom()));
  std::vector<LaneId> lanes = view_.area()->lanes;
  std::ranges::sort(lanes);
  const auto is_part = [&](LaneId lane) { return std::ranges::binary_search(lanes, lane); };
  for (const auto* part : {&view_.rows().pinned, &view_.rows().scrolled}) {
    for (const LaneRow& row : *part) {
      const QRect there = view_.row_rect(row);
      if (std::ranges::any_of(row.lanes, is_part))
        painter_.fillRect(QRectF(place.left(), there.top(), place.width(), there.height()), colors_.area);
    }
  }
  painter_.setPen(QPen(colors_.selection, 1, Qt::DashLine));
  painter_.drawLine(place.topLeft(), place.bottomLeft());
  painter_.drawLine(place.topRight(), place.bottomRight());
}

void TimelinePainter::paint_selection() {
  if (!view_.selection()) return;
  const QRectF place = view_.event_rect(*view_.selection());
  if (place.isEmpty()) return;
  painter_.setBrush(Qt::NoBrush);
  painter_.setPen(QPen(colors_.selection, 2));
  painter_.drawRect(place.adjusted(-1, 1, 1, -2));
}

// From the begin of the launching call to the begin of the work.
void TimelinePainter::paint_arrows() {
  for (std::size_t i = 0; i < std::min(view_.links().size(), kArrows); ++i) {
    const QRectF call = view_.event_rect(view_.links()[i].call);
    const QRectF work = view_.event_rect(view_.links()[i].work);
    if (!call.isEmpty() && !work.isEmpty())
      paint_arrow({call.left(), call.center().y()}, {work.left(), work.center().y()});
  }
  paint_collective();
}

void TimelinePainter::paint_arrow(const QPointF& from, const QPointF& to) {
  painter_.setRenderHint(QPainter::Antialiasing);
  painter_.setPen(QPen(colors_.selection, 1.5));
  const double bend = std::max(20.0, std::abs(to.x() - from.x()) / 3);
  QPainterPath path(from);
  path.cubicTo(from + QPointF(bend, 0), to - QPointF(bend, 0), to);
  painter_.setBrush(Qt::NoBrush);
  painter_.drawPath(path);
  painter_.setBrush(colors_.selection);
  painter_.drawPolygon(QPolygonF({to, to + QPointF(-7, -4), to + QPointF(-7, 4)}));
  painter_.setRenderHint(QPainter::Antialiasing, false);
}

void TimelinePainter::paint_headers() {
  const QRect all(0, lanes_.top(), view_.header_width(), lanes_.height());
  painter_.fillRect(all, view_.palette().window());
  const int split = lanes_.top() + view_.rows().pinned_height;
  painter_.setClipRect(all.adjusted(0, view_.rows().pinned_height, 0, 0));
  for (const LaneRow& row : view_.rows().scrolled)
    paint_header(row);
  painter_.setClipping(false);
  for (const LaneRow& row : view_.rows().pinned)
    paint_header(row);
  painter_.setPen(view_.palette().color(QPalette::Mid));
  painter_.drawLine(all.topRight(), all.bottomRight());
  if (view_.rows().pinned_height > 0) painter_.drawLine(0, split, view_.viewport()->width(), split);
}

void TimelinePainter::paint_header(const LaneRow& row) {
  const QRect place(0, view_.row_rect(row).top(), view_.header_width() - 2, row.height);
  if (place.bottom() < lanes_.top() || place.top() > lanes_.bottom()) return;
  const bool is_selected =
      view_.selection() && std::ranges::find(row.lanes, view_.selection()->lane) != row.lanes.end();
  if (is_selected) {
    painter_.fillRect(place, view_.palette().highlight());
  } else if (row.group) {
    painter_.fillRect(place, heading_color(row));
  }
  const QColor ink = view_.palette().color(is_selected ? QPalette::HighlightedText : QPalette::WindowText);
  QFont font = view_.font();
  font.setBold(row.group && row.level == 0);
  painter_.setFont(font);
  QRect room = place.adjusted(4 + kIndent * row.level, 0, -4, 0);
  if (row.group) paint_triangle(room, row.is_folded, ink);
  if (row.is_on_top) paint_pin(room, ink);
  if (row.group || row.is_on_top) room.setLeft(room.left() + kTriangle);
  if (row.counter) {
    const CounterSeries& series = view_.timeline()->counters[*row.counter];
    const QString largest = counter_text(series, series.top);
    painter_.setPen(colors_.muted);
    painter_.drawText(room, Qt::AlignVCenter | Qt::AlignRight, largest);
    room.setRight(room.right() - painter_.fontMetrics().horizontalAdvance(largest) - 6);
  }
  painter_.setPen(ink);
  painter_.drawText(room, Qt::AlignVCenter | Qt::AlignLeft,
                    painter_.fontMetrics().elidedText(row.label, Qt::ElideMiddle, room.width()));
}

// Points right where the group is folded, else down.
void TimelinePainter::paint_triangle(const QRect& room, bool is_folded, const QColor& ink) {
  const QPointF middle(room.left() + 4, room.center().y() + 0.5);
  painter_.setRenderHint(QPainter::Antialiasing);
  painter_.setPen(Qt::NoPen);
  painter_.setBrush(ink);
  painter_.drawPolygon(is_folded
                           ? QPolygonF({middle + QPointF(-2, -4), middle + QPointF(-2, 4), middle + QPointF(3, 0)})
                           : QPolygonF({middle + QPointF(-4, -2), middle + QPointF(4, -2), middle + QPointF(0, 3)}));
  painter_.setRenderHint(QPainter::Antialiasing, false);
}

// A needle with a head: the lane is pinned.
void TimelinePainter::paint_pin(const QRect& room, const QColor& ink) {
  const QPointF middle(room.left() + 4, room.center().y());
  painter_.setRenderHint(QPainter::Antialiasing);
  painter_.setPen(QPen(ink, 1.2));
  painter_.setBrush(ink);
  painter_.drawEllipse(middle + QPointF(0, -3), 2.5, 2.5);
  painter_.drawLine(middle, middle + QPointF(0, 5));
  painter_.setRenderHint(QPainter::Antialiasing, false);
}

void TimelinePainter::paint_ruler() {
  const QRect ruler(0, 0, view_.viewport()->width(), view_.ruler_height());
  painter_.fillRect(ruler, view_.palette().window());
  painter_.setFont(view_.font());
  painter_.setPen(view_.palette().color(QPalette::WindowText));
  const Interval window = view_.seen();
  painter_.drawText(QRect(8, 0, view_.header_width() - 14, ruler.height()), Qt::AlignVCenter | Qt::AlignLeft,
                    QString::fromStdString(format_duration(window.length())) + QStringLiteral(" in view"));
  painter_.setClipRect(ruler.adjusted(view_.header_width(), 0, 0, 0));
  const QRect legend = path_legend(ruler);
  constexpr int kTickWidth = 110;  // room for the longest label
  for (const TimeTick& tick : time_ticks(window, view_.timeline()->span().begin_ns, lanes_.width() / kTickWidth)) {
    const double x = view_.x_of(tick.time_ns);
    painter_.drawLine(QPointF(x, ruler.bottom() - 5), QPointF(x, ruler.bottom()));
    if (legend.isEmpty() || x + 4 + painter_.fontMetrics().horizontalAdvance(tick.label) < legend.left())
      painter_.drawText(QPointF(x + 4, ruler.bottom() - 8), tick.label);
  }
  painter_.setPen(Qt::NoPen);
  painter_.setBrush(colors_.hit);
  for (const std::int64_t bookmark : view_.bookmarks_) {
    const double x = view_.x_of(bookmark);
    painter_.drawPolygon(QPolygonF({QPointF(x - 5, 0), QPointF(x + 5, 0), QPointF(x, 8)}));
  }
  if (view_.area()) {
    const double x1 = view_.x_of(view_.area()->window.begin_ns);
    const QString text =
        QStringLiteral("Δt %1").arg(QString::fromStdString(format_duration(view_.area()->window.length())));
    const QRectF box(x1, 2, painter_.fontMetrics().horizontalAdvance(text) + 12, ruler.height() - 6);
    painter_.fillRect(box, view_.palette().highlight());
    painter_.setPen(view_.palette().color(QPalette::HighlightedText));
    painter_.drawText(box, Qt::AlignCenter, text);
  }
  paint_path_legend(legend);
  painter_.setClipping(false);
  painter_.setPen(view_.palette().color(QPalette::Mid));
  painter_.drawLine(ruler.bottomLeft(), ruler.bottomRight());
}

}  // namespace swinscope::gui
