// What the fuzz targets of the readers of traces share: what may be thrown, and what must hold of every view.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "analyzer/trace/trace.h"
#include "analyzer/trace/trace_builder.h"
#include "store/error.h"
#include "store/reader.h"
#include "store/utf8.h"
#include "store/writer.h"
#include "tests/fuzz/memory_file.h"
#include "tests/unit/analyzer/view.h"

namespace swinscope::fuzz {

// Whatever the bytes are, the error says that it is the input's fault.
inline void expect_input_error(const Error& error) {
  expect(error.kind() == ErrorKind::kInput, "the error is one of the input", error.what());
  expect(*error.what() != '\0' && is_valid_utf8(error.cause()), "the error is readable", error.what());
}

inline void check_gpu(const Trace& trace, const Rank& rank) {
  const GpuEvents& gpu = rank.gpu;
  EventIndex next = 0;
  for (const GpuLane& lane : rank.gpu_lanes) {
    expect(lane.events.begin == next && lane.events.end > next, "the lanes cut the events without a gap");
    next = lane.events.end;
    for (EventIndex i = lane.events.begin; i < lane.events.end; ++i) {
      expect(gpu.start_ns[i] <= gpu.end_ns[i], "an event ends after it starts");
      expect(i == lane.events.begin || gpu.start_ns[i - 1] <= gpu.start_ns[i], "a lane is sorted");
      expect(gpu.launch[i] == kNoEvent || gpu.launch[i] < rank.api.size(), "a launch is a call");
      expect(gpu.name[i] < trace.strings.size() && gpu.short_name[i] < trace.strings.size(), "names are strings");
    }
  }
  expect(next == gpu.size(), "every event is in a lane");
}

inline void check_ranges(const Trace& trace, const Rank& rank) {
  EventIndex next = 0;
  for (const RangeLane& lane : rank.range_lanes) {
    expect(lane.events.begin == next && lane.events.end > next, "the lanes cut the ranges without a gap");
    next = lane.events.end;
    expect(rank.ranges.depth[lane.events.begin] == 0, "the first range of a lane is in no other");
    for (EventIndex i = lane.events.begin; i < lane.events.end; ++i) {
      expect(rank.ranges.start_ns[i] <= rank.ranges.end_ns[i], "a range ends after it starts");
      expect(rank.ranges.name[i] < trace.strings.size(), "names are strings");
    }
  }
  expect(next == rank.ranges.size(), "every range is in a lane");
}

inline void check(const Trace& trace) {
  for (const Rank& rank : trace.ranks) {
    check_gpu(trace, rank);
    check_ranges(trace, rank);
  }
  for (StringId id = 0; id < trace.strings.size(); ++id)
    expect(is_valid_utf8(trace.text(id)), "strings are UTF-8");
}

// Writes every process of a source into a file of ours.
class FileSink : public TraceSink {
 public:
  explicit FileSink(std::filesystem::path folder) : folder_(std::move(folder)) {}

  RecordSink& add_process() override {
    const auto path = folder_ / std::to_string(writers_.size());
    std::filesystem::remove(path);
    return *writers_.emplace_back(std::make_unique<TraceWriter>(path, WriteMode::kImport));
  }

  void remove_last_process() override { writers_.pop_back(); }

  // The view of the files.
  Trace read_back() {
    Trace trace;
    for (std::size_t i = 0; i < writers_.size(); ++i) {
      writers_[i]->finish();
      TraceBuilder builder;
      TraceFile(folder_ / std::to_string(i)).read(builder);
      builder.move_into(trace);
    }
    return trace;
  }

 private:
  std::filesystem::path folder_;
  std::vector<std::unique_ptr<TraceWriter>> writers_;
};

// What was stored and read again is what was read first.
inline void expect_same_view(const Trace& first, const Trace& again) {
  const std::string difference = test::first_difference(test::describe(first), test::describe(again));
  expect(difference.empty(), "the stored trace has the same view", difference);
}

}  // namespace swinscope::fuzz
