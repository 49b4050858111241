#include "gui/core/collective_peers.h"

#include <algorithm>

#include "analyzer/base/text.h"
#include "analyzer/facts/collective_calls.h"
#include "store/error.h"

namespace swinscope::gui {
namespace {

TimelineEventId shown(const Timeline& timeline, const CollectiveMember& member) {
  return timeline.find(static_cast<std::uint32_t>(member.rank_index), LaneKind::kKernels, member.event);
}

QString text_of(const RunFacts& run, const Collective& collective, const CollectiveArrivals& arrivals) {
  const CollectiveMember& last = collective.members[arrivals.last];
  const std::string_view kind = collective_kind_name(collective_call(run.trace, last).kind);
  const QString what = QStringLiteral("%1 of %2 ranks: ")
                           .arg(QString::fromUtf8(kind.data(), static_cast<qsizetype>(kind.size())))
                           .arg(collective.members.size());
  if (!arrivals.is_divided) return what + QStringLiteral("who came last is not known");
  const QString spread = QString::fromStdString(format_duration(arrivals.spread_ns));
  if (!arrivals.is_last_known) return what + QStringLiteral("all come within %1").arg(spread);
  return what + QStringLiteral("rank %1 comes last, %2 after the first")
                    .arg(run.trace.ranks[last.rank_index].run.rank)
                    .arg(spread);
}

}  // namespace

CollectivePeers collective_peers(const OpenedRun& run, const Selection& selection, TimelineEventId event) {
  CollectivePeers peers;
  try {
    const std::size_t process = run.timeline->lanes[event.lane].key.process;
    const EventIndex wanted = run.timeline->event(event).ref;
    const std::shared_ptr<const RunFacts> facts = run.shared->of(run.trace, selection);
    for (std::size_t c = 0; c < facts->collectives().size(); ++c) {
      const Collective& collective = facts->collectives()[c];
      const auto is_selected = [&](const CollectiveMember& m) { return m.rank_index == process && m.event == wanted; };
      if (std::ranges::none_of(collective.members, is_selected)) continue;
      const CollectiveArrivals& arrivals = facts->waits().arrivals()[c];
      for (std::size_t m = 0; m < collective.members.size(); ++m) {
        const TimelineEventId id = shown(*run.timeline, collective.members[m]);
        if (m == arrivals.last) {
          peers.last = id;
        } else {
          peers.others.push_back(id);
        }
      }
      peers.text = text_of(*facts, collective, arrivals);
      break;
    }
  } catch (const Error&) {  // nothing meets the selection
    return {};
  }
  return peers;
}

}  // namespace swinscope::gui
