#include "workloads/weights.h"

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
using testing::Not;

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
  ~Weights() override { std::filesystem::remove(path_); }

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
