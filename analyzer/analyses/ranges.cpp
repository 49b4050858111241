#include "analyzer/analyses/ranges.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "analyzer/analyses/range_nodes.h"
#include "analyzer/analyses/range_replays.h"
#include "analyzer/base/name_pattern.h"
#include "analyzer/trace/thread_ranges.h"

namespace swinscope {
namespace {

// The part of a rank's host time that the scope is of.
class HostScope {
 public:
  HostScope(const Trace& trace, const RunScope& scope, std::size_t rank_index) : is_whole_(!scope.is_of_steps()) {
    if (is_whole_) return;
    parts_ = unite({scope.host_window(rank_index)});
    const std::vector<WindowInfo>& windows = trace.ranks[rank_index].run.windows;
    if (windows.size() < 2) return;
    std::vector<Interval> recorded;
    recorded.reserve(windows.size());
    for (const WindowInfo& window : windows)
      recorded.push_back({window.start_ns, window.end_ns});
    parts_ = intersect(parts_, unite(std::move(recorded)));
  }

  // How much of an interval lies in the scope; nothing where it has no part in it.
  std::optional<std::int64_t> part(std::int64_t begin_ns, std::int64_t end_ns) const {
    if (is_whole_) return end_ns - begin_ns;
    std::int64_t length = 0;
    bool touches = false;
    for (const Interval& part : parts_) {
      length += std::max<std::int64_t>(0, std::min(end_ns, part.end_ns) - std::max(begin_ns, part.begin_ns));
      touches = touches || (begin_ns >= part.begin_ns && begin_ns < part.end_ns);
    }
    return length > 0 || touches ? std::optional(length) : std::nullopt;
  }

 private:
  bool is_whole_;
  IntervalSet parts_;
};

class RangeCollector {
 public:
  RangeCollector(const Trace& trace, const RunScope& scope, const RangeOptions& options)
      : trace_(trace), scope_(scope), options_(options) {
    if (!options.domain.empty()) pattern_.emplace("--domain", options.domain);
    if (!options.numbers_apart) join_numbered_names();
  }

  void add(std::size_t rank_index) {
    const Rank& rank = trace_.ranks[rank_index];
    rank_index_ = rank_index;
    slot_ = slot_of(options_.by_rank ? rank.run.rank : -1);
    slots_[slot_].steps += scope_.step_count(rank_index);
    find_domains(rank);
    table_.open_ranges += rank.open_ranges;
    ThreadNodes threads = named(rank, thread_ranges(rank, [&](std::uint32_t domain) { return is_wanted(domain); }));
    std::map<std::uint64_t, LaunchedWork> launched;
    RangeReplays replays(rank, threads);
    for (EventIndex i = 0; i < rank.gpu.size(); ++i) {
      if (scope_.has_gpu_event(rank_index, i)) add_gpu_event(rank, i, launched, replays);
    }
    for (auto& [thread, work] : launched)
      work.finish();
    const HostScope host(trace_, scope_, rank_index);
    for (const auto& [ranges, nodes, start_end_nodes] : threads) {
      const auto found = launched.find(ranges.global_tid);
      const LaunchedWork* const work = found == launched.end() ? nullptr : &found->second;
      add_nested(rank, ranges, nodes, host, work);
      add_start_end(rank, ranges, start_end_nodes, host, work);
      if (work != nullptr) add_coverage(ranges.covered(rank.ranges), *work);
    }
    replays.hand_over(
        nodes_, [&](std::uint32_t place) { return shown(rank, place); },
        [&](std::uint32_t node, const GpuWork& work) {
          RangeSums& sums = sums_of(node);
          ++sums.calls;
          sums.add(work);
        });
  }

  RangeTable finish() {
    if (options_.grouping == RangeGrouping::kName) {
      add_rows_by_name();
    } else {
      add_rows_by_path();
    }
    return std::move(table_);
  }

 private:
  struct Slot {
    std::int32_t rank;
    std::int64_t steps = 0;
    std::vector<RangeSums> sums = {};  // by node
  };

  std::size_t slot_of(std::int32_t rank) {
    const auto place = static_cast<std::size_t>(std::ranges::find(slots_, rank, &Slot::rank) - slots_.begin());
    if (place == slots_.size()) slots_.push_back({rank});
    return place;
  }

  RangeSums& sums_of(std::uint32_t node) {
    std::vector<RangeSums>& sums = slots_[slot_].sums;
    if (node >= sums.size()) sums.resize(std::max<std::size_t>(nodes_.size(), node + 1));
    return sums[node];
  }

  // Which domains of a rank count, and how they are named over all ranks.
  void find_domains(const Rank& rank) {
    domains_.clear();
    for (const RangeLane& lane : rank.range_lanes) {
      const std::string name = rank.domain_name(lane.domain, trace_.strings);
      if (const bool counts = is_shown(rank, name, lane.events.size()); !counts) {
        domains_.try_emplace(lane.domain, std::nullopt);
        continue;
      }
      const auto known = std::ranges::find(domain_names_, name);
      domains_.try_emplace(lane.domain, static_cast<std::uint32_t>(known - domain_names_.begin()));
      if (known == domain_names_.end()) domain_names_.push_back(name);
    }
  }
  bool is_wanted(std::uint32_t domain) const { return domains_.at(domain).has_value(); }

  bool is_shown(const Rank& rank, const std::string& domain, std::int64_t ranges) {
    // They stand on streams, not on threads.
    if (domain == kDomainTorchGpuUser) return false;
    if (std::ranges::find(table_.domains, domain) == table_.domains.end()) table_.domains.push_back(domain);
    if (pattern_) return pattern_->matches(domain);
    // With NVTX ranges an operator is one like any other; a profiler's trace has all of them, of whatever depth.
    if (domain == kDomainTorchOp && rank.run.source == "kineto" && !options_.operators) {
      table_.left_out_operators += ranges;
      return false;
    }
    if (domain == kDomainTorchPython && !options_.python) {
      table_.left_out_python += ranges;
      return false;
    }
    return true;
  }

  RangeNode shown(const Rank& rank, EventIndex range) {
    RangeNode node;
    node.name = shown_name(rank, range);
    node.domain = *domains_.at(rank.range_lanes[rank.ranges.lane[range]].domain);
    return node;
  }

  std::uint32_t shown_name(const Rank& rank, EventIndex range) {
    const StringId name = rank.ranges.name[range];
    if (!joined_.empty() && joined_[name] != kNoString) return joined_[name];
    return options_.numbers_apart || !marks_step(rank, range) ? name : without_number(name);
  }
  // Names of their own are numbered behind those of the trace.
  std::uint32_t without_number(StringId name) {
    return trace_.strings.size() + own_names_.intern(std::string(stem_of(trace_.text(name))) + "*");
  }
  static std::string_view stem_of(std::string_view name) {
    return name.substr(0, name.find_last_not_of("0123456789") + 1);
  }

  // A program that numbers its requests would have a row for each.
  void join_numbered_names() {
    std::vector<bool> seen(trace_.strings.size());
    std::unordered_map<std::string_view, std::vector<StringId>> by_stem;
    for (const Rank& rank : trace_.ranks) {
      for (const StringId name : rank.ranges.name) {
        if (seen[name]) continue;
        seen[name] = true;
        const std::string_view text = trace_.text(name);
        if (const std::string_view stem = stem_of(text); stem.size() < text.size()) by_stem[stem].push_back(name);
      }
    }
    for (const auto& [stem, names] : by_stem) {
      if (std::ssize(names) <= kManyNumbers) continue;
      joined_.resize(trace_.strings.size(), kNoString);
      table_.joined_names += std::ssize(names);
      for (const StringId name : names)
        joined_[name] = without_number(name);
    }
  }

  std::string_view name_of(std::uint32_t name) const {
    const StringId strings = trace_.strings.size();
    return name < strings ? trace_.text(name) : own_names_.text(name - strings);
  }

  // Whether it is one of the ranges by which the steps were found, and numbered.
  bool marks_step(const Rank& rank, EventIndex range) const {
    const RankSteps& steps = scope_.steps()[rank_index_];
    constexpr std::array kByNumber = {StepMethod::kStepRanges, StepMethod::kProfilerStep, StepMethod::kAnnotation};
    if (std::ranges::find(kByNumber, steps.method) == kByNumber.end()) return false;
    const std::string_view text = trace_.text(rank.ranges.name[range]);
    if (text.empty() || text.back() < '0' || text.back() > '9') return false;
    const Interval own{rank.ranges.start_ns[range], rank.ranges.end_ns[range]};
    const auto step = std::ranges::lower_bound(steps.steps, own.begin_ns, {}, &Interval::begin_ns);
    return step != steps.steps.end() && *step == own;
  }

  ThreadNodes named(const Rank& rank, std::vector<ThreadRanges> threads) {
    ThreadNodes result;
    for (ThreadRanges& ranges : threads) {
      NamedRanges& thread = result.emplace_back();
      thread.ranges = std::move(ranges);
      for (std::size_t i = 0; i < thread.ranges.nested.size(); ++i) {
        RangeNode node = shown(rank, thread.ranges.nested[i]);
        const std::uint32_t parent = thread.ranges.parent[i];
        node.parent = parent == ThreadRanges::kNone ? RangeNodes::kRoot : thread.nested[parent];
        thread.nested.push_back(nodes_.child(node));
      }
      for (const EventIndex range : thread.ranges.start_end) {
        RangeNode node = shown(rank, range);
        node.style = RangeStyle::kStartEnd;
        thread.start_end.push_back(nodes_.child(node));
      }
    }
    return result;
  }

  void add_gpu_event(const Rank& rank, EventIndex i, std::map<std::uint64_t, LaunchedWork>& launched,
                     RangeReplays& replays) {
    const std::int64_t duration = rank.gpu.end_ns[i] - rank.gpu.start_ns[i];
    table_.gpu_ns += duration;
    const bool has_path = replays.add(i);
    if (const EventIndex launch = rank.gpu.launch[i]; launch != kNoEvent) {
      const std::uint64_t thread = rank.api_lanes[rank.api.lane[launch]].global_tid;
      launched.try_emplace(thread, rank.gpu).first->second.add(i, rank.api.start_ns[launch]);
    } else {
      (has_path ? table_.in_ranges_ns : table_.unknown_launch_ns) += duration;
    }
  }

  void add_nested(const Rank& rank, const ThreadRanges& thread, const std::vector<std::uint32_t>& nodes,
                  const HostScope& host, const LaunchedWork* work) {
    const auto start = [&](std::uint32_t place) { return rank.ranges.start_ns[thread.nested[place]]; };
    const auto end = [&](std::uint32_t place) { return rank.ranges.end_ns[thread.nested[place]]; };
    std::vector<std::int64_t> within_ns(thread.nested.size());  // taken by ranges directly within
    for (std::uint32_t i = 0; i < within_ns.size(); ++i) {
      const std::uint32_t parent = thread.parent[i];
      if (parent == ThreadRanges::kNone) continue;
      within_ns[parent] += host.part(start(i), std::min(end(i), end(parent))).value_or(0);
    }
    std::size_t hint = 0;
    for (std::uint32_t i = 0; i < within_ns.size(); ++i) {
      RangeSums& sums = sums_of(nodes[i]);
      if (const auto part = host.part(start(i), end(i))) sums.add_call(*part, *part - within_ns[i]);
      if (work != nullptr) sums.add(work->within(start(i), end(i), hint));
    }
  }

  void add_start_end(const Rank& rank, const ThreadRanges& thread, const std::vector<std::uint32_t>& nodes,
                     const HostScope& host, const LaunchedWork* work) {
    std::size_t hint = 0;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const std::int64_t start = rank.ranges.start_ns[thread.start_end[i]];
      const std::int64_t end = rank.ranges.end_ns[thread.start_end[i]];
      RangeSums& sums = sums_of(nodes[i]);
      if (const auto part = host.part(start, end)) sums.add_call(*part, *part);
      if (work != nullptr) sums.add(work->within(start, end, hint));
    }
  }

  void add_coverage(const IntervalSet& covered, const LaunchedWork& work) {
    std::size_t hint = 0;
    for (const Interval& part : covered)
      table_.in_ranges_ns += work.within(part.begin_ns, part.end_ns, hint).total_ns;
  }

  RangeRow row_of(std::uint32_t node, const Slot& slot, const RangeSums& sums) const {
    RangeRow row;
    row.name = name_of(nodes_[node].name);
    row.path = row.name;
    row.domain = domain_names_[nodes_[node].domain];
    row.style = nodes_[node].style;
    row.rank = slot.rank;
    row.calls = sums.calls;
    row.host_ns = sums.host_ns;
    row.host_min_ns = sums.host_min_ns;
    row.host_max_ns = sums.host_max_ns;
    row.self_ns = sums.self_ns;
    row.gpu_events = sums.gpu_events;
    row.gpu_sum_ns = sums.gpu_sum_ns;
    row.gpu_span_ns = sums.gpu_span_ns;
    row.steps = slot.steps;
    return row;
  }

  void add_rows_by_path() {
    std::vector<std::int32_t> depth(nodes_.size(), 0);
    std::vector<std::string> around(1);  // the paths of the node at hand, by depth
    for (const std::uint32_t node : nodes_.in_order()) {
      const auto level = static_cast<std::size_t>(depth[node] = depth[nodes_[node].parent] + 1);
      if (options_.depth > 0 && depth[node] > options_.depth) continue;
      around.resize(level);
      around.push_back(around.back().empty() ? std::string(name_of(nodes_[node].name))
                                             : around.back() + '/' + std::string(name_of(nodes_[node].name)));
      for (const Slot& slot : slots_) {
        if (node >= slot.sums.size() || slot.sums[node].empty()) continue;
        RangeRow& row = table_.rows.emplace_back(row_of(node, slot, slot.sums[node]));
        row.path = around.back();
        row.depth = depth[node];
      }
    }
  }

  static auto name_key(const RangeNode& node) { return std::tuple(node.name, node.domain, node.style); }

  // Whether a range around it has the same name.
  bool is_within_same(std::uint32_t node) const {
    std::uint32_t around = nodes_[node].parent;
    while (around != RangeNodes::kRoot && name_key(nodes_[around]) != name_key(nodes_[node]))
      around = nodes_[around].parent;
    return around != RangeNodes::kRoot;
  }

  void add_rows_by_name() {
    for (const Slot& slot : slots_) {
      std::map<decltype(name_key({})), std::pair<std::uint32_t, RangeSums>> names;
      for (std::uint32_t node = 1; node < slot.sums.size(); ++node) {
        if (slot.sums[node].empty()) continue;
        auto& [first, sums] = names.try_emplace(name_key(nodes_[node]), node, RangeSums{}).first->second;
        sums.merge(slot.sums[node], is_within_same(node));
      }
      for (const auto& [key, row] : names)
        table_.rows.push_back(row_of(row.first, slot, row.second));
    }
    std::ranges::sort(table_.rows, {}, [](const RangeRow& row) {
      return std::tuple(-row.gpu_sum_ns, -row.host_ns, row.name, row.domain, row.style, row.rank);
    });
  }

  const Trace& trace_;
  const RunScope& scope_;
  RangeOptions options_;
  std::optional<NamePattern> pattern_;
  RangeTable table_;
  RangeNodes nodes_;
  std::vector<Slot> slots_;
  std::vector<std::string> domain_names_;
  StringPool own_names_;
  std::vector<std::uint32_t> joined_;  // by name, kNoString for one that has a row of its own; empty where all have
  // Of the rank at hand.
  std::size_t rank_index_ = 0;
  std::size_t slot_ = 0;
  std::map<std::uint32_t, std::optional<std::uint32_t>> domains_;  // into domain_names_; nothing: does not count
};

}  // namespace

std::string_view style_name(RangeStyle style) {
  switch (style) {
    case RangeStyle::kPushPop:
      return "push/pop";
    case RangeStyle::kStartEnd:
      return "start/end";
    case RangeStyle::kGraph:
      return "graph";
  }
  return "";
}

RangeTable range_table(const Trace& trace, const RunScope& scope, const RangeOptions& options) {
  RangeCollector collector(trace, scope, options);
  for (std::size_t r = 0; r < trace.ranks.size(); ++r) {
    if (scope.has_rank(r)) collector.add(r);
  }
  return collector.finish();
}

}  // namespace swinscope
