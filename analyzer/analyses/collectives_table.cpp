#include "analyzer/analyses/collectives_table.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analyzer/base/statistics.h"
#include "analyzer/base/text.h"
#include "analyzer/table/cells.h"
#include "analyzer/trace/trace_facts.h"

namespace swinscope {
namespace {

using Device = std::pair<std::size_t, std::int32_t>;

// What is added up of the collectives of a row.
struct Samples {
  CollectivesRow row;
  std::set<Device> devices;
  std::vector<std::int64_t> transfers;
  std::vector<std::int64_t> spreads;
  std::map<std::int32_t, std::int64_t> last;  // by rank
};

class Rows {
 public:
  explicit Rows(const RunFacts& run)
      : run_(run),
        exposure_(collective_exposure(run.trace, run.scope, run.collectives(), run.waits())),
        is_whole_job_(missing_ranks(run.trace).count == 0) {}

  std::vector<CollectivesRow> take() {
    for (std::size_t c = 0; c < run_.collectives().size(); ++c)
      add(c);
    std::vector<CollectivesRow> rows;
    for (auto& [key, samples] : by_key_)
      rows.push_back(finish(samples));
    std::ranges::stable_sort(rows, std::greater(),
                             [](const CollectivesRow& r) { return r.exposed_wait_ns + r.exposed_transfer_ns; });
    return rows;
  }

 private:
  using Key = std::tuple<std::string, CollectiveKind, std::int64_t, CollectiveMatch>;

  void add(std::size_t c) {
    const Collective& collective = run_.collectives()[c];
    const CollectiveArrivals& arrivals = run_.waits().arrivals()[c];
    const CollectiveCall call = collective_call(run_.trace, collective.members.front());
    Samples& of = by_key_[{call.group, call.kind, call.bytes.value_or(-1), collective.method}];
    of.row.call = call;
    of.row.method = collective.method;
    ++of.row.count;
    if (collective.part > 0) ++of.row.later_parts;
    if (!arrivals.is_divided) ++of.row.undivided;
    for (std::size_t m = 0; m < collective.members.size(); ++m)
      add(collective.members[m], exposure_[c][m], of);
    if (!arrivals.is_divided) return;
    of.spreads.push_back(arrivals.spread_ns);
    if (!arrivals.is_last_known) return;
    ++of.row.last_known;
    ++of.last[run_.trace.ranks[collective.members[arrivals.last].rank_index].run.rank];
  }

  void add(const CollectiveMember& member, const CollectiveExposure& exposure, Samples& of) {
    const GpuEvents& gpu = run_.trace.ranks[member.rank_index].gpu;
    of.devices.emplace(member.rank_index, member.device);
    if (const auto wait = run_.waits().wait_ns(member.rank_index, member.event)) {
      of.transfers.push_back(gpu.end_ns[member.event] - gpu.start_ns[member.event] - *wait);
      of.row.wait_ns += *wait;
    }
    of.row.exposed_wait_ns += exposure.wait_ns;
    of.row.exposed_transfer_ns += exposure.transfer_ns;
    of.row.steps = std::max<std::int64_t>({1, of.row.steps, run_.scope.step_count(member.rank_index)});
  }

  CollectivesRow finish(Samples& of) const {
    CollectivesRow row = std::move(of.row);
    row.members = static_cast<std::int64_t>(of.devices.size());
    if (!row.call.ranks && is_whole_job_) row.call.ranks = row.members;
    if (!of.transfers.empty()) {
      const Summary transfers = summarize(std::move(of.transfers));
      row.transfer_median_ns = transfers.median;
      row.transfer_max_ns = transfers.max;
      const Summary spreads = summarize(std::move(of.spreads));
      row.spread_median_ns = spreads.median;
      row.spread_max_ns = spreads.max;
    }
    const auto most = std::ranges::max_element(of.last, {}, [](const auto& entry) { return entry.second; });
    if (most != of.last.end()) row.last = most->first, row.last_count = most->second;
    return row;
  }

  const RunFacts& run_;
  std::vector<std::vector<CollectiveExposure>> exposure_;
  bool is_whole_job_;
  std::map<Key, Samples> by_key_;
};

std::vector<UnmatchedRow> unmatched_rows(const RunFacts& run) {
  std::map<std::string, std::pair<std::int64_t, std::set<Device>>> by_name;
  for (const auto& [rank_index, device, event] : unmatched_communication(run.trace, run.scope, run.collectives())) {
    auto& [kernels, devices] = by_name[std::string(run.trace.text(run.trace.ranks[rank_index].gpu.short_name[event]))];
    ++kernels;
    devices.emplace(rank_index, device);
  }
  std::vector<UnmatchedRow> rows;
  rows.reserve(by_name.size());
  for (const auto& [name, of] : by_name)
    rows.push_back({name, of.first, static_cast<std::int64_t>(of.second.size())});
  return rows;
}

std::int64_t count_peer_copies(const RunFacts& run) {
  std::int64_t copies = 0;
  for (const DeviceScope& device : run.scope.devices()) {
    const GpuEvents& gpu = run.trace.ranks[device.rank_index].gpu;
    copies += std::ranges::count_if(device.events, [&](EventIndex e) {
      return gpu.kind[e] == GpuKind::kMemcpy && gpu.gpu_class[e] == GpuClass::kCommunication &&
             run.scope.has_gpu_event(device.rank_index, e);
    });
  }
  return copies;
}

Cell optional_ns(const std::optional<std::int64_t>& ns) { return ns ? Cell(*ns) : Cell(); }

std::vector<Cell> cells_of(const CollectivesRow& row) {
  // The mean over ranks, per step.
  const auto mean = [&](std::int64_t ns) {
    return row.transfer_median_ns ? Cell(ns / (row.steps * row.members)) : Cell();
  };
  return {row.call.group.empty() ? Cell() : Cell(row.call.group),
          std::string(collective_kind_name(row.call.kind)),
          optional_ns(row.call.bytes),
          optional_ns(row.call.ranks),
          row.members,
          row.count,
          std::string(row.method == CollectiveMatch::kSequence ? "sequence" : "order"),
          optional_ns(row.transfer_median_ns),
          optional_ns(row.transfer_max_ns),
          mean(row.wait_ns),
          mean(row.exposed_wait_ns),
          mean(row.exposed_transfer_ns),
          optional_ns(row.spread_median_ns),
          optional_ns(row.spread_max_ns),
          row.last ? int_cell(*row.last) : Cell(),
          row.last ? Cell(percent_of(row.last_count, row.last_known)) : Cell(),
          optional_cell(row.algorithm_gb_per_s()),
          optional_cell(row.bus_gb_per_s()),
          row.undivided > 0 ? Cell(row.undivided) : Cell()};
}

void add_clock_note(const RunFacts& run, std::vector<std::string>& notes) {
  std::optional<std::int64_t> residual;
  std::set<std::string> methods;
  for (const RankClock& clock : run.clocks().ranks()) {
    if (clock.method != ClockMethod::kReference) methods.emplace(clock_method_name(clock.method));
    if (clock.residual_p95_ns) residual = std::max(residual.value_or(0), *clock.residual_p95_ns);
  }
  if (methods.empty()) return;
  const std::string agree =
      residual ? fmt::format("; 95 % of the ends that were compared agree within {}", format_duration(*residual)) : "";
  notes.push_back(fmt::format("Clocks of the ranks: {}{}.", fmt::join(methods, ", "), agree));
  if (run.waits().by_duration() > 0)
    notes.push_back(run.waits().doubts().front() + "; the spread is the difference of durations.");
}

void add_matching_note(const CollectiveRows& all, std::vector<std::string>& notes) {
  std::int64_t by_sequence = 0;
  std::int64_t by_order = 0;
  std::int64_t parts = 0;
  std::int64_t undivided = 0;
  for (const CollectivesRow& row : all.rows) {
    (row.method == CollectiveMatch::kSequence ? by_sequence : by_order) += row.count;
    parts += row.later_parts;
    undivided += row.undivided;
  }
  if (by_sequence + by_order > 0) {
    notes.push_back(fmt::format("Matched by process group and sequence number: {}; by order within the step: {}.",
                                by_sequence, by_order));
  }
  if (parts > 0) {
    notes.push_back(
        fmt::format("{} of them are further kernels of a call that has several; each kernel counts by itself.", parts));
  }
  if (undivided > 0) {
    notes.push_back(fmt::format(
        "{} end on a rank before they begin on the last one, by more than the clocks are aligned to: a small "
        "broadcast whose sender need not wait, else an error of the alignment. Neither wait nor transfer of "
        "these is known.",
        undivided));
  }
}

}  // namespace

std::optional<double> CollectivesRow::algorithm_gb_per_s() const {
  if (!call.bytes || transfer_median_ns.value_or(0) <= 0) return std::nullopt;
  return static_cast<double>(*call.bytes) / static_cast<double>(*transfer_median_ns);
}

std::optional<double> CollectivesRow::bus_gb_per_s() const {
  const auto factor = call.ranks ? bus_factor(call.kind, *call.ranks) : std::nullopt;
  const auto algorithm = algorithm_gb_per_s();
  return factor && algorithm ? std::optional(*factor * *algorithm) : std::nullopt;
}

CollectiveRows collective_rows(const RunFacts& run) {
  return {Rows(run).take(), unmatched_rows(run), count_peer_copies(run)};
}

Table collectives_table(const RunFacts& run) {
  Table table{"collectives",
              "Collectives",
              {{"group", "group"},
               {"kind", "kind"},
               {"bytes", "size", Unit::kBytes},
               {"ranks", "ranks", Unit::kCount},
               {"ranks_here", "of them here", Unit::kCount, true},
               {"collectives", "count", Unit::kCount},
               {"matched_by", "matched by"},
               {"transfer_median_ns", "transfer", Unit::kDuration},
               {"transfer_max_ns", "longest", Unit::kDuration},
               {"wait_ns", "wait", Unit::kDuration},
               {"exposed_wait_ns", "exposed wait", Unit::kDuration},
               {"exposed_transfer_ns", "exposed transfer", Unit::kDuration},
               {"spread_median_ns", "spread", Unit::kDuration},
               {"spread_max_ns", "largest", Unit::kDuration},
               {"last_rank", "last rank", Unit::kCount},
               {"last_percent", "last", Unit::kPercent},
               {"algorithm_gb_per_s", "alg. GB/s", Unit::kNumber},
               {"bus_gb_per_s", "bus GB/s", Unit::kNumber},
               {"undivided", "undivided", Unit::kCount}},
              {}};
  const CollectiveRows all = collective_rows(run);
  for (const CollectivesRow& row : all.rows)
    table.rows.push_back(cells_of(row));
  for (const UnmatchedRow& row : all.unmatched) {
    std::vector<Cell> cells(table.columns.size());
    cells[1] = row.name;
    cells[4] = row.ranks;
    cells[5] = row.kernels;
    cells[6] = std::string("not matched");
    table.rows.push_back(std::move(cells));
  }
  hide_empty(table, {"group", "bytes", "algorithm_gb_per_s", "bus_gb_per_s", "undivided"});
  return table;
}

std::vector<std::string> collective_notes(const RunFacts& run) {
  std::vector<std::string> notes;
  const CollectiveRows all = collective_rows(run);
  add_matching_note(all, notes);
  add_clock_note(run, notes);
  std::int64_t unmatched = 0;
  for (const UnmatchedRow& row : all.unmatched)
    unmatched += row.kernels;
  if (unmatched > 0) {
    notes.push_back(fmt::format("Not matched with one of another rank: {}{}.",
                                format_counted(unmatched, "communication kernels"),
                                rank_count(run.trace) < 2 ? ", since there is one rank" : ""));
  }
  if (all.peer_copies > 0) {
    notes.push_back(
        fmt::format("Copies between GPUs ({}) are communication, too: nothing says which of another rank "
                    "belong to them.",
                    format_count(all.peer_copies)));
  }
  if (const MissingRanks missing = missing_ranks(run.trace); missing.count > 0)
    notes.push_back(missing.sentence() + ". Who came last is of those that are here.");
  return notes;
}

}  // namespace swinscope
