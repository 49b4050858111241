// Every command by typing a part of its name, and the list of all of them with their keys.
#pragma once

#include <QDialog>
#include <functional>

#include "gui/core/actions.h"

class QLineEdit;
class QListWidget;

namespace swinscope::gui {

class CommandPalette : public QDialog {
  Q_OBJECT

 public:
  explicit CommandPalette(QWidget* parent);

  // Shows the commands for which `is_enabled` holds, with an empty search.
  void open_with(const std::function<bool(ActionId)>& is_enabled);

 Q_SIGNALS:
  void chosen(ActionId action);

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void show_matches(const QString& typed);
  void choose();

  QLineEdit* search_;
  QListWidget* list_;
  std::function<bool(ActionId)> is_enabled_;
};

class HelpDialog : public QDialog {
  Q_OBJECT

 public:
  explicit HelpDialog(QWidget* parent);
};

}  // namespace swinscope::gui
