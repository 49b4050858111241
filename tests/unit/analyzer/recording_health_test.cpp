// What `swinscope info` says of launches and kernels that lack each other.
#include <gmock/gmock.h>

#include "analyzer/analyses/recording.h"
#include "tests/unit/analyzer/hand_trace.h"
#include "tests/unit/analyzer/support.h"

namespace swinscope::test {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

std::vector<std::string> findings(HandTrace& hand) {
  std::vector<std::string> texts;
  for (const auto& row : health_table(hand.build()).rows)
    texts.push_back(std::get<std::string>(row.at(1)));
  return texts;
}

TEST(RecordingHealth, ALaunchWithoutItsKernelIsMissingWork) {
  HandTrace hand;
  HandRank& rank = hand.add_rank();
  rank.launch("a", 0, 3, 5);
  rank.call("cudaLaunchKernel", 10, 12);
  rank.launch("b", 20, 23, 25);
  EXPECT_THAT(findings(hand), Contains("1 launch of a kernel without the kernel: GPU work is missing"));
}

TEST(RecordingHealth, TheDriversCallWithinALaunchIsTheSameLaunch) {
  HandTrace hand;
  HandRank& rank = hand.add_rank();
  rank.kernel("a", rank.call("cudaLaunchKernel", 0, 4), 3, 5);
  rank.call("cuLaunchKernel", 1, 3);
  rank.launch("b", 20, 23, 25);
  EXPECT_THAT(findings(hand), Not(Contains(HasSubstr("without the kernel"))));
}

TEST(RecordingHealth, AndIsCountedOnceWhereTheKernelIsMissing) {
  HandTrace hand;
  HandRank& rank = hand.add_rank();
  rank.call("cudaLaunchKernel", 0, 4);
  rank.call("cuLaunchKernel", 1, 3);
  rank.launch("b", 20, 23, 25);
  EXPECT_THAT(findings(hand), Contains("1 launch of a kernel without the kernel: GPU work is missing"));
}

}  // namespace
}  // namespace swinscope::test
