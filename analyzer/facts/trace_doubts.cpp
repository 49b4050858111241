#include "analyzer/facts/trace_doubts.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "analyzer/base/intervals.h"
#include "analyzer/base/statistics.h"
#include "analyzer/base/text.h"
#include "analyzer/importers/run_place.h"
#include "analyzer/trace/launch_calls.h"
#include "analyzer/trace/trace_facts.h"

namespace swinscope {
namespace {

// Sorts; most ids count up already.
void keep_each_once(std::vector<std::uint64_t>& ids) {
  if (!std::ranges::is_sorted(ids)) std::ranges::sort(ids);
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
}

// Calls that run work on the GPU, one for each correlation id: a driver call within a runtime call has the same.
// Without those whose kernel is now a node of a graph.
LaunchCoverage coverage_of_rank(const Trace& trace, std::size_t r, const RunScope& scope) {
  const Rank& rank = trace.ranks[r];
  using Id = std::uint64_t;
  const auto id_of = [&](EventIndex call) {
    const std::uint64_t process = global_pid_of(rank.api_lanes[rank.api.lane[call]].global_tid) >> 24U;
    return Id{(process << 40U) ^ rank.api.correlation[call]};
  };
  const GraphCaptures captures(rank);
  const auto is_captured = [&](EventIndex call) {
    return captures.has_node_of(rank.api_lanes[rank.api.lane[call]].global_tid, rank.api.start_ns[call],
                                rank.api.end_ns[call]);
  };
  std::unordered_map<StringId, bool> known;
  std::vector<Id> launched;
  for (EventIndex i = 0; i < rank.api.size(); ++i) {
    const auto [entry, is_new] = known.try_emplace(rank.api.name[i], false);
    const std::string_view name = trace.text(rank.api.name[i]);
    if (is_new) entry->second = is_kernel_launch(name) || is_graph_launch(name);
    if (entry->second && rank.api.correlation[i] != 0 && scope.has_host_time(r, rank.api.start_ns[i]) &&
        !is_captured(i))
      launched.push_back(id_of(i));
  }
  std::vector<Id> has_event;
  for (const EventIndex launch : rank.gpu.launch) {
    if (launch != kNoEvent && !launched.empty()) has_event.push_back(id_of(launch));
  }
  keep_each_once(launched);
  keep_each_once(has_event);
  LaunchCoverage coverage;
  coverage.launches = static_cast<std::int64_t>(launched.size());
  auto next = has_event.begin();
  for (const Id id : launched) {
    while (next != has_event.end() && *next < id)
      ++next;
    if (next == has_event.end() || *next != id) ++coverage.without_event;
  }
  return coverage;
}

bool host_has_gpus(const Rank& rank) {
  return std::ranges::any_of(rank.run.environment, [](const NamedValue& fact) { return fact.name == "gpu.0.name"; });
}

// Its command says that it computes on the CPU.
bool is_told_to_use_the_cpu(const Rank& rank) {
  return rank.run.command.find("--device cpu") != std::string::npos ||
         rank.run.command.find("--device=cpu") != std::string::npos;
}

// Where no warm-up was left out and the first step is much longer than the others.
void add_unmarked_warmup(const Trace& trace, const RunScope& scope, std::vector<std::string>& doubts) {
  constexpr std::size_t kFewest = 3;
  constexpr std::int64_t kMuchLonger = 2;
  for (std::size_t r = 0; r < trace.ranks.size(); ++r) {
    const RankSteps& steps = scope.steps()[r];
    if (scope.step_count(r) == 0 || steps.first_measured > 0 || steps.measured().size() < kFewest) continue;
    if (scope.selection().warmup_steps || scope.selection().steps || steps.is_repetition()) continue;
    std::vector<std::int64_t> lengths;
    for (const Interval& step : steps.measured())
      lengths.push_back(step.length());
    const std::int64_t first = lengths.front();
    std::ranges::sort(lengths);
    const std::int64_t median = quantile(lengths, 0.5);
    if (first <= kMuchLonger * median) continue;
    doubts.push_back(
        fmt::format("rank {}: the first step takes {}, the median of all {}: if it is warm-up, "
                    "--warmup-steps 1 leaves it out",
                    trace.ranks[r].run.rank, format_duration(first), format_duration(median)));
    return;
  }
}

// Launches of graphs whose nodes were recorded, while the GPU has nothing else to do: they are longer than without a
// recorder, by about as much for each node as another launch is.
void add_recorded_graphs(const Trace& trace, const RunScope& scope, std::vector<std::string>& doubts) {
  constexpr double kMuch = 0.05;
  for (const DeviceScope& device : scope.devices()) {
    const Rank& rank = trace.ranks[device.rank_index];
    std::vector<Interval> busy;
    std::map<EventIndex, std::int64_t> nodes;  // by launch
    for (const EventIndex e : device.events) {
      busy.push_back({rank.gpu.start_ns[e], rank.gpu.end_ns[e]});
      if (rank.gpu.graph_node[e] != 0 && rank.gpu.launch[e] != kNoEvent) ++nodes[rank.gpu.launch[e]];
    }
    std::erase_if(nodes, [](const auto& launch) { return launch.second < 2; });
    std::vector<Interval> launches;
    std::vector<std::int64_t> lengths;
    std::int64_t sum = 0;
    for (const auto& [call, count] : nodes) {
      launches.push_back({rank.api.start_ns[call], rank.api.end_ns[call]});
      lengths.push_back(launches.back().length());
      sum += count;
    }
    const std::int64_t idle_ns = total_length(clip(subtract(unite(launches), unite(busy)), device.window));
    const double share =
        static_cast<double>(idle_ns) / static_cast<double>(std::max<std::int64_t>(1, device.window.length()));
    if (share < kMuch) continue;
    std::ranges::sort(lengths);
    const bool has_choice = rank.run.source == "swinscope" || rank.run.source == "nsys";
    doubts.push_back(
        fmt::format("rank {}: {:.1f} % of the time GPU {} waits for launches of CUDA graphs ({} each, of {} nodes), "
                    "which are longer "
                    "because their nodes were recorded{}",
                    rank.run.rank, 100 * share, device.device, format_duration(quantile(lengths, 0.5)),
                    format_count(sum / std::ssize(nodes)),
                    has_choice ? ": --cuda-graph-trace graph records each graph as one" : ""));
    return;
  }
}

// Calls that wait for the GPU, begin in the scope and take a while, by begin.
std::vector<EventIndex> long_waits(const Trace& trace, const RunScope& scope, std::size_t r) {
  constexpr std::int64_t kLongNs = 1'000'000;
  const ApiCalls& api = trace.ranks[r].api;
  std::vector<EventIndex> waits;
  for (EventIndex i = 0; i < api.size(); ++i) {
    if (api.end_ns[i] - api.start_ns[i] < kLongNs || !scope.has_host_time(r, api.start_ns[i])) continue;
    if (is_blocking_call(trace.text(api.name[i]))) waits.push_back(i);
  }
  std::ranges::sort(waits, {}, [&](EventIndex call) { return api.start_ns[call]; });
  return waits;
}

// What runs on the GPUs of a rank, and the longest window of one.
std::pair<IntervalSet, Interval> busy_gpus(const Rank& rank, const RunScope& scope, std::size_t r) {
  std::vector<Interval> events;
  Interval window;
  for (const DeviceScope& device : scope.devices()) {
    if (device.rank_index != r) continue;
    if (device.window.length() > window.length()) window = device.window;
    for (const EventIndex e : device.events)
      events.push_back({rank.gpu.start_ns[e], rank.gpu.end_ns[e]});
  }
  return {unite(std::move(events)), window};
}

// By call: bytes of the copies that it makes.
std::unordered_map<EventIndex, std::int64_t> copied_bytes(const Rank& rank, const std::vector<EventIndex>& calls) {
  std::unordered_map<EventIndex, std::int64_t> bytes;
  for (const EventIndex call : calls)
    bytes[call] = 0;
  for (EventIndex e = 0; e < rank.gpu.size(); ++e) {
    if (rank.gpu.bytes[e] == 0) continue;
    if (const auto copy = bytes.find(rank.gpu.launch[e]); copy != bytes.end()) copy->second += rank.gpu.bytes[e];
  }
  return bytes;
}

// Calls that wait while nothing of the trace runs, whatever it is that they wait for: the GPU may have done what was
// not recorded.
void add_waits_for_nothing(const Trace& trace, const RunScope& scope, std::vector<std::string>& doubts) {
  constexpr double kMuch = 0.05;
  constexpr std::int64_t kMostByHostNs = 1;  // for a byte of memory that can be paged, which the host copies, too
  for (std::size_t r = 0; r < trace.ranks.size(); ++r) {
    const std::vector<EventIndex> waits = long_waits(trace, scope, r);
    if (waits.empty()) continue;
    const Rank& rank = trace.ranks[r];
    const auto [busy, window] = busy_gpus(rank, scope, r);
    const std::unordered_map<EventIndex, std::int64_t> bytes = copied_bytes(rank, waits);
    IntervalCover cover(busy);
    std::vector<Interval> for_nothing;
    EventIndex longest = kNoEvent;
    std::int64_t longest_ns = 0;
    for (const EventIndex call : waits) {
      const Interval time{rank.api.start_ns[call], rank.api.end_ns[call]};
      const std::int64_t idle_ns = time.length() - cover.of(time);
      if (2 * idle_ns < time.length() || idle_ns < kMostByHostNs * bytes.at(call)) continue;
      for_nothing.push_back(time);
      if (idle_ns > longest_ns) {
        longest_ns = idle_ns;
        longest = call;
      }
    }
    const std::int64_t ns = total_length(clip(subtract(unite(std::move(for_nothing)), busy), window));
    const double share = static_cast<double>(ns) / static_cast<double>(std::max<std::int64_t>(1, window.length()));
    if (share < kMuch) continue;
    doubts.push_back(
        fmt::format("rank {}: {:.1f} % of the time, {}, the host waits for the GPU ({}) while nothing runs there: what "
                    "it waits for was not recorded, and the GPU may have been busy with it",
                    rank.run.rank, 100 * share, format_duration(ns), trace.text(rank.api.name[longest])));
    return;
  }
}

}  // namespace

LaunchCoverage launch_coverage(const Trace& trace, const RunScope& scope) {
  LaunchCoverage sum;
  for (std::size_t r = 0; r < trace.ranks.size(); ++r) {
    if (!scope.has_rank(r)) continue;
    const LaunchCoverage of_rank = coverage_of_rank(trace, r, scope);
    sum.launches += of_rank.launches;
    sum.without_event += of_rank.without_event;
  }
  return sum;
}

std::string why_no_gpu_activity(const Trace& trace, const RunScope& scope) {
  if (const auto rank = std::ranges::find_if(trace.ranks, &Rank::missed_cuda); rank != trace.ranks.end())
    return fmt::format("the program used CUDA, which was {}", rank->cuda_activity());
  if (const LaunchCoverage coverage = launch_coverage(trace, scope); coverage.launches > 0) {
    return fmt::format("{} kernel launch{} recorded, but none of the kernels", format_count(coverage.launches),
                       coverage.launches == 1 ? " was" : "es were");
  }
  const bool untraced = std::ranges::any_of(trace.ranks, [](const Rank& rank) {
    return rank.run.source == "swinscope" && rank.cuda_activity().empty() && host_has_gpus(rank) &&
           !is_told_to_use_the_cpu(rank);
  });
  if (!untraced) return {};
  const auto traced = traced_run_beside(trace.path);
  return traced.empty() ? "CUDA was not traced in this run, on a host with GPUs; record it with `swinscope record`"
                        : fmt::format("CUDA was not traced in this timing run; the traced run is {}", traced.string());
}

std::int64_t impossible_ns(const Trace& trace, const RunScope& scope) {
  constexpr std::int64_t kToleranceNs = 1'000;
  std::int64_t sum = 0;
  for (const DeviceScope& device : scope.devices()) {
    const GpuEvents& gpu = trace.ranks[device.rank_index].gpu;
    struct Longest {
      EventIndex event = kNoEvent;
      bool is_counted = false;
    };
    std::unordered_map<std::uint32_t, Longest> by_lane;
    for (const EventIndex e : device.events) {
      if (gpu.graph_node[e] != 0) continue;
      Longest& longest = by_lane[gpu.lane[e]];
      const bool is_within = longest.event != kNoEvent && gpu.end_ns[e] + kToleranceNs < gpu.end_ns[longest.event] &&
                             gpu.start_ns[e] > gpu.start_ns[longest.event];
      if (is_within && !longest.is_counted) {
        longest.is_counted = true;
        sum += clip({{gpu.start_ns[longest.event], gpu.end_ns[longest.event]}}, device.window).front().length();
      }
      if (longest.event == kNoEvent || gpu.end_ns[e] > gpu.end_ns[longest.event]) longest = {e, false};
    }
  }
  return sum;
}

std::vector<std::string> doubts_of(const Trace& trace, const RunScope& scope) {
  std::vector<std::string> doubts = trace.doubts;
  if (const MissingRanks missing = missing_ranks(trace); missing.count > 0)
    doubts.push_back(missing.sentence() + ": figures of all ranks are of those that are here");
  add_unmarked_warmup(trace, scope, doubts);
  add_recorded_graphs(trace, scope, doubts);
  add_waits_for_nothing(trace, scope, doubts);
  const bool graphs = std::ranges::any_of(trace.ranks, [](const Rank& rank) { return rank.run.graph_level_only; });
  if (graphs) doubts.emplace_back("CUDA graphs were recorded as a whole: what their kernels do is not known");
  constexpr double kMuch = 0.05;  // the last launches of a recording may have no kernel yet
  const LaunchCoverage coverage = launch_coverage(trace, scope);
  const bool has_events = trace.gpu_event_count() > 0;
  if (has_events && static_cast<double>(coverage.without_event) > kMuch * static_cast<double>(coverage.launches)) {
    doubts.push_back(
        fmt::format("{} of {} kernel launches have no kernel in the trace: lost, or not begun when recording ended",
                    format_count(coverage.without_event), format_count(coverage.launches)));
  }
  return doubts;
}

}  // namespace swinscope
