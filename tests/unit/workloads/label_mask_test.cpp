// Masks as files, the sets that hold them, and what becomes of a picture and its mask on the way to a model.
#include "workloads/images/label_mask.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/workloads/jpeg_files.h"
#include "tests/unit/workloads/png_files.h"
#include "tests/unit/workloads/subprocess.h"
#include "workloads/error.h"
#include "workloads/images/prepare_pair.h"
#include "workloads/images/procedural.h"
#include "workloads/images/procedural_set.h"
#include "workloads/images/scene_folder.h"

namespace swinscope {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

std::string cause_of(const std::vector<std::uint8_t>& bytes, std::int64_t most_pixels = kMostPixels) {
  try {
    decode_mask(bytes, "a.png", most_pixels);
  } catch (const WorkloadError& error) {
    EXPECT_EQ(error.kind(), WorkloadErrorKind::kInput);
    EXPECT_THAT(error.what(), HasSubstr("a.png: not a readable mask"));
    return error.cause();
  }
  return "no error";
}

TEST(LabelMask, ComesBackAsItWas) {
  LabelMask mask{7, 5, {}};
  for (int i = 0; i < 35; ++i)
    mask.labels.push_back(static_cast<std::uint8_t>(i * 7 + 10));
  mask.labels[3] = 255;
  const LabelMask back = decode_mask(encode_mask(mask), "a.png");
  EXPECT_EQ(back.width, 7);
  EXPECT_EQ(back.height, 5);
  EXPECT_EQ(back.labels, mask.labels);
}

TEST(LabelMask, NumbersAreTakenAsTheyAre) {
  const std::vector<std::uint8_t> bytes{0, 1, 2, 3, 250, 255};
  EXPECT_EQ(decode_mask(test::png_of(3, 2, bytes, {.interlaced = true}), "a").labels, bytes);
  EXPECT_EQ(decode_mask(test::png_of(3, 2, bytes, {.colours = PNG_COLOR_TYPE_PALETTE}), "a").labels, bytes);
  // Two bits a pixel: 0, 1, 2, 3 and 3, 2, 1, 0, neither spread over the grey levels nor looked up in the palette.
  const std::vector<std::uint8_t> packed{0b00011011, 0b11100100};
  const std::vector<std::uint8_t> unpacked{0, 1, 2, 3, 3, 2, 1, 0};
  EXPECT_EQ(decode_mask(test::png_of(4, 2, packed, {.bits = 2}), "a").labels, unpacked);
  EXPECT_EQ(decode_mask(test::png_of(4, 2, packed, {.colours = PNG_COLOR_TYPE_PALETTE, .bits = 2}), "a").labels,
            unpacked);
}

TEST(LabelMask, SaysWhyAFileIsNoMask) {
  const std::vector<std::uint8_t> good = encode_mask({4, 4, std::vector<std::uint8_t>(16, 9)});
  EXPECT_THAT(cause_of({}), HasSubstr("ends too early"));
  EXPECT_THAT(cause_of({good.begin(), good.end() - 20}), HasSubstr("ends too early"));
  EXPECT_THAT(cause_of(std::vector<std::uint8_t>(100, 'x')), HasSubstr("Not a PNG file"));
  EXPECT_THAT(cause_of(good, 15), HasSubstr("more pixels"));
  EXPECT_THAT(cause_of(test::png_of(1, 1, {1, 2, 3}, {.colours = PNG_COLOR_TYPE_RGB})), HasSubstr("colours"));
  EXPECT_THAT(cause_of(test::png_of(1, 1, {1, 2}, {.bits = 16})), HasSubstr("16 bits"));
  std::vector<std::uint8_t> damaged = good;
  damaged[damaged.size() - 20] ^= 0xFFU;
  EXPECT_NE(cause_of(damaged), "no error");
}

TEST(Scenes, HaveALabelForEachPixel) {
  std::set<int> seen;
  std::size_t unlabelled = 0;
  constexpr int kScenes = 40;
  for (int number = 0; number < kScenes; ++number) {
    const LabelledScene scene = draw_scene("training", number, 64, 0);
    ASSERT_EQ(scene.mask.labels.size(), 64U * 64U);
    seen.insert(scene.mask.labels.begin(), scene.mask.labels.end());
    unlabelled += static_cast<std::size_t>(std::ranges::count(scene.mask.labels, kSceneUnlabelled));
  }
  EXPECT_EQ(seen.size(), 14U) << "every class, and the unlabelled outlines";
  EXPECT_EQ(*seen.rbegin(), kSceneClasses);
  EXPECT_LT(unlabelled, kScenes * 64U * 64U / 5U);
  const LabelledScene one = draw_scene("training", 7, 64, 0);
  EXPECT_EQ(one.image.pixels, draw_scene("training", 7, 64, 0).image.pixels);
  EXPECT_NE(one.image.pixels, draw_scene("training", 8, 64, 0).image.pixels);
  EXPECT_NE(one.image.pixels, draw_scene("training", 7, 64, 1).image.pixels);
}

class SceneSet : public testing::Test {
 protected:
  fs::path at(const std::string& name) const { return folder_.path() / name; }
  static ProceduralSetOptions small() {
    ProceduralSetOptions options;
    options.scenes = true;
    options.train_images = 5;
    options.validation_images = 2;
    options.size = 48;
    return options;
  }
  static bool go_on(std::int64_t /*done*/) { return true; }

  test::TemporaryFolder folder_;
};

TEST_F(SceneSet, IsReadAsItWasWritten) {
  const ProceduralSetOptions options = small();
  ASSERT_TRUE(write_procedural_set(at("set"), options, go_on));
  EXPECT_EQ(look_at_procedural_set(at("set"), options), ProceduralSetState::kComplete);
  ProceduralSetOptions figures = options;
  figures.scenes = false;
  EXPECT_EQ(look_at_procedural_set(at("set"), figures), ProceduralSetState::kOther);
  const SceneFolders folders = read_scene_folders(at("set"));
  EXPECT_EQ(folders.classes, kSceneClasses);
  ASSERT_EQ(folders.train.size(), 5U);
  EXPECT_EQ(folders.validation.size(), 2U);
  EXPECT_TRUE(folders.skipped.empty());
  EXPECT_EQ(folders.train[3].mask, at("set/annotations/training/000003.png"));
  LabelMask mask = decode_mask(read_bytes(folders.train[3].mask), "a");
  EXPECT_EQ(mask.labels, draw_scene("training", 3, 48, 0).mask.labels);
  std::ofstream(at("set/images/mine.txt")).flush();
  remove_procedural_set(at("set"));
  EXPECT_TRUE(fs::exists(at("set/images/mine.txt")));
  EXPECT_FALSE(fs::exists(at("set/annotations/training")));
}

TEST_F(SceneSet, WhatIsMissingIsNamed) {
  ASSERT_TRUE(write_procedural_set(at("set"), small(), go_on));
  fs::remove(at("set/annotations/training/000001.png"));
  const SceneFolders folders = read_scene_folders(at("set"));
  EXPECT_EQ(folders.train.size(), 4U);
  ASSERT_EQ(folders.skipped.size(), 1U);
  EXPECT_THAT(folders.skipped[0].reason, HasSubstr("annotations/training/000001.png is not there"));
  std::ofstream(at("set/dataset.json")) << R"({"classes": 300})";
  EXPECT_THROW(read_scene_folders(at("set")), WorkloadError);
  fs::remove(at("set/dataset.json"));
  EXPECT_EQ(read_scene_folders(at("set")).classes, kAde20kClasses);
  try {
    read_scene_folders(at("set/images"));
    FAIL() << "no error";
  } catch (const WorkloadError& error) {
    EXPECT_THAT(error.what(), HasSubstr("no pictures with masks"));
  }
}

TEST(SceneLabels, ZeroIsIgnoredAndTheOthersCountFromZero) {
  LabelMask mask{4, 1, {0, 1, 13, 255}};
  label_classes(mask, 13, "a.png");
  EXPECT_EQ(mask.labels, (std::vector<std::uint8_t>{255, 0, 12, 255}));
  LabelMask beyond{1, 1, {14}};
  try {
    label_classes(beyond, 13, "b.png");
    FAIL() << "no error";
  } catch (const WorkloadError& error) {
    EXPECT_THAT(error.what(), HasSubstr("b.png"));
    EXPECT_THAT(error.cause(), HasSubstr("label 14"));
  }
}

struct Prepared {
  std::vector<float> image;
  std::vector<std::uint8_t> labels;
};

Prepared prepared(const RgbImage& image, const LabelMask& mask, int size, std::int64_t sample) {
  const auto pixels = static_cast<std::size_t>(size) * static_cast<std::size_t>(size);
  Prepared result{std::vector<float>(3 * pixels, std::nanf("")), std::vector<std::uint8_t>(pixels, 77)};
  if (sample < 0) {
    prepare_pair_for_evaluation(image, mask, size, result.image, result.labels);
  } else {
    prepare_pair_for_training(image, mask, size, {sample, 3}, result.image, result.labels);
  }
  return result;
}

// A picture whose left half is black and of class 0, whose right half is white and of class 1: wherever the crop lies,
// and however it is scaled and mirrored, dark pixels must have one label and bright ones the other.
TEST(PreparePair, PictureAndMaskStayTogether) {
  constexpr int kWidth = 60;
  constexpr int kHeight = 40;
  RgbImage image{kWidth, kHeight, {}};
  LabelMask mask{kWidth, kHeight, {}};
  for (int i = 0; i < kWidth * kHeight; ++i) {
    const bool right = i % kWidth >= kWidth / 2;
    image.pixels.insert(image.pixels.end(), 3, right ? 255 : 0);
    mask.labels.push_back(right ? 1 : 0);
  }
  std::set<std::vector<std::uint8_t>> different;
  int ignored = 0;
  for (std::int64_t sample = 0; sample < 60; ++sample) {
    const Prepared pair = prepared(image, mask, 32, sample);
    different.insert(pair.labels);
    int wrong = 0;
    for (std::size_t i = 0; i < pair.labels.size(); ++i) {
      ASSERT_FALSE(std::isnan(pair.image[i]));
      if (pair.labels[i] == 255) {
        ++ignored;
      } else if ((pair.image[i] > 0.0F) != (pair.labels[i] == 1)) {
        ++wrong;
      }
    }
    EXPECT_LE(wrong, 3 * 32) << "beyond the blurred edge, sample " << sample;
    EXPECT_EQ(pair.labels, prepared(image, mask, 32, sample).labels);
    EXPECT_EQ(pair.image, prepared(image, mask, 32, sample).image);
  }
  EXPECT_GT(different.size(), 30U);
  EXPECT_GT(ignored, 0) << "scaled below its size the picture does not fill the crop";
}

TEST(PreparePair, EvaluationShowsTheWholePicture) {
  const RgbImage image = test::gradient(80, 40);
  LabelMask mask{80, 40, std::vector<std::uint8_t>(3200, 4)};
  mask.labels[0] = 2;
  const Prepared pair = prepared(image, mask, 40, -1);  // 40 x 20 of it
  EXPECT_EQ(std::ranges::count(pair.labels, 255), 40 * 20);
  EXPECT_EQ(std::ranges::count(pair.labels, 4) + std::ranges::count(pair.labels, 2), 40 * 20);
  EXPECT_LT(pair.image[0], pair.image[39]);                    // red grows to the right
  EXPECT_NEAR(pair.image[std::size_t{40} * 30], 0.0F, 0.02F);  // below the picture: the mean
  EXPECT_NEAR(pair.image[2 * 1600 + 40 * 30], 0.0F, 0.02F);
}

TEST(DistortColours, KeepsGreyGreyAndDrawsBySample) {
  RgbImage grey{2, 1, {100, 100, 100, 30, 30, 30}};
  std::set<std::vector<std::uint8_t>> different;
  for (std::int64_t sample = 0; sample < 40; ++sample) {
    RgbImage image = grey;
    distort_colours(image, {sample, 1});
    for (std::size_t i = 0; i < 6; i += 3) {
      EXPECT_NEAR(image.pixels[i], image.pixels[i + 1], 1);
      EXPECT_NEAR(image.pixels[i], image.pixels[i + 2], 1);
    }
    different.insert(image.pixels);
  }
  EXPECT_GT(different.size(), 20U);
}

}  // namespace
}  // namespace swinscope
