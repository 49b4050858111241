// The timeline with what belongs to it: minimap above, search, details, statistics of the area, bookmarks.
#pragma once

#include <functional>
#include <initializer_list>
#include <map>

#include "gui/core/background.h"
#include "gui/core/bookmarks.h"
#include "gui/pages/page.h"

class QDockWidget;
class QLineEdit;
class QListWidget;
class QMainWindow;
class QMenu;

namespace swinscope::gui {

class AreaPanel;
class CallHistogram;
class CategoryLegend;
class DetailsPanel;
struct GapPlace;
enum class Occurrence : std::uint8_t;
class MinimapWidget;
class SearchBar;
class TablePanel;
class TimelineView;

class TimelinePage : public Page {
  Q_OBJECT

 public:
  explicit TimelinePage(QWidget* parent = nullptr);

  void set_session(const Session& session) override;
  void set_filter(const Filter& filter) override;
  bool has(ActionId action) const override { return commands_.contains(action); }
  bool can_perform(ActionId action) const override;
  void perform(ActionId action) override { commands_.at(action)(); }
  bool is_on(ActionId action) const override;
  bool show_call(const Call& call) override;
  // The first hit of its name.
  void present(const Evidence& evidence) override;
  bool is_settled() const override;
  QString place() const override;
  QString command() const override;
  // The docks.
  QByteArray arrangement() const override;
  void arrange(const QByteArray& arrangement) override;

  TimelineView& view() { return *view_; }
  SearchBar& search() { return *search_; }
  MinimapWidget& minimap() { return *minimap_; }
  CategoryLegend& legend() { return *legend_; }
  DetailsPanel& details() { return *details_; }
  CallHistogram& call_histogram() { return *call_histogram_; }
  AreaPanel& area() { return *area_; }
  Bookmarks& bookmarks() { return bookmarks_; }
  TablePanel& hits() { return *hit_list_; }
  // The value of a detail of the selected event; empty when it has none of that name.
  QString detail(const QString& what) const;
  QString area_summary() const;
  // What the status bar said last of the critical path; empty: it is off.
  const QString& path_text() const { return path_text_; }

 Q_SIGNALS:
  void bookmark_edited(int row, const QString& label);

 private:
  QDockWidget* add_dock(const QString& title, const QString& name, QWidget* content, Qt::DockWidgetArea place);
  void build_layout();
  void build_commands();
  void build_lane_commands();
  void connect_parts();
  void clear();
  void show_details();
  void count_area();
  void select_in_area(const QString& name);
  void find_facts();
  void follow_link(const QString& link);
  void highlight();
  void go_to_hit(bool forward);
  void go_to_occurrence(Occurrence which);
  void list_hits(bool is_on);
  void find_names();
  void write_note();
  void show_note();
  void go_to_time();
  void add_actions(QMenu& menu, std::initializer_list<ActionId> ids);
  void add_event_items(QMenu& menu, TimelineEventId id);
  void show_menu(QPoint place);
  void close_search();
  void add_bookmark();
  void remove_bookmark();
  void rename_bookmark(int row, const QString& label);
  void show_bookmarks();
  void zoom_to_steps(const Filter& filter);
  void toggle_path();
  void find_path();
  void find_layers();
  void say_of_path(const QString& text);
  void find_collective();
  void find_autograd(TimelineEventId selected);
  void go_to_gap(int by);
  void find_gap(std::size_t number);
  void show_gap(std::size_t number, const GapPlace& gap);
  void forget_gap();

  QMainWindow* parts_;  // a widget that has docks
  std::map<ActionId, std::function<void()>> commands_;
  RunPointer run_;
  Bookmarks bookmarks_;
  std::vector<bool> filtered_names_;  // by the filter's name; empty: all
  QString filter_name_;
  Selection selection_;  // by the filter
  bool is_path_on_ = false;
  bool goes_to_hit_ = false;  // when the search is done
  QString path_text_;
  std::optional<TimelineEventId> longest_;  // the call that was gone to by its length
  std::optional<std::size_t> gap_;          // the one that was shown last: so many are longer
  std::size_t gaps_ = 0;                    // that there were then

  TimelineView* view_;
  MinimapWidget* minimap_;
  SearchBar* search_;
  TablePanel* hit_list_;
  std::vector<TimelineEventId> hits_;  // its rows
  CategoryLegend* legend_;
  DetailsPanel* details_;
  CallHistogram* call_histogram_;
  AreaPanel* area_;
  QDockWidget* area_dock_ = nullptr;
  QListWidget* bookmark_list_;
  QLineEdit* note_;  // of the bookmark that is chosen in the list
  Background counting_;
  Background filtering_;
  Background finding_path_;
  Background finding_collective_;
  Background finding_gap_;
  Background finding_layers_;
  Background finding_facts_;
};

}  // namespace swinscope::gui
