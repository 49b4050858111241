// Training with products of 8-bit operands, by the device functions in host memory and by those of a GPU: gradients
// near those of the CPU, the same bits however it is launched and resumed, and what happens to what is not finite.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/unit/workloads/gpu_test.h"
#include "tests/unit/workloads/gradient_comparison.h"
#include "workloads/cuda/device_trainer.h"
#include "workloads/cuda/training_plan.h"
#include "workloads/passes/passes.h"
#include "workloads/synthetic_data.h"

namespace swinscope {
namespace {

constexpr std::int64_t kDataset = 4;
constexpr std::uint64_t kSeed = 5;

// Blocks of 64 channels, with heads of 32; or one, and one of 128 behind it.
SwinConfig narrow(SwinVersion version) { return {"swin_narrow", version, 32, 64, 1, {2}, {2}, 4, 10}; }
SwinConfig two_stages(SwinVersion version) { return {"swin_two_stages", version, 32, 64, 2, {1, 1}, {2, 4}, 4, 10}; }

DeviceTrainerOptions byte_options(Precision precision, bool byte_gradients, const char* level = "graph") {
  DeviceTrainerOptions options;
  options.precision = precision;
  options.byte_gradients = byte_gradients;
  options.least_byte_width = 64;
  options.features = training_features(find_level(level).features);
  options.trainer.batch_per_rank = 1;
  options.trainer.total_steps = 8;
  options.trainer.drop_path = 0.3;
  options.trainer.seed = kSeed;
  return options;
}

struct Training {
  explicit Training(const SwinConfig& model, const DeviceTrainerOptions& wanted)
      : config(model), options(wanted), trainer(model, wanted, test::redrawn(model, kSeed)) {}

  void steps(int count) {
    SyntheticData data(config, kDataset, kSeed);
    ResidentFeed feed(data, data.size(), config, options.trainer.batch_per_rank, trainer.element_type(),
                      trainer.stream());
    for (int i = 0; i < count; ++i)
      trainer.step(feed);
    for (const FinishedStep& step : trainer.finished(true))
      results.push_back(step.result);
    const std::size_t size = trainer.gradients().size();
    for (std::vector<float>* const flat : {&values, &first, &second})
      flat->resize(size);
    state = trainer.download(values, first, second);
  }

  SwinConfig config;
  DeviceTrainerOptions options;
  DeviceTrainer trainer;
  std::vector<StepResult> results;
  std::vector<float> values, first, second;
  DeviceTrainingState state;
};

bool has_eight_bits(const Op& op) { return op.kind == OpKind::kQuantizedLinear; }

class ByteTrainer : public test::GpuTest, public testing::WithParamInterface<SwinVersion> {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    const cuda::DeviceInfo gpu = IsSkipped() ? cuda::DeviceInfo{} : cuda::device_info();
    if (gpu.major > 0 && gpu.major != 9) GTEST_SKIP() << "products of 8-bit operands need compute capability 9.0";
  }
};

TEST_P(ByteTrainer, GradientsComeNearThoseOf16Bits) {
  const SwinConfig config = two_stages(GetParam());
  DeviceTrainerOptions options = byte_options(Precision::kFp16, false);
  options.trainer.learning_rate = 0.0;
  Training exact(config, options);
  exact.steps(5);
  for (const auto& [precision, gradients, tolerance] :
       {std::tuple(Precision::kFp8, true, 0.15), {Precision::kFp8, false, 0.15}, {Precision::kInt8, false, 0.1}}) {
    DeviceTrainerOptions rounding = byte_options(precision, gradients);
    rounding.trainer.learning_rate = 0.0;
    Training run(config, rounding);
    run.steps(5);  // until the scales are known
    EXPECT_NEAR(run.results.back().loss, exact.results.back().loss, 0.05);
    const double error = test::relative(run.trainer.gradients(), exact.trainer.gradients());
    EXPECT_LT(error, tolerance);
    EXPECT_GT(error, 1e-4);  // it does round
  }
}

TEST_P(ByteTrainer, LaunchedEitherWayAndComputedAgainItGivesTheSameBits) {
  const SwinConfig config = narrow(GetParam());
  DeviceTrainerOptions options = byte_options(Precision::kFp8, true);
  Training graph(config, options);
  graph.steps(3);
  options.features.graph = false;
  Training single(config, options);
  single.steps(3);
  EXPECT_EQ(graph.values, single.values);
  EXPECT_EQ(graph.state.byte_scales, single.state.byte_scales);
  options.recompute = true;
  Training again(config, options);
  again.steps(3);
  EXPECT_EQ(graph.values, again.values);
}

TEST_P(ByteTrainer, GoesOnToTheBitFromWhatItWrote) {
  const SwinConfig config = narrow(GetParam());
  const DeviceTrainerOptions options = byte_options(Precision::kFp8, true);
  Training whole(config, options);
  whole.steps(5);
  Training half(config, options);
  half.steps(2);
  ASSERT_FALSE(half.state.byte_scales.empty());
  Training rest(config, options);
  rest.trainer.upload(half.state, half.values, half.first, half.second);
  rest.steps(3);
  EXPECT_EQ(rest.values, whole.values);
  EXPECT_EQ(rest.state.byte_scales, whole.state.byte_scales);
  // Without the scales it is another training.
  half.state.byte_scales.clear();
  Training other(config, options);
  other.trainer.upload(half.state, half.values, half.first, half.second);
  other.steps(3);
  EXPECT_NE(other.values, whole.values);
}

TEST_P(ByteTrainer, AGradientThatIsNotFiniteChangesNoParameterAndNoScale) {
  const SwinConfig config = narrow(GetParam());
  const DeviceTrainerOptions options = byte_options(Precision::kFp8, true);
  Training start(config, options);
  start.steps(3);
  Training run(config, options);
  DeviceTrainingState state = start.state;
  state.loss_scale = 0x1p120;  // nothing is finite under it
  run.trainer.upload(state, start.values, start.first, start.second);
  run.steps(1);
  EXPECT_TRUE(run.results.back().skipped);
  EXPECT_EQ(run.values, start.values);
  for (const DelayedScale& scale : run.state.byte_scales) {
    DelayedScale next = scale;
    advance(next, ByteFormat::kE4m3);
    EXPECT_TRUE(std::isfinite(next.scale));
  }
}

// Of a training of 8 bits in the highest rung no product of a wide block has 16-bit operands, and what can leave its
// result in 8 bits does: the rest is what no kernel of ours makes.
TEST_P(ByteTrainer, WhatMakesAnOperandRoundsIt) {
  DeviceTrainerOptions options = byte_options(Precision::kFp8, true);
  options.trainer.drop_path = 0.0;
  const TrainingPlan plan(two_stages(GetParam()), options, 2);
  std::set<std::string> apart;
  for (const std::vector<Op>* const ops : {&plan.training.forward, &plan.training.backward}) {
    for (const Op& op : *ops) {
      if (op.kind == OpKind::kQuantize) apart.insert(op.path);
      for (const char* const layer : {"attn.qkv", "attn.proj", "mlp.fc1", "mlp.fc2"})
        EXPECT_FALSE(op.kind == OpKind::kLinear && is_layer(op, layer)) << op.path;
    }
  }
  EXPECT_LE(apart.size(), 4U) << *apart.begin();
  EXPECT_GT(std::ranges::count_if(plan.training.forward, has_eight_bits), 0);
  EXPECT_EQ(std::ranges::count_if(plan.evaluation.forward, has_eight_bits), 0);
  options.least_byte_width = 0;  // its own rule: these blocks are too narrow
  const TrainingPlan none(two_stages(GetParam()), options, 2);
  EXPECT_EQ(std::ranges::count_if(none.training.forward, has_eight_bits), 0);
}

// What feeds products alone is written in 8 bits alone: a block's input of qkv (V1: its own normalization), attention's
// result and what GELU makes; backward the gradients of qkv, of GELU and (V2) of what is normalized. What the residual
// stream has stays as it is.
TEST_P(ByteTrainer, WhatNobodyReadsIn16BitsIsNotWritten) {
  const bool v1 = GetParam() == SwinVersion::kV1;
  DeviceTrainerOptions options = byte_options(Precision::kFp8, true);
  options.trainer.drop_path = 0.0;
  const auto alone = [](const Graph& graph, const std::vector<Op>& ops) {
    std::set<std::string> paths;
    for (const Op& op : ops)
      if (graph.only_in_bytes(op)) paths.insert(op.path);
    return paths;
  };
  const Graph graph = TrainingPlan(two_stages(GetParam()), options, 2).training;
  const std::set<std::string> forward = alone(graph, graph.forward), backward = alone(graph, graph.backward);
  for (const std::string block : {"stage1.block1.", "stage2.block1."}) {
    EXPECT_TRUE(forward.contains(block + "attn.window"));
    EXPECT_TRUE(forward.contains(block + "mlp.gelu"));
    EXPECT_EQ(forward.contains(block + "norm1"), v1);
    EXPECT_EQ(forward.contains(block + "norm2"), v1);
    EXPECT_TRUE(backward.contains(block + "attn.window"));
    EXPECT_TRUE(backward.contains(block + "mlp.gelu"));
    EXPECT_EQ(backward.contains(block + "norm1"), !v1);
  }
  // Where a gradient of a weight wants 16 bits they are written: those of --qat.
  options.byte_gradients = false;
  const Graph tuned = TrainingPlan(two_stages(GetParam()), options, 2).training;
  EXPECT_TRUE(alone(tuned, tuned.forward).empty());
}

INSTANTIATE_TEST_SUITE_P(Versions, ByteTrainer, testing::Values(SwinVersion::kV1, SwinVersion::kV2),
                         [](const auto& version) { return version.param == SwinVersion::kV1 ? "V1" : "V2"; });

TEST(DelayedScale, FollowsTheLargestOfTheStepsBefore) {
  DelayedScale scale;
  scale.scale = 3.0F;
  const auto see = [&](float magnitude, ByteFormat format = ByteFormat::kE4m3) {
    scale.largest = std::bit_cast<std::uint32_t>(magnitude);
    advance(scale, format);
    EXPECT_EQ(scale.largest, 0U);
  };
  see(0.0F);
  EXPECT_EQ(scale.scale, 3.0F);  // zeros say nothing
  see(448.0F);
  EXPECT_EQ(scale.scale, kFloatMargin);
  see(1.0F);
  EXPECT_EQ(scale.scale, kFloatMargin);  // it is remembered
  see(std::numeric_limits<float>::infinity());
  see(std::numeric_limits<float>::quiet_NaN());
  EXPECT_EQ(scale.history[0], 1.0F);
  for (int i = 0; i < kScaleHistory - 1; ++i)
    see(1.0F);
  EXPECT_EQ(scale.scale, kFloatMargin / 448.0F);  // and forgotten
  for (int i = 0; i < kScaleHistory; ++i)
    see(254.0F, ByteFormat::kInt8);
  EXPECT_EQ(scale.scale, 2.0F);
}

}  // namespace
}  // namespace swinscope
