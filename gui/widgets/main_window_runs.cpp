// What is open in the window: runs, experiments, and which of them the pages show.
#include <QDir>
#include <QFileInfo>
#include <QLabel>
#include <QRegularExpression>
#include <algorithm>
#include <filesystem>

#include "analyzer/experiment/comparison.h"
#include "gui/widgets/banner.h"
#include "gui/widgets/filter_bar.h"
#include "gui/widgets/kernels_page.h"
#include "gui/widgets/layers_page.h"
#include "gui/widgets/main_window.h"
#include "gui/widgets/overview_page.h"
#include "gui/widgets/timeline_page.h"

namespace swinscope::gui {

void MainWindow::open(const QStringList& paths) {
  if (paths.isEmpty()) return;
  int first = -1;
  QStringList experiments;
  for (const QString& path : paths) {
    const int entry = add_entry(path);
    if (first < 0) first = entry;
    if (entries_[static_cast<std::size_t>(entry)].is_experiment)
      experiments << entries_[static_cast<std::size_t>(entry)].path;
  }
  if (experiments.size() > 1) {
    const QString all = experiments.join(QStringLiteral(", "));
    first = add_comparison(all, QStringLiteral("Comparison of %1").arg(all), experiments);
  }
  load_entry(first);
}

// Where it stands in the list; a folder of experiments stands for their comparison.
int MainWindow::add_entry(const QString& path) {
  const QString clean = QDir::cleanPath(path);
  const auto known =
      std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) { return entry.path == clean; });
  if (known != entries_.end()) return static_cast<int>(known - entries_.begin());
  const bool experiment = is_experiment(clean.toStdString());
  QStringList compared;
  if (!experiment) {
    for (const std::filesystem::path& found : experiments_at(clean.toStdString()))
      compared << QString::fromStdString(found.string());
  }
  if (!compared.isEmpty()) return add_comparison(clean, QFileInfo(clean).fileName(), compared);
  entries_.push_back({clean, QFileInfo(clean).fileName(), experiment, false, {}});
  return static_cast<int>(entries_.size()) - 1;
}

// Behind it in the list: its experiments.
int MainWindow::add_comparison(const QString& path, const QString& title, const QStringList& compared) {
  const auto known =
      std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) { return entry.path == path; });
  if (known != entries_.end()) return static_cast<int>(known - entries_.begin());
  const int index = static_cast<int>(entries_.size());
  entries_.push_back({path, title, false, false, compared});
  for (const QString& experiment : compared)
    add_entry(experiment);
  return index;
}

void MainWindow::load_entry(int index) {
  if (index < 0 || index >= static_cast<int>(entries_.size())) return;
  loading_ = index;
  show_entries();
  const Entry& entry = entries_[static_cast<std::size_t>(index)];
  if (!entry.compared.isEmpty()) {
    loader_.load_comparison(entry.compared, with_published_);
  } else if (entry.is_experiment && with_published_) {
    loader_.load_comparison({entry.path}, true);
  } else {
    loader_.load(entry.path);
  }
}

void MainWindow::show_entries() {
  QStringList titles;
  for (const Entry& entry : entries_)
    titles << (entry.is_of_experiment ? QStringLiteral("   ") + entry.title : entry.title);
  filter_bar_->set_runs(titles, loader_.is_loading() || current_ < 0 ? loading_ : current_);
  update_breadcrumbs();
}

void MainWindow::set_run(const RunPointer& run) {
  // A preview of the same path is followed by the whole: the user's view stays.
  const bool fresh = run == nullptr || run_ == nullptr || run_->path != run->path || run_->trace != nullptr;
  run_ = run;
  if (run != nullptr) {
    current_ = loading_;
    if (!entries_[static_cast<std::size_t>(current_)].is_of_experiment) experiment_ = nullptr;
    if (experiment_ == nullptr) comparison_ = nullptr;
  }
  overview_->set_run(run);
  timeline_->set_run(run, fresh);
  kernels_->set_run(run);
  layers_->set_run(run);
  if (fresh || (run != nullptr && run->trace == nullptr)) filter_bar_->set_run(run.get());
  show_page(page());
  show_entries();
}

void MainWindow::set_experiment(const ExperimentPointer& experiment) {
  set_run(nullptr);
  experiment_ = experiment;
  if (comparison_ != nullptr && !comparison_->paths.contains(experiment->path)) comparison_ = nullptr;
  current_ = loading_;
  add_runs_of(*experiment);
  overview_->set_experiment(experiment);
  show_page(ActionId::kPageOverview);
  show_entries();
}

void MainWindow::set_comparison(const ComparisonPointer& comparison) {
  set_run(nullptr);
  experiment_ = nullptr;
  comparison_ = comparison;
  current_ = loading_;
  overview_->set_comparison(comparison);
  QStringList warnings;
  for (const std::string& warning : comparison->document.warnings)
    warnings << QString::fromStdString(warning);
  banner_->show_warnings(warnings);
  show_page(ActionId::kPageOverview);
  show_entries();
}

void MainWindow::toggle_published() {
  with_published_ = !with_published_;
  action(ActionId::kShowPublished).setChecked(with_published_);
  load_entry(current_);
}

// Below the experiment in the list, once.
void MainWindow::add_runs_of(const OpenedExperiment& experiment) {
  const auto here = entries_.begin() + current_;
  if (here + 1 != entries_.end() && (here + 1)->is_of_experiment) return;
  std::vector<Entry> runs;
  for (const ExperimentPoint& point : experiment.experiment.points) {
    const QString folder = QString::fromStdString(point.folder.string());
    const QString name = QFileInfo(folder).fileName();
    const auto add = [&](const std::string& run) {
      const QString title = QStringLiteral("%1/%2").arg(name, QString::fromStdString(run));
      runs.push_back({QDir(folder).filePath(QString::fromStdString(run)), title, false, true, {}});
    };
    if (!point.tracing.empty()) add(point.tracing);
    for (const std::string& timing : point.timing)
      add(timing);
  }
  entries_.insert(here + 1, runs.begin(), runs.end());
}

// Its recording, where the causes are; where there is none, its first timing run.
void MainWindow::open_point(std::size_t index) {
  if (experiment_ == nullptr || index >= experiment_->experiment.points.size()) return;
  const ExperimentPoint& point = experiment_->experiment.points[index];
  if (point.tracing.empty() && point.timing.empty()) {
    show_problem({QStringLiteral("%1: nothing to open").arg(QString::fromStdString(point.folder.string())),
                  QStringLiteral("its times were given, not recorded"),
                  {}});
    return;
  }
  const std::string run = point.tracing.empty() ? point.timing.front() : point.tracing;
  open({QDir(QString::fromStdString(point.folder.string())).filePath(QString::fromStdString(run))});
}

void MainWindow::update_breadcrumbs() {
  QStringList parts;
  const auto link = [](const QString& target, const QString& text) {
    return QStringLiteral("<a href=\"%1\">%2</a>").arg(target, text.toHtmlEscaped());
  };
  if (comparison_ != nullptr) parts << link(QStringLiteral("comparison"), QStringLiteral("comparison"));
  if (experiment_ != nullptr) parts << link(QStringLiteral("experiment"), QFileInfo(experiment_->path).fileName());
  if (run_ != nullptr && current_ >= 0)
    parts << link(QStringLiteral("run"), entries_[static_cast<std::size_t>(current_)].title);
  if (parts.isEmpty()) parts << QStringLiteral("nothing is open");
  parts << plain_text(action_info(page())).toHtmlEscaped();
  if (page() == ActionId::kPageTimeline && !timeline_->place().isEmpty()) parts << timeline_->place().toHtmlEscaped();
  if (!(filter_.filter() == Filter())) parts << link(QStringLiteral("unfilter"), QStringLiteral("filtered: clear"));
  breadcrumbs_->setText(parts.join(QStringLiteral(" › ")));
}

QString MainWindow::breadcrumbs() const {
  return breadcrumbs_->text().remove(QRegularExpression(QStringLiteral("<[^>]*>")));
}

void MainWindow::follow_breadcrumb(const QString& link) {
  if (link == QLatin1String("run")) {
    show_page(ActionId::kPageOverview);
  } else if (link == QLatin1String("unfilter")) {
    filter_bar_->clear();
  } else if (link == QLatin1String("experiment") && experiment_ != nullptr) {
    open({experiment_->path});
  } else if (comparison_ != nullptr) {
    const auto entry = std::find_if(entries_.begin(), entries_.end(), [this](const Entry& e) {
      return e.compared == comparison_->paths || (comparison_->paths == QStringList(e.path) && e.is_experiment);
    });
    load_entry(static_cast<int>(entry - entries_.begin()));
  }
}

}  // namespace swinscope::gui
