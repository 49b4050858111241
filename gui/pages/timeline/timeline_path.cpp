// The critical path on the timeline page: found beside the window when it is wanted, and drawn below what is on it.
#include <algorithm>

#include "gui/core/path_marks.h"
#include "gui/pages/timeline/timeline_page.h"
#include "gui/pages/timeline/timeline_painter.h"
#include "gui/pages/timeline/timeline_view.h"

namespace swinscope::gui {
namespace {

constexpr const char* kLegend = "critical path";
constexpr int kSample = 36;  // of the line, in the legend
constexpr int kMarkWidth = 3;
constexpr int kMarkRoom = kMarkWidth + 2;  // a gap above and below, so that it stands out on whatever colour

QPen mark_pen(const QColor& color) {
  QPen pen(color, kMarkWidth, Qt::CustomDashLine, Qt::FlatCap);
  pen.setDashPattern({3, 1});  // of its width: a bar is never dashed, so that nobody needs the colour
  return pen;
}

QString line_of(const Problem& problem) {
  return problem.cause.isEmpty() ? problem.what : QStringLiteral("%1: %2").arg(problem.what, problem.cause);
}

}  // namespace

void TimelinePage::toggle_path() {
  is_path_on_ = !is_path_on_;
  find_path();
  Q_EMIT changed();
}

bool TimelinePage::is_on(ActionId action) const { return action == ActionId::kCriticalPath && is_path_on_; }

void TimelinePage::find_path() {
  finding_path_.forget();
  view_->set_path({});
  path_text_.clear();
  if (!is_path_on_ || run_ == nullptr) return;
  if (run_->trace == nullptr) {
    say_of_path(QStringLiteral("the critical path is marked when the run is analyzed"));
    return;
  }
  say_of_path(QStringLiteral("finding the critical path…"));
  finding_path_.start(
      [run = run_, selection = selection_] { return path_marks(*run, selection); },
      [this](PathMarks marks) {
        view_->set_path(std::move(marks.by_lane));
        say_of_path(marks.problem ? line_of(*marks.problem) : QStringLiteral("critical path %1").arg(marks.summary));
      });
}

void TimelinePage::say_of_path(const QString& text) {
  path_text_ = text;
  Q_EMIT said(text);
}

void TimelinePainter::paint_path() {
  if (view_.path().empty()) return;
  for (const auto* part : {&view_.rows().pinned, &view_.rows().scrolled}) {
    for (const LaneRow& row : *part) {
      for (const LaneId lane : row.lanes)
        paint_path_of(lane);
    }
  }
}

// Stretches that are nearer than a pixel are one line.
void TimelinePainter::paint_path_of(LaneId lane) {
  const QRect place = view_.lane_rect(lane);
  if (place.bottom() < lanes_.top() || place.top() > lanes_.bottom()) return;
  const std::vector<Interval>& marks = view_.path()[lane];
  const Interval seen = view_.seen();
  auto mark = std::ranges::lower_bound(marks, seen.begin_ns, {}, &Interval::end_ns);
  const double y = place.bottom() - kMarkRoom / 2.0;
  while (mark != marks.end() && mark->begin_ns < seen.end_ns) {
    const double left = std::max<double>(view_.x_of(mark->begin_ns), lanes_.left());
    double right = view_.x_of(mark->end_ns);
    for (++mark; mark != marks.end() && view_.x_of(mark->begin_ns) <= right + 1; ++mark)
      right = view_.x_of(mark->end_ns);
    right = std::clamp<double>(right, left + 1, std::max<double>(lanes_.right(), left + 1));
    painter_.fillRect(QRectF(left, y - kMarkRoom / 2.0, right - left, kMarkRoom), view_.palette().base());
    painter_.setPen(mark_pen(colors_.path));
    painter_.drawLine(QPointF(left, y), QPointF(right, y));
  }
}

// At the right of the ruler; empty where nothing is marked.
QRect TimelinePainter::path_legend(const QRect& ruler) const {
  if (view_.path().empty()) return {};
  const int width = kSample + painter_.fontMetrics().horizontalAdvance(QLatin1String(kLegend)) + 24;
  return {ruler.right() - width, ruler.top(), width, ruler.height()};
}

void TimelinePainter::paint_path_legend(const QRect& box) {
  if (box.isEmpty()) return;
  painter_.fillRect(box, view_.palette().window());
  const double y = box.center().y();
  painter_.setPen(mark_pen(colors_.path));
  painter_.drawLine(QPointF(box.left() + 8, y), QPointF(box.left() + 8 + kSample, y));
  painter_.setPen(view_.palette().color(QPalette::WindowText));
  painter_.drawText(box.adjusted(kSample + 14, 0, 0, 0), Qt::AlignVCenter | Qt::AlignLeft, QLatin1String(kLegend));
}

}  // namespace swinscope::gui
