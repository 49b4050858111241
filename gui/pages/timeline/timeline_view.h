// The lanes of a timeline: draws the engine's image, and turns keys and the mouse into views, selections and areas.
#pragma once

#include <QAbstractScrollArea>
#include <QElapsedTimer>
#include <QImage>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "gui/core/collective_peers.h"
#include "gui/core/filter.h"
#include "gui/core/kept_lanes.h"
#include "gui/core/lane_order.h"
#include "gui/core/lane_rows.h"
#include "gui/core/layer_lanes.h"
#include "gui/core/palette.h"
#include "gui/core/pick.h"
#include "gui/core/viewport.h"

namespace swinscope::gui {

// A stretch of time over some lanes.
struct TimelineArea {
  Interval window;
  std::vector<LaneId> lanes;
};

class TimelineView : public QAbstractScrollArea {
  Q_OBJECT

 public:
  explicit TimelineView(QWidget* parent = nullptr);

  // A timeline of the same lanes (a preview's successor) keeps the view; `fresh`: it was opened anew, and shows its
  // step of median length. Pins and folds stay while the path is the same.
  void set_timeline(std::shared_ptr<const Timeline> timeline, bool fresh);
  const Timeline* timeline() const { return timeline_.get(); }
  void set_filter(const Filter& filter);
  // Of the same trace; null: none are known.
  void set_layers(std::shared_ptr<const LayerLanes> layers);
  const LayerLanes* layers() const { return layers_.get(); }
  // By NameId; others are drawn dim. Empty: none are.
  void set_highlighted(std::vector<bool> names);
  void set_bookmarks(std::vector<std::int64_t> times_ns);

  // Marks below lanes, by LaneId; empty: none.
  void set_path(std::vector<std::vector<Interval>> by_lane) {
    path_ = std::move(by_lane);
    viewport()->update();
  }
  const std::vector<std::vector<Interval>>& path() const { return path_; }

  // The events of the collective that is selected, on the other ranks: arrows lead from the one that came last to those
  // that waited for it. Whatever is selected next takes them away.
  void set_collective(CollectivePeers peers) {
    collective_ = std::move(peers);
    viewport()->update();
  }
  const CollectivePeers& collective() const { return collective_; }

  Interval seen() const;
  void show_window(Interval window);
  std::optional<TimelineEventId> selection() const { return selection_; }
  // Scrolls and pans as far as needed to see it.
  void select(TimelineEventId event);
  const std::optional<TimelineArea>& area() const { return area_; }
  void select_area(TimelineArea area);
  const std::vector<LaunchLink>& links() const { return links_; }
  const LaneRows& rows() const { return rows_; }
  bool can_undo() const { return history_ && history_->can_undo(); }
  bool can_redo() const { return history_ && history_->can_redo(); }

  // What the actions do.
  void zoom(double factor);
  void pan(double widths);
  void scroll_lanes(int rows);
  void fit_all();
  void zoom_to_selection();
  void undo_zoom();
  void redo_zoom();
  void clear_selection();
  void select_neighbour(bool forward);
  void select_in_other_lane(bool below);
  void follow_link(bool forward);
  void toggle_pin();
  void toggle_group(const GroupKey& group);
  // The innermost group around the selection; without one the first group in sight.
  void toggle_group_here();
  // Unfolds all where one is folded.
  void toggle_all_groups();
  void select_area_of_selection();
  // The lane of the selection, or the first group in sight; where it cannot, the group around it.
  void move_here(bool down);
  // Within limits.
  void scale_lanes(double factor);
  // What was kept when the program ended last, before a timeline is shown; and what is to be kept.
  void set_kept_lanes(KeptLanes kept);
  KeptLanes kept_lanes() const;

  // Places, for the painter, accessibility and tests: in the coordinates of viewport().
  int header_width() const;
  int ruler_height() const;
  QRect lanes_rect() const;
  // Where an event is drawn, at least a pixel wide; empty when its lane is not shown.
  QRectF event_rect(TimelineEventId event) const;
  QRect lane_rect(LaneId lane) const;
  QRect row_rect(const LaneRow& row) const;
  std::optional<TimelineEventId> layer_at(QPoint position) const;  // of layers()->timeline
  // The counter drawn there.
  const CounterSeries* counter_at(QPoint position) const;
  std::optional<TimelineEventId> event_at(QPoint position) const;
  double x_of(std::int64_t time_ns) const;
  std::int64_t time_at(double x) const;

 Q_SIGNALS:
  void window_changed();
  void selection_changed();
  void area_changed();
  void lanes_changed();
  void menu_requested(QPoint place);  // on the screen; what is there is selected
  void layer_selected(const QString& path);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void changeEvent(QEvent* event) override;
  bool viewportEvent(QEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void contextMenuEvent(QContextMenuEvent* event) override;

 private:
  friend class TimelinePainter;
  enum class Drag { kNone, kPress, kArea, kPan, kHeader, kRow, kHeight };

  void arrange();
  void fit_header();
  Viewport opening_view() const;
  bool is_folded(const LaneGroup& group) const;
  const LaneRow* row_here() const;
  const LaneRow* heading_of(const LaneRow& row) const;
  void keep_order();
  bool take_row(QPoint at);
  void drop_row(QPoint at);
  void drag_height(int y);
  const LaneRow* row_with_edge_at(QPoint position) const;
  void click(QPoint position);
  void select_layer(TimelineEventId id);
  void drag_area(QPoint to);
  void hover(QPoint position);
  QString header_tip(int y) const;
  QString event_tip(TimelineEventId id) const;
  void set_view(const Viewport& view, bool is_continued);
  const Viewport& view() const { return history_->current(); }
  double pixel_ratio() const { return viewport()->devicePixelRatioF(); }
  int view_pixels() const;
  Interval span() const;
  void update_colors();
  void invalidate();
  const LaneRow* row_of(LaneId lane) const;
  std::pair<int, int> band_of(const LaneRow& row) const;
  const LaneRow* row_at(int y) const;
  std::vector<LaneId> lanes_between(int y1, int y2) const;
  void reveal(TimelineEventId event);
  void draw_image();
  void draw_layers();

  std::shared_ptr<const Timeline> timeline_;
  std::optional<ZoomHistory> history_;  // none without a timeline
  std::optional<Viewport> opening_;     // what it was opened with
  std::vector<LaneGroup> groups_;
  std::shared_ptr<const LayerLanes> layers_;
  LaneChoice choice_;
  KeptLanes kept_;  // what the user has arranged
  LaneRows rows_;
  int header_width_ = 110;           // as wide as the labels, within limits
  std::optional<int> wanted_width_;  // of the header, by the user
  std::optional<TimelineEventId> selection_;
  std::vector<LaunchLink> links_;
  CollectivePeers collective_;
  std::optional<TimelineArea> area_;
  std::vector<std::int64_t> bookmarks_;
  std::vector<std::vector<Interval>> path_;

  std::vector<bool> highlighted_;
  std::vector<Color> name_colors_;
  std::vector<Color> colors_;  // with what is not highlighted dimmed
  std::vector<Color> layer_colors_;
  QImage image_;  // of the lanes, in device pixels
  bool image_is_valid_ = false;

  Drag drag_ = Drag::kNone;
  QPoint drag_start_;
  QPoint drag_last_;
  std::optional<LaneItem> dragged_;  // by its name
  std::optional<int> hover_x_;       // pixel below the mouse, on the lanes or the ruler
  QElapsedTimer since_step_;         // since the last small step of a movement
};

}  // namespace swinscope::gui
