// What the tests of the collector share: events of a program without a program, and the rows that come of them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <nvtx3/nvToolsExtPayload.h>

#include "collector/nvtx/nvtx_emitter.h"
#include "collector/nvtx/nvtx_registry.h"
#include "collector/nvtx/nvtx_source.h"
#include "collector/segment/segment.h"
#include "collector/segment/thread_buffers.h"
#include "store/writer.h"
#include "tests/unit/store/support.h"

namespace swinscope::test {

inline EventDetails text_details(const char* text) {
  EventDetails details;
  details.text = text;
  return details;
}

inline constexpr std::uint64_t kPid = 4711;

// Small: 16 lanes, and as many blocks as are asked for.
inline Segment small_segment(std::uint32_t blocks = 64) { return Segment::anonymous({64U << 10U, 16, blocks}); }

// One recorded process: emit from here, then look at the file.
class Bench {
 public:
  explicit Bench(std::uint32_t blocks = 64)
      : segment(small_segment(blocks)),
        registry(segment.view()),
        buffers(segment.view()),
        source(segment.view(), make_global_pid(kPid), 0),
        writer_(folder_ / "rank0.db", WriteMode::kLive) {}

  ThreadBuffer& thread(std::uint32_t tid) { return *buffers.acquire(tid); }
  TraceWriter& writer() { return writer_; }
  void poll() {
    while (!source.poll(writer_)) {
    }
  }
  void flush() {
    source.before_flush(writer_);
    writer_.flush();
    source.flushed();
  }

  std::vector<std::string> rows(const std::string& sql) { return Sqlite(folder_ / "rank0.db").values(sql); }
  std::string row(const std::string& sql) { return Sqlite(folder_ / "rank0.db").value(sql); }
  // "name start.. depth" is not stored: ranges by start with their names and whether they have ended.
  std::vector<std::string> ranges() {
    poll();
    flush();
    return rows(
        "SELECT value || CASE WHEN end IS NULL THEN ' (open)' ELSE '' END FROM "
        "(SELECT n.*, coalesce(text, s.value) AS value FROM NVTX_EVENTS n LEFT JOIN StringIds s ON s.id = n.textId) "
        "WHERE eventType IN (59, 60) ORDER BY start, -end");
  }
  // Of all losses that the source reports, by kind.
  std::int64_t dropped(const std::string& what) {
    RunInfo run;
    source.describe(run);
    std::int64_t sum = 0;
    for (const DropInfo& drop : run.drops)
      sum += drop.what == what ? drop.count : 0;
    return sum;
  }

 private:
  TempFolder folder_;

 public:
  Segment segment;
  NvtxRegistry registry;
  ThreadBuffers buffers;
  NvtxSource source;

 private:
  TraceWriter writer_;
};

}  // namespace swinscope::test
