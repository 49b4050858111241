#include "workloads/confusion.h"

#include <stdexcept>

#include <gtest/gtest.h>

namespace swinscope {
namespace {

using Bytes = std::vector<std::uint8_t>;

TEST(Confusion, ByHand) {
  Confusion confusion(4);
  EXPECT_EQ(confusion.mean_iou(), 0.0);
  EXPECT_EQ(confusion.pixel_accuracy(), 0.0);
  // Class 0: one right, one taken for 1. Class 1: two right. Class 2: taken for 0. Class 3 does not occur.
  confusion.add(Bytes{0, 0, 1, 1, 2, 255}, Bytes{0, 1, 1, 1, 0, 3});
  EXPECT_DOUBLE_EQ(confusion.iou()[0], 1.0 / 3);
  EXPECT_DOUBLE_EQ(confusion.iou()[1], 2.0 / 3);
  EXPECT_DOUBLE_EQ(confusion.iou()[2], 0.0);
  EXPECT_LT(confusion.iou()[3], 0.0);
  EXPECT_DOUBLE_EQ(confusion.mean_iou(), 1.0 / 3);
  EXPECT_DOUBLE_EQ(confusion.pixel_accuracy(), 0.6);
}

TEST(Confusion, CountsAddUpOverRanks) {
  Confusion whole(3);
  whole.add(Bytes{0, 1, 2, 2}, Bytes{0, 2, 2, 1});
  Confusion first(3);
  first.add(Bytes{0, 1}, Bytes{0, 2});
  Confusion second(3);
  second.add(Bytes{2, 2}, Bytes{2, 1});
  for (std::size_t i = 0; i < first.counts().size(); ++i)
    first.counts()[i] += second.counts()[i];
  EXPECT_EQ(first.iou(), whole.iou());
}

TEST(Confusion, RefusesWhatIsNoClass) {
  Confusion confusion(3);
  EXPECT_THROW(confusion.add(Bytes{3}, Bytes{0}), std::invalid_argument);
  EXPECT_THROW(confusion.add(Bytes{0}, Bytes{3}), std::invalid_argument);
  EXPECT_THROW(confusion.add(Bytes{0}, Bytes{0, 1}), std::invalid_argument);
}

}  // namespace
}  // namespace swinscope
