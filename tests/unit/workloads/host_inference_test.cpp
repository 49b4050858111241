// A GPU's forward pass without a GPU, by the device functions in host memory: every rung and feature gives the logits
// of the CPU, also with the kernels that only some GPUs have.
#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/unit/workloads/gradient_comparison.h"
#include "tests/unit/workloads/host_device.h"
#include "tests/unit/workloads/loss_harness.h"
#include "workloads/cuda/calibration.h"
#include "workloads/cuda/device_model.h"
#include "workloads/cuda/device_segmenter.h"
#include "workloads/cuda/element_type.h"
#include "workloads/cuda/sensitivity.h"
#include "workloads/error.h"

namespace swinscope {
namespace {

constexpr std::uint64_t kSeed = 5;

// So small that the work of these models occupies it.
const cuda::DeviceInfo kSmallHopper = {
    .name = "a small H200", .major = 9, .minor = 0, .multiprocessors = 2, .l2_bytes = std::int64_t{1} << 20};

bool has_eight_bits(const DeviceStep& step) {
  return step.payload.precision == Precision::kFp8 || step.payload.precision == Precision::kInt8;
}

struct Reference {
  explicit Reference(const SwinConfig& model, std::int64_t images_of_batch)
      : config(model), batch(images_of_batch), store(model, false) {
    redraw_parameters(store, kSeed);
    images = test::redrawn_images<float>(config, batch, kSeed);
    HostModel<float> host(config, batch, {}, store);
    const float* const values = host.forward(images.data()).main;
    logits.assign(values, values + batch * config.classes);
  }

  struct Result {
    double error = 0.0;
    std::set<std::string> paths;
    int eight_bit_products = 0;
  };
  Result run(const DeviceModelOptions& options) const {
    DeviceModel model(config, batch, options, store);
    model.set_images(images);
    model.poison_activations();
    model.forward();
    const std::vector<float> got = model.logits();
    double square = 0.0, size = 0.0;
    for (std::size_t i = 0; i < logits.size(); ++i) {
      square += std::pow(got[i] - logits[i], 2);
      size += std::pow(logits[i], 2);
    }
    Result result{std::sqrt(square / size), {}};
    for (const DeviceStep& step : model.steps()) {
      result.paths.insert(step.name.path());
      if (has_eight_bits(step)) ++result.eight_bit_products;
    }
    return result;
  }

  SwinConfig config;
  std::int64_t batch;
  ParameterStore<float> store;
  std::vector<float> images;
  std::vector<float> logits;
};

double tolerance(Precision precision) { return precision == Precision::kFp32 ? 1e-5 : 5e-3; }

// Blocks of 128 and 256 channels, with heads of 32.
SwinConfig wide_blocks(SwinVersion version) {
  return {"swin_wide_blocks", version, 64, 128, 2, {2, 1}, {4, 8}, version == SwinVersion::kV2 ? 8 : 4, 10};
}

class HostInference : public testing::TestWithParam<SwinVersion> {
 protected:
  void TearDown() override { test::set_host_gpu({.name = "host memory"}); }
  const char* nano() const { return GetParam() == SwinVersion::kV1 ? "swin_nano" : "swinv2_nano"; }
};

TEST_P(HostInference, EveryRungGivesTheLogitsOfTheCpu) {
  const Reference reference(find_model(nano()), 2);
  for (const Level& level : ladder()) {
    for (const Precision precision : {Precision::kFp32, Precision::kFp16}) {
      DeviceModelOptions options;
      options.precision = precision;
      options.features = level.features;
      EXPECT_LT(reference.run(options).error, tolerance(precision)) << level.name;
    }
  }
}

TEST_P(HostInference, MapsThatWindowsDoNotDivideArePadded) {
  SwinConfig config = find_model(nano());
  config.image_size = 56;  // 14 x 14 and 7 x 7 tokens in windows of 4 x 4
  const Reference reference(config, 2);
  for (const Level& level : ladder()) {
    DeviceModelOptions options;
    options.precision = Precision::kFp32;
    options.features = level.features;
    EXPECT_LT(reference.run(options).error, tolerance(options.precision)) << level.name;
  }
}

TEST_P(HostInference, EachFeatureAloneChangesNoLogits) {
  const Reference reference(find_model(nano()), 1);
  for (const FeatureName& feature : feature_names()) {
    for (const bool only : {true, false}) {
      DeviceModelOptions options;
      options.precision = Precision::kFp32;
      options.features = only ? Features{} : find_level("graph").features;
      options.features.*(feature.member) = only;
      EXPECT_LT(reference.run(options).error, tolerance(options.precision))
          << (only ? "only " : "without ") << feature.name;
    }
  }
}

// Each with all of the highest rung but one: another kernel takes its place, and all of it still fits together.
TEST_P(HostInference, FusedKernelsGiveWhatTheirOperationsGive) {
  test::set_host_gpu(kSmallHopper);
  const Reference reference(wide_blocks(GetParam()), 2);
  DeviceModelOptions options;
  options.features = find_level("graph").features;
  const Reference::Result fused = reference.run(options);
  EXPECT_LT(fused.error, tolerance(options.precision));
  for (const char* path : {"stage1.block1.mlp.fc1", "stage1.block1.attn.qkv", "patch_embed.columns"})
    EXPECT_FALSE(fused.paths.contains(path)) << path;
  EXPECT_EQ(fused.paths.contains("stage1.block1.attn.proj"), GetParam() == SwinVersion::kV2);
  for (const FeatureName& feature : feature_names()) {
    DeviceModelOptions without = options;
    without.features.*(feature.member) = false;
    EXPECT_LT(reference.run(without).error, tolerance(options.precision)) << "without " << feature.name;
  }
}

// Blocks wide enough, with enough rows, for products of 8-bit numbers.
SwinConfig blocks_for_bytes(SwinVersion version) {
  return {"swin_blocks_for_bytes", version, 64, 192, 1, {2}, {6}, version == SwinVersion::kV2 ? 8 : 4, 10};
}

// The logits' cosine with the CPU's in fp32 is 0.998 at least.
TEST_P(HostInference, ProductsOfEightBitsKeepTheLogits) {
  test::set_host_gpu(kSmallHopper);
  const Reference reference(blocks_for_bytes(GetParam()), 1);
  for (const auto& [name, precision] : {std::pair("tensorcore", Precision::kFp8),
                                        {"fused", Precision::kFp8},
                                        {"graph", Precision::kFp8},
                                        {"tensorcore", Precision::kInt8},
                                        {"graph", Precision::kInt8}}) {
    const Level& level = find_level(name);
    DeviceModelOptions options;
    options.precision = precision;
    options.features = level.features;
    const InputCounts counts =
        count_inputs(reference.config, reference.batch, options, reference.store, {reference.images});
    EXPECT_EQ(counts.size(), 10U);  // of eight products and two attentions
    options.input_ranges = ranges_of(counts, Observer::kMse, byte_format_of(precision));
    const Reference::Result result = reference.run(options);
    EXPECT_LT(result.error, 6.3e-2) << level.name;
    EXPECT_GT(result.error, 5e-4) << level.name << ": nothing was rounded";
    EXPECT_EQ(result.eight_bit_products, 8) << level.name;
    const bool fused = level.features.layernorm;
    EXPECT_EQ(result.paths.contains("stage1.block2.mlp.fc1.quantize"), !fused) << level.name;
    EXPECT_EQ(result.paths.contains("stage1.block2.mlp.fc2.quantize"), !fused) << level.name;
    EXPECT_EQ(result.paths.contains("stage1.block2.attn.proj.quantize"), !level.features.attention) << level.name;
  }
}

// d is for nothing, and takes 1 off. Of 6, b and c take off 5 more for 5, a would for 8; of 9, a and b take off 8 for
// 10, a and c for 11.
TEST(EightBits, TheCheapestChoiceOfLayersStaysInSixteenBits) {
  const std::vector<LayerGroup> groups = {
      {"a", 6.0, 8.0}, {"b", 3.0, 2.0}, {"c", 4.0, 3.0}, {"d", 1.0, -0.5}, {"e", -1.0, 0.0}};
  const auto cheapest = [&](double error) { return cheapest_in_16_bits(groups, error, 0.1); };
  using Indices = std::vector<std::size_t>;
  EXPECT_EQ(cheapest(0.5), (Indices{3}));
  EXPECT_EQ(cheapest(4.0), (Indices{1, 3}));
  EXPECT_EQ(cheapest(5.0), (Indices{2, 3}));
  EXPECT_EQ(cheapest(6.0), (Indices{1, 2, 3}));
  EXPECT_EQ(cheapest(9.0), (Indices{0, 1, 3}));
  EXPECT_EQ(cheapest(14.0), (Indices{0, 1, 2, 3}));
  EXPECT_EQ(cheapest(14.5), (Indices{0, 1, 2, 3, 4}));                   // not enough
  EXPECT_EQ(cheapest_in_16_bits(groups, 5.0, 2.5), (Indices{1, 2, 3}));  // b is for nothing, too
  EXPECT_TRUE(cheapest_in_16_bits({}, 1.0, 0.1).empty());
}

// Layers stay in 16 bits until the logits are as close as is asked for.
TEST_P(HostInference, LayersThatCostMostStayInSixteenBits) {
  test::set_host_gpu(kSmallHopper);
  const Reference reference(blocks_for_bytes(GetParam()), 1);
  DeviceModelOptions options;
  options.precision = GetParam() == SwinVersion::kV1 ? Precision::kFp8 : Precision::kInt8;
  options.features = find_level("graph").features;
  const InputRanges ranges =
      ranges_of(count_inputs(reference.config, reference.batch, options, reference.store, {reference.images}),
                Observer::kMse, byte_format_of(options.precision));
  const PassTime each_product_saves_a_millisecond = [&](std::span<const DeviceStep> steps, cuda::Stream /*stream*/) {
    return 100.0 - static_cast<double>(std::ranges::count_if(
                       steps, [&](const DeviceStep& step) { return step.payload.precision == options.precision; }));
  };
  const auto find = [&](double least_cosine) {
    return find_sensitivity(reference.config, reference.batch, options, reference.store, reference.images, ranges,
                            least_cosine, each_product_saves_a_millisecond);
  };
  const Sensitivity any = find(0.0);
  EXPECT_EQ(any.ranges, ranges);
  EXPECT_EQ(any.groups.size(), GetParam() == SwinVersion::kV1 ? 5U : 4U);  // V1's attention reads 8 bits, too
  EXPECT_LT(any.all.cosine, 0.99999);
  const double wanted = (1.0 + any.all.cosine) / 2.0;
  const Sensitivity closer = find(wanted);
  EXPECT_EQ(closer.all.cosine, any.all.cosine);
  EXPECT_GE(closer.chosen.cosine, wanted);
  EXPECT_LT(closer.ranges.size(), ranges.size());
  EXPECT_GT(closer.ranges.size(), 0U);
  // No other choice that would do is cheaper.
  const auto saved = [](const Sensitivity& found) {
    double sum = 0.0;
    for (const LayerGroup& group : found.groups)
      sum += group.kept ? 0.0 : group.saved_milliseconds;
    return sum;
  };
  EXPECT_LT(saved(closer), saved(find(1.0)));
  EXPECT_EQ(std::ranges::count_if(find(1.0).groups, &LayerGroup::kept), 0);
  for (const LayerGroup& group : any.groups)
    EXPECT_EQ(group.saved_milliseconds, group.name.ends_with("attn.window") ? 0.0 : 2.0) << group.name;
  for (const LayerGroup& group : closer.groups)
    EXPECT_EQ(group.kept, closer.ranges.contains("stage1.block1." + group.name.substr(std::string("stage1.").size())));
}

// Where a layer's range is not known, or the GPU has no such products, it stays in 16 bits.
TEST_P(HostInference, LayersWithoutARangeStayInSixteenBits) {
  const Reference reference(blocks_for_bytes(GetParam()), 1);
  DeviceModelOptions options;
  options.precision = Precision::kFp8;
  options.features = find_level("graph").features;
  options.input_ranges = {{"stage1.block1.mlp.fc1", 4.0F}};
  EXPECT_EQ(reference.run(options).eight_bit_products, 0);
  test::set_host_gpu(kSmallHopper);
  EXPECT_EQ(reference.run(options).eight_bit_products, 1);
  options.input_ranges = {};
  EXPECT_LT(reference.run(options).error, tolerance(Precision::kFp16));
}

// Elsewhere than on compute capability 9.0.
TEST(EightBits, AnotherGpuIsToldWhatToUse) {
  try {
    check_eight_bits({.name = "A100", .major = 8}, "int8");
    FAIL() << "no error";
  } catch (const WorkloadError& error) {
    EXPECT_NE(std::string(error.what()).find("--precision int8: A100"), std::string::npos);
    EXPECT_NE(error.hint().find("--precision fp16"), std::string::npos);
  }
  check_eight_bits({.name = "H100", .major = 9}, "int8");
}

// The same stages below a segmentation head, with both forms of its fusion.
TEST_P(HostInference, ScenesHaveTheFusedKernelsToo) {
  test::set_host_gpu(kSmallHopper);
  SwinConfig config = wide_blocks(GetParam());
  config.task = Task::kSegmentation;
  config.head_channels = 32;
  for (const bool tap_fusion : {false, true}) {
    ParameterStore<float> store(config, false);
    redraw_parameters(store, kSeed);
    std::ranges::fill(store.buffers(), 1.0F);
    const std::vector<float> images = test::redrawn_images<float>(config, 2, kSeed);
    HostModel<float> host(config, 2, {.tap_fusion = tap_fusion}, store);
    DeviceSegmenterOptions options;
    options.features = find_level("graph").features;
    options.tap_fusion = tap_fusion;
    DeviceSegmenter segmenter(config, 2, options, store);
    segmenter.set_images(images);
    segmenter.forward();
    const std::vector<float> logits = segmenter.logits();
    const std::span<const float> expected(host.forward(images.data()).main, logits.size());
    EXPECT_LT(test::relative(logits, expected), tolerance(Precision::kFp16));
    for (const DeviceStep& step : segmenter.steps())
      EXPECT_FALSE(step.name.path().starts_with("stage1.block1.mlp.")) << step.name.path();
  }
}

INSTANTIATE_TEST_SUITE_P(Versions, HostInference, testing::Values(SwinVersion::kV1, SwinVersion::kV2),
                         [](const auto& version) { return version.param == SwinVersion::kV1 ? "V1" : "V2"; });

}  // namespace
}  // namespace swinscope
