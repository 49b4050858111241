// The generator against values that tests/peers/timm/export_fixtures.py gives: the two must agree bit for bit.
#include "workloads/redraw.h"

#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "workloads/models/model_table.h"

namespace swinscope {
namespace {

constexpr std::uint64_t kSeed = 20240229;

struct Known {
  const char* name;
  std::vector<std::int64_t> shape;
  float first;
  float second;
  std::uint64_t checksum;
};

const Known kKnown[] = {
    {"layers.0.blocks.0.attn.qkv.weight", {288, 96}, 0x1.8e59cap-5F, -0x1.018cbap-3F, 1614046453271714148U},
    {"norm.weight", {768}, 0x1.3d4064p+0F, 0x1.5708dep+0F, 627772880027869U},
    {"head.fc.bias", {1000}, 0x1.50b986p-3F, -0x1.8f7b4cp-4F, 2053740712605537U},
    {"layers.2.blocks.5.attn.logit_scale", {12, 1, 1}, 0x1.abf2fcp+0F, 0x1.422984p+1F, 154584837647U},
    {"layers.0.blocks.0.attn.q_bias", {96}, -0x1.410790p-6F, 0x1.3c5fbcp-2F, 19076623715484U},
    {"layers.0.blocks.0.attn.relative_position_bias_table",
     {169, 3},
     -0x1.16d728p+0F,
     0x1.6e1998p-3F,
     532320520286960U},
    {"patch_embed.proj.weight", {96, 3, 4, 4}, -0x1.b6a8c8p-3F, -0x1.dcea80p-8F, 44211619453197576U},
    {"input.image", {2, 3, 224, 224}, -0x1.0a56eap-1F, -0x1.7c9c08p+0F, 8685479371662974232U},
    {"layers.1.downsample.norm.weight", {384}, 0x1.36504ep+0F, 0x1.8f4854p-1F, 157004132025631U},
    {"layers.0.blocks.1.norm2.weight", {96}, 0x1.fe633ep-1F, 0x1.14aebcp-1F, 9810016086463U},
    {"layers.0.blocks.1.attn.cpb_mlp.0.weight", {512, 2}, -0x1.33f4d0p+0F, -0x1.303a4ap-1F, 2253615588915492U},
    {"layers.0.blocks.1.attn.cpb_mlp.0.bias", {512}, -0x1.5b9ff8p-2F, 0x1.56a36ap-2F, 557282923096366U},
};

class KnownTensor : public testing::TestWithParam<Known> {};

template <typename T>
void expect_known(const Known& known) {
  std::int64_t count = 1;
  for (const std::int64_t extent : known.shape)
    count *= extent;
  std::vector<T> values(static_cast<std::size_t>(count));
  redraw_tensor<T>(known.name, known.shape, kSeed, values);
  EXPECT_EQ(values[0], static_cast<T>(known.first));
  EXPECT_EQ(values[1], static_cast<T>(known.second));
  EXPECT_EQ(redraw_checksum<T>(values), known.checksum);
}

TEST_P(KnownTensor, IsRedrawnBitForBit) {
  expect_known<float>(GetParam());
  expect_known<double>(GetParam());
}

INSTANTIATE_TEST_SUITE_P(Tensors, KnownTensor, testing::ValuesIn(kKnown), [](const auto& known) {
  std::string name = known.param.name;
  for (char& letter : name)
    letter = letter == '.' ? '_' : letter;
  return name;
});

TEST(Redraw, SeedAndNameBothMatter) {
  const HashStream stream("a", 1);
  EXPECT_NE(stream.bits(0), HashStream("b", 1).bits(0));
  EXPECT_NE(stream.bits(0), HashStream("a", 2).bits(0));
  EXPECT_NE(stream.bits(0), stream.bits(1));
}

TEST(Redraw, ChecksumSeesOrderAndZeros) {
  const std::vector<float> values = {1.0F, 2.0F, 0.0F};
  const std::vector<float> swapped = {2.0F, 1.0F, 0.0F};
  const std::vector<float> longer = {1.0F, 2.0F, 0.0F, 0.0F};
  EXPECT_NE(redraw_checksum<float>(values), redraw_checksum<float>(swapped));
  EXPECT_NE(redraw_checksum<float>(values), redraw_checksum<float>(longer));
}

TEST(Redraw, NormalDrawsHaveMeanZeroAndVarianceOne) {
  const HashStream stream("normal", kSeed);
  constexpr int kDraws = 100000;
  double sum = 0.0;
  double squares = 0.0;
  for (int i = 0; i < kDraws; ++i) {
    const double value = stream.normal(static_cast<std::uint64_t>(i));
    sum += value;
    squares += value * value;
  }
  // Five standard errors of each.
  EXPECT_NEAR(sum / kDraws, 0.0, 5.0 / std::sqrt(kDraws));
  EXPECT_NEAR(squares / kDraws, 1.0, 5.0 * std::sqrt(2.0 / kDraws));
}

TEST(Redraw, EveryParameterOfAModelIsDrawn) {
  for (const char* name : {"swin_nano", "swinv2_nano"}) {
    const SwinConfig& config = find_model(name);
    ParameterStore<float> store(config, false);
    redraw_parameters(store, kSeed);
    for (const ParameterInfo& tensor : store.layout().tensors()) {
      double squares = 0.0;
      for (const float value : store.values(tensor))
        squares += static_cast<double>(value) * static_cast<double>(value);
      EXPECT_GT(squares, 0.0) << tensor.name;
    }
  }
}

}  // namespace
}  // namespace swinscope
