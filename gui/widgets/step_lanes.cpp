#include "gui/widgets/step_lanes.h"

#include <QHelpEvent>
#include <QImage>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>
#include <QWheelEvent>
#include <algorithm>
#include <cmath>

#include "analyzer/base/text.h"
#include "analyzer/trace/kernel_names.h"
#include "gui/core/pick.h"
#include "gui/core/raster.h"
#include "gui/core/tool_tip.h"
#include "gui/widgets/theme.h"

namespace swinscope::gui {
namespace {

constexpr int kHeadingHeight = 20;
constexpr int kGap = 2;           // between lanes
constexpr int kLanesHeight = 98;  // of seven lanes with their names
constexpr int kHighestLane = 22;
constexpr int kLowestLane = 6;
constexpr int kNamedLane = 13;  // lower ones have no room for their names
constexpr double kWheelStep = 1.25;
constexpr int kWheelNotch = 120;

}  // namespace

StepLanes::StepLanes(const QString& name, QWidget* parent) : QWidget(parent) {
  setAccessibleName(name);
  setFocusPolicy(Qt::StrongFocus);
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  setCursor(Qt::OpenHandCursor);
}

void StepLanes::set_picture(const StepPicture* picture, const QString& heading) {
  picture_ = picture;
  heading_ = heading;
  colors_ = picture == nullptr ? std::vector<Color>() : name_colors(picture->timeline.names);
  setAccessibleDescription(picture == nullptr ? QString() : picture_text(*picture));
  updateGeometry();
  update();
}

void StepLanes::set_view(const Viewport& view) {
  view_ = view;
  update();
}

void StepLanes::set_header_width(int width) {
  header_width_ = width;
  update();
}

int StepLanes::wanted_header_width() const {
  int width = 0;
  if (picture_ != nullptr)
    for (const TimelineLane& lane : picture_->timeline.lanes)
      width = std::max(width, fontMetrics().horizontalAdvance(QString::fromStdString(lane.label)));
  return width + 16;
}

int StepLanes::lane_height() const {
  const int lanes = picture_ == nullptr ? 1 : std::max(1, static_cast<int>(picture_->timeline.lanes.size()));
  return std::clamp(kLanesHeight / lanes, kLowestLane, kHighestLane);
}

QSize StepLanes::sizeHint() const {
  const int lanes = picture_ == nullptr ? 1 : std::max(1, static_cast<int>(picture_->timeline.lanes.size()));
  return {400, kHeadingHeight + lanes * lane_height() + kGap};
}

QRect StepLanes::lanes_rect() const { return rect().adjusted(header_width_, kHeadingHeight, 0, 0); }

QRect StepLanes::lane_rect(std::size_t lane) const {
  const QRect lanes = lanes_rect();
  return {lanes.left(), lanes.top() + static_cast<int>(lane) * lane_height(), lanes.width(), lane_height() - kGap};
}

double StepLanes::x_of(std::int64_t time_ns) const {
  return lanes_rect().left() + view_.x_of(time_ns) / devicePixelRatioF();
}

TimelineEventId StepLanes::event_at(QPoint position) const {
  if (picture_ == nullptr || !lanes_rect().contains(position)) return {};
  const auto lane = static_cast<std::size_t>((position.y() - lanes_rect().top()) / lane_height());
  if (lane >= picture_->timeline.lanes.size() || picture_->timeline.lanes[lane].empty()) return {};
  const int x = static_cast<int>((position.x() - header_width_) * devicePixelRatioF());
  return hit_test(picture_->timeline, static_cast<LaneId>(lane), view_, x).value_or(TimelineEventId{});
}

void StepLanes::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.fillRect(rect(), palette().base());
  if (picture_ == nullptr) return;
  paint_lanes(painter);
  painter.setClipRect(lanes_rect());
  for (std::size_t lane = 0; lane < picture_->falls_away.size(); ++lane)
    paint_falling(painter, lane);
  paint_end(painter);
  painter.setClipping(false);
  paint_headings(painter);
}

void StepLanes::paint_lanes(QPainter& painter) {
  const double ratio = devicePixelRatioF();
  const QRect place = lanes_rect();
  QImage image(view_.width, std::max(1, static_cast<int>(std::lround(place.height() * ratio))), QImage::Format_RGB32);
  image.setDevicePixelRatio(ratio);
  std::vector<LaneBand> bands;
  for (std::size_t lane = 0; lane < picture_->timeline.lanes.size(); ++lane) {
    if (picture_->timeline.lanes[lane].empty()) continue;
    const QRect at = lane_rect(lane).translated(0, -place.top());
    const int top = static_cast<int>(std::lround(at.top() * ratio));
    bands.push_back({static_cast<LaneId>(lane), top, static_cast<int>(std::lround(at.height() * ratio))});
  }
  rasterise(picture_->timeline, view_, bands, {palette().color(QPalette::Base).rgb(), colors_},
            {reinterpret_cast<Color*>(image.bits()), image.width(), image.height(), image.bytesPerLine() / 4});
  painter.drawImage(QPointF(place.topLeft()), image);
}

// The pixels that show an event which falls away, as the engine chooses it: hollow, and hatched.
void StepLanes::paint_falling(QPainter& painter, std::size_t lane) {
  const TimelineLane& events = picture_->timeline.lanes[lane];
  const std::vector<bool>& falls = picture_->falls_away[lane];
  if (events.empty() || std::ranges::none_of(falls, [](bool one) { return one; })) return;
  const double ratio = devicePixelRatioF();
  const QRect place = lane_rect(lane);
  const Colors colors = colors_of(palette());
  const auto falls_at = [&](int x) {
    const std::int64_t begin_ns = view_.time_at(x);
    const LanePosition at = events.occupancy(begin_ns, std::max(view_.time_at(x + 1), begin_ns + 1)).event;
    return at != kNoPosition && falls[at];
  };
  for (int x = 0; x < view_.width; ++x) {
    if (!falls_at(x)) continue;
    const int first = x;
    while (x + 1 < view_.width && falls_at(x + 1))
      ++x;
    const QRectF part(place.left() + first / ratio, place.top(), (x + 1 - first) / ratio, place.height());
    painter.fillRect(part, palette().base());
    painter.fillRect(part, QBrush(colors.muted, part.width() < 4 ? Qt::Dense5Pattern : Qt::BDiagPattern));
    painter.setPen(colors.muted);
    if (part.width() >= 4) painter.drawRect(part.adjusted(0.5, 0.5, -0.5, -0.5));
  }
}

// Where the step is over.
void StepLanes::paint_end(QPainter& painter) {
  const double x = x_of(picture_->step_ns);
  const QRect lanes = lanes_rect();
  if (x > lanes.right()) return;
  painter.fillRect(
      QRectF(QPointF(std::max<double>(x, lanes.left()), lanes.top()), QPointF(lanes.right() + 1, lanes.bottom())),
      palette().alternateBase());
  painter.setPen(QPen(colors_of(palette()).selection, 2));
  painter.drawLine(QPointF(x, lanes.top()), QPointF(x, lanes.bottom()));
}

void StepLanes::paint_headings(QPainter& painter) {
  const QRect top(8, 0, width() - 16, kHeadingHeight);
  const bool has_hatching = picture_->falling_away() > 0;
  QRect room = top;
  if (has_hatching) {
    const QString legend = QStringLiteral("falls away");
    const int text_width = fontMetrics().horizontalAdvance(legend);
    painter.setPen(colors_of(palette()).muted);
    painter.drawText(top, Qt::AlignRight | Qt::AlignVCenter, legend);
    const QRect sample(top.right() - text_width - 34, 5, 26, kHeadingHeight - 10);
    painter.fillRect(sample, QBrush(colors_of(palette()).muted, Qt::BDiagPattern));
    painter.drawRect(sample);
    room.setRight(sample.left() - 8);
  }
  QFont bold = font();
  bold.setWeight(QFont::DemiBold);
  painter.setFont(bold);
  painter.setPen(palette().color(QPalette::WindowText));
  painter.drawText(room, Qt::AlignLeft | Qt::AlignVCenter,
                   painter.fontMetrics().elidedText(heading_, Qt::ElideRight, room.width()));
  painter.setFont(font());
  for (std::size_t lane = 0; lane_height() >= kNamedLane && lane < picture_->timeline.lanes.size(); ++lane) {
    const QRect at = lane_rect(lane);
    painter.drawText(QRect(8, at.top(), header_width_ - 12, at.height()), Qt::AlignLeft | Qt::AlignVCenter,
                     QString::fromStdString(picture_->timeline.lanes[lane].label));
  }
  if (!hasFocus()) return;
  painter.setPen(QPen(palette().color(QPalette::Highlight), 1));
  painter.drawRect(rect().adjusted(0, 0, -1, -1));
}

bool StepLanes::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip) return QWidget::event(event);
  const auto* help = static_cast<const QHelpEvent*>(event);
  const TimelineEventId id = event_at(help->pos());
  if (id.position == kNoPosition) {
    QToolTip::hideText();
    return true;
  }
  QString text = QStringLiteral("%1, %2").arg(
      QString::fromStdString(readable_kernel_name(std::string(picture_->timeline.name(id)))),
      QString::fromStdString(format_duration(picture_->timeline.event(id).duration_ns)));
  if (!picture_->falls_away.empty() && picture_->falls_away[id.lane][id.position])
    text += QStringLiteral(", falls away");
  QToolTip::showText(help->globalPos(), tooltip_of(text), this);
  return true;
}

void StepLanes::wheelEvent(QWheelEvent* event) {
  const QPoint turned = event->angleDelta();
  const double notches = static_cast<double>(turned.y()) / kWheelNotch;
  if (event->modifiers().testFlag(Qt::ShiftModifier) || turned.y() == 0) {
    const double sideways = static_cast<double>(turned.y() == 0 ? turned.x() : turned.y()) / kWheelNotch;
    Q_EMIT pan_requested(-sideways * view_.width / 10);
  } else {
    Q_EMIT zoom_requested(std::pow(kWheelStep, notches),
                          std::max(0.0, (event->position().x() - header_width_) * devicePixelRatioF()));
  }
  event->accept();
}

void StepLanes::mousePressEvent(QMouseEvent* event) {
  drag_last_ = event->pos();
  setCursor(Qt::ClosedHandCursor);
}

void StepLanes::mouseMoveEvent(QMouseEvent* event) {
  if (!event->buttons().testFlag(Qt::LeftButton)) return;
  Q_EMIT pan_requested((drag_last_.x() - event->pos().x()) * devicePixelRatioF());
  drag_last_ = event->pos();
}

void StepLanes::mouseReleaseEvent(QMouseEvent*) { setCursor(Qt::OpenHandCursor); }

void StepLanes::mouseDoubleClickEvent(QMouseEvent*) { Q_EMIT fit_requested(); }

}  // namespace swinscope::gui
