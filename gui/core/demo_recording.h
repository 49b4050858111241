// The recording that comes with the program, for whoever has none yet.
#pragma once

#include <QString>

namespace swinscope::gui {

// Beside the installed program, or in the sources that it was built from; empty where it is in neither.
QString demo_recording();

}  // namespace swinscope::gui
