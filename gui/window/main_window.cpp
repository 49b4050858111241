#include "gui/window/main_window.h"

#include <QCloseEvent>
#include <QLabel>
#include <QMimeData>
#include <QStackedWidget>
#include <QStatusBar>
#include <QTabBar>
#include <QVBoxLayout>
#include <algorithm>

#include "gui/pages/page.h"
#include "gui/pages/pages.h"
#include "gui/widgets/banner.h"
#include "gui/widgets/filter_bar.h"
#include "gui/widgets/plain_tips.h"
#include "gui/widgets/window_place.h"

namespace swinscope::gui {
namespace {

// Where the settings keep how the user has arranged a page.
QString arrangement_key(const PageInfo& info) { return QStringLiteral("arrangement/") + QLatin1String(info.id); }

}  // namespace

MainWindow::MainWindow(QWidget* parent) : QMainWindow(parent) {
  show_tips_plainly();
  setObjectName(QStringLiteral("main"));
  setWindowIcon(program_icon());
  setAcceptDrops(true);
  resize(1280, 720);
  build_layout();
  build_pages();
  build_commands();
  build_actions();
  build_menus();
  connect_loader();
  restoreGeometry(settings_.value(QStringLiteral("geometry")));
  keep_on_screen(*this);
  set_session({});
}

MainWindow::~MainWindow() = default;

void MainWindow::build_layout() {
  auto* centre = new QWidget(this);
  auto* column = new QVBoxLayout(centre);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(2);
  tabs_ = new QTabBar(centre);
  tabs_->setObjectName(QStringLiteral("pages"));
  tabs_->setAccessibleName(QStringLiteral("Pages"));
  tabs_->setExpanding(false);
  tabs_->setDrawBase(false);
  breadcrumbs_ = new QLabel(centre);
  breadcrumbs_->setObjectName(QStringLiteral("breadcrumbs"));
  breadcrumbs_->setTextFormat(Qt::RichText);  // links; names in them are escaped
  breadcrumbs_->setMargin(4);
  breadcrumbs_->setTextInteractionFlags(Qt::LinksAccessibleByMouse | Qt::LinksAccessibleByKeyboard);
  breadcrumbs_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  filter_bar_ = new FilterBar(filter_, centre);
  banner_ = new Banner(centre);
  stack_ = new QStackedWidget(centre);
  column->addWidget(tabs_);
  column->addWidget(breadcrumbs_);
  column->addWidget(filter_bar_);
  column->addWidget(banner_);
  column->addWidget(stack_, 1);
  setCentralWidget(centre);
  connect(breadcrumbs_, &QLabel::linkActivated, this, &MainWindow::follow_breadcrumb);
  connect(filter_bar_, &FilterBar::run_chosen, this, &MainWindow::load_entry);
}

void MainWindow::build_pages() {
  for (const PageInfo& info : all_pages()) {
    Page* page = pages_.emplace_back(info.make(stack_));
    page->setObjectName(QString::fromUtf8(info.id));
    page->arrange(settings_.value(arrangement_key(info)));
    stack_->addWidget(page);
    tabs_->addTab(plain_text(QString::fromUtf8(info.title)));
    connect(page, &Page::page_requested, this, &MainWindow::show_page);
    connect(page, &Page::call_requested, this, &MainWindow::show_call);
    connect(page, &Page::name_requested, filter_bar_, &FilterBar::set_name);
    connect(page, &Page::evidence_requested, this, &MainWindow::show_evidence);
    connect(page, &Page::open_requested, this, &MainWindow::open);
    connect(page, &Page::said, statusBar(), [this](const QString& text) { statusBar()->showMessage(text); });
    connect(page, &Page::problem, this, &MainWindow::show_problem);
    connect(page, &Page::changed, this, [this] {
      update_breadcrumbs();
      update_actions();
    });
  }
  connect(tabs_, &QTabBar::currentChanged, this,
          [this](int index) { show_page(QString::fromUtf8(all_pages()[static_cast<std::size_t>(index)].id)); });
  connect(&filter_, &FilterModel::changed, this, [this] {
    for (Page* page : pages_)
      page->set_filter(filter_.filter());
    update_breadcrumbs();
  });
}

Page& MainWindow::page() const { return *pages_[static_cast<std::size_t>(tabs_->currentIndex())]; }

QString MainWindow::page_id() const { return page().objectName(); }

void MainWindow::show_page(const QString& id) {
  const int index = find_page(id);
  if (index < 0) return;
  tabs_->setCurrentIndex(index);
  stack_->setCurrentIndex(index);
  page().setFocus();
  update_breadcrumbs();
  update_actions();
}

void MainWindow::show_call(const Call& call) {
  show_page(QStringLiteral("timeline"));
  if (!page().show_call(call)) {
    show_problem({QStringLiteral("the call is not in the timeline yet"), QStringLiteral("it is still loading"),
                  QStringLiteral("try again when the progress bar is gone")});
  }
}

bool MainWindow::is_settled() const {
  return !loader_.is_loading() && exporting_.is_idle() && std::ranges::all_of(pages_, &Page::is_settled);
}

void MainWindow::show_problem(const Problem& problem) { banner_->show_problem(problem); }

void MainWindow::show_warnings(const std::vector<std::string>& warnings) {
  QStringList texts;
  for (const std::string& warning : warnings)
    texts << QString::fromStdString(warning);
  banner_->show_warnings(texts);
}

// A link has the colour that the palette had when its text was set.
void MainWindow::changeEvent(QEvent* event) {
  QMainWindow::changeEvent(event);
  if (event->type() != QEvent::PaletteChange || breadcrumbs_ == nullptr) return;
  breadcrumbs_->clear();
  update_breadcrumbs();
}

void MainWindow::closeEvent(QCloseEvent* event) {
  settings_.set_value(QStringLiteral("geometry"), saveGeometry());
  for (std::size_t i = 0; i < pages_.size(); ++i)
    settings_.set_value(arrangement_key(all_pages()[i]), pages_[i]->arrangement());
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
