// The threads that store what programs recorded.
#include <gtest/gtest.h>

#include "collector/launcher/segment_reader.h"

namespace swinscope {
namespace {

// Asked to end while it begins to wait: it hears of it all the same.
TEST(SegmentWorker, EndsWheneverItIsAskedTo) {
  for (int i = 0; i < 5'000; ++i) {
    SegmentWorker worker;
    for (int spin = 0; spin < (i % 100) * 50; ++spin)
      (void)worker.count();
  }
}

}  // namespace
}  // namespace swinscope
