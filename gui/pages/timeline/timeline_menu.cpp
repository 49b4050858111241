// What can be done with an event, or with a place, in a menu: the actions of the page that are about it, and ways to
// other pages.
#include <QClipboard>
#include <QGuiApplication>
#include <QMenu>

#include "analyzer/base/text.h"
#include "analyzer/trace/kernel_names.h"
#include "gui/core/occurrences.h"
#include "gui/pages/timeline/details_panel.h"
#include "gui/pages/timeline/search_bar.h"
#include "gui/pages/timeline/timeline_page.h"
#include "gui/pages/timeline/timeline_view.h"

namespace swinscope::gui {
namespace {

constexpr int kLongestTitle = 60;  // letters

QString text_of(std::string_view text) { return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size())); }

}  // namespace

// The window has put them there, as far as the page has them.
void TimelinePage::add_actions(QMenu& menu, std::initializer_list<ActionId> ids) {
  for (const ActionId id : ids) {
    const QString name = QString::fromUtf8(action_info(id).name);
    for (QAction* action : actions()) {
      if (action->objectName() == name) menu.addAction(action);
    }
  }
  menu.addSeparator();
}

void TimelinePage::show_menu(QPoint place) {
  if (run_ == nullptr || view_->timeline() == nullptr) return;
  using enum ActionId;
  auto* menu = new QMenu(this);
  menu->setAttribute(Qt::WA_DeleteOnClose);
  menu->setObjectName(QStringLiteral("timeline_menu"));
  if (view_->selection()) {
    add_event_items(*menu, *view_->selection());
  } else {
    add_actions(*menu, {kNextGap, kFit, kGoToTime});
  }
  add_actions(*menu, {kPinLane, kFoldGroup, kFoldAll, kMoveLaneUp, kMoveLaneDown, kTallerLanes, kLowerLanes});
  add_actions(*menu, {kAddBookmark});
  menu->popup(place);
}

void TimelinePage::add_event_items(QMenu& menu, TimelineEventId id) {
  using enum ActionId;
  const QString name = text_of(run_->timeline->name(id));
  const bool on_gpu = is_gpu(run_->timeline->lanes[id.lane].key.kind);
  const QString title = on_gpu ? QString::fromStdString(readable_kernel_name(name.toStdString())) : name;
  menu.addSection(title.size() > kLongestTitle ? title.left(kLongestTitle) + QStringLiteral("…") : title);
  if (on_gpu) {
    menu.addAction(QStringLiteral("All &calls of this kernel"), this, [this, name] {
      Q_EMIT evidence_requested({{}, QStringLiteral("kernels"), {}, {}, name});
    });
  }
  add_actions(menu, {kNextOccurrence, kPreviousOccurrence, kLongestOccurrence});
  menu.addAction(QStringLiteral("&Only events of this name"), this, [this, name] { Q_EMIT name_requested(name); });
  menu.addAction(QStringLiteral("&Search for this name"), this, [this, name] {
    search_->start();
    search_->set_text(name);
    view_->setFocus();
  });
  menu.addSeparator();
  add_actions(menu, {kFollowBack, kFollowForward, kZoomSelection, kSelectArea});
  menu.addAction(QStringLiteral("Copy &name"), this, [name] { QGuiApplication::clipboard()->setText(name); });
  menu.addAction(QStringLiteral("Copy &details"), this, [this] { details_->copy_all(); });
  menu.addSeparator();
}

void TimelinePage::go_to_occurrence(Occurrence which) {
  if (run_ == nullptr || !view_->selection()) return;
  // Again: the next shorter one.
  if (which == Occurrence::kLongest && longest_ == view_->selection()) which = Occurrence::kShorter;
  const OccurrencePlace place = occurrence(*run_->timeline, *view_->selection(), which);
  view_->select(place.event);
  longest_.reset();
  if (which == Occurrence::kLongest || which == Occurrence::kShorter) longest_ = place.event;
  Q_EMIT said(QStringLiteral("call %1 of %2: %3")
                  .arg(place.number)
                  .arg(place.count)
                  .arg(QString::fromStdString(format_duration(run_->timeline->event(place.event).duration_ns))));
}

}  // namespace swinscope::gui
