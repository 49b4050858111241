// The other ranks' events of a selected collective, and the other part of a selected operator, on the timeline page:
// found beside the window, joined by arrows.
#include <algorithm>

#include "gui/core/autograd_peers.h"
#include "gui/core/collective_peers.h"
#include "gui/pages/timeline/timeline_page.h"
#include "gui/pages/timeline/timeline_painter.h"
#include "gui/pages/timeline/timeline_view.h"

namespace swinscope::gui {

void TimelinePage::find_collective() {
  finding_collective_.forget();
  const std::optional<TimelineEventId> selected = view_->selection();
  if (!selected || run_ == nullptr || run_->trace == nullptr || run_->timeline->preview) return;
  const LaneKey& lane = run_->timeline->lanes[selected->lane].key;
  if (lane.kind == LaneKind::kRanges) return find_autograd(*selected);
  if (!is_gpu(lane.kind)) return;
  const GpuEvents& gpu = run_->trace->ranks[lane.process].gpu;
  if (gpu.gpu_class[run_->timeline->event(*selected).ref] != GpuClass::kCommunication) return;
  finding_collective_.start(
      [run = run_, selection = selection_, event = *selected] { return collective_peers(*run, selection, event); },
      [this](CollectivePeers peers) {
        if (!peers.text.isEmpty()) Q_EMIT said(peers.text);
        view_->set_collective(std::move(peers));
      });
}

// Forward and backward of a selected operator, joined in the same way.
void TimelinePage::find_autograd(TimelineEventId selected) {
  finding_collective_.start([run = run_, selected] { return autograd_peers(*run, selected); },
                            [this](CollectivePeers peers) {
                              if (!peers.text.isEmpty()) Q_EMIT said(peers.text);
                              view_->set_collective(std::move(peers));
                            });
}

// From the begin of the one that came last, which is when the others' waits end.
void TimelinePainter::paint_collective() {
  if (view_.collective().last.position == kNoPosition) return;
  const QRectF last = view_.event_rect(view_.collective().last);
  if (last.isEmpty()) return;
  for (const TimelineEventId& id : view_.collective().others) {
    const QRectF other = view_.event_rect(id);
    if (other.isEmpty()) continue;
    const double x = std::clamp(last.left(), other.left(), other.right());
    paint_arrow({last.left(), last.center().y()}, {x, other.center().y()});
  }
}

}  // namespace swinscope::gui
