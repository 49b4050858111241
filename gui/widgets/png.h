// What a widget shows, as a PNG file.
#pragma once

#include <QByteArray>

class QWidget;

namespace swinscope::gui {

QByteArray png_of(QWidget& widget);

}  // namespace swinscope::gui
