#include "collector/launcher/nccl_operations.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "collector/launcher/nccl_collectives.h"
#include "collector/launcher/nccl_plans.h"
#include "collector/nccl/nccl_event.h"
#include "store/database.h"

namespace swinscope {
namespace {

constexpr std::int64_t kMaxExcessNs = 2000;

struct Operation {
  std::int64_t row = 0;
  std::int64_t id = 0;
  std::string name;  // as SWINSCOPE_COLLECTIVE has it
  std::optional<std::int64_t> bytes;
  std::int64_t sequence = -1;
  bool is_transfer = false;  // a send or a receive
};

struct Communicator {
  std::string group;
  std::int64_t ranks = 0;
};

struct Channel {
  std::int64_t row = 0;
  std::int64_t start_ns = 0;  // by the GPU's timer
  std::int64_t end_ns = 0;
};

struct Told {
  std::vector<NcclPlan> plans;
  std::vector<std::vector<Operation>> operations;  // of each plan
  std::int64_t count = 0;
};

std::optional<std::int64_t> bytes_of_type(std::string_view dtype) {
  constexpr std::array<std::pair<std::string_view, std::int64_t>, 12> kTypes = {{{"ncclInt8", 1},
                                                                                 {"ncclUint8", 1},
                                                                                 {"ncclInt32", 4},
                                                                                 {"ncclUint32", 4},
                                                                                 {"ncclInt64", 8},
                                                                                 {"ncclUint64", 8},
                                                                                 {"ncclFloat16", 2},
                                                                                 {"ncclFloat32", 4},
                                                                                 {"ncclFloat64", 8},
                                                                                 {"ncclBfloat16", 2},
                                                                                 {"ncclFloat8e4m3", 1},
                                                                                 {"ncclFloat8e5m2", 1}}};
  const auto* const found = std::find_if(kTypes.begin(), kTypes.end(), [&](const auto& t) { return t.first == dtype; });
  return found == kTypes.end() ? std::nullopt : std::optional(found->second);
}

bool is_there(Database& db) {
  Statement table = db.prepare("SELECT 1 FROM sqlite_master WHERE name = 'SWINSCOPE_NCCL_OPERATION'");
  if (!table.step()) return false;
  Statement row = db.prepare("SELECT 1 FROM SWINSCOPE_NCCL_OPERATION LIMIT 1");
  return row.step();
}

bool has_all(Database& db) {
  Statement drops = db.prepare("SELECT 1 FROM SWINSCOPE_DROPS WHERE what = ? AND count > 0");
  drops.bind(1, std::string(kNcclEvent));
  return !drops.step();
}

// Operations without a plan are not carried out by kernels.
Told read_told(Database& db) {
  Statement rows = db.prepare(
      "SELECT rowid, operationId, planId, globalTid, start, coalesce(end, start), communicatorId, callGroupId, "
      "isCaptured, name, count, dtype, seq, kind FROM SWINSCOPE_NCCL_OPERATION WHERE planId IS NOT NULL ORDER BY "
      "start, rowid");
  Told told;
  std::unordered_map<std::int64_t, std::size_t> of_plan;
  std::unordered_map<std::int64_t, std::int64_t> transfers;  // of a communicator, so far
  const bool is_complete = has_all(db);
  for (; rows.step(); ++told.count) {
    const auto [known, is_new] = of_plan.emplace(rows.integer(2), told.plans.size());
    if (is_new) {
      told.plans.push_back(
          {rows.integer(3), rows.integer(4), rows.integer(5), rows.integer(6), rows.integer(7), rows.integer(8) == 1});
      told.operations.emplace_back();
    }
    NcclPlan& plan = told.plans[known->second];
    plan.end_ns = std::max(plan.end_ns, rows.integer(5));
    Operation operation{rows.integer(0),      rows.integer(1), nccl_operation_name(rows.text(9)), {}, -1,
                        rows.integer(13) == 1};
    if (const auto size = bytes_of_type(rows.text(11))) operation.bytes = *size * rows.integer(10);
    if (!rows.is_null(12)) operation.sequence = rows.integer(12);
    if (operation.is_transfer && is_complete) operation.sequence = transfers[rows.integer(6)]++;
    told.operations[known->second].push_back(std::move(operation));
  }
  return told;
}

std::vector<PlanLaunch> read_launches(Database& db) {
  Statement rows = db.prepare(
      "SELECT globalTid, start, end, communicatorId, callGroupId FROM SWINSCOPE_NCCL_LAUNCH WHERE end IS NOT NULL AND "
      "callGroupId IS NOT NULL");
  std::vector<PlanLaunch> launches;
  while (rows.step())
    launches.push_back({rows.integer(0), rows.integer(1), rows.integer(2), rows.integer(3), rows.integer(4)});
  return launches;
}

std::vector<PlanKernel> read_kernels(Database& db) {
  Statement rows = db.prepare(kNcclKernels);
  std::vector<PlanKernel> kernels;
  while (rows.step()) {
    if (rows.is_null(0) || rows.is_null(4)) continue;  // its launch was not recorded
    const std::int64_t node = rows.integer(3);
    kernels.push_back({rows.integer(0), rows.integer(4), rows.integer(6), rows.integer(7),
                       node == 0 || rows.is_null(5) ? node : rows.integer(5), node, rows.integer(2), rows.integer(1)});
  }
  return kernels;
}

std::unordered_map<std::int64_t, Communicator> read_communicators(Database& db) {
  Statement rows = db.prepare("SELECT communicatorId, groupName, groupSize FROM SWINSCOPE_NCCL_COMMUNICATOR");
  std::unordered_map<std::int64_t, Communicator> communicators;
  while (rows.step())
    communicators[rows.integer(0)] = {std::string(rows.text(1)), rows.integer(2)};
  return communicators;
}

std::unordered_map<std::int64_t, std::vector<Channel>> read_channels(Database& db) {
  Statement rows = db.prepare(
      "SELECT operationId, rowid, gpuStart, gpuEnd FROM SWINSCOPE_NCCL_CHANNEL WHERE gpuStart > "
      "0 AND gpuEnd >= gpuStart");
  std::unordered_map<std::int64_t, std::vector<Channel>> channels;
  while (rows.step())
    channels[rows.integer(0)].push_back({rows.integer(1), rows.integer(2), rows.integer(3)});
  return channels;
}

// Which communicators have numbers: where one of their kernels had none, ranks that lack others could not be matched.
class Numbering {
 public:
  Numbering(Database& db, const std::set<std::int64_t>& joined) {
    Statement rows = db.prepare(
        "SELECT k.correlationId, c.groupName FROM CUPTI_ACTIVITY_KIND_KERNEL k LEFT JOIN SWINSCOPE_COLLECTIVE c ON "
        "c.correlationId = k.correlationId AND c.graphNodeId IS NULL WHERE k.graphNodeId IS NULL AND k.shortName IN "
        "(SELECT id FROM StringIds WHERE value LIKE 'nccl%')");
    while (rows.step()) {
      if (joined.contains(rows.integer(0))) continue;
      without_.insert(std::string(rows.text(1)));
    }
  }
  // A kernel of an unknown communicator may be of any.
  bool has(const Communicator& communicator) const {
    return !without_.contains("") && !without_.contains(communicator.group);
  }

 private:
  std::set<std::string> without_;
};

// Writes what is known of the plans whose kernel is.
class Writer {
 public:
  Writer(Database& db, const std::set<std::int64_t>& joined)
      : numbering_(db, joined),
        joined_(db.prepare("UPDATE SWINSCOPE_NCCL_OPERATION SET correlationId = ?, graphNodeId = ? WHERE rowid = ?")),
        timed_(db.prepare("UPDATE SWINSCOPE_NCCL_CHANNEL SET start = ?, end = ?, errorNs = ? WHERE rowid = ?")),
        removed_(db.prepare("DELETE FROM SWINSCOPE_COLLECTIVE WHERE rowid = ?")),
        inserted_(db.prepare("INSERT INTO SWINSCOPE_COLLECTIVE VALUES(?,?,?,?,?,?,'Byte',?,?,'',?)")) {
    Statement rows = db.prepare("SELECT correlationId, graphNodeId, rowid FROM SWINSCOPE_COLLECTIVE");
    while (rows.step())
      known_[{rows.integer(0), rows.integer(1)}] = rows.integer(2);
  }

  void join(const Operation& operation, const PlanKernel& kernel) {
    joined_.bind(1, kernel.correlation);
    bind_node(joined_, 2, kernel);
    joined_.bind(3, operation.row);
    joined_.run();
  }

  void time(const std::vector<Channel>& channels, const PlanKernel& kernel) {
    if (channels.empty()) return;
    const std::int64_t first_ns =
        std::min_element(channels.begin(), channels.end(), [](const Channel& a, const Channel& b) {
          return a.start_ns < b.start_ns;
        })->start_ns;
    const std::int64_t last_ns =
        std::max_element(channels.begin(), channels.end(), [](const Channel& a, const Channel& b) {
          return a.end_ns < b.end_ns;
        })->end_ns;
    const std::int64_t room_ns = (kernel.end_ns - kernel.start_ns) - (last_ns - first_ns);
    if (room_ns < -kMaxExcessNs) return;
    const std::int64_t offset_ns = kernel.start_ns - first_ns + room_ns / 2;
    for (const Channel& channel : channels) {
      timed_.bind(1, channel.start_ns + offset_ns);
      timed_.bind(2, channel.end_ns + offset_ns);
      timed_.bind(3, (std::abs(room_ns) + 1) / 2);
      timed_.bind(4, channel.row);
      timed_.run();
    }
  }

  // The kernel's collective, instead of what ranges say of it.
  void describe(const std::vector<Operation>& operations, const Communicator& communicator, const PlanKernel& kernel) {
    const bool are_alike = std::all_of(operations.begin(), operations.end(),
                                       [&](const Operation& o) { return o.name == operations.front().name; });
    std::int64_t bytes = 0;
    for (const Operation& operation : operations) {
      if (!operation.bytes) return;
      bytes += *operation.bytes;
    }
    const std::string name = are_alike ? operations.front().name : "group";
    const std::int64_t sequence = sequence_of(operations, are_alike, communicator);
    if (const auto known = known_.find({kernel.correlation, kernel.graph_node}); known != known_.end()) {
      removed_.bind(1, known->second);
      removed_.run();
    }
    insert(name, bytes, sequence, communicator, kernel);
  }

 private:
  // Of the first one. Which of several ranks a transfer goes to no kernel says.
  std::int64_t sequence_of(const std::vector<Operation>& operations, bool are_alike,
                           const Communicator& communicator) const {
    if (!numbering_.has(communicator)) return -1;
    const bool are_transfers =
        std::all_of(operations.begin(), operations.end(), [](const Operation& o) { return o.is_transfer; });
    if (are_transfers) return communicator.ranks == 2 ? operations.front().sequence : -1;
    return are_alike ? operations.front().sequence : -1;
  }

  static void bind_node(Statement& statement, int index, const PlanKernel& kernel) {
    if (kernel.graph_node == 0) {
      statement.bind_null(index);
    } else {
      statement.bind(index, kernel.graph_node);
    }
  }

  void insert(const std::string& name, std::int64_t bytes, std::int64_t sequence, const Communicator& communicator,
              const PlanKernel& kernel) {
    const auto [sent, received] = nccl_traffic(name, bytes, std::max<std::int64_t>(communicator.ranks, 1));
    inserted_.bind(1, kernel.global_pid);
    inserted_.bind(2, kernel.correlation);
    bind_node(inserted_, 3, kernel);
    inserted_.bind(4, name);
    inserted_.bind(5, sent);
    inserted_.bind(6, received);
    inserted_.bind(7, communicator.ranks);
    inserted_.bind(8, communicator.group);
    if (sequence < 0) {
      inserted_.bind_null(9);
    } else {
      inserted_.bind(9, sequence);
    }
    inserted_.run();
  }

  Numbering numbering_;
  Statement joined_;
  Statement timed_;
  Statement removed_;
  Statement inserted_;
  std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> known_;  // row of a kernel's collective
};

}  // namespace

NcclOperations join_nccl_operations(const std::filesystem::path& trace) {
  Database db = Database::open_writable(trace);
  if (!is_there(db)) return {};
  const Told told = read_told(db);
  const std::vector<PlanKernel> kernels = read_kernels(db);
  const auto joins = join_plans(told.plans, read_launches(db), kernels);
  const auto communicators = read_communicators(db);
  const auto channels = read_channels(db);
  NcclOperations summary{told.count, static_cast<std::int64_t>(kernels.size()), 0};
  Transaction transaction(db);
  {
    std::set<std::int64_t> joined;
    for (const auto& kernel : joins) {
      if (kernel && kernels[*kernel].graph_node == 0) joined.insert(kernels[*kernel].correlation);
    }
    Writer writer(db, joined);
    for (std::size_t i = 0; i < joins.size(); ++i) {
      if (!joins[i]) continue;
      const PlanKernel& kernel = kernels[*joins[i]];
      const auto communicator = communicators.find(told.plans[i].communicator);
      std::vector<Channel> of_plan;
      for (const Operation& operation : told.operations[i]) {
        writer.join(operation, kernel);
        if (const auto found = channels.find(operation.id); found != channels.end())
          of_plan.insert(of_plan.end(), found->second.begin(), found->second.end());
      }
      ++summary.joined;
      writer.time(of_plan, kernel);
      if (communicator != communicators.end()) writer.describe(told.operations[i], communicator->second, kernel);
    }
  }
  transaction.commit();
  return summary;
}

}  // namespace swinscope
