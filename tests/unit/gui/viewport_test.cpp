#include "gui/core/viewport.h"

#include <cmath>

#include <gtest/gtest.h>

namespace swinscope::gui {
namespace {

constexpr Interval kSpan{1'000, 2'000'001'000};

TEST(Viewport, FitShowsAllWithAMargin) {
  const Viewport view = fit(kSpan, 1000);
  EXPECT_LT(view.time_at(0), kSpan.begin_ns);
  EXPECT_GT(view.time_at(1000), kSpan.end_ns);
  EXPECT_NEAR(view.x_of(kSpan.begin_ns), 10, 1.5);
  EXPECT_NEAR(view.x_of(kSpan.end_ns), 990, 1.5);
}

TEST(Viewport, ColumnsAndTimesAgreeAtEveryZoom) {
  for (int zoom = 0; zoom < 12; ++zoom) {
    const Viewport view = zoomed(fit(kSpan, 1000), std::pow(7, zoom), 400);
    for (std::int64_t column = view.first_column; column < view.first_column + view.width; ++column) {
      const std::int64_t begin = view.column_begin_ns(column);
      const std::int64_t found = view.column_of(begin);
      EXPECT_EQ(view.column_begin_ns(found), begin);
      EXPECT_GT(view.column_begin_ns(found + 1), begin);
      EXPECT_LE(begin, view.column_begin_ns(column + 1));
    }
  }
}

TEST(Viewport, ColumnsBeginOnAGridNearWhereTheyWouldOtherwise) {
  for (int zoom = 0; zoom < 20; ++zoom) {
    const Viewport view = zoomed(fit({-987'654'321, 2'000'001'000}, 1000), std::pow(3.3, zoom), 400);
    const std::int64_t cell_ns = std::int64_t{1} << view.grid_shift();
    if (cell_ns > 1) {
      EXPECT_LE(2 * static_cast<double>(cell_ns), view.ns_per_pixel);
      EXPECT_GT(4 * static_cast<double>(cell_ns), view.ns_per_pixel);
    }
    for (std::int64_t column = view.first_column; column < view.first_column + view.width; ++column) {
      const std::int64_t begin = view.column_begin_ns(column);
      EXPECT_EQ(begin % cell_ns, 0);
      const double exact = static_cast<double>(column) * view.ns_per_pixel;
      EXPECT_NEAR(static_cast<double>(begin - view.origin_ns), exact, view.ns_per_pixel / 4 + 1);
    }
  }
}

TEST(Viewport, ZoomKeepsTheTimeBelowTheCursor) {
  Viewport view = fit(kSpan, 1000);
  for (const double x : {0.0, 333.0, 999.0}) {
    for (const double factor : {1.25, 40.0, 0.5}) {
      const double below_ns = (static_cast<double>(view.first_column) + x) * view.ns_per_pixel;
      const Viewport after = zoomed(view, factor, x);
      EXPECT_NEAR(after.x_of(view.origin_ns + static_cast<std::int64_t>(below_ns)), x, 0.51);
      EXPECT_NEAR(after.ns_per_pixel, view.ns_per_pixel / factor, 1e-9 * view.ns_per_pixel);
    }
  }
}

TEST(Viewport, ZoomEndsAtItsLimits) {
  const Viewport view = fit(kSpan, 1000);
  EXPECT_EQ(zoomed(view, 1e30, 10).ns_per_pixel, kMinNsPerPixel);
  EXPECT_EQ(zoomed(view, 1e-30, 10).ns_per_pixel, kMaxNsPerPixel);
}

TEST(Viewport, FitPartCentersIt) {
  const Viewport view = fit_part(fit(kSpan, 1000), {500'000, 600'000});
  EXPECT_NEAR(view.x_of(550'000), 500, 1);
  EXPECT_EQ(view.origin_ns, kSpan.begin_ns);
  EXPECT_EQ(fit_part(view, {7, 7}).ns_per_pixel, kMinNsPerPixel);
}

TEST(Viewport, ClampKeepsTheTraceInSight) {
  const Viewport whole = fit(kSpan, 1000);
  EXPECT_EQ(clamped(zoomed(whole, 0.01, 500), kSpan), whole);
  const Viewport near = zoomed(whole, 100, 500);
  EXPECT_EQ(clamped(near, kSpan), near);
  const Viewport left = clamped(panned(near, -1'000'000'000), kSpan);
  EXPECT_NEAR(left.x_of(kSpan.begin_ns), 500, 1);
  const Viewport right = clamped(panned(near, 1'000'000'000), kSpan);
  EXPECT_NEAR(right.x_of(kSpan.end_ns), 500, 1);
}

TEST(Viewport, SurvivesTimesFarAway) {
  const Interval all{-(std::int64_t{1} << 61), std::int64_t{1} << 61};
  Viewport view = fit(all, 1000);
  EXPECT_LE(view.time_at(0), all.begin_ns);
  view = zoomed(view, 1e30, 999);
  EXPECT_LE(view.time_at(0), view.time_at(999));
  EXPECT_LE(view.column_of(all.begin_ns), view.column_of(all.end_ns));
}

TEST(ZoomHistory, GoesBackAndForth) {
  const Viewport first = fit(kSpan, 100);
  const Viewport second = zoomed(first, 2, 50);
  const Viewport third = panned(second, 7);
  ZoomHistory history(first);
  EXPECT_FALSE(history.can_undo());
  EXPECT_EQ(history.undo(), first);
  history.push(second);
  history.push(second);  // the same again: no step
  history.push(third);
  EXPECT_EQ(history.undo(), second);
  EXPECT_EQ(history.undo(), first);
  EXPECT_EQ(history.redo(), second);
  EXPECT_TRUE(history.can_redo());
  history.push(first);  // forgets the third
  EXPECT_FALSE(history.can_redo());
  EXPECT_EQ(history.undo(), second);
}

TEST(ZoomHistory, ForgetsTheOldest) {
  ZoomHistory history(fit(kSpan, 100));
  for (int i = 1; i <= 500; ++i)
    history.push(panned(fit(kSpan, 100), i));
  int steps = 0;
  while (history.can_undo()) {
    history.undo();
    ++steps;
  }
  EXPECT_EQ(steps, 199);
  EXPECT_EQ(history.current(), panned(fit(kSpan, 100), 301));
}

}  // namespace
}  // namespace swinscope::gui
