// The actions of the window: made of the registry, and done here or by the page that they belong to.
#include <QActionGroup>
#include <QCoreApplication>
#include <QDockWidget>
#include <QFileDialog>
#include <QLabel>
#include <QMenuBar>
#include <QMessageBox>
#include <QStackedWidget>
#include <QStatusBar>
#include <memory>

#include "analyzer/report/report.h"
#include "gui/core/write_whole.h"
#include "gui/widgets/banner.h"
#include "gui/widgets/command_palette.h"
#include "gui/widgets/filter_bar.h"
#include "gui/widgets/kernels_page.h"
#include "gui/widgets/layers_page.h"
#include "gui/widgets/main_window.h"
#include "gui/widgets/png.h"
#include "gui/widgets/theme.h"
#include "gui/widgets/timeline_page.h"

namespace swinscope::gui {
namespace {

bool is_theme(ActionId id) {
  return id == ActionId::kThemeSystem || id == ActionId::kThemeLight || id == ActionId::kThemeDark;
}

// What is to be reported: the first of these that is there.
struct Subject {
  RunPointer run;
  ExperimentPointer experiment;
  ComparisonPointer comparison;

  QString path() const {
    if (run != nullptr) return run->path;
    return experiment != nullptr ? experiment->path : comparison->paths.join(QLatin1Char(' '));
  }
  Document document() const {
    if (run != nullptr) return run->analyzed.document;
    if (experiment != nullptr) return experiment->document;
    return comparison != nullptr ? comparison->document : Document();
  }
};

std::vector<ReportPart> parts_of(const OpenedComparison& comparison) {
  std::vector<ReportPart> parts;
  for (const Experiment& experiment : comparison.experiments) {
    for (ReportPart& part : report_parts(experiment)) {
      part.prefix.insert(0, experiment.folder.filename().string() + ": ");
      parts.push_back(std::move(part));
    }
  }
  add_comparison(parts, comparison.published);
  return parts;
}

std::string report_text(const QString& suffix, const Subject& subject) {
  if (suffix == QLatin1String("html")) {
    std::vector<ReportPart> parts;
    if (subject.run != nullptr) {
      parts.push_back(report_part(*subject.run->trace, subject.run->trace->path, {}));
    } else if (subject.experiment != nullptr) {
      parts = report_parts(subject.experiment->experiment);
    } else {
      parts = parts_of(*subject.comparison);
    }
    return render_html(build_report(std::move(parts)));
  }
  RenderOptions options;
  options.format = suffix == QLatin1String("json")  ? Format::kJson
                   : suffix == QLatin1String("csv") ? Format::kCsv
                                                    : Format::kMarkdown;
  return render(subject.document(), options);
}

}  // namespace

void MainWindow::build_actions() {
  themes_ = new QActionGroup(this);
  for (const ActionInfo& info : all_actions()) {
    auto* action = new QAction(QString::fromUtf8(info.text), this);
    action->setObjectName(QString::fromUtf8(info.name));
    action->setShortcuts(shortcuts_of(info));
    action->setStatusTip(QString::fromUtf8(info.help));
    action->setToolTip(QString::fromUtf8(info.help));
    connect(action, &QAction::triggered, this, [this, id = info.id] { perform(id); });
    if (is_theme(info.id)) {
      action->setCheckable(true);
      themes_->addAction(action);
    }
    if (info.id == ActionId::kShowPublished) action->setCheckable(true);
    QWidget* place = info.context == ActionContext::kTimeline  ? static_cast<QWidget*>(timeline_)
                     : info.context == ActionContext::kKernels ? static_cast<QWidget*>(kernels_)
                                                               : this;
    action->setShortcutContext(place == this ? Qt::WindowShortcut : Qt::WidgetWithChildrenShortcut);
    place->addAction(action);
    actions_.emplace(info.id, action);
  }
  const Theme theme = settings_.theme();
  actions_
      .at(theme == Theme::kLight  ? ActionId::kThemeLight
          : theme == Theme::kDark ? ActionId::kThemeDark
                                  : ActionId::kThemeSystem)
      ->setChecked(true);
  palette_ = new CommandPalette(this);
  connect(palette_, &CommandPalette::chosen, this, &MainWindow::perform);
}

void MainWindow::build_menus() {
  std::map<ActionMenu, QMenu*> menus;
  for (const ActionInfo& info : all_actions()) {
    QMenu*& menu = menus[info.menu];
    if (menu == nullptr) menu = menuBar()->addMenu(menu_title(info.menu));
    if (info.id == ActionId::kQuit) menu->addSeparator();
    menu->addAction(actions_.at(info.id));
    if (info.id == ActionId::kOpenFolder) recent_menu_ = menu->addMenu(QStringLiteral("Open &recent"));
  }
  menus[ActionMenu::kView]->addSeparator();
  for (QDockWidget* dock : timeline_->findChildren<QDockWidget*>())
    menus[ActionMenu::kView]->addAction(dock->toggleViewAction());
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
  for (const ActionInfo& info : all_actions())
    actions_.at(info.id)->setEnabled(can_perform(info.id));
}

bool MainWindow::can_perform(ActionId id) const {
  switch (action_info(id).context) {
    case ActionContext::kTimeline:
      return page() == ActionId::kPageTimeline && timeline_->can_perform(id);
    case ActionContext::kKernels:
      return (page() == ActionId::kPageKernels && kernels_->can_perform(id)) ||
             (page() == ActionId::kPageLayers && layers_->can_perform(id));
    case ActionContext::kWindow:
      break;
  }
  if (id == ActionId::kReload) return loading_ >= 0;
  const bool no_run = run_ == nullptr && (experiment_ != nullptr || comparison_ != nullptr);
  if (id == ActionId::kExportReport) return no_run || (run_ != nullptr && run_->trace != nullptr);
  if (id == ActionId::kShowPublished) return no_run;
  return true;
}

void MainWindow::perform(ActionId id) {
  if (timeline_->perform(id)) return;
  if (page() == ActionId::kPageLayers ? layers_->perform(id) : kernels_->perform(id)) return;
  switch (id) {
    case ActionId::kOpenFile:
      return choose_file();
    case ActionId::kOpenFolder:
      return choose_folder();
    case ActionId::kReload:
      return load_entry(loading_);
    case ActionId::kExportImage:
      return choose_image();
    case ActionId::kExportReport:
      return choose_report();
    case ActionId::kQuit:
      close();
      return;
    case ActionId::kFocusFilter:
      return filter_bar_->focus_name();
    case ActionId::kClearFilter:
      return filter_bar_->clear();
    case ActionId::kThemeSystem:
      return set_theme(Theme::kSystem);
    case ActionId::kThemeLight:
      return set_theme(Theme::kLight);
    case ActionId::kThemeDark:
      return set_theme(Theme::kDark);
    case ActionId::kShowPublished:
      return toggle_published();
    case ActionId::kPalette:
      return palette_->open_with([this](ActionId action) { return can_perform(action); });
    case ActionId::kHelp:
      if (help_ == nullptr) help_ = new HelpDialog(this);
      return help_->open();
    case ActionId::kAbout:
      return show_about();
    default:
      show_page(id);
  }
}

void MainWindow::set_theme(Theme theme) {
  settings_.set_theme(theme);
  apply_theme(theme);
}

void MainWindow::show_about() {
  QMessageBox::about(this, QStringLiteral("About swinscope"),
                     QStringLiteral("swinscope %1\nProfiling and scaling analysis for CUDA deep learning\n\n"
                                    "Licence: Apache-2.0. Uses Qt %2 (LGPL).")
                         .arg(QCoreApplication::applicationVersion(), QString::fromUtf8(qVersion())));
}

void MainWindow::choose_file() {
  const QStringList paths = QFileDialog::getOpenFileNames(
      this, QStringLiteral("Open traces"), {},
      QStringLiteral("Traces (*.db *.sqlite *.sqlite3 *.json *.json.gz *.gz);;All files (*)"));
  open(paths);
}

void MainWindow::choose_folder() {
  const QString path = QFileDialog::getExistingDirectory(this, QStringLiteral("Open a run or an experiment"));
  if (!path.isEmpty()) open({path});
}

void MainWindow::choose_image() {
  const QString path = QFileDialog::getSaveFileName(this, QStringLiteral("Export the page as an image"),
                                                    QStringLiteral("swinscope.png"), QStringLiteral("Images (*.png)"));
  if (!path.isEmpty()) export_image(path);
}

void MainWindow::choose_report() {
  const QString path =
      QFileDialog::getSaveFileName(this, QStringLiteral("Export a report"), QStringLiteral("report.html"),
                                   QStringLiteral("Reports (*.html *.md *.csv *.json)"));
  if (!path.isEmpty()) export_report(path);
}

bool MainWindow::export_image(const QString& path) {
  if (const auto problem = write_whole(path, png_of(*pages_->currentWidget()))) {
    show_problem(*problem);
    return false;
  }
  statusBar()->showMessage(QStringLiteral("wrote %1").arg(path));
  return true;
}

// Beside the window, since it goes over all events again.
void MainWindow::export_report(const QString& path) {
  if (!can_perform(ActionId::kExportReport)) return;
  const QString suffix = QFileInfo(path).suffix().toLower();
  if (!QStringList{QStringLiteral("html"), QStringLiteral("md"), QStringLiteral("csv"), QStringLiteral("json")}
           .contains(suffix)) {
    show_problem({QStringLiteral("%1: no report is written").arg(path),
                  QStringLiteral("the name's ending says which kind of report, but “%1” is none").arg(suffix),
                  QStringLiteral("give a name that ends in .html, .md, .csv or .json")});
    return;
  }
  const Subject subject{run_, experiment_, comparison_};
  const auto work = [suffix, path, subject]() -> std::shared_ptr<Problem> {
    try {
      const auto problem = write_whole(path, QByteArray::fromStdString(report_text(suffix, subject)));
      return problem ? std::make_shared<Problem>(*problem) : nullptr;
    } catch (const Error& error) {
      return std::make_shared<Problem>(problem_of(error));
    } catch (const std::exception& error) {
      return std::make_shared<Problem>(problem_of(error));
    }
  };
  exporting_.start(work, [this, path, source = subject.path()](const std::shared_ptr<Problem>& problem) {
    if (problem != nullptr) {
      show_problem(*problem);
    } else {
      statusBar()->showMessage(QStringLiteral("wrote %1, as does: swinscope report %2 -o %1").arg(path, source));
    }
  });
}

}  // namespace swinscope::gui
