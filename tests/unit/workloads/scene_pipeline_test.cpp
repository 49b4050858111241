// Pictures with a label for each pixel, from files to batches.
#include "workloads/data/scene_pipeline.h"

#include <algorithm>
#include <fstream>
#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/workloads/subprocess.h"
#include "workloads/error.h"
#include "workloads/images/procedural.h"
#include "workloads/images/procedural_set.h"

namespace swinscope {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

constexpr int kSize = 32;
constexpr std::size_t kPixels = std::size_t{kSize} * kSize;
constexpr std::size_t kBatch = 4;

class ScenePipelineTest : public testing::Test {
 protected:
  void SetUp() override {
    ProceduralSetOptions options;
    options.scenes = true;
    options.train_images = 10;
    options.validation_images = 3;
    options.size = 40;
    ASSERT_TRUE(write_procedural_set(folder_.path() / "set", options, [](std::int64_t) { return true; }));
  }
  SceneFolders folders() const { return read_scene_folders(folder_.path() / "set"); }
  static PipelineOptions options(int workers, bool training = true) {
    PipelineOptions options;
    options.image_size = kSize;
    options.batch = kBatch;
    options.stride = kBatch;
    options.workers = workers;
    options.training = training;
    options.seed = 5;
    return options;
  }
  static std::vector<std::uint8_t> labels(ScenePipeline& pipeline, int batches) {
    std::vector<std::uint8_t> all;
    for (int i = 0; i < batches; ++i) {
      const ScenePipeline::Batch batch = pipeline.next();
      all.insert(all.end(), batch.labels, batch.labels + kBatch * kPixels);
      EXPECT_TRUE(std::all_of(batch.images, batch.images + kBatch * 3 * kPixels,
                              [](float value) { return value > -3.0F && value < 3.0F; }));
    }
    return all;
  }

  test::TemporaryFolder folder_;
};

TEST_F(ScenePipelineTest, GivesTheSameSamplesWithAnyNumberOfThreads) {
  ScenePipeline one(folders().train, {}, kSceneClasses, options(1));
  ScenePipeline three(folders().train, {}, kSceneClasses, options(3));
  const auto expected = labels(one, 6);  // two epochs and a bit
  EXPECT_EQ(labels(three, 6), expected);
  EXPECT_TRUE(one.skipped().empty());
  EXPECT_TRUE(std::ranges::all_of(expected, [](std::uint8_t label) { return label == 255 || label < kSceneClasses; }));
  EXPECT_TRUE(std::ranges::any_of(expected, [](std::uint8_t label) { return label > 0 && label != 255; }));
}

TEST_F(ScenePipelineTest, WhatLiesBehindTheLastFileHasNoLabels) {
  ScenePipeline pipeline(folders().validation, {}, kSceneClasses, options(2, false));
  const auto all = labels(pipeline, 1);
  const auto ignored = [&](std::size_t sample) {
    return std::count(all.begin() + static_cast<std::ptrdiff_t>(sample * kPixels),
                      all.begin() + static_cast<std::ptrdiff_t>((sample + 1) * kPixels), 255);
  };
  EXPECT_LT(ignored(2), static_cast<std::ptrdiff_t>(kPixels));
  EXPECT_EQ(ignored(3), static_cast<std::ptrdiff_t>(kPixels));
}

TEST_F(ScenePipelineTest, DamagedFilesCostThemselvesAndAreNamed) {
  const SceneFolders set = folders();
  std::ofstream(set.train[0].mask) << "this is no mask";
  fs::copy_file(set.validation[0].mask, set.train[1].mask, fs::copy_options::overwrite_existing);
  std::ofstream(set.train[2].image) << "no picture";
  fs::remove(set.train[3].mask);
  const LabelMask small{8, 8, std::vector<std::uint8_t>(64, 1)};
  const std::vector<std::uint8_t> png = encode_mask(small);
  std::ofstream(set.train[4].mask, std::ios::binary)
      .write(reinterpret_cast<const char*>(png.data()), static_cast<std::streamsize>(png.size()));
  ScenePipeline pipeline(set.train, {}, kSceneClasses, options(1));
  labels(pipeline, 4);
  std::string said;
  for (const SkippedPath& skipped : pipeline.skipped())
    said += skipped.path.filename().string() + ": " + skipped.reason + "\n";
  EXPECT_EQ(pipeline.skipped().size(), 4U) << said;
  EXPECT_THAT(said, HasSubstr("000000.jpg: its mask "));
  EXPECT_THAT(said, HasSubstr("Not a PNG file"));
  EXPECT_THAT(said, HasSubstr("000002.jpg: Not a JPEG file"));
  EXPECT_THAT(said, HasSubstr("has 8 x 8 pixels, the picture 40 x 40"));
}

// Sets are often links to where the files are; masks are found by the links' names.
TEST_F(ScenePipelineTest, PicturesMayBeLinks) {
  const SceneFolders set = folders();
  const fs::path elsewhere = folder_.path() / "elsewhere.jpg";
  fs::rename(set.train[0].image, elsewhere);
  fs::create_symlink(elsewhere, set.train[0].image);
  const SceneFolders linked = folders();
  EXPECT_EQ(linked.train.size(), set.train.size());
  EXPECT_EQ(linked.train[0].mask, set.train[0].mask);
  EXPECT_TRUE(linked.skipped.empty());
}

TEST_F(ScenePipelineTest, SamplesComeInOrder) {
  ScenePipeline pipeline(folders().train, {}, kSceneClasses, options(1));
  std::vector<float> images(kBatch * 3 * kPixels);
  std::vector<std::uint8_t> masks(kBatch * kPixels);
  pipeline.load(0, images, masks);
  EXPECT_THROW(pipeline.load(8, images, masks), std::logic_error);
  pipeline.load(4, images, masks);
  EXPECT_THROW(ScenePipeline({}, {}, kSceneClasses, options(1)), WorkloadError);
}

}  // namespace
}  // namespace swinscope
