// The window: its pages, the filter above them, messages, and what is open.
#pragma once

#include <QMainWindow>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "gui/core/actions.h"
#include "gui/core/evidence.h"
#include "gui/core/filter.h"
#include "gui/core/open_runs.h"
#include "gui/core/settings.h"
#include "gui/window/exports.h"

namespace swinscope::gui {

class Banner;
class Breadcrumbs;
class CommandPalette;
class FilterBar;
class HelpDialog;
class Page;
class PageStack;
class RecentMenu;
struct Call;
struct PictureTitle;

class MainWindow : public QMainWindow {
  Q_OBJECT

 public:
  explicit MainWindow(QWidget* parent = nullptr);
  Q_DISABLE_COPY_MOVE(MainWindow)
  ~MainWindow() override;

  // Traces, run folders, experiments, foreign files; the first one is loaded.
  void open(const QStringList& paths) { runs_.open(paths); }
  // By its id, as in all_pages().
  void show_page(const QString& id);
  QString page_id() const;
  void perform(ActionId action);
  bool can_perform(ActionId action) const;
  // Opens its run where that is not open.
  void show_evidence(const Evidence& evidence);
  // Nothing is being loaded or computed: what is on the screen is final.
  bool is_settled() const;
  // As Exports; a failure is in the banner. An empty path: the user chose nothing.
  bool export_image(const QString& path);
  void export_report(const QString& path);
  void export_events(const QString& path);

  FilterModel& filter() { return filter_; }
  Banner& banner() { return *banner_; }
  FilterBar& filter_bar() { return *filter_bar_; }
  Loader& loader() { return runs_.loader(); }
  RunPointer run() const { return runs_.session().run; }
  QString breadcrumbs() const;
  QAction& action(ActionId id) { return *actions_.at(id); }

 protected:
  void closeEvent(QCloseEvent* event) override;
  void dragEnterEvent(QDragEnterEvent* event) override;
  void dropEvent(QDropEvent* event) override;

 private:
  void build_layout();
  void connect_pages();
  void build_commands();
  void build_actions();
  void build_menus();
  QAction* new_action(const QString& name, const char* text, const char* shortcuts, const char* help);
  void connect_runs();
  void show_session(bool is_more);
  void toggle_published();
  Page& page() const;
  void say(const QString& text);  // in the status bar
  void show_problem(const Problem& problem);
  void show_warnings(const std::vector<std::string>& warnings);
  void show_call(const Call& call);  // in the timeline
  void show_awaited();
  void update_actions();
  void update_breadcrumbs();
  void follow_breadcrumb(const QString& link);
  void compare();
  void choose_file();
  void choose_folder();
  void copy_command();
  PictureTitle picture_title() const;
  void set_theme(Theme theme);
  void show_palette();
  void show_help();
  void show_about();

  Settings settings_;
  FilterModel filter_;
  OpenRuns runs_;
  Exports exports_;
  std::optional<Evidence> awaited_;  // what is shown when its run is loaded

  std::map<ActionId, std::function<void()>> commands_;  // of the window; all others are a page's
  std::map<ActionId, QAction*> actions_;
  QList<QAction*> page_actions_;
  RecentMenu* recent_menu_ = nullptr;
  Breadcrumbs* breadcrumbs_ = nullptr;
  FilterBar* filter_bar_ = nullptr;
  Banner* banner_ = nullptr;
  PageStack* pages_ = nullptr;
  CommandPalette* palette_ = nullptr;
  HelpDialog* help_ = nullptr;
};

}  // namespace swinscope::gui
