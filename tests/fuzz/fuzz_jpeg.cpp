// JpegDecoder: whatever the bytes, they are refused as bad input, or they become a picture of the size that was
// announced, the same again each time, and a model's input of finite values.
#include <cmath>
#include <cstdint>
#include <vector>

#include "tests/fuzz/memory_file.h"
#include "workloads/error.h"
#include "workloads/images/jpeg_decoder.h"
#include "workloads/images/prepare.h"

namespace swinscope::fuzz {
namespace {

constexpr std::int64_t kMostFuzzedPixels = std::int64_t{1} << 18;
constexpr int kSize = 24;

void check_decoded(std::span<const std::uint8_t> bytes, int reduction) {
  JpegDecoder decoder(bytes, "input", kMostFuzzedPixels);
  const int width = decoder.width();
  const int height = decoder.height();
  const RgbImage image = decoder.decode(reduction);
  expect(image.width == (width + reduction - 1) / reduction, "the width is the announced one");
  expect(image.height == (height + reduction - 1) / reduction, "the height is the announced one");
  expect(image.pixels.size() ==
             std::size_t{3} * static_cast<std::size_t>(image.width) * static_cast<std::size_t>(image.height),
         "all pixels are there");
  expect(JpegDecoder(bytes, "input").decode(reduction).pixels == image.pixels, "decoding is repeatable");
  std::vector<float> prepared(std::size_t{3} * kSize * kSize, std::nanf(""));
  prepare_for_evaluation(image, kSize, prepared);
  for (const float value : prepared)
    expect(std::abs(value) < 3.0F, "values are normalized grey levels");
}

}  // namespace
}  // namespace swinscope::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace swinscope;
  for (const int reduction : {1, 8}) {
    try {
      fuzz::check_decoded({data, size}, reduction);
    } catch (const WorkloadError& error) {
      fuzz::expect(error.kind() == WorkloadErrorKind::kInput, "the error is one of the input", error.what());
      fuzz::expect(!error.cause().empty(), "the error says why", error.what());
    }
  }
  return 0;
}
