// The window: its pages, the filter above them, messages, and what is open.
#pragma once

#include <QMainWindow>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "gui/core/actions.h"
#include "gui/core/background.h"
#include "gui/core/entries.h"
#include "gui/core/evidence.h"
#include "gui/core/filter.h"
#include "gui/core/loader.h"
#include "gui/core/run_watch.h"
#include "gui/core/settings.h"

class QActionGroup;
class QLabel;
class QStackedWidget;
class QTabBar;

namespace swinscope::gui {

class Banner;
class CommandPalette;
class FilterBar;
class HelpDialog;
class Page;
struct Call;
struct PictureTitle;

class MainWindow : public QMainWindow {
  Q_OBJECT

 public:
  explicit MainWindow(QWidget* parent = nullptr);
  Q_DISABLE_COPY_MOVE(MainWindow)
  ~MainWindow() override;

  // Traces, run folders, experiments, foreign files; the first one is loaded.
  void open(const QStringList& paths);
  // By its id, as in all_pages().
  void show_page(const QString& id);
  QString page_id() const;
  void perform(ActionId action);
  bool can_perform(ActionId action) const;
  // Opens its run where that is not open.
  void show_evidence(const Evidence& evidence);
  // Nothing is being loaded or computed: what is on the screen is final.
  bool is_settled() const;
  // They report a failure in the banner. `path` decides the format: .png or .svg; of a report .html, .md, .csv or
  // .json; of events as export_trace() says.
  bool export_image(const QString& path);
  void export_report(const QString& path);
  void export_events(const QString& path);

  FilterModel& filter() { return filter_; }
  Banner& banner() { return *banner_; }
  FilterBar& filter_bar() { return *filter_bar_; }
  Loader& loader() { return loader_; }
  RunPointer run() const { return session_.run; }
  QString breadcrumbs() const;
  QAction& action(ActionId id) { return *actions_.at(id); }

 protected:
  void closeEvent(QCloseEvent* event) override;
  void dragEnterEvent(QDragEnterEvent* event) override;
  void dropEvent(QDropEvent* event) override;
  void changeEvent(QEvent* event) override;

 private:
  void build_layout();
  void build_pages();
  void build_commands();
  void build_actions();
  void build_menus();
  QAction* new_action(const QString& name, const char* text, const char* shortcuts, const char* help);
  void rebuild_recent_menu();
  void connect_loader();
  void forget_unreadable();
  void end_unfinished(const Problem& problem);
  void remember(const QString& path);
  void load_entry(int index);
  void set_session(const Session& session);
  void toggle_published();
  Page& page() const;
  Page* page_for(ActionId id) const;
  void show_problem(const Problem& problem);
  void show_warnings(const std::vector<std::string>& warnings);
  void show_call(const Call& call);  // in the timeline
  void show_awaited();
  void show_entries();
  void update_actions();
  void update_breadcrumbs();
  void follow_breadcrumb(const QString& link);
  void compare();
  void choose_file();
  void choose_folder();
  void choose_image();
  void choose_report();
  void choose_trace();
  void copy_command();
  PictureTitle picture_title() const;
  // What is open, for titles; empty: nothing.
  QString run_name() const;
  void set_theme(Theme theme);
  void show_palette();
  void show_help();
  void show_about();

  Settings settings_;
  FilterModel filter_;
  Loader loader_;
  Entries entries_;
  int current_ = -1;  // of the entries: what is shown
  int loading_ = -1;  // the one that was asked for last
  Session session_;
  bool with_published_ = false;
  RunWatch watch_;                   // of the run that is shown
  qsizetype others_ = 0;             // runs that were opened with the one that is loading
  std::optional<Evidence> awaited_;  // what is shown when its run is loaded

  std::map<ActionId, std::function<void()>> commands_;  // of the window; all others are a page's
  std::map<ActionId, QAction*> actions_;
  QList<QAction*> page_actions_;
  QMenu* recent_menu_ = nullptr;
  QTabBar* tabs_ = nullptr;
  QLabel* breadcrumbs_ = nullptr;
  FilterBar* filter_bar_ = nullptr;
  Banner* banner_ = nullptr;
  QStackedWidget* stack_ = nullptr;
  std::vector<Page*> pages_;  // as in all_pages()
  QActionGroup* themes_ = nullptr;
  CommandPalette* palette_ = nullptr;
  HelpDialog* help_ = nullptr;
  Background exporting_;
};

}  // namespace swinscope::gui
