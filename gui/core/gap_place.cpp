#include "gui/core/gap_place.h"

#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "analyzer/analyses/idle_gaps.h"
#include "analyzer/base/text.h"
#include "gui/core/time_axis.h"
#include "store/error.h"

namespace swinscope::gui {
namespace {

std::vector<LaneId> lanes_of(const Timeline& timeline, const IdleGap& gap) {
  std::vector<LaneId> lanes;
  for (LaneId id = 0; id < timeline.lanes.size(); ++id) {
    const LaneKey& key = timeline.lanes[id].key;
    const bool is_part = is_gpu(key.kind) ? key.device == gap.device : key.global_tid == gap.thread;
    if (key.process == gap.rank_index && is_part) lanes.push_back(id);
  }
  return lanes;
}

class Details {
 public:
  Details(const OpenedRun& run, const IdleGap& gap) : trace_(*run.trace), gap_(gap) {
    table_.columns = {{"what", "what"}, {"value", "value"}};
  }

  Table make(const std::string& title, const QString& start, const HostWork& host) {
    add("idle gap", title);
    add("device", fmt::format("GPU {} of rank {}", gap_.device, trace_.ranks[gap_.rank_index].run.rank));
    add("start", start.toStdString());
    add("duration", format_duration(gap_.time.length()));
    if (gap_.step >= 0) add("step", std::to_string(gap_.step + 1));
    add("cause", std::string(idle_cause_name(gap_.cause)));
    add_host(host);
    add_event("before", gap_.before);
    add_event("after", gap_.next);
    return std::move(table_);
  }

 private:
  void add(const std::string& what, std::string value) { table_.rows.push_back({what, std::move(value)}); }

  void add_host(const HostWork& host) {
    if (gap_.thread == 0) return add("the host", "not known: no launch was recorded");
    for (const std::string& share : host.shares(trace_))
      add("the host", share);
    if (host.within != kNoString) add("within", std::string(trace_.text(host.within)));
  }
  void add_event(const std::string& what, EventIndex event) {
    if (event != kNoEvent) add(what, std::string(trace_.text(trace_.ranks[gap_.rank_index].gpu.short_name[event])));
  }

  const Trace& trace_;
  const IdleGap& gap_;
  Table table_{"gap", "Idle gap", {}, {}};
};

}  // namespace

GapPlace gap_place(const OpenedRun& run, const Selection& selection, std::size_t number) {
  GapPlace place;
  try {
    const std::shared_ptr<const RunFacts> facts = run.shared->of(run.trace, selection);
    const std::vector<IdleGap>& gaps = facts->idle_gaps();
    place.gaps = gaps.size();
    if (number >= gaps.size()) return place;
    const IdleGap& gap = gaps[number];
    const std::int64_t offset_ns = run.timeline->processes[gap.rank_index].offset_ns;
    place.window = {gap.time.begin_ns + offset_ns, gap.time.end_ns + offset_ns};
    place.lanes = lanes_of(*run.timeline, gap);
    const std::string title =
        fmt::format("{} of {}, the longest first", format_count(static_cast<std::int64_t>(number) + 1),
                    format_count(std::ssize(gaps)));
    place.details = Details(run, gap).make(title, exact_time(place.window.begin_ns, run.timeline->span().begin_ns),
                                           host_work(*run.trace, std::span(&gap, 1)).front());
    place.summary = QString::fromStdString(
        fmt::format("idle gap {}: {}, {}", title, format_duration(gap.time.length()), idle_cause_name(gap.cause)));
  } catch (const Error&) {  // nothing meets the selection
    place = {};
  }
  return place;
}

}  // namespace swinscope::gui
