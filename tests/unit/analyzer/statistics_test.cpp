// Summaries of samples in any order have the quantiles of the sorted samples.
#include "analyzer/base/statistics.h"

#include <random>

#include <gtest/gtest.h>

namespace swinscope::test {
namespace {

TEST(StatisticsTest, ASummaryHasTheQuantilesOfTheSortedValues) {
  std::mt19937 random(7);
  for (const std::size_t size : {1U, 2U, 3U, 20U, 21U, 100U, 101U, 1000U}) {
    for (const std::int64_t range : {1, 5, 1'000'000}) {
      std::vector<std::int64_t> values(size);
      for (std::int64_t& value : values)
        value = static_cast<std::int64_t>(random()) % range - range / 2;
      const Summary summary = summarize(values);
      std::sort(values.begin(), values.end());
      EXPECT_EQ(summary.min, values.front());
      EXPECT_EQ(summary.max, values.back());
      EXPECT_EQ(summary.median, quantile(values, 0.5)) << size;
      EXPECT_EQ(summary.p95, quantile(values, 0.95)) << size;
      EXPECT_EQ(summary.p99, quantile(values, 0.99)) << size;
      EXPECT_EQ(summary.count, static_cast<std::int64_t>(size));
    }
  }
}

}  // namespace
}  // namespace swinscope::test
