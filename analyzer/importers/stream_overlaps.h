// GPU events that run while another one of their stream still does: a stream is serial, so their times are doubtful.
//
// With programmatic dependent launch a kernel may begin before the one before it has ended, and ends after it. An event
// within another one, or one that overlaps an event further back, is impossible. Nodes of CUDA graphs are left aside:
// tracers give them the stream of the launch although they run side by side.
#pragma once

#include <cstdint>
#include <vector>

namespace swinscope {

class StreamOverlaps {
 public:
  struct Count {
    std::int64_t overlapping = 0;  // events that begin more than 1 us before an earlier one of their stream ends
    std::int64_t impossible = 0;   // of these, the ones that no GPU does
  };

  // Streams are told apart by number, within 2^32 of them.
  void add(std::uint32_t stream, std::int64_t start_ns, std::int64_t end_ns) {
    events_.push_back({start_ns, end_ns, stream});
  }
  // Once: the events are gone afterwards.
  Count count();

 private:
  struct Event {
    std::int64_t start_ns;
    std::int64_t end_ns;
    std::uint32_t stream;
  };
  std::vector<Event> events_;
};

}  // namespace swinscope
