// What a page shows as a picture that can stand alone: above it the title, of which run it is, and when it was made.
#pragma once

#include <QByteArray>
#include <QString>

class QWidget;

namespace swinscope::gui {

struct PictureTitle {
  QString title;  // "Timeline, 12.3 ms to 15.0 ms"
  QString of;     // "run.db, 3 steps; swinscope 1.0, 2026-11-25"
};

QByteArray picture_as_png(QWidget& page, const PictureTitle& title);
// Title and run as text, which can be searched and edited; the page as an image of twice its resolution.
QByteArray picture_as_svg(QWidget& page, const PictureTitle& title);

}  // namespace swinscope::gui
