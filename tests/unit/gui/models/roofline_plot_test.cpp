// Where layers and roofs lie on the plot, worked out by hand.
#include "gui/core/roofline_plot.h"

#include <gmock/gmock.h>

namespace swinscope::gui {
namespace {

using testing::DoubleNear;
using testing::SizeIs;

constexpr double kClose = 1e-9;

RooflinePoint point(const std::string& path, std::int64_t gpu_ns, std::int64_t flops, std::int64_t bytes) {
  RooflinePoint made;
  made.path = path;
  made.operation = "gemm";
  made.gpu_ns = gpu_ns;
  made.steps = 1;
  made.flops = flops;
  made.bytes = bytes;
  made.least_ns = static_cast<double>(gpu_ns) / 2;
  made.roof = "fp16";
  return made;
}

// A memory of 1,000 bytes a ns and products of 256,000 FLOP a ns meet at 256 FLOP a byte; a layer of 16 FLOP a byte at
// 8 TFLOP/s, one of 64 at 32, and one without FLOPs. The axes reach half a power beyond and to the next whole one: 2^3
// to 2^9 FLOP a byte, 2^2 to 2^9 TFLOP/s.
RooflinePlot plot() {
  Roofline roofline;
  roofline.points = {point("a", 1'000, 8'000'000, 500'000), point("b", 3'000, 96'000'000, 1'500'000),
                     point("c", 1'000, 0, 1'000'000)};
  roofline.roofs = {{"memory", 0, 1'000}, {"fp16", 256'000, 0}};
  return {std::move(roofline), QRectF(0, 0, 600, 700)};
}

TEST(RooflinePlot, DotsLieWhereTheirFiguresSay) {
  const RooflinePlot made = plot();
  ASSERT_THAT(made.dots(), SizeIs(2));
  EXPECT_EQ(made.dots()[0].point, 1U) << "the longest first";
  EXPECT_THAT(made.dots()[0].place.x(), DoubleNear(300, kClose));  // 2^6, from 2^3, 100 a power
  EXPECT_THAT(made.dots()[0].place.y(), DoubleNear(400, kClose));  // 2^5, from 2^2 at 700, 100 a power
  EXPECT_THAT(made.dots()[1].place.x(), DoubleNear(100, kClose));
  EXPECT_THAT(made.dots()[1].place.y(), DoubleNear(600, kClose));
  // Areas are as times: 3,000 and 1,000 of 5,000, but that no dot is larger than the largest.
  EXPECT_THAT(made.dots()[0].radius, DoubleNear(26, kClose));
  EXPECT_THAT(made.dots()[1].radius, DoubleNear(26 * std::sqrt(0.8), kClose));
  EXPECT_THAT(made.share_without_place(), DoubleNear(0.2, kClose));
}

TEST(RooflinePlot, RoofsMeetWhereBothLimit) {
  const RooflinePlot made = plot();
  ASSERT_THAT(made.roofs(), SizeIs(2));
  EXPECT_EQ(made.roofs()[0].label, QStringLiteral("memory 1000 GB/s"));
  EXPECT_THAT(made.roofs()[0].from.x(), DoubleNear(0, kClose));  // 2^3 FLOP a byte: 8 TFLOP/s
  EXPECT_THAT(made.roofs()[0].from.y(), DoubleNear(600, kClose));
  EXPECT_THAT(made.roofs()[0].to.x(), DoubleNear(500, kClose));
  EXPECT_THAT(made.roofs()[0].to.y(), DoubleNear(100, kClose));
  EXPECT_EQ(made.roofs()[1].label, QStringLiteral("fp16 256 TFLOP/s"));
  EXPECT_EQ(made.roofs()[1].from, made.roofs()[0].to);
  EXPECT_THAT(made.roofs()[1].to.x(), DoubleNear(600, kClose));
  EXPECT_EQ(made.x_ticks().front(), std::pair(8.0, 0.0));
  EXPECT_EQ(made.y_ticks().front(), std::pair(4.0, 700.0));
}

TEST(RooflinePlot, TheDotUnderThePointerIsFound) {
  const RooflinePlot made = plot();
  EXPECT_EQ(made.dot_at({310, 410}), 0U);
  EXPECT_EQ(made.dot_at({100, 600}), 1U);
  EXPECT_FALSE(made.dot_at({500, 300}));
  EXPECT_TRUE(RooflinePlot().dots().empty());
}

TEST(RooflinePlot, ADotSaysItsFigures) {
  RooflinePoint made = point("stage1.mlp", 2'000, 8'000'000, 500'000);
  made.phase = "forward";
  EXPECT_EQ(
      text_of(made, QStringLiteral("step")),
      QStringLiteral("stage1.mlp forward: 2.000 us per step, 4 TFLOP/s at 16 FLOP a byte, 50.0 % of fp16's roof"));
  made.is_estimated = true;
  made.least_ns = 3'000;
  made.flops = 0;
  made.roof = "memory";
  EXPECT_EQ(
      text_of(made, QStringLiteral("step")),
      QStringLiteral("stage1.mlp forward: 2.000 us per step, 150.0 % of the memory's roof; estimated by shapes; above "
                     "its roof: by a cache, or a figure is wrong"));
}

}  // namespace
}  // namespace swinscope::gui
