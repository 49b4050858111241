#include "analyzer/analyses/evidence.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace swinscope {
namespace {

constexpr std::size_t kMostWindows = 256;
constexpr std::size_t kMostNames = 64;

// SQL of what one kind of event is in the files. Nsight Systems leaves tables out that have no rows.
struct EventTable {
  GpuKind kind;
  const char* sql;
};
constexpr std::array<EventTable, 4> kTables = {
    {{GpuKind::kKernel,
      "SELECT globalPid, deviceId, streamId, start, end, value AS name FROM CUPTI_ACTIVITY_KIND_KERNEL JOIN StringIds "
      "ON id = demangledName"},
     {GpuKind::kMemcpy,
      "SELECT globalPid, deviceId, streamId, start, end, 'copy of kind ' || copyKind FROM "
      "CUPTI_ACTIVITY_KIND_MEMCPY"},
     {GpuKind::kMemset, "SELECT globalPid, deviceId, streamId, start, end, 'memset' FROM CUPTI_ACTIVITY_KIND_MEMSET"},
     {GpuKind::kGraph,
      "SELECT globalPid, deviceId, streamId, start, end, 'CUDA graph' FROM CUPTI_ACTIVITY_KIND_GRAPH_TRACE"}}};

bool has_kind(const Trace& trace, GpuKind kind) {
  return std::ranges::any_of(
      trace.ranks, [&](const Rank& rank) { return std::ranges::find(rank.gpu.kind, kind) != rank.gpu.kind.end(); });
}

std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'') out += '\'';
    out += c;
  }
  return out + "'";
}

}  // namespace

ScopeSql::ScopeSql(const Trace& trace, const RunScope& scope) {
  const Selection& selection = scope.selection();
  const std::vector<DeviceScope>& devices = scope.devices();
  if (!selection.name.empty() || devices.empty() || devices.size() > kMostWindows) return;
  for (const DeviceScope& device : devices) {
    windows_ +=
        fmt::format("{}({}, {}, {}, {})", windows_.empty() ? "" : ", ", trace.ranks[device.rank_index].run.global_pid,
                    device.device, device.window.begin_ns, device.window.end_ns);
  }
  for (const EventTable& table : kTables) {
    if (!has_kind(trace, table.kind)) continue;
    events_ += fmt::format("{}{}", events_.empty() ? "" : " UNION ALL ", table.sql);
    if (selection.stream) events_ += fmt::format(" WHERE streamId = {}", *selection.stream);
  }
}

std::string ScopeSql::with_tables() const {
  return fmt::format("WITH w(pid, device, from_ns, to_ns) AS (VALUES {}), e AS ({})", windows_, events_);
}

std::string ScopeSql::work_where(const std::string& condition) const {
  if (events_.empty()) return {};
  return fmt::format(
      "{} SELECT name, count(*) AS calls, sum(end - start) AS total_ns FROM e JOIN w ON globalPid = pid AND deviceId = "
      "device AND start >= from_ns AND start < to_ns{} GROUP BY name ORDER BY total_ns DESC, name",
      with_tables(), condition);
}

std::string ScopeSql::work(std::span<const std::string> names) const {
  if (names.empty()) return work_where({});
  if (names.size() > kMostNames) return {};
  std::string list;
  for (const std::string& name : names)
    list += (list.empty() ? "" : ", ") + quoted(name);
  return work_where(fmt::format(" WHERE name IN ({})", list));
}

std::string ScopeSql::communication() const { return work_where(" WHERE name LIKE '%nccl%'"); }

std::string ScopeSql::gaps() const {
  if (events_.empty()) return {};
  return fmt::format(
      "{}, here AS (SELECT * FROM w WHERE pid IN (SELECT globalPid FROM e)), c(pid, device, window, start_ns, end_ns) "
      "AS (SELECT pid, device, from_ns, max(start, from_ns), min(end, "
      "to_ns) FROM e JOIN w ON globalPid = pid AND deviceId = device AND start < to_ns AND end > from_ns UNION ALL "
      "SELECT pid, device, from_ns, from_ns, from_ns FROM here UNION ALL SELECT pid, device, from_ns, to_ns, to_ns "
      "FROM "
      "here), "
      "g AS (SELECT pid, device, max(end_ns) OVER (PARTITION BY pid, device, window ORDER BY start_ns, end_ns ROWS "
      "BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS start_ns, start_ns AS end_ns FROM c) "
      "SELECT pid AS globalPid, device AS deviceId, start_ns AS start, end_ns AS end, end_ns - start_ns AS gap_ns FROM "
      "g "
      "WHERE end_ns > start_ns ORDER BY gap_ns DESC, start",
      with_tables());
}

std::string evidence_of(const Verdict& verdict, const ScopeSql& sql) {
  if (!verdict.bound) return sql.work();
  switch (*verdict.bound) {
    case Bound::kInput:
    case Bound::kHost:
    case Bound::kOther:
      return sql.gaps();
    case Bound::kWaiting:
    case Bound::kTransfer:
    case Bound::kCommunication:
      return sql.communication();
    default:
      return sql.work();
  }
}

}  // namespace swinscope
