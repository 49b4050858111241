// Where a window stands, and what it looks like from outside.
#pragma once

#include <QIcon>

class QWidget;

namespace swinscope::gui {

// Moves the window so that its title and its beginning are on the screen, however it was left there or made larger
// since.
void keep_on_screen(QWidget& window);

// Bars of a timeline, in the colours of Okabe and Ito.
QIcon program_icon();

}  // namespace swinscope::gui
