// Decoding JPEG pictures: every form that is met, reduced sizes, and what is refused.
#include "workloads/images/jpeg_decoder.h"

#include <numeric>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/workloads/jpeg_files.h"
#include "workloads/error.h"

namespace swinscope {
namespace {

using test::gradient;
using test::jpeg_of;
using test::JpegForm;
using testing::HasSubstr;

std::string cause_of(const std::vector<std::uint8_t>& bytes, std::int64_t most_pixels = kMostPixels) {
  try {
    JpegDecoder(bytes, "photo.jpg", most_pixels).decode();
  } catch (const WorkloadError& error) {
    EXPECT_EQ(error.kind(), WorkloadErrorKind::kInput);
    EXPECT_THAT(error.what(), HasSubstr("photo.jpg"));
    return error.cause();
  }
  return "no error";
}

TEST(JpegDecoder, PixelsComeBackNearly) {
  for (const JpegForm form : {JpegForm::kBaseline, JpegForm::kProgressive}) {
    const RgbImage image = gradient(64, 48);
    const std::vector<std::uint8_t> bytes = jpeg_of(image, form);
    JpegDecoder decoder(bytes, "photo.jpg");
    EXPECT_EQ(decoder.width(), 64);
    EXPECT_EQ(decoder.height(), 48);
    const RgbImage decoded = decoder.decode();
    ASSERT_EQ(decoded.pixels.size(), image.pixels.size());
    for (std::size_t i = 0; i < decoded.pixels.size(); ++i)
      ASSERT_NEAR(decoded.pixels[i], image.pixels[i], 12) << i;
  }
}

TEST(JpegDecoder, GreyBecomesThreeEqualChannels) {
  const std::vector<std::uint8_t> bytes = jpeg_of(gradient(40, 24), JpegForm::kGrey);
  const RgbImage decoded = JpegDecoder(bytes, "grey.jpg").decode();
  ASSERT_EQ(decoded.pixels.size(), 40U * 24U * 3U);
  for (std::size_t i = 0; i < decoded.pixels.size(); i += 3) {
    ASSERT_EQ(decoded.pixels[i], decoded.pixels[i + 1]);
    ASSERT_EQ(decoded.pixels[i], decoded.pixels[i + 2]);
  }
  EXPECT_LT(decoded.pixels.front(), decoded.pixels.back());
}

TEST(JpegDecoder, ReducedPicturesAreTheMeansOfTheWholeOne) {
  const RgbImage image = gradient(120, 61);
  const std::vector<std::uint8_t> bytes = jpeg_of(image);
  for (const int reduction : {2, 4, 8}) {
    const RgbImage reduced = JpegDecoder(bytes, "photo.jpg").decode(reduction);
    ASSERT_EQ(reduced.width, (120 + reduction - 1) / reduction);
    ASSERT_EQ(reduced.height, (61 + reduction - 1) / reduction);
    for (int x = 0; x < reduced.width - 1; ++x) {
      const double expected = 255.0 * (x * reduction + (reduction - 1) / 2.0) / 119.0;
      ASSERT_NEAR(reduced.pixels[static_cast<std::size_t>(x) * 3], expected, 6.0) << reduction << " " << x;
    }
  }
  EXPECT_EQ(reduction_for(500, 63), 4);  // an eighth would be 62
  EXPECT_EQ(reduction_for(504, 63), 8);
  EXPECT_EQ(reduction_for(9999, 10), 8);
  EXPECT_EQ(reduction_for(100, 51), 1);
}

TEST(JpegDecoder, DamageIsRefusedWithTheReason) {
  for (const JpegForm form : {JpegForm::kBaseline, JpegForm::kProgressive, JpegForm::kGrey}) {
    std::vector<std::uint8_t> cut = jpeg_of(gradient(64, 64), form);
    cut.resize(cut.size() * 2 / 3);
    EXPECT_THAT(cause_of(cut), HasSubstr("Premature end"));
  }
  EXPECT_EQ(cause_of({}), "the file is empty");
  EXPECT_THAT(cause_of({'t', 'e', 'x', 't'}), HasSubstr("Not a JPEG file"));
  EXPECT_THAT(cause_of({0xFF, 0xD8}), HasSubstr("Premature end"));
  // A hole in the middle of the entropy-coded data.
  std::vector<std::uint8_t> hole = jpeg_of(gradient(256, 256));
  std::fill(hole.begin() + static_cast<std::ptrdiff_t>(hole.size() / 2), hole.end() - 2, std::uint8_t{0xFF});
  EXPECT_NE(cause_of(hole), "no error");
}

TEST(JpegDecoder, BytesBehindAPictureAndBetweenItsPartsDoNoHarm) {
  std::vector<std::uint8_t> bytes = jpeg_of(gradient(32, 32));
  const std::vector<std::uint8_t> original = bytes;
  bytes.insert(bytes.end(), 100, 0);
  bytes.insert(bytes.begin() + 2, {0, 0, 0});  // libjpeg: "3 extraneous bytes before marker"
  EXPECT_EQ(JpegDecoder(bytes, "a").decode().pixels, JpegDecoder(original, "b").decode().pixels);
}

TEST(JpegDecoder, AHeaderThatClaimsTooMuchIsRefusedBeforeMemoryIsTaken) {
  std::vector<std::uint8_t> bytes = jpeg_of(gradient(32, 32));
  constexpr std::int64_t kPixels = 1024;
  EXPECT_EQ(cause_of(bytes, kPixels - 1), "it claims 32 x 32 pixels");
  EXPECT_EQ(cause_of(bytes, kPixels), "no error");
  // Height and width follow the frame's marker, its length and the precision.
  const std::vector<std::uint8_t> frame = {0xFF, 0xC0};
  const auto at = std::search(bytes.begin(), bytes.end(), frame.begin(), frame.end());
  ASSERT_NE(at, bytes.end());
  std::fill(at + 5, at + 9, std::uint8_t{0xF0});
  EXPECT_EQ(cause_of(bytes), "it claims 61680 x 61680 pixels");
}

// Each scan goes over all of the picture: 100 bytes that cost as much as an image.
TEST(JpegDecoder, AFileOfEndlessScansIsRefused) {
  const std::vector<std::uint8_t> bytes = jpeg_of(gradient(32, 32), JpegForm::kProgressive);
  const std::vector<std::uint8_t> scan = {0xFF, 0xDA};
  const auto last = std::find_end(bytes.begin(), bytes.end() - 2, scan.begin(), scan.end());
  ASSERT_NE(last, bytes.end() - 2);
  std::vector<std::uint8_t> endless(bytes.begin(), bytes.end() - 2);
  for (int i = 0; i < 300; ++i)
    endless.insert(endless.end(), last, bytes.end() - 2);
  endless.insert(endless.end(), {0xFF, 0xD9});
  EXPECT_THAT(cause_of(endless), testing::AnyOf(HasSubstr("more than 200 scans"), HasSubstr("progressi")));
}

}  // namespace
}  // namespace swinscope
