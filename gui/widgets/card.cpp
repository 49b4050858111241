#include "gui/widgets/card.h"

#include <QEnterEvent>
#include <QPainter>

#include "gui/core/tool_tip.h"
#include "gui/widgets/theme.h"

namespace swinscope::gui {
namespace {

constexpr int kMargin = 10;

QFont value_font(const QFont& font) {
  QFont large = font;
  large.setPointSizeF(font.pointSizeF() * 1.6);
  large.setWeight(QFont::DemiBold);
  return large;
}

}  // namespace

Card::Card(QWidget* parent) : QAbstractButton(parent) {
  setFocusPolicy(Qt::StrongFocus);
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
}

void Card::set_figure(const QString& title, const QString& value, const QString& note) {
  title_ = title;
  value_ = value;
  note_ = note;
  setAccessibleName(QStringLiteral("%1: %2").arg(title, value));
  setAccessibleDescription(note);
  setToolTip(tooltip_of(note));
  updateGeometry();
  update();
}

QSize Card::sizeHint() const {
  const int line = fontMetrics().height();
  return {170, 2 * kMargin + 2 * line + QFontMetrics(value_font(font())).height() + 4};
}

void Card::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  const bool is_lit = hasFocus() || underMouse();
  painter.setPen(QPen(is_lit ? palette().color(QPalette::Highlight) : colors_of(palette()).grid, is_lit ? 2 : 1));
  painter.setBrush(palette().base());
  painter.drawRoundedRect(QRectF(rect()).adjusted(1, 1, -1, -1), 4, 4);
  const QRect room = rect().adjusted(kMargin, kMargin, -kMargin, -kMargin);
  const int line = fontMetrics().height();
  const auto elided = [&](const QString& text) {
    return painter.fontMetrics().elidedText(text, Qt::ElideRight, room.width());
  };
  painter.setPen(colors_of(palette()).muted);
  painter.drawText(room, Qt::AlignTop | Qt::AlignLeft, elided(title_));
  painter.drawText(room, Qt::AlignBottom | Qt::AlignLeft, elided(note_));
  painter.setPen(palette().color(QPalette::Text));
  painter.setFont(value_font(font()));
  painter.drawText(room.adjusted(0, line, 0, -line), Qt::AlignVCenter | Qt::AlignLeft, elided(value_));
}

void Card::enterEvent(QEnterEvent*) { update(); }
void Card::leaveEvent(QEvent*) { update(); }

}  // namespace swinscope::gui
