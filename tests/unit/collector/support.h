// What the tests of the collector share: events of a program without a program, and the rows that come of them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <nvtx3/nvToolsExtPayload.h>

#include "collector/nvtx_emitter.h"
#include "collector/nvtx_registry.h"
#include "collector/nvtx_source.h"
#include "collector/thread_buffers.h"
#include "store/writer.h"
#include "tests/unit/store/support.h"

namespace swinscope::test {

inline EventDetails text_details(const char* text) {
  EventDetails details;
  details.text = text;
  return details;
}

inline constexpr std::uint64_t kPid = 4711;
inline constexpr std::size_t kRingBytes = std::size_t{1} << 16U;

// One recorded process: emit from here, then look at the file.
class Bench {
 public:
  explicit Bench(std::size_t ring_bytes = kRingBytes)
      : buffers(ring_bytes),
        source(buffers, registry, make_global_pid(kPid), 0),
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
        "SELECT value || CASE WHEN end IS NULL THEN ' (open)' ELSE '' END FROM NVTX_EVENTS JOIN StringIds ON id = "
        "textId "
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
  NvtxRegistry registry;
  ThreadBuffers buffers;
  NvtxSource source;

 private:
  TraceWriter writer_;
};

}  // namespace swinscope::test
