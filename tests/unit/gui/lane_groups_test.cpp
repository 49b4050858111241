// Groups of lanes, of timelines written by hand.
#include "gui/core/lane_groups.h"

#include <gtest/gtest.h>

namespace swinscope::gui {
namespace {

constexpr NameId kGraphLaunch = 0;
constexpr NameId kLaunch = 1;
constexpr NameId kKernel = 2;

struct At {
  std::int64_t start_ns = 0;
  EventIndex launch = kNoEvent;
};

TimelineLane lane(LaneKey key, const std::string& label, NameId name, const std::vector<At>& events) {
  TimelineLane made;
  made.key = key;
  made.label = label;
  EventIndex ref = 0;
  for (const At& at : events)
    made.append({at.start_ns, 1, name, ref++, at.launch});
  made.seal();
  return made;
}

LaneKey gpu(LaneKind kind, std::uint32_t stream, std::uint32_t process = 0) {
  return {process, kind, 0, 0, stream, 0, 0, 0, 0};
}

// Steps 0 .. 100, 100 .. 200, 200 .. 300, 300 .. 400; call 0 launches a graph, call 1 a kernel.
Timeline hand_timeline() {
  Timeline timeline;
  timeline.processes.resize(1);
  timeline.processes[0].steps = {{0, 100}, {100, 200}, {200, 300}, {300, 400}};
  for (const char* name : {"cudaGraphLaunch_v10000", "cudaLaunchKernel", "gemm"})
    timeline.names.add(name);
  const LaneKey calls{0, LaneKind::kCalls, 0, 0, 0, 5, 0, 0, 0};
  timeline.lanes = {
      lane(gpu(LaneKind::kKernels, 7), "stream 7", kKernel, {{10, 1}, {210, 0}}),    // not of graphs alone
      lane(gpu(LaneKind::kKernels, 8), "stream 8", kKernel, {{211, 0}}),             // graph stream
      lane(gpu(LaneKind::kKernels, 9), "stream 9", kKernel, {{212, 0}, {312, 0}}),   // graph stream
      lane(gpu(LaneKind::kCopies, 9), "copies, stream 9", kKernel, {{213, 0}}),      // the only one of its class
      lane(gpu(LaneKind::kCopies, 3), "copies, stream 3", kKernel, {{20}}),          // idle
      lane(gpu(LaneKind::kCopies, 4), "copies, stream 4", kKernel, {{-50}, {450}}),  // idle
      lane({0, LaneKind::kRanges, 0, 0, 0, 7, 1, 0, 0}, "thread 7 · torch.gpu_user_annotation", kKernel, {{210}}),
      lane(calls, "thread 5 · CUDA calls", kGraphLaunch, {{205}}),
      lane({0, LaneKind::kCalls, 0, 0, 0, 6, 0, 0, 0}, "thread 6 · CUDA calls", kLaunch, {{5}}),
  };
  return timeline;
}

TEST(LaneGroups, AreByDeviceAndThreadWithGraphStreamsAndIdleLanesApart) {
  const Timeline timeline = hand_timeline();
  const std::vector<LaneGroup> groups = group_lanes(timeline);
  ASSERT_EQ(groups.size(), 1U);
  ASSERT_EQ(groups[0].groups.size(), 3U);
  const LaneGroup& device = groups[0].groups[0];
  EXPECT_EQ(device.key.kind, GroupKind::kGpu);
  EXPECT_EQ(device.lanes, (std::vector<LaneId>{6, 0, 3}));  // what PyTorch calls a thread is a stream
  EXPECT_FALSE(device.is_folded_at_first);
  ASSERT_EQ(device.groups.size(), 2U);
  EXPECT_EQ(device.groups[0].key.kind, GroupKind::kGraphStreams);
  EXPECT_EQ(device.groups[0].lanes, (std::vector<LaneId>{1, 2}));
  EXPECT_TRUE(device.groups[0].is_folded_at_first);
  EXPECT_EQ(device.groups[1].key.kind, GroupKind::kIdle);
  EXPECT_EQ(device.groups[1].lanes, (std::vector<LaneId>{4, 5}));
  EXPECT_EQ(device.all_lanes(), (std::vector<LaneId>{6, 0, 3, 1, 2, 4, 5}));
  EXPECT_FALSE(groups[0].groups[1].is_folded_at_first);
  EXPECT_TRUE(groups[0].groups[2].is_folded_at_first);  // did nothing since the first step
}

TEST(LaneGroups, WithoutStepsNothingIsIdle) {
  Timeline timeline = hand_timeline();
  timeline.processes[0].steps.clear();
  const LaneGroup device = group_lanes(timeline)[0].groups[0];
  ASSERT_EQ(device.groups.size(), 1U);
  EXPECT_EQ(device.groups[0].key.kind, GroupKind::kGraphStreams);
}

TEST(LaneGroups, OfManyProcessesAllButTheFirstAreFolded) {
  Timeline timeline;
  timeline.processes.resize(kUnfoldedProcesses + 1);
  const std::vector<LaneGroup> groups = group_lanes(timeline);
  EXPECT_FALSE(groups.front().is_folded_at_first);
  EXPECT_TRUE(groups.back().is_folded_at_first);
  timeline.processes.pop_back();
  EXPECT_FALSE(group_lanes(timeline).back().is_folded_at_first);
}

// Lengths 100, 40, 300: the first one, with 5 on either side.
TEST(OpeningWindow, IsTheStepOfMedianLength) {
  Timeline timeline = hand_timeline();
  timeline.processes[0].steps = {{0, 100}, {100, 140}, {140, 440}};
  EXPECT_EQ(opening_window(timeline), (Interval{-5, 105}));
  timeline.processes[0].steps.clear();
  EXPECT_EQ(opening_window(timeline), timeline.span());
}

}  // namespace
}  // namespace swinscope::gui
