// The places in the workspace of the attention's backward pass, which kernels read and write 16 bytes at once.
#include <gtest/gtest.h>

#include "kernels/window_attention_backward.h"

namespace swinscope::cuda {
namespace {

TEST(AttentionWorkspace, PlacesFollowEachOtherAndThePaddingIsAligned) {
  alignas(16) char memory[16] = {};
  for (const std::int64_t heads : {1, 3, 5, 6}) {
    for (const std::int64_t pairs : {std::int64_t{49 * 49}, std::int64_t{4096}, std::int64_t{9}}) {
      for (const std::int64_t shares : {1, 2, 7}) {
        BackwardWorkspace places;
        places.shares = shares;
        places.pairs = pairs;
        places.heads = heads;
        places.padding_bytes = 4800;
        const auto offset = [&](const void* place) { return static_cast<const char*>(place) - memory; };
        EXPECT_EQ(offset(places.share_sums(memory)), 0);
        EXPECT_EQ(offset(places.sums(memory)), shares * heads * pairs * 4);
        EXPECT_EQ(offset(places.scale_sums(memory)), (shares + 1) * heads * pairs * 4);
        EXPECT_GE(offset(places.padding(memory)), ((shares + 1) * heads * pairs + shares * heads) * 4);
        EXPECT_EQ(offset(places.padding(memory)) % 16, 0);
        EXPECT_EQ(places.bytes(), offset(places.padding(memory)) + 4800);
      }
    }
  }
}

}  // namespace
}  // namespace swinscope::cuda
