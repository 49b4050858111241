#include "gui/widgets/command_palette.h"

#include <QAction>
#include <QDialogButtonBox>
#include <QHeaderView>
#include <QKeyEvent>
#include <QLineEdit>
#include <QListWidget>
#include <QMenu>
#include <QMenuBar>
#include <QTreeWidget>
#include <QVBoxLayout>
#include <algorithm>

#include "gui/core/actions.h"

namespace swinscope::gui {
namespace {

// Every word that was typed occurs in the text.
bool matches(const QString& text, const QString& typed) {
  const QStringList words = typed.split(QLatin1Char(' '), Qt::SkipEmptyParts);
  return std::all_of(words.begin(), words.end(),
                     [&](const QString& word) { return text.contains(word, Qt::CaseInsensitive); });
}

// "W" or "Backspace, Alt+Left"
QString keys_text(const QAction& action) {
  return QKeySequence::listToString(action.shortcuts(), QKeySequence::PortableText)
      .replace(QStringLiteral("; "), QStringLiteral(", "));
}

QString shown_text(const Command& command) {
  const QString keys = keys_text(*command.action);
  const QString text = QStringLiteral("%1: %2").arg(command.menu, plain_text(command.action->text()));
  return keys.isEmpty() ? text : QStringLiteral("%1   (%2)").arg(text, keys);
}

}  // namespace

std::vector<Command> commands_of(const QMenuBar& bar) {
  std::vector<Command> commands;
  for (const QAction* menu : bar.actions()) {
    for (QAction* action : menu->menu()->actions()) {
      if (!action->isSeparator() && action->menu() == nullptr) commands.push_back({plain_text(menu->text()), action});
    }
  }
  return commands;
}

CommandPalette::CommandPalette(QWidget* parent)
    : QDialog(parent), search_(new QLineEdit(this)), list_(new QListWidget(this)) {
  setObjectName(QStringLiteral("palette"));
  setWindowTitle(QStringLiteral("Command palette"));
  search_->setPlaceholderText(QStringLiteral("Type a part of a command"));
  search_->setAccessibleName(QStringLiteral("Search commands"));
  search_->installEventFilter(this);
  list_->setAccessibleName(QStringLiteral("Commands"));
  auto* column = new QVBoxLayout(this);
  column->addWidget(search_);
  column->addWidget(list_);
  resize(520, 380);
  connect(search_, &QLineEdit::textChanged, this, &CommandPalette::show_matches);
  connect(search_, &QLineEdit::returnPressed, this, &CommandPalette::choose);
  connect(list_, &QListWidget::itemActivated, this, &CommandPalette::choose);
}

void CommandPalette::open_with(std::vector<Command> commands) {
  commands_ = std::move(commands);
  search_->clear();
  show_matches({});
  search_->setFocus();
  open();
}

void CommandPalette::show_matches(const QString& typed) {
  list_->clear();
  // Behind them those that there is nothing to do for here, so that they can be found and their keys be learnt.
  for (const bool is_enabled : {true, false}) {
    for (std::size_t i = 0; i < commands_.size(); ++i) {
      const QString text = shown_text(commands_[i]);
      if (commands_[i].action->isEnabled() != is_enabled || !matches(text, typed)) continue;
      auto* item = new QListWidgetItem(is_enabled ? text : text + QStringLiteral("   not here"), list_);
      item->setToolTip(commands_[i].action->toolTip());
      item->setData(Qt::UserRole, static_cast<qulonglong>(i));
      if (!is_enabled) item->setFlags(item->flags() & ~Qt::ItemIsEnabled);
    }
  }
  list_->setCurrentRow(0);
}

void CommandPalette::choose() {
  const QListWidgetItem* item = list_->currentItem();
  if (item == nullptr || !item->flags().testFlag(Qt::ItemIsEnabled)) return;
  QAction* action = commands_[item->data(Qt::UserRole).toULongLong()].action;
  accept();
  action->trigger();
}

// The arrows move in the list while the focus stays where the user types.
bool CommandPalette::eventFilter(QObject* watched, QEvent* event) {
  if (watched == search_ && event->type() == QEvent::KeyPress) {
    const int key = static_cast<QKeyEvent*>(event)->key();
    const int step = key == Qt::Key_Down ? 1 : key == Qt::Key_Up ? -1 : 0;
    if (step != 0) {
      list_->setCurrentRow(std::clamp(list_->currentRow() + step, 0, std::max(0, list_->count() - 1)));
      return true;
    }
  }
  return QDialog::eventFilter(watched, event);
}

HelpDialog::HelpDialog(const std::vector<Command>& commands, QWidget* parent) : QDialog(parent) {
  setObjectName(QStringLiteral("help"));
  setWindowTitle(QStringLiteral("Keys and commands"));
  auto* tree = new QTreeWidget(this);
  tree->setAccessibleName(QStringLiteral("Keys and commands"));
  tree->setHeaderLabels({QStringLiteral("command"), QStringLiteral("keys"), QStringLiteral("what it does")});
  tree->setRootIsDecorated(false);
  tree->setAlternatingRowColors(true);
  for (const auto& [menu, action] : commands)
    new QTreeWidgetItem(tree, {plain_text(action->text()), keys_text(*action), action->toolTip()});
  tree->resizeColumnToContents(0);
  tree->resizeColumnToContents(1);
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close, this);
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
  auto* column = new QVBoxLayout(this);
  column->addWidget(tree);
  column->addWidget(buttons);
  resize(900, 560);
}

}  // namespace swinscope::gui
