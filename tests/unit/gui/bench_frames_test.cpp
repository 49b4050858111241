// The benchmark runs, and says what it measured; how fast, is no matter here.
#include "gui/core/bench_frames.h"

#include <memory>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "analyzer/timeline/timeline.h"
#include "gui/core/bench_trace.h"
#include "tests/unit/analyzer/random_trace.h"
#include "tests/unit/store/support.h"

namespace swinscope::gui {
namespace {

TEST(BenchTrace, IsATraceOfTheSizeAskedFor) {
  TraceBuilder builder;
  const std::uint64_t count = write_bench_trace(builder.add_process(), 20'000);
  Trace trace;
  builder.move_into(trace);
  const Timeline timeline = build_timeline(trace);
  EXPECT_GE(count, 20'000U);
  EXPECT_EQ(timeline.event_count(), count);
  EXPECT_FALSE(timeline.processes.at(0).steps.empty());
  std::uint16_t deepest = 0;
  for (const TimelineLane& lane : timeline.lanes)
    deepest = std::max(deepest, lane.key.depth);
  EXPECT_EQ(deepest, 4);
}

// What a short run with these events and ranks prints.
nlohmann::json measured(std::uint64_t events, int ranks) {
  const test::TempFolder folder;
  const auto out = folder / "out.json";
  BenchOptions options;
  options.events = events;
  options.ranks = ranks;
  options.rounds = 1;
  options.frames = 3;
  options.folder = folder.path();
  {
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(out.c_str(), "w"), &std::fclose);
    EXPECT_EQ(run_bench_frames(file.get(), options), 0);
  }
  EXPECT_EQ(test::names_in(folder.path()), std::vector<std::string>{"out.json"});
  return nlohmann::json::parse(test::read_file(out));
}

TEST(BenchFrames, PrintsWhatItMeasured) {
  const auto json = measured(15'000, 1);
  EXPECT_EQ(json["schema"], "swinscope.bench_frames/1");
  EXPECT_GE(json["events"], 15'000);
  EXPECT_GT(json["own"]["first_paint_ms"], 0);
  EXPECT_GT(json["foreign"]["load_ms"], 0);
  EXPECT_EQ(json["frames_4k"]["width"], 3840);
  EXPECT_GT(json["queries"]["search_hits"], 0);
}

// One GPU a rank, with two counters each, and a picture before all is loaded.
TEST(BenchFrames, MeasuresRunsOfSeveralRanks) {
  const auto json = measured(30'000, 3);
  EXPECT_EQ(json["ranks"], 3);
  EXPECT_EQ(json["counters"], 6);
  EXPECT_GE(json["events"], 30'000);
  EXPECT_GT(json["own"]["first_paint_ms"], 0);
}

TEST(BenchFrames, SaysWhenItCannot) {
  BenchOptions options;
  options.folder = "/nonexistent/folder";
  EXPECT_EQ(run_bench_frames(stderr, options), 1);
}

}  // namespace
}  // namespace swinscope::gui
