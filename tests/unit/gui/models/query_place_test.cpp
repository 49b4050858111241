// The event that a row of a query is about, in a trace of two ranks written out by hand.
#include "gui/core/query_place.h"

#include <gtest/gtest.h>

namespace swinscope::gui {
namespace {

// Rank 0: a kernel 100..200, a range 100..500, a call 40..50. Rank 3: a kernel 100..150.
Trace two_ranks() {
  Trace trace;
  trace.ranks.resize(2);
  trace.ranks[1].run.rank = 3;
  trace.ranks[0].gpu.start_ns = {100};
  trace.ranks[0].gpu.end_ns = {200};
  trace.ranks[0].ranges.start_ns = {100};
  trace.ranks[0].ranges.end_ns = {500};
  trace.ranks[0].api.start_ns = {40};
  trace.ranks[0].api.end_ns = {50};
  trace.ranks[1].gpu.start_ns = {100};
  trace.ranks[1].gpu.end_ns = {150};
  return trace;
}

Table result(std::vector<std::string> names, std::vector<Cell> row) {
  Table table;
  for (std::string& name : names)
    table.columns.push_back({name, name, Unit::kValue});
  table.rows.push_back(std::move(row));
  return table;
}

TEST(QueryPlace, TimesAreKnownByTheNamesOfColumns) {
  for (const char* name :
       {"start", "Start", "start_ns", "kernel_start", "KERNEL_START_NS", "timestamp", "time", "begin"}) {
    const Table table = result({"kernel", name}, {std::string("gemm"), std::int64_t{7}});
    EXPECT_TRUE(has_time(table)) << name;
    ASSERT_TRUE(time_of(table, 0)) << name;
    EXPECT_EQ(time_of(table, 0)->start_ns, 7) << name;
    EXPECT_FALSE(time_of(table, 0)->end_ns) << name;
  }
  for (const char* name : {"restart", "started", "total_ns", "end", "times"})
    EXPECT_FALSE(has_time(result({name}, {std::int64_t{7}}))) << name;
  EXPECT_EQ(time_of(result({"end", "start"}, {std::int64_t{9}, std::int64_t{7}}), 0)->end_ns, 9);
  EXPECT_FALSE(time_of(result({"start"}, {std::string("7")}), 0));
  EXPECT_FALSE(time_of(result({"start"}, {Cell()}), 0));
}

TEST(QueryPlace, ExactlyThatEvent) {
  const Trace trace = two_ranks();
  const auto found = [&](std::optional<std::int32_t> rank, RowTime time) { return *call_at(trace, rank, time); };
  EXPECT_EQ(found(0, {100, std::nullopt}).kind, LaneKind::kKernels) << "the GPU first";
  EXPECT_EQ(found(0, {100, 500}).kind, LaneKind::kRanges) << "the one that ends then";
  EXPECT_EQ(found(0, {40, std::nullopt}).kind, LaneKind::kCalls);
  EXPECT_EQ(found(3, {100, std::nullopt}).process, 1U);
  EXPECT_EQ(found(std::nullopt, {100, 150}).process, 1U) << "of any rank the one that ends then";
  EXPECT_EQ(found(0, {100, 200}).duration_ns, 100);
  EXPECT_FALSE(found(0, {100, 200}).around);
}

TEST(QueryPlace, AMomentBetweenEventsShowsItsSurroundings) {
  const Trace trace = two_ranks();
  const auto moment = call_at(trace, 0, {60, std::nullopt});
  ASSERT_TRUE(moment);
  EXPECT_EQ(moment->kind, LaneKind::kCalls) << "20 ns away; the kernel starts after 40";
  EXPECT_EQ(*moment->around, (Interval{60 - 1'000'000, 60 + 1'000'000}));
  EXPECT_EQ(*call_at(trace, 0, {110, 150})->around, (Interval{90, 170}));
  EXPECT_FALSE(call_at(trace, 0, {501, std::nullopt})) << "after the last end";
  EXPECT_FALSE(call_at(trace, 0, {39, std::nullopt})) << "before the first start";
  EXPECT_FALSE(call_at(trace, 7, {100, std::nullopt})) << "no such rank";
  EXPECT_FALSE(call_at(Trace(), std::nullopt, {0, std::nullopt}));
}

}  // namespace
}  // namespace swinscope::gui
