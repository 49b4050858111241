// The rules of Chrome's trace format that Perfetto holds events to: they nest on their track, tracks have names and
// numbers of their own, arrows begin and end in events, counters have numbers.
#include <map>
#include <set>
#include <utility>

#include <nlohmann/json.hpp>

#include "analyzer/export/perfetto.h"
#include "tests/unit/analyzer/export_support.h"

namespace swinscope::test {
namespace {

using nlohmann::json;

json perfetto_of(const Trace& trace, const Selection& selection = whole_trace()) {
  return json::parse(export_text(
      trace, selection, [](const ExportSource& source, ExportOutput& output) { export_perfetto(source, output); }));
}

using Place = std::pair<std::int64_t, std::int64_t>;
Place place_of(const json& event) { return {event["pid"], event["tid"]}; }
// Exact: three decimals.
std::int64_t ns(const json& microseconds) { return std::llround(microseconds.get<double>() * 1'000); }

// What breaks a rule, a line each; also counts events by phase.
class Validator {
 public:
  explicit Validator(const json& document) {
    for (const json& event : document["traceEvents"])
      take(event);
    check_nesting();
    check_flows();
  }
  std::vector<std::string> faults;
  std::map<std::string, int> phases;
  std::map<Place, std::string> names;

 private:
  struct Span {
    std::int64_t start;
    std::int64_t end;
  };

  void take(const json& event) {
    const std::string phase = event["ph"];
    ++phases[phase];
    if (phase == "M" && event["name"] == "thread_name" && !names.emplace(place_of(event), event["args"]["name"]).second)
      faults.push_back("a track has two names: " + event.dump());
    if (phase == "X") {
      if (names.count(place_of(event)) == 0) faults.push_back("no name for the track of " + event.dump());
      const std::int64_t start = ns(event["ts"]);
      spans_[place_of(event)].push_back({start, start + ns(event["dur"])});
    }
    if (phase == "s") starts_[event["id"]] = {place_of(event), ns(event["ts"])};
    if (phase == "f") ends_[event["id"]] = {place_of(event), ns(event["ts"])};
    if (phase == "C" && !event["args"].begin()->is_number()) faults.push_back("no number: " + event.dump());
    if (event["pid"] == 0) faults.push_back("the idle process: " + event.dump());
  }

  // In the order of the file, which has outer events first.
  void check_nesting() {
    for (auto& [place, spans] : spans_) {
      std::vector<Span> open;
      std::int64_t last = std::numeric_limits<std::int64_t>::min();
      for (const Span& span : spans) {
        if (span.start < last) faults.push_back(fmt::format("{} is out of order on {}", span.start, place.second));
        last = span.start;
        while (!open.empty() && open.back().end <= span.start)
          open.pop_back();
        if (!open.empty() && open.back().end < span.end) {
          faults.push_back(fmt::format("{}..{} overlaps {}..{} on {}", span.start, span.end, open.back().start,
                                       open.back().end, place.second));
        }
        open.push_back(span);
      }
    }
  }

  void check_flows() {
    if (starts_.size() != ends_.size()) faults.emplace_back("arrows without an end");
    for (const auto& [id, from] : starts_) {
      const auto to = ends_.find(id);
      if (to == ends_.end() || to->second.second < from.second)
        faults.push_back(fmt::format("arrow {} has no end", id));
      for (const auto& [place, time] : {from, to == ends_.end() ? from : to->second}) {
        const auto& spans = spans_[place];
        const auto holds = [at = time](const Span& span) { return span.start <= at && at < span.end; };
        if (std::ranges::none_of(spans, holds)) faults.push_back(fmt::format("arrow {} at {} in no event", id, time));
      }
    }
  }

  std::map<Place, std::vector<Span>> spans_;
  std::map<std::int64_t, std::pair<Place, std::int64_t>> starts_;
  std::map<std::int64_t, std::pair<Place, std::int64_t>> ends_;
};

void expect_valid(const Trace& trace) {
  const Validator validator(perfetto_of(trace));
  EXPECT_EQ(validator.faults, std::vector<std::string>{});
}

TEST(ExportPerfetto, RandomTracesKeepTheRules) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    expect_valid(random_full_trace(seed, 60));
  }
}

TEST(ExportPerfetto, EveryEventIsThere) {
  const Trace trace = random_full_trace(7, 100);
  std::size_t expected = 0;
  std::size_t marks = 0;
  for (const Rank& rank : trace.ranks) {
    expected += rank.gpu.size() + rank.api.size() + rank.ranges.size();
    expected += find_steps(trace, rank).steps.size();
    marks += rank.marks.size();
  }
  const Validator validator(perfetto_of(trace));
  EXPECT_EQ(validator.phases.at("X"), static_cast<int>(expected));
  EXPECT_EQ(validator.phases.at("i"), static_cast<int>(marks));
}

// Two kernels of one stream, of 2000..6000 and 5000..8000 ns, as programmatic dependent launch makes them, from one
// call of 1000..3000 ns; the second range of the thread ends within the first, the third after it.
Trace overlapping_trace() {
  TraceBuilder builder;
  RecordSink& sink = builder.add_process();
  ApiRecord call;
  call.start_ns = 1'000;
  call.end_ns = 3'000;
  call.global_tid = make_global_tid(77, 2);
  call.correlation = 9;
  call.name = sink.intern("cudaGraphLaunch");
  sink.add(call);
  for (const auto& [start, end] : {std::pair{2'000, 6'000}, {5'000, 8'000}}) {
    KernelRecord kernel;
    kernel.start_ns = start;
    kernel.end_ns = end;
    kernel.global_pid = make_global_pid(77);
    kernel.stream = 7;
    kernel.correlation = 9;
    kernel.demangled_name = sink.intern("gemm(int)");
    kernel.grid = {4, 5, 6};
    sink.add(kernel);
  }
  for (const auto& [start, end] : {std::pair{0, 4'000}, {500, 3'500}, {3'000, 5'000}}) {
    NvtxRecord range;
    range.start_ns = start;
    range.end_ns = end;
    range.global_tid = make_global_tid(77, 2);
    range.text = sink.intern(kOddName);
    sink.add(range);
  }
  RunInfo run;
  run.global_pid = make_global_pid(77);
  sink.set_run(run);
  Trace trace;
  builder.move_into(trace);
  return trace;
}

TEST(ExportPerfetto, WhatOverlapsGoesToAFurtherTrack) {
  const json document = perfetto_of(overlapping_trace());
  const Validator validator(document);
  EXPECT_EQ(validator.faults, std::vector<std::string>{});
  std::map<std::string, int> events;
  for (const json& event : document["traceEvents"]) {
    if (event["ph"] == "X") ++events[validator.names.at(place_of(event))];
  }
  EXPECT_EQ(events, (std::map<std::string, int>{{"thread 2", 3},  // two ranges and the call
                                                {"thread 2 (2)", 1},
                                                {"GPU 0 stream 7", 1},
                                                {"GPU 0 stream 7 (2)", 1}}));
  EXPECT_EQ(validator.phases.at("s"), 2);  // one call, two kernels
}

TEST(ExportPerfetto, TextsAreWhatTheyWere) {
  const json document = perfetto_of(overlapping_trace());
  int found = 0;
  for (const json& event : document["traceEvents"])
    found += event["ph"] == "X" && event["name"] == std::string(kOddName) ? 1 : 0;
  EXPECT_EQ(found, 3);
}

TEST(ExportPerfetto, RecordingsKeepTheRules) {
  for (const char* name :
       {"swinscope_swin_tiny_ddp_2gpu", "swinscope_swin_tiny_graph_1gpu.db", "pytorch_swin_tiny_ddp_2gpu"}) {
    SCOPED_TRACE(name);
    expect_valid(open_trace(fs::path(SWINSCOPE_SOURCE_DIR) / "data" / name));
  }
}

}  // namespace
}  // namespace swinscope::test
