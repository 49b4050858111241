#include "gui/widgets/interval_bar.h"

#include <QPainter>
#include <algorithm>

#include "gui/core/tool_tip.h"
#include "gui/widgets/theme.h"

namespace swinscope::gui {
namespace {

constexpr int kWidth = 120;
constexpr int kHeight = 18;
constexpr double kMargin = 4;  // at the right, for what stands at the end
constexpr double kBar = 5;     // half the height of the bar,
constexpr double kEnd = 5;     // of the interval's ends
constexpr double kLikely = 4;  // and of the mark at the likely value

}  // namespace

IntervalBar::IntervalBar(int series, QWidget* parent) : QWidget(parent), series_(series) {
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
}

void IntervalBar::set_scale(double begin, double end) {
  begin_ = std::min(0.0, begin);
  end_ = std::max(end, begin_ + 1);
  update();
}

void IntervalBar::set_interval(double low, double likely, double high, const QString& text) {
  low_ = low;
  likely_ = likely;
  high_ = high;
  setAccessibleName(text);
  setToolTip(tooltip_of(text));
  update();
}

QSize IntervalBar::sizeHint() const { return {kWidth, kHeight}; }

double IntervalBar::x_of(double value) const {
  const double share = (std::clamp(value, begin_, end_) - begin_) / (end_ - begin_);
  return share * (width() - kMargin);
}

void IntervalBar::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  const Colors colors = colors_of(palette());
  const double middle = height() / 2.0;
  const QRectF track(QPointF(x_of(begin_), middle - kBar), QPointF(x_of(end_), middle + kBar));
  painter.fillRect(track, colors.grid);
  const QRectF bar(QPointF(x_of(0), middle - kBar), QPointF(x_of(likely_), middle + kBar));
  painter.fillRect(bar.normalized(), series_color(series_, palette()));
  if (low_ == high_) return;
  // On the bar and on the track alike: a line in the text's colour with an edge in the background's.
  for (const auto& [color, width] : {std::pair(palette().color(QPalette::Base), 4.0), std::pair(colors.ink, 1.5)}) {
    painter.setPen(QPen(color, width, Qt::SolidLine, Qt::FlatCap));
    painter.drawLine(QPointF(x_of(low_), middle), QPointF(x_of(high_), middle));
    for (const double value : {low_, high_})
      painter.drawLine(QPointF(x_of(value), middle - kEnd), QPointF(x_of(value), middle + kEnd));
  }
  painter.setPen(QPen(palette().color(QPalette::Base), 1));
  painter.setBrush(colors.ink);
  const double x = x_of(likely_);
  painter.drawPolygon(
      QPolygonF({{x - kLikely, middle}, {x, middle - kLikely}, {x + kLikely, middle}, {x, middle + kLikely}}));
}

}  // namespace swinscope::gui
