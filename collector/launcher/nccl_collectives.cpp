#include "collector/launcher/nccl_collectives.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "store/database.h"

namespace swinscope {
namespace {

constexpr std::string_view kGroupStart = "ncclGroupStart";
constexpr std::string_view kGroupEnd = "ncclGroupEnd";

// A call of NCCL's interface. Only the calls that move data have bytes.
struct Call {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::string name;
  std::optional<std::uint64_t> communicator;
  std::optional<std::int64_t> bytes;
};

struct Kernel {
  std::int64_t global_pid = 0;
  std::int64_t correlation = 0;
  std::int64_t graph_node = 0;  // 0: none
  std::int64_t caused_ns = 0;   // of its launch, or of the capture of its node
};

// By thread, each in the order of time. Calls of one thread do not overlap.
using Calls = std::unordered_map<std::int64_t, std::vector<Call>>;
using Kernels = std::unordered_map<std::int64_t, std::vector<Kernel>>;
using GroupSizes = std::unordered_map<std::uint64_t, std::int64_t>;

template <typename Integer>
std::optional<Integer> number(std::string_view text) {
  Integer value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

// A name is in the row itself, or registered.
constexpr const char* kDomainOfNccl =
    "SELECT domainId FROM NVTX_EVENTS WHERE eventType = 75 AND 'NCCL' = "
    "coalesce(text, (SELECT value FROM StringIds WHERE id = textId))";

bool has_nccl(Database& db) {
  Statement domain = db.prepare(fmt::format("{} LIMIT 1", kDomainOfNccl));
  return domain.step();
}

Calls read_calls(Database& db, GroupSizes& sizes) {
  // -> gives the number as it is written: communicators are 64 bits without a sign.
  Statement rows = db.prepare(fmt::format(
      "SELECT n.globalTid, n.start, n.end, coalesce(n.text, t.value), j.value -> '$.\"NCCL communicator ID\"', "
      "j.value -> '$.\"Message size [bytes]\"', j.value -> '$.\"No. of ranks\"' FROM NVTX_EVENTS n "
      "LEFT JOIN StringIds t ON t.id = n.textId LEFT JOIN StringIds j ON j.id = n.jsonTextId AND json_valid(j.value) "
      "WHERE n.eventType = 59 AND n.end IS NOT NULL AND n.domainId IN ({}) ORDER BY n.globalTid, n.start",
      kDomainOfNccl));
  Calls calls;
  while (rows.step()) {
    Call call{rows.integer(1), rows.integer(2), std::string(rows.text(3)), {}, {}};
    if (!rows.is_null(4)) call.communicator = number<std::uint64_t>(rows.text(4));
    if (!rows.is_null(5)) call.bytes = number<std::int64_t>(rows.text(5));
    const auto ranks = rows.is_null(6) ? std::nullopt : number<std::int64_t>(rows.text(6));
    if (call.communicator && ranks) sizes[*call.communicator] = *ranks;
    calls[rows.integer(0)].push_back(std::move(call));
  }
  return calls;
}

Kernels read_kernels(Database& db, std::int64_t& count) {
  Statement rows = db.prepare(kNcclKernels);
  Kernels kernels;
  for (; rows.step(); ++count) {
    if (rows.is_null(0) || rows.is_null(4)) continue;  // its launch was not recorded
    kernels[rows.integer(0)].push_back({rows.integer(1), rows.integer(2), rows.integer(3), rows.integer(4)});
  }
  return kernels;
}

// The call that was under way; null when none.
const Call* call_at(const std::vector<Call>& calls, std::int64_t time_ns) {
  const auto behind = std::upper_bound(calls.begin(), calls.end(), time_ns,
                                       [](std::int64_t t, const Call& call) { return t < call.start_ns; });
  if (behind == calls.begin() || std::prev(behind)->end_ns < time_ns) return nullptr;
  return &*std::prev(behind);
}

// The calls with data between a group's end and its start; groups nest.
std::vector<const Call*> members_of(const std::vector<Call>& calls, const Call* group_end) {
  std::vector<const Call*> members;
  int depth = 1;
  for (const Call* call = group_end; call != calls.data() && depth > 0;) {
    --call;
    if (call->name == kGroupEnd) ++depth;
    if (call->name == kGroupStart) --depth;
    if (call->bytes) members.push_back(call);
  }
  std::reverse(members.begin(), members.end());
  return members;
}

class Rows {
 public:
  Rows(Database& db, GroupSizes sizes)
      : insert_(db.prepare("INSERT INTO SWINSCOPE_COLLECTIVE VALUES(?,?,?,?,?,?,'Byte',?,?,'',NULL)")),
        sizes_(std::move(sizes)) {}

  void add(const Kernel& kernel, const Call& call) {
    const auto size = call.communicator ? sizes_.find(*call.communicator) : sizes_.end();
    const std::int64_t ranks = size == sizes_.end() ? 0 : size->second;
    const std::string operation = nccl_operation_name(call.name);
    const auto [sent, received] = nccl_traffic(operation, *call.bytes, std::max<std::int64_t>(ranks, 1));
    insert_.bind(1, kernel.global_pid);
    insert_.bind(2, kernel.correlation);
    if (kernel.graph_node == 0) {
      insert_.bind_null(3);
    } else {
      insert_.bind(3, kernel.graph_node);
    }
    insert_.bind(4, operation);
    insert_.bind(5, sent);
    insert_.bind(6, received);
    insert_.bind(7, ranks);
    insert_.bind(8, call.communicator ? fmt::format("0x{:016x}", *call.communicator) : std::string());
    insert_.run();
    ++count_;
  }
  std::int64_t count() const { return count_; }

 private:
  Statement insert_;
  GroupSizes sizes_;
  std::int64_t count_ = 0;
};

// What several calls have in common, and their bytes together.
Call together(const std::vector<const Call*>& calls) {
  Call sum = *calls.front();
  for (const Call* call : calls) {
    if (call == calls.front()) continue;
    *sum.bytes += *call->bytes;
    if (call->name != sum.name) sum.name = "ncclGroup";
    if (call->communicator != sum.communicator) sum.communicator.reset();
  }
  return sum;
}

// Kernels of one group: its calls in their order, or, fused into one kernel, all of them. What does not add up is left
// out.
void add_group(Rows& rows, const std::vector<Kernel>& kernels, const std::vector<const Call*>& members) {
  if (members.empty()) return;
  if (kernels.size() == 1) return rows.add(kernels.front(), together(members));
  if (kernels.size() != members.size()) return;
  for (std::size_t i = 0; i < kernels.size(); ++i)
    rows.add(kernels[i], *members[i]);
}

void add_thread(Rows& rows, const std::vector<Call>& calls, const std::vector<Kernel>& kernels) {
  for (std::size_t i = 0; i < kernels.size();) {
    const Call* call = call_at(calls, kernels[i].caused_ns);
    if (call == nullptr || call->name != kGroupEnd) {
      if (call != nullptr && call->bytes) rows.add(kernels[i], *call);
      ++i;
      continue;
    }
    std::vector<Kernel> group;
    // A replayed graph brings the kernels of a captured group once more: each replay is a group of its own.
    std::unordered_map<std::int64_t, std::vector<Kernel>> replays;
    for (; i < kernels.size() && call_at(calls, kernels[i].caused_ns) == call; ++i) {
      if (kernels[i].graph_node == 0) {
        group.push_back(kernels[i]);
      } else {
        replays[kernels[i].correlation].push_back(kernels[i]);
      }
    }
    const std::vector<const Call*> members = members_of(calls, call);
    if (!group.empty()) add_group(rows, group, members);
    for (const auto& [correlation, replayed] : replays)
      add_group(rows, replayed, members);
  }
}

}  // namespace

std::string nccl_operation_name(std::string_view name) {
  constexpr std::string_view kPrefix = "nccl";
  if (name.substr(0, kPrefix.size()) == kPrefix) name.remove_prefix(kPrefix.size());
  std::string operation(name);
  std::transform(operation.begin(), operation.end(), operation.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return operation;
}

std::pair<std::int64_t, std::int64_t> nccl_traffic(std::string_view operation, std::int64_t bytes, std::int64_t ranks) {
  if (operation == "allgather") return {bytes, bytes * ranks};
  if (operation == "reducescatter") return {bytes * ranks, bytes};
  if (operation == "send") return {bytes, 0};
  if (operation == "recv") return {0, bytes};
  return {bytes, bytes};
}

NcclSummary add_nccl_collectives(const std::filesystem::path& trace) {
  NcclSummary summary;
  Database db = Database::open_writable(trace);
  if (!has_nccl(db)) return summary;
  GroupSizes sizes;
  const Calls calls = read_calls(db, sizes);
  const Kernels kernels = read_kernels(db, summary.kernels);
  Transaction transaction(db);
  db.exec("DELETE FROM SWINSCOPE_COLLECTIVE");
  {
    Rows rows(db, std::move(sizes));
    for (const auto& [thread, of_thread] : kernels) {
      if (const auto found = calls.find(thread); found != calls.end()) add_thread(rows, found->second, of_thread);
    }
    summary.joined = rows.count();
  }
  transaction.commit();
  return summary;
}

}  // namespace swinscope
