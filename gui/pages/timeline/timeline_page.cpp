#include "gui/pages/timeline/timeline_page.h"

#include <QDataStream>
#include <QDockWidget>
#include <QIODevice>
#include <QLineEdit>
#include <QListWidget>
#include <QMainWindow>
#include <QVBoxLayout>
#include <algorithm>
#include <limits>
#include <utility>

#include "analyzer/base/text.h"
#include "gui/core/event_details.h"
#include "gui/core/event_facts.h"
#include "gui/core/event_order.h"
#include "gui/core/filter.h"
#include "gui/core/run_command.h"
#include "gui/core/time_axis.h"
#include "gui/pages/timeline/area_panel.h"
#include "gui/pages/timeline/call_histogram.h"
#include "gui/pages/timeline/category_legend.h"
#include "gui/pages/timeline/details_panel.h"
#include "gui/pages/timeline/minimap_widget.h"
#include "gui/pages/timeline/search_bar.h"
#include "gui/pages/timeline/timeline_accessible.h"
#include "gui/pages/timeline/timeline_view.h"
#include "gui/widgets/table_panel.h"

namespace swinscope::gui {
namespace {

// Of the arrangement of docks that is kept between two starts; another one is as good as none.
constexpr int kArrangement = 1;
constexpr int kListHeight = 160;

}  // namespace

TimelinePage::TimelinePage(QWidget* parent)
    : Page((install_timeline_accessibility(),
            parent)),  // before the view is there: whoever asks for it may do so at once
      parts_(new QMainWindow(this)),
      view_(new TimelineView(this)),
      minimap_(new MinimapWidget(this)),
      search_(new SearchBar(this)),
      hit_list_(new TablePanel(QStringLiteral("Hits of the search"), this)),
      legend_(new CategoryLegend(this)),
      details_(new DetailsPanel(this)),
      call_histogram_(new CallHistogram(this)),
      area_(new AreaPanel(this)),
      bookmark_list_(new QListWidget(this)),
      note_(new QLineEdit(this)) {
  build_layout();
  build_commands();
  connect_parts();
  setFocusProxy(view_);
}

void TimelinePage::build_layout() {
  parts_->setWindowFlags(Qt::Widget);
  auto* all = new QVBoxLayout(this);
  all->setContentsMargins(0, 0, 0, 0);
  all->addWidget(parts_);
  auto* centre = new QWidget(this);
  auto* column = new QVBoxLayout(centre);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(2);
  column->addWidget(minimap_);
  column->addWidget(search_);
  hit_list_->setObjectName(QStringLiteral("hits"));
  hit_list_->setMaximumHeight(kListHeight);
  hit_list_->hide();
  column->addWidget(hit_list_);
  column->addWidget(view_, 1);
  column->addWidget(legend_);
  parts_->setCentralWidget(centre);

  auto* details = new QWidget(this);
  auto* rows = new QVBoxLayout(details);
  rows->setContentsMargins(0, 0, 0, 0);
  rows->setSpacing(0);
  rows->addWidget(details_, 1);
  rows->addWidget(call_histogram_);
  QDockWidget* details_dock =
      add_dock(QStringLiteral("Details"), QStringLiteral("dock_details"), details, Qt::RightDockWidgetArea);
  bookmark_list_->setObjectName(QStringLiteral("bookmarks"));
  bookmark_list_->setAccessibleName(QStringLiteral("Bookmarks"));
  bookmark_list_->setEditTriggers(QAbstractItemView::EditKeyPressed);  // a double click goes there
  note_->setObjectName(QStringLiteral("bookmark_note"));
  note_->setAccessibleName(QStringLiteral("Note on the bookmark"));
  note_->setPlaceholderText(QStringLiteral("Note on the chosen bookmark"));
  note_->setEnabled(false);
  auto* bookmarks = new QWidget(this);
  auto* lines = new QVBoxLayout(bookmarks);
  lines->setContentsMargins(0, 0, 0, 0);
  lines->addWidget(bookmark_list_, 1);
  lines->addWidget(note_);
  QDockWidget* marks =
      add_dock(QStringLiteral("Bookmarks"), QStringLiteral("dock_bookmarks"), bookmarks, Qt::RightDockWidgetArea);
  parts_->tabifyDockWidget(details_dock, marks);
  details_dock->raise();
  area_dock_ = add_dock(QStringLiteral("Area"), QStringLiteral("dock_area"), area_, Qt::BottomDockWidgetArea);
  area_dock_->hide();  // until there is one
  parts_->setCorner(Qt::BottomRightCorner, Qt::RightDockWidgetArea);
}

QDockWidget* TimelinePage::add_dock(const QString& title, const QString& name, QWidget* content,
                                    Qt::DockWidgetArea place) {
  auto* dock = new QDockWidget(title, parts_);
  dock->setObjectName(name);
  content->setMinimumWidth(280);  // the docks begin with it
  dock->setWidget(content);
  dock->setFeatures(QDockWidget::DockWidgetMovable | QDockWidget::DockWidgetClosable);
  parts_->addDockWidget(place, dock);
  return dock;
}

void TimelinePage::connect_parts() {
  connect(view_, &TimelineView::window_changed, this, [this] {
    minimap_->set_window(view_->seen());
    Q_EMIT changed();
  });
  connect(view_, &TimelineView::selection_changed, this, &TimelinePage::show_details);
  connect(view_, &TimelineView::selection_changed, this, &TimelinePage::find_collective);
  connect(view_, &TimelineView::area_changed, this, &TimelinePage::count_area);
  connect(view_, &TimelineView::menu_requested, this, &TimelinePage::show_menu);
  connect(view_, &TimelineView::area_changed, this, &TimelinePage::show_details);  // a gap's are there no more
  connect(view_, &TimelineView::layer_selected, this,
          [this](const QString& path) { Q_EMIT said(QStringLiteral("layer %1").arg(path)); });
  connect(details_, &DetailsPanel::link_chosen, this, &TimelinePage::follow_link);
  connect(area_, &AreaPanel::name_chosen, this, &TimelinePage::select_in_area);
  connect(minimap_, &MinimapWidget::window_requested, view_, &TimelineView::show_window);
  connect(minimap_, &MinimapWidget::centre_requested, this, [this](std::int64_t time_ns) {
    const std::int64_t half = view_->seen().length() / 2;
    view_->show_window({time_ns - half, time_ns + half});
  });
  connect(search_, &SearchBar::searched, this, [this] {
    minimap_->set_ticks(search_->result().ticks);
    highlight();
    if (std::exchange(goes_to_hit_, false)) go_to_hit(true);
    if (hit_list_->isVisible()) list_hits(true);
    Q_EMIT changed();
  });
  connect(search_, &SearchBar::next_requested, this, &TimelinePage::go_to_hit);
  connect(search_, &SearchBar::list_toggled, this, &TimelinePage::list_hits);
  connect(hit_list_, &TablePanel::row_activated, this, [this](int row) {
    if (row >= 0 && static_cast<std::size_t>(row) < hits_.size()) view_->select(hits_[static_cast<std::size_t>(row)]);
  });
  connect(bookmark_list_, &QListWidget::currentRowChanged, this, &TimelinePage::show_note);
  connect(note_, &QLineEdit::editingFinished, this, &TimelinePage::write_note);
  connect(search_, &SearchBar::closed, this, &TimelinePage::close_search);
  connect(&bookmarks_, &Bookmarks::changed, this, &TimelinePage::show_bookmarks);
  connect(bookmark_list_, &QListWidget::itemChanged, this,
          [this](const QListWidgetItem* item) { Q_EMIT bookmark_edited(bookmark_list_->row(item), item->text()); });
  // Later, because that fills the list anew, the edited item among others.
  connect(this, &TimelinePage::bookmark_edited, this, &TimelinePage::rename_bookmark, Qt::QueuedConnection);
  connect(bookmark_list_, &QListWidget::itemActivated, this, [this](const QListWidgetItem* item) {
    const Bookmark& bookmark = bookmarks_.all()[static_cast<std::size_t>(bookmark_list_->row(item))];
    view_->show_window({bookmark.begin_ns, bookmark.end_ns});
  });
}

void TimelinePage::set_session(const Session& session) {
  const bool is_more = is_more_of(run_, session.run);
  const bool same_timeline = is_more && run_->timeline == session.run->timeline;
  run_ = session.run;
  if (same_timeline) {  // only the analyses have come
    show_details();
    find_path();
    find_layers();
    find_collective();
    return;
  }
  const std::shared_ptr<const Timeline> timeline = run_ == nullptr ? nullptr : run_->timeline;
  view_->set_timeline(timeline, !is_more);
  minimap_->set_timeline(timeline);
  minimap_->set_window(view_->seen());
  search_->set_timeline(timeline);
  legend_->set_categories(timeline == nullptr ? std::vector<EventCategory>() : categories_of(timeline->names));
  if (!is_more && run_ != nullptr) bookmarks_.open(run_->path);
  hits_.clear();
  find_names();
  find_path();
  find_layers();
  forget_gap();
}

// Whatever is selected: operations are those of the whole trace.
void TimelinePage::find_layers() {
  finding_layers_.forget();
  if (run_ == nullptr || run_->trace == nullptr || run_->timeline->preview) return;
  finding_layers_.start(
      [run = run_, selection = selection_]() -> std::shared_ptr<const LayerLanes> {
        try {
          const std::shared_ptr<const RunFacts> facts = run->shared->of(run->trace, selection);
          auto layers = std::make_shared<LayerLanes>(layer_lanes(*run->trace, facts->operations(), *run->timeline));
          return layers->timeline.lanes.empty() ? nullptr : layers;
        } catch (const Error&) {  // nothing meets the selection
          return nullptr;
        }
      },
      [this](const std::shared_ptr<const LayerLanes>& layers) { view_->set_layers(layers); });
}

void TimelinePage::set_filter(const Filter& filter) {
  view_->set_filter(filter);
  zoom_to_steps(filter);
  if (const Selection selection = filter.selection(); !(selection == selection_)) {
    selection_ = selection;
    find_path();
    forget_gap();
  }
  filter_name_ = filter.name;
  find_names();
}

// Those that the filter's text is in; of another run there are others.
void TimelinePage::find_names() {
  if (filter_name_.isEmpty() || run_ == nullptr) {
    filtering_.forget();
    filtered_names_.clear();
    highlight();
    return;
  }
  filtering_.start(
      [timeline = run_->timeline, name = filter_name_.toStdString()] {
        return gui::search(*timeline, name, SearchMode::kSubstring, 1, 1).names;
      },
      [this](std::vector<bool> names) {
        filtered_names_ = std::move(names);
        highlight();
      });
}

void TimelinePage::zoom_to_steps(const Filter& filter) {
  if (!filter.steps || run_ == nullptr) return;
  for (const TimelineProcess& process : run_->timeline->processes) {
    if (filter.rank.value_or(process.rank) != process.rank) continue;
    if (filter.steps->last > std::ssize(process.steps)) continue;
    const auto at = [&](std::int64_t number) { return process.steps[static_cast<std::size_t>(number - 1)]; };
    view_->show_window({at(filter.steps->first).begin_ns, at(filter.steps->last).end_ns});
    return;
  }
}

// A search wins over the filter.
void TimelinePage::highlight() {
  view_->set_highlighted(search_->result().names.empty() ? filtered_names_ : search_->result().names);
}

bool TimelinePage::show_call(const Call& call) {
  if (run_ == nullptr || run_->timeline->preview) return false;
  const TimelineEventId id = run_->timeline->find(call.process, call.kind, call.event);
  if (id.position == kNoPosition) return false;
  const LaneEvent found = run_->timeline->event(id);
  const std::int64_t margin = std::max<std::int64_t>(found.duration_ns, 10'000) * 4;
  const std::int64_t shift = found.start_ns - call.start_ns;  // from the rank's own time to that of the timeline
  view_->show_window(call.around ? Interval{call.around->begin_ns + shift, call.around->end_ns + shift}
                                 : Interval{found.start_ns - margin, found.end_ns() + margin});
  view_->select(id);
  return true;
}

void TimelinePage::present(const Evidence& evidence) {
  if (evidence.gap) return find_gap(*evidence.gap);
  if (evidence.name.isEmpty()) return;
  const bool is_found = search_->text() == evidence.name;
  goes_to_hit_ = !is_found;
  search_->start();
  search_->set_text(evidence.name);
  if (is_found) go_to_hit(true);
  view_->setFocus();
}

// The events, for other viewers: no terminal shows them.
QString TimelinePage::command() const {
  if (run_ == nullptr) return {};
  return run_command({QStringLiteral("export"), QStringLiteral("--format perfetto -o trace.pftrace")}, {run_->path});
}

QString TimelinePage::place() const {
  if (view_->timeline() == nullptr || view_->timeline()->lanes.empty()) return {};
  const std::int64_t origin = view_->timeline()->span().begin_ns;
  const Interval window = view_->seen();
  const auto text = [&](std::int64_t time) {
    return (time < origin ? QStringLiteral("-") : QString()) +
           QString::fromStdString(format_duration(std::abs(time - origin)));
  };
  return QStringLiteral("%1 to %2").arg(text(window.begin_ns), text(window.end_ns));
}

void TimelinePage::show_details() {
  finding_facts_.forget();
  call_histogram_->set_calls({}, 0);
  if (view_->selection()) {
    details_->set_table(event_details(*run_, *view_->selection()));
    find_facts();
  } else {
    details_->set_table({"event",
                         "Event",
                         {{"what", "what"}, {"value", "value"}},
                         {{std::string(), std::string("Click an event, or press . to select one.")}}});
  }
  Q_EMIT changed();
}

// Beside the window: the analyses may not have been asked for yet.
void TimelinePage::find_facts() {
  if (run_->trace == nullptr || run_->timeline->preview) return;
  finding_facts_.start(
      [run = run_, selection = selection_, event = *view_->selection()] { return event_facts(*run, selection, event); },
      [this, duration_ns = run_->timeline->event(*view_->selection()).duration_ns](const EventFacts& facts) {
        if (!facts.rows.empty()) details_->insert_rows(QStringLiteral("duration"), facts.rows);
        call_histogram_->set_calls(facts.calls, duration_ns);
      });
}

void TimelinePage::follow_link(const QString& link) {
  if (run_ == nullptr) return;
  if (const auto event = linked_event(link)) {
    if (event->lane < run_->timeline->lanes.size() && event->position < run_->timeline->lanes[event->lane].size())
      view_->select(*event);
  } else if (const auto layer = linked_layer(link)) {
    Q_EMIT evidence_requested({{}, QStringLiteral("layers"), {}, {}, layer->first});
  } else if (link == QLatin1String(kCallsLink) && view_->selection()) {
    const std::string name(run_->timeline->name(*view_->selection()));
    Q_EMIT evidence_requested({{}, QStringLiteral("kernels"), {}, {}, QString::fromStdString(name)});
  }
}

QString TimelinePage::detail(const QString& what) const { return details_->value_of(what); }

void TimelinePage::count_area() {
  area_dock_->setVisible(view_->area().has_value());
  if (!view_->area() || run_ == nullptr) {
    counting_.forget();
    area_->clear();
    return;
  }
  const TimelineArea area = *view_->area();
  counting_.start([timeline = run_->timeline, area,
                   keep = filtered_names_] { return area_contents(*timeline, area.lanes, area.window, keep); },
                  [this, area](AreaContents contents) {
                    area_->show_contents(run_->timeline, std::move(contents), area.window, area.lanes.size(),
                                         filtered_names_.empty() ? QString() : filter_name_);
                  });
}

// The first of the area.
void TimelinePage::select_in_area(const QString& name) {
  if (!view_->area() || run_ == nullptr) return;
  const std::string wanted = name.toStdString();
  const EventOrder before{view_->area()->window.begin_ns - 1, std::numeric_limits<LaneId>::max(), kNoPosition};
  const auto found = nearest_event(*run_->timeline, view_->area()->lanes, before, true,
                                   [&](NameId id) { return run_->timeline->names.text(id) == wanted; });
  if (found) view_->select(*found);
}

bool TimelinePage::is_settled() const {
  return counting_.is_idle() && filtering_.is_idle() && finding_path_.is_idle() && finding_collective_.is_idle() &&
         finding_gap_.is_idle() && finding_layers_.is_idle() && finding_facts_.is_idle() && !search_->is_searching() &&
         !minimap_->is_busy();
}

QByteArray TimelinePage::arrangement() const {
  QByteArray bytes;
  QDataStream out(&bytes, QIODevice::WriteOnly);
  out << parts_->saveState(kArrangement) << view_->kept_lanes().to_bytes();
  return bytes;
}

void TimelinePage::arrange(const QByteArray& arrangement) {
  QByteArray parts;
  QByteArray lanes;
  QDataStream in(arrangement);
  in >> parts >> lanes;
  parts_->restoreState(parts, kArrangement);
  view_->set_kept_lanes(KeptLanes::from_bytes(lanes));
  area_dock_->setVisible(view_->area().has_value());
}

QString TimelinePage::area_summary() const { return area_->summary(); }

}  // namespace swinscope::gui
