#include "analyzer/analyses/recording.h"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "analyzer/facts/steps.h"
#include "analyzer/trace/launch_calls.h"
#include "analyzer/trace/trace_facts.h"

namespace swinscope {
namespace {

std::string gpu_names(const Rank& rank) {
  std::map<std::string, int> names;
  for (const GpuLane& lane : rank.gpu_lanes) {
    const auto gpu = std::find_if(rank.run.gpus.begin(), rank.run.gpus.end(),
                                  [&](const GpuInfo& info) { return info.device == lane.device; });
    names[fmt::format("{}{}", lane.device, gpu == rank.run.gpus.end() ? "" : fmt::format(": {}", gpu->name))] = 1;
  }
  std::string text;
  for (const auto& [name, ignored] : names)
    text += fmt::format("{}{}", text.empty() ? "" : ", ", name);
  return text;
}

std::string plural(std::int64_t count, std::string_view noun, std::string_view more = "s") {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : more);
}

struct LaunchHealth {
  std::int64_t launches_without_kernel = 0;  // among launches that have one
  std::int64_t last_launches = 0;            // behind them: the kernels may have run later
  std::int64_t kernels = 0;
  std::int64_t kernels_without_launch = 0;
  std::int64_t first_kernels = 0;  // of them, before the first call: launched before the recording began
};

// Launches without a kernel that the thread made before one that has a kernel, and those that it made behind the last.
void count_launches(const Trace& trace, const Rank& rank, const std::vector<bool>& launched, LaunchHealth& health) {
  const GraphCaptures captures(rank);
  for (const ThreadLane& lane : rank.api_lanes) {
    std::int64_t open = 0;
    bool any = false;
    std::int64_t launch_until = INT64_MIN;  // a launch within a launch is the driver's, of the same kernel
    for (EventIndex i = lane.events.begin; i < lane.events.end; ++i) {
      if (launched[i]) {
        any = true;
        launch_until = rank.api.end_ns[i];
        health.launches_without_kernel += std::exchange(open, 0);
      } else if (rank.api.start_ns[i] >= launch_until && is_kernel_launch(trace.text(rank.api.name[i])) &&
                 rank.is_within_windows(rank.api.start_ns[i], rank.api.end_ns[i]) &&
                 !captures.has_node_of(lane.global_tid, rank.api.start_ns[i], rank.api.end_ns[i])) {
        launch_until = rank.api.end_ns[i];
        ++open;
      }
    }
    (any ? health.last_launches : health.launches_without_kernel) += open;
  }
}

LaunchHealth launch_health(const Trace& trace, const Rank& rank) {
  LaunchHealth health;
  std::vector<bool> launched(rank.api.size());
  const std::int64_t first_call_ns = rank.api.size() == 0 ? INT64_MIN : std::ranges::min(rank.api.start_ns);
  // A stream runs what was launched in order: what runs before its first kernel with a call was launched before any
  // call.
  for (const GpuLane& lane : rank.gpu_lanes) {
    bool joined = false;
    for (EventIndex i = lane.events.begin; i < lane.events.end; ++i) {
      const bool has_launch = rank.gpu.launch[i] != kNoEvent;
      if (has_launch) launched[rank.gpu.launch[i]] = true;
      joined |= has_launch;
      if (rank.gpu.kind[i] != GpuKind::kKernel) continue;
      ++health.kernels;
      if (has_launch) continue;
      const bool early = rank.gpu.start_ns[i] < first_call_ns || (!joined && first_call_ns != INT64_MIN);
      ++(early ? health.first_kernels : health.kernels_without_launch);
    }
  }
  count_launches(trace, rank, launched, health);
  return health;
}

void add_rank_health(const Trace& trace, const Rank& rank, Table& table) {
  const auto add = [&](const std::string& what) { table.rows.push_back({std::int64_t{rank.run.rank}, what}); };
  const LaunchHealth health = launch_health(trace, rank);
  if (health.launches_without_kernel > 0) {
    add(fmt::format("{} of a kernel without the kernel: GPU work is missing",
                    plural(health.launches_without_kernel, "launch", "es")));
  }
  if (health.last_launches > 0) {
    add(fmt::format("{} at the end without the kernel, which may have run after the recording",
                    plural(health.last_launches, "launch", "es")));
  }
  if (health.kernels_without_launch > 0) {
    add(fmt::format("{} of {} without the call that launched {}", health.kernels_without_launch,
                    plural(health.kernels, "kernel"), health.kernels_without_launch == 1 ? "it" : "them"));
  }
  if (health.first_kernels > 0) {
    add(fmt::format("{} of {} launched before the recording began", health.first_kernels,
                    plural(health.kernels, "kernel")));
  }
  if (!rank.run.windows.empty()) {
    std::int64_t recorded_ns = 0;
    for (const WindowInfo& window : rank.run.windows)
      recorded_ns += window.end_ns - window.start_ns;
    add(fmt::format("CUDA was recorded in {}, {:.3f} s in all",
                    plural(static_cast<std::int64_t>(rank.run.windows.size()), "window"),
                    static_cast<double>(recorded_ns) / 1e9));
  }
  if (rank.missed_cuda()) add(fmt::format("CUDA was used but not recorded: {}", rank.cuda_activity()));
  if (!rank.run.complete) add("the recording was cut off");
}

}  // namespace

Interval span_of(const Rank& rank) {
  Interval span{INT64_MAX, INT64_MIN};
  const auto extend = [&](const std::vector<std::int64_t>& starts, const std::vector<std::int64_t>& ends) {
    for (const std::int64_t t : starts)
      span.begin_ns = std::min(span.begin_ns, t);
    for (const std::int64_t t : ends)
      span.end_ns = std::max(span.end_ns, t);
  };
  extend(rank.gpu.start_ns, rank.gpu.end_ns);
  extend(rank.api.start_ns, rank.api.end_ns);
  extend(rank.ranges.start_ns, rank.ranges.end_ns);
  return span.begin_ns > span.end_ns ? Interval{} : span;
}

Table recorded_ranks_table(const Trace& trace) {
  Table table{"ranks",
              "Ranks",
              {{"rank", "rank", Unit::kCount},
               {"pid", "pid", Unit::kValue},
               {"process", "process"},
               {"host", "host", Unit::kText, true},
               {"gpus", "GPUs used"},
               {"duration_ns", "duration", Unit::kDuration},
               {"kernels", "kernels", Unit::kCount},
               {"copies", "copies", Unit::kCount},
               {"sets", "sets", Unit::kCount},
               {"graphs", "graphs", Unit::kCount, true},
               {"api_calls", "API calls", Unit::kCount},
               {"ranges", "ranges", Unit::kCount},
               {"marks", "marks", Unit::kCount, true},
               {"synchronizations", "syncs", Unit::kCount, true},
               {"collectives", "collectives", Unit::kCount, true},
               {"overhead_ns", "tracing overhead", Unit::kDuration},
               {"steps", "steps", Unit::kCount},
               {"steps_how", "found by"}},
              {}};
  for (const Rank& rank : trace.ranks) {
    std::array<std::int64_t, 4> by_kind{};
    for (const GpuKind kind : rank.gpu.kind)
      ++by_kind[static_cast<std::size_t>(kind)];
    std::int64_t overhead = 0;
    for (const OverheadRecord& record : rank.overheads)
      overhead += record.end_ns - record.start_ns;
    const RankSteps steps = find_steps(trace, rank);
    table.rows.push_back({std::int64_t{rank.run.rank}, std::int64_t{pid_of(rank.run.global_pid)},
                          rank.run.processes.empty() ? std::string() : rank.run.processes.front().name, rank.run.host,
                          gpu_names(rank), span_of(rank).length(), by_kind[0], by_kind[1], by_kind[2], by_kind[3],
                          std::int64_t{rank.api.size()}, std::int64_t{rank.ranges.size()},
                          static_cast<std::int64_t>(rank.marks.size()), static_cast<std::int64_t>(rank.syncs.size()),
                          static_cast<std::int64_t>(rank.collectives.size()), overhead,
                          static_cast<std::int64_t>(steps.steps.size()),
                          steps.method == StepMethod::kNone ? std::string("no steps found") : steps.how});
  }
  return table;
}

// What there is to know before the figures are believed.
Table health_table(const Trace& trace) {
  Table table{"health", "Health of the trace", {{"rank", "rank", Unit::kCount}, {"finding", "finding"}}, {}};
  const auto add = [&](const std::string& what) { table.rows.push_back({Cell(), what}); };
  if (const std::string missing = missing_ranks(trace).sentence(); !missing.empty()) add(missing);
  for (const std::string& doubt : trace.doubts)
    add(doubt);
  if (trace.corrupt) add("part of the input is lost: see the warnings");
  for (const Rank& rank : trace.ranks)
    add_rank_health(trace, rank, table);
  std::int64_t dropped = 0;
  for (const Rank& rank : trace.ranks) {
    for (const DropInfo& drop : rank.run.drops)
      dropped += drop.count;
  }
  if (dropped > 0) add(fmt::format("{} lost or unread: see the table below", plural(dropped, "record")));
  const bool counted = counts_losses(trace);
  if (!counted && !trace.ranks.empty()) {
    add("the program that recorded does not count what it loses: whether records are missing is not known");
  } else if (table.rows.empty() && !trace.ranks.empty()) {
    add("nothing was lost, dropped or cut off");
  }
  return table;
}

Table drop_table(const Trace& trace) {
  Table table{"drops",
              "Lost or unread",
              {{"rank", "rank", Unit::kCount}, {"what", "what"}, {"count", "count", Unit::kCount}, {"reason", "why"}},
              {}};
  for (const Rank& rank : trace.ranks) {
    for (const DropInfo& drop : rank.run.drops) {
      table.rows.push_back({std::int64_t{rank.run.rank}, drop.what, drop.count, drop.reason});
    }
  }
  return table;
}

Table collector_table(const Trace& trace) {
  Table table{"collector", "Recording", {{"rank", "rank", Unit::kCount}, {"name", "name"}, {"value", "value"}}, {}};
  for (const Rank& rank : trace.ranks) {
    for (const NamedValue& fact : rank.run.collector)
      table.rows.push_back({std::int64_t{rank.run.rank}, fact.name, fact.value});
  }
  return table;
}

Table environment_table(const Trace& trace) {
  Table table{"environment", "Environment", {{"rank", "rank", Unit::kCount}, {"name", "name"}, {"value", "value"}}, {}};
  for (const Rank& rank : trace.ranks) {
    for (const NamedValue& fact : rank.run.environment) {
      table.rows.push_back({std::int64_t{rank.run.rank}, fact.name, fact.value});
    }
  }
  // What the launcher has found out, without a rank.
  for (const Launcher& launcher : trace.launchers) {
    for (const NamedValue& fact : launcher.run.environment)
      table.rows.push_back({std::int64_t{kNoRank}, fact.name, fact.value});
  }
  return table;
}

}  // namespace swinscope
