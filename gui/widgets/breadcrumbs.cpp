#include "gui/widgets/breadcrumbs.h"

#include <QEvent>
#include <QRegularExpression>

namespace swinscope::gui {

Breadcrumbs::Breadcrumbs(QWidget* parent) : QLabel(parent) {
  setObjectName(QStringLiteral("breadcrumbs"));
  setTextFormat(Qt::RichText);  // links; names in them are escaped
  setMargin(4);
  setTextInteractionFlags(Qt::LinksAccessibleByMouse | Qt::LinksAccessibleByKeyboard);
  setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
}

void Breadcrumbs::show_crumbs(const QList<Crumb>& crumbs) {
  QStringList parts;
  for (const Crumb& crumb : crumbs) {
    const QString text = crumb.text.toHtmlEscaped();
    parts << (crumb.target.isEmpty() ? text : QStringLiteral("<a href=\"%1\">%2</a>").arg(crumb.target, text));
  }
  setText(parts.join(QStringLiteral(" › ")));
}

QString Breadcrumbs::plain() const { return text().remove(QRegularExpression(QStringLiteral("<[^>]*>"))); }

// A link has the colour that the palette had when its text was set.
void Breadcrumbs::changeEvent(QEvent* event) {
  QLabel::changeEvent(event);
  if (event->type() != QEvent::PaletteChange) return;
  const QString shown = text();
  clear();
  setText(shown);
}

}  // namespace swinscope::gui
