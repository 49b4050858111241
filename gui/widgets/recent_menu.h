// The files that were opened last, to be opened again, and the way to forget them.
#pragma once

#include <QMenu>

namespace swinscope::gui {

class Settings;

class RecentMenu : public QMenu {
  Q_OBJECT

 public:
  // The settings keep the paths, and outlive the menu.
  explicit RecentMenu(Settings& settings, QWidget* parent = nullptr);

  void add(const QString& path);

 Q_SIGNALS:
  void chosen(const QStringList& path);

 private:
  void rebuild();

  Settings& settings_;
};

}  // namespace swinscope::gui
