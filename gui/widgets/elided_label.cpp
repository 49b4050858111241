#include "gui/widgets/elided_label.h"

#include <QPainter>

#include "gui/core/tool_tip.h"

namespace swinscope::gui {
namespace {

constexpr int kLeastLetters = 12;

}  // namespace

ElidedLabel::ElidedLabel(const QString& text, QWidget* parent) : QLabel(text, parent) {
  setTextFormat(Qt::PlainText);
  setToolTip(tooltip_of(text));
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
}

bool ElidedLabel::is_elided() const { return fontMetrics().horizontalAdvance(text()) > contentsRect().width(); }

QSize ElidedLabel::minimumSizeHint() const {
  return {fontMetrics().averageCharWidth() * kLeastLetters, QLabel::minimumSizeHint().height()};
}

void ElidedLabel::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  const QRect room = contentsRect();
  painter.setPen(palette().color(foregroundRole()));
  painter.drawText(room, Qt::AlignVCenter | Qt::AlignLeft,
                   fontMetrics().elidedText(text(), Qt::ElideMiddle, room.width()));
}

}  // namespace swinscope::gui
