// The timeline with what belongs to it: minimap above, search, details, statistics of the area, bookmarks.
#pragma once

#include <QMainWindow>
#include <functional>
#include <map>

#include "gui/core/actions.h"
#include "gui/core/area_statistics.h"
#include "gui/core/background.h"
#include "gui/core/bookmarks.h"
#include "gui/core/calls.h"
#include "gui/core/opened.h"
#include "gui/core/problem.h"

class QLabel;
class QListWidget;

namespace swinscope::gui {

class MinimapWidget;
class SearchBar;
class TablePanel;
class TimelineView;
struct Filter;

class TimelinePage : public QMainWindow {
  Q_OBJECT

 public:
  explicit TimelinePage(QWidget* parent = nullptr);

  // `fresh`: another run, rather than more of the same one.
  void set_run(RunPointer run, bool fresh);
  void set_filter(const Filter& filter);
  // Whether the action is one of this page; then it is done.
  bool perform(ActionId action);
  // Whether it would do something now.
  bool can_perform(ActionId action) const;
  // Selects and zooms to it. False when the timeline does not show it.
  bool show_call(const Call& call);
  // "12.3 ms to 15.0 ms"
  QString place() const;

  TimelineView& view() { return *view_; }
  SearchBar& search() { return *search_; }
  MinimapWidget& minimap() { return *minimap_; }
  Bookmarks& bookmarks() { return bookmarks_; }
  // The value of a detail of the selected event; empty when it has none of that name.
  QString detail(const QString& what) const;
  QString area_summary() const;
  bool is_busy() const;

 Q_SIGNALS:
  void place_changed();
  void actions_changed();
  void problem(const swinscope::gui::Problem& problem);
  void bookmark_edited(int row, const QString& label);

 private:
  QDockWidget* add_dock(const QString& title, const QString& name, QWidget* content);
  void build_layout();
  void build_commands();
  void connect_parts();
  void clear();
  void show_details();
  void count_area();
  void show_area(const AreaStatistics& statistics, Interval window, const std::vector<LaneId>& lanes);
  void highlight();
  void go_to_hit(bool forward);
  void close_search();
  void add_bookmark();
  void remove_bookmark();
  void rename_bookmark(int row, const QString& label);
  void show_bookmarks();
  void zoom_to_steps(const Filter& filter);

  std::map<ActionId, std::function<void()>> commands_;
  RunPointer run_;
  Bookmarks bookmarks_;
  std::vector<bool> filtered_names_;  // by the filter's name; empty: all
  QString filter_name_;

  TimelineView* view_;
  MinimapWidget* minimap_;
  SearchBar* search_;
  TablePanel* details_;
  QLabel* area_summary_;
  TablePanel* area_names_;
  TablePanel* area_lanes_;
  QListWidget* bookmark_list_;
  Background counting_;
  Background filtering_;
};

}  // namespace swinscope::gui
