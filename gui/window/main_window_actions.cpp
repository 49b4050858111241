// The actions of the window: made of the lists of actions and pages, and done here or by the page that has them.
#include <QActionGroup>
#include <QClipboard>
#include <QCoreApplication>
#include <QDockWidget>
#include <QGuiApplication>
#include <QMenuBar>
#include <QMessageBox>

#include "gui/pages/page.h"
#include "gui/pages/page_stack.h"
#include "gui/pages/pages.h"
#include "gui/widgets/command_palette.h"
#include "gui/widgets/file_dialogs.h"
#include "gui/widgets/filter_bar.h"
#include "gui/widgets/page_picture.h"
#include "gui/widgets/recent_menu.h"
#include "gui/widgets/theme.h"
#include "gui/window/main_window.h"

namespace swinscope::gui {

void MainWindow::build_commands() {
  using enum ActionId;
  commands_ = {
      {kOpenFile, [this] { choose_file(); }},
      {kOpenFolder, [this] { choose_folder(); }},
      {kCompareWith, [this] { compare(); }},
      {kReload, [this] { runs_.reload(); }},
      {kExportImage, [this] { export_image(ask_image_path(this, page_id())); }},
      {kExportReport, [this] { export_report(ask_report_path(this)); }},
      {kExportTrace, [this] { export_events(ask_events_path(this)); }},
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
    for (Page* page : pages_->pages()) {
      if (PageStack::is_offered(*page, info.id)) page->addAction(action);
    }
  }
  for (const ActionId id : {ActionId::kShowPublished, ActionId::kCriticalPath})
    action(id).setCheckable(true);
  auto* themes = new QActionGroup(this);
  themes->setExclusionPolicy(QActionGroup::ExclusionPolicy::Exclusive);
  for (const auto& [id, theme] : {std::pair(ActionId::kThemeSystem, Theme::kSystem),
                                  {ActionId::kThemeLight, Theme::kLight},
                                  {ActionId::kThemeDark, Theme::kDark}}) {
    action(id).setCheckable(true);
    action(id).setChecked(theme == settings_.theme());
    action(id).setActionGroup(themes);
  }
}

void MainWindow::build_menus() {
  recent_menu_ = new RecentMenu(settings_, this);
  connect(recent_menu_, &RecentMenu::chosen, this, &MainWindow::open);
  for (const ActionMenu id : kMenus) {
    QMenu* menu = menuBar()->addMenu(menu_title(id));
    if (id == ActionMenu::kView) menu->addActions(page_actions_);
    for (const ActionInfo& info : all_actions()) {
      if (info.menu != id) continue;
      if (info.id == ActionId::kQuit) menu->addSeparator();
      menu->addAction(actions_.at(info.id));
      if (info.id == ActionId::kOpenFolder) menu->addMenu(recent_menu_);
    }
    if (id != ActionMenu::kView) continue;
    menu->addSeparator();
    for (const QDockWidget* dock : pages_->findChildren<QDockWidget*>())
      menu->addAction(dock->toggleViewAction());
  }
}

void MainWindow::update_actions() {
  for (const auto& [id, action] : actions_) {
    action->setEnabled(can_perform(id));
    if (action->isCheckable() && !commands_.contains(id)) action->setChecked(pages_->is_on(id));
  }
}

bool MainWindow::can_perform(ActionId id) const {
  if (!commands_.contains(id)) {
    const Page* owner = pages_->owner(id);
    return owner != nullptr && owner->can_perform(id);
  }
  if (id == ActionId::kReload) return runs_.can_reload();
  const Session& session = runs_.session();
  const bool has_run = session.run != nullptr && session.run->trace != nullptr;
  const bool no_run = session.run == nullptr && (session.experiment != nullptr || session.comparison != nullptr);
  if (id == ActionId::kExportReport) return no_run || has_run;
  if (id == ActionId::kCopyCommand) return !page().command().isEmpty();
  if (id == ActionId::kExportTrace) return has_run;
  if (id == ActionId::kShowPublished) return no_run;
  return true;
}

void MainWindow::perform(ActionId id) {
  if (const auto command = commands_.find(id); command != commands_.end()) return command->second();
  pages_->perform(id);
}

void MainWindow::compare() {
  show_page(QStringLiteral("compare"));
  page().perform(ActionId::kCompareWith);
}

void MainWindow::toggle_published() {
  runs_.show_published(!runs_.with_published());
  action(ActionId::kShowPublished).setChecked(runs_.with_published());
}

void MainWindow::copy_command() {
  const QString command = page().command();
  if (command.isEmpty()) return;
  QGuiApplication::clipboard()->setText(command);
  QString said = QStringLiteral("copied: %1").arg(command);
  if (!filter_.filter().name.isEmpty())
    said += QStringLiteral(" (which prints what the filter's name leaves out, too)");
  say(said);
}

bool MainWindow::export_image(const QString& path) {
  return !path.isEmpty() && exports_.write_image(page(), picture_title(), path);
}

void MainWindow::export_report(const QString& path) {
  if (!path.isEmpty() && can_perform(ActionId::kExportReport)) exports_.write_report(runs_.session(), path);
}

void MainWindow::export_events(const QString& path) {
  if (!path.isEmpty() && can_perform(ActionId::kExportTrace)) exports_.write_events(run(), path);
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
