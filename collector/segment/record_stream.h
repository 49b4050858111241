// Records of CUDA activity on their way through a lane of a segment: decoded in the program, where CUPTI is, stored by
// the reader. Each is an event of the kind kRecord, in the order in which they came; strings come before what refers to
// them, and facts about the recording (RunInfo) whole, whenever they have changed.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "collector/base/source.h"
#include "collector/segment/cuda_sink.h"
#include "collector/segment/thread_buffers.h"
#include "store/records.h"
#include "store/writer.h"

namespace swinscope {

enum class StreamKind : std::uint32_t {
  kString,
  kKernel,
  kMemcpy,
  kMemset,
  kSync,
  kGraphTrace,
  kApi,
  kOverhead,
  kCudaEvent,
  kMemory,
  kMemoryPool,
  kFactsBegin,
  kGpu,
  kContext,
  kStream,
  kWindow,
  kFact,
  kDrop,
  kFactsEnd,
};

// Used by one thread, which may wait: the lane is its own.
class RecordStream : public CudaSink {
 public:
  // Called while there is no room, `is_first` once for each record; false: nobody reads any more.
  using Wait = std::function<bool(bool is_first)>;
  RecordStream(ThreadBuffer& lane, Wait wait) : lane_(lane), wait_(std::move(wait)) {}

  StringId intern(std::string_view text) override;
  void add(const KernelRecord& record) override;
  void add(const MemcpyRecord& record) override;
  void add(const MemsetRecord& record) override;
  void add(const SyncRecord& record) override;
  void add(const GraphTraceRecord& record) override;
  void add(const ApiRecord& record) override;
  void add(const OverheadRecord& record) override;
  void add(const CudaEventRecord& record) override;
  void add(const MemoryRecord& record) override;
  void add(const MemoryPoolRecord& record) override;

  // GPUs, contexts, streams, windows, the collector's facts and drops; nothing when they are as before.
  void set_facts(const RunInfo& run);

  // Records that found no room.
  std::int64_t lost() const { return lost_; }

 private:
  bool write(StreamKind kind, const void* data, std::size_t bytes, std::string_view text = {});
  template <typename Record>
  void record(StreamKind kind, const Record& record);

  ThreadBuffer& lane_;
  Wait wait_;
  std::unordered_map<std::string, StringId> strings_;
  std::int64_t lost_ = 0;
  RunInfo said_;
};

// The other end. Throws what the writer throws; what was being added is then lost and counted.
class RecordStreamReader {
 public:
  // `record` is an event of the kind kRecord, whole.
  void add(TraceWriter& to, const std::byte* record);
  // Without a file: the record is lost.
  void discard(const std::byte* record);
  void flushed() { unflushed_ = 0; }
  void lost(const std::string& reason);
  void count_discarded(const std::string& reason);

  void describe(RunInfo& run) const;
  bool has_records() const { return has_records_; }

 private:
  void take_fact(StreamKind kind, std::string_view data);
  StringId id_of(StringId streamed) const;

  std::vector<StringId> strings_ = {kNoString};  // as streamed -> in the file
  RunInfo facts_;
  RunInfo next_facts_;  // not whole yet
  std::int64_t unflushed_ = 0;
  std::int64_t discarded_ = 0;
  bool has_records_ = false;
  DropCounts drops_;
};

}  // namespace swinscope
