// Nested ranges of two threads, added up by hand.
#include "gui/core/flame_graph.h"

#include <gtest/gtest.h>

namespace swinscope::gui {
namespace {

constexpr NameId kStep = 0;
constexpr NameId kConv = 1;
constexpr NameId kCopy = 2;

TimelineLane lane(std::uint64_t thread, std::uint16_t depth, const std::vector<LaneEvent>& events) {
  TimelineLane made;
  made.key = {0, LaneKind::kRanges, 0, 0, 0, thread, 1, depth, 0};
  for (const LaneEvent& event : events)
    made.append(event);
  made.seal();
  return made;
}

// Thread 1: step 0 .. 100 with conv 10 .. 40, in which copy 20 .. 30, and copy 50 .. 60. Thread 2: step 0 .. 50 and,
// outside of any step, conv 70 .. 90.
Timeline hand_timeline() {
  Timeline timeline;
  timeline.processes.resize(1);
  for (const char* name : {"step", "conv", "copy"})
    timeline.names.add(name);
  timeline.lanes = {lane(1, 0, {{0, 100, kStep}}), lane(1, 1, {{10, 30, kConv}, {50, 10, kCopy}}),
                    lane(1, 2, {{20, 10, kCopy}}), lane(2, 0, {{0, 50, kStep}, {70, 20, kConv}})};
  return timeline;
}

std::string text_of(const Timeline& timeline, const FlameGraph& graph) {
  std::string text;
  for (std::size_t i = 1; i < graph.nodes.size(); ++i) {
    const FlameNode& node = graph.nodes[i];
    std::string chain(timeline.names.text(node.name));
    for (std::uint32_t at = node.parent; at != 0; at = graph.nodes[at].parent)
      chain = std::string(timeline.names.text(graph.nodes[at].name)) + ">" + chain;
    text += chain + " " + std::to_string(node.count) + "x " + std::to_string(node.total_ns) + " self " +
            std::to_string(node.self_ns) + " at " + std::to_string(node.before_ns) + "; ";
  }
  return text;
}

TEST(FlameGraph, AddsUpEqualChains) {
  const Timeline timeline = hand_timeline();
  const std::vector<LaneId> all{0, 1, 2, 3};
  const FlameGraph graph = flame_graph(timeline, all, {0, 100});
  EXPECT_EQ(text_of(timeline, graph),
            "step 2x 150 self 110 at 0; step>conv 1x 30 self 20 at 0; step>copy 1x 10 self 10 at 30; "
            "step>conv>copy 1x 10 self 10 at 0; conv 1x 20 self 20 at 150; ");
  EXPECT_EQ(graph.nodes.front().total_ns, 170);
  EXPECT_EQ(graph.self_by_name(3), (std::vector<std::int64_t>{110, 40, 20}));
}

// 25 .. 55: of conv 15, of the copy in it 5, of the other copy 5.
TEST(FlameGraph, CountsPartsInTheWindow) {
  const Timeline timeline = hand_timeline();
  const std::vector<LaneId> one{0, 1, 2};
  EXPECT_EQ(text_of(timeline, flame_graph(timeline, one, {25, 55})),
            "step 1x 30 self 10 at 0; step>conv 1x 15 self 10 at 0; step>copy 1x 5 self 5 at 15; "
            "step>conv>copy 1x 5 self 5 at 0; ");
}

TEST(FlameGraph, WithoutRangesIsTheRoot) {
  const Timeline timeline = hand_timeline();
  EXPECT_EQ(flame_graph(timeline, {}, {0, 100}).nodes.size(), 1U);
}

}  // namespace
}  // namespace swinscope::gui
