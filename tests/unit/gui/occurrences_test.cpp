// From an event to the others of its name, in a timeline written by hand.
#include "gui/core/occurrences.h"

#include <gtest/gtest.h>

namespace swinscope::gui {
namespace {

constexpr NameId kGemm = 0;
constexpr NameId kOther = 1;

class Occurrences : public testing::Test {
 protected:
  // Gemms of rank 0: 10 .. 14 and 30 .. 37 on stream 7, 20 .. 27 on stream 8. A range is called the same, and rank 1
  // has one, too.
  Occurrences() {
    for (const char* name : {"gemm", "other"})
      timeline_.names.add(name);
    timeline_.processes.resize(2);
    add({0, LaneKind::kKernels, 0, 0, 7, 0, 0, 0, 0}, {{10, 4, kGemm}, {15, 2, kOther}, {30, 7, kGemm}});
    add({0, LaneKind::kKernels, 0, 0, 8, 0, 0, 0, 0}, {{20, 7, kGemm}});
    add({0, LaneKind::kRanges, 0, 0, 0, 5, 0, 0, 0}, {{11, 90, kGemm}});
    add({1, LaneKind::kKernels, 0, 0, 7, 0, 0, 0, 0}, {{12, 99, kGemm}});
  }
  void add(const LaneKey& key, const std::vector<LaneEvent>& events) {
    TimelineLane lane;
    lane.key = key;
    for (const LaneEvent& event : events)
      lane.append(event);
    lane.seal();
    timeline_.lanes.push_back(std::move(lane));
  }
  // Where one gets, as "start (number of count)".
  std::string to(TimelineEventId from, Occurrence which) const {
    const OccurrencePlace place = occurrence(timeline_, from, which);
    return std::to_string(timeline_.event(place.event).start_ns) + " (" + std::to_string(place.number) + " of " +
           std::to_string(place.count) + ")";
  }

  Timeline timeline_;
};

TEST_F(Occurrences, FollowInTimeAndRound) {
  EXPECT_EQ(to({0, 0}, Occurrence::kNext), "20 (2 of 3)");
  EXPECT_EQ(to({1, 0}, Occurrence::kNext), "30 (3 of 3)");
  EXPECT_EQ(to({0, 2}, Occurrence::kNext), "10 (1 of 3)");
  EXPECT_EQ(to({0, 0}, Occurrence::kPrevious), "30 (3 of 3)");
  EXPECT_EQ(to({0, 1}, Occurrence::kNext), "15 (1 of 1)");
}

TEST_F(Occurrences, TheLongestFirst) {
  EXPECT_EQ(to({0, 0}, Occurrence::kLongest), "20 (2 of 3)");
  EXPECT_EQ(to({1, 0}, Occurrence::kShorter), "30 (3 of 3)");  // as long, and later
  EXPECT_EQ(to({0, 2}, Occurrence::kShorter), "10 (1 of 3)");
  EXPECT_EQ(to({0, 0}, Occurrence::kShorter), "20 (2 of 3)");  // behind the shortest the longest
}

}  // namespace
}  // namespace swinscope::gui
