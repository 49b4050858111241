#include "gui/pages/timeline/category_legend.h"

#include <QPainter>

namespace swinscope::gui {
namespace {

constexpr int kSquare = 10;
constexpr int kGap = 14;

QString text_of(EventCategory category) {
  const std::string_view name = category_name(category);
  return QString::fromUtf8(name.data(), static_cast<qsizetype>(name.size()));
}

}  // namespace

CategoryLegend::CategoryLegend(QWidget* parent) : QWidget(parent) {
  setObjectName(QStringLiteral("legend"));
  setAccessibleName(QStringLiteral("Colours of the events"));
  setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
}

QSize CategoryLegend::sizeHint() const { return {100, fontMetrics().height() + 4}; }

void CategoryLegend::set_categories(std::vector<EventCategory> categories) {
  categories_ = std::move(categories);
  QStringList names;
  for (const EventCategory category : categories_)
    names << text_of(category);
  setAccessibleDescription(names.join(QStringLiteral(", ")));
  setToolTip(QStringLiteral("Told by the names of events, an operator like its kernels: %1. Shades tell names apart.")
                 .arg(names.join(QStringLiteral(", "))));
  setVisible(!categories_.empty());
  update();
}

void CategoryLegend::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  int x = 6;
  for (const EventCategory category : categories_) {
    const QString text = text_of(category);
    const int wide = kSquare + 4 + fontMetrics().horizontalAdvance(text);
    if (x + wide > width()) break;  // the tooltip has all
    const int top = (height() - kSquare) / 2;
    painter.fillRect(x, top, kSquare, kSquare, QColor::fromRgb(category_color(category)));
    painter.setPen(palette().color(QPalette::WindowText));
    painter.drawText(QRect(x + kSquare + 4, 0, wide, height()), Qt::AlignVCenter | Qt::AlignLeft, text);
    x += wide + kGap;
  }
}

}  // namespace swinscope::gui
