#include "gui/core/background.h"

namespace swinscope::gui {

Background::Background() { pool_.setMaxThreadCount(1); }

Background::~Background() {
  pool_.clear();
  pool_.waitForDone();
}

}  // namespace swinscope::gui
