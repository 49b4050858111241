// Which ranges of an unknown program are taken for its steps.
#include "analyzer/facts/repeated_ranges.h"

#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace swinscope {
namespace {

struct Given {
  std::string name;
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::string domain = std::string();  // so that it may be left out
  std::uint64_t thread = 1;
};

// A process whose ranges these are, given by start.
Trace trace_of(const std::vector<Given>& ranges) {
  Trace trace;
  Rank& rank = trace.ranks.emplace_back();
  std::map<std::pair<std::uint64_t, std::string>, std::vector<const Given*>> lanes;
  for (const Given& range : ranges)
    lanes[{range.thread, range.domain}].push_back(&range);
  std::map<std::string, std::uint32_t> domains;
  for (const auto& [key, events] : lanes) {
    const auto [domain, is_new] = domains.try_emplace(key.second, static_cast<std::uint32_t>(domains.size()));
    if (is_new) rank.domains.emplace_back(domain->second, trace.strings.intern(key.second));
    const EventIndex begin = rank.ranges.size();
    for (const Given* range : events) {
      rank.ranges.start_ns.push_back(range->start_ns);
      rank.ranges.end_ns.push_back(range->end_ns);
      rank.ranges.name.push_back(trace.strings.intern(range->name));
      rank.ranges.lane.push_back(static_cast<std::uint32_t>(rank.range_lanes.size()));
    }
    rank.range_lanes.push_back({key.first, domain->second, {begin, rank.ranges.size()}});
  }
  return trace;
}

std::optional<RepeatedRanges> found_in(const std::vector<Given>& ranges) {
  const Trace trace = trace_of(ranges);
  return find_repeated_ranges(trace, trace.ranks.front());
}

TEST(RepeatedRanges, OfOneNameButForItsNumber) {
  const auto found = found_in({{"load", 0, 90}, {"phase 7", 100, 200}, {"phase 8", 200, 290}, {"phase 10", 300, 400}});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->pattern, "^phase [0-9]+$");
  EXPECT_EQ(found->shown, "phase N");
  EXPECT_EQ(found->count, 3);
  EXPECT_EQ(found->covered_ns, 290);
}

TEST(RepeatedRanges, ThreeAreNeeded) {
  EXPECT_FALSE(found_in({{"a", 0, 10}, {"a", 10, 20}, {"b 1", 20, 30}, {"b 2", 30, 40}}));
  EXPECT_FALSE(found_in({}));
}

TEST(RepeatedRanges, ThatEncloseOthers) {
  // A single range around everything is no step; of those that repeat the outer ones cover more.
  std::vector<Given> ranges = {{"main", 0, 1000}};
  for (std::int64_t at = 0; at < 400; at += 100) {
    ranges.push_back({"round", at, at + 90});
    for (std::int64_t part = 0; part < 80; part += 40)
      ranges.push_back({"part", at + part, at + part + 40});
  }
  const auto found = found_in(ranges);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->pattern, "^round$");
  EXPECT_EQ(found->count, 4);
}

TEST(RepeatedRanges, NumbersThatComeAgainAreNames) {
  // Three layers in each of four rounds: no twelve steps, but four of each layer; layer 1 takes the longest.
  std::vector<Given> ranges;
  for (std::int64_t round = 0; round < 4; ++round) {
    for (std::int64_t layer = 0; layer < 3; ++layer) {
      const std::int64_t start = 100 * round + 30 * layer;
      ranges.push_back({"layer " + std::to_string(layer), start, start + (layer == 1 ? 30 : 20)});
    }
  }
  const auto found = found_in(ranges);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->pattern, "^layer 1$");
  EXPECT_EQ(found->count, 4);
  // An epoch before the number is no reason: (0, 2) < (1, 0).
  const auto epochs = found_in({{"ep 0 b 0", 0, 9}, {"ep 0 b 1", 10, 19}, {"ep 1 b 0", 20, 29}, {"ep 1 b 1", 30, 39}});
  ASSERT_TRUE(epochs);
  EXPECT_EQ(epochs->shown, "ep N b N");
  EXPECT_EQ(epochs->count, 4);
}

TEST(RepeatedRanges, OfAnyDomainButThoseOfLibraries) {
  std::vector<Given> ranges;
  for (std::int64_t i = 0; i < 4; ++i) {
    ranges.push_back({"work (a+b)", 100 * i, 100 * i + 50, "mylib", 2});
    ranges.push_back({"ncclAllReduce", 100 * i, 100 * i + 90, "NCCL"});
    ranges.push_back({"aten::mm", 100 * i, 100 * i + 95, std::string(kDomainTorchOp)});
  }
  const auto found = found_in(ranges);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->pattern, "^work \\(a\\+b\\)$");
  EXPECT_EQ(found->covered_ns, 200);
}

TEST(RepeatedRanges, WithinThemselvesCountOnce) {
  const auto found = found_in({{"f", 0, 100}, {"f", 10, 20}, {"f", 100, 200}, {"f", 200, 300}, {"f", 210, 220}});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->count, 3);
  EXPECT_EQ(found->covered_ns, 300);
}

}  // namespace
}  // namespace swinscope
