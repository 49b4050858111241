#include "advisor/profiler_cost.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analyzer/base/statistics.h"
#include "analyzer/trace/thread_ranges.h"

namespace swinscope {
namespace {

constexpr double kOfPair = 2.4;

// They hand on what they are given, with at most another view of it.
bool is_wrapper(std::string_view name) {
  constexpr std::array<std::string_view, 20> kNames = {
      "aten::transpose", "aten::t",          "aten::expand",      "aten::permute",      "aten::slice",
      "aten::select",    "aten::conv2d",     "aten::convolution", "aten::_convolution", "aten::batch_norm",
      "aten::reshape",   "aten::flatten",    "aten::softmax",     "aten::to",           "aten::_batch_norm_impl_index",
      "aten::relu",      "aten::layer_norm", "aten::max_pool2d",  "aten::matmul",       "aten::linear"};
  return std::ranges::find(kNames, name) != kNames.end();
}

std::vector<ThreadRanges> operators_of(const Trace& trace, const Rank& rank) {
  return thread_ranges(rank,
                       [&](std::uint32_t domain) { return rank.domain_name(domain, trace.strings) == kDomainTorchOp; });
}

// Of a thread's operators, ascending.
struct Boundaries {
  std::vector<std::int64_t> begins;
  std::vector<std::int64_t> ends;
};

Boundaries boundaries_of(const ThreadRanges& thread, const Ranges& ranges) {
  Boundaries times;
  times.begins.reserve(thread.nested.size());
  times.ends.reserve(thread.nested.size());
  std::vector<std::uint32_t> open;
  const auto close_up_to = [&](std::uint32_t parent) {
    for (; !open.empty() && open.back() != parent; open.pop_back())
      times.ends.push_back(ranges.end_ns[thread.nested[open.back()]]);
  };
  for (std::uint32_t i = 0; i < thread.nested.size(); ++i) {  // by begin
    close_up_to(thread.parent[i]);
    open.push_back(i);
    times.begins.push_back(ranges.start_ns[thread.nested[i]]);
  }
  close_up_to(ThreadRanges::kNone);
  // In order already, but for those that end after what they are in.
  if (!std::ranges::is_sorted(times.ends)) std::ranges::sort(times.ends);
  return times;
}

// How many of ascending times lie within [begin, end). `at` is the first that is not before the last end: intervals
// come in the order of their ends, or nearly so.
std::int64_t count_between(const std::vector<std::int64_t>& times, std::size_t& at, std::int64_t begin_ns,
                           std::int64_t end_ns) {
  while (at < times.size() && times[at] < end_ns)
    ++at;
  while (at > 0 && times[at - 1] >= end_ns)
    --at;
  std::size_t first = at;
  while (first > 0 && times[first - 1] >= begin_ns)
    --first;
  return static_cast<std::int64_t>(at - first);
}

// A thread's, with where its calls have got to.
struct Operators {
  Boundaries times;
  std::size_t begins_at = 0;
  std::size_t ends_at = 0;
};

}  // namespace

std::int64_t operator_cost_ns(const Trace& trace, const Rank& rank) {
  constexpr std::size_t kEnough = 50;
  std::vector<std::int64_t> beyond_ns;
  for (const ThreadRanges& thread : operators_of(trace, rank)) {
    std::vector<std::uint32_t> children(thread.nested.size(), 0);
    std::vector<std::int64_t> within_ns(thread.nested.size(), 0);
    for (std::size_t i = 0; i < thread.nested.size(); ++i) {
      const std::uint32_t parent = thread.parent[i];
      if (parent == ThreadRanges::kNone) continue;
      ++children[parent];
      within_ns[parent] += rank.ranges.end_ns[thread.nested[i]] - rank.ranges.start_ns[thread.nested[i]];
    }
    for (std::size_t i = 0; i < thread.nested.size(); ++i) {
      const EventIndex range = thread.nested[i];
      if (children[i] == 1 && is_wrapper(trace.text(rank.ranges.name[range])))
        beyond_ns.push_back(rank.ranges.end_ns[range] - rank.ranges.start_ns[range] - within_ns[i]);
    }
  }
  if (beyond_ns.size() < kEnough) return 0;
  return std::llround(kOfPair * static_cast<double>(quantile_of(beyond_ns, 0.5)));
}

void remove_from_operators(std::int64_t ns, const Trace& trace, RankGraph& graph) {
  if (ns <= 0) return;
  const Rank& rank = trace.ranks[graph.rank_index];
  std::unordered_map<std::uint64_t, Operators> operators;  // by thread
  for (const ThreadRanges& thread : operators_of(trace, rank))
    operators.emplace(thread.global_tid, Operators{boundaries_of(thread, rank.ranges)});
  for (CallNode& call : graph.calls) {
    if (call.before == kNoNode) continue;
    const auto found = operators.find(rank.api_lanes[call.thread].global_tid);
    if (found == operators.end()) continue;
    const std::int64_t end_ns = rank.api.start_ns[call.event];
    for (std::int64_t* host_ns : {&call.segment_ns, &call.handed_ns}) {
      if (*host_ns <= 0) continue;
      auto& [times, begins_at, ends_at] = found->second;
      const std::int64_t begin_ns = end_ns - *host_ns;
      const std::int64_t count = count_between(times.begins, begins_at, begin_ns, end_ns) +
                                 count_between(times.ends, ends_at, begin_ns, end_ns);
      *host_ns = std::max<std::int64_t>(0, *host_ns - count * ns / 2);
    }
  }
}

}  // namespace swinscope
