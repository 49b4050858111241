#include "gui/core/event_facts.h"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "analyzer/base/statistics.h"
#include "analyzer/base/text.h"
#include "analyzer/facts/collective_calls.h"
#include "analyzer/facts/event_costs.h"
#include "gui/core/collective_peers.h"
#include "gui/core/event_details.h"
#include "store/error.h"

namespace swinscope::gui {
namespace {

class Facts {
 public:
  Facts(const OpenedRun& run, const Selection& selection, TimelineEventId id)
      : run_(run),
        selection_(selection),
        id_(id),
        process_(run.timeline->lanes[id.lane].key.process),
        event_(run.timeline->event(id).ref),
        facts_(run.shared->of(run.trace, selection)),
        rank_(run.trace->ranks[process_]) {}

  EventFacts find() {
    if (event_ >= rank_.gpu.size()) return {};
    add_layer();
    if (rank_.gpu.gpu_class[event_] == GpuClass::kCommunication) add_collective();
    found_.calls = kernel_calls(*run_.trace, facts_->scope, std::string(run_.trace->text(rank_.gpu.name[event_])));
    add_place();
    return std::move(found_);
  }

 private:
  void add(const std::string& what, std::string value, std::string link = {}) {
    found_.rows.push_back({what, std::move(value), std::move(link)});
  }

  void add_layer() {
    const RankOperations& operations = facts_->operations()[process_];
    const OperationId id = operations.of_event(event_);
    if (id == kNoOperation) return;
    const Operation& operation = operations.all()[id];
    const std::string path(operation.path);
    const std::string phase(operation.phase);
    add("layer", phase.empty() ? path : path + ", " + phase, layer_link(path, phase));
    const TimelineEventId range = run_.timeline->find(process_, LaneKind::kRanges, operation.range);
    const std::string name(run_.trace->text(rank_.ranges.name[operation.range]));
    if (name != path) add("launching operation", name, event_link(range));
    if (operations.is_replay(event_)) add("launched", "by a graph; the layer is that of its capture");
    add_cost(operations);
  }

  // FLOP and bytes per ns are GFLOP/s and GB/s.
  void add_cost(const RankOperations& operations) {
    const EventCosts costs(rank_, operations);
    const OperationPayload* cost = costs.of(event_);
    if (cost == nullptr) return;
    if (!cost->precision.empty()) add("precision", cost->precision);
    const auto duration = static_cast<double>(run_.timeline->event(id_).duration_ns);
    if (!cost->has_cost || duration <= 0) return;
    const std::int64_t bytes = cost->bytes_read + cost->bytes_written;
    if (cost->flops > 0)
      add("FLOPs", fmt::format("{} GFLOP, {} TFLOP/s", format_number(static_cast<double>(cost->flops) / 1e9),
                               format_number(static_cast<double>(cost->flops) / duration / 1e3)));
    if (bytes > 0)
      add("bytes at least",
          fmt::format("{}, {} GB/s", format_bytes(bytes), format_number(static_cast<double>(bytes) / duration)));
  }

  void add_collective() {
    const CollectiveMember member{process_, rank_.gpu_lanes[rank_.gpu.lane[event_]].device, event_};
    const CollectiveCall call = collective_call(*run_.trace, member);
    add("collective", std::string(collective_kind_name(call.kind)));
    add("group", call.group.empty() ? "not known" : call.group);
    add("bytes", call.bytes ? format_bytes(*call.bytes) : "not known");
    if (const auto wait = facts_->waits().wait_ns(process_, event_)) add("waited for others", format_duration(*wait));
    const CollectivePeers peers = collective_peers(run_, selection_, id_);
    if (!peers.text.isEmpty())
      add("ranks", peers.text.toStdString(), peers.last.position == kNoPosition ? "" : event_link(peers.last));
  }

  // How long it is beside the other calls.
  void add_place() {
    if (found_.calls.size() < 2) return;
    std::vector<std::int64_t> durations;
    for (const Call& call : found_.calls)
      durations.push_back(call.duration_ns);
    std::ranges::sort(durations);
    const std::int64_t own = run_.timeline->event(id_).duration_ns;
    const auto shorter = std::ranges::lower_bound(durations, own) - durations.begin();
    add("of its calls", fmt::format("longer than {} of {}, their median is {}", format_count(shorter),
                                    format_count(std::ssize(durations)), format_duration(quantile(durations, 0.5))));
  }

  const OpenedRun& run_;
  const Selection& selection_;
  TimelineEventId id_;
  std::uint32_t process_;
  EventIndex event_;
  std::shared_ptr<const RunFacts> facts_;
  const Rank& rank_;
  EventFacts found_;
};

}  // namespace

EventFacts event_facts(const OpenedRun& run, const Selection& selection, TimelineEventId event) {
  if (!is_gpu(run.timeline->lanes[event.lane].key.kind)) return {};
  try {
    return Facts(run, selection, event).find();
  } catch (const Error&) {  // nothing meets the selection
    return {};
  }
}

}  // namespace swinscope::gui
