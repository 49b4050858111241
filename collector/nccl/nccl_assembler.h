// Records of NCCL's work out of the events of its plugin: the reader's side of nccl_event.h. A beginning waits for its
// end, or an end for its beginning, since they may come through the lanes of two threads. Memory grows with what is
// open, which NCCL bounds; of ends without a beginning (the buffers were full) it is bounded here.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "collector/base/source.h"
#include "collector/nccl/nccl_event.h"
#include "collector/segment/nvtx_event.h"
#include "store/records.h"
#include "store/writer.h"

namespace swinscope {

class NcclAssembler {
 public:
  NcclAssembler(std::uint64_t global_pid, std::int64_t start_ns) : global_pid_(global_pid), start_ns_(start_ns) {}

  // `event` is an event of the kind kNccl, whole.
  void add(TraceWriter& to, std::uint64_t global_tid, const std::byte* event);
  // The recording ends: what is still open has no end.
  void add_open(TraceWriter& to);

  void discard() { ++discarded_; }
  void flushed() { unflushed_ = 0; }
  void lost(const std::string& reason);
  void count_discarded(const std::string& reason);
  void describe(RunInfo& run) const;

 private:
  template <typename Record>
  using Open = std::unordered_map<std::uint64_t, Record>;

  void begin(TraceWriter& to, NcclEventKind kind, const EventHead& head, std::uint64_t global_tid,
             std::string_view data);
  void end(TraceWriter& to, NcclEventKind kind, std::uint64_t id, std::int64_t value);
  template <typename Record>
  void open(TraceWriter& to, Open<Record>& all, std::uint64_t id, Record record);
  template <typename Record>
  bool close(TraceWriter& to, Open<Record>& all, std::uint64_t id, std::int64_t value);
  template <typename Record>
  void add(TraceWriter& to, const Record& record);

  std::uint64_t global_pid_;
  std::int64_t start_ns_;
  Open<NcclCommunicatorRecord> communicators_;
  Open<NcclOperationRecord> operations_;
  Open<NcclLaunchRecord> launches_;
  Open<NcclChannelRecord> channels_;
  std::unordered_map<std::uint64_t, std::int64_t> early_ends_;  // by the number of what ends, which is unique
  std::int64_t unflushed_ = 0;
  std::int64_t discarded_ = 0;
  DropCounts drops_;
};

}  // namespace swinscope
