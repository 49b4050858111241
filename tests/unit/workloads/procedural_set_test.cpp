// The procedural set: the same bytes however it is made, what is refused, and that pixels alone say little of a class.
#include "workloads/images/procedural_set.h"

#include <fstream>
#include <map>
#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/workloads/jpeg_files.h"
#include "tests/unit/workloads/subprocess.h"
#include "workloads/data/linear_probe.h"
#include "workloads/error.h"
#include "workloads/images/image_folder.h"
#include "workloads/images/jpeg_encoder.h"
#include "workloads/images/procedural.h"

namespace swinscope {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

class ProceduralSet : public testing::Test {
 protected:
  fs::path at(const std::string& name) const { return folder_.path() / name; }
  static std::map<std::string, std::vector<std::uint8_t>> contents(const fs::path& folder) {
    std::map<std::string, std::vector<std::uint8_t>> files;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
      if (entry.is_regular_file()) files[fs::relative(entry.path(), folder).string()] = read_bytes(entry.path());
    }
    return files;
  }
  static ProceduralSetOptions small() {
    ProceduralSetOptions options;
    options.train_images = 50;
    options.validation_images = 26;
    options.size = 48;
    return options;
  }

  test::TemporaryFolder folder_;
};

bool go_on(std::int64_t /*done*/) { return true; }

TEST_F(ProceduralSet, TheSameOptionsGiveTheSameBytesWhateverTheThreads) {
  ProceduralSetOptions options = small();
  EXPECT_TRUE(write_procedural_set(at("one"), options, go_on));
  options.threads = 3;
  EXPECT_TRUE(write_procedural_set(at("three"), options, go_on));
  const auto one = contents(at("one"));
  EXPECT_EQ(one.size(), 50U + 26U + 1U);
  EXPECT_EQ(one, contents(at("three")));
  EXPECT_TRUE(one.contains("train/disc-plain/000024.jpg"));
  EXPECT_TRUE(one.contains("val/cross-dots/000023.jpg"));
  EXPECT_NE(one.at("train/disc-plain/000000.jpg"), one.at("val/disc-plain/000000.jpg"));
  options.seed = 1;
  EXPECT_TRUE(write_procedural_set(at("other"), options, go_on));
  EXPECT_NE(one.at("train/disc-plain/000000.jpg"), contents(at("other")).at("train/disc-plain/000000.jpg"));
}

TEST_F(ProceduralSet, ItIsKnownWhetherASetIsWholeAndWhose) {
  const ProceduralSetOptions options = small();
  EXPECT_EQ(look_at_procedural_set(at("set"), options), ProceduralSetState::kNone);
  EXPECT_TRUE(write_procedural_set(at("set"), options, go_on));
  EXPECT_EQ(look_at_procedural_set(at("set"), options), ProceduralSetState::kComplete);
  ProceduralSetOptions other = options;
  other.quality = 50;
  EXPECT_EQ(look_at_procedural_set(at("set"), other), ProceduralSetState::kOther);
  std::ofstream(at("set/train/mine.txt")).flush();
  remove_procedural_set(at("set"));
  EXPECT_EQ(contents(at("set")).size(), 1U);  // what is not ours stays
  EXPECT_EQ(look_at_procedural_set(at("set"), options), ProceduralSetState::kForeign);
}

TEST_F(ProceduralSet, AnInterruptedSetIsNotTakenForWhole) {
  ProceduralSetOptions options = small();
  options.train_images = 300;
  EXPECT_FALSE(write_procedural_set(at("set"), options, [](std::int64_t) { return false; }));
  EXPECT_EQ(look_at_procedural_set(at("set"), options), ProceduralSetState::kOther);
}

TEST_F(ProceduralSet, AFileThatCannotBeWrittenIsNamed) {
  const ProceduralSetOptions options = small();
  fs::create_directories(at("set/train/star-plain/000012.jpg"));
  try {
    write_procedural_set(at("set"), options, go_on);
    FAIL() << "no error";
  } catch (const WorkloadError& error) {
    EXPECT_EQ(error.kind(), WorkloadErrorKind::kFailure);
    EXPECT_THAT(error.what(), HasSubstr("star-plain/000012.jpg: cannot be written"));
  }
}

TEST(Procedural, ClassesHaveNamesAndPicturesOfTheirOwn) {
  std::set<std::string> names;
  for (int label = 0; label < kProceduralClasses; ++label)
    names.insert(procedural_class_name(label));
  EXPECT_EQ(names.size(), 24U);
  EXPECT_EQ(procedural_class_name(0), "disc-plain");
  EXPECT_EQ(procedural_class_name(23), "cross-dots");
  // One number, two classes: the same scene with another shape or surface in it.
  const RgbImage plain = draw_procedural("train", 3, 0, 64, 0);
  const RgbImage dots = draw_procedural("train", 3, 3, 64, 0);
  std::size_t same = 0;
  for (std::size_t i = 0; i < plain.pixels.size(); ++i)
    same += plain.pixels[i] == dots.pixels[i] ? 1U : 0U;
  EXPECT_GT(same, plain.pixels.size() / 2);  // the background
  EXPECT_LT(same, plain.pixels.size());
  EXPECT_EQ(plain.pixels, draw_procedural("train", 3, 0, 64, 0).pixels);
}

// Far fewer pictures than the real set has, but also far fewer to learn a wrong rule from.
TEST_F(ProceduralSet, ALinearModelOnPixelsReachesLittle) {
  ProceduralSetOptions options = small();
  options.train_images = std::int64_t{40} * kProceduralClasses;
  options.validation_images = std::int64_t{20} * kProceduralClasses;
  options.threads = 2;
  ASSERT_TRUE(write_procedural_set(at("set"), options, go_on));
  const ImageFolders folders = read_train_and_validation(at("set"));
  const ProbeResult result =
      run_linear_probe(load_probe_data(folders.train), load_probe_data(folders.validation), kProceduralClasses);
  EXPECT_LE(result.held_out_accuracy, 0.3);
  EXPECT_NEAR(result.chance, 1.0 / kProceduralClasses, 1e-9);
}

// Colours that tell the class: the probe finds that. A damaged file costs itself only.
TEST_F(ProceduralSet, TheProbeLearnsWhatIsLinear) {
  for (const std::string part : {"train", "val"}) {
    for (int label = 0; label < 4; ++label) {
      const fs::path folder = at("set") / part / std::to_string(label);
      fs::create_directories(folder);
      for (int i = 0; i < 20; ++i) {
        RgbImage image = draw_procedural(part, 20 * label + i, i, 48, 7);
        for (std::size_t at = 0; at < image.pixels.size(); at += 3) {
          image.pixels[at] = static_cast<std::uint8_t>(label % 2 * 80 + image.pixels[at] / 2);
          image.pixels[at + 1] = static_cast<std::uint8_t>(label / 2 * 80 + image.pixels[at + 1] / 2);
        }
        test::write_bytes(folder / (std::to_string(i) + ".jpg"), encode_jpeg(image, 90));
      }
    }
  }
  std::ofstream(at("set/train/2/20.jpg")) << "no picture";
  const ImageFolders folders = read_train_and_validation(at("set"));
  const ProbeData train = load_probe_data(folders.train);
  EXPECT_EQ(train.labels.size(), 80U);
  ASSERT_EQ(train.skipped.size(), 1U);
  EXPECT_EQ(train.skipped[0].path, at("set/train/2/20.jpg"));
  ProbeOptions options;
  options.batch = 16;
  EXPECT_GE(run_linear_probe(train, load_probe_data(folders.validation), 4, options).held_out_accuracy, 0.9);
  EXPECT_THROW(run_linear_probe(train, {}, 4), WorkloadError);
}

class ImageFolderTest : public ProceduralSet {
 protected:
  void add(const std::string& name) const {
    fs::create_directories(at(name).parent_path());
    std::ofstream(at(name)).flush();
  }
  template <typename Call>
  static std::string error_of(const Call& call) {
    try {
      call();
    } catch (const WorkloadError& error) {
      EXPECT_EQ(error.kind(), WorkloadErrorKind::kInput);
      return std::string(error.what()) + "; " + error.cause();
    }
    return "no error";
  }
};

TEST_F(ImageFolderTest, ClassesAreFoldersByName) {
  add("set/train/dog/b.jpg");
  add("set/train/dog/deep/a.jpeg");
  add("set/train/cat/1.jpg");
  add("set/train/empty/readme.txt");
  add("set/val/dog/c.jpg");
  const ImageFolders folders = read_train_and_validation(at("set"));
  EXPECT_EQ(folders.train.classes, (std::vector<std::string>{"cat", "dog"}));
  ASSERT_EQ(folders.train.files.size(), 3U);
  EXPECT_EQ(folders.train.files[0].file, at("set/train/cat/1.jpg"));
  EXPECT_EQ(folders.train.files[1].label, 1);
  // The only class there is, but not the first one of the training part.
  ASSERT_EQ(folders.validation.files.size(), 1U);
  EXPECT_EQ(folders.validation.files[0].label, 1);
  EXPECT_EQ(read_train_and_validation(at("set/train")).train.files.size(), 3U);
  EXPECT_TRUE(read_train_and_validation(at("set/train")).validation.files.empty());
}

TEST_F(ImageFolderTest, MistakesAreExplained) {
  EXPECT_THAT(error_of([&] { read_image_folder(at("nowhere")); }), HasSubstr("nowhere: cannot be read; No such file"));
  add("flat/a.jpg");
  EXPECT_THAT(error_of([&] { read_image_folder(at("flat")); }), HasSubstr("flat: no labelled pictures"));
  add("set/train/cat/1.jpg");
  add("set/val/dog/1.jpg");
  EXPECT_THAT(error_of([&] { read_train_and_validation(at("set")); }),
              HasSubstr("val/dog: a class that the training part has not"));
}

}  // namespace
}  // namespace swinscope
