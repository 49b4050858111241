#include "gui/widgets/step_timelines.h"

#include <QPainter>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>

#include "gui/core/time_axis.h"
#include "gui/widgets/step_lanes.h"
#include "gui/widgets/theme.h"

namespace swinscope::gui {
namespace {

constexpr int kRulerHeight = 22;
constexpr int kTickWidth = 110;  // room for the longest label

}  // namespace

StepTimelines::StepTimelines(const QString& above, const QString& below, QWidget* parent)
    : QWidget(parent), above_(new StepLanes(above, this)), below_(new StepLanes(below, this)) {
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, kRulerHeight, 0, 4);
  column->setSpacing(2);
  for (StepLanes* lanes : {above_, below_}) {
    column->addWidget(lanes);
    connect(lanes, &StepLanes::zoom_requested, this, &StepTimelines::zoom_at);
    connect(lanes, &StepLanes::pan_requested, this,
            [this](double pixels) { set_view(panned(view_, std::llround(pixels))); });
    connect(lanes, &StepLanes::fit_requested, this, &StepTimelines::fit_all);
  }
}

void StepTimelines::show_steps(const Shown& above, const Shown& below, const QString& of) {
  const bool saw_all = !has_pictures() || sees_all();  // which may become longer or shorter
  above_picture_ = above.picture;
  below_picture_ = below.picture;
  above_->set_picture(above_picture_.get(), above.heading);
  below_->set_picture(below_picture_.get(), below.heading);
  if (!has_pictures()) return;
  const int header = std::max(above_->wanted_header_width(), below_->wanted_header_width());
  above_->set_header_width(header);
  below_->set_header_width(header);
  if (saw_all || of != of_) {
    fit_all();
  } else {
    set_view(resized(view_, view_pixels()));
  }
  of_ = of;
}

// Both steps, however long.
Interval StepTimelines::span() const {
  if (!has_pictures()) return {0, 1};
  return {0, std::max<std::int64_t>({1, above_picture_->step_ns, below_picture_->step_ns})};
}

int StepTimelines::view_pixels() const {
  return std::max(1, static_cast<int>(std::lround(ruler_rect().width() * devicePixelRatioF())));
}

QRect StepTimelines::ruler_rect() const {
  return {above_->header_width(), 0, width() - above_->header_width(), kRulerHeight};
}

bool StepTimelines::sees_all() const { return view_ == clamped(fit(span(), view_.width), span()); }

void StepTimelines::set_view(const Viewport& view) {
  view_ = clamped(view, span());
  above_->set_view(view_);
  below_->set_view(view_);
  update();
}

void StepTimelines::zoom_at(double factor, double x) {
  if (has_pictures()) set_view(zoomed(view_, factor, x));
}

void StepTimelines::zoom(double factor) { zoom_at(factor, view_.width / 2.0); }

void StepTimelines::pan(double widths) {
  if (has_pictures()) set_view(panned(view_, std::llround(widths * view_.width)));
}

void StepTimelines::fit_all() { set_view(fit(span(), view_pixels())); }

bool StepTimelines::moves(ActionId action) {
  using enum ActionId;
  return action == kZoomIn || action == kZoomOut || action == kPanLeft || action == kPanRight || action == kFit;
}

void StepTimelines::move_by(ActionId action) {
  constexpr double kZoomStep = 1.4;
  constexpr double kPanStep = 0.15;  // of the width
  if (action == ActionId::kFit) return fit_all();
  if (action == ActionId::kPanLeft || action == ActionId::kPanRight)
    return pan(action == ActionId::kPanLeft ? -kPanStep : kPanStep);
  zoom(action == ActionId::kZoomIn ? kZoomStep : 1 / kZoomStep);
}

void StepTimelines::resizeEvent(QResizeEvent*) {
  if (!has_pictures()) return;
  set_view(sees_all() ? fit(span(), view_pixels()) : resized(view_, view_pixels()));
}

void StepTimelines::paintEvent(QPaintEvent*) {
  if (!has_pictures()) return;
  QPainter painter(this);
  const QRect ruler = ruler_rect();
  painter.setClipRect(ruler);
  painter.setPen(palette().color(QPalette::WindowText));
  for (const TimeTick& tick : time_ticks(view_.range(), 0, ruler.width() / kTickWidth)) {
    const double x = ruler.left() + view_.x_of(tick.time_ns) / devicePixelRatioF();
    painter.drawLine(QPointF(x, ruler.bottom() - 5), QPointF(x, ruler.bottom()));
    painter.drawText(QPointF(x + 4, ruler.bottom() - 6), tick.label);
  }
}

}  // namespace swinscope::gui
