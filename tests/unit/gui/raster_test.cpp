// Pixels against the definition, taken literally: every event is looked at for every pixel.
#include "gui/core/raster.h"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "tests/unit/analyzer/random_trace.h"

namespace swinscope::gui {
namespace {

using test::Dice;
using test::random_lane;

constexpr Color kBackground = 0xff102030;

std::vector<Color> some_colors(NameId names) {
  std::vector<Color> colors;
  for (NameId name = 0; name < names; ++name)
    colors.push_back(name_color(std::to_string(name)));
  return colors;
}

Color oracle_pixel(const TimelineLane& lane, std::int64_t begin_ns, std::int64_t end_ns, const RasterStyle& style) {
  std::int64_t busy = 0;
  std::int64_t most = -1;
  Color color = 0;
  for (LanePosition i = 0; i < lane.size(); ++i) {
    const LaneEvent event = lane.event(i);
    const std::int64_t part = std::min(event.end_ns(), end_ns) - std::max(event.start_ns, begin_ns);
    const bool starts_within = event.start_ns >= begin_ns && event.start_ns < end_ns;
    if (part <= 0 && !starts_within) continue;
    busy += part;
    if (part <= most) continue;
    most = part;
    color = style.colors[event.name];
  }
  if (most < 0) return style.background;
  if (busy == end_ns - begin_ns) return color;
  const double fraction = static_cast<double>(busy) / static_cast<double>(end_ns - begin_ns);
  return blend(style.background, color, kMinAlpha + static_cast<int>((255 - kMinAlpha) * fraction));
}

std::vector<Color> oracle(const TimelineLane& lane, const Viewport& view, const RasterStyle& style) {
  std::vector<Color> row;
  for (int x = 0; x < view.width; ++x) {
    const std::int64_t begin = view.time_at(x);
    row.push_back(oracle_pixel(lane, begin, std::max(view.time_at(x + 1), begin + 1), style));
  }
  return row;
}

std::vector<Color> raster(const TimelineLane& lane, const Viewport& view, const RasterStyle& style) {
  std::vector<Color> row(static_cast<std::size_t>(view.width), 0x12345678);
  rasterise_lane(lane, view, style, row);
  return row;
}

// From everything in a few pixels to many pixels for a nanosecond, anywhere in and beside the lane.
Viewport random_view(const TimelineLane& lane, Dice& dice) {
  const Interval span{lane.begin_ns(), lane.end_ns() + 1};
  const Viewport whole = fit(span, static_cast<int>(dice.between(1, 200)));
  const double factor = std::pow(10.0, static_cast<double>(dice.between(-10, 110)) / 10);
  const Viewport view = zoomed(whole, factor, static_cast<double>(dice.between(0, whole.width)));
  return panned(view, dice.between(-view.width, view.width));
}

class RandomRaster : public testing::TestWithParam<unsigned> {};

TEST_P(RandomRaster, EqualsTheDefinition) {
  const std::vector<Color> colors = some_colors(9);
  const RasterStyle style{kBackground, colors};
  Dice dice(GetParam() + 1000);
  TimelineLane lane = random_lane(GetParam(), static_cast<int>(dice.between(1, 700)), 9);
  for (int i = 0; i < 60; ++i) {
    lane.index_grid(static_cast<std::size_t>(dice.between(0, 4'000)));  // none, coarse, fine
    const Viewport view = random_view(lane, dice);
    SCOPED_TRACE(testing::Message() << "view " << i << ", ns per pixel " << view.ns_per_pixel << ", column "
                                    << view.first_column);
    ASSERT_EQ(raster(lane, view, style), oracle(lane, view, style));
  }
}

TEST_P(RandomRaster, PanningByOnePixelShiftsTheImageByOnePixel) {
  const std::vector<Color> colors = some_colors(9);
  const RasterStyle style{kBackground, colors};
  Dice dice(GetParam());
  TimelineLane lane = random_lane(GetParam(), 500, 9);
  for (int i = 0; i < 20; ++i) {
    lane.index_grid(static_cast<std::size_t>(dice.between(0, 4'000)));
    Viewport view = random_view(lane, dice);
    view.width += 2;
    const std::vector<Color> before = raster(lane, view, style);
    const std::vector<Color> after = raster(lane, panned(view, 1), style);
    ASSERT_TRUE(std::equal(before.begin() + 1, before.end(), after.begin()));
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomRaster, testing::Range(0U, 25U));

TEST(Raster, ALoneShortEventIsSeenAtEveryZoom) {
  TimelineLane lane;
  lane.append({500'000'000, 0, 0, 0, kNoEvent});
  lane.append({1'000'000'000, 1, 0, 1, kNoEvent});
  lane.seal();
  const std::vector<Color> colors{0xffe69f00};
  const RasterStyle style{kBackground, colors};
  for (int zoom = 0; zoom < 19; ++zoom) {
    const double factor = std::pow(3, zoom);
    for (LanePosition i = 0; i < lane.size(); ++i) {
      Viewport view = zoomed(fit({0, 2'000'000'000}, 100), factor, 50);
      view.first_column = view.column_of(lane.start_ns(i)) - 50;
      const std::vector<Color> row = raster(lane, view, style);
      EXPECT_TRUE(std::ranges::any_of(row, [](Color color) { return color != kBackground; })) << factor;
    }
  }
}

TEST(Raster, FillsTheBandsAndNothingElse) {
  Timeline timeline;
  timeline.names.add("a");
  timeline.names.add("b");
  for (unsigned seed = 0; seed < 3; ++seed)
    timeline.lanes.push_back(random_lane(seed, 200, 2));
  const std::vector<Color> colors{0xff111111, 0xff222222};
  const RasterStyle style{kBackground, colors};
  const Viewport view = fit(timeline.span(), 50);
  constexpr int kHeight = 40;
  constexpr std::ptrdiff_t kStride = 60;
  constexpr Color kUntouched = 0xdeadbeef;
  // The last one reaches beyond the image, the first begins above it, lane 9 does not exist.
  const std::vector<LaneBand> bands{{1, 12, 5}, {0, -3, 8}, {9, 20, 4}, {2, 35, 20}};
  for (const int threads : {1, 2, 7}) {
    std::vector<Color> pixels(static_cast<std::size_t>(kStride * kHeight), kUntouched);
    rasterise(timeline, view, bands, style, {pixels.data(), view.width, kHeight, kStride}, threads);
    for (int y = 0; y < kHeight; ++y) {
      std::vector<Color> expected(static_cast<std::size_t>(view.width), kBackground);
      for (const LaneBand& band : bands) {
        if (y >= band.top && y < band.top + band.height && band.lane < timeline.lanes.size()) {
          expected = raster(timeline.lanes[band.lane], view, style);
        }
      }
      const auto row = pixels.begin() + y * kStride;
      EXPECT_TRUE(std::equal(expected.begin(), expected.end(), row)) << "row " << y;
      EXPECT_TRUE(std::all_of(row + view.width, row + kStride, [&](Color c) { return c == kUntouched; }));
    }
  }
}

// Lane a: 0 .. 10 and 20 .. 24, lane b: 8 .. 20 and 20 .. 28; columns of 10.
TEST(Raster, OfSeveralLanesInABandTheBusiestIsSeen) {
  Timeline timeline;
  timeline.names.add("a");
  timeline.names.add("b");
  timeline.lanes.resize(2);
  for (const LaneEvent& event : {LaneEvent{0, 10, 0}, LaneEvent{20, 4, 0}})
    timeline.lanes[0].append(event);
  for (const LaneEvent& event : {LaneEvent{8, 12, 1}, LaneEvent{20, 8, 1}})
    timeline.lanes[1].append(event);
  for (TimelineLane& lane : timeline.lanes)
    lane.seal();
  const std::vector<Color> colors{0xff111111, 0xff222222};
  const RasterStyle style{kBackground, colors};
  Viewport view;
  view.ns_per_pixel = 10;
  view.width = 4;
  const std::vector<Color> a = raster(timeline.lanes[0], view, style);
  const std::vector<Color> b = raster(timeline.lanes[1], view, style);
  const LaneId other = 1;
  std::vector<Color> pixels(8);
  rasterise(timeline, view, std::vector<LaneBand>{{0, 0, 2, {&other, 1}}}, style, {pixels.data(), 4, 2, 4});
  const std::vector<Color> expected{a[0], b[1], b[2], kBackground};
  EXPECT_EQ(std::vector<Color>(pixels.begin(), pixels.begin() + 4), expected);
  EXPECT_EQ(std::vector<Color>(pixels.begin() + 4, pixels.end()), expected);
}

TEST(Raster, WithoutBandsIsBackground) {
  std::vector<Color> pixels(200);
  rasterise(Timeline(), Viewport{}, {}, {kBackground, {}}, {pixels.data(), 20, 10, 20});
  EXPECT_TRUE(std::ranges::all_of(pixels, [](Color color) { return color == kBackground; }));
}

TEST(Palette, GivesANameTheSameColorAlways) {
  EXPECT_EQ(name_color("gemm"), name_color(std::string("ge") + "mm"));
  NameTable names;
  names.add("gemm");
  names.add("softmax");
  EXPECT_EQ(name_colors(names), (std::vector<Color>{name_color("gemm"), name_color("softmax")}));
}

TEST(Palette, AnOperatorHasTheCategoryOfItsKernels) {
  EXPECT_EQ(category_of("aten::addmm"), EventCategory::kMatrix);
  EXPECT_EQ(category_of("ampere_fp16_s16816gemm_fp16_128x128"), EventCategory::kMatrix);
  EXPECT_EQ(category_of("gelu_kernel"), EventCategory::kElementwise);
  EXPECT_EQ(category_of("ncclDevKernel_AllReduce_Sum_f32_RING_LL"), EventCategory::kCommunication);
  EXPECT_EQ(category_of("Memcpy PtoP (Device -> Device)"), EventCategory::kCommunication);
  EXPECT_EQ(category_of("Memcpy HtoD (Pinned -> Device)"), EventCategory::kCopy);
  EXPECT_EQ(category_of("cudaLaunchKernel_v7000"), EventCategory::kLaunch);
  EXPECT_EQ(category_of("cuGraphLaunch"), EventCategory::kLaunch);
  EXPECT_EQ(category_of("cudaDeviceSynchronize_v3020"), EventCategory::kWait);
  EXPECT_EQ(category_of("cudaMalloc"), EventCategory::kCall);
  EXPECT_EQ(category_of("cutlass::Kernel2"), EventCategory::kOther);  // begins with cu, and is no call
  EXPECT_EQ(category_of("step 5"), EventCategory::kOther);
}

TEST(Palette, NumbersInNamesDoNotCount) {
  EXPECT_EQ(name_color("step 1"), name_color("step 23"));
  EXPECT_EQ(name_color("aten::mul, op_id = 317126"), name_color("aten::mul, op_id = 5"));
  NameTable names;
  for (const char* name : {"step 1", "gemm", "step 2"})
    names.add(name);
  EXPECT_EQ(categories_of(names), (std::vector<EventCategory>{EventCategory::kMatrix, EventCategory::kOther}));
}

TEST(Palette, BlendsFromOneEndToTheOther) {
  EXPECT_EQ(blend(0xff000000, 0xffffffff, 0), 0xff000000);
  EXPECT_EQ(blend(0xff000000, 0xffffffff, 255), 0xffffffff);
  EXPECT_EQ(blend(0xff000000, 0xff6496ff, 51), 0xff141e33);
}

}  // namespace
}  // namespace swinscope::gui
