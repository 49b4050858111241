// The user's order of lanes, of a timeline written by hand.
#include "gui/core/lane_order.h"

#include <gtest/gtest.h>

namespace swinscope::gui {
namespace {

TimelineLane lane(LaneKey key) {
  TimelineLane made;
  made.key = key;
  made.append({0, 1, 0, 0, kNoEvent});
  made.seal();
  return made;
}

LaneKey stream(std::uint32_t number, std::int32_t device = 0, std::uint32_t process = 0) {
  return {process, LaneKind::kKernels, device, 0, number, 0, 0, 0, 0};
}
LaneKey range(std::uint16_t depth, std::uint32_t domain) {
  return {0, LaneKind::kRanges, 0, 0, 0, 5, domain, depth, 0};
}

// Rank 0: GPU 0 with streams 7, 8, 9, and a thread with two domains, the first one two deep. Rank 1: a GPU.
class Order : public testing::Test {
 protected:
  Order() {
    timeline_.processes.resize(2);
    timeline_.names.add("gemm");
    timeline_.lanes = {lane(stream(7)),   lane(stream(8)),   lane(stream(9)),      lane(range(0, 1)),
                       lane(range(1, 1)), lane(range(0, 2)), lane(stream(7, 0, 1))};
    groups_ = group_lanes(timeline_);
  }
  bool move(const LaneItem& item, bool down) { return move_item(timeline_, groups_, item, down); }
  std::vector<LaneId> lanes() const { return lanes_in_order(groups_); }

  Timeline timeline_;
  std::vector<LaneGroup> groups_;
};

TEST_F(Order, ALaneMovesWithinItsGroup) {
  ASSERT_EQ(lanes(), (std::vector<LaneId>{0, 1, 2, 3, 4, 5, 6}));
  EXPECT_TRUE(move({{}, 2}, false));
  EXPECT_EQ(lanes(), (std::vector<LaneId>{0, 2, 1, 3, 4, 5, 6}));
  EXPECT_TRUE(move({{}, 2}, false));
  EXPECT_FALSE(move({{}, 2}, false)) << "the first one";
  EXPECT_EQ(lanes(), (std::vector<LaneId>{2, 0, 1, 3, 4, 5, 6}));
  EXPECT_TRUE(move({{}, 2}, true));
  EXPECT_TRUE(move({{}, 2}, true));
  EXPECT_FALSE(move({{}, 2}, true)) << "the last one of its device";
  EXPECT_EQ(lanes(), (std::vector<LaneId>{0, 1, 2, 3, 4, 5, 6}));
}

TEST_F(Order, LanesThatGoOnWithEachOtherMoveTogether) {
  EXPECT_TRUE(move({{}, 4}, true));
  EXPECT_EQ(lanes(), (std::vector<LaneId>{0, 1, 2, 5, 3, 4, 6}));
  EXPECT_TRUE(move({{}, 5}, true));
  EXPECT_EQ(lanes(), (std::vector<LaneId>{0, 1, 2, 3, 4, 5, 6}));
}

TEST_F(Order, AGroupMovesAmongItsSiblings) {
  const LaneItem gpu{groups_[0].groups[0].key, 0};
  EXPECT_TRUE(move(gpu, true));
  EXPECT_EQ(lanes(), (std::vector<LaneId>{3, 4, 5, 0, 1, 2, 6}));
  EXPECT_FALSE(move(gpu, true)) << "it stays in its rank";
  EXPECT_EQ(group_around(groups_, {{}, 1})->group, gpu.group);
  const LaneItem rank = *group_around(groups_, gpu);
  EXPECT_EQ(rank.group->kind, GroupKind::kProcess);
  EXPECT_TRUE(move(rank, true));
  EXPECT_EQ(lanes(), (std::vector<LaneId>{6, 3, 4, 5, 0, 1, 2}));
  EXPECT_FALSE(group_around(groups_, rank).has_value());
}

TEST_F(Order, HoldsForAnotherTimelineOfTheSameTrace) {
  move({{}, 2}, false);
  move({groups_[0].groups[0].key, 0}, true);
  const LaneOrder order = order_of_lanes(timeline_, groups_);
  const std::vector<LaneId> wanted = lanes();
  // There is one more stream by now, and lanes have other numbers.
  timeline_.lanes.insert(timeline_.lanes.begin(), lane(stream(3)));
  groups_ = group_lanes(timeline_);
  restore_order(timeline_, order, groups_);
  std::vector<LaneId> restored = lanes();
  EXPECT_EQ(std::erase(restored, LaneId{0}), 1U);
  for (LaneId& id : restored)
    --id;
  EXPECT_EQ(restored, wanted);
}

}  // namespace
}  // namespace swinscope::gui
