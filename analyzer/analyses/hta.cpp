#include "analyzer/analyses/hta.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "analyzer/analyses/hta_rows.h"

namespace swinscope {
namespace hta {
namespace {

constexpr std::array<std::string_view, 3> kTypeNames = {"COMMUNICATION", "COMPUTATION", "MEMORY"};

std::string type_name(KernelType type) { return std::string(kTypeNames[static_cast<std::size_t>(type)]); }

double quotient(std::int64_t part, std::int64_t whole) {
  return static_cast<double>(part) / static_cast<double>(whole);
}

double round_to(double value, int decimals) {
  const double scale = std::pow(10.0, decimals);
  return std::nearbyint(value * scale) / scale;  // half to even
}

Cell number(double value) { return std::isfinite(value) ? Cell(value) : Cell(); }

constexpr std::array<std::pair<KernelType, int>, 3> kWeights = {
    {{KernelType::kComputation, 1}, {KernelType::kCommunication, 2}, {KernelType::kMemory, 4}}};

// For how long each sum of the weights of running types lasts. HTA adds weights where a set of types would do: a group
// of -1 us takes its weight away for that microsecond, and so turns one sum into another.
void add_time_by_weight(const RankRows& rank, std::size_t types, std::map<int, std::int64_t>& times) {
  std::vector<std::pair<std::int64_t, int>> changes;
  for (std::size_t i = 0; i < types; ++i) {
    const auto [type, weight] = kWeights[i];
    for (const Group& group : merge(rank, type)) {
      changes.emplace_back(group.begin_us, weight);
      changes.emplace_back(group.end_us, -weight);
    }
  }
  std::ranges::sort(changes);
  int sum = 0;
  for (std::size_t i = 0; i + 1 < changes.size(); ++i) {
    sum += changes[i].second;
    times[sum] += changes[i + 1].first - changes[i].first;
  }
}

Table temporal_breakdown(const std::vector<RankRows>& ranks) {
  Table table{"temporal_breakdown",
              "Temporal breakdown",
              {{"rank", "rank", Unit::kCount},
               {"idle_time_us", "idle us", Unit::kCount},
               {"compute_time_us", "compute us", Unit::kCount},
               {"non_compute_time_us", "non-compute us", Unit::kCount},
               {"kernel_time_us", "kernel time us", Unit::kCount},
               {"idle_time_pctg", "idle %", Unit::kNumber},
               {"compute_time_pctg", "compute %", Unit::kNumber},
               {"non_compute_time_pctg", "non-compute %", Unit::kNumber}},
              {}};
  for (const RankRows& rank : ranks) {
    const std::vector<Group> all = merge(rank);
    const std::int64_t whole = all.back().end_us - all.front().begin_us;
    const std::int64_t idle = whole - total_length(all);
    const std::int64_t compute = total_length(merge(rank, KernelType::kComputation));
    const std::int64_t rest = whole - compute - idle;
    const auto percent = [&](std::int64_t part) { return number(round_to(100 * quotient(part, whole), 2)); };
    table.rows.push_back(
        {std::int64_t{rank.number()}, idle, compute, rest, whole, percent(idle), percent(compute), percent(rest)});
  }
  return table;
}

enum IdleCategory : std::size_t { kHostWait, kKernelWait, kOtherWait, kIdleCategories };

// The gaps of one stream.
struct StreamGaps {
  std::optional<std::int64_t> previous_end_us;
  std::array<std::optional<std::int64_t>, kIdleCategories> sums;

  void add(const Row& row) {
    constexpr std::int64_t kShortGap = 30;
    IdleCategory category = kOtherWait;
    std::int64_t gap = 0;
    if (previous_end_us) {
      gap = row.begin_us - *previous_end_us;
      if (gap < kShortGap) category = kKernelWait;
      if (row.call_us && *row.call_us > *previous_end_us) category = kHostWait;
    }
    sums[category] = sums[category].value_or(0) + gap;
    previous_end_us = row.end_us;
  }
};

Table idle_breakdown(const std::vector<RankRows>& ranks) {
  constexpr std::array<const char*, kIdleCategories> kNames = {"host_wait", "kernel_wait", "other"};
  Table table{"idle_breakdown",
              "Idle breakdown",
              {{"rank", "rank", Unit::kCount},
               {"stream", "stream", Unit::kCount},
               {"idle_category", "category", Unit::kText},
               {"idle_time_us", "idle us", Unit::kCount},
               {"idle_time_ratio", "ratio", Unit::kNumber}},
              {}};
  for (const RankRows& rank : ranks) {
    std::map<std::uint32_t, StreamGaps> streams;
    for (const Row& row : rank.rows()) {
      if (!row.is_sync) streams[row.stream].add(row);
    }
    for (const auto& [stream, gaps] : streams) {
      std::int64_t total = 0;
      for (const auto& sum : gaps.sums)
        total += sum.value_or(0);
      for (std::size_t c = 0; c < kIdleCategories; ++c) {
        if (!gaps.sums[c]) continue;
        table.rows.push_back({std::int64_t{rank.number()}, std::int64_t{stream}, kNames[c], *gaps.sums[c],
                              number(round_to(quotient(*gaps.sums[c], total), 2))});
      }
    }
  }
  return table;
}

Table comm_comp_overlap(const std::vector<RankRows>& ranks) {
  Table table{"comm_comp_overlap",
              "Communication under computation",
              {{"rank", "rank", Unit::kCount}, {"comp_comm_overlap_pctg", "overlap %", Unit::kNumber}},
              {}};
  for (const RankRows& rank : ranks) {
    std::map<int, std::int64_t> times;
    add_time_by_weight(rank, 2, times);
    const std::int64_t communication = total_length(merge(rank, KernelType::kCommunication));
    const int both = kWeights[0].second + kWeights[1].second;
    table.rows.push_back(
        {std::int64_t{rank.number()}, number(round_to(100 * quotient(times[both], communication), 2))});
  }
  return table;
}

Table kernel_types(const std::vector<RankRows>& ranks) {
  std::map<int, std::int64_t> times;
  for (const RankRows& rank : ranks)
    add_time_by_weight(rank, kWeights.size(), times);
  std::erase_if(times, [](const auto& entry) { return entry.first <= 0 || entry.second == 0; });
  std::int64_t total = 0;
  std::vector<std::pair<std::int64_t, std::string>> rows;
  for (const auto& [sum, time_us] : times) {
    std::string label;
    for (const auto& [type, weight] : kWeights) {
      if ((sum & weight) == 0) continue;
      if (!label.empty()) label += " overlapping ";
      label += type_name(type);
    }
    rows.emplace_back(time_us, label);
    total += time_us;
  }
  std::ranges::sort(rows, {}, [](const auto& row) { return std::pair(-row.first, std::string_view(row.second)); });
  Table table{
      "kernel_types",
      "Kernel types",
      {{"kernel_type", "type", Unit::kText}, {"sum_us", "sum us", Unit::kCount}, {"percentage", "%", Unit::kNumber}},
      {}};
  for (const auto& [time_us, label] : rows) {
    table.rows.push_back({label, time_us, number(round_to(quotient(time_us, total) * 100, 1))});
  }
  return table;
}

struct KernelSummary {
  std::int32_t rank = 0;
  KernelType type = KernelType::kOther;
  std::string_view name;
  std::int64_t count = 0;
  std::int64_t sum = 0;
  std::int64_t max = 0;
  std::int64_t min = 0;
  double mean = 0;
  double stddev = 0;
};

KernelSummary summary_of(std::int32_t rank, KernelType type, std::string_view name,
                         const std::vector<std::int64_t>& values) {
  KernelSummary s{rank, type, name, static_cast<std::int64_t>(values.size())};
  const auto [min, max] = std::ranges::minmax(values);
  s.min = min;
  s.max = max;
  for (const std::int64_t value : values)
    s.sum += value;
  s.mean = quotient(s.sum, s.count);
  double squares = 0;
  for (const std::int64_t value : values)
    squares += std::pow(static_cast<double>(value) - s.mean, 2);
  if (s.count > 1) s.stddev = std::sqrt(squares / static_cast<double>(s.count - 1));
  return s;
}

std::vector<KernelSummary> summaries(const RankRows& rank, KernelType type) {
  std::vector<KernelSummary> kernels;
  for (const auto& kernel : rank.kernels()) {
    if (kernel->type == type) kernels.push_back(summary_of(rank.number(), type, kernel->name, kernel->durations_us));
  }
  return kernels;
}

// numpy's, to its last bit.
double quantile(std::vector<double> values, double q) {
  std::ranges::sort(values);
  const double position = q * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const double part = position - static_cast<double>(below);
  const double low = values[below];
  const double high = values[std::min(below + 1, values.size() - 1)];
  return part < 0.5 ? low + (high - low) * part : high - (high - low) * (1 - part);
}

// The kernels of one rank and type as HTA lists them.
std::vector<KernelSummary> with_others(std::vector<KernelSummary> kernels) {
  constexpr std::size_t kMaxNames = 10;
  constexpr double kDurationRatio = 0.8;
  if (kernels.size() <= kMaxNames) return kernels;
  std::ranges::sort(kernels, {}, [](const KernelSummary& k) { return std::tuple(-k.sum, k.name); });
  std::vector<double> running;
  running.reserve(kernels.size());
  for (const KernelSummary& k : kernels) {
    running.push_back((running.empty() ? 0.0 : running.back()) + static_cast<double>(k.sum));
  }
  const double limit = quantile(running, kDurationRatio);
  std::map<std::string_view, std::vector<std::int64_t>> sums;
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    const bool is_other = kernels[k].sum >= 0 && (running[k] > limit || k >= kMaxNames);
    sums[is_other ? "others" : kernels[k].name].push_back(kernels[k].sum);
  }
  std::vector<KernelSummary> listed;
  listed.reserve(sums.size());
  for (const auto& [name, values] : sums) {
    listed.push_back(summary_of(kernels.front().rank, kernels.front().type, name, values));
  }
  return listed;
}

Table kernel_rows(std::string key, std::string title, std::vector<KernelSummary> kernels, bool with_count) {
  Table table{std::move(key),
              std::move(title),
              {{"name", "name", Unit::kText},
               {"kernel_type", "type", Unit::kText},
               {"rank", "rank", Unit::kCount},
               {"sum_us", "sum us", Unit::kCount},
               {"max_us", "max us", Unit::kCount},
               {"min_us", "min us", Unit::kCount},
               {"stddev", "stddev us", Unit::kNumber},
               {"mean_us", "mean us", Unit::kNumber}},
              {}};
  if (with_count) table.columns.push_back({"count", "count", Unit::kCount});
  std::ranges::sort(kernels, {}, [](const KernelSummary& k) { return std::tuple(k.type, k.name, k.rank); });
  for (const KernelSummary& k : kernels) {
    table.rows.push_back({std::string(k.name), type_name(k.type), std::int64_t{k.rank}, k.sum, k.max, k.min,
                          number(k.stddev), number(k.mean)});
    if (with_count) table.rows.back().emplace_back(k.count);
  }
  return table;
}

void append(std::vector<KernelSummary>& to, const std::vector<KernelSummary>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

}  // namespace
}  // namespace hta

std::vector<Table> hta_tables(const Trace& trace) {
  using namespace hta;
  const std::vector<RankRows> ranks = rows_by_rank(trace);
  std::vector<KernelSummary> listed;
  std::vector<KernelSummary> all;
  for (const RankRows& rank : ranks) {
    for (const KernelType type : {KernelType::kCommunication, KernelType::kComputation, KernelType::kMemory}) {
      const std::vector<KernelSummary> kernels = summaries(rank, type);
      append(listed, with_others(kernels));
      append(all, kernels);
    }
  }
  return {temporal_breakdown(ranks),
          idle_breakdown(ranks),
          comm_comp_overlap(ranks),
          kernel_types(ranks),
          kernel_rows("top_kernels", "Top kernels", listed, false),
          kernel_rows("kernels", "Kernels", all, true)};
}

}  // namespace swinscope
