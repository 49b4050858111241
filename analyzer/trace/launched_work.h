// What a host thread put onto GPUs, by the time of the launching calls: how much of it was launched in any interval.
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/trace/trace.h"

namespace swinscope {

struct GpuWork {
  std::int64_t events = 0;
  std::int64_t total_ns = 0;  // summed durations
  std::int64_t first_ns = 0;  // the first start and the last end; of any meaning only where there are events
  std::int64_t last_ns = 0;

  // From the start of the first event to the end of the last one.
  std::int64_t span_ns() const { return events == 0 ? 0 : last_ns - first_ns; }
  void add(std::int64_t start_ns, std::int64_t end_ns);
};

class LaunchedWork {
 public:
  explicit LaunchedWork(const GpuEvents& gpu) : gpu_(&gpu) {}

  void add(EventIndex event, std::int64_t launched_ns) { launches_.push_back({launched_ns, event}); }
  // To be called once, after the last add() and before within(). O(n log n).
  void finish();

  // What was launched in [begin, end). `hint` speeds up a sequence of questions with ascending begins: 0 for the first.
  GpuWork within(std::int64_t begin_ns, std::int64_t end_ns, std::size_t& hint) const;

 private:
  struct Launch {
    std::int64_t at_ns;
    EventIndex event;
  };
  struct Span {
    std::int64_t first_ns;
    std::int64_t last_ns;
  };
  std::size_t first_from(std::size_t from, std::int64_t time_ns) const;
  Span span_of_events(std::size_t begin, std::size_t end) const;
  Span span(std::size_t begin, std::size_t end) const;

  const GpuEvents* gpu_;
  std::vector<Launch> launches_;           // by time
  std::vector<std::int64_t> sums_;         // durations before each launch, and of all
  std::vector<std::vector<Span>> blocks_;  // level k: of 2^k blocks of launches from each block on
};

}  // namespace swinscope
