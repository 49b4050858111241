// The window: pages, the filter above them, messages, and what is open.
#pragma once

#include <QMainWindow>
#include <map>

#include "gui/core/actions.h"
#include "gui/core/background.h"
#include "gui/core/calls.h"
#include "gui/core/filter.h"
#include "gui/core/loader.h"
#include "gui/core/settings.h"

class QActionGroup;
class QLabel;
class QProgressBar;
class QPushButton;
class QStackedWidget;
class QTabBar;

namespace swinscope::gui {

class Banner;
class CommandPalette;
class FilterBar;
class HelpDialog;
class KernelsPage;
class LayersPage;
class OverviewPage;
class TimelinePage;

class MainWindow : public QMainWindow {
  Q_OBJECT

 public:
  explicit MainWindow(QWidget* parent = nullptr);
  Q_DISABLE_COPY_MOVE(MainWindow)
  ~MainWindow() override;

  // Traces, run folders, experiments, foreign files; the first one is loaded.
  void open(const QStringList& paths);
  void show_page(ActionId page);
  ActionId page() const;
  void perform(ActionId action);
  bool can_perform(ActionId action) const;
  // Nothing is being loaded or computed: what is on the screen is final.
  bool is_settled() const;
  // Both report a failure in the banner. `path` decides the format of a report: .html, .md, .csv or .json.
  bool export_image(const QString& path);
  void export_report(const QString& path);
  bool is_exporting() const { return !exporting_.is_idle(); }

  OverviewPage& overview() { return *overview_; }
  TimelinePage& timeline() { return *timeline_; }
  FilterModel& filter() { return filter_; }
  KernelsPage& kernels() { return *kernels_; }
  LayersPage& layers() { return *layers_; }
  Banner& banner() { return *banner_; }
  FilterBar& filter_bar() { return *filter_bar_; }
  Loader& loader() { return loader_; }
  RunPointer run() const { return run_; }
  QString breadcrumbs() const;
  QAction& action(ActionId id) { return *actions_.at(id); }

 protected:
  void closeEvent(QCloseEvent* event) override;
  void dragEnterEvent(QDragEnterEvent* event) override;
  void dropEvent(QDropEvent* event) override;

 private:
  // What can be chosen in the filter bar.
  struct Entry {
    QString path;
    QString title;
    bool is_experiment = false;
    bool is_of_experiment = false;  // a run of the entry before it that is one
    QStringList compared;           // paths of the experiments that it compares; empty: it is no comparison
  };

  void build_pages();
  void build_status();
  void build_actions();
  void build_menus();
  void rebuild_recent_menu();
  void connect_loader();
  void begin_loading(const QString& path);
  void end_loading();
  void remember(const QString& path);
  void connect_pages();
  int add_entry(const QString& path);
  int add_comparison(const QString& path, const QString& title, const QStringList& compared);
  void load_entry(int index);
  void add_runs_of(const OpenedExperiment& experiment);
  void set_run(const RunPointer& run);
  void set_experiment(const ExperimentPointer& experiment);
  void set_comparison(const ComparisonPointer& comparison);
  void toggle_published();
  void open_point(std::size_t point);
  void show_problem(const Problem& problem);
  void show_call(const Call& call);  // in the timeline
  void show_entries();
  void update_actions();
  void update_breadcrumbs();
  void follow_breadcrumb(const QString& link);
  void choose_file();
  void choose_folder();
  void choose_image();
  void choose_report();
  void set_theme(Theme theme);
  void show_about();

  Settings settings_;
  FilterModel filter_;
  Loader loader_;
  std::vector<Entry> entries_;
  int current_ = -1;  // index into entries_
  int loading_ = -1;
  RunPointer run_;
  ExperimentPointer experiment_;
  ComparisonPointer comparison_;
  bool with_published_ = false;

  std::map<ActionId, QAction*> actions_;
  QMenu* recent_menu_ = nullptr;
  QTabBar* tabs_ = nullptr;
  QLabel* breadcrumbs_ = nullptr;
  FilterBar* filter_bar_ = nullptr;
  Banner* banner_ = nullptr;
  QStackedWidget* pages_ = nullptr;
  OverviewPage* overview_ = nullptr;
  TimelinePage* timeline_ = nullptr;
  KernelsPage* kernels_ = nullptr;
  LayersPage* layers_ = nullptr;
  QProgressBar* progress_ = nullptr;
  QLabel* phase_ = nullptr;
  QPushButton* cancel_ = nullptr;
  QActionGroup* themes_ = nullptr;
  CommandPalette* palette_ = nullptr;
  HelpDialog* help_ = nullptr;
  Background exporting_;
};

}  // namespace swinscope::gui
