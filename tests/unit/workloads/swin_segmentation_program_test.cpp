// `swin train --task segmentation` as a user runs it: scenes from files, checkpoints, weights of a classifier, ranks.
#include <algorithm>
#include <array>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/unit/workloads/subprocess.h"
#include "workloads/confusion.h"
#include "workloads/images/image_files.h"
#include "workloads/images/jpeg_encoder.h"
#include "workloads/images/scene_folder.h"
#include "workloads/safetensors.h"

namespace swinscope {
namespace {

using test::Finished;
using test::Subprocess;
using testing::HasSubstr;
using Arguments = std::vector<std::string>;

class SwinSegmentation : public testing::Test {
 protected:
  Finished swin(Arguments arguments) const {
    arguments.insert(arguments.begin(), SWINSCOPE_SWIN_PROGRAM);
    return Subprocess(arguments, test::no_launcher(), folder_.path(), "swin").wait();
  }
  std::array<Finished, 2> swin_on_two_ranks(Arguments arguments) const {
    arguments.insert(arguments.begin(), SWINSCOPE_SWIN_PROGRAM);
    return test::run_two_ranks(arguments, folder_.path());
  }
  std::string at(const std::string& name) const { return (folder_.path() / name).string(); }

  // 20 scenes to learn from and 4 held out.
  void make_scenes() const {
    const Finished made = swin({"make-data", at("set"), "--task", "segmentation", "--images", "24", "--validation",
                                "0.1667", "--size", "32", "--quiet"});
    ASSERT_EQ(made.status, 0) << made.err;
  }
  Arguments train(const Arguments& more) const {
    Arguments arguments = {"train",  "--task",  "segmentation", "--model", "swin_nano", "--image", "32",
                           "--data", at("set"), "--warmup",     "0",       "--threads", "1"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }

  test::TemporaryFolder folder_;
};

TEST_F(SwinSegmentation, LearnsFromScenesAndJudgesTheHeldOutOnes) {
  make_scenes();
  std::ofstream(at("set/annotations/training/000003.png")) << "this is no mask";
  std::filesystem::remove(at("set/annotations/training/000004.png"));
  const Finished finished = swin(train({"--batch", "4", "--epochs", "2", "--json", "--log", at("log")}));
  ASSERT_EQ(finished.status, 0) << finished.err;
  const auto json = nlohmann::json::parse(finished.out);
  EXPECT_EQ(json["run"]["task"], "segmentation");
  EXPECT_EQ(json["run"]["classes"], 13);
  const auto& row = json["data"][0];
  EXPECT_EQ(row["steps_done"], 10);
  EXPECT_EQ(row["files_skipped"], 2);
  EXPECT_LT(row["loss_last"].get<double>(), row["loss_first"].get<double>());
  ASSERT_EQ(row["epochs"].size(), 2U);
  for (const auto& epoch : row["epochs"]) {
    EXPECT_EQ(epoch["validation_images"], 4);
    EXPECT_GE(epoch["validation_mean_iou"].get<double>(), 0.0);
    EXPECT_LE(epoch["validation_mean_iou"].get<double>(), 1.0);
  }
  EXPECT_THAT(finished.err, HasSubstr("mean IoU"));
  EXPECT_THAT(finished.err, HasSubstr("000003.jpg: skipped: its mask "));
  EXPECT_THAT(finished.err, HasSubstr("000004.jpg: skipped: its mask "));
  std::ifstream log(at("log"));
  const std::string lines((std::istreambuf_iterator<char>(log)), std::istreambuf_iterator<char>());
  EXPECT_THAT(lines, HasSubstr("\"validation_mean_iou\""));
  // Of the classes that occur, which the mean is over.
  ASSERT_EQ(row["validation_iou"].size(), 13U);
  double sum = 0.0;
  int occurring = 0;
  for (const auto& iou : row["validation_iou"]) {
    if (iou.is_null()) continue;
    sum += iou.get<double>();
    ++occurring;
  }
  EXPECT_NEAR(sum / occurring, row["epochs"].back()["validation_mean_iou"].get<double>(), 1e-12);
}

TEST_F(SwinSegmentation, SaysTheIouOfEachClass) {
  make_scenes();
  const Finished finished = swin(train({"--batch", "4", "--steps", "5", "--quiet"}));
  ASSERT_EQ(finished.status, 0) << finished.err;
  EXPECT_THAT(finished.out, testing::ContainsRegex("held out: mean IoU [^\n]*\nIoU: class   0 +[0-9.]+ %, class"));
}

// Running statistics included.
TEST_F(SwinSegmentation, GoesOnFromACheckpointToTheBit) {
  make_scenes();
  const auto with = [&](const std::string& folder, const Arguments& more) {
    Arguments arguments = train({"--batch", "4", "--epochs", "12", "--checkpoint", at(folder)});
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  };
  ASSERT_EQ(swin(with("whole", {"--quiet"})).status, 0);
  Arguments command = with("cut", {"--checkpoint-every", "1"});
  command.insert(command.begin(), SWINSCOPE_SWIN_PROGRAM);
  Subprocess cut(command, test::no_launcher(), folder_.path(), "cut");
  cut.wait_for_message("step 7/60");
  ::kill(cut.pid(), SIGKILL);
  ASSERT_EQ(cut.wait().status, 128 + SIGKILL);
  const std::string kept = at("cut/checkpoint.safetensors");
  const Finished resumed = swin(with("cut", {"--resume", "--json"}));
  ASSERT_EQ(resumed.status, 0) << resumed.err;
  EXPECT_GE(nlohmann::json::parse(resumed.out)["data"][0]["resumed_at"], 6);
  EXPECT_EQ(read_bytes(kept), read_bytes(at("whole/checkpoint.safetensors")));
}

TEST_F(SwinSegmentation, StartsFromAClassifiersStages) {
  make_scenes();
  const Finished classifier =
      swin({"train", "--model", "swin_nano", "--image", "32", "--steps", "1", "--quiet", "--checkpoint", at("kept")});
  ASSERT_EQ(classifier.status, 0) << classifier.err;
  const std::string weights = at("kept/checkpoint.safetensors");
  const Finished tuned = swin(train({"--steps", "1", "--weights", weights, "--json", "--checkpoint", at("seg")}));
  ASSERT_EQ(tuned.status, 0) << tuned.err;
  EXPECT_THAT(tuned.err, HasSubstr("without a head for segmentation"));
  // Its own checkpoint is whole.
  const Finished whole = swin(train({"--steps", "1", "--weights", at("seg/checkpoint.safetensors"), "--json"}));
  ASSERT_EQ(whole.status, 0) << whole.err;
  EXPECT_EQ(nlohmann::json::parse(whole.out)["run"]["new_classifier"], false);
}

TEST_F(SwinSegmentation, SyntheticScenesNeedNoFiles) {
  const Finished finished = swin({"train", "--task", "segmentation", "--model", "swinv2_nano", "--image", "32",
                                  "--batch", "2", "--steps", "2", "--json", "--quiet"});
  ASSERT_EQ(finished.status, 0) << finished.err;
  EXPECT_EQ(nlohmann::json::parse(finished.out)["run"]["classes"], 150);
}

// The same first loss and gradients, from the batch that is written beside them.
TEST_F(SwinSegmentation, TapFusionIsTheSameFunction) {
  const auto run = [&](const std::string& file, const Arguments& more) {
    Arguments arguments = {"train",   "--task",      "segmentation", "--model", "swin_nano", "--image", "32",
                           "--batch", "2",           "--steps",      "1",       "--warmup",  "0",       "--json",
                           "-q",      "--gradients", at(file)};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Finished finished = swin(arguments);
    EXPECT_EQ(finished.status, 0) << finished.err;
    return nlohmann::json::parse(finished.out)["data"][0]["loss_first"].get<double>();
  };
  const double plain = run("plain", {});
  EXPECT_NEAR(run("cut", {"--tap-fusion"}), plain, 1e-5 * plain);
  const SafetensorsFile expected(at("plain"));
  const SafetensorsFile gradients(at("cut"));
  const auto values = [](const SafetensorsFile& file, const char* name) {
    const TensorEntry* const entry = file.find(name);
    std::vector<float> read(static_cast<std::size_t>(entry->count));
    file.read<float>(*entry, read);
    return read;
  };
  for (const char* name : {"h.fuse.0.weight", "h.bott.0.weight", "layers.0.blocks.0.mlp.fc1.weight"}) {
    const std::vector<float> a = values(gradients, name);
    const std::vector<float> b = values(expected, name);
    double error = 0.0;
    double size = 0.0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      error += std::pow(a[i] - b[i], 2);
      size += std::pow(b[i], 2);
    }
    EXPECT_GT(size, 0.0) << name;
    EXPECT_LT(std::sqrt(error / size), 1e-3) << name;
  }
  EXPECT_EQ(expected.find("batch.images")->shape, (std::vector<std::int64_t>{2, 3, 32, 32}));
  const std::vector<float> labels = values(expected, "batch.labels");
  EXPECT_EQ(labels.size(), 2U * 32 * 32);
  EXPECT_TRUE(std::ranges::all_of(labels, [](float label) { return label == 255.0F || label < 13.0F; }));
  EXPECT_NE(values(expected, "batch.images"), std::vector<float>(labels.size() * 3));
  EXPECT_EQ(swin({"train", "--model", "swin_nano", "--steps", "1", "--tap-fusion"}).status, 2);
  EXPECT_EQ(swin({"train", "--model", "swin_nano", "--steps", "1", "--head-channels", "8"}).status, 2);
}

class SwinSegmentationInfer : public SwinSegmentation {
 protected:
  // A model that has seen a few scenes. Returns the mean IoU of the held-out ones.
  double train_a_little() const {
    make_scenes();
    const Finished trained = swin(
        train({"--batch", "4", "--epochs", "4", "--head-channels", "32", "--checkpoint", at("kept"), "--json", "-q"}));
    EXPECT_EQ(trained.status, 0) << trained.err;
    return nlohmann::json::parse(trained.out)["data"][0]["epochs"].back()["validation_mean_iou"];
  }
  // The head's channels and the classes are those of the weights.
  Arguments infer(const Arguments& more) const {
    Arguments arguments = {"infer",
                           "--task",
                           "segmentation",
                           "--model",
                           "swin_nano",
                           "--image",
                           "32",
                           "--weights",
                           at("kept/checkpoint.safetensors"),
                           "--images",
                           at("set/images/validation")};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }
  LabelMask mask(const std::string& file) const { return decode_mask(read_bytes(at(file)), file); }
};

// The pictures have the model's size, so that the training judged the same pixels.
TEST_F(SwinSegmentationInfer, WritesMasksAndJudgesThemAsTheTrainingDid) {
  const double expected = train_a_little();
  const Finished finished = swin(
      infer({"--batch", "3", "--annotations", at("set/annotations/validation"), "--output", at("masks"), "--json"}));
  ASSERT_EQ(finished.status, 0) << finished.err;
  const auto json = nlohmann::json::parse(finished.out);
  EXPECT_EQ(json["run"]["task"], "segmentation");
  EXPECT_EQ(json["run"]["classes"], 13);
  const auto& row = json["data"][0];
  EXPECT_EQ(row["files_segmented"], 4);
  EXPECT_NEAR(row["mean_iou"].get<double>(), expected, 1e-12);
  EXPECT_GT(row["images_per_second"].get<double>(), 0.0);
  Confusion confusion(13);
  for (const char* name : {"000000.png", "000001.png", "000002.png", "000003.png"}) {
    LabelMask answer = mask(std::string("masks/") + name);
    LabelMask truth = mask(std::string("set/annotations/validation/") + name);
    ASSERT_EQ(answer.width, 32);
    ASSERT_EQ(answer.height, 32);
    EXPECT_TRUE(std::ranges::none_of(answer.labels, [](std::uint8_t label) { return label == 0; }));
    label_classes(answer, 13, name);
    label_classes(truth, 13, name);
    confusion.add(truth.labels, answer.labels);
  }
  EXPECT_NEAR(confusion.mean_iou(), expected, 1e-12);
  EXPECT_NEAR(confusion.pixel_accuracy(), row["accuracy"].get<double>(), 1e-12);
  EXPECT_EQ(row["iou"].size(), 13U);
  EXPECT_EQ(swin(infer({"--head-channels", "16"})).status, 3);  // other ones than the weights'
  EXPECT_EQ(swin(infer({"--output", at("masks")})).status, 2);  // nothing is written over
  for (const Arguments& more : {Arguments{"--tap-fusion"}, Arguments{"--precision", "fp64"}}) {
    Arguments arguments = infer({"--annotations", at("set/annotations/validation"), "--json"});
    arguments.insert(arguments.end(), more.begin(), more.end());
    const auto other = nlohmann::json::parse(swin(arguments).out)["data"][0];
    EXPECT_NEAR(other["accuracy"].get<double>(), row["accuracy"].get<double>(), 2e-3) << more[0];
  }
}

// A mask has its picture's size, whatever the model's is; what cannot be read costs itself.
TEST_F(SwinSegmentationInfer, PicturesOfAnySizeAndDamagedOnes) {
  train_a_little();
  RgbImage wide{50, 20, {}};
  for (int i = 0; i < 50 * 20 * 3; ++i)
    wide.pixels.push_back(static_cast<std::uint8_t>(i % 251));
  const std::vector<std::uint8_t> jpeg = encode_jpeg(wide, 90);
  std::filesystem::create_directories(at("set/images/validation/below"));
  std::ofstream(at("set/images/validation/below/wide.jpg"), std::ios::binary)
      .write(reinterpret_cast<const char*>(jpeg.data()), static_cast<std::streamsize>(jpeg.size()));
  std::ofstream(at("set/images/validation/broken.jpg")) << "this is no picture";
  const Finished finished = swin(infer({"--output", at("masks")}));
  EXPECT_EQ(finished.status, 3);
  EXPECT_THAT(finished.err, HasSubstr("broken.jpg: skipped: Not a JPEG file"));
  EXPECT_THAT(finished.err, HasSubstr("5 files segmented, 1 skipped"));
  EXPECT_THAT(finished.out, HasSubstr("wide.jpg  50 x 20  class "));
  const LabelMask answer = mask("masks/below/wide.png");
  EXPECT_EQ(answer.width, 50);
  EXPECT_EQ(answer.height, 20);
  // With --annotations, a picture without a mask is one that cannot be read.
  const Finished judged = swin(infer({"--annotations", at("set/annotations/validation")}));
  EXPECT_EQ(judged.status, 3);
  EXPECT_THAT(judged.err, HasSubstr("wide.jpg: skipped: its mask "));
  EXPECT_THAT(judged.out, HasSubstr("mean IoU "));
  EXPECT_THAT(judged.out, HasSubstr("of the pixels of 4 pictures"));
}

TEST_F(SwinSegmentationInfer, SyntheticScenesAreMeasured) {
  const Arguments synthetic = {"infer",   "--task", "segmentation", "--model", "swinv2_nano", "--image", "32",
                               "--batch", "2",      "--steps",      "2",       "--json"};
  const Finished finished = swin(synthetic);
  ASSERT_EQ(finished.status, 0) << finished.err;
  const auto json = nlohmann::json::parse(finished.out);
  EXPECT_EQ(json["run"]["classes"], 150);
  EXPECT_GT(json["data"][0]["images_per_second"].get<double>(), 0.0);
  for (const Arguments& more : {Arguments{"--output", at("masks")}, Arguments{"--annotations", at("set")},
                                Arguments{"--operations"}, Arguments{"--device", "cuda", "--gelu", "sigmoid"}}) {
    Arguments arguments = synthetic;
    arguments.insert(arguments.end(), more.begin(), more.end());
    EXPECT_EQ(swin(arguments).status, 2) << more[0];
  }
  EXPECT_EQ(swin({"infer", "--model", "swin_nano", "--tap-fusion"}).status, 2);
}

// Without CUDA parts or without a GPU; the device's part of the program is tested in host memory
// (device_scenes_test.cpp).
TEST_F(SwinSegmentationInfer, SaysWhatToDoWhereThereIsNoGpu) {
  const Finished finished = swin({"infer", "--task", "segmentation", "--model", "swin_nano", "--image", "32", "--steps",
                                  "1", "--device", "cuda", "--level", "eager"});
  if (finished.status == 0) GTEST_SKIP() << "a GPU answers";
  EXPECT_THAT(finished.err, HasSubstr("--device cuda: "));
  EXPECT_THAT(finished.err, testing::ContainsRegex("hint: .*--device cpu (works|runs)"));
}

TEST_F(SwinSegmentation, WhatOnlyClassificationHasIsRefused) {
  make_scenes();
  for (const Arguments& more :
       {Arguments{"--precision", "fp64"}, Arguments{"--crop-area", "0.5"}, Arguments{"--label-smoothing", "0.1"},
        Arguments{"--accumulate", "2"}, Arguments{"--device", "cuda"}}) {
    const Finished refused = swin(train(more));
    EXPECT_EQ(refused.status, 2) << more[0] << ": " << refused.err;
  }
  const Finished classified = swin({"train", "--model", "swin_nano", "--data", at("set")});
  EXPECT_EQ(classified.status, 3);
  EXPECT_THAT(classified.err, HasSubstr("a set for segmentation"));
}

#ifdef SWINSCOPE_HAVE_GLOO
// Each rank normalizes over the pixels of both.
TEST_F(SwinSegmentation, TwoRanksLearnTheSameAsOne) {
  make_scenes();
  const Arguments common = train({"--epochs", "1", "--json", "--quiet"});
  const auto with = [&](const std::string& batch) {
    Arguments arguments = common;
    arguments.insert(arguments.end(), {"--batch", batch});
    return arguments;
  };
  const auto alone = nlohmann::json::parse(swin(with("4")).out)["data"][0];
  const auto [first, second] = swin_on_two_ranks(with("2"));
  EXPECT_EQ(second.status, 0) << second.err;
  const auto together = nlohmann::json::parse(first.out)["data"][0];
  EXPECT_EQ(together["steps_done"], 5);
  EXPECT_NEAR(together["loss_first"].get<double>(), alone["loss_first"].get<double>(), 1e-4);
  EXPECT_NEAR(together["loss_last"].get<double>(), alone["loss_last"].get<double>(), 1e-2);
  EXPECT_NEAR(together["epochs"][0]["validation_loss"].get<double>(),
              alone["epochs"][0]["validation_loss"].get<double>(), 5e-2);
}

// Each rank lists the folder; it does not take two to say so. Torn masks are each for the rank that reads them.
TEST_F(SwinSegmentation, TheFirstOfSeveralRanksTellsWhatTheListingSkipped) {
  make_scenes();
  std::ofstream(at("set/annotations/training/000003.png")) << "this is no mask";
  std::filesystem::remove(at("set/annotations/training/000004.png"));
  const auto [first, second] = swin_on_two_ranks(train({"--batch", "2", "--epochs", "1", "--json"}));
  ASSERT_EQ(first.status, 0) << first.err;
  ASSERT_EQ(second.status, 0) << second.err;
  EXPECT_THAT(first.err, HasSubstr("000004.jpg: skipped: its mask "));
  EXPECT_THAT(second.err, testing::Not(HasSubstr("000004.jpg: skipped")));
  EXPECT_THAT(first.err + second.err, HasSubstr("000003.jpg: skipped: its mask "));
  EXPECT_EQ(nlohmann::json::parse(first.out)["data"][0]["files_skipped"], 2);
}
#endif

}  // namespace
}  // namespace swinscope
