#include "analyzer/facts/repeated_ranges.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/facts/output_lines.h"
#include "analyzer/trace/step_rule.h"

namespace swinscope {
namespace {

constexpr std::int64_t kFewest = 3;

bool is_of_library(std::string_view domain) {
  constexpr std::array<std::string_view, 12> kLibraries = {"NCCL",  "CCCL",     "cuBLAS",   "cuDNN",
                                                           "cuFFT", "cuSPARSE", "cuSOLVER", "cuTENSOR",
                                                           "TSL",   "UCX",      "NVSHMEM",  "libcufile"};
  return std::ranges::any_of(kLibraries, [&](std::string_view name) { return domain.starts_with(name); }) ||
         domain == kDomainTorchOp || domain == kDomainTorchPython || domain == kDomainTorchGpuUser;
}

// The ranges of one thread that may be steps, by start, those that enclose others first.
using ByThread = std::map<std::uint64_t, std::vector<EventIndex>>;

ByThread ranges_by_thread(const Trace& trace, const Rank& rank) {
  ByThread threads;
  for (const RangeLane& lane : rank.range_lanes) {
    if (is_of_library(rank.domain_name(lane.domain, trace.strings))) continue;
    std::vector<EventIndex>& ranges = threads[lane.global_tid];
    for (EventIndex i = lane.events.begin; i < lane.events.end; ++i)
      ranges.push_back(i);
  }
  for (auto& [thread, ranges] : threads) {
    std::ranges::sort(ranges, {},
                      [&](EventIndex i) { return std::pair(rank.ranges.start_ns[i], -rank.ranges.end_ns[i]); });
  }
  return threads;
}

// A name and what it is without its numbers.
struct Name {
  std::string text;
  std::string without;
  std::vector<std::int64_t> numbers;
};

Name parse_name(std::string_view text) {
  Name name{std::string(text), without_numbers(text), {}};
  for (const LineNumber& number : numbers_in(text))
    name.numbers.push_back(number.value);
  return name;
}

// Ranges of one name, or of one name but for its numbers, on one thread.
struct Family {
  std::string first;  // a name of them
  std::int64_t count = 0;
  std::int64_t covered_ns = 0;
  std::int64_t end_ns = INT64_MIN;
  std::vector<std::int64_t> numbers;  // of the last one
  bool counts_up = true;              // each one's are larger than those of the one before

  void add(std::int64_t start_ns, std::int64_t range_end_ns, const Name& name) {
    if (start_ns < end_ns) return;  // within one of them
    if (count == 0) first = name.text;
    counts_up = counts_up && (count == 0 || name.numbers > numbers);
    ++count;
    covered_ns += range_end_ns - start_ns;
    end_ns = range_end_ns;
    numbers = name.numbers;
  }
};

std::string pattern_of(const std::string& name, bool any_number) {
  std::string pattern = "^";
  std::size_t done = 0;
  if (any_number) {
    for (const LineNumber& number : numbers_in(name)) {
      pattern += escaped(std::string_view(name).substr(done, number.begin - done));
      pattern += number.is_whole ? "[0-9]+" : "[-+.0-9e]+";
      done = number.end;
    }
  }
  return pattern + escaped(std::string_view(name).substr(done)) + "$";
}

void choose(const Family& family, bool any_number, std::optional<RepeatedRanges>& best) {
  if (family.count < kFewest) return;
  const bool is_better = !best || family.covered_ns > best->covered_ns ||
                         (family.covered_ns == best->covered_ns && family.count < best->count);
  if (!is_better) return;
  best = RepeatedRanges{pattern_of(family.first, any_number), any_number ? without_numbers(family.first) : family.first,
                        family.count, family.covered_ns};
}

}  // namespace

std::optional<RepeatedRanges> find_repeated_ranges(const Trace& trace, const Rank& rank) {
  std::optional<RepeatedRanges> best;
  std::map<StringId, Name> names;
  for (const auto& [thread, ranges] : ranges_by_thread(trace, rank)) {
    std::map<std::string, Family> without_numbers_of;
    std::map<StringId, Family> by_name;
    for (const EventIndex i : ranges) {
      const StringId id = rank.ranges.name[i];
      const auto [entry, is_new] = names.try_emplace(id);
      if (is_new) entry->second = parse_name(trace.text(id));
      const Name& name = entry->second;
      if (name.text.empty()) continue;
      by_name[id].add(rank.ranges.start_ns[i], rank.ranges.end_ns[i], name);
      if (!name.numbers.empty())
        without_numbers_of[name.without].add(rank.ranges.start_ns[i], rank.ranges.end_ns[i], name);
    }
    for (const auto& [text, family] : without_numbers_of) {
      if (family.counts_up) choose(family, true, best);
    }
    for (const auto& [id, family] : by_name)
      choose(family, false, best);
  }
  return best;
}

}  // namespace swinscope
