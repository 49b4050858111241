// `swin make-data` and `swin train` on files as a user runs them: validation, damaged files, checkpoints and their
// ends.
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/unit/workloads/subprocess.h"
#include "workloads/checkpoint.h"
#include "workloads/images/image_files.h"
#include "workloads/safetensors.h"

namespace swinscope {
namespace {

using test::Finished;
using test::Subprocess;
using testing::HasSubstr;
namespace fs = std::filesystem;

class SwinTrain : public testing::Test {
 protected:
  Finished run(const std::vector<std::string>& command) const {
    return Subprocess(command, test::no_launcher(), folder_.path(), "swin").wait();
  }
  Finished swin(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), SWINSCOPE_SWIN_PROGRAM);
    return run(arguments);
  }
  std::array<Finished, 2> swin_on_two_ranks(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), SWINSCOPE_SWIN_PROGRAM);
    return test::run_two_ranks(arguments, folder_.path());
  }
  std::string at(const std::string& name) const { return (folder_.path() / name).string(); }

  // 48 pictures to learn from and 24 held out.
  void make_data() const {
    const Finished made = swin({"make-data", at("set"), "--images", "72", "--validation", "0.3333", "--size", "40",
                                "--threads", "2", "--quiet"});
    ASSERT_EQ(made.status, 0) << made.err;
  }
  std::vector<std::string> train(const std::vector<std::string>& more) const {
    std::vector<std::string> arguments = {"train",  "--model",   "swin_nano", "--image", "32",
                                          "--data", at("set"),   "--batch",   "4",       "--warmup",
                                          "0",      "--threads", "1"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }
  std::vector<std::uint8_t> checkpoint(const std::string& folder) const {
    return read_bytes(at(folder + "/checkpoint.safetensors"));
  }

  test::TemporaryFolder folder_;
};

TEST_F(SwinTrain, MakeDataWritesASetOnceAndProbesIt) {
  const std::vector<std::string> arguments = {"make-data", at("set"), "--images",  "96", "--validation", "0.5",
                                              "--size",    "32",      "--threads", "2",  "--probe",      "--json"};
  const Finished first = swin(arguments);
  ASSERT_EQ(first.status, 0) << first.err;
  const auto json = nlohmann::json::parse(first.out);
  EXPECT_EQ(json["schema"], "swin.make-data/1");
  EXPECT_EQ(json["data"][0]["train_images"], 48);
  EXPECT_EQ(json["data"][0]["written"], true);
  EXPECT_GE(json["data"][0]["linear_probe"]["held_out_accuracy"], 0.0);
  EXPECT_LE(json["data"][0]["linear_probe"]["held_out_accuracy"], 0.35);
  EXPECT_EQ(nlohmann::json::parse(swin(arguments).out)["data"][0]["written"], false);
  const Finished other = swin({"make-data", at("set"), "--images", "50", "--size", "32"});
  EXPECT_EQ(other.status, 2);
  EXPECT_THAT(other.err, HasSubstr("hint: --force makes it anew"));
  EXPECT_EQ(swin({"make-data", at("set"), "--images", "50", "--size", "32", "--force"}).status, 0);
  fs::create_directories(at("mine/photos"));
  const Finished foreign = swin({"make-data", at("mine"), "--force"});
  EXPECT_EQ(foreign.status, 2);
  EXPECT_THAT(foreign.err, HasSubstr("holds something else"));
}

TEST_F(SwinTrain, MakeDataWritesScenes) {
  std::vector<std::string> arguments = {"make-data", at("scenes"), "--task", "segmentation", "--images",
                                        "12",        "--size",     "32",     "--json"};
  const Finished made = swin(arguments);
  ASSERT_EQ(made.status, 0) << made.err;
  const auto row = nlohmann::json::parse(made.out)["data"][0];
  EXPECT_EQ(row["task"], "segmentation");
  EXPECT_EQ(row["classes"], 13);
  EXPECT_EQ(row["train_images"], 11);
  EXPECT_TRUE(fs::exists(at("scenes/images/training/000010.jpg")));
  EXPECT_TRUE(fs::exists(at("scenes/annotations/validation/000000.png")));
  arguments.emplace_back("--probe");
  EXPECT_EQ(swin(arguments).status, 2);
  const Finished trained = swin({"train", "--model", "swin_nano", "--data", at("scenes")});
  EXPECT_EQ(trained.status, 3);
  EXPECT_THAT(trained.err, HasSubstr("a set for segmentation"));
}

TEST_F(SwinTrain, FilesAreLearntFromAndTheHeldOutOnesAreJudgedEachEpoch) {
  make_data();
  std::ofstream(at("set/train/disc-plain/broken.jpg")) << "no picture";
  std::ofstream(at("set/val/disc-plain/broken.jpg")) << "no picture";
  const Finished finished = swin(train({"--epochs", "2", "--json", "--log", at("log")}));
  ASSERT_EQ(finished.status, 0) << finished.err;
  const auto json = nlohmann::json::parse(finished.out);
  EXPECT_EQ(json["run"]["classes"], 24);
  const auto& row = json["data"][0];
  EXPECT_EQ(row["steps_done"], 25);  // two epochs of 49 files, in fours
  ASSERT_EQ(row["epochs"].size(), 2U);
  for (const auto& epoch : row["epochs"])
    EXPECT_EQ(epoch["validation_images"], 24);
  EXPECT_EQ(row["files_skipped"], 2);
  for (const char* part : {"train", "val"}) {
    EXPECT_THAT(finished.err,
                HasSubstr("warning: " + at("set/") + part + "/disc-plain/broken.jpg: skipped: Not a JPEG"));
  }
  std::ifstream log(at("log"));
  std::vector<std::string> types;
  std::int64_t until = 0;
  double waited_ns = 0.0;
  double measured_ns = 0.0;
  for (std::string line; std::getline(log, line);) {
    const auto entry = nlohmann::json::parse(line);
    types.push_back(entry["type"]);
    if (types.back() == "step") {
      EXPECT_LE(entry["input_wait_ns"], entry["data_ns"]);  // the rest is copied
      waited_ns += entry["input_wait_ns"].get<double>();
      measured_ns += entry["time_ns"].get<double>();
    }
    if (types.back() != "epoch") continue;
    EXPECT_GT(entry["elapsed_ns"], until);
    until = entry["elapsed_ns"];
  }
  EXPECT_DOUBLE_EQ(row["input_wait_share"], waited_ns / measured_ns);
  EXPECT_EQ(row["input_wait_shares"], nlohmann::json::array({row["input_wait_share"]}));
  EXPECT_EQ(std::ranges::count(types, "step"), 25);
  EXPECT_EQ(std::ranges::count(types, "epoch"), 2);
  EXPECT_EQ(std::ranges::count(types, "skipped"), 2);
  EXPECT_EQ(swin(train({"--log", at("log")})).status, 2);  // not written over
}

// Weights of 10 classes, a set of 24: the rest of the model is taken over, and it is said that the classifier is not.
TEST_F(SwinTrain, WeightsForOtherClassesAreFineTuned) {
  make_data();
  const Finished before =
      swin({"train", "--model", "swin_nano", "--image", "32", "--steps", "1", "--checkpoint", at("ten"), "-q"});
  ASSERT_EQ(before.status, 0) << before.err;
  const std::string weights = at("ten/checkpoint.safetensors");
  // At a learning rate of 0 the model is still what it started from.
  const std::vector<std::string> still = {"--weights", weights, "--steps", "1", "--lr", "0", "--json"};
  std::vector<std::string> arguments = still;
  arguments.insert(arguments.end(), {"--checkpoint", at("tuned")});
  const Finished tuned = swin(train(arguments));
  ASSERT_EQ(tuned.status, 0) << tuned.err;
  EXPECT_THAT(tuned.err, HasSubstr(weights + ": not for the 24 classes of the data: head.fc starts anew"));
  const auto json = nlohmann::json::parse(tuned.out);
  EXPECT_EQ(json["run"]["classes"], 24);
  EXPECT_EQ(json["run"]["new_classifier"], true);
  const SafetensorsFile from(weights);
  const SafetensorsFile to(at("tuned/checkpoint.safetensors"));
  const auto values = [](const SafetensorsFile& file, const char* name) {
    const TensorEntry* const entry = file.find(name);
    std::vector<float> read(static_cast<std::size_t>(entry->count));
    file.read<float>(*entry, read);
    return read;
  };
  EXPECT_EQ(values(to, "layers.1.blocks.0.mlp.fc1.weight"), values(from, "layers.1.blocks.0.mlp.fc1.weight"));
  EXPECT_EQ(to.find("head.fc.weight")->shape.front(), 24);
  // Its own weights afterwards: nothing starts anew, nothing is said.
  const Finished again = swin(train({"--weights", at("tuned/checkpoint.safetensors"), "--steps", "1", "--json", "-q"}));
  EXPECT_EQ(nlohmann::json::parse(again.out)["run"]["new_classifier"], false);
  EXPECT_EQ(again.err, "");
}

TEST_F(SwinTrain, TheLengthIsGivenAsStepsOrEpochsOrImages) {
  make_data();
  const auto steps_done = [&](const std::vector<std::string>& length) {
    std::vector<std::string> arguments = length;
    arguments.emplace_back("--json");
    const Finished finished = swin(train(arguments));
    EXPECT_EQ(finished.status, 0) << finished.err;
    EXPECT_THAT(finished.err, HasSubstr(", 0.0 s left"));
    return nlohmann::json::parse(finished.out)["data"][0]["steps_done"].get<int>();
  };
  EXPECT_EQ(steps_done({"--images", "9"}), 3);  // in fours
  EXPECT_EQ(steps_done({"--images", "4", "--accumulate", "2"}), 1);
  EXPECT_EQ(steps_done({"--steps", "2"}), 2);
  EXPECT_EQ(swin(train({"--images", "9", "--steps", "2"})).status, 2);
  EXPECT_EQ(swin(train({"--images", "9", "--epochs", "2"})).status, 2);
  EXPECT_EQ(swin(train({"--epochs", "2", "--steps", "2"})).status, 2);
}

TEST_F(SwinTrain, TheNumberOfThreadsChangesNothing) {
  make_data();
  for (const char* threads : {"1", "3"}) {
    const Finished finished =
        swin(train({"--steps", "5", "--loader-threads", threads, "--checkpoint", at(threads), "--quiet"}));
    ASSERT_EQ(finished.status, 0) << finished.err;
  }
  EXPECT_EQ(checkpoint("1"), checkpoint("3"));
}

// The program is killed while it trains; what it kept goes on as if nothing had been.
TEST_F(SwinTrain, AfterAKillTrainingGoesOnToTheBit) {
  make_data();
  const std::vector<std::string> steps = {"--steps", "60", "--checkpoint-every", "1", "--drop-path", "0.2"};
  const auto with = [&](const std::string& folder, std::vector<std::string> more) {
    more.insert(more.end(), steps.begin(), steps.end());
    more.insert(more.end(), {"--checkpoint", at(folder)});
    return train(more);
  };
  ASSERT_EQ(swin(with("whole", {"--quiet"})).status, 0);
  std::vector<std::string> command = with("killed", {});
  command.insert(command.begin(), SWINSCOPE_SWIN_PROGRAM);
  Subprocess program(command, test::no_launcher(), folder_.path(), "killed-run");
  program.wait_for_message("step 7/60");
  ::kill(program.pid(), SIGKILL);
  ASSERT_EQ(program.wait().status, 128 + SIGKILL);
  ASSERT_NE(checkpoint("killed"), checkpoint("whole"));
  const Finished resumed = swin(with("killed", {"--resume", "--json"}));
  ASSERT_EQ(resumed.status, 0) << resumed.err;
  EXPECT_THAT(resumed.err, HasSubstr("resuming after step "));
  const auto row = nlohmann::json::parse(resumed.out)["data"][0];
  EXPECT_GE(row["resumed_at"], 6);
  EXPECT_EQ(row["steps_done"], 60);
  EXPECT_EQ(checkpoint("killed"), checkpoint("whole"));
  // At its end there is nothing left to do, and nothing changes.
  EXPECT_EQ(swin(with("killed", {"--resume", "--quiet"})).status, 0);
  EXPECT_EQ(checkpoint("killed"), checkpoint("whole"));
}

TEST_F(SwinTrain, CtrlCKeepsTheLastStep) {
  make_data();
  std::vector<std::string> command = train({"--steps", "1000000", "--checkpoint", at("kept"), "--json"});
  command.insert(command.begin(), SWINSCOPE_SWIN_PROGRAM);
  Subprocess program(command, test::no_launcher(), folder_.path(), "stopped");
  program.wait_for_message("step 1/");
  ::kill(program.pid(), SIGINT);
  const Finished stopped = program.wait();
  EXPECT_EQ(stopped.status, 130);
  const auto done = nlohmann::json::parse(stopped.out)["data"][0]["steps_done"].get<int>();
  const Finished weights = swin({"infer", "--model", "swin_nano", "--image", "32", "--weights",
                                 at("kept/checkpoint.safetensors"), "--images", at("set/val"), "--json"});
  ASSERT_EQ(weights.status, 0) << weights.err;  // 24 classes, known from the file
  EXPECT_EQ(nlohmann::json::parse(weights.out)["data"][0]["files_classified"], 24);
  const std::vector<std::uint8_t> bytes = checkpoint("kept");
  EXPECT_THAT(std::string(bytes.begin(), bytes.begin() + 4096), HasSubstr("steps_done\\\":" + std::to_string(done)));
}

// As if GPUs had summed up by copies, a step before the end.
void make_checkpoint_of_copies(const std::string& file) {
  const std::vector<std::uint8_t> bytes = read_bytes(file);
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), sizeof(length));
  const auto tensors = bytes.begin() + static_cast<std::ptrdiff_t>(sizeof(length) + length);
  auto header = nlohmann::json::parse(bytes.begin() + sizeof(length), tensors);
  auto& text = header["__metadata__"][kCheckpointKey];
  auto state = nlohmann::json::parse(text.get<std::string>());
  state["steps_done"] = 1;
  state["settings"]["all-reduce"] = "copies";
  text = state.dump();
  std::string changed = header.dump();
  changed.resize((changed.size() + 7) / 8 * 8, ' ');
  length = changed.size();
  std::ofstream out(file, std::ios::binary);
  out.write(reinterpret_cast<const char*>(&length), sizeof(length)) << changed;
  std::ranges::copy(tensors, bytes.end(), std::ostreambuf_iterator<char>(out));
}

// It may go on where there are no GPUs, and later on GPUs again.
TEST_F(SwinTrain, ResumingKeepsHowGradientsWereSummedUp) {
  make_data();
  const std::vector<std::string> arguments = train({"--steps", "2", "--checkpoint", at("kept"), "--resume"});
  const auto settings = [&] {
    const SafetensorsFile file(at("kept/checkpoint.safetensors"));
    return nlohmann::json::parse(file.metadata().at(kCheckpointKey))["settings"];
  };
  ASSERT_EQ(swin(arguments).status, 0);
  EXPECT_FALSE(settings().contains("all-reduce")) << "one rank chooses nothing";
  make_checkpoint_of_copies(at("kept/checkpoint.safetensors"));
  const Finished resumed = swin(arguments);
  ASSERT_EQ(resumed.status, 0) << resumed.err;
  EXPECT_THAT(resumed.err, HasSubstr("resuming after step 1"));
  EXPECT_EQ(settings()["all-reduce"], "copies");
}

#ifdef SWINSCOPE_HAVE_GLOO
// Two ranks with half the batch each see the images that one rank sees, held-out ones included; sums may be in another
// order. Their checkpoint leads on, too.
TEST_F(SwinTrain, TwoRanksLearnTheSameAsOne) {
  make_data();
  const std::vector<std::string> common = {
      "train", "--model",   "swin_nano", "--image",  "32", "--data", at("set"), "--warmup",
      "0",     "--threads", "1",         "--epochs", "1",  "--json", "-q",      "--checkpoint-every",
      "5"};
  const auto with = [&](const std::string& batch, const std::string& folder, bool resume) {
    std::vector<std::string> arguments = common;
    arguments.insert(arguments.end(), {"--batch", batch, "--checkpoint", at(folder)});
    if (resume) arguments.emplace_back("--resume");
    return arguments;
  };
  const auto alone = nlohmann::json::parse(swin(with("4", "alone", false)).out)["data"][0];
  const auto two_ranks = [&](bool resume) {
    const auto [first, second] = swin_on_two_ranks(with("2", "two", resume));
    EXPECT_EQ(second.status, 0) << second.err;
    return nlohmann::json::parse(first.out)["data"][0];
  };
  const auto together = two_ranks(false);
  EXPECT_EQ(together["steps_done"], 12);
  EXPECT_NEAR(together["loss_last"].get<double>(), alone["loss_last"].get<double>(), 1e-4);
  const auto& held_out = together["epochs"][0];
  EXPECT_EQ(held_out["validation_images"], 24);
  EXPECT_NEAR(held_out["validation_loss"].get<double>(), alone["epochs"][0]["validation_loss"].get<double>(), 1e-4);
  const auto waits = together["input_wait_shares"].get<std::vector<double>>();
  ASSERT_EQ(waits.size(), 2U);
  EXPECT_EQ(together["input_wait_share"], std::ranges::max(waits));
  const auto resumed = two_ranks(true);
  EXPECT_EQ(resumed["resumed_at"], 12);
}

TEST_F(SwinTrain, TheRankThatWaitsLongestForImagesIsNamed) {
  make_data();
  const auto [first, second] = swin_on_two_ranks(train({"--steps", "4", "-q"}));
  EXPECT_EQ(second.status, 0) << second.err;
  EXPECT_THAT(first.out, testing::ContainsRegex("waiting for images: [0-9.]+ % of the time on rank [01], the "
                                                "longest of 2; 0 files skipped"));
}

// Each rank reads half of the files; what rank 0 says and logs is of all.
TEST_F(SwinTrain, FilesThatAnyRankSkippedAreCountedOnce) {
  make_data();
  std::vector<std::string> broken;
  for (const char* name : {"a", "b", "c", "d\xff"}) {  // the last one is no UTF-8
    broken.push_back(at("set/train/disc-plain/") + name + ".jpg");
    std::ofstream(broken.back()) << "no picture";
  }
  const auto ranks = swin_on_two_ranks(train({"--epochs", "1", "-q", "--json", "--log", at("log")}));
  for (const Finished& rank : ranks)
    ASSERT_EQ(rank.status, 0) << rank.err;
  const auto names = [&](std::size_t rank, const std::string& file) {
    return ranks[rank].err.find(file + ": skipped: Not a JPEG") != std::string::npos;
  };
  EXPECT_FALSE(std::ranges::all_of(broken, [&](const std::string& file) { return names(0, file); }));
  for (const std::string& file : broken)
    EXPECT_TRUE(names(0, file) || names(1, file)) << file;
  const auto document = nlohmann::json::parse(ranks[0].out);
  EXPECT_EQ(document["data"][0]["files_skipped"], broken.size());
  EXPECT_EQ(document["warnings"].size(), broken.size());
  std::size_t logged = 0;
  std::ifstream log(at("log"));
  for (std::string line; std::getline(log, line);)
    logged += nlohmann::json::parse(line)["type"] == "skipped" ? 1U : 0U;
  EXPECT_EQ(logged, broken.size());
}
#endif

// A limit on the size of files stands for the full disk.
TEST_F(SwinTrain, ADiskThatIsFullKeepsThePreviousCheckpoint) {
  make_data();
  const std::vector<std::string> arguments =
      train({"--steps", "8", "--checkpoint-every", "4", "--resume", "--checkpoint", at("full"), "--json", "--quiet"});
  ASSERT_EQ(swin(train({"--steps", "8", "--checkpoint", at("whole"), "--quiet"})).status, 0);
  std::string shell = "ulimit -f 100; trap '' XFSZ; exec " + std::string(SWINSCOPE_SWIN_PROGRAM);
  for (const std::string& argument : arguments)
    shell += " '" + argument + "'";
  // Nothing is there yet: the training runs to its end, and its status says that it was not kept.
  const Finished full = run({"/bin/bash", "-c", shell});
  EXPECT_EQ(full.status, 1);
  EXPECT_THAT(full.err, HasSubstr("warning: no checkpoint of step 4: "));
  EXPECT_THAT(full.err, HasSubstr("warning: no checkpoint of step 8: "));
  EXPECT_THAT(nlohmann::json::parse(full.out)["warnings"].dump(),
              HasSubstr("the last checkpoint could not be written"));
  EXPECT_TRUE(fs::is_empty(at("full")));
  // With room again it starts anew and keeps its state; the next failure leaves that alone.
  ASSERT_EQ(swin(arguments).status, 0);
  EXPECT_EQ(checkpoint("full"), checkpoint("whole"));
  EXPECT_EQ(run({"/bin/bash", "-c", shell}).status, 0);  // all is done, nothing is to be written
  EXPECT_EQ(checkpoint("full"), checkpoint("whole"));
}

// All parameters have one, and the optimizer's first step goes against it.
TEST_F(SwinTrain, TheLastStepsGradientsAreWritten) {
  const std::vector<std::string> once = {
      "train",       "--model",       "swin_nano",    "--image", "32", "--steps",        "1", "--batch",     "2",
      "--lr",        "1e-3",          "--warmup",     "0",       "-q", "--weight-decay", "0", "--clip-norm", "0",
      "--gradients", at("gradients"), "--checkpoint", at("kept")};
  ASSERT_EQ(swin(once).status, 0);
  const SafetensorsFile gradients(at("gradients"));
  const SafetensorsFile kept(at("kept/checkpoint.safetensors"));
  std::size_t parameters = 0;
  for (const auto& [name, entry] : kept.tensors()) {
    if (name.starts_with("optimizer.")) continue;
    ++parameters;
    const TensorEntry* const gradient = gradients.find(name);
    const TensorEntry* const moment = kept.find("optimizer.first_moment." + name);
    ASSERT_NE(gradient, nullptr) << name;
    std::vector<float> values(static_cast<std::size_t>(entry.count)), moments(values.size());
    gradients.read<float>(*gradient, values);
    kept.read<float>(*moment, moments);
    for (std::size_t i = 0; i < values.size(); ++i)
      ASSERT_NEAR(moments[i], 0.1F * values[i], 1e-6F * std::abs(values[i]) + 1e-12F) << name;
  }
  EXPECT_EQ(gradients.tensors().size(), parameters);
}

TEST_F(SwinTrain, OptionsOfAGpuNeedOne) {
  const Finished level = swin({"train", "--model", "swin_nano", "--level", "fused"});
  EXPECT_EQ(level.status, 2);
  EXPECT_THAT(level.err, HasSubstr("hint: add --device cuda"));
  const Finished unknown = swin({"train", "--model", "swin_nano", "--device", "tpu"});
  EXPECT_EQ(unknown.status, 2);
  EXPECT_THAT(unknown.err, HasSubstr("--device"));
}

TEST_F(SwinTrain, MistakesAreExplained) {
  make_data();
  const Finished folder = swin(train({"--steps", "1", "--checkpoint", at("kept"), "--quiet"}));
  ASSERT_EQ(folder.status, 0);
  const Finished again = swin(train({"--steps", "1", "--checkpoint", at("kept")}));
  EXPECT_EQ(again.status, 2);
  EXPECT_THAT(again.err, HasSubstr("hint: --resume goes on with it"));
  const Finished seed = swin(train({"--steps", "1", "--checkpoint", at("kept"), "--resume", "--seed", "3"}));
  EXPECT_EQ(seed.status, 2);
  EXPECT_THAT(seed.err, HasSubstr("cause: seed 3 instead of 0"));
  EXPECT_THAT(swin(train({"--resume"})).err, HasSubstr("add --checkpoint FOLDER"));
  fs::resize_file(at("kept/checkpoint.safetensors"), 100);
  const Finished damaged = swin(train({"--steps", "1", "--checkpoint", at("kept"), "--resume"}));
  EXPECT_EQ(damaged.status, 3);
  EXPECT_THAT(damaged.err, HasSubstr("checkpoint.safetensors"));
  const Finished nowhere = swin({"train", "--model", "swin_nano", "--data", "/nonexistent"});
  EXPECT_EQ(nowhere.status, 3);
  EXPECT_THAT(nowhere.err, HasSubstr("error: /nonexistent: cannot be read"));
}

}  // namespace
}  // namespace swinscope
