#include "advisor/stragglers.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <set>
#include <span>
#include <thread>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "advisor/device_steps.h"
#include "analyzer/base/parallel.h"
#include "analyzer/base/statistics.h"
#include "analyzer/trace/kernel_names.h"
#include "store/error.h"

namespace swinscope {
namespace {

// By kernel; of communication by its name in the source and the elements of its messages.
using Kind = std::tuple<StringId, StringId, std::int64_t, std::int64_t>;

double mean_of(std::span<const std::int64_t> values) {
  const double sum = std::accumulate(values.begin(), values.end(), 0.0);
  return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

// The stage of each rank; none where one of them sends to nobody.
std::vector<std::uint32_t> stages_of(const DependencyGraph& graph, const RunFacts& run) {
  std::set<std::pair<std::size_t, std::size_t>> senders;  // by rank: what is before one is known when it is reached
  for (const Collective& collective : run.collectives())
    if (collective.is_transfer && collective.members.front().rank_index != collective.members.back().rank_index)
      senders.emplace(collective.members.front().rank_index, collective.members.back().rank_index);
  std::map<std::size_t, std::uint32_t> stage;
  for (const auto& [earlier, later] : senders)
    stage[later] = std::max(stage[later], stage[earlier] + 1);
  std::vector<std::uint32_t> stages;
  for (const RankGraph& rank : graph.ranks) {
    const auto found = stage.find(rank.rank_index);
    if (found == stage.end()) return {};
    stages.push_back(found->second);
  }
  return stages;
}

class Finder {
 public:
  Finder(const DependencyGraph& graph, const RunFacts& run) : graph_(graph), run_(run), steps_(graph, run) {}

  Stragglers find() {
    sort_by_kind();
    find_durations();
    found_.traced_step_ns = run_.scope.step_ns();
    found_.doubts = run_.waits().doubts();
    if (steps_.unmatched() > 0) {
      found_.doubts.push_back(fmt::format(
          "{} collectives were replayed as if each rank were alone: their members do not come in one order on "
          "all ranks, or not in one step",
          steps_.unmatched()));
    }
    const std::vector<std::int64_t> own = steps_.replay(own_);
    const std::vector<std::int64_t> ideal = steps_.replay(ideal_);
    found_.step_ns = mean_of(own);
    found_.ideal_step_ns = mean_of(ideal);
    for (std::size_t step = 0; step < own.size(); ++step)
      found_.steps.push_back({own[step], ideal[step], 0, 0});
    if (!found_.is_refused()) blame();
    return std::move(found_);
  }

 private:
  void sort_by_kind() {
    std::map<Kind, std::uint32_t> known;
    for (const DeviceWork& work : steps_.works()) {
      if (work.op == kNoNode) {
        kinds_.push_back(kNoNode);
        continue;
      }
      const Rank& rank = run_.trace.ranks[graph_.ranks[work.rank].rank_index];
      const EventIndex event = graph_.ranks[work.rank].ops[work.op].event;
      const bool communicates = rank.gpu.gpu_class[event] == GpuClass::kCommunication;
      const CollectiveRecord* record = communicates ? collective_record(rank, event) : nullptr;
      Kind kind = {rank.gpu.name[event], kNoString, 0, 0};
      if (record != nullptr) kind = {rank.gpu.name[event], record->name, record->in_elements, record->out_elements};
      const auto [entry, is_new] = known.emplace(kind, static_cast<std::uint32_t>(known.size()));
      kinds_.push_back(entry->second);
      if (!is_new) continue;
      communicates_.push_back(communicates);
      const std::string name =
          record != nullptr ? std::string(run_.trace.text(record->name)) : event_name(run_.trace, rank, event);
      found_.kinds.push_back({name, 0, 0, 0});
    }
  }

  void find_durations() {
    std::vector<std::vector<std::int64_t>> of_kind(found_.kinds.size());
    for (std::size_t i = 0; i < kinds_.size(); ++i) {
      own_.push_back(steps_.works()[i].duration_ns);
      if (kinds_[i] != kNoNode) of_kind[kinds_[i]].push_back(own_.back());
    }
    std::vector<std::int64_t> usual;
    for (std::size_t kind = 0; kind < of_kind.size(); ++kind) {
      std::ranges::sort(of_kind[kind]);
      usual.push_back(communicates_[kind] ? quantile(of_kind[kind], 0.5) : std::llround(mean_of(of_kind[kind])));
    }
    for (const std::uint32_t kind : kinds_)
      ideal_.push_back(kind == kNoNode ? 0 : usual[kind]);
  }

  // By step, when the works that are chosen have the first durations and the others the second.
  template <typename Chosen>
  std::vector<std::int64_t> replay(const std::vector<std::int64_t>& first, const std::vector<std::int64_t>& second,
                                   const Chosen& is_chosen) const {
    std::vector<std::int64_t> durations = second;
    for (std::size_t i = 0; i < durations.size(); ++i)
      if (is_chosen(i)) durations[i] = first[i];
    return steps_.replay(durations);
  }

  // Returns the steps with its own times only.
  template <typename Chosen>
  std::vector<std::int64_t> fill(StragglingPart& part, const Chosen& is_chosen) const {
    for (std::size_t i = 0; i < kinds_.size(); ++i)
      if (kinds_[i] != kNoNode && is_chosen(i)) ++part.works;
    part.without_ns = mean_of(replay(ideal_, own_, is_chosen));
    std::vector<std::int64_t> only = replay(own_, ideal_, is_chosen);
    part.only_ns = mean_of(only);
    return only;
  }

  std::uint32_t rank_of(std::size_t work) const { return steps_.works()[work].rank; }

  void blame() {
    const std::vector<std::uint32_t> stages = stages_of(graph_, run_);
    std::vector<std::vector<std::int64_t>> only(graph_.ranks.size());
    for (const RankGraph& rank : graph_.ranks) {
      StragglingRank& added = found_.ranks.emplace_back();
      added.rank_index = rank.rank_index;
      added.name = fmt::format("{}", run_.trace.ranks[rank.rank_index].run.rank);
      if (!stages.empty()) added.stage = stages[found_.ranks.size() - 1];
    }
    if (!stages.empty()) found_.stages.resize(std::ranges::max(stages) + 1);
    const std::size_t parts = only.size() + found_.stages.size() + found_.kinds.size();
    parallel_for(parts, static_cast<int>(std::max(1U, std::thread::hardware_concurrency())), [&](std::size_t i) {
      if (i < only.size()) {
        only[i] = fill(found_.ranks[i], [&](std::size_t work) { return rank_of(work) == i; });
      } else if (i -= only.size(); i < found_.stages.size()) {
        found_.stages[i].name = fmt::format("{}", i + 1);
        fill(found_.stages[i], [&](std::size_t work) { return stages[rank_of(work)] == i; });
      } else {
        i -= found_.stages.size();
        fill(found_.kinds[i], [&](std::size_t work) { return kinds_[work] == i; });
      }
    });
    blame_slowest();
    for (std::size_t step = 0; step < found_.steps.size(); ++step) {
      StragglingStep& of = found_.steps[step];
      for (std::size_t rank = 0; rank < only.size(); ++rank)
        if (only[rank][step] > of.slowest_ns) of.slowest = rank, of.slowest_ns = only[rank][step];
    }
  }

  void blame_slowest() {
    constexpr std::size_t kPercent = 3;
    std::vector<std::size_t> by_slowness(found_.ranks.size());
    std::iota(by_slowness.begin(), by_slowness.end(), 0);
    std::ranges::stable_sort(by_slowness, std::greater(), [&](std::size_t r) { return found_.ranks[r].only_ns; });
    by_slowness.resize((found_.ranks.size() * kPercent + 99) / 100);
    std::vector<bool> is_slow(found_.ranks.size(), false);
    std::vector<std::string> names;
    for (const std::size_t rank : by_slowness) {
      is_slow[rank] = true;
      names.push_back(found_.ranks[rank].name);
    }
    found_.slowest.name = fmt::format("{}", fmt::join(names, ", "));
    fill(found_.slowest, [&](std::size_t work) { return is_slow[rank_of(work)]; });
  }

  const DependencyGraph& graph_;
  const RunFacts& run_;
  DeviceSteps steps_;
  Stragglers found_;
  // By work.
  std::vector<std::uint32_t> kinds_;  // kNoNode: no work, a point of the host
  std::vector<std::int64_t> own_;
  std::vector<std::int64_t> ideal_;
  std::vector<bool> communicates_;  // by kind
};

}  // namespace

double Stragglers::replay_error() const {
  if (traced_step_ns == 0) return 0;
  return std::abs(step_ns / static_cast<double>(traced_step_ns) - 1);
}

std::optional<double> Stragglers::removed(const StragglingPart& part) const {
  if (step_ns < (1 + kLeastLoss) * ideal_step_ns) return std::nullopt;
  return (step_ns - part.without_ns) / (step_ns - ideal_step_ns);
}

std::optional<double> Stragglers::added(const StragglingPart& part) const {
  if (step_ns < (1 + kLeastLoss) * ideal_step_ns) return std::nullopt;
  return (part.only_ns - ideal_step_ns) / (step_ns - ideal_step_ns);
}

Stragglers find_stragglers(const DependencyGraph& graph, const RunFacts& run) {
  if (graph.ranks.size() < 2) {
    throw Error(ErrorKind::kUsage, "there is nothing to compare",
                "a straggler is a rank that others wait for, and the run has one",
                "give the folder with the files of all ranks");
  }
  if (graph.collectives.empty()) {
    throw Error(ErrorKind::kUsage, "no rank is known to wait for another",
                "none of the ranks' collectives could be matched", "`swinscope analyze` says why");
  }
  return Finder(graph, run).find();
}

}  // namespace swinscope
