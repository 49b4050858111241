// Every command by typing a part of its name, and the list of all of them with their keys.
#pragma once

#include <QDialog>
#include <vector>

class QAction;
class QLineEdit;
class QListWidget;
class QMenuBar;

namespace swinscope::gui {

// An action, and the menu that it is in.
struct Command {
  QString menu;
  QAction* action;
};
// Those of all menus; not of menus within menus, which list what was opened.
std::vector<Command> commands_of(const QMenuBar& bar);

class CommandPalette : public QDialog {
  Q_OBJECT

 public:
  explicit CommandPalette(QWidget* parent);

  // Shows them with an empty search, those that are not enabled last and grey. The one that is chosen is triggered.
  void open_with(std::vector<Command> commands);

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void show_matches(const QString& typed);
  void choose();

  QLineEdit* search_;
  QListWidget* list_;
  std::vector<Command> commands_;
};

class HelpDialog : public QDialog {
  Q_OBJECT

 public:
  HelpDialog(const std::vector<Command>& commands, QWidget* parent);
};

}  // namespace swinscope::gui
