// Where trace records go: the file writer (store) and the in-memory trace view (analyzer) both are sinks, and both the
// file reader and the importers of foreign formats feed sinks, so any source reaches any destination.
#pragma once

#include <concepts>
#include <cstddef>
#include <string_view>
#include <type_traits>
#include <variant>

#include "store/records.h"

namespace swinscope {

// Every kind of record. A kind stands here, and its table in store/tables.h.
template <typename... Records>
using OneOf = std::variant<const Records*...>;
using AnyRecord = OneOf<KernelRecord, MemcpyRecord, MemsetRecord, SyncRecord, GraphTraceRecord, CudaEventRecord,
                        MemoryRecord, MemoryPoolRecord, ApiRecord, GraphNodeRecord, OverheadRecord, NvtxRecord,
                        NvtxPayloadRecord, PayloadSchemaRecord, PayloadEntryRecord, CollectiveRecord, ThreadCpuRecord,
                        ProcessRecord, ProcessCpuRecord, MetricRecord, MetricNameRecord, NcclCommunicatorRecord,
                        NcclOperationRecord, NcclLaunchRecord, NcclChannelRecord>;
inline constexpr std::size_t kRecordKinds = std::variant_size_v<AnyRecord>;
template <std::size_t kKind>
using RecordOfKind = std::remove_const_t<std::remove_pointer_t<std::variant_alternative_t<kKind, AnyRecord>>>;

// One process's records. Calls come from one thread. Record order is free; run info may come at any time, the last
// wins.
class RecordSink {
 public:
  RecordSink() = default;
  RecordSink(const RecordSink&) = delete;
  RecordSink& operator=(const RecordSink&) = delete;
  RecordSink(RecordSink&&) = delete;
  RecordSink& operator=(RecordSink&&) = delete;
  virtual ~RecordSink() = default;

  // The id of a string, the same for equal strings; "" is kNoString. Ids are dense, from 0.
  virtual StringId intern(std::string_view text) = 0;

  // Takes a record of any kind; a sink passes over the kinds that it has no use for. The pointer is never null and
  // valid during the call only.
  virtual void take(AnyRecord record) = 0;
  virtual void set_run(const RunInfo& run) = 0;

  template <typename Record>
  requires std::constructible_from<AnyRecord, const Record*>
  void add(const Record& record) { take(&record); }
};

// Takes the processes of one input file. An importer asks for one sink per process that becomes a rank.
class TraceSink {
 public:
  TraceSink() = default;
  TraceSink(const TraceSink&) = delete;
  TraceSink& operator=(const TraceSink&) = delete;
  TraceSink(TraceSink&&) = delete;
  TraceSink& operator=(TraceSink&&) = delete;
  virtual ~TraceSink() = default;

  // A sink that lives as long as this object, or until it is removed.
  virtual RecordSink& add_process() = 0;
  // Forgets the process added last and its records: an importer that finds out late how many there are begins again.
  virtual void remove_last_process() = 0;
};

}  // namespace swinscope
