// What a GPU costs an hour.
#include "analyzer/experiment/gpu_price.h"

#include <gmock/gmock.h>

#include "store/error.h"

namespace swinscope::test {
namespace {

TEST(GpuPrice, OfAnyGpuOrOfOne) {
  const GpuPrice any = parse_gpu_price("3.5");
  EXPECT_DOUBLE_EQ(any.per_hour, 3.5);
  EXPECT_TRUE(any.is_of("NVIDIA H200"));
  const GpuPrice one = parse_gpu_price("h200=2");
  EXPECT_DOUBLE_EQ(one.per_hour, 2);
  EXPECT_TRUE(one.is_of("NVIDIA H200"));
  EXPECT_FALSE(one.is_of("NVIDIA H100 80GB HBM3"));
  EXPECT_FALSE(one.is_of(""));
}

// 3 GPUs for half an hour at 4 each.
TEST(GpuPrice, Cost) { EXPECT_DOUBLE_EQ(parse_gpu_price("4").cost(3, 1'800e9), 6.0); }

TEST(GpuPrice, OthersAreRefused) {
  for (const char* text : {"", "0", "-1", "nan", "inf", "cheap", "3.5 $", "h200=", "=3.5", "h200=3.5=4"}) {
    try {
      parse_gpu_price(text);
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kUsage) << text;
      EXPECT_THAT(error.what(), testing::HasSubstr("--price")) << text;
      EXPECT_THAT(error.hint(), testing::HasSubstr("h200=3.5")) << text;
    }
  }
}

}  // namespace
}  // namespace swinscope::test
