// Ranks by the names of files.
#include "analyzer/importers/ranks.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace swinscope::test {
namespace {

TEST(RankInName, IsTheNumberBehindTheWord) {
  for (const auto& [name, rank] : std::vector<std::pair<std::string, int>>{{"trace_rank10.json", 10},
                                                                           {"rank_3.sqlite", 3},
                                                                           {"rank-07.json.gz", 7},
                                                                           {"Rank 2.json", 2},
                                                                           {"step5_r7.db", 7},
                                                                           {"r12.json", 12},
                                                                           {"worker0.1700000000.pt.trace.json", 0},
                                                                           {"world8_rank1_of_8.json", 1},
                                                                           {"proc=4.json", 4},
                                                                           {"rank0.host.77.1.db", 0}}) {
    EXPECT_EQ(rank_in_name(name), rank) << name;
  }
}

TEST(RankInName, IsNothingWhereTheNameSaysNothing) {
  for (const char* name :
       {"trace.json", "trace1.json", "frank3.json", "rankings.json", "bar7.json", "rank.json", "rank2x.json",
        "rank99999999999.json", "node_4000.1700000000000.pt.trace.json", "gpu3.json"}) {
    EXPECT_FALSE(rank_in_name(name)) << name;
  }
  EXPECT_FALSE(rank_in_name("rank3/trace.json"));
}

TEST(NaturalLess, ComparesNumbersAsNumbers) {
  std::vector<std::string> names = {"a10", "a9", "a", "a1b2", "a1b10", "b", "a09", "a100000000000000000000", "a00"};
  std::ranges::sort(names, natural_less);
  EXPECT_EQ(names,
            (std::vector<std::string>{"a", "a00", "a1b2", "a1b10", "a09", "a9", "a10", "a100000000000000000000", "b"}));
}

}  // namespace
}  // namespace swinscope::test
