// The bytes of a stored lane. The first byte says what the rest is: events of a GPU lane, events of a host lane, names
// or intervals. What is accepted must be a lane in itself, and the same when it is stored again.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "analyzer/timeline/timeline_codec.h"
#include "tests/fuzz/memory_file.h"

namespace swinscope::fuzz {
namespace {

constexpr NameId kNames = 40;

void check_lane(std::string_view bytes, LaneKind kind) {
  TimelineLane lane;
  lane.key.kind = kind;
  if (!decode_events(bytes, kNames, lane)) return;
  lane.seal();
  for (LanePosition i = 0; i < lane.size(); ++i) {
    expect(lane.names()[i] < kNames, "a name is one of the table");
    expect(lane.duration_ns(i) >= 0, "an event ends after it starts");
    expect(i == 0 || lane.event_end_ns(i - 1) <= lane.start_ns(i), "events do not overlap");
    expect(i == 0 || lane.refs()[i - 1] < lane.refs()[i], "indexes ascend");
    expect(lane.first_from(lane.start_ns(i)) <= i, "an event is found");
  }
  if (lane.empty()) return;
  const Occupancy all = lane.occupancy(lane.begin_ns(), lane.end_ns() + 1);
  expect(all.event < lane.size() && all.busy_ns <= lane.end_ns() - lane.begin_ns(), "all of the lane is seen");
  TimelineLane again;
  again.key.kind = kind;
  expect(decode_events(encode_events(lane, 0, lane.size()), kNames, again), "what was read can be stored");
  expect(again.size() == lane.size(), "all events are stored");
  for (LanePosition i = 0; i < lane.size(); ++i)
    expect(again.event(i) == lane.event(i), "an event is stored as it is");
}

void check_names(std::string_view bytes) {
  NameTable names;
  if (!decode_names(bytes, names)) return;
  NameTable again;
  expect(decode_names(encode_names(names, 0, names.size()), again), "what was read can be stored");
  for (NameId id = 0; id < names.size(); ++id)
    expect(again.text(id) == names.text(id), "a name is stored as it is");
}

void check_intervals(std::string_view bytes) {
  std::vector<Interval> intervals;
  if (!decode_intervals(bytes, intervals)) return;
  std::vector<Interval> again;
  expect(decode_intervals(encode_intervals(intervals), again) && again == intervals, "steps are stored as they are");
}

}  // namespace
}  // namespace swinscope::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace swinscope;
  using namespace swinscope::fuzz;
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 4) {
    case 0:
      check_lane(bytes, LaneKind::kKernels);
      break;
    case 1:
      check_lane(bytes, LaneKind::kCalls);
      break;
    case 2:
      check_names(bytes);
      break;
    default:
      check_intervals(bytes);
  }
  return 0;
}
