// The kernels' 32-bit weights against bilinear.h, on the host.
#include "kernels/bilinear_axis.cuh"

#include <gtest/gtest.h>

#include "kernels/bilinear.h"

namespace swinscope::cuda {
namespace {

constexpr double kRounding = 2e-7;

void expect_agreement(int from, int to) {
  SCOPED_TRACE(testing::Message() << from << " to " << to);
  const BilinearAxis axis = BilinearAxis::of(from, to);
  for (int output = 0; output < to; ++output) {
    const BilinearSource source = bilinear_source(from, to, output);
    const BilinearAxis::Place place = axis.place(output);
    ASSERT_EQ(place.low, source.low);
    ASSERT_EQ(place.high, source.high);
    ASSERT_NEAR(place.weight, source.weight, kRounding);
  }
  int first = 0;
  for (int input = 0; input < from; ++input) {
    const BilinearReaders readers = bilinear_readers(from, to, input);
    // An input that nobody reads has an empty run, whose place means nothing.
    ASSERT_EQ(axis.readers_end(input) - axis.first_reader(input), readers.end - readers.begin);
    for (auto output = static_cast<int>(readers.begin); output < readers.end; ++output) {
      ASSERT_EQ(axis.first_reader(input), readers.begin);
      ASSERT_NEAR(axis.weight_of(output, input), bilinear_source(from, to, output).weight_of(input), kRounding);
    }
    while (first < to && bilinear_source(from, to, first).low < input)
      ++first;
    ASSERT_EQ(input == 0 ? 0 : axis.first_from(input), first);
  }
}

TEST(BilinearAxis, AgreesWithTheReferenceOnEverySize) {
  for (int from = 1; from <= 24; ++from) {
    for (int to = 1; to <= 80; ++to)
      expect_agreement(from, to);
  }
}

TEST(BilinearAxis, DoesNotOverflowAtItsLargest) {
  expect_agreement(16384, 16383);
  expect_agreement(4096, 16384);
}

}  // namespace
}  // namespace swinscope::cuda
