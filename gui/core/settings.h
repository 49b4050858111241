// What the program remembers between two starts.
#pragma once

#include <QByteArray>
#include <QSettings>
#include <QStringList>

namespace swinscope::gui {

enum class Theme { kSystem, kLight, kDark };

// "system", "light", "dark"; anything else is the system's.
Theme theme_named(const QString& name);
QString theme_name(Theme theme);

class Settings {
 public:
  static constexpr int kRecentFiles = 10;

  Theme theme() const { return theme_named(store_.value(QStringLiteral("theme")).toString()); }
  void set_theme(Theme theme) { store_.setValue(QStringLiteral("theme"), theme_name(theme)); }

  // Latest first. Paths are absolute.
  QStringList recent_files() const { return store_.value(QStringLiteral("recent")).toStringList(); }
  void add_recent_file(const QString& path);
  void clear_recent_files() { store_.remove(QStringLiteral("recent")); }

  QByteArray value(const QString& key) const { return store_.value(key).toByteArray(); }
  void set_value(const QString& key, const QByteArray& value) { store_.setValue(key, value); }

 private:
  QSettings store_;  // named by the application
};

}  // namespace swinscope::gui
