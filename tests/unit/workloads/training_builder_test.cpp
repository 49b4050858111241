// What a training step is made of, and where its values lie: known without any device.
#include "workloads/cuda/training_builder.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "workloads/cuda/device_trainer.h"
#include "workloads/error.h"
#include "workloads/model_cost.h"

namespace swinscope {
namespace {

using testing::HasSubstr;

class NoMatmul : public cuda::Matmul {
 public:
  void run(const cuda::MatmulOperands& /*operands*/, cuda::Stream /*stream*/) const override {}
};

// The steps only, which are never run.
struct Built {
  explicit Built(const SwinConfig& config, const std::string& level = "graph", bool accumulate = false, int spare = 0)
      : layout(config, 2, layout_of(level)) {
    TrainingBuildOptions options;
    options.spare_multiprocessors = spare;
    options.features = training_features(find_level(level).features);
    options.drop_path = 0.2;
    const NoMatmul matmul;
    TrainingBuilder builder(config, 2, options, layout, nullptr,
                            [&](const cuda::MatmulShape& shape) -> const cuda::Matmul& {
                              shapes.push_back(shape);
                              return matmul;
                            });
    forward = builder.forward(true);
    forward_shapes = shapes.size();
    backward = builder.backward(accumulate, 0.5);
  }
  static TrainingLayoutOptions layout_of(const std::string& level) {
    DeviceTrainerOptions options;
    options.features = training_features(find_level(level).features);
    options.trainer.drop_path = 0.2;
    return layout_options(options);
  }
  TrainingLayout layout;
  std::vector<cuda::MatmulShape> shapes;
  std::size_t forward_shapes = 0;  // of them
  std::vector<DeviceStep> forward;
  BackwardSteps backward;
};

std::map<std::string, std::uint64_t> flops_by_name(const std::vector<DeviceStep>& steps) {
  std::map<std::string, std::uint64_t> flops;
  for (const DeviceStep& step : steps)
    flops[step.name.path()] += step.payload.flops;
  return flops;
}

void expect_regions_apart(const TrainingLayout& layout) {
  std::vector<Region> regions = layout.regions();
  std::ranges::sort(regions, {}, &Region::offset);
  std::int64_t end = 0;
  for (const Region& region : regions) {
    EXPECT_EQ(region.offset % 256, 0);
    EXPECT_GE(region.offset, end);
    EXPECT_LT(region.offset - end, 256);
    end = region.offset + region.bytes;
  }
  EXPECT_LE(end, layout.bytes());
  EXPECT_LT(layout.bytes() - end, 256);
}

TEST(TrainingLayout, RegionsLieApartAndFillTheMemory) {
  for (const char* name : {"swin_tiny", "swinv2_tiny"}) {
    for (const auto& [recompute, lowest] : {std::pair(false, false), {true, false}, {false, true}, {true, true}}) {
      const TrainingLayoutOptions options{ElementType::kBf16, recompute, true, true, lowest, lowest};
      expect_regions_apart(TrainingLayout(find_model(name), 5, options));
    }
    SwinConfig segmenting = find_model(name);
    segmenting.task = Task::kSegmentation;
    for (const bool inference : {false, true}) {
      for (const bool tap_fusion : {false, true}) {
        TrainingLayoutOptions options;
        options.inference = inference;
        options.tap_fusion = tap_fusion;
        expect_regions_apart(TrainingLayout(segmenting, 5, options));
      }
    }
  }
}

// 16 bytes a parameter and 2 for its copy; of each token 16 values of its channels for each block, and the rest.
TEST(TrainingLayout, HasTheSizeThatItsFormulaSays) {
  const SwinConfig& config = find_model("swin_large");
  const auto bytes = [&](std::int64_t batch, bool recompute) {
    return TrainingLayout(config, batch, {ElementType::kFp16, recompute, false, true}).bytes();
  };
  std::int64_t activations = 0;
  for (const BlockPlace& place : blocks_of(config)) {
    const StageShape shape = stage_shape(config, place.stage);
    const std::int64_t tokens = std::int64_t{shape.resolution} * shape.resolution;
    activations += tokens * (16 * shape.width * 2 + shape.heads * 4);
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
// are padded to 56, instead of qkv and the LSE; and the input of qkv once more, cut into windows.
TEST(TrainingLayout, TheLowestRungKeepsWhatAFrameworkKeeps) {
  const SwinConfig& config = find_model("swin_large");
  const auto per_image = [&](bool copies, bool steps) {
    const auto bytes = [&](std::int64_t batch) {
      return TrainingLayout(config, batch, {ElementType::kFp16, false, false, true, copies, steps}).bytes();
    };
    return (bytes(128) - bytes(64)) / 64;
  };
  std::int64_t heads = 0, probabilities = 0, windows = 0, others = 0;
  for (const BlockPlace& place : blocks_of(config)) {
    const StageShape shape = stage_shape(config, place.stage);
    const std::int64_t tokens = std::int64_t{shape.resolution} * shape.resolution;
    heads += tokens / 49 * 56 * 3 * shape.width * 2;
    probabilities += tokens / 49 * shape.heads * 56 * 56 * 2;
    windows += tokens * shape.width * 2;
    others += tokens * (3 * shape.width * 2 + shape.heads * 4);
  }
  // The first stage's scores in fp32 and fp16, and gradients of q, k, v and of what is attended, which do not stay.
  const std::int64_t scratch = 64 * 6 * 56 * 56 * (4 + 2) + 64 * 56 * 4 * 192 * 2;
  const auto difference = static_cast<double>(per_image(false, true) - per_image(false, false));
  EXPECT_NEAR(difference, static_cast<double>(heads + probabilities - others + scratch), 0.01 * difference);
  EXPECT_NEAR(static_cast<double>(per_image(true, true) - per_image(false, true)), static_cast<double>(windows),
              0.01 * static_cast<double>(windows));
}

class TrainingSteps : public testing::TestWithParam<const char*> {};

// The work that the CPU's annotations count, operation by operation: products and attention, twice as much backward.
TEST_P(TrainingSteps, CarryTheWorkOfTheModel) {
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
TEST_P(TrainingSteps, OfTheLowestRungHaveTheGradientsOfEachOperation) {
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

TEST_P(TrainingSteps, GradientsBecomeFinalFromFrontToBack) {
  const SwinConfig& config = find_model(GetParam());
  const BackwardSteps backward = Built(config).backward;
  ASSERT_EQ(backward.marks.size(), 1 + 2 * blocks_of(config).size() + static_cast<std::size_t>(config.stages - 1) + 1);
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

TEST_P(TrainingSteps, HaveTheNamesOfTheCpuTrainer) {
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

TEST_P(TrainingSteps, WeightGradientsAreInFp32AndAddUpWhereBatchesDo) {
  const SwinConfig& config = find_model(GetParam());
  for (const bool accumulate : {false, true}) {
    const Built built(config, "graph", accumulate);
    int weights = 0;
    for (const cuda::MatmulShape& shape : built.shapes) {
      if (!shape.transpose_a) continue;
      ++weights;
      EXPECT_EQ(shape.result_type, ElementType::kFp32);
      EXPECT_EQ(shape.accumulate, accumulate);
    }
    EXPECT_EQ(weights, static_cast<int>(4 * blocks_of(config).size()) + config.stages - 1 + 2);
  }
}

TEST_P(TrainingSteps, ProductsOfTheBackwardPassLeaveRoomForAllReduces) {
  const Built built(find_model(GetParam()), "graph", false, 8);
  ASSERT_LT(built.forward_shapes, built.shapes.size());
  for (std::size_t i = 0; i < built.shapes.size(); ++i)
    EXPECT_EQ(built.shapes[i].spare_multiprocessors, i < built.forward_shapes ? 0 : 8) << i;
}

INSTANTIATE_TEST_SUITE_P(Models, TrainingSteps, testing::Values("swin_nano", "swinv2_nano", "swin_tiny", "swinv2_tiny"),
                         [](const auto& model) { return std::string(model.param); });

}  // namespace
}  // namespace swinscope
