#include "gui/pages/timeline/call_histogram.h"

#include <QPainter>
#include <algorithm>
#include <cmath>

#include "analyzer/base/text.h"
#include "gui/widgets/theme.h"

namespace swinscope::gui {
namespace {

constexpr int kMark = 9;  // pixels above the bars, for the mark

QString duration_text(double ns) { return QString::fromStdString(format_duration(std::llround(ns))); }

}  // namespace

CallHistogram::CallHistogram(QWidget* parent) : QWidget(parent) {
  setObjectName(QStringLiteral("call_histogram"));
  setAccessibleName(QStringLiteral("Durations of this kernel's calls"));
  setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
  hide();
}

void CallHistogram::set_calls(const std::vector<Call>& calls, std::int64_t marked_ns) {
  bins_.reset();
  marked_.reset();
  setVisible(calls.size() > 1);
  if (calls.size() < 2) return;
  bins_.emplace(calls);
  marked_ = bins_->bin_of(marked_ns);
  const QString text = QStringLiteral("%1 calls; this one is among %2 of %3 to %4")
                           .arg(calls.size())
                           .arg(bins_->counts()[*marked_])
                           .arg(duration_text(bins_->edge_ns(*marked_)), duration_text(bins_->edge_ns(*marked_ + 1)));
  setAccessibleDescription(text);
  setToolTip(text);
  update();
}

void CallHistogram::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.fillRect(rect(), palette().base());
  if (!bins_) return;
  const std::vector<std::size_t>& counts = bins_->counts();
  const auto most = static_cast<double>(*std::ranges::max_element(counts));
  const int axis = height() - fontMetrics().height() - 2;
  const double wide = static_cast<double>(width() - 8) / static_cast<double>(counts.size());
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const double left = 4 + static_cast<double>(i) * wide;
    // A single call is seen beside thousands.
    const double high = counts[i] == 0 ? 0 : std::max(2.0, (axis - kMark) * static_cast<double>(counts[i]) / most);
    painter.fillRect(QRectF(left, axis - high, std::max(1.0, wide - 1), high), series_color(0, palette()));
    if (i != marked_) continue;
    const double middle = left + wide / 2;
    painter.setPen(Qt::NoPen);
    painter.setBrush(colors_of(palette()).selection);
    painter.drawPolygon(QPolygonF({QPointF(middle - 4, axis - high - 8), QPointF(middle + 4, axis - high - 8),
                                   QPointF(middle, axis - high - 1)}));
  }
  painter.setPen(palette().color(QPalette::Text));
  painter.drawLine(4, axis, width() - 4, axis);
  const QRect labels(4, axis + 1, width() - 8, fontMetrics().height());
  painter.drawText(labels, Qt::AlignLeft, duration_text(bins_->edge_ns(0)));
  painter.drawText(labels, Qt::AlignRight, duration_text(bins_->edge_ns(counts.size())));
}

}  // namespace swinscope::gui
