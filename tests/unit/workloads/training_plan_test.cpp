// What a training step is made of, and where its values lie: known without any device.
#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/workloads/host_device.h"
#include "workloads/cuda/training_steps.h"
#include "workloads/error.h"
#include "workloads/model_cost.h"
#include "workloads/models/model.h"

namespace swinscope {
namespace {

using testing::HasSubstr;

DeviceTrainerOptions options_at(const std::string& level) {
  DeviceTrainerOptions options;
  options.features = training_features(find_level(level).features);
  options.trainer.drop_path = 0.2;
  return options;
}

// The steps only, which are never run on anything.
struct Built {
  explicit Built(const SwinConfig& config, const std::string& level = "graph", bool accumulate = false)
      : plan(config, options_at(level), 2), convolutions(library, {}) {
    const test::HostDeviceRecording nothing_runs;
    TrainingSteps steps(config, options_at(level), plan, nullptr, library, convolutions, nullptr, nullptr);
    forward = steps.forward(true);
    backward = steps.backward(accumulate, 0.5);
  }
  // What the backward pass launches.
  std::vector<std::string> launches() const {
    test::HostDeviceRecording recording;
    for (const DeviceStep& step : backward.steps)
      step.run(nullptr);
    return recording.take();
  }
  TrainingPlan plan;
  cuda::MatmulLibrary library{{}};
  cuda::ConvolutionLibrary convolutions;
  std::vector<DeviceStep> forward;
  BackwardSteps backward;
};

std::map<std::string, std::uint64_t> flops_by_name(const std::vector<DeviceStep>& steps) {
  std::map<std::string, std::uint64_t> flops;
  for (const DeviceStep& step : steps)
    flops[step.name.path()] += step.payload.flops;
  return flops;
}

// No two tensors that are alive at the same op share a byte, but where an op writes over its own input.
void expect_apart(const Graph& graph, const DeviceMemory& memory) {
  std::vector<const Op*> ops;
  for (const std::vector<Op>* const list : {&graph.forward, &graph.backward})
    for (const Op& op : *list)
      ops.push_back(&op);
  std::map<TensorId, std::pair<std::size_t, std::size_t>> lives;
  const auto whole = [&](TensorId id) { return graph.at(id).whole == kNoTensor ? id : graph.at(id).whole; };
  for (std::size_t i = 0; i < ops.size(); ++i)
    for (const std::vector<TensorId>* const ids : {&ops[i]->in, &ops[i]->out})
      for (const TensorId id : *ids)
        if (id != kNoTensor && graph.at(id).role == TensorRole::kActivation)
          lives.try_emplace(whole(id), i, i).first->second.second = i;
  for (const auto& [a, life_a] : lives) {
    for (const auto& [b, life_b] : lives) {
      if (b <= a || life_a.first >= life_b.second || life_b.first >= life_a.second) continue;
      const auto* const begin_a = static_cast<const char*>(memory.tensors[static_cast<std::size_t>(a)]);
      const auto* const begin_b = static_cast<const char*>(memory.tensors[static_cast<std::size_t>(b)]);
      EXPECT_TRUE(begin_a + graph.at(a).bytes() <= begin_b || begin_b + graph.at(b).bytes() <= begin_a)
          << graph.at(a).name << " and " << graph.at(b).name;
    }
  }
}

TEST(TrainingPlan, WhatIsAliveTogetherLiesApart) {
  for (const char* name : {"swin_nano", "swinv2_nano"}) {
    for (const char* level : {"eager", "graph"}) {
      for (const bool recompute : {false, true}) {
        DeviceTrainerOptions options = options_at(level);
        options.recompute = recompute;
        SwinConfig config = find_model(name);
        const TrainingPlan images(config, options, 5);
        expect_apart(images.training, images.place(images.training, nullptr));
        config.task = Task::kSegmentation;
        options.trainer.tap_fusion = recompute;
        const TrainingPlan scenes(config, options, 5);
        expect_apart(scenes.training, scenes.place(scenes.training, nullptr));
        expect_apart(scenes.evaluation, scenes.place(scenes.evaluation, nullptr));
      }
    }
  }
}

// 16 bytes a parameter and 2 for its copy; of each token 16 values of its channels for each block, and the rest.
TEST(TrainingPlan, HasTheSizeThatItsFormulaSays) {
  const SwinConfig& config = find_model("swin_large");
  const auto bytes = [&](std::int64_t batch, bool recompute) {
    DeviceTrainerOptions options = options_at("graph");
    options.recompute = recompute;
    return TrainingPlan(config, options, batch).bytes();
  };
  std::int64_t activations = 0;
  for (int i = 0; i < config.stages; ++i) {
    const StageShape shape = stage_shape(config, i);
    const std::int64_t tokens = std::int64_t{shape.resolution} * shape.resolution;
    activations += shape.depth * tokens * (16 * shape.width * 2 + shape.heads * 4);
  }
  const std::int64_t per_image = (bytes(128, false) - bytes(64, false)) / 64;
  EXPECT_GT(per_image, activations);
  EXPECT_LT(static_cast<double>(per_image), 1.35 * static_cast<double>(activations));
  const std::int64_t parameters = ParameterLayout(config).flat_count() * 18;
  EXPECT_GT(bytes(1, false), parameters);
  EXPECT_LT((bytes(128, true) - bytes(64, true)) / 64, per_image * 2 / 5);
}

TEST(TrainingMemory, ABatchThatDoesNotFitIsRefusedWithOneThatDoes) {
  const SwinConfig& config = find_model("swin_large");
  DeviceTrainerOptions options;
  options.features = find_level("graph").features;
  options.trainer.batch_per_rank = 64;
  const std::int64_t fits = training_memory_need(config, options, 64);
  EXPECT_NO_THROW(check_training_memory(config, options, fits));
  options.trainer.batch_per_rank = 65;
  try {
    check_training_memory(config, options, fits);
    FAIL() << "no error";
  } catch (const WorkloadError& error) {
    EXPECT_EQ(error.kind(), WorkloadErrorKind::kUsage);
    EXPECT_THAT(error.hint(), HasSubstr("--batch-per-gpu 64 fits"));
    EXPECT_THAT(error.hint(), HasSubstr("--recompute"));
  }
  EXPECT_THROW(check_training_memory(config, options, 1 << 20), WorkloadError);
}

// What a framework keeps for the backward pass of attention: q, k, v and the probabilities of windows of 49 tokens that
// are padded to 56, instead of qkv and the LSE.
TEST(TrainingPlan, TheLowestRungKeepsWhatAFrameworkKeeps) {
  const SwinConfig& config = find_model("swin_large");
  const auto per_image = [&](bool copies, bool steps) {
    const auto bytes = [&](std::int64_t batch) {
      DeviceTrainerOptions options = options_at("graph");
      options.features.window = !copies;
      options.features.attention = !steps;
      return TrainingPlan(config, options, batch).bytes();
    };
    return (bytes(128) - bytes(64)) / 64;
  };
  std::int64_t heads = 0, probabilities = 0, others = 0;
  for (int i = 0; i < config.stages; ++i) {
    const StageShape shape = stage_shape(config, i);
    const std::int64_t tokens = std::int64_t{shape.resolution} * shape.resolution * shape.depth;
    heads += tokens / 49 * 56 * 3 * shape.width * 2;
    probabilities += tokens / 49 * shape.heads * 56 * 56 * 2;
    others += tokens * (3 * shape.width * 2 + shape.heads * 4);
  }
  // What lies between the steps takes room that is there anyway, or a little more.
  const auto difference = static_cast<double>(per_image(false, true) - per_image(false, false));
  EXPECT_NEAR(difference, static_cast<double>(heads + probabilities - others), 0.1 * difference);
  EXPECT_EQ(per_image(true, true), per_image(false, true)) << "rows of windows are kept in place of the map's";
}

class TrainingStepsTest : public testing::TestWithParam<const char*> {};

// The work that the CPU's annotations count, operation by operation: products and attention, twice as much backward.
TEST_P(TrainingStepsTest, CarryTheWorkOfTheModel) {
  const SwinConfig& config = find_model(GetParam());
  const Built built(config);
  const auto forward = flops_by_name(built.forward);
  const auto backward = flops_by_name(built.backward.steps);
  std::uint64_t sum = 0;
  for (const auto& [name, flops] : forward) {
    if (!name.ends_with(".attn.bias")) sum += flops;
    if (flops == 0) continue;
    ASSERT_TRUE(backward.contains(name)) << name;
    if (name == "patch_embed.proj") {
      EXPECT_EQ(backward.at(name), flops);  // the images need no gradient
    } else if (!name.ends_with(".attn.bias")) {
      EXPECT_EQ(backward.at(name), 2 * flops) << name;
    }
  }
  EXPECT_EQ(sum, static_cast<std::uint64_t>(2 * model_cost(config).flops()));
}

// By steps, too, each operation's backward pass has twice the work: of its window's padding as well.
TEST_P(TrainingStepsTest, OfTheLowestRungHaveTheGradientsOfEachOperation) {
  const SwinConfig& config = find_model(GetParam());
  const Built built(config, "eager");
  const auto forward = flops_by_name(built.forward);
  const auto backward = flops_by_name(built.backward.steps);
  for (const auto& [name, flops] : forward) {
    if (flops == 0 || name.ends_with(".attn.bias")) continue;
    ASSERT_TRUE(backward.contains(name)) << name;
    EXPECT_EQ(backward.at(name), name == "patch_embed.proj" ? flops : 2 * flops) << name;
  }
  std::vector<std::string> expected = {"split",       "scores", "softmax",   "values",  "merge",
                                       "bias.gather", "roll",   "partition", "reverse", "unroll"};
  if (config.version == SwinVersion::kV1) {
    expected.emplace_back("scale");
  } else {
    expected.insert(expected.end(), {"q_norm", "k_norm", "cosine"});
  }
  for (const std::string& name : expected) {
    EXPECT_TRUE(forward.contains("stage1.block2.attn." + name)) << name;
    EXPECT_TRUE(backward.contains("stage1.block2.attn." + name)) << name;
  }
  EXPECT_TRUE(forward.contains("stage1.block2.attn.mask"));
  EXPECT_FALSE(forward.contains("stage1.block1.attn.mask"));
  EXPECT_FALSE(forward.contains("stage1.block1.attn.roll"));
  EXPECT_GT(built.forward.size() + built.backward.steps.size(), 2 * Built(config).forward.size());
}

TEST_P(TrainingStepsTest, GradientsBecomeFinalFromFrontToBack) {
  const SwinConfig& config = find_model(GetParam());
  const BackwardSteps backward = Built(config).backward;
  ASSERT_EQ(backward.marks.size(), static_cast<std::size_t>(1 + 2 * block_count(config) + config.stages - 1 + 1));
  for (std::size_t i = 1; i < backward.marks.size(); ++i) {
    EXPECT_GT(backward.marks[i].end, backward.marks[i - 1].end);
    EXPECT_GT(backward.marks[i].count, backward.marks[i - 1].count);
  }
  EXPECT_EQ(backward.marks.back().count, backward.steps.size());
  EXPECT_EQ(backward.marks.back().end, ParameterLayout(config).flat_count());
  // All of a half's gradients stand before its mark, and none behind it is of that half.
  const ParameterLayout layout(config);
  for (const ParameterInfo& tensor : layout.tensors()) {
    const auto mark = std::ranges::find_if(
        backward.marks, [&](const GradientMark& m) { return tensor.offset + tensor.count <= m.end; });
    ASSERT_NE(mark, backward.marks.end());
    const std::int64_t before = mark == backward.marks.begin() ? 0 : std::prev(mark)->end;
    EXPECT_GE(tensor.offset, before) << tensor.name << " is final in two pieces";
  }
}

TEST_P(TrainingStepsTest, HaveTheNamesOfTheCpuTrainer) {
  const Built built(find_model(GetParam()));
  const auto forward = flops_by_name(built.forward);
  const auto backward = flops_by_name(built.backward.steps);
  for (const char* name : {"patch_embed.proj", "patch_embed.norm", "stage1.block1.norm1", "stage2.block2.attn.qkv",
                           "stage2.block1.attn.window", "stage1.block2.attn.proj", "stage1.block1.norm2",
                           "stage2.block2.mlp.fc1", "stage2.block2.mlp.gelu", "stage2.block2.mlp.fc2",
                           "stage1.merge.norm", "stage1.merge.reduction", "norm", "head.pool", "head.fc", "loss"}) {
    EXPECT_TRUE(forward.contains(name)) << name;
    EXPECT_TRUE(backward.contains(name)) << name;
  }
}

TEST_P(TrainingStepsTest, WeightGradientsAreInFp32AndAddUpWhereBatchesDo) {
  const SwinConfig& config = find_model(GetParam());
  for (const bool accumulate : {false, true}) {
    int weights = 0;
    for (const std::string& launch : Built(config, "graph", accumulate).launches()) {
      if (launch.find(" ta") == std::string::npos) continue;
      ++weights;
      EXPECT_THAT(launch, HasSubstr("to fp32"));
      EXPECT_EQ(launch.find("+y") != std::string::npos, accumulate) << launch;
    }
    EXPECT_EQ(weights, 4 * block_count(config) + config.stages - 1 + 2);
  }
}

TEST_P(TrainingStepsTest, ProductsOfTheBackwardPassLeaveRoomForAllReduces) {
  const TrainingPlan plan(find_model(GetParam()), options_at("graph"), 2);
  cuda::MatmulLibrary library({});
  CudaBackendOptions options;
  options.features = options_at("graph").features;
  options.spare_multiprocessors = 8;
  test::HostDeviceRecording recording;
  CudaBackend backend(plan.training, options, plan.place(plan.training, nullptr), library, nullptr, nullptr);
  const std::vector<DeviceStep> forward = backend.forward();
  const std::vector<DeviceStep> backward = backend.backward(false, plan.parameters).steps;
  recording.take();
  for (const bool sparing : {false, true}) {
    for (const DeviceStep& step : sparing ? backward : forward)
      step.run(nullptr);
    for (const std::string& launch : recording.take()) {
      if (!launch.starts_with("product")) continue;
      EXPECT_EQ(launch.find("sparing 8") != std::string::npos, sparing) << launch;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Models, TrainingStepsTest,
                         testing::Values("swin_nano", "swinv2_nano", "swin_tiny", "swinv2_tiny"),
                         [](const auto& model) { return std::string(model.param); });

}  // namespace
}  // namespace swinscope
