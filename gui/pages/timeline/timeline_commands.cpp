// What the actions do on the timeline page.
#include <QDockWidget>
#include <QInputDialog>
#include <QLineEdit>
#include <QListWidget>
#include <QSignalBlocker>
#include <algorithm>

#include "analyzer/trace/kernel_names.h"
#include "gui/core/lane_rows.h"
#include "gui/core/occurrences.h"
#include "gui/core/time_axis.h"
#include "gui/core/tool_tip.h"
#include "gui/pages/timeline/minimap_widget.h"
#include "gui/pages/timeline/search_bar.h"
#include "gui/pages/timeline/timeline_page.h"
#include "gui/pages/timeline/timeline_view.h"
#include "gui/widgets/table_panel.h"

namespace swinscope::gui {
namespace {

constexpr double kZoomStep = 1.4;
constexpr double kPanStep = 0.15;  // of the width
constexpr int kScrollStep = 3;     // lanes
constexpr double kHeightStep = 1.25;
constexpr std::size_t kListedHits = 1000;

}  // namespace

void TimelinePage::build_commands() {
  using enum ActionId;
  commands_ = {
      {kZoomIn, [this] { view_->zoom(kZoomStep); }},
      {kZoomOut, [this] { view_->zoom(1 / kZoomStep); }},
      {kPanLeft, [this] { view_->pan(-kPanStep); }},
      {kPanRight, [this] { view_->pan(kPanStep); }},
      {kLanesUp, [this] { view_->scroll_lanes(-kScrollStep); }},
      {kLanesDown, [this] { view_->scroll_lanes(kScrollStep); }},
      {kZoomSelection, [this] { view_->zoom_to_selection(); }},
      {kFit, [this] { view_->fit_all(); }},
      {kUndoZoom, [this] { view_->undo_zoom(); }},
      {kRedoZoom, [this] { view_->redo_zoom(); }},
      {kSearch, [this] { search_->start(); }},
      {kNextHit, [this] { go_to_hit(true); }},
      {kPreviousHit, [this] { go_to_hit(false); }},
      {kFollowBack, [this] { view_->follow_link(false); }},
      {kFollowForward, [this] { view_->follow_link(true); }},
      {kPreviousEvent, [this] { view_->select_neighbour(false); }},
      {kNextEvent, [this] { view_->select_neighbour(true); }},
      {kEventAbove, [this] { view_->select_in_other_lane(false); }},
      {kEventBelow, [this] { view_->select_in_other_lane(true); }},
      {kSelectArea, [this] { view_->select_area_of_selection(); }},
      {kCriticalPath, [this] { toggle_path(); }},
      {kNextGap, [this] { go_to_gap(1); }},
      {kPreviousGap, [this] { go_to_gap(-1); }},
      {kPinLane, [this] { view_->toggle_pin(); }},
      {kNextOccurrence, [this] { go_to_occurrence(Occurrence::kNext); }},
      {kPreviousOccurrence, [this] { go_to_occurrence(Occurrence::kPrevious); }},
      {kLongestOccurrence, [this] { go_to_occurrence(Occurrence::kLongest); }},
      {kGoToTime, [this] { go_to_time(); }},
      {kFoldGroup, [this] { view_->toggle_group_here(); }},
      {kFoldAll, [this] { view_->toggle_all_groups(); }},
      {kAddBookmark, [this] { add_bookmark(); }},
      {kRemoveBookmark, [this] { remove_bookmark(); }},
      {kClearSelection, [this] { clear(); }},
  };
  build_lane_commands();
}

void TimelinePage::build_lane_commands() {
  using enum ActionId;
  commands_[kMoveLaneUp] = [this] { view_->move_here(false); };
  commands_[kMoveLaneDown] = [this] { view_->move_here(true); };
  commands_[kTallerLanes] = [this] { view_->scale_lanes(kHeightStep); };
  commands_[kLowerLanes] = [this] { view_->scale_lanes(1 / kHeightStep); };
}

bool TimelinePage::can_perform(ActionId action) const {
  if (view_->timeline() == nullptr || view_->timeline()->lanes.empty()) return false;
  switch (action) {
    case ActionId::kUndoZoom:
      return view_->can_undo();
    case ActionId::kRedoZoom:
      return view_->can_redo();
    case ActionId::kNextHit:
    case ActionId::kPreviousHit:
      return search_->result().total > 0;
    case ActionId::kFollowBack:
    case ActionId::kFollowForward:
      return !view_->links().empty();
    case ActionId::kPinLane:
    case ActionId::kSelectArea:
    case ActionId::kNextOccurrence:
    case ActionId::kPreviousOccurrence:
    case ActionId::kLongestOccurrence:
      return view_->selection().has_value();
    case ActionId::kRemoveBookmark:
      return bookmark_list_->currentRow() >= 0;
    default:
      return true;
  }
}

void TimelinePage::go_to_hit(bool forward) {
  const SearchResult& result = search_->result();
  if (run_ == nullptr || result.total == 0) return;
  const std::vector<LaneId> lanes = view_->rows().lanes();
  const auto hit = view_->selection() ? next_hit(*run_->timeline, result, *view_->selection(), forward, lanes)
                                      : first_hit(*run_->timeline, result, view_->seen().begin_ns, lanes);
  if (!hit) return;
  view_->select(*hit);
  std::uint64_t count = 0;
  for (const LaneId lane : lanes)
    count += result.hits[lane];
  search_->set_number(hit_number(*run_->timeline, result, *hit, lanes), count);
}

// As far as the lanes are shown.
void TimelinePage::list_hits(bool is_on) {
  hit_list_->setVisible(is_on);
  hits_.clear();
  if (!is_on || run_ == nullptr || search_->result().names.empty()) {
    hit_list_->set_table({});
    return;
  }
  const Timeline& timeline = *run_->timeline;
  hits_ = first_hits(timeline, search_->result(), view_->rows().lanes(), kListedHits);
  Table table{"hits",
              "Hits",
              {{"start", "start"}, {"duration_ns", "duration", Unit::kDuration}, {"name", "name"}, {"lane", "lane"}},
              {}};
  for (const TimelineEventId hit : hits_) {
    const LaneEvent event = timeline.event(hit);
    const std::string name(timeline.name(hit));
    table.rows.push_back({exact_time(event.start_ns, timeline.span().begin_ns).toStdString(), event.duration_ns,
                          is_gpu(timeline.lanes[hit.lane].key.kind) ? readable_kernel_name(name) : name,
                          full_label(timeline, hit.lane).toStdString()});
  }
  hit_list_->set_table(std::move(table));
}

void TimelinePage::go_to_time() {
  if (run_ == nullptr) return;
  auto* dialog = new QInputDialog(this);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  dialog->setWindowTitle(QStringLiteral("Go to time"));
  dialog->setLabelText(QStringLiteral("Time in the ruler, or from … to …: 1.25 s, 480 ms, 1.25 s to 1.3 s"));
  connect(dialog, &QInputDialog::textValueSelected, this, [this](const QString& text) {
    const std::optional<Interval> wanted = parse_times(text);
    if (!wanted) return Q_EMIT said(QStringLiteral("“%1” is not a time like 1.25 s or 480 ms").arg(text));
    const std::int64_t origin = run_->timeline->span().begin_ns;
    const std::int64_t half = wanted->length() > 0 ? 0 : view_->seen().length() / 2;
    view_->show_window({origin + wanted->begin_ns - half, origin + wanted->end_ns + half});
  });
  dialog->open();
}

// The hits stay, so that one can go through them and look closer; clear() takes them away.
void TimelinePage::close_search() {
  search_->hide();
  hit_list_->hide();
  view_->setFocus();
}

// What is in the way goes first: the search bar, then the hits, then the selection.
void TimelinePage::clear() {
  if (search_->isVisible()) {
    close_search();
  } else if (!search_->text().isEmpty()) {
    search_->set_text({});
  } else {
    view_->clear_selection();
  }
}

void TimelinePage::add_bookmark() {
  if (run_ == nullptr) return;
  const Interval window = view_->seen();
  QString label = place();
  if (view_->selection()) {
    const std::string_view name = run_->timeline->name(*view_->selection());
    label += QStringLiteral(": %1").arg(
        QString::fromUtf8(name.data(), static_cast<qsizetype>(std::min<std::size_t>(name.size(), 80))));
  }
  try {
    bookmarks_.add({label, window.begin_ns, window.end_ns});
  } catch (const Error& error) {
    Q_EMIT problem(problem_of(error));
  }
}

void TimelinePage::remove_bookmark() {
  const int row = bookmark_list_->currentRow();
  if (row < 0) return;
  try {
    bookmarks_.remove(static_cast<std::size_t>(row));
  } catch (const Error& error) {
    Q_EMIT problem(problem_of(error));
  }
}

void TimelinePage::rename_bookmark(int row, const QString& label) {
  if (static_cast<std::size_t>(row) >= bookmarks_.all().size()) return;
  try {
    bookmarks_.rename(static_cast<std::size_t>(row), label);
  } catch (const Error& error) {
    Q_EMIT problem(problem_of(error));
  }
}

void TimelinePage::write_note() {
  const int row = bookmark_list_->currentRow();
  if (row < 0 || static_cast<std::size_t>(row) >= bookmarks_.all().size()) return;
  try {
    bookmarks_.set_note(static_cast<std::size_t>(row), note_->text());
  } catch (const Error& error) {
    Q_EMIT problem(problem_of(error));
  }
}

void TimelinePage::show_note() {
  const int row = bookmark_list_->currentRow();
  const bool is_bookmark = row >= 0 && static_cast<std::size_t>(row) < bookmarks_.all().size();
  note_->setEnabled(is_bookmark);
  note_->setText(is_bookmark ? bookmarks_.all()[static_cast<std::size_t>(row)].note : QString());
}

void TimelinePage::show_bookmarks() {
  const QSignalBlocker filling(bookmark_list_);
  const int row = bookmark_list_->currentRow();
  bookmark_list_->clear();
  std::vector<std::int64_t> times;
  for (const Bookmark& bookmark : bookmarks_.all()) {
    auto* item = new QListWidgetItem(bookmark.label);
    item->setFlags(item->flags() | Qt::ItemIsEditable);
    item->setToolTip(tooltip_of(bookmark.note.isEmpty() ? bookmark.label : bookmark.note));
    bookmark_list_->addItem(item);
    times.push_back(bookmark.begin_ns + (bookmark.end_ns - bookmark.begin_ns) / 2);
  }
  bookmark_list_->setCurrentRow(row);
  show_note();
  view_->set_bookmarks(times);
  minimap_->set_bookmarks(times);
  Q_EMIT changed();
}

}  // namespace swinscope::gui
