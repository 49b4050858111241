// A sink that keeps the records that it is given.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "store/sink.h"
#include "store/string_pool.h"

namespace swinscope::test {

// Keeps the records of one process.
class KeptProcess : public RecordSink {
 public:
  StringId intern(std::string_view text) override { return strings.intern(text); }
  void add(const KernelRecord& r) override { kernels.push_back(r); }
  void add(const MemcpyRecord& r) override { copies.push_back(r); }
  void add(const MemsetRecord& r) override { sets.push_back(r); }
  void add(const GraphNodeRecord& r) override { graph_nodes.push_back(r); }
  void add(const SyncRecord& r) override { syncs.push_back(r); }
  void add(const GraphTraceRecord& r) override { graphs.push_back(r); }
  void add(const ApiRecord& r) override { apis.push_back(r); }
  void add(const OverheadRecord& r) override { overheads.push_back(r); }
  void add(const NvtxRecord& r) override { ranges.push_back(r); }
  void add(const CollectiveRecord& r) override { collectives.push_back(r); }
  void add(const ThreadCpuRecord& r) override { thread_cpu.push_back(r); }
  void add(const ProcessRecord& r) override { processes.push_back(r); }
  void add(const ProcessCpuRecord& r) override { process_cpu.push_back(r); }
  void set_run(const RunInfo& info) override { run = info; }

  std::string text(StringId id) const { return std::string(strings.text(id)); }

  StringPool strings;
  std::vector<KernelRecord> kernels;
  std::vector<MemcpyRecord> copies;
  std::vector<MemsetRecord> sets;
  std::vector<GraphNodeRecord> graph_nodes;
  std::vector<SyncRecord> syncs;
  std::vector<GraphTraceRecord> graphs;
  std::vector<ApiRecord> apis;
  std::vector<OverheadRecord> overheads;
  std::vector<NvtxRecord> ranges;
  std::vector<CollectiveRecord> collectives;
  std::vector<ThreadCpuRecord> thread_cpu;
  std::vector<ProcessRecord> processes;
  std::vector<ProcessCpuRecord> process_cpu;
  RunInfo run;
};

class KeptTrace : public TraceSink {
 public:
  RecordSink& add_process() override { return processes.emplace_back(); }
  void remove_last_process() override { processes.pop_back(); }

  std::deque<KeptProcess> processes;
};

}  // namespace swinscope::test
