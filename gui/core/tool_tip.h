// The text of a tool tip: in lines that a screen has room for, however long a name in it is. It is plain text, which
// Qt's tool tips show as such once show_tips_plainly() was called (gui/widgets/plain_tips.h).
#pragma once

#include <QString>

namespace swinscope::gui {

// Lines are broken at a blank or, where a name has none, in it; what is beyond 30 lines is cut off and ends with "…".
QString tooltip_of(const QString& text);

}  // namespace swinscope::gui
