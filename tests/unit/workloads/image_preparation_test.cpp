// What a model is fed of a picture, held against Pillow and timm's arithmetic (tests/peers/pillow/).
#include <array>
#include <cmath>
#include <fstream>
#include <limits>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/workloads/jpeg_files.h"
#include "workloads/images/image_files.h"
#include "workloads/images/jpeg_decoder.h"
#include "workloads/images/prepare.h"
#include "workloads/images/resize.h"

namespace swinscope {
namespace {

using test::gradient;

constexpr int kSize = 32;  // of the fixtures
constexpr std::array<double, 3> kMean = {0.485, 0.456, 0.406};
constexpr std::array<double, 3> kDeviation = {0.229, 0.224, 0.225};

const std::filesystem::path kFixtures = std::filesystem::path(SWINSCOPE_SOURCE_DIR) / "tests/peers/pillow/fixtures";

// Binary PPM.
std::vector<std::uint8_t> read_ppm(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::string magic;
  std::size_t width = 0;
  std::size_t height = 0;
  int most = 0;
  in >> magic >> width >> height >> most;
  in.get();
  std::vector<std::uint8_t> pixels(width * height * 3);
  in.read(reinterpret_cast<char*>(pixels.data()), static_cast<std::streamsize>(pixels.size()));
  EXPECT_TRUE(in && magic == "P6" && most == 255) << file;
  return pixels;
}

// Back to grey levels, in the order of a picture.
std::vector<double> denormalize(const std::vector<float>& prepared) {
  const std::size_t area = prepared.size() / 3;
  std::vector<double> values(prepared.size());
  for (std::size_t i = 0; i < prepared.size(); ++i) {
    const std::size_t channel = i / area;
    values[i % area * 3 + channel] =
        255.0 * (static_cast<double>(prepared[i]) * kDeviation.at(channel) + kMean.at(channel));
  }
  return values;
}

struct Difference {
  double mean = 0.0;
  double most = 0.0;
};

Difference compare(const std::vector<double>& values, const std::vector<std::uint8_t>& expected) {
  Difference difference;
  EXPECT_EQ(values.size(), expected.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double one = std::abs(values[i] - expected[i]);
    difference.mean += one / static_cast<double>(values.size());
    difference.most = std::max(difference.most, one);
  }
  return difference;
}

class Pillow : public testing::TestWithParam<const char*> {};

TEST_P(Pillow, EqualsWhatTimmFeedsToItsModels) {
  const std::string name = GetParam();
  const std::vector<std::uint8_t> jpeg = read_bytes(kFixtures / (name + ".jpg"));
  const std::vector<std::uint8_t> expected = read_ppm(kFixtures / (name + ".ppm"));
  std::vector<float> prepared(std::size_t{3} * kSize * kSize, std::numeric_limits<float>::quiet_NaN());
  prepare_for_evaluation(JpegDecoder(jpeg, name).decode(), kSize, prepared);
  EXPECT_LT(compare(denormalize(prepared), expected).most, 1e-3);
}

INSTANTIATE_TEST_SUITE_P(Pictures, Pillow,
                         testing::Values("baseline", "progressive", "grey", "cmyk", "tiny", "narrow", "large"),
                         [](const auto& picture) { return std::string(picture.param); });

// The large one is decoded at a quarter of its size: 480 pixels, 35 needed, at least 70 kept.
TEST(Preparation, ReducedDecodingMovesValuesByAboutAGreyLevel) {
  const std::vector<std::uint8_t> jpeg = read_bytes(kFixtures / "large.jpg");
  std::vector<float> prepared(std::size_t{3} * kSize * kSize);
  prepare_for_evaluation(jpeg, "large.jpg", kSize, prepared);
  const Difference difference = compare(denormalize(prepared), read_ppm(kFixtures / "large.ppm"));
  EXPECT_GT(difference.mean, 0.0);  // it was reduced
  EXPECT_LT(difference.mean, 1.0);
  EXPECT_LT(difference.most, 16.0);
}

TEST(Preparation, APictureOfTheRightSizeIsOnlyCropped) {
  // 40 / 0.9 = 44.4: a picture of 44 x 44 pixels is cropped by 2 and not resized.
  const RgbImage image = gradient(44, 44);
  std::vector<float> prepared(std::size_t{3} * 40 * 40);
  prepare_for_evaluation(image, 40, prepared);
  for (const std::size_t x : {0U, 17U, 39U}) {
    const double red = image.pixels[3 * (x + 2)] / 255.0;
    EXPECT_NEAR(prepared[x], (red - kMean[0]) / kDeviation[0], 1e-5) << x;
  }
}

TEST(Preparation, MirroringTurnsRowsAround) {
  const RgbImage image = gradient(5, 4);
  std::vector<float> plain(std::size_t{3} * 5 * 4);
  std::vector<float> mirrored(plain.size());
  normalize(image, false, plain);
  normalize(image, true, mirrored);
  for (std::size_t row = 0; row < 12; ++row) {
    for (std::size_t x = 0; x < 5; ++x)
      EXPECT_EQ(plain[row * 5 + x], mirrored[row * 5 + 4 - x]);
  }
}

TEST(Resize, APartKnowsNothingOfWhatIsAroundIt) {
  RgbImage image = gradient(20, 20);
  const Box part{5, 6, 8, 9};
  const RgbImage before = resize(image, part, 16, 16, {0, 0, 16, 16});
  for (int y = 0; y < 20; ++y) {
    for (int x = 0; x < 20; ++x) {
      const bool inside = x >= 5 && x < 13 && y >= 6 && y < 15;
      if (!inside) image.pixels[static_cast<std::size_t>(y * 20 + x) * 3] = 255;
    }
  }
  EXPECT_EQ(resize(image, part, 16, 16, {0, 0, 16, 16}).pixels, before.pixels);
}

TEST(Resize, AWindowIsTheSameAsTheWholeCut) {
  const RgbImage image = gradient(37, 23);
  const RgbImage whole = resize(image, {0, 0, 37, 23}, 50, 11, {0, 0, 50, 11});
  const RgbImage window = resize(image, {0, 0, 37, 23}, 50, 11, {7, 3, 20, 5});
  for (std::size_t y = 0; y < 5; ++y) {
    for (std::size_t i = 0; i < 60; ++i)
      EXPECT_EQ(window.pixels[y * 60 + i], whole.pixels[(y + 3) * 150 + 21 + i]);
  }
}

}  // namespace
}  // namespace swinscope
