// What the parts of a Perfetto export share: the writer, and numbers and names of processes and tracks.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "analyzer/export/event_writer.h"
#include "analyzer/export/source.h"
#include "analyzer/export/tracks.h"

namespace swinscope::perfetto {

// The order of the tracks of a process.
enum SortIndex : std::int64_t { kStepsFirst = 0, kThreads = 1'000, kGpuRanges = 500'000, kStreams = 1'000'000 };

// Numbers of processes and threads, each given once in the whole file: viewers join what has the same one.
class Ids {
 public:
  std::int64_t next() { return ++last_; }

 private:
  std::int64_t last_ = 0;  // 0 is the idle process to viewers
};

// What all ranks share.
struct Job {
  explicit Job(const ExportSource& from, ExportOutput& output) : source(from), writer(output), texts(from.trace()) {}

  const ExportSource& source;
  EventWriter writer;
  QuotedTexts texts;
  Ids ids;
  std::int64_t flows = 0;
};

// A lane that becomes as many tracks as its events need.
class TrackGroup {
 public:
  TrackGroup(Job& job, std::int64_t pid, std::string name, std::int64_t sort_index, bool may_nest)
      : job_(job), pid_(pid), name_(std::move(name)), sort_index_(sort_index), tracks_(may_nest) {}

  EventPlace place(std::int64_t start_ns, std::int64_t end_ns) {
    const std::size_t track = tracks_.place(start_ns, end_ns);
    if (track == tids_.size()) {
      tids_.push_back(job_.ids.next());
      const EventPlace place{pid_, tids_.back()};
      job_.writer.name("thread_name", place, track == 0 ? name_ : fmt::format("{} ({})", name_, track + 1));
      job_.writer.sort_index("thread_sort_index", place, sort_index_ + static_cast<std::int64_t>(track));
    }
    return {pid_, tids_[track]};
  }

 private:
  Job& job_;
  std::int64_t pid_;
  std::string name_;
  std::int64_t sort_index_;
  NestingTracks tracks_;
  std::vector<std::int64_t> tids_;
};

}  // namespace swinscope::perfetto
