#include "gui/widgets/png.h"

#include <QBuffer>
#include <QPixmap>
#include <QWidget>

namespace swinscope::gui {

QByteArray png_of(QWidget& widget) {
  QBuffer file;
  file.open(QIODevice::WriteOnly);
  widget.grab().save(&file, "PNG");
  return file.data();
}

}  // namespace swinscope::gui
