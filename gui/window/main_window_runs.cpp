// What is open in the window: runs, experiments, and which of them the pages show.
#include <QDir>
#include <QFileInfo>
#include <QLabel>
#include <QRegularExpression>
#include <QStatusBar>
#include <algorithm>
#include <iterator>
#include <utility>

#include "analyzer/experiment/comparison.h"
#include "gui/pages/page.h"
#include "gui/pages/pages.h"
#include "gui/widgets/banner.h"
#include "gui/widgets/filter_bar.h"
#include "gui/widgets/load_status.h"
#include "gui/window/main_window.h"

namespace swinscope::gui {

// Runs that are opened at once can be compared; experiments are on the first page.
void MainWindow::open(const QStringList& paths) {
  QStringList runs;
  std::ranges::copy_if(paths, std::back_inserter(runs),
                       [](const QString& path) { return experiments_at(path.toStdString()).empty(); });
  if (paths.isEmpty()) return;
  others_ = runs.size() - 1;
  load_entry(entries_.add(paths));
  if (runs.size() < 2) return;
  for (Page* page : pages_)
    page->compare_runs(runs);
}

void MainWindow::load_entry(int index) {
  if (!entries_.has(index)) return;
  loading_ = index;
  show_entries();
  const Entry& entry = entries_.at(index);
  if (!entry.compared.isEmpty()) {
    loader_.load_comparison(entry.compared, with_published_);
  } else if (entry.is_experiment && with_published_) {
    loader_.load_comparison({entry.path}, true);
  } else {
    loader_.load(entry.path);
  }
}

void MainWindow::show_evidence(const Evidence& evidence) {
  awaited_ = evidence;
  const QString path = QDir::cleanPath(evidence.path);
  const bool is_open = session_.run != nullptr && session_.run->trace != nullptr && session_.run->path == path;
  if (evidence.path.isEmpty() || is_open) return show_awaited();
  awaited_->path = path;
  open({path});
}

void MainWindow::show_awaited() {
  const Evidence evidence = *std::exchange(awaited_, std::nullopt);
  show_page(evidence.page);
  const bool names_rows = evidence.page != QLatin1String("timeline") && evidence.page != QLatin1String("query");
  if (evidence.rank) filter_bar_->set_rank(*evidence.rank);
  if (!evidence.name.isEmpty() && names_rows) filter_bar_->set_name(evidence.name);
  page().present(evidence);
}

void MainWindow::connect_loader() {
  new LoadStatus(*statusBar(), loader_);
  connect(&loader_, &Loader::started, banner_, &Banner::dismiss);
  connect(&loader_, &Loader::started, this, [this](const QString& path) {
    if (awaited_ && awaited_->path != path) awaited_.reset();  // something else is wanted by now
  });
  connect(&loader_, &Loader::timeline_ready, this, [this](const RunPointer& run) {
    const bool of_experiment = entries_.at(loading_).is_of_experiment && session_.experiment != nullptr;
    set_session(of_experiment ? Session{run, session_.experiment, session_.comparison} : Session{run, {}, {}});
  });
  connect(&loader_, &Loader::run_loaded, this, [this](const RunPointer& run) {
    remember(run->path);
    show_warnings(run->trace->warnings);
    watch_.watch(run->path);
    if (others_ > 0 && page_id() != QLatin1String("compare")) {
      statusBar()->showMessage(
          QStringLiteral("%1 more can be chosen in the list of runs; the page Compare puts them side by side")
              .arg(others_));
    }
    others_ = 0;
    if (watch_.is_recording())
      statusBar()->showMessage(QStringLiteral("still being recorded: F5 reads what has come since"));
    if (awaited_ && awaited_->path == run->path) show_awaited();
  });
  connect(&watch_, &RunWatch::grew, this,
          [this] { statusBar()->showMessage(QStringLiteral("there is more of this run: F5 reads it")); });
  connect(&watch_, &RunWatch::ended, this, [this] {
    if (loader_.is_loading()) return;
    statusBar()->showMessage(QStringLiteral("the recording has ended: it is read again"));
    load_entry(current_);
  });
  connect(&loader_, &Loader::experiment_loaded, this, [this](const ExperimentPointer& experiment) {
    remember(experiment->path);
    entries_.add_runs_of(loading_, experiment->experiment);
    const bool is_compared = session_.comparison != nullptr && session_.comparison->paths.contains(experiment->path);
    set_session({{}, experiment, is_compared ? session_.comparison : nullptr});
  });
  connect(&loader_, &Loader::comparison_loaded, this, [this](const ComparisonPointer& comparison) {
    remember(entries_.at(loading_).path);
    set_session({{}, {}, comparison});
    show_warnings(comparison->document.warnings);
  });
  connect(&loader_, &Loader::failed, this, [this](const QString&, const Problem& problem) {
    forget_unreadable();
    end_unfinished(problem);
  });
  connect(&loader_, &Loader::cancelled, this, [this](const QString& path) {
    end_unfinished({QStringLiteral("%1: loading was cancelled").arg(path), {}, QStringLiteral("F5 loads it again")});
  });
}

// What could not be read is not offered again; what is on the screen stays.
void MainWindow::forget_unreadable() {
  if (!entries_.has(loading_) || loading_ == current_ || !entries_.remove(loading_)) return;
  if (loading_ < current_) --current_;
  loading_ = current_;
}

void MainWindow::end_unfinished(const Problem& problem) {
  for (Page* page : pages_)
    page->set_unfinished();
  show_problem(problem);
  show_entries();
}

void MainWindow::remember(const QString& path) {
  settings_.add_recent_file(path);
  rebuild_recent_menu();
}

void MainWindow::show_entries() {
  filter_bar_->set_runs(entries_.titles(), loader_.is_loading() || current_ < 0 ? loading_ : current_);
  update_breadcrumbs();
}

void MainWindow::set_session(const Session& session) {
  const bool is_more = is_more_of(session_.run, session.run);  // then the user's view and filter stay
  session_ = session;
  current_ = loading_;
  if (session.run == nullptr || session.run->path != watch_.path()) watch_.watch({});
  setWindowTitle(run_name().isEmpty() ? QStringLiteral("swinscope") : QStringLiteral("%1 — swinscope").arg(run_name()));
  for (Page* page : pages_)
    page->set_session(session);
  if (!is_more || session.run->trace == nullptr) filter_bar_->set_run(session.run.get());
  filter_bar_->set_in_use(session.run != nullptr);
  if (session.run == nullptr) show_page(QString::fromUtf8(all_pages().front().id));
  show_entries();
  update_actions();
}

QString MainWindow::run_name() const { return entries_.has(current_) ? entries_.at(current_).title : QString(); }

void MainWindow::toggle_published() {
  with_published_ = !with_published_;
  action(ActionId::kShowPublished).setChecked(with_published_);
  load_entry(current_);
}

void MainWindow::update_breadcrumbs() {
  QStringList parts;
  const auto link = [](const QString& target, const QString& text) {
    return QStringLiteral("<a href=\"%1\">%2</a>").arg(target, text.toHtmlEscaped());
  };
  if (session_.comparison != nullptr) parts << link(QStringLiteral("comparison"), QStringLiteral("comparison"));
  if (session_.experiment != nullptr)
    parts << link(QStringLiteral("experiment"), QFileInfo(session_.experiment->path).fileName());
  if (session_.run != nullptr) parts << link(QStringLiteral("run"), entries_.at(current_).title);
  if (parts.isEmpty()) parts << QStringLiteral("nothing is open");
  parts << plain_text(QString::fromUtf8(all_pages()[static_cast<std::size_t>(find_page(page_id()))].title))
               .toHtmlEscaped();
  if (!page().place().isEmpty()) parts << page().place().toHtmlEscaped();
  if (!(filter_.filter() == Filter())) parts << link(QStringLiteral("unfilter"), QStringLiteral("filtered: clear"));
  breadcrumbs_->setText(parts.join(QStringLiteral(" › ")));
}

QString MainWindow::breadcrumbs() const {
  return breadcrumbs_->text().remove(QRegularExpression(QStringLiteral("<[^>]*>")));
}

void MainWindow::follow_breadcrumb(const QString& link) {
  if (link == QLatin1String("run")) {
    show_page(QString::fromUtf8(all_pages().front().id));
  } else if (link == QLatin1String("unfilter")) {
    filter_bar_->clear();
  } else if (link == QLatin1String("experiment") && session_.experiment != nullptr) {
    open({session_.experiment->path});
  } else if (session_.comparison != nullptr) {
    load_entry(entries_.find_comparison(session_.comparison->paths));
  }
}

}  // namespace swinscope::gui
