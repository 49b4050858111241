// The sentence about all layers, and what single points say; the figures themselves are a golden's.
#include "analyzer/analyses/roofline.h"

#include <gmock/gmock.h>

#include "tests/unit/analyzer/hand_trace.h"

namespace swinscope::test {
namespace {

RooflinePoint point(std::string path, std::int64_t gpu_ns, double least_ns, std::string roof) {
  RooflinePoint made;
  made.path = std::move(path);
  made.gpu_ns = gpu_ns;
  made.least_ns = least_ns;
  made.roof = std::move(roof);
  made.steps = 2;
  return made;
}

// Of two steps: 8,000 + 4,000 ns, 6,000 + 0 over the roofs.
TEST(Roofline, SaysWhatIsOverTheRoofs) {
  HandTrace hand;
  hand.add_rank().step(0, 10);
  const Trace trace = hand.build();
  const RunFacts run(trace, {});
  Roofline all;
  all.points = {point("fc1", 8'000, 2'000, "fp16"), point("cast", 4'000, 5'000, "memory")};
  EXPECT_EQ(roofline_verdict(all, run.scope),
            "layers take 6.000 us of GPU time per step, summed over all streams, and would take 3.000 us at their "
            "roofs; fc1 loses most: 3.000 us, "
            "at 25.0 % of fp16's roof");
  EXPECT_TRUE(all.points[1].is_above());
  EXPECT_FALSE(all.points[0].is_above());
  EXPECT_TRUE(roofline(run).points.empty());
}

TEST(Roofline, IntensityNeedsBoth) {
  RooflinePoint made = point("fc1", 1'000, 500, "fp16");
  EXPECT_FALSE(made.intensity());
  made.flops = 600;
  EXPECT_FALSE(made.intensity());
  made.bytes = 200;
  EXPECT_EQ(made.intensity(), 3);
}

}  // namespace
}  // namespace swinscope::test
