#include "gui/widgets/window_place.h"

#include <QPainter>
#include <QPixmap>
#include <QScreen>
#include <QWidget>
#include <algorithm>
#include <array>

namespace swinscope::gui {

void keep_on_screen(QWidget& window) {
  const QScreen* screen = window.screen();
  if (screen == nullptr) return;
  const QRect room = screen->availableGeometry();
  const QRect frame = window.frameGeometry();
  const int x = std::clamp(frame.x(), room.left(), std::max(room.left(), room.right() + 1 - frame.width()));
  const int y = std::clamp(frame.y(), room.top(), std::max(room.top(), room.bottom() + 1 - frame.height()));
  if (QPoint(x, y) != frame.topLeft()) window.move(x, y);
}

QIcon program_icon() {
  struct Bar {
    double begin;
    double end;
    const char* color;
  };
  constexpr std::array<Bar, 4> kBars = {
      {{0.06, 0.70, "#0072B2"}, {0.26, 0.94, "#E69F00"}, {0.06, 0.44, "#009E73"}, {0.52, 0.88, "#D55E00"}}};
  QIcon icon;
  for (const int size : {16, 32, 48, 128}) {
    QPixmap picture(size, size);
    picture.fill(Qt::transparent);
    QPainter painter(&picture);
    painter.setRenderHint(QPainter::Antialiasing);
    for (std::size_t i = 0; i < kBars.size(); ++i) {
      const double height = size / (kBars.size() + 0.6);
      painter.fillRect(QRectF(kBars[i].begin * size, (static_cast<double>(i) + 0.4) * height,
                              (kBars[i].end - kBars[i].begin) * size, 0.76 * height),
                       QColor(QLatin1String(kBars[i].color)));
    }
    painter.end();
    icon.addPixmap(picture);
  }
  return icon;
}

}  // namespace swinscope::gui
