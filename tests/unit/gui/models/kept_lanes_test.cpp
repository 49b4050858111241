#include "gui/core/kept_lanes.h"

#include <gtest/gtest.h>

namespace swinscope::gui {
namespace {

LaneOrder order_with(std::uint32_t stream) {
  LaneOrder order;
  order.lanes = {{.kind = LaneKind::kRanges, .global_tid = 0xFFFF'0000'0000'0001, .depth = 2},
                 {.process = 1, .device = -1, .stream = stream, .sublane = 3}};
  order.groups = {{.kind = GroupKind::kThread, .process = 1, .global_tid = 7}, {.kind = GroupKind::kGpu, .device = 2}};
  return order;
}

TEST(KeptLanes, ComeBackAsTheyWere) {
  KeptLanes kept;
  kept.scale = 1.5;
  kept.keep("a.db", order_with(1));
  kept.keep("b.db", order_with(2));
  kept.keep("a.db", order_with(3));  // arranged again
  const KeptLanes read = KeptLanes::from_bytes(kept.to_bytes());
  EXPECT_EQ(read.scale, 1.5);
  ASSERT_NE(read.order_of("a.db"), nullptr);
  EXPECT_EQ(read.order_of("a.db")->lanes, order_with(3).lanes);
  EXPECT_EQ(read.order_of("a.db")->groups, order_with(3).groups);
  ASSERT_NE(read.order_of("b.db"), nullptr);
  EXPECT_EQ(read.order_of("c.db"), nullptr);
}

TEST(KeptLanes, TheLastTracesAreKeptAndNoEndlessOnes) {
  KeptLanes kept;
  for (int i = 0; i < 11; ++i)
    kept.keep(std::to_string(i), order_with(0));
  EXPECT_EQ(kept.order_of("0"), nullptr);
  EXPECT_NE(kept.order_of("1"), nullptr);
  LaneOrder endless;
  endless.lanes.resize(KeptLanes::kMostLanes + 1);
  kept.keep("endless", endless);
  EXPECT_NE(kept.order_of("endless"), nullptr) << "until the program ends";
  EXPECT_EQ(KeptLanes::from_bytes(kept.to_bytes()).order_of("endless"), nullptr);
}

TEST(KeptLanes, DamagedBytesGiveTheDefaults) {
  KeptLanes kept;
  kept.scale = 2;
  kept.keep("a.db", order_with(1));
  const QByteArray bytes = kept.to_bytes();
  for (qsizetype size = 0; size < bytes.size(); ++size) {
    const KeptLanes cut = KeptLanes::from_bytes(bytes.first(size));
    EXPECT_EQ(cut.scale, 1) << size;
    EXPECT_EQ(cut.order_of("a.db"), nullptr) << size;
  }
  EXPECT_EQ(KeptLanes::from_bytes(QByteArray(100, '\xff')).scale, 1);
}

}  // namespace
}  // namespace swinscope::gui
