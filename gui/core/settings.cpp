#include "gui/core/settings.h"

#include <QFileInfo>

namespace swinscope::gui {

Theme theme_named(const QString& name) {
  if (name == QLatin1String("light")) return Theme::kLight;
  if (name == QLatin1String("dark")) return Theme::kDark;
  return Theme::kSystem;
}

QString theme_name(Theme theme) {
  if (theme == Theme::kLight) return QStringLiteral("light");
  return theme == Theme::kDark ? QStringLiteral("dark") : QStringLiteral("system");
}

void Settings::add_recent_file(const QString& path) {
  QStringList files = recent_files();
  const QString absolute = QFileInfo(path).absoluteFilePath();
  files.removeAll(absolute);
  files.prepend(absolute);
  store_.setValue(QStringLiteral("recent"), files.mid(0, kRecentFiles));
}

}  // namespace swinscope::gui
