// Batches from files: the same whatever the threads, each file once an epoch, damaged files replaced, no batch lost.
#include "workloads/data/image_pipeline.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <set>
#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/workloads/jpeg_files.h"
#include "tests/unit/workloads/subprocess.h"
#include "workloads/data/sample_order.h"
#include "workloads/error.h"
#include "workloads/images/prepare.h"
#include "workloads/images/procedural.h"

namespace swinscope {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

constexpr int kSize = 16;
constexpr std::size_t kElements = std::size_t{3} * kSize * kSize;

TEST(SampleOrder, EveryEpochIsAPermutationOfItsOwn) {
  for (const std::int64_t size : {1, 2, 5, 64, 1000}) {
    const SampleOrder order(size, true, 9);
    std::vector<std::vector<std::int64_t>> epochs;
    for (std::int64_t epoch = 0; epoch < 3; ++epoch) {
      std::set<std::int64_t> seen;
      epochs.emplace_back();
      for (std::int64_t position = 0; position < size; ++position) {
        epochs.back().push_back(order.file(epoch, position));
        seen.insert(epochs.back().back());
      }
      EXPECT_EQ(seen.size(), static_cast<std::size_t>(size));
      EXPECT_EQ(*seen.begin(), 0);
      EXPECT_EQ(*seen.rbegin(), size - 1);
    }
    if (size < 64) continue;
    EXPECT_NE(epochs[0], epochs[1]);
    const SampleOrder other(size, true, 10);
    std::int64_t at_the_same_place = 0;  // 1 is to be expected
    for (std::int64_t position = 0; position < size; ++position)
      at_the_same_place += other.file(0, position) == epochs[0][static_cast<std::size_t>(position)] ? 1 : 0;
    EXPECT_LT(at_the_same_place, 8);
    // Neighbours do not stay neighbours: of a random order about 2 pairs would.
    int neighbours = 0;
    for (std::size_t i = 1; i < epochs[0].size(); ++i)
      neighbours += std::abs(epochs[0][i] - epochs[0][i - 1]) == 1 ? 1 : 0;
    EXPECT_LT(neighbours, 12);
  }
  EXPECT_EQ(SampleOrder(10, false, 1).file(3, 7), 7);
  EXPECT_THROW(SampleOrder(0, true, 1), std::invalid_argument);
}

TEST(RandomCrop, LiesInThePictureAndHasTheWantedArea) {
  double least = 1.0;
  double most = 0.0;
  int mirrored = 0;
  for (std::int64_t sample = 0; sample < 500; ++sample) {
    const RandomCrop crop = draw_crop(120, 80, {sample, 1, 0.25});
    EXPECT_GE(crop.box.x, 0);
    EXPECT_GE(crop.box.y, 0);
    EXPECT_LE(crop.box.x + crop.box.width, 120);
    EXPECT_LE(crop.box.y + crop.box.height, 80);
    const double ratio = static_cast<double>(crop.box.width) / crop.box.height;
    EXPECT_GT(ratio, 0.72);
    EXPECT_LT(ratio, 1.39);
    const double share = crop.box.width * crop.box.height / (120.0 * 80.0);
    least = std::min(least, share);
    most = std::max(most, share);
    mirrored += crop.mirrored ? 1 : 0;
  }
  EXPECT_NEAR(least, 0.25, 0.02);
  EXPECT_GT(most, 0.8);
  EXPECT_NEAR(mirrored, 250, 60);
  // Nothing of the wanted shape fits: the middle.
  const RandomCrop middle = draw_crop(3, 600, {1, 1, 0.9});
  EXPECT_EQ(middle.box.width, 3);
  EXPECT_EQ(middle.box.height, 4);
  EXPECT_EQ(middle.box.y, 298);
}

class Pipeline : public testing::Test {
 protected:
  // `count` pictures in three classes.
  ImageFolder make_folder(int count) const {
    for (int i = 0; i < count; ++i) {
      const fs::path folder = folder_.path() / std::to_string(i % 3);
      fs::create_directories(folder);
      test::write_jpeg(folder / (std::to_string(100 + i) + ".jpg"), draw_procedural("train", i, i % 24, 40, 3));
    }
    return read_image_folder(folder_.path());
  }
  static PipelineOptions small() {
    PipelineOptions options;
    options.image_size = kSize;
    options.batch = 4;
    options.stride = 4;
    options.seed = 5;
    return options;
  }

  struct Samples {
    std::vector<float> images;
    std::vector<std::int32_t> labels;
    bool operator==(const Samples&) const = default;
  };
  static Samples take(ImagePipeline& pipeline, int batches, std::int64_t batch = 4) {
    Samples all;
    for (int i = 0; i < batches; ++i) {
      const ImagePipeline::Batch one = pipeline.next();
      all.images.insert(all.images.end(), one.images, one.images + static_cast<std::size_t>(batch) * kElements);
      all.labels.insert(all.labels.end(), one.labels, one.labels + batch);
    }
    return all;
  }

  test::TemporaryFolder folder_;
};

TEST_F(Pipeline, GivesTheSameForAnyNumberOfThreads) {
  const ImageFolder folder = make_folder(11);
  std::vector<Samples> results;
  for (const int workers : {1, 2, 5}) {
    PipelineOptions options = small();
    options.workers = workers;
    options.batches_ahead = workers;
    ImagePipeline pipeline(folder, options);
    results.push_back(take(pipeline, 9));  // three epochs and a bit
  }
  EXPECT_EQ(results[0], results[1]);
  EXPECT_EQ(results[0], results[2]);
  for (const float value : results[0].images)
    ASSERT_TRUE(std::isfinite(value));
}

// Two ranks, or a start in the middle, take what one rank from the start would.
TEST_F(Pipeline, RanksAndResumesContinueTheSameSequence) {
  const ImageFolder folder = make_folder(10);
  ImagePipeline alone(folder, small());
  const Samples expected = take(alone, 6);
  PipelineOptions options = small();
  options.batch = 2;
  for (const std::int64_t rank : {0, 1}) {
    options.first = 8 + 2 * rank;  // behind two batches of four
    ImagePipeline part(folder, options);
    const Samples got = take(part, 4, 2);
    for (std::size_t i = 0; i < 8; ++i) {
      const std::size_t sample = 8 + i / 2 * 4 + 2 * static_cast<std::size_t>(rank) + i % 2;
      EXPECT_EQ(got.labels[i], expected.labels[sample]);
      EXPECT_TRUE(std::equal(got.images.begin() + static_cast<std::ptrdiff_t>(i * kElements),
                             got.images.begin() + static_cast<std::ptrdiff_t>((i + 1) * kElements),
                             expected.images.begin() + static_cast<std::ptrdiff_t>(sample * kElements)));
    }
  }
}

TEST_F(Pipeline, EachEpochHasEveryFileOnceAndCropsOfItsOwn) {
  const ImageFolder folder = make_folder(12);
  ImagePipeline pipeline(folder, small());
  const Samples first = take(pipeline, 3);
  const Samples second = take(pipeline, 3);
  for (const Samples* epoch : {&first, &second}) {
    for (const int label : {0, 1, 2})
      EXPECT_EQ(std::ranges::count(epoch->labels, label), 4);
  }
  EXPECT_NE(first.labels, second.labels);
  EXPECT_NE(first.images, second.images);
}

TEST_F(Pipeline, ADamagedFileIsReplacedByTheNextAndCountedOnce) {
  make_folder(12);
  std::ofstream(folder_.path() / "1" / "104.jpg") << "no picture";
  const ImageFolder folder = read_image_folder(folder_.path());
  std::vector<Samples> results;
  for (const int workers : {1, 4}) {
    PipelineOptions options = small();
    options.workers = workers;
    ImagePipeline pipeline(folder, options);
    results.push_back(take(pipeline, 9));
    const std::vector<SkippedPath> skipped = pipeline.skipped();
    ASSERT_EQ(skipped.size(), 1U);
    EXPECT_EQ(skipped[0].path, folder_.path() / "1" / "104.jpg");
    EXPECT_THAT(skipped[0].reason, HasSubstr("Not a JPEG"));
  }
  EXPECT_EQ(results[0], results[1]);
  EXPECT_EQ(std::ranges::count(results[0].labels, -1), 0);
}

TEST_F(Pipeline, ASetWithoutAReadableFileIsAnErrorNotAHang) {
  make_folder(5);
  for (const auto& entry : fs::recursive_directory_iterator(folder_.path())) {
    if (entry.is_regular_file()) fs::resize_file(entry.path(), 20);
  }
  ImagePipeline pipeline(read_image_folder(folder_.path()), small());
  try {
    pipeline.next();
    FAIL() << "no error";
  } catch (const WorkloadError& error) {
    EXPECT_EQ(error.kind(), WorkloadErrorKind::kInput);
    EXPECT_THAT(error.what(), HasSubstr("none of 5 pictures in a row can be read"));
  }
  EXPECT_THROW(pipeline.next(), WorkloadError);
  EXPECT_THROW(ImagePipeline({}, small()), WorkloadError);
}

TEST_F(Pipeline, EvaluationGoesThroughAllFilesOnceInOrder) {
  make_folder(6);
  std::ofstream(folder_.path() / "1" / "104.jpg") << "no picture";
  const ImageFolder folder = read_image_folder(folder_.path());
  PipelineOptions options = small();
  options.training = false;
  ImagePipeline pipeline(folder, options);
  const Samples samples = take(pipeline, 2);
  EXPECT_EQ(samples.labels, (std::vector<std::int32_t>{0, 0, 1, -1, 2, 2, -1, -1}));
  std::vector<float> expected(kElements);
  prepare_for_evaluation(read_bytes(folder.files[4].file), "", kSize, expected);
  EXPECT_TRUE(std::equal(expected.begin(), expected.end(), samples.images.begin() + 4 * kElements));
}

TEST_F(Pipeline, LoadCopiesTheNextBatchAndRefusesAnother) {
  const ImageFolder folder = make_folder(8);
  ImagePipeline reference(folder, small());
  const Samples expected = take(reference, 2);
  ImagePipeline pipeline(folder, small());
  std::vector<float> images(4 * kElements, std::numeric_limits<float>::quiet_NaN());
  std::vector<double> doubles(images.size());
  std::vector<std::int32_t> labels(4);
  pipeline.load(0, images, labels);
  EXPECT_TRUE(std::equal(images.begin(), images.end(), expected.images.begin()));
  pipeline.load(4, doubles, labels);
  EXPECT_TRUE(std::equal(doubles.begin(), doubles.end(), expected.images.begin() + 4 * kElements));
  EXPECT_TRUE(std::equal(labels.begin(), labels.end(), expected.labels.begin() + 4));
  EXPECT_THROW(pipeline.load(16, images, labels), std::logic_error);
}

// The end may come at any moment, also while threads work.
TEST_F(Pipeline, CanBeLeftAtAnyTime) {
  const ImageFolder folder = make_folder(8);
  for (int batches = 0; batches < 20; ++batches) {
    PipelineOptions options = small();
    options.workers = 3;
    ImagePipeline pipeline(folder, options);
    take(pipeline, batches % 5);
  }
}

}  // namespace
}  // namespace swinscope
