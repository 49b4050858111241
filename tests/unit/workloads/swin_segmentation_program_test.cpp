// `swin train --task segmentation` as a user runs it: scenes from files, checkpoints, weights of a classifier, ranks.
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/unit/workloads/subprocess.h"
#include "workloads/images/image_files.h"

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
  Arguments command = with("2");
  command.insert(command.begin(), SWINSCOPE_SWIN_PROGRAM);
  Subprocess first(command, test::as_rank(0, 2, folder_.path()), folder_.path(), "first");
  Subprocess second(command, test::as_rank(1, 2, folder_.path()), folder_.path(), "second");
  EXPECT_EQ(second.wait().status, 0);
  const auto together = nlohmann::json::parse(first.wait().out)["data"][0];
  EXPECT_EQ(together["steps_done"], 5);
  EXPECT_NEAR(together["loss_first"].get<double>(), alone["loss_first"].get<double>(), 1e-4);
  EXPECT_NEAR(together["loss_last"].get<double>(), alone["loss_last"].get<double>(), 1e-2);
  EXPECT_NEAR(together["epochs"][0]["validation_loss"].get<double>(),
              alone["epochs"][0]["validation_loss"].get<double>(), 5e-2);
}
#endif

}  // namespace
}  // namespace swinscope
