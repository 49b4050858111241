#include "gui/widgets/recent_menu.h"

#include "gui/core/settings.h"

namespace swinscope::gui {

RecentMenu::RecentMenu(Settings& settings, QWidget* parent)
    : QMenu(QStringLiteral("Open &recent"), parent), settings_(settings) {
  rebuild();
}

void RecentMenu::add(const QString& path) {
  settings_.add_recent_file(path);
  rebuild();
}

void RecentMenu::rebuild() {
  clear();
  for (const QString& path : settings_.recent_files())
    addAction(path, this, [this, path] { Q_EMIT chosen({path}); });
  setEnabled(!isEmpty());
  if (isEmpty()) return;
  addSeparator();
  addAction(QStringLiteral("&Clear"), this, [this] {
    settings_.clear_recent_files();
    rebuild();
  });
}

}  // namespace swinscope::gui
