// What of a rank waited for what, beside the order of streams and threads: a stream for an event of another one, a call
// of the host for GPU work. As CUPTI recorded it (`record --trace sync`); where it did not, calls that synchronize are
// known by their names, and what they waited for is the work that ended last before they did.
//
// An event stands for the work that its stream held when it was recorded: the last one that was launched into it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "analyzer/trace/trace.h"

namespace swinscope {

// Work that is put onto a stream after the call begins only when the GPU event has ended.
struct StreamWait {
  EventIndex call = kNoEvent;  // in ApiCalls
  std::uint32_t lane = 0;      // in Rank::gpu_lanes: the stream that waits
  EventIndex event = kNoEvent;
};

// The call returns only when the GPU event has ended. A call may wait for several.
struct HostWait {
  EventIndex call = kNoEvent;
  EventIndex event = kNoEvent;
};

class Dependencies {
 public:
  // The trace must outlive it.
  Dependencies(const Trace& trace, const Rank& rank);

  const std::vector<StreamWait>& stream_waits() const { return stream_waits_; }  // by begin of the call
  const std::vector<HostWait>& host_waits() const { return host_waits_; }        // by begin of the call
  // Waits were recorded. Otherwise none of a stream for another is known.
  bool are_recorded() const { return !rank_->syncs.empty(); }
  // Recorded waits for events that were recorded before the trace began, or not at all.
  std::int64_t unresolved() const { return unresolved_; }

 private:
  using ProcessAndCorrelation = std::pair<std::uint64_t, std::uint32_t>;  // each process counts its calls
  struct Launch {
    std::int64_t at_ns;
    EventIndex event;
  };

  void find_launches();
  void add_recorded();
  void add_by_name();
  void add_blocking_copies();
  void wait_for_lane(EventIndex call, std::uint32_t lane);
  void wait_for_device(EventIndex call, std::int32_t device, std::uint32_t context, bool any_context);
  EventIndex call_of(std::uint64_t global_pid, std::uint32_t correlation) const;
  // The last work that was launched into the lane before; kNoEvent: none.
  EventIndex last_launched(std::uint32_t lane, std::int64_t before_ns) const;

  const Trace* trace_;
  const Rank* rank_;
  std::vector<std::vector<Launch>> launches_;       // by lane, by time
  std::map<EventIndex, EventIndex> last_of_graph_;  // launching call -> event
  std::vector<std::pair<ProcessAndCorrelation, EventIndex>> calls_;
  std::map<std::tuple<std::int32_t, std::uint32_t, std::uint32_t>, std::uint32_t> lanes_;  // device, context, stream
  std::vector<StreamWait> stream_waits_;
  std::vector<HostWait> host_waits_;
  std::int64_t unresolved_ = 0;
};

}  // namespace swinscope
