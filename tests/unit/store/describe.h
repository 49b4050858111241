// Records as readable text with every column, strings resolved: what two sinks got can be compared although their
// string ids differ, and a difference names its column.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "store/tables.h"
#include "tests/unit/store/kept_trace.h"

namespace swinscope::test {

// Who adds a member to a record declares its column in store/tables.h.
static_assert(sizeof(GpuRecord) == 56 && sizeof(KernelRecord) == 160 && sizeof(MemcpyRecord) == 88);
static_assert(sizeof(MemsetRecord) == 80 && sizeof(SyncRecord) == 72 && sizeof(GraphTraceRecord) == 64);
static_assert(sizeof(CudaEventRecord) == 48 && sizeof(MemoryPool) == 48 && sizeof(MemoryRecord) == 152);
static_assert(sizeof(MemoryPoolRecord) == 88 && sizeof(ApiRecord) == 40 && sizeof(GraphNodeRecord) == 32);
static_assert(sizeof(OverheadRecord) == 40 && sizeof(NvtxRecord) == 88 && sizeof(NvtxPayloadRecord) == 104);
static_assert(sizeof(PayloadSchemaRecord) == 80 && sizeof(PayloadEntryRecord) == 80 && sizeof(CollectiveRecord) == 72);
static_assert(sizeof(ThreadCpuRecord) == 24 && sizeof(ProcessRecord) == 72 && sizeof(ProcessCpuRecord) == 32);
static_assert(sizeof(NcclCommunicatorRecord) == 56 && sizeof(NcclOperationRecord) == 128);
static_assert(sizeof(NcclLaunchRecord) == 48 && sizeof(NcclChannelRecord) == 64);
static_assert(sizeof(MetricRecord) == 32 && sizeof(MetricNameRecord) == 48 && sizeof(GpuInfo) == 184);

// Makes text of the values of columns.
class DescribedRow {
 public:
  explicit DescribedRow(const KeptProcess& process) : process_(process) {}

  template <typename Columns, typename Record>
  std::string of(const tables::Table<Columns>& table, const Record& record) {
    line_ = table.name;
    tables::for_each_column(table, [&](const auto& column) {
      line_ += fmt::format(" {}=", column.name);
      column.write(*this, record);
    });
    return line_;
  }

  void number(std::int64_t value) { line_ += std::to_string(value); }
  void real(double value) { line_ += fmt::format("{}", value); }
  void text(std::string_view value) { line_ += fmt::format("'{}'", value); }
  void string_id(StringId id) { line_ += fmt::format("string '{}'", string(id)); }
  void text_of_string(StringId id) { text(string(id)); }
  void blob(std::string_view bytes) {
    line_ += bytes.empty() ? "NULL" : fmt::format("{:02x}", fmt::join(bytes.begin(), bytes.end(), ""));
  }
  void null() { line_ += "NULL"; }
  std::string_view string(StringId id) const { return process_.strings.text(id); }

 private:
  const KeptProcess& process_;
  std::string line_;
};

template <typename Record>
requires std::constructible_from<AnyRecord, const Record*> std::string describe(const KeptProcess& process,
                                                                                const Record& record) {
  return DescribedRow(process).of(tables::kTable<Record>, record);
}

inline std::vector<std::string> describe(const RunInfo& run) {
  std::vector<std::string> lines = {fmt::format(
      "source '{}' file '{}' rank {} of {} pid {:#x} host '{}' command '{}' complete {} graph level {} epoch {}",
      run.source, run.source_file, run.rank, run.world_size, run.global_pid, run.host, run.command, run.complete,
      run.graph_level_only, run.utc_epoch_ns)};
  for (const GpuInfo& g : run.gpus) {
    lines.push_back(
        fmt::format("gpu {} '{}' uuid '{}' memory {} SMs {} capability {}.{} chip '{}' at '{}' L2 {} {} B/s {} Hz",
                    g.device, g.name, g.uuid, g.memory_bytes, g.sm_count, g.compute_major, g.compute_minor, g.chip,
                    g.bus_location, g.l2_bytes, g.memory_bytes_per_second, g.clock_hz));
  }
  for (const ProcessInfo& p : run.processes)
    lines.push_back(fmt::format("process {:#x} '{}'", p.global_pid, p.name));
  for (const ThreadInfo& t : run.threads)
    lines.push_back(fmt::format("thread {:#x} '{}'", t.global_tid, t.name));
  for (const WindowInfo& w : run.windows)
    lines.push_back(fmt::format("window {} {}", w.start_ns, w.end_ns));
  for (const NamedValue& v : run.environment)
    lines.push_back(fmt::format("environment '{}' = '{}'", v.name, v.value));
  for (const DropInfo& d : run.drops)
    lines.push_back(fmt::format("drop '{}' {} '{}'", d.what, d.count, d.reason));
  return lines;
}

template <std::size_t... kKinds>
void describe_kinds(const KeptProcess& p, std::vector<std::string>& lines, std::index_sequence<kKinds...> /*all*/) {
  const auto append = [&]<typename Record>(const std::vector<Record>& records) {
    for (const Record& r : records)
      lines.push_back(describe(p, r));
  };
  (append(p.of<RecordOfKind<kKinds>>()), ...);
}

// Everything that a process was given, in the order of its kind.
inline std::vector<std::string> describe(const KeptProcess& p) {
  std::vector<std::string> lines = describe(p.run);
  describe_kinds(p, lines, std::make_index_sequence<kRecordKinds>());
  return lines;
}

}  // namespace swinscope::test
