// What `swin infer --task segmentation --device cuda` does around a device's model, with a device in host memory: its
// files, figures and errors beside those of --device cpu.
#include "workloads/program/device_scenes.h"

#include <algorithm>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/unit/workloads/gradient_comparison.h"
#include "tests/unit/workloads/subprocess.h"
#include "workloads/error.h"
#include "workloads/execute/host_model.h"
#include "workloads/images/jpeg_encoder.h"
#include "workloads/program/scene_inference.h"
#include "workloads/safetensors.h"

namespace swinscope {

// Of libraries that need a device.
Precision parse_device_precision(const std::string& name) {
  return name == "fp32" ? Precision::kFp32 : Precision::kFp16;
}
Precision parse_inference_precision(const std::string& name) { return parse_device_precision(name); }

namespace {

using testing::HasSubstr;

void write(const std::filesystem::path& file, const std::vector<std::uint8_t>& bytes) {
  std::ofstream(file, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

class DeviceScenes : public testing::TestWithParam<const char*> {
 protected:
  DeviceScenes() {
    options_.task = Task::kSegmentation;
    options_.run.model = GetParam();
    options_.run.image_size = 32;
    options_.run.batch = 3;
    options_.run.precision = "fp32";
    options_.run.steps = 2;
    options_.run.json = true;
  }

  // Four pictures, one more than a batch, with masks that say anything, and a file that is none.
  void make_pictures() {
    std::filesystem::create_directories(at("images"));
    std::filesystem::create_directories(at("masks"));
    int number = 0;
    for (const auto& [width, height] : {std::pair(50, 20), {20, 50}, {32, 32}, {75, 64}}) {
      RgbImage picture{width, height, {}};
      LabelMask mask{width, height, {}};
      for (int i = 0; i < width * height; ++i) {
        for (const int step : {3, 7, 31})
          picture.pixels.push_back(static_cast<std::uint8_t>((i * step + 40 * number) % 251));
        mask.labels.push_back(static_cast<std::uint8_t>(i % 150));
      }
      const std::string name = std::to_string(number++);
      write(at("images") / (name + ".jpg"), encode_jpeg(picture, 90));
      write(at("masks") / (name + ".png"), encode_mask(mask));
    }
    write(at("images/broken.jpg"), {1, 2, 3});
    options_.images = at("images");
    options_.annotations = at("masks");
  }

  std::filesystem::path at(const std::string& name) const { return folder_.path() / name; }
  SwinConfig config() const {
    SwinConfig config = resolve_config(options_.run);
    prepare_scene_inference(options_, config);
    return config;
  }

  // What is printed, with the exit status beside it.
  nlohmann::json infer(const std::string& device, const std::string& output = "") const {
    InferOptions options = options_;
    options.run.device = device;
    if (!output.empty()) options.output = at(output);
    testing::internal::CaptureStdout();
    int status = 0;
    try {
      status = device == "cpu" ? infer_scenes(options, config())
                               : infer_scenes_on_device(options, config(), segmenter_options(options));
    } catch (...) {
      testing::internal::GetCapturedStdout();
      throw;
    }
    nlohmann::json finished = nlohmann::json::parse(testing::internal::GetCapturedStdout());
    finished["status"] = status;
    return finished;
  }

  InferOptions options_;
  test::TemporaryFolder folder_;
};

void expect_equal_masks(const std::filesystem::path& found, const std::filesystem::path& expected) {
  const LabelMask a = decode_mask(read_bytes(found), found.string());
  const LabelMask b = decode_mask(read_bytes(expected), expected.string());
  ASSERT_EQ(a.width, b.width);
  ASSERT_EQ(a.height, b.height);
  std::size_t others = 0;
  for (std::size_t i = 0; i < a.labels.size(); ++i) {
    if (a.labels[i] != b.labels[i]) ++others;
  }
  EXPECT_LE(others, a.labels.size() / 200) << found;
}

TEST_P(DeviceScenes, FilesGetTheMasksAndFiguresOfTheCpu) {
  make_pictures();
  const nlohmann::json cpu = infer("cpu", "cpu");
  for (const bool tap_fusion : {false, true}) {
    options_.tap_fusion = tap_fusion;
    const std::string folder = tap_fusion ? "cut" : "whole";
    const nlohmann::json device = infer("cuda", folder);
    EXPECT_EQ(device["status"], 3);
    EXPECT_EQ(cpu["status"], 3);
    EXPECT_EQ(device["warnings"], cpu["warnings"]);
    EXPECT_EQ(device["run"]["task"], "segmentation");
    EXPECT_EQ(device["run"]["gpu"], "host memory");
    EXPECT_EQ(device["run"]["tap_fusion"], tap_fusion);
    const auto& found = device["data"][0];
    const auto& expected = cpu["data"][0];
    EXPECT_EQ(found["skipped"], expected["skipped"]);
    EXPECT_EQ(found["files_segmented"], 4);
    EXPECT_EQ(found["steps_measured"], 2);
    EXPECT_NEAR(found["mean_iou"].get<double>(), expected["mean_iou"].get<double>(), 1e-3);
    for (std::size_t i = 0; i < 4; ++i) {
      EXPECT_EQ(found["files"][i]["width"], expected["files"][i]["width"]);
      expect_equal_masks(at(folder) / (std::to_string(i) + ".png"), at("cpu") / (std::to_string(i) + ".png"));
    }
  }
}

TEST_P(DeviceScenes, ErrorsAreThoseOfTheCpu) {
  std::filesystem::create_directories(at("images"));
  write(at("images/broken.jpg"), {1, 2, 3});
  options_.images = at("images");
  std::vector<std::string> messages;
  for (const char* device : {"cpu", "cuda"}) {
    try {
      infer(device);
      FAIL() << "no error";
    } catch (const WorkloadError& error) {
      EXPECT_EQ(error.kind(), WorkloadErrorKind::kInput);
      messages.push_back(format_error(error));
    }
  }
  EXPECT_EQ(messages[0], messages[1]);
  EXPECT_THROW(infer("cuda", "images"), WorkloadError) << "a folder that holds something";
}

TEST_P(DeviceScenes, SyntheticScenesAreMeasured) {
  options_.operations = true;
  options_.logits = at("logits.safetensors");
  const nlohmann::json device = infer("cuda");
  EXPECT_EQ(device["status"], 0);
  const auto& run = device["run"];
  EXPECT_EQ(run["classes"], 150);
  EXPECT_EQ(run["level"], "graph");
  EXPECT_EQ(run["gelu"], "auto");
  EXPECT_GT(run["graph_nodes"].get<int>(), 50);
  EXPECT_THAT(run["features"].get<std::string>(), HasSubstr("prebias"));
  EXPECT_THAT(run["features"].get<std::string>(), HasSubstr("postnorm"));
  const auto& row = device["data"][0];
  EXPECT_EQ(row["steps_measured"], 2);
  EXPECT_GT(row["images_per_second"].get<double>(), 0.0);
  EXPECT_GT(row["latency_p99_ns"].get<double>(), 0.0);
  EXPECT_TRUE(std::ranges::any_of(row["operations"],
                                  [](const auto& operation) { return operation["operation"] == "head.fusion.conv"; }));

  const SafetensorsFile file(options_.logits);
  const auto read = [&file](const std::string& name) {
    const TensorEntry* const entry = file.find(name);
    if (entry == nullptr) throw std::runtime_error(name);
    std::vector<float> values(static_cast<std::size_t>(entry->count));
    file.read<float>(*entry, values);
    return values;
  };
  const SwinConfig model_config = config();
  ParameterStore<float> store(model_config, false);
  fill_scene_parameters(options_.run, store);
  const auto alone = make_single_rank();
  HostModel<float> model(model_config, options_.run.batch, {}, store);
  model.weights_changed();
  const std::vector<float> images = read("images");
  ASSERT_EQ(images.size(), 3U * 3U * 32U * 32U);
  const float* const expected = model.forward(images.data()).main;
  const std::vector<float> logits = read("logits");
  ASSERT_EQ(logits.size(), 3U * 8U * 8U * 150U);
  EXPECT_LT(test::relative(logits, std::span(expected, logits.size())), 1e-5);
}

TEST_P(DeviceScenes, LowerRungsAnd16BitsAreThere) {
  make_pictures();
  for (const char* level : {"eager", "tensorcore", "fused", "window", "attention"}) {
    options_.level = level;
    options_.run.precision = "";
    InferOptions options = options_;
    const DeviceSegmenterOptions choice = segmenter_options(options);
    EXPECT_EQ(choice.precision, std::string(level) == "eager" ? Precision::kFp32 : Precision::kFp16);
    EXPECT_FALSE(choice.features.graph);
    EXPECT_EQ(infer("cuda")["data"][0]["files_segmented"], 4) << level;
  }
}

TEST_P(DeviceScenes, WhatItHasNotIsRefused) {
  const auto refusal = [&](const auto& change) {
    InferOptions options = options_;
    change(options);
    try {
      segmenter_options(options);
    } catch (const WorkloadError& error) {
      EXPECT_EQ(error.kind(), WorkloadErrorKind::kUsage);
      return format_error(error);
    }
    return std::string("none");
  };
  EXPECT_THAT(refusal([](InferOptions& options) { options.tune_seconds = 5.0; }), HasSubstr("--tune-seconds"));
  EXPECT_THAT(refusal([](InferOptions& options) { options.with = {"adamw"}; }), HasSubstr("'adamw'"));
  EXPECT_THAT(refusal([](InferOptions& options) { options.level = "top"; }), HasSubstr("unknown level 'top'"));
  EXPECT_THAT(refusal([](InferOptions& options) {
                options.images = "pictures";
                options.operations = true;
              }),
              HasSubstr("--operations and --logits"));
  for (const char* const form : {"auto", "erf", "tanh"})
    EXPECT_EQ(refusal([&](InferOptions& options) { options.gelu = form; }), "none");
}

INSTANTIATE_TEST_SUITE_P(Models, DeviceScenes, testing::Values("swin_nano", "swinv2_nano"),
                         [](const auto& model) { return std::string(model.param); });

}  // namespace
}  // namespace swinscope
