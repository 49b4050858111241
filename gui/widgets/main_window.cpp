#include "gui/widgets/main_window.h"

#include <QCloseEvent>
#include <QFileInfo>
#include <QLabel>
#include <QMimeData>
#include <QProgressBar>
#include <QPushButton>
#include <QStackedWidget>
#include <QStatusBar>
#include <QTabBar>
#include <QTreeView>
#include <QVBoxLayout>
#include <algorithm>
#include <array>

#include "gui/widgets/banner.h"
#include "gui/widgets/command_palette.h"
#include "gui/widgets/filter_bar.h"
#include "gui/widgets/kernels_page.h"
#include "gui/widgets/layers_page.h"
#include "gui/widgets/overview_page.h"
#include "gui/widgets/table_panel.h"
#include "gui/widgets/theme.h"
#include "gui/widgets/timeline_accessible.h"
#include "gui/widgets/timeline_page.h"
#include "gui/widgets/timeline_view.h"

namespace swinscope::gui {
namespace {

constexpr int kProgressSteps = 1000;
// The pages in the order of the tabs.
constexpr std::array kPages = {ActionId::kPageOverview, ActionId::kPageTimeline, ActionId::kPageKernels,
                               ActionId::kPageLayers};

}  // namespace

MainWindow::MainWindow(QWidget* parent) : QMainWindow(parent) {
  install_timeline_accessibility();
  setObjectName(QStringLiteral("main"));
  setWindowTitle(QStringLiteral("swinscope"));
  setAcceptDrops(true);
  resize(1280, 720);
  build_pages();
  build_status();
  build_actions();
  build_menus();
  connect_loader();
  connect_pages();
  restoreGeometry(settings_.value(QStringLiteral("geometry")));
  timeline_->restoreState(settings_.value(QStringLiteral("docks")));
  show_page(ActionId::kPageOverview);
  set_run(nullptr);
}

MainWindow::~MainWindow() = default;

void MainWindow::build_pages() {
  auto* centre = new QWidget(this);
  auto* column = new QVBoxLayout(centre);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(2);
  tabs_ = new QTabBar(centre);
  tabs_->setObjectName(QStringLiteral("pages"));
  tabs_->setAccessibleName(QStringLiteral("Pages"));
  tabs_->setExpanding(false);
  tabs_->setDrawBase(false);
  for (const ActionId page : kPages)
    tabs_->addTab(plain_text(action_info(page)));
  breadcrumbs_ = new QLabel(centre);
  breadcrumbs_->setObjectName(QStringLiteral("breadcrumbs"));
  breadcrumbs_->setMargin(4);
  breadcrumbs_->setTextInteractionFlags(Qt::LinksAccessibleByMouse | Qt::LinksAccessibleByKeyboard);
  breadcrumbs_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  filter_bar_ = new FilterBar(filter_, centre);
  banner_ = new Banner(centre);
  pages_ = new QStackedWidget(centre);
  pages_->addWidget(overview_ = new OverviewPage(pages_));
  pages_->addWidget(timeline_ = new TimelinePage(pages_));
  pages_->addWidget(kernels_ = new KernelsPage(pages_));
  pages_->addWidget(layers_ = new LayersPage(pages_));
  column->addWidget(tabs_);
  column->addWidget(breadcrumbs_);
  column->addWidget(filter_bar_);
  column->addWidget(banner_);
  column->addWidget(pages_, 1);
  setCentralWidget(centre);
}

void MainWindow::build_status() {
  phase_ = new QLabel(this);
  progress_ = new QProgressBar(this);
  progress_->setAccessibleName(QStringLiteral("Loading"));
  progress_->setRange(0, kProgressSteps);
  progress_->setMaximumWidth(220);
  cancel_ = new QPushButton(QStringLiteral("Cancel"), this);
  cancel_->setObjectName(QStringLiteral("cancel"));
  cancel_->setAccessibleName(QStringLiteral("Cancel loading"));
  connect(cancel_, &QPushButton::clicked, &loader_, &Loader::cancel);
  statusBar()->addWidget(phase_, 1);
  statusBar()->addPermanentWidget(progress_);
  statusBar()->addPermanentWidget(cancel_);
  progress_->hide();
  cancel_->hide();
}

void MainWindow::connect_loader() {
  connect(&loader_, &Loader::started, this, &MainWindow::begin_loading);
  connect(&loader_, &Loader::progressed, this, [this](double fraction, const QString& phase) {
    progress_->setValue(static_cast<int>(fraction * kProgressSteps));
    phase_->setText(phase);
  });
  connect(&loader_, &Loader::timeline_ready, this, &MainWindow::set_run);
  connect(&loader_, &Loader::run_loaded, this, [this](const RunPointer& run) {
    end_loading();
    remember(run->path);
    QStringList warnings;
    for (const std::string& warning : run->trace->warnings)
      warnings << QString::fromStdString(warning);
    banner_->show_warnings(warnings);
  });
  connect(&loader_, &Loader::experiment_loaded, this, [this](const ExperimentPointer& experiment) {
    end_loading();
    remember(experiment->path);
    set_experiment(experiment);
  });
  connect(&loader_, &Loader::comparison_loaded, this, [this](const ComparisonPointer& comparison) {
    end_loading();
    remember(entries_[static_cast<std::size_t>(loading_)].path);
    set_comparison(comparison);
  });
  connect(&loader_, &Loader::failed, this, [this](const QString&, const Problem& problem) {
    end_loading();
    overview_->set_unfinished();
    show_problem(problem);
    show_entries();
  });
  connect(&loader_, &Loader::cancelled, this, [this](const QString& path) {
    end_loading();
    overview_->set_unfinished();
    show_problem({QStringLiteral("%1: loading was cancelled").arg(path), {}, QStringLiteral("F5 loads it again")});
    show_entries();
  });
}

void MainWindow::begin_loading(const QString& path) {
  progress_->setValue(0);
  progress_->show();
  cancel_->show();
  phase_->setText(QStringLiteral("Opening %1").arg(path));
  banner_->dismiss();
}

void MainWindow::end_loading() {
  progress_->hide();
  cancel_->hide();
  phase_->clear();
  update_actions();
}

void MainWindow::remember(const QString& path) {
  settings_.add_recent_file(path);
  rebuild_recent_menu();
}

void MainWindow::connect_pages() {
  connect(tabs_, &QTabBar::currentChanged, this,
          [this](int index) { show_page(kPages[static_cast<std::size_t>(index)]); });
  connect(breadcrumbs_, &QLabel::linkActivated, this, &MainWindow::follow_breadcrumb);
  connect(filter_bar_, &FilterBar::run_chosen, this, &MainWindow::load_entry);
  connect(&filter_, &FilterModel::changed, this, [this] {
    overview_->set_filter(filter_.filter());
    timeline_->set_filter(filter_.filter());
    kernels_->set_filter(filter_.filter());
    layers_->set_filter(filter_.filter());
    update_breadcrumbs();
  });
  connect(overview_, &OverviewPage::page_requested, this, &MainWindow::show_page);
  connect(overview_, &OverviewPage::point_requested, this, &MainWindow::open_point);
  connect(overview_, &OverviewPage::experiment_requested, this, [this](int series) {
    if (comparison_ != nullptr) open({comparison_->paths[series]});
  });
  connect(timeline_, &TimelinePage::place_changed, this, &MainWindow::update_breadcrumbs);
  connect(timeline_, &TimelinePage::actions_changed, this, &MainWindow::update_actions);
  connect(timeline_, &TimelinePage::problem, this, &MainWindow::show_problem);
  connect(kernels_, &KernelsPage::actions_changed, this, &MainWindow::update_actions);
  connect(layers_, &LayersPage::actions_changed, this, &MainWindow::update_actions);
  connect(kernels_, &KernelsPage::call_requested, this, &MainWindow::show_call);
  connect(layers_, &LayersPage::call_requested, this, &MainWindow::show_call);
}

void MainWindow::show_call(const Call& call) {
  show_page(ActionId::kPageTimeline);
  if (!timeline_->show_call(call)) {
    show_problem({QStringLiteral("the call is not in the timeline yet"), QStringLiteral("it is still loading"),
                  QStringLiteral("try again when the progress bar is gone")});
  }
}

ActionId MainWindow::page() const { return kPages[static_cast<std::size_t>(tabs_->currentIndex())]; }

void MainWindow::show_page(ActionId page) {
  const auto index = static_cast<int>(std::find(kPages.begin(), kPages.end(), page) - kPages.begin());
  tabs_->setCurrentIndex(index);
  pages_->setCurrentIndex(index);
  filter_bar_->set_in_use(run_ != nullptr);
  if (page == ActionId::kPageTimeline) timeline_->view().setFocus();
  if (page == ActionId::kPageKernels) kernels_->table().setFocus();
  if (page == ActionId::kPageLayers) layers_->tree().setFocus();
  update_breadcrumbs();
  update_actions();
}

bool MainWindow::is_settled() const {
  return !loader_.is_loading() && !timeline_->is_busy() && !kernels_->is_busy() && !layers_->is_busy() &&
         !is_exporting();
}

void MainWindow::show_problem(const Problem& problem) { banner_->show_problem(problem); }

void MainWindow::closeEvent(QCloseEvent* event) {
  settings_.set_value(QStringLiteral("geometry"), saveGeometry());
  settings_.set_value(QStringLiteral("docks"), timeline_->saveState());
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
