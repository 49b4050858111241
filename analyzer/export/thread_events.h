// The ranges and calls of one thread in one order, the outer one first, without a copy of them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "analyzer/trace/trace.h"

namespace swinscope {

struct ThreadEvent {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  bool is_call = false;
  EventIndex index = 0;  // in Rank::api or Rank::ranges
};

// Merges the lanes of a thread: each is in order, so that only the heads are compared.
class ThreadEvents {
 public:
  explicit ThreadEvents(const Rank& rank) : rank_(rank) {}
  void add(const RangeLane& lane) { push({lane.events, false}); }
  void add(const ThreadLane& lane) { push({lane.events, true}); }

  // False at the end.
  bool next(ThreadEvent& event) {
    if (heads_.empty()) return false;
    std::ranges::pop_heap(heads_, Later{this});
    Head head = heads_.back();
    heads_.pop_back();
    event = at(head);
    ++head.rest.begin;
    push(head);
    return true;
  }

 private:
  struct Head {
    Slice rest;
    bool is_call;
  };
  struct Later {
    const ThreadEvents* events;
    bool operator()(const Head& a, const Head& b) const { return events->key(b) < events->key(a); }
  };

  void push(Head head) {
    if (head.rest.size() == 0) return;
    heads_.push_back(head);
    std::ranges::push_heap(heads_, Later{this});
  }
  ThreadEvent at(const Head& head) const {
    const EventIndex i = head.rest.begin;
    return head.is_call ? ThreadEvent{rank_.api.start_ns[i], rank_.api.end_ns[i], true, i}
                        : ThreadEvent{rank_.ranges.start_ns[i], rank_.ranges.end_ns[i], false, i};
  }
  // Of events with the same times a range is around the call, and the lane that comes first is the outer one.
  std::tuple<std::int64_t, std::int64_t, bool, EventIndex> key(const Head& head) const {
    const ThreadEvent event = at(head);
    return {event.start_ns, -event.end_ns, event.is_call, event.index};
  }

  const Rank& rank_;
  std::vector<Head> heads_;
};

// The threads of a rank with their lanes, ascending by id.
struct HostThread {
  std::vector<const RangeLane*> ranges;
  std::vector<const ThreadLane*> calls;
};
inline std::map<std::uint64_t, HostThread> host_threads(const Rank& rank) {
  std::map<std::uint64_t, HostThread> threads;
  for (const RangeLane& lane : rank.range_lanes)
    threads[lane.global_tid].ranges.push_back(&lane);
  for (const ThreadLane& lane : rank.api_lanes)
    threads[lane.global_tid].calls.push_back(&lane);
  return threads;
}

}  // namespace swinscope
