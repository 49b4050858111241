#include "gui/widgets/banner.h"

#include <QAccessible>
#include <QApplication>
#include <QEvent>
#include <QHBoxLayout>
#include <QLabel>
#include <QStyle>
#include <QToolButton>

#include "gui/core/tool_tip.h"
#include "gui/widgets/theme.h"

namespace swinscope::gui {

Banner::Banner(QWidget* parent) : QFrame(parent), icon_(new QLabel(this)), text_(new QLabel(this)) {
  setObjectName(QStringLiteral("banner"));
  setFrameShape(QFrame::StyledPanel);
  setAutoFillBackground(true);
  setAccessibleName(QStringLiteral("Message"));
  text_->setWordWrap(true);
  text_->setTextFormat(Qt::PlainText);
  text_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  text_->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Preferred);
  auto* close = new QToolButton(this);
  close->setText(QStringLiteral("Dismiss"));
  close->setAccessibleName(QStringLiteral("Dismiss the message"));
  connect(close, &QToolButton::clicked, this, &Banner::dismiss);
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(8, 4, 8, 4);
  row->addWidget(icon_, 0, Qt::AlignTop);
  row->addWidget(text_, 1);
  row->addWidget(close, 0, Qt::AlignTop);
  hide();
}

void Banner::show_problem(const Problem& problem) {
  QStringList more;
  if (!problem.cause.isEmpty()) more << QStringLiteral("Cause: %1").arg(problem.cause);
  if (!problem.hint.isEmpty()) more << QStringLiteral("Next step: %1").arg(problem.hint);
  show_text(problem.what, more.join(QLatin1Char('\n')), true);
}

void Banner::show_in(const QWidget& window, const Problem& problem) {
  if (auto* banner = window.findChild<Banner*>()) banner->show_problem(problem);
}

void Banner::show_warnings(const QStringList& warnings) {
  constexpr int kShown = 3;
  if (warnings.isEmpty()) return;
  QString more = warnings.mid(1, kShown - 1).join(QLatin1Char('\n'));
  if (warnings.size() > kShown) more += QStringLiteral("\n… and %1 more").arg(warnings.size() - kShown);
  show_text(warnings.front(), more, false);
  text_->setToolTip(tooltip_of(warnings.join(QLatin1Char('\n'))));
}

void Banner::show_text(const QString& what, const QString& more, bool is_error) {
  is_error_ = is_error;
  set_background();
  icon_->setPixmap(
      style()->standardIcon(is_error ? QStyle::SP_MessageBoxCritical : QStyle::SP_MessageBoxWarning).pixmap(20, 20));
  icon_->setAccessibleName(is_error ? QStringLiteral("Error") : QStringLiteral("Warning"));
  text_->setText(more.isEmpty() ? what : what + QLatin1Char('\n') + more);
  text_->setToolTip({});
  text_->setAccessibleName(text_->text());
  show();
  QAccessibleEvent alert(this, QAccessible::Alert);
  QAccessible::updateAccessibility(&alert);
}

// All but the background is that of the theme.
void Banner::set_background() {
  const Colors colors = colors_of(QApplication::palette());
  const QColor background = is_error_ ? colors.error : colors.warning;
  if (palette().color(QPalette::Window) == background) return;
  QPalette own;
  own.setColor(QPalette::Window, background);
  setPalette(own);
}

void Banner::changeEvent(QEvent* event) {
  QFrame::changeEvent(event);
  if (event->type() == QEvent::PaletteChange && !isHidden()) set_background();
}

void Banner::dismiss() { hide(); }

QString Banner::text() const { return isHidden() ? QString() : text_->text(); }

}  // namespace swinscope::gui
