// The program `swin` as a user runs it: output, exit status, messages.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <fstream>
#include <map>
#include <span>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/unit/workloads/jpeg_files.h"
#include "tests/unit/workloads/subprocess.h"
#include "workloads/redraw.h"
#include "workloads/safetensors_writer.h"

namespace swinscope {
namespace {

using test::Finished;
using test::Subprocess;
using testing::HasSubstr;

class SwinProgram : public testing::Test {
 protected:
  Subprocess start(std::vector<std::string> arguments,
                   const std::map<std::string, std::string>& variables = test::no_launcher(),
                   const std::string& name = "swin") const {
    arguments.insert(arguments.begin(), SWINSCOPE_SWIN_PROGRAM);
    return Subprocess(arguments, variables, folder_.path(), name);
  }
  Finished swin(const std::vector<std::string>& arguments) const { return start(arguments).wait(); }

  test::TemporaryFolder folder_;
};

TEST_F(SwinProgram, ListPrintsAllModels) {
  const Finished table = swin({"list"});
  EXPECT_EQ(table.status, 0);
  EXPECT_THAT(table.out, HasSubstr("swin_tiny"));
  EXPECT_THAT(table.out, HasSubstr("28.3          8.98"));
  const auto json = nlohmann::json::parse(swin({"list", "--json"}).out);
  EXPECT_EQ(json["schema"], "swin.list/1");
  EXPECT_EQ(json["data"].size(), model_table().size());
}

TEST_F(SwinProgram, InferMeasuresAndPredicts) {
  const Finished finished = swin({"infer", "--model", "swinv2_nano", "--device", "cpu", "--batch", "3", "--image", "32",
                                  "--steps", "4", "--seed", "5", "--json"});
  ASSERT_EQ(finished.status, 0) << finished.err;
  const auto json = nlohmann::json::parse(finished.out);
  EXPECT_EQ(json["schema"], "swin.infer/1");
  EXPECT_EQ(json["run"]["image_size"], 32);
  EXPECT_EQ(json["data"][0]["steps_measured"], 4);
  EXPECT_EQ(json["data"][0]["predictions"].size(), 3U);
  EXPECT_GT(json["data"][0]["images_per_second"], 0.0);
}

// The pictures and, of V2, the parameters stay the same: what the models compute does not.
TEST_F(SwinProgram, TheWindowCanBeChosen) {
  const auto infer = [&](const std::string& window) {
    const Finished finished =
        swin({"infer", "--model", "swinv2_nano", "--batch", "8", "--steps", "1", "--window", window, "--json"});
    EXPECT_EQ(finished.status, 0) << finished.err;
    return nlohmann::json::parse(finished.out);
  };
  const auto own =
      nlohmann::json::parse(swin({"infer", "--model", "swinv2_nano", "--batch", "8", "--steps", "1", "--json"}).out);
  const auto same = infer("4");
  const auto wider = infer("8");
  EXPECT_EQ(own["run"]["window"], 4);
  EXPECT_EQ(wider["run"]["window"], 8);
  EXPECT_EQ(same["data"][0]["predictions"], own["data"][0]["predictions"]);
  EXPECT_NE(wider["data"][0]["predictions"], own["data"][0]["predictions"]);
  EXPECT_EQ(wider["run"]["parameters"], own["run"]["parameters"]);
  EXPECT_GT(wider["run"]["flops_per_image_forward"], own["run"]["flops_per_image_forward"]);
  // 16 x 16 tokens at first: from there on a window is the map.
  EXPECT_EQ(infer("16")["data"][0]["predictions"], infer("24")["data"][0]["predictions"]);
}

TEST_F(SwinProgram, WeightsFromAFilePredictAsTheSameRedrawnOnes) {
  const SwinConfig& config = find_model("swin_nano");
  ParameterStore<float> store(config, false);
  redraw_parameters(store, 5);
  std::vector<TensorSource> tensors;
  for (const ParameterInfo& tensor : store.layout().tensors()) {
    tensors.push_back({tensor.name, tensor.shape, store.values(tensor), {}});
  }
  const std::string file = (folder_.path() / "weights.safetensors").string();
  write_safetensors(file, tensors, {});
  const std::vector<std::string> common = {"infer",   "--model", "swin_nano", "--batch", "8",
                                           "--steps", "1",       "--seed",    "5",       "--json"};
  std::vector<std::string> with_file = common;
  with_file.insert(with_file.end(), {"--weights", file});
  const auto redrawn = nlohmann::json::parse(swin(common).out);
  const auto loaded = nlohmann::json::parse(swin(with_file).out);
  EXPECT_EQ(redrawn["data"][0]["predictions"], loaded["data"][0]["predictions"]);
  EXPECT_EQ(loaded["run"]["weights"], file);
}

TEST_F(SwinProgram, EveryMissingAndMisshapenTensorIsNamed) {
  const ParameterLayout layout(find_model("swin_nano"));
  std::vector<float> values;
  for (const ParameterInfo& tensor : layout.tensors())
    values.resize(std::max(values.size(), static_cast<std::size_t>(tensor.count)));
  std::vector<TensorSource> tensors;
  std::vector<std::string> wrong;
  for (const ParameterInfo& tensor : layout.tensors()) {
    const bool missing = tensor.name.ends_with("norm2.bias");
    const bool misshapen = tensor.name.ends_with("fc1.weight");
    if (missing || misshapen) wrong.push_back(tensor.name);
    if (missing) continue;
    const std::vector<std::int64_t> shape = misshapen ? std::vector{tensor.count} : tensor.shape;
    tensors.push_back({tensor.name, shape, std::span(values).first(static_cast<std::size_t>(tensor.count)), {}});
  }
  const std::string file = (folder_.path() / "weights.safetensors").string();
  write_safetensors(file, tensors, {});
  const Finished refused = swin({"infer", "--model", "swin_nano", "--weights", file});
  EXPECT_EQ(refused.status, 3);
  EXPECT_THAT(refused.out, testing::IsEmpty());
  EXPECT_THAT(refused.err, HasSubstr("error: " + file + ": not the weights of this model"));
  EXPECT_THAT(refused.err, HasSubstr("\n  cause: 4 missing: "));
  EXPECT_THAT(refused.err, HasSubstr("; 4 misshapen: "));
  EXPECT_THAT(refused.err, HasSubstr("\n  hint: "));
  EXPECT_EQ(wrong.size(), 8U);
  for (const std::string& name : wrong)
    EXPECT_THAT(refused.err, HasSubstr(name));
}

TEST_F(SwinProgram, TrainReportsProgressOnStderrAndDataOnStdout) {
  const Finished finished = swin({"train", "--device", "cpu", "--model", "swin_nano", "--data", "synthetic",
                                  "--batch-per-gpu", "4", "--image", "32", "--steps", "6", "--warmup", "2", "--json"});
  ASSERT_EQ(finished.status, 0) << finished.err;
  EXPECT_THAT(finished.err, HasSubstr("step 8/8: loss"));
  const auto json = nlohmann::json::parse(finished.out);
  EXPECT_EQ(json["schema"], "swin.train/1");
  const auto& row = json["data"][0];
  EXPECT_EQ(row["steps_measured"], 6);
  EXPECT_EQ(row["steps_done"], 8);
  EXPECT_EQ(row["images_per_step"], 4);
  EXPECT_GT(row["step_time_median_ns"], 0);
  EXPECT_GE(row["step_time_p99_ns"], row["step_time_median_ns"]);
  EXPECT_THAT(swin({"train", "--model", "swin_nano", "--image", "32", "--steps", "1", "-q"}).err, testing::IsEmpty());
}

TEST_F(SwinProgram, TwoRanksTrainTogetherAndOnePrints) {
  const auto [printed, silent] =
      test::run_two_ranks({SWINSCOPE_SWIN_PROGRAM, "train", "--model", "swin_nano", "--image", "32", "--batch-per-gpu",
                           "2", "--steps", "2", "--json"},
                          folder_.path());
  ASSERT_EQ(printed.status, 0) << printed.err;
  ASSERT_EQ(silent.status, 0) << silent.err;
  EXPECT_THAT(silent.out, testing::IsEmpty());
  EXPECT_THAT(silent.err, testing::IsEmpty());
  const auto json = nlohmann::json::parse(printed.out);
  EXPECT_EQ(json["run"]["ranks"], 2);
  EXPECT_EQ(json["data"][0]["images_per_step"], 4);
}

TEST_F(SwinProgram, ATrainingGoesOnWithItsOwnWindowsOnly) {
  const auto train = [&](const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {"train",
                                          "--model",
                                          "swinv2_nano",
                                          "--image",
                                          "32",
                                          "--steps",
                                          "2",
                                          "--batch",
                                          "1",
                                          "--checkpoint",
                                          (folder_.path() / "kept").string()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return swin(arguments);
  };
  const Finished begun = train({"--window", "8"});
  ASSERT_EQ(begun.status, 0) << begun.err;
  const Finished other = train({"--resume"});
  EXPECT_NE(other.status, 0);
  EXPECT_THAT(other.err, HasSubstr("window"));
  const Finished own = train({"--resume", "--window", "8"});
  EXPECT_EQ(own.status, 0) << own.err;
}

TEST_F(SwinProgram, RanksWithDifferentCommandLinesAreRefused) {
  const auto train = [&](int rank, const std::string& seed, const std::string& steps) {
    return start({"train", "--model", "swin_nano", "--seed", seed, "--steps", steps},
                 test::as_rank(rank, 2, folder_.path()), "rank" + std::to_string(rank));
  };
  Subprocess first = train(0, "1", "2");
  Subprocess second = train(1, "7", "3");
  for (Subprocess* rank : {&first, &second}) {
    const Finished finished = rank->wait();
    EXPECT_EQ(finished.status, 2);
    EXPECT_EQ(finished.err,
              "error: the ranks disagree with rank 0\n"
              "  cause: rank 1 has seed 7 instead of 1, steps 3 instead of 2\n"
              "  hint: start all ranks with the same command line\n");
  }
}

// Without the watch they would wait for it for ever.
TEST_F(SwinProgram, WhenARankDiesTheOthersEndAndNameIt) {
  const auto train = [&](int rank) {
    return start({"train", "--model", "swin_nano", "--image", "32", "--batch", "1", "--steps", "1000000"},
                 test::as_rank(rank, 3, folder_.path()), "rank" + std::to_string(rank));
  };
  Subprocess first = train(0);
  Subprocess killed = train(1);
  Subprocess last = train(2);
  const std::string process = std::to_string(killed.pid());
  first.wait_for_message("step 1/");
  ::kill(killed.pid(), SIGKILL);
  for (Subprocess* rank : {&first, &last}) {
    const Finished finished = rank->wait();
    EXPECT_EQ(finished.status, 1);
    EXPECT_THAT(finished.err, HasSubstr("error: rank 1 of 3 (host "));
    EXPECT_THAT(finished.err, HasSubstr("process " + process + ") died\n"));
    EXPECT_THAT(finished.err, HasSubstr("  hint: see that rank's own messages\n"));
  }
}

TEST_F(SwinProgram, CtrlCEndsAfterTheStepWithASummary) {
  Subprocess program = start({"train", "--model", "swin_nano", "--image", "32", "--steps", "1000000", "--json"});
  // The first progress line says that the handler is in place.
  program.wait_for_message("step 1/");
  ::kill(program.pid(), SIGINT);
  const Finished finished = program.wait();
  EXPECT_EQ(finished.status, 130);
  const auto json = nlohmann::json::parse(finished.out);
  EXPECT_THAT(json["warnings"].dump(), HasSubstr("interrupted"));
}

TEST_F(SwinProgram, MistakesAreExplained) {
  const Finished model = swin({"infer", "--model", "swin_tinny"});
  EXPECT_EQ(model.status, 2);
  EXPECT_THAT(model.err, HasSubstr("error: unknown model 'swin_tinny'"));
  EXPECT_THAT(model.err, HasSubstr("hint: did you mean swin_tiny"));
  EXPECT_THAT(model.out, testing::IsEmpty());

  EXPECT_EQ(swin({}).status, 2);
  EXPECT_EQ(swin({"infer"}).status, 2);
  EXPECT_EQ(swin({"infer", "--model", "swin_nano", "--batch", "0"}).status, 2);
  EXPECT_EQ(swin({"infer", "--model", "swin_nano", "--batch", "many"}).status, 2);
  EXPECT_EQ(swin({"train", "--model", "swin_nano", "--data", "/nonexistent"}).status, 3);
  EXPECT_EQ(swin({"fly"}).status, 2);
  EXPECT_EQ(swin({"--help"}).status, 0);

  const Finished device = swin({"infer", "--model", "swin_nano", "--device", "tpu"});
  EXPECT_EQ(device.status, 2);
  EXPECT_THAT(device.err, HasSubstr("--device tpu"));
  const Finished size = swin({"infer", "--model", "swin_nano", "--image", "30"});
  EXPECT_EQ(size.status, 2);
  EXPECT_THAT(size.err, HasSubstr("multiple of 8"));
  for (const char* window : {"0", "25", "wide"}) {
    const Finished refused = swin({"infer", "--model", "swin_nano", "--window", window});
    EXPECT_EQ(refused.status, 2);
    EXPECT_THAT(refused.err, HasSubstr("--window"));
  }
  const Finished missing = swin({"infer", "--model", "swin_nano", "--weights", "/nonexistent.safetensors"});
  EXPECT_EQ(missing.status, 3);
  EXPECT_THAT(missing.err, HasSubstr("/nonexistent.safetensors"));
}

TEST_F(SwinProgram, FilesThatAreNoPicturesAreNamed) {
  const std::filesystem::path pictures = folder_.path() / "pictures";
  std::filesystem::create_directories(pictures);
  std::ofstream(pictures / "a.jpg") << "no picture";
  const Finished refused = swin({"infer", "--model", "swin_nano", "--images", pictures.string()});
  EXPECT_EQ(refused.status, 3);
  EXPECT_THAT(refused.err, HasSubstr("none of 1 files can be read"));
  EXPECT_THAT(refused.err, HasSubstr("a.jpg: Not a JPEG file"));
  const Finished missing = swin({"infer", "--model", "swin_nano", "--images", "/nonexistent"});
  EXPECT_EQ(missing.status, 3);
  EXPECT_THAT(missing.err, HasSubstr("error: /nonexistent: cannot be read"));
}

TEST_F(SwinProgram, InferClassifiesFilesAndCountsDamagedOnes) {
  const std::filesystem::path pictures = folder_.path() / "pictures";
  std::filesystem::create_directories(pictures);
  for (int i = 0; i < 5; ++i) {
    RgbImage image = test::gradient(60 + 30 * i, 70);
    for (std::size_t at = 0; at < image.pixels.size(); at += static_cast<std::size_t>(i + 2))
      image.pixels[at] = static_cast<std::uint8_t>(40 * i);
    test::write_jpeg(pictures / ("good" + std::to_string(i) + ".jpg"), image);
  }
  const auto classify = [&](const std::string& batch) {
    return swin({"infer", "--model", "swin_nano", "--images", pictures.string(), "--batch", batch, "--json"});
  };
  const Finished whole = classify("2");
  EXPECT_EQ(whole.status, 0) << whole.err;
  const auto files = nlohmann::json::parse(whole.out)["data"][0]["files"];
  ASSERT_EQ(files.size(), 5U);
  for (const auto& file : files) {
    EXPECT_GE(file["probability"].get<double>(), 0.1);  // ten classes
    EXPECT_LE(file["probability"].get<double>(), 1.0);
  }
  // A damaged file among them changes nothing for the others, in whatever batches they come.
  std::ofstream(pictures / "good2b.jpg") << "no picture";
  for (const char* batch : {"1", "4"}) {
    const Finished finished = classify(batch);
    EXPECT_EQ(finished.status, 3);
    EXPECT_THAT(finished.err, HasSubstr("warning: " + (pictures / "good2b.jpg").string() + ": skipped: Not a JPEG"));
    const auto json = nlohmann::json::parse(finished.out);
    const auto& row = json["data"][0];
    EXPECT_EQ(row["files_classified"], 5);
    EXPECT_EQ(row["files_skipped"], 1);
    EXPECT_EQ(row["skipped"][0]["path"], (pictures / "good2b.jpg").string());
    EXPECT_EQ(json["warnings"].size(), 1U);
    ASSERT_EQ(row["files"].size(), files.size());
    for (std::size_t i = 0; i < files.size(); ++i) {
      EXPECT_EQ(row["files"][i]["file"], files[i]["file"]);
      EXPECT_EQ(row["files"][i]["class"], files[i]["class"]);
      EXPECT_NEAR(row["files"][i]["probability"].get<double>(), files[i]["probability"].get<double>(), 1e-5);
    }
  }
  const Finished table = swin({"infer", "--model", "swin_nano", "--images", (pictures / "good0.jpg").string()});
  EXPECT_EQ(table.status, 0);
  EXPECT_THAT(table.out, testing::ContainsRegex("good0.jpg  class [0-9]  [0-9.]+ %\n$"));
}

TEST_F(SwinProgram, AHalfSetLauncherIsRefused) {
  std::map<std::string, std::string> variables = test::no_launcher();
  variables["RANK"] = "1";
  const Finished finished = start({"train", "--model", "swin_nano"}, variables).wait();
  EXPECT_EQ(finished.status, 2);
  EXPECT_THAT(finished.err, HasSubstr("RANK is set and WORLD_SIZE is not"));
}

}  // namespace
}  // namespace swinscope
