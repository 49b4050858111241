#include "gui/pages/timeline/timeline_accessible.h"

#include <QAccessibleWidget>
#include <map>

#include "analyzer/base/text.h"
#include "gui/core/time_axis.h"
#include "gui/pages/timeline/timeline_view.h"

namespace swinscope::gui {
namespace {

// A lane or, behind the lanes, a counter; with index -1 the selected event.
class TimelinePart : public QAccessibleInterface {
 public:
  TimelinePart(TimelineView* view, int index) : view_(view), index_(index) {}

  bool isValid() const override {
    return view_ != nullptr &&
           (index_ < 0 ? view_->selection().has_value() : lane().has_value() || counter() != nullptr);
  }
  QObject* object() const override { return nullptr; }
  QWindow* window() const override { return view_->window()->windowHandle(); }
  QAccessibleInterface* parent() const override { return QAccessible::queryAccessibleInterface(view_); }
  QAccessibleInterface* child(int) const override { return nullptr; }
  QAccessibleInterface* childAt(int, int) const override { return nullptr; }
  int childCount() const override { return 0; }
  int indexOfChild(const QAccessibleInterface*) const override { return -1; }
  void setText(QAccessible::Text, const QString&) override {}

  QAccessible::Role role() const override { return index_ < 0 ? QAccessible::Graphic : QAccessible::ListItem; }
  QAccessible::State state() const override {
    QAccessible::State state;
    state.selectable = index_ < 0 || lane().has_value();
    state.selected = index_ < 0 || (isValid() && view_->selection() && view_->selection()->lane == lane());
    state.invalid = !isValid();
    return state;
  }
  QRect rect() const override {
    if (!isValid()) return {};
    QRect place;
    if (index_ < 0) {
      place = view_->event_rect(*view_->selection()).toAlignedRect();
    } else {
      place = lane() ? view_->lane_rect(*lane()) : view_->row_rect(*counter());
    }
    return {view_->viewport()->mapToGlobal(place.topLeft()), place.size()};
  }
  QString text(QAccessible::Text kind) const override {
    if (!isValid() || (kind != QAccessible::Name && kind != QAccessible::Description)) return {};
    if (index_ < 0) return event_text(kind);
    return lane() ? lane_text(kind) : counter_text_of(kind);
  }

 private:
  std::optional<LaneId> lane() const {
    const std::vector<LaneId> lanes = view_->rows().lanes();
    const auto at = static_cast<std::size_t>(index_);
    return at < lanes.size() ? std::optional(lanes[at]) : std::nullopt;
  }
  const LaneRow* counter() const {
    const std::vector<const LaneRow*> counters = view_->rows().counters();
    const std::size_t at = static_cast<std::size_t>(index_) - view_->rows().lanes().size();
    return at < counters.size() ? counters[at] : nullptr;
  }
  QString counter_text_of(QAccessible::Text kind) const {
    const Timeline& timeline = *view_->timeline();
    const CounterSeries& series = timeline.counters[*counter()->counter];
    if (kind == QAccessible::Name) return full_label(timeline, series);
    return QStringLiteral("%1 values up to %2").arg(series.values.size()).arg(counter_text(series, series.top));
  }
  QString lane_text(QAccessible::Text kind) const {
    const Timeline& timeline = *view_->timeline();
    if (kind == QAccessible::Name) return full_label(timeline, *lane());
    QString text = QStringLiteral("%1 events").arg(timeline.lanes[*lane()].size());
    if (!view_->path().empty())
      text += QStringLiteral(", %1 parts on the critical path").arg(view_->path()[*lane()].size());
    return text;
  }
  QString event_text(QAccessible::Text kind) const {
    const Timeline& timeline = *view_->timeline();
    const TimelineEventId id = *view_->selection();
    const LaneEvent event = timeline.event(id);
    if (kind == QAccessible::Name) return QString::fromStdString(std::string(timeline.name(id)));
    return QStringLiteral("%1, at %2, in %3")
        .arg(QString::fromStdString(format_duration(event.duration_ns)),
             exact_time(event.start_ns, timeline.span().begin_ns), full_label(timeline, id.lane));
  }

  TimelineView* view_;  // owns this, through TimelineAccessible
  int index_;
};

class TimelineAccessible : public QAccessibleWidget {
 public:
  explicit TimelineAccessible(TimelineView* view) : QAccessibleWidget(view, QAccessible::List), view_(view) {}
  Q_DISABLE_COPY_MOVE(TimelineAccessible)

  // The selected event, where there is one, comes after the rows.
  int childCount() const override { return row_count() + (view_->selection() ? 1 : 0); }
  QAccessibleInterface* child(int index) const override {
    if (index < 0 || index >= childCount()) return nullptr;
    const int part = index < row_count() ? index : -1;
    auto found = ids_.find(part);
    if (found == ids_.end()) {
      auto* made = new TimelinePart(view_, part);  // registered, and so deleted with its id
      // NOLINTNEXTLINE(clang-analyzer-cplusplus.NewDeleteLeaks)
      found = ids_.emplace(part, QAccessible::registerAccessibleInterface(made)).first;
    }
    return QAccessible::accessibleInterface(found->second);
  }
  int indexOfChild(const QAccessibleInterface* child) const override {
    for (const auto& [part, id] : ids_) {
      if (QAccessible::accessibleInterface(id) == child) return part < 0 ? row_count() : part;
    }
    return -1;
  }
  QAccessibleInterface* childAt(int x, int y) const override {
    for (int i = childCount() - 1; i >= 0; --i) {
      if (child(i)->rect().contains(x, y)) return child(i);
    }
    return nullptr;
  }
  QAccessibleInterface* focusChild() const override { return view_->selection() ? child(row_count()) : nullptr; }

 protected:
  ~TimelineAccessible() override {
    for (const auto& [part, id] : ids_)
      QAccessible::deleteAccessibleInterface(id);
  }

 private:
  int row_count() const { return static_cast<int>(view_->rows().lanes().size() + view_->rows().counters().size()); }

  TimelineView* view_;
  mutable std::map<int, QAccessible::Id> ids_;  // made when asked for
};

QAccessibleInterface* make_interface(const QString&, QObject* object) {
  auto* view = qobject_cast<TimelineView*>(object);
  return view == nullptr ? nullptr : new TimelineAccessible(view);
}

}  // namespace

void install_timeline_accessibility() { QAccessible::installFactory(make_interface); }

}  // namespace swinscope::gui
