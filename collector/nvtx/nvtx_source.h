// The events of all threads of a process as a source of its file: read from the segment, whose writer may be gone.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "collector/base/source.h"
#include "collector/nccl/nccl_assembler.h"
#include "collector/nvtx/nvtx_names.h"
#include "collector/nvtx/range_assembler.h"
#include "collector/segment/backlog.h"
#include "collector/segment/lane_reader.h"
#include "collector/segment/record_stream.h"
#include "collector/segment/thread_buffers.h"

namespace swinscope {

class NvtxSource : public Source {
 public:
  // `backlog_bytes`: of records that are read before they can be stored, together with those of other processes.
  NvtxSource(const SegmentView& segment, std::uint64_t global_pid, std::int64_t start_ns, std::size_t backlog_bytes = 0)
      : segment_(segment),
        global_pid_(global_pid),
        backlog_bytes_(backlog_bytes),
        names_(segment),
        assembler_(names_, start_ns),
        nccl_(global_pid, start_ns) {}

  bool poll(TraceWriter& to) override;
  void before_flush(TraceWriter& to) override;
  void flushed() override;
  void lost(const std::string& reason) override;
  void discard(const std::string& reason) override;
  void finish(TraceWriter& to) override;
  void describe(RunInfo& run) override;

  // Nothing of the process's CUDA activity is missing because it was cut off, and no range is open.
  bool is_whole() const { return !stream_.has_records() && !assembler_.has_open(); }

 private:
  struct Lane {
    LaneReader reader;
    Backlog backlog;
    std::uint64_t global_tid = 0;
    bool is_empty = true;  // as of the last look
  };

  void find_lanes();
  void read_lanes(std::size_t share);
  void take(TraceWriter& to, Lane& lane, const std::byte* record);
  void add_names(TraceWriter& to);
  std::uint64_t dropped(DropKind kind) const;

  SegmentView segment_;
  std::uint64_t global_pid_;
  std::size_t backlog_bytes_;
  NvtxNames names_;
  RangeAssembler assembler_;
  RecordStreamReader stream_;
  NcclAssembler nccl_;
  std::deque<Lane> lanes_;
  DropCounts drops_;
  std::size_t domains_added_ = 0;
  std::size_t domains_flushed_ = 0;
  std::size_t categories_added_ = 0;
  std::size_t categories_flushed_ = 0;
  std::size_t schemas_added_ = 0;
  std::size_t schemas_flushed_ = 0;
};

}  // namespace swinscope
