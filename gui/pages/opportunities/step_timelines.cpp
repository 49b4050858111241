#include "gui/pages/opportunities/step_timelines.h"

#include <QPainter>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>

#include "analyzer/base/text.h"
#include "gui/core/time_axis.h"
#include "gui/pages/opportunities/step_lanes.h"
#include "gui/widgets/theme.h"

namespace swinscope::gui {
namespace {

constexpr int kRulerHeight = 22;
constexpr int kTickWidth = 110;  // room for the longest label

QString text_of(std::int64_t ns) { return QString::fromStdString(format_duration(ns)); }

}  // namespace

StepTimelines::StepTimelines(QWidget* parent)
    : QWidget(parent),
      measured_(new StepLanes(QStringLiteral("Measured step"), this)),
      simulated_(new StepLanes(QStringLiteral("Simulated step"), this)) {
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, kRulerHeight, 0, 4);
  column->setSpacing(2);
  for (StepLanes* lanes : {measured_, simulated_}) {
    column->addWidget(lanes);
    connect(lanes, &StepLanes::zoom_requested, this, &StepTimelines::zoom_at);
    connect(lanes, &StepLanes::pan_requested, this,
            [this](double pixels) { set_view(panned(view_, std::llround(pixels))); });
    connect(lanes, &StepLanes::fit_requested, this, &StepTimelines::fit_all);
  }
}

void StepTimelines::show_step(const Opportunities& opportunities) {
  const bool saw_all = !has_pictures() || sees_all();  // which may become longer or shorter
  pictures_ = opportunities.pictures();
  if (pictures_ == nullptr) {
    measured_->set_picture(nullptr, {});
    simulated_->set_picture(nullptr, {});
    return;
  }
  const auto count = static_cast<std::int64_t>(opportunities.applied_count());
  const QString of = QStringLiteral("step %1 of rank %2").arg(pictures_->step).arg(pictures_->rank);
  measured_->set_picture(&pictures_->measured,
                         QStringLiteral("Measured: %1, %2").arg(of, text_of(pictures_->measured.step_ns)));
  const Advice* advice = opportunities.advice();
  const bool is_unrecorded = advice != nullptr && advice->has_recording_cost();
  const QString what =
      count > 0 ? QStringLiteral("Simulated, %1 applied").arg(QString::fromStdString(format_counted(count, "changes")))
      : is_unrecorded ? QStringLiteral("Without the recorder's cost")
                      : QStringLiteral("Replayed as it is");
  simulated_->set_picture(&pictures_->simulated,
                          QStringLiteral("%1: %2").arg(what, text_of(pictures_->simulated.step_ns)));
  const int header = std::max(measured_->wanted_header_width(), simulated_->wanted_header_width());
  measured_->set_header_width(header);
  simulated_->set_header_width(header);
  if (saw_all || step_ != pictures_->step) {
    fit_all();
  } else {
    set_view(resized(view_, view_pixels()));
  }
  step_ = pictures_->step;
}

// Both steps, however long.
Interval StepTimelines::span() const {
  if (pictures_ == nullptr) return {0, 1};
  return {0, std::max<std::int64_t>({1, pictures_->measured.step_ns, pictures_->simulated.step_ns})};
}

int StepTimelines::view_pixels() const {
  return std::max(1, static_cast<int>(std::lround(ruler_rect().width() * devicePixelRatioF())));
}

QRect StepTimelines::ruler_rect() const {
  return {measured_->header_width(), 0, width() - measured_->header_width(), kRulerHeight};
}

bool StepTimelines::sees_all() const { return view_ == clamped(fit(span(), view_.width), span()); }

void StepTimelines::set_view(const Viewport& view) {
  view_ = clamped(view, span());
  measured_->set_view(view_);
  simulated_->set_view(view_);
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
