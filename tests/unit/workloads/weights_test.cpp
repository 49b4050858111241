#include "workloads/weights.h"

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "workloads/error.h"
#include "workloads/redraw.h"
#include "workloads/safetensors_writer.h"

namespace swinscope {
namespace {

using testing::HasSubstr;

class Weights : public testing::Test {
 protected:
  Weights()
      : path_(std::filesystem::temp_directory_path() / ("swinscope-weights-" + std::to_string(::getpid()))),
        config_(find_model("swinv2_nano")),
        source_(config_, false) {
    redraw_parameters(source_, 11);
    for (const ParameterInfo& tensor : source_.layout().tensors()) {
      tensors_.push_back({tensor.name, tensor.shape, source_.values(tensor), {}});
    }
  }
  void TearDown() override { std::filesystem::remove(path_); }

  TensorSource& named(const std::string& name) {
    for (TensorSource& tensor : tensors_) {
      if (tensor.name == name) return tensor;
    }
    throw std::out_of_range(name);
  }

  void expect_loads() {
    write_safetensors(path_, tensors_, {});
    ParameterStore<float> loaded(config_, false);
    load_weights(SafetensorsFile(path_), loaded);
    EXPECT_TRUE(std::ranges::equal(loaded.values(), source_.values()));
  }

  std::string problems() {
    write_safetensors(path_, tensors_, {});
    ParameterStore<float> loaded(config_, false);
    try {
      load_weights(SafetensorsFile(path_), loaded);
    } catch (const WorkloadError& error) {
      EXPECT_EQ(error.kind(), WorkloadErrorKind::kInput);
      return error.cause();
    }
    return {};
  }

  std::filesystem::path path_;
  SwinConfig config_;
  ParameterStore<float> source_;
  std::vector<TensorSource> tensors_;
};

TEST_F(Weights, TimmsNamesLoad) { expect_loads(); }

TEST_F(Weights, ComputedBuffersAreSkipped) {
  const std::vector<float> index(256);
  tensors_.push_back({"layers.0.blocks.0.attn.relative_position_index", {16, 16}, index, {}});
  tensors_.push_back({"layers.0.blocks.1.attn_mask", {256}, index, {}});
  expect_loads();
}

TEST_F(Weights, NamesOfTheOriginalCheckpointsLoad) {
  for (TensorSource& tensor : tensors_) {
    if (tensor.name.starts_with("head.fc.")) tensor.name = "head." + tensor.name.substr(8);
    if (tensor.name.starts_with("layers.1.downsample.")) tensor.name[7] = '0';
  }
  expect_loads();
}

TEST_F(Weights, AllProblemsAreInOneMessage) {
  named("norm.weight").name = "normal.weight";
  named("layers.0.blocks.1.attn.v_bias").name = "layers.0.blocks.1.attn.k_bias";
  TensorSource& misshapen = named("layers.1.blocks.0.mlp.fc1.weight");
  std::swap(misshapen.shape[0], misshapen.shape[1]);
  const std::string text = problems();
  EXPECT_THAT(text, HasSubstr("2 missing: layers.0.blocks.1.attn.v_bias, norm.weight"));
  EXPECT_THAT(text, HasSubstr("1 misshapen: layers.1.blocks.0.mlp.fc1.weight (F32 [64, 256] instead of [256, 64])"));
  EXPECT_THAT(text, HasSubstr("2 unexpected: layers.0.blocks.1.attn.k_bias, normal.weight"));
}

TEST_F(Weights, TheOtherVersionsWeightsAreRefused) {
  config_ = find_model("swin_nano");
  const std::string text = problems();
  EXPECT_THAT(text, HasSubstr("relative_position_bias_table"));
  EXPECT_THAT(text, HasSubstr("unexpected: "));
  EXPECT_THAT(text, HasSubstr("logit_scale"));
}

// 10 classes in the file, 3 in the model: everything but the classifier is taken, which keeps its values.
TEST_F(Weights, AClassifierForOtherClassesIsLeftOutToTune) {
  write_safetensors(path_, tensors_, {});
  const SafetensorsFile file(path_);
  SwinConfig other = config_;
  other.classes = 3;
  ParameterStore<float> tuned(other, false);
  std::ranges::fill(tuned.values(), 7.0F);
  EXPECT_FALSE(load_weights_to_tune(file, tuned));
  for (const ParameterInfo& tensor : tuned.layout().tensors()) {
    if (tensor.name.starts_with("head.fc.")) {
      for (const float value : tuned.values(tensor))
        ASSERT_EQ(value, 7.0F) << tensor.name;
    } else {
      EXPECT_TRUE(std::ranges::equal(tuned.values(tensor), source_.values(source_.layout().find(tensor.name))))
          << tensor.name;
    }
  }
  EXPECT_THROW(load_weights(file, tuned), WorkloadError);  // strict, unless asked for
  ParameterStore<float> same(config_, false);
  EXPECT_TRUE(load_weights_to_tune(file, same));
  EXPECT_TRUE(std::ranges::equal(same.values(), source_.values()));
}

TEST_F(Weights, WithoutAClassifierTheyServeToTune) {
  std::erase_if(tensors_, [](const TensorSource& tensor) { return tensor.name.starts_with("head.fc."); });
  write_safetensors(path_, tensors_, {});
  ParameterStore<float> tuned(config_, false);
  EXPECT_FALSE(load_weights_to_tune(SafetensorsFile(path_), tuned));
}

// Half a classifier, or one for other channels, is no other task but a damaged or a wrong file.
TEST_F(Weights, OnlyTheNumberOfClassesMayDifferToTune) {
  const auto refused = [this] {
    write_safetensors(path_, tensors_, {});
    SwinConfig other = config_;
    other.classes = 3;
    ParameterStore<float> tuned(other, false);
    EXPECT_THROW(load_weights_to_tune(SafetensorsFile(path_), tuned), WorkloadError);
  };
  const std::vector<TensorSource> whole = tensors_;
  std::erase_if(tensors_, [](const TensorSource& tensor) { return tensor.name == "head.fc.bias"; });
  refused();
  tensors_ = whole;
  std::swap(named("head.fc.weight").shape[0], named("head.fc.weight").shape[1]);
  refused();
  tensors_ = whole;
  named("norm.weight").name = "normal.weight";
  refused();
}

TEST_F(Weights, NothingIsChangedWhenSomethingIsWrong) {
  tensors_.pop_back();
  write_safetensors(path_, tensors_, {});
  ParameterStore<float> loaded(config_, false);
  EXPECT_THROW(load_weights(SafetensorsFile(path_), loaded), WorkloadError);
  for (const float value : loaded.values())
    ASSERT_EQ(value, 0.0F);
}

}  // namespace
}  // namespace swinscope
