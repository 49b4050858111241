#include "gui/pages/timeline/flame_widget.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>

#include "analyzer/base/text.h"
#include "gui/core/palette.h"
#include "gui/core/tool_tip.h"
#include "gui/widgets/theme.h"

namespace swinscope::gui {
namespace {

constexpr int kRow = 17;
constexpr double kThinnest = 0.7;  // pixels
constexpr double kNamed = 30;

}  // namespace

FlameWidget::FlameWidget(QWidget* parent) : QWidget(parent) {
  setObjectName(QStringLiteral("flames"));
  setAccessibleName(QStringLiteral("Flame graph of the area"));
  setFocusPolicy(Qt::StrongFocus);
}

void FlameWidget::set_graph(std::shared_ptr<const Timeline> timeline, FlameGraph graph) {
  timeline_ = std::move(timeline);
  graph_ = std::move(graph);
  zoomed_ = current_ = 0;
  std::uint32_t depth = 0;
  for (const FlameNode& node : graph_.nodes)
    depth = std::max(depth, node.depth);
  setMinimumHeight(static_cast<int>(depth + 1) * kRow);
  update();
}

// From the begin of the root.
std::int64_t FlameWidget::begin_ns(std::uint32_t node) const {
  std::int64_t begin = 0;
  for (; node != 0; node = graph_.nodes[node].parent)
    begin += graph_.nodes[node].before_ns;
  return begin;
}

bool FlameWidget::is_within(std::uint32_t node, std::uint32_t outer) const {
  while (node != outer && node != 0)
    node = graph_.nodes[node].parent;
  return node == outer;
}

QRectF FlameWidget::box_of(std::uint32_t node) const {
  const FlameNode& whole = graph_.nodes[zoomed_];
  if (whole.total_ns <= 0) return {};
  const double scale = width() / static_cast<double>(whole.total_ns);
  const FlameNode& at = graph_.nodes[node];
  QRectF box(static_cast<double>(begin_ns(node) - begin_ns(zoomed_)) * scale, at.depth * kRow,
             static_cast<double>(at.total_ns) * scale, kRow - 1);
  if (is_within(zoomed_, node)) box = QRectF(0, at.depth * kRow, width(), kRow - 1);  // around the zoomed one
  const bool is_shown = is_within(node, zoomed_) || is_within(zoomed_, node);
  return is_shown && box.width() >= kThinnest ? box : QRectF();
}

std::optional<std::uint32_t> FlameWidget::node_at(QPointF position) const {
  for (std::uint32_t node = 0; node < graph_.nodes.size(); ++node) {
    const bool is_row = graph_.nodes[node].depth == static_cast<std::uint32_t>(position.y() / kRow);
    if (is_row && box_of(node).contains(position)) return node;
  }
  return std::nullopt;
}

QString FlameWidget::text_of(std::uint32_t node) const {
  const FlameNode& at = graph_.nodes[node];
  const double share = graph_.nodes[0].total_ns <= 0
                           ? 0
                           : 100 * static_cast<double>(at.total_ns) / static_cast<double>(graph_.nodes[0].total_ns);
  const QString name =
      node == 0 ? QStringLiteral("all ranges") : QString::fromStdString(std::string(timeline_->names.text(at.name)));
  QString text = QStringLiteral("%1: %2, %3 %")
                     .arg(name.left(200), QString::fromStdString(format_duration(at.total_ns)))
                     .arg(share, 0, 'f', 1);
  if (node != 0)
    text += QStringLiteral(", %1 calls, %2 of its own")
                .arg(QString::fromStdString(format_count(static_cast<std::int64_t>(at.count))),
                     QString::fromStdString(format_duration(at.self_ns)));
  return text;
}

void FlameWidget::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.fillRect(rect(), palette().base());
  if (timeline_ == nullptr || graph_.nodes.size() < 2) {
    painter.setPen(colors_of(palette()).muted);
    painter.drawText(rect(), Qt::AlignCenter, QStringLiteral("No ranges or operators in the area."));
    return;
  }
  for (std::uint32_t node = 0; node < graph_.nodes.size(); ++node) {
    const QRectF box = box_of(node);
    if (box.isEmpty()) continue;
    const std::string_view name = timeline_->names.text(graph_.nodes[node].name);
    const QColor color = node == 0 ? palette().color(QPalette::Mid) : QColor::fromRgb(name_color(name));
    painter.fillRect(box.adjusted(0, 0, -0.5, 0), color);
    if (node == current_ && hasFocus()) {
      painter.setPen(QPen(colors_of(palette()).selection, 2));
      painter.drawRect(box.adjusted(1, 1, -1, -1));
    }
    if (box.width() < kNamed) continue;
    painter.setPen(text_on(color));
    const QRectF room = box.adjusted(3, 0, -3, 0);
    painter.drawText(room, Qt::AlignLeft | Qt::AlignVCenter,
                     fontMetrics().elidedText(text_of(node), Qt::ElideRight, static_cast<int>(room.width())));
  }
}

void FlameWidget::zoom_to(std::uint32_t node) {
  zoomed_ = node;
  move_to(node);
}

void FlameWidget::move_to(std::optional<std::uint32_t> node) {
  if (!node) return;
  current_ = *node;
  setAccessibleDescription(text_of(current_));
  QToolTip::showText(mapToGlobal(box_of(current_).center().toPoint()), tooltip_of(text_of(current_)), this);
  update();
}

void FlameWidget::mouseReleaseEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton || timeline_ == nullptr) return;
  if (const auto node = node_at(event->position())) zoom_to(*node);
}

std::optional<std::uint32_t> FlameWidget::first_child(std::uint32_t node) const {
  for (std::uint32_t i = 1; i < graph_.nodes.size(); ++i)
    if (graph_.nodes[i].parent == node && graph_.nodes[i].before_ns == 0) return i;
  return std::nullopt;
}

// The one beside it of the same parent.
std::optional<std::uint32_t> FlameWidget::sibling(std::uint32_t node, bool forward) const {
  std::optional<std::uint32_t> best;
  const auto before = [&](std::uint32_t i) { return std::pair(graph_.nodes[i].before_ns, i); };
  for (std::uint32_t i = 1; i < graph_.nodes.size(); ++i) {
    if (i == node || graph_.nodes[i].parent != graph_.nodes[node].parent) continue;
    if (forward ? before(i) < before(node) : before(i) > before(node)) continue;
    if (!best || (forward ? before(i) < before(*best) : before(i) > before(*best))) best = i;
  }
  return best;
}

void FlameWidget::keyPressEvent(QKeyEvent* event) {
  switch (event->key()) {
    case Qt::Key_Down:
      return move_to(first_child(current_));
    case Qt::Key_Up:
      return move_to(graph_.nodes.empty() ? 0 : graph_.nodes[current_].parent);
    case Qt::Key_Right:
    case Qt::Key_Left:
      if (current_ != 0) move_to(sibling(current_, event->key() == Qt::Key_Right));
      return;
    case Qt::Key_Return:
    case Qt::Key_Enter:
      return zoom_to(current_);
    case Qt::Key_Escape:
    case Qt::Key_Backspace:
      if (zoomed_ != 0) return zoom_to(graph_.nodes[zoomed_].parent);
      break;
    default:
      break;
  }
  QWidget::keyPressEvent(event);
}

bool FlameWidget::event(QEvent* event) {
  if (event->type() == QEvent::ShortcutOverride) {
    // Its keys are actions of the page elsewhere.
    const int key = static_cast<QKeyEvent*>(event)->key();
    for (const int own :
         {Qt::Key_Left, Qt::Key_Right, Qt::Key_Up, Qt::Key_Down, Qt::Key_Return, Qt::Key_Enter, Qt::Key_Backspace}) {
      if (key == own) event->accept();
    }
    if (key == Qt::Key_Escape && zoomed_ != 0) event->accept();
    return event->isAccepted();
  }
  if (event->type() != QEvent::ToolTip) return QWidget::event(event);
  const auto* help = static_cast<QHelpEvent*>(event);
  const auto node = timeline_ == nullptr ? std::nullopt : node_at(help->pos());
  QToolTip::showText(help->globalPos(), node ? tooltip_of(text_of(*node)) : QString(), this);
  return true;
}

}  // namespace swinscope::gui
