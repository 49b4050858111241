// Where trace records go: the file writer (store) and the in-memory trace view (analyzer) both are sinks, and both the
// file reader and the importers of foreign formats feed sinks, so any source reaches any destination.
#pragma once

#include <string_view>

#include "store/records.h"

namespace swinscope {

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

  virtual void add(const KernelRecord& record) = 0;
  virtual void add(const MemcpyRecord& record) = 0;
  virtual void add(const MemsetRecord& record) = 0;
  virtual void add(const SyncRecord& record) = 0;
  virtual void add(const GraphTraceRecord& record) = 0;
  virtual void add(const ApiRecord& record) = 0;
  virtual void add(const GraphNodeRecord& record) = 0;
  virtual void add(const OverheadRecord& record) = 0;
  virtual void add(const NvtxRecord& record) = 0;
  virtual void add(const CollectiveRecord& record) = 0;
  virtual void add(const ThreadCpuRecord& record) = 0;
  virtual void add(const ProcessRecord& record) = 0;
  virtual void add(const ProcessCpuRecord& record) = 0;
  virtual void set_run(const RunInfo& run) = 0;
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
