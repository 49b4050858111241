// The actions of the window: made of the lists of actions and pages, and done here or by the page that has them.
#include <QActionGroup>
#include <QCoreApplication>
#include <QDockWidget>
#include <QMenuBar>
#include <QMessageBox>
#include <QStackedWidget>
#include <algorithm>

#include "gui/pages/page.h"
#include "gui/pages/pages.h"
#include "gui/widgets/command_palette.h"
#include "gui/widgets/file_dialogs.h"
#include "gui/widgets/filter_bar.h"
#include "gui/widgets/theme.h"
#include "gui/window/main_window.h"

namespace swinscope::gui {
namespace {

// From any page to a call in the timeline.
bool is_occurrence(ActionId id) {
  return id == ActionId::kNextOccurrence || id == ActionId::kPreviousOccurrence || id == ActionId::kLongestOccurrence;
}

}  // namespace

void MainWindow::build_commands() {
  using enum ActionId;
  commands_ = {
      {kOpenFile, [this] { choose_file(); }},
      {kOpenFolder, [this] { choose_folder(); }},
      {kCompareWith, [this] { compare(); }},
      {kReload, [this] { load_entry(loading_); }},
      {kExportImage, [this] { choose_image(); }},
      {kExportReport, [this] { choose_report(); }},
      {kExportTrace, [this] { choose_trace(); }},
      {kCopyCommand, [this] { copy_command(); }},
      {kQuit, [this] { close(); }},
      {kFocusFilter, [this] { filter_bar_->focus_name(); }},
      {kClearFilter, [this] { filter_bar_->clear(); }},
      {kThemeSystem, [this] { set_theme(Theme::kSystem); }},
      {kThemeLight, [this] { set_theme(Theme::kLight); }},
      {kThemeDark, [this] { set_theme(Theme::kDark); }},
      {kShowPublished, [this] { toggle_published(); }},
      {kPalette, [this] { show_palette(); }},
      {kHelp, [this] { show_help(); }},
      {kAbout, [this] { show_about(); }},
  };
}

QAction* MainWindow::new_action(const QString& name, const char* text, const char* shortcuts, const char* help) {
  auto* action = new QAction(QString::fromUtf8(text), this);
  action->setObjectName(name);
  action->setShortcuts(shortcuts_of(shortcuts));
  action->setStatusTip(QString::fromUtf8(help));
  action->setToolTip(QString::fromUtf8(help));
  return action;
}

void MainWindow::build_actions() {
  for (const PageInfo& info : all_pages()) {
    const QString id = QString::fromUtf8(info.id);
    QAction* action = new_action(QStringLiteral("view.") + id, info.title, info.shortcuts, info.help);
    connect(action, &QAction::triggered, this, [this, id] { show_page(id); });
    addAction(action);
    page_actions_ << action;
  }
  for (const ActionInfo& info : all_actions()) {
    QAction* action = new_action(QString::fromUtf8(info.name), info.text, info.shortcuts, info.help);
    connect(action, &QAction::triggered, this, [this, id = info.id] { perform(id); });
    actions_.emplace(info.id, action);
    if (info.context == ActionContext::kWindow) {
      addAction(action);
      continue;
    }
    action->setShortcutContext(Qt::WidgetWithChildrenShortcut);
    for (Page* page : pages_) {
      if (page->has(info.id) || is_occurrence(info.id)) page->addAction(action);
    }
  }
  for (const ActionId id : {ActionId::kShowPublished, ActionId::kCriticalPath})
    action(id).setCheckable(true);
  themes_ = new QActionGroup(this);
  for (const auto& [id, theme] : {std::pair(ActionId::kThemeSystem, Theme::kSystem),
                                  {ActionId::kThemeLight, Theme::kLight},
                                  {ActionId::kThemeDark, Theme::kDark}}) {
    action(id).setCheckable(true);
    action(id).setChecked(theme == settings_.theme());
    action(id).setActionGroup(themes_);
  }
}

void MainWindow::build_menus() {
  for (const ActionMenu id : kMenus) {
    QMenu* menu = menuBar()->addMenu(menu_title(id));
    if (id == ActionMenu::kView) menu->addActions(page_actions_);
    for (const ActionInfo& info : all_actions()) {
      if (info.menu != id) continue;
      if (info.id == ActionId::kQuit) menu->addSeparator();
      menu->addAction(actions_.at(info.id));
      if (info.id == ActionId::kOpenFolder) recent_menu_ = menu->addMenu(QStringLiteral("Open &recent"));
    }
    if (id != ActionMenu::kView) continue;
    menu->addSeparator();
    for (const QDockWidget* dock : stack_->findChildren<QDockWidget*>())
      menu->addAction(dock->toggleViewAction());
  }
  rebuild_recent_menu();
}

void MainWindow::rebuild_recent_menu() {
  recent_menu_->clear();
  for (const QString& path : settings_.recent_files())
    recent_menu_->addAction(path, this, [this, path] { open({path}); });
  recent_menu_->setEnabled(!recent_menu_->isEmpty());
  if (recent_menu_->isEmpty()) return;
  recent_menu_->addSeparator();
  recent_menu_->addAction(QStringLiteral("&Clear"), this, [this] {
    settings_.clear_recent_files();
    rebuild_recent_menu();
  });
}

void MainWindow::update_actions() {
  for (const auto& [id, action] : actions_) {
    action->setEnabled(can_perform(id));
    if (action->isCheckable() && !commands_.contains(id))
      action->setChecked(
          std::ranges::any_of(pages_, [id = id](const Page* page) { return page->has(id) && page->is_on(id); }));
  }
}

bool MainWindow::can_perform(ActionId id) const {
  if (!commands_.contains(id)) {
    const Page* owner = page_for(id);
    return owner != nullptr && owner->can_perform(id);
  }
  if (id == ActionId::kReload) return loading_ >= 0;
  const bool no_run = session_.run == nullptr && (session_.experiment != nullptr || session_.comparison != nullptr);
  if (id == ActionId::kExportReport) return no_run || (session_.run != nullptr && session_.run->trace != nullptr);
  if (id == ActionId::kCopyCommand) return !page().command().isEmpty();
  if (id == ActionId::kExportTrace) return session_.run != nullptr && session_.run->trace != nullptr;
  if (id == ActionId::kShowPublished) return no_run;
  return true;
}

void MainWindow::perform(ActionId id) {
  if (const auto command = commands_.find(id); command != commands_.end()) return command->second();
  if (Page* owner = page_for(id)) {
    if (is_occurrence(id)) show_page(owner->objectName());
    return owner->perform(id);
  }
  const auto owner = std::ranges::find_if(pages_, [&](const Page* page) { return page->has(id); });
  if (owner != pages_.end()) (*owner)->perform(id);
}

// The page that is shown; of calls the timeline's where it has none.
Page* MainWindow::page_for(ActionId id) const {
  if (page().has(id)) return &page();
  return is_occurrence(id) ? pages_[static_cast<std::size_t>(find_page(QStringLiteral("timeline")))] : nullptr;
}

void MainWindow::compare() {
  show_page(QStringLiteral("compare"));
  page().perform(ActionId::kCompareWith);
}

void MainWindow::set_theme(Theme theme) {
  settings_.set_theme(theme);
  apply_theme(theme);
}

void MainWindow::show_palette() {
  update_actions();
  if (palette_ == nullptr) palette_ = new CommandPalette(this);
  palette_->open_with(commands_of(*menuBar()));
}

void MainWindow::show_help() {
  if (help_ == nullptr) help_ = new HelpDialog(commands_of(*menuBar()), this);
  help_->open();
}

void MainWindow::show_about() {
  QMessageBox::about(this, QStringLiteral("About swinscope"),
                     QStringLiteral("swinscope %1\nProfiling and scaling analysis for CUDA deep learning\n\n"
                                    "Licence: Apache-2.0. Uses Qt %2 (LGPL).")
                         .arg(QCoreApplication::applicationVersion(), QString::fromUtf8(qVersion())));
}

void MainWindow::choose_file() {
  open(ask_for_files(this, QStringLiteral("Open traces"), QString::fromUtf8(kTraceKinds)));
}

void MainWindow::choose_folder() {
  const QString path = ask_for_folder(this, QStringLiteral("Open a run or an experiment"));
  if (!path.isEmpty()) open({path});
}

}  // namespace swinscope::gui
