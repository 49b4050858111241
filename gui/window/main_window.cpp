#include "gui/window/main_window.h"

#include <QCloseEvent>
#include <QCoreApplication>
#include <QDateTime>
#include <QDir>
#include <QFileInfo>
#include <QMimeData>
#include <QStatusBar>
#include <QTabBar>
#include <QVBoxLayout>
#include <utility>

#include "gui/pages/page.h"
#include "gui/pages/page_stack.h"
#include "gui/pages/pages.h"
#include "gui/widgets/banner.h"
#include "gui/widgets/breadcrumbs.h"
#include "gui/widgets/filter_bar.h"
#include "gui/widgets/load_status.h"
#include "gui/widgets/page_picture.h"
#include "gui/widgets/plain_tips.h"
#include "gui/widgets/recent_menu.h"
#include "gui/widgets/window_place.h"

namespace swinscope::gui {
namespace {

// The program may be a test without a version.
QString program_text() {
  const QString version = QCoreApplication::applicationVersion();
  return version.isEmpty() ? QStringLiteral("swinscope") : QStringLiteral("swinscope ") + version;
}

}  // namespace

MainWindow::MainWindow(QWidget* parent) : QMainWindow(parent) {
  show_tips_plainly();
  setObjectName(QStringLiteral("main"));
  setWindowIcon(program_icon());
  setAcceptDrops(true);
  resize(1280, 720);
  build_layout();
  build_commands();
  build_actions();
  build_menus();
  connect_pages();
  connect_runs();
  restoreGeometry(settings_.value(QStringLiteral("geometry")));
  keep_on_screen(*this);
  show_session(false);
}

MainWindow::~MainWindow() = default;

void MainWindow::build_layout() {
  auto* centre = new QWidget(this);
  auto* column = new QVBoxLayout(centre);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(2);
  // In the order in which Tab goes through them; a page's controls that come later are behind it.
  auto* tabs = new QTabBar(centre);
  breadcrumbs_ = new Breadcrumbs(centre);
  filter_bar_ = new FilterBar(filter_, centre);
  banner_ = new Banner(centre);
  pages_ = new PageStack(settings_, tabs, centre);
  column->addWidget(tabs);
  column->addWidget(breadcrumbs_);
  column->addWidget(filter_bar_);
  column->addWidget(banner_);
  column->addWidget(pages_, 1);
  setCentralWidget(centre);
  connect(breadcrumbs_, &Breadcrumbs::linkActivated, this, &MainWindow::follow_breadcrumb);
  connect(filter_bar_, &FilterBar::run_chosen, &runs_, &OpenRuns::load);
}

void MainWindow::connect_pages() {
  const auto show_state = [this] {
    update_breadcrumbs();
    update_actions();
  };
  for (const Page* page : pages_->pages()) {
    connect(page, &Page::page_requested, this, &MainWindow::show_page);
    connect(page, &Page::call_requested, this, &MainWindow::show_call);
    connect(page, &Page::name_requested, filter_bar_, &FilterBar::set_name);
    connect(page, &Page::evidence_requested, this, &MainWindow::show_evidence);
    connect(page, &Page::open_requested, this, &MainWindow::open);
    connect(page, &Page::said, this, &MainWindow::say);
    connect(page, &Page::problem, this, &MainWindow::show_problem);
    connect(page, &Page::changed, this, show_state);
  }
  connect(pages_, &PageStack::page_shown, this, show_state);
  connect(&filter_, &FilterModel::changed, this, [this] {
    for (Page* page : pages_->pages())
      page->set_filter(filter_.filter());
    update_breadcrumbs();
  });
}

void MainWindow::connect_runs() {
  new LoadStatus(*statusBar(), loader());
  connect(&exports_, &Exports::said, this, &MainWindow::say);
  connect(&exports_, &Exports::problem, this, &MainWindow::show_problem);
  connect(&loader(), &Loader::started, banner_, &Banner::dismiss);
  connect(&loader(), &Loader::started, this, [this](const QString& path) {
    if (awaited_ && awaited_->path != path) awaited_.reset();  // something else is wanted by now
  });
  connect(&runs_, &OpenRuns::session_changed, this, &MainWindow::show_session);
  connect(&runs_, &OpenRuns::places_changed, this, [this] {
    filter_bar_->set_runs(runs_.titles(), runs_.place());
    update_breadcrumbs();
  });
  connect(&runs_, &OpenRuns::opened_together, this, [this](const QStringList& paths) {
    for (Page* page : pages_->pages())
      page->compare_runs(paths);
  });
  connect(&runs_, &OpenRuns::run_loaded, this, [this](const RunPointer& run, qsizetype others) {
    if (others > 0 && page_id() != QLatin1String("compare")) {
      say(QStringLiteral("%1 more can be chosen in the list of runs; the page Compare puts them side by side")
              .arg(others));
    }
    if (awaited_ && awaited_->path == run->path) show_awaited();
  });
  connect(&runs_, &OpenRuns::opened, recent_menu_, &RecentMenu::add);
  connect(&runs_, &OpenRuns::warned, this, &MainWindow::show_warnings);
  connect(&runs_, &OpenRuns::said, this, &MainWindow::say);
  connect(&runs_, &OpenRuns::unfinished, this, [this](const Problem& problem) {
    for (Page* page : pages_->pages())
      page->set_unfinished();
    show_problem(problem);
  });
}

Page& MainWindow::page() const { return pages_->current(); }

QString MainWindow::page_id() const { return pages_->current_id(); }

void MainWindow::show_page(const QString& id) { pages_->show_page(id); }

void MainWindow::show_call(const Call& call) {
  show_page(QStringLiteral("timeline"));
  if (!page().show_call(call)) {
    show_problem({QStringLiteral("the call is not in the timeline yet"), QStringLiteral("it is still loading"),
                  QStringLiteral("try again when the progress bar is gone")});
  }
}

void MainWindow::show_evidence(const Evidence& evidence) {
  awaited_ = evidence;
  const QString path = QDir::cleanPath(evidence.path);
  if (evidence.path.isEmpty() || runs_.shows(path)) return show_awaited();
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

void MainWindow::show_session(bool is_more) {
  const Session& session = runs_.session();
  const QString name = runs_.title();
  setWindowTitle(name.isEmpty() ? QStringLiteral("swinscope") : QStringLiteral("%1 — swinscope").arg(name));
  for (Page* page : pages_->pages())
    page->set_session(session);
  // Of more of the same run the user's filter stays.
  if (!is_more || session.run->trace == nullptr) filter_bar_->set_run(session.run.get());
  filter_bar_->set_in_use(session.run != nullptr);
  if (session.run == nullptr) show_page(QString::fromUtf8(all_pages().front().id));
  update_breadcrumbs();
  update_actions();
}

void MainWindow::update_breadcrumbs() {
  const Session& session = runs_.session();
  QList<Crumb> crumbs;
  if (session.comparison != nullptr) crumbs << Crumb{QStringLiteral("comparison"), QStringLiteral("comparison")};
  if (session.experiment != nullptr)
    crumbs << Crumb{QFileInfo(session.experiment->path).fileName(), QStringLiteral("experiment")};
  if (session.run != nullptr) crumbs << Crumb{runs_.title(), QStringLiteral("run")};
  if (crumbs.isEmpty()) crumbs << Crumb{QStringLiteral("nothing is open")};
  crumbs << Crumb{pages_->current_title()};
  if (!page().place().isEmpty()) crumbs << Crumb{page().place()};
  if (!(filter_.filter() == Filter())) crumbs << Crumb{QStringLiteral("filtered: clear"), QStringLiteral("unfilter")};
  breadcrumbs_->show_crumbs(crumbs);
}

QString MainWindow::breadcrumbs() const { return breadcrumbs_->plain(); }

void MainWindow::follow_breadcrumb(const QString& link) {
  if (link == QLatin1String("run")) {
    show_page(QString::fromUtf8(all_pages().front().id));
  } else if (link == QLatin1String("unfilter")) {
    filter_bar_->clear();
  } else if (link == QLatin1String("experiment")) {
    open({runs_.session().experiment->path});
  } else {
    runs_.load_comparison();
  }
}

// What the picture is of: the page and its place, the run, the part of it, and when.
PictureTitle MainWindow::picture_title() const {
  PictureTitle title{pages_->current_title(), runs_.title()};
  if (!page().place().isEmpty()) title.title += QStringLiteral(", ") + page().place();
  if (title.of.isEmpty()) title.of = QStringLiteral("nothing is open");
  if (!(filter_.filter() == Filter())) title.of += QStringLiteral(", filtered");
  title.of += QStringLiteral("; %1, %2").arg(program_text(), QDateTime::currentDateTime().toString(Qt::ISODate));
  return title;
}

bool MainWindow::is_settled() const {
  return !runs_.loader().is_loading() && exports_.is_idle() && pages_->is_settled();
}

void MainWindow::say(const QString& text) { statusBar()->showMessage(text); }

void MainWindow::show_problem(const Problem& problem) { banner_->show_problem(problem); }

void MainWindow::show_warnings(const std::vector<std::string>& warnings) {
  QStringList texts;
  for (const std::string& warning : warnings)
    texts << QString::fromStdString(warning);
  banner_->show_warnings(texts);
}

void MainWindow::closeEvent(QCloseEvent* event) {
  settings_.set_value(QStringLiteral("geometry"), saveGeometry());
  pages_->keep_arrangement(settings_);
  QMainWindow::closeEvent(event);
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event) {
  if (event->mimeData()->hasUrls()) event->acceptProposedAction();
}

void MainWindow::dropEvent(QDropEvent* event) {
  QStringList paths;
  for (const QUrl& url : event->mimeData()->urls()) {
    if (url.isLocalFile()) paths << url.toLocalFile();
  }
  open(paths);
}

}  // namespace swinscope::gui
