// A sink that keeps the records that it is given.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <tuple>
#include <variant>
#include <vector>

#include "store/sink.h"
#include "store/string_pool.h"

namespace swinscope::test {

// Keeps the records of one process, of every kind.
class KeptProcess : public RecordSink {
  template <typename... Records>
  static std::tuple<std::vector<Records>...> vectors_of(OneOf<Records...> kinds);
  decltype(vectors_of(AnyRecord())) records_;
  std::deque<std::string> payloads_;

 public:
  StringId intern(std::string_view text) override { return strings.intern(text); }
  void take(AnyRecord record) override {
    std::visit([this]<typename Record>(const Record* r) { of<Record>().push_back(kept(*r)); }, record);
  }
  void set_run(const RunInfo& info) override { run = info; }

  std::string text(StringId id) const { return std::string(strings.text(id)); }

  // The records of a kind.
  template <typename Record>
  std::vector<Record>& of() {
    return std::get<std::vector<Record>>(records_);
  }
  template <typename Record>
  const std::vector<Record>& of() const {
    return std::get<std::vector<Record>>(records_);
  }

  StringPool strings;
  std::vector<KernelRecord>& kernels = of<KernelRecord>();
  std::vector<MemcpyRecord>& copies = of<MemcpyRecord>();
  std::vector<MemsetRecord>& sets = of<MemsetRecord>();
  std::vector<GraphNodeRecord>& graph_nodes = of<GraphNodeRecord>();
  std::vector<SyncRecord>& syncs = of<SyncRecord>();
  std::vector<CudaEventRecord>& cuda_events = of<CudaEventRecord>();
  std::vector<GraphTraceRecord>& graphs = of<GraphTraceRecord>();
  std::vector<ApiRecord>& apis = of<ApiRecord>();
  std::vector<OverheadRecord>& overheads = of<OverheadRecord>();
  std::vector<NvtxRecord>& ranges = of<NvtxRecord>();
  std::vector<CollectiveRecord>& collectives = of<CollectiveRecord>();
  std::vector<ThreadCpuRecord>& thread_cpu = of<ThreadCpuRecord>();
  std::vector<ProcessRecord>& processes = of<ProcessRecord>();
  std::vector<ProcessCpuRecord>& process_cpu = of<ProcessCpuRecord>();
  RunInfo run;

 private:
  template <typename Record>
  static const Record& kept(const Record& record) {
    return record;
  }
  NvtxPayloadRecord kept(NvtxPayloadRecord record) {
    record.payload = payloads_.emplace_back(record.payload);
    return record;
  }
};

class KeptTrace : public TraceSink {
 public:
  RecordSink& add_process() override { return processes.emplace_back(); }
  void remove_last_process() override { processes.pop_back(); }

  std::deque<KeptProcess> processes;
};

}  // namespace swinscope::test
