#include "analyzer/trace/launch_join.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "store/records.h"

namespace swinscope {
namespace {

// Processes by their numbers: half the size of their ids.
struct ProcessAndCorrelation {
  std::uint32_t process;
  std::uint32_t correlation;
  auto operator<=>(const ProcessAndCorrelation&) const = default;  // NOLINT(modernize-use-nullptr)
};

using CallByCorrelation = std::pair<ProcessAndCorrelation, EventIndex>;
using Calls = std::vector<CallByCorrelation>;

// Merges neighbouring sorted runs; `runs` are where they begin and the last one ends.
template <typename Before>
std::vector<std::ptrdiff_t> merge_pairs(Calls& calls, const std::vector<std::ptrdiff_t>& runs, Before before) {
  std::vector<std::ptrdiff_t> merged = {0};
  for (std::size_t i = 2; i < runs.size(); i += 2) {
    std::inplace_merge(calls.begin() + runs[i - 2], calls.begin() + runs[i - 1], calls.begin() + runs[i], before);
    merged.push_back(runs[i]);
  }
  if (merged.back() != runs.back()) merged.push_back(runs.back());
  return merged;
}

Calls calls_by_correlation(const Rank& rank, KeyNumbers<std::uint64_t>& processes, const Watch& watch) {
  const ApiCalls& api = rank.api;
  const auto before = [&](const CallByCorrelation& a, const CallByCorrelation& b) {
    watch.tick();
    if (a.first != b.first) return a.first < b.first;
    return std::pair(api.start_ns[a.second], a.second) < std::pair(api.start_ns[b.second], b.second);
  };
  Calls calls;
  calls.reserve(api.start_ns.size());
  std::vector<std::ptrdiff_t> runs = {0};
  for (const ThreadLane& lane : rank.api_lanes) {
    const std::uint32_t process = processes(global_pid_of(lane.global_tid));
    for (EventIndex i = lane.events.begin; i < lane.events.end; ++i) {
      if (api.correlation[i] != 0) calls.push_back({{process, api.correlation[i]}, i});
    }
    // A thread counts up.
    if (!std::is_sorted(calls.begin() + runs.back(), calls.end(), before)) {
      std::sort(calls.begin() + runs.back(), calls.end(), before);
    }
    runs.push_back(std::ssize(calls));
  }
  for (; runs.size() > 2; runs = merge_pairs(calls, runs, before)) {
  }
  return calls;
}

// Finds calls. A stream mostly runs what was launched next: it looks closely behind the last one before everywhere.
class CallFinder {
 public:
  explicit CallFinder(const Calls& calls) : calls_(calls), last_(calls.begin()) {}

  EventIndex find(const ProcessAndCorrelation& key) {
    if (key.correlation == 0) return kNoEvent;
    const auto less = [](const auto& call, const auto& wanted) { return call.first < wanted; };
    constexpr std::ptrdiff_t kNear = 64;
    const auto near_end = last_ + std::min(kNear, calls_.end() - last_);
    const bool near =
        last_ != calls_.end() && !(key < last_->first) && (near_end == calls_.end() || key < near_end->first);
    last_ =
        near ? std::lower_bound(last_, near_end, key, less) : std::lower_bound(calls_.begin(), calls_.end(), key, less);
    return last_ == calls_.end() || last_->first != key ? kNoEvent : last_->second;
  }

 private:
  const Calls& calls_;
  Calls::const_iterator last_;
};

}  // namespace

void join_launches(Rank& rank, KeyNumbers<std::uint64_t>& processes, const std::vector<std::uint32_t>& process_of,
                   const Watch& watch) {
  const Calls calls = calls_by_correlation(rank, processes, watch);
  // A source that did not say which process: the rank's.
  std::vector<std::uint32_t> process_of_calls;
  for (std::uint32_t number = 0; number < processes.size(); ++number) {
    const std::uint64_t pid = processes.key(number);
    process_of_calls.push_back(processes(global_pid_of(pid == 0 ? rank.run.global_pid : pid)));
  }
  GpuEvents& gpu = rank.gpu;
  gpu.launch.reserve(process_of.size());
  CallFinder finder(calls);
  for (EventIndex i = 0; i < process_of.size(); ++i) {
    watch.tick();
    gpu.launch.push_back(finder.find({process_of_calls[process_of[i]], gpu.correlation[i]}));
  }
}

}  // namespace swinscope
