// The optimizations of inference, by what becomes of a graph: kinds of ops, and what they carry along that no list
// shows.
#include "workloads/passes/passes.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "workloads/execute/inference_pass.h"
#include "workloads/models/model.h"
#include "workloads/plan/memory_plan.h"

namespace swinscope {
namespace {

using testing::ElementsAre;
using testing::Pair;

const cuda::DeviceInfo kNoHopper = {.name = "A100", .major = 8, .multiprocessors = 108};

Graph graph_with(const char* model, const Features& features, bool normalizes_result = false) {
  DeviceModelOptions options;
  options.features = features;
  return device_graph(find_model(model), 1, options, kNoHopper, [=](const Op&, bool) { return normalizes_result; });
}

// Of the first block's ops, by layer.
std::vector<std::string> first_block(const Graph& graph) {
  constexpr std::string_view kBlock = "stage1.block1.";
  std::vector<std::string> layers;
  for (const Op& op : graph.forward)
    if (op.path.starts_with(kBlock)) layers.push_back(op.path.substr(kBlock.size()));
  return layers;
}

TEST(Passes, WithoutFeaturesEveryOperationStandsAlone) {
  EXPECT_THAT(first_block(graph_with("swin_nano", {})),
              ElementsAre("norm1", "attn.partition", "attn.qkv", "attn.qkv.bias", "attn.bias.gather", "attn.window",
                          "attn.proj", "attn.proj.bias", "attn.reverse", "residual1", "norm2", "mlp.fc1",
                          "mlp.fc1.bias", "mlp.gelu", "mlp.fc2", "mlp.fc2.bias", "residual2"));
}

TEST(Passes, TheHighestRungLeavesWhatAKernelEachDoes) {
  const Features graph = find_level("graph").features;
  EXPECT_THAT(first_block(graph_with("swin_nano", graph)),
              ElementsAre("norm1", "attn.qkv", "attn.window", "attn.proj", "norm2", "mlp.fc1", "mlp.fc2"));
  EXPECT_THAT(first_block(graph_with("swinv2_nano", graph)),
              ElementsAre("attn.qkv", "attn.window", "attn.proj", "norm1", "mlp.fc1", "mlp.fc2", "norm2"));
  EXPECT_THAT(first_block(graph_with("swinv2_nano", graph, true)),
              ElementsAre("attn.qkv", "attn.window", "attn.proj", "mlp.fc1", "mlp.fc2"));
}

// Whose weights a normalization brings into the cache: those of the two products after the next one.
TEST(PrefetchWeights, TakesWhatTheProductsAfterTheNextOneRead) {
  const Graph graph = graph_with("swin_nano", find_level("graph").features);
  std::vector<std::pair<std::string, std::string>> ahead;
  for (const Op& op : graph.forward)
    if (op.ahead_first != kNoTensor)
      ahead.emplace_back(op.path, graph.at(op.ahead_first).name + " " + graph.at(op.ahead_last).name);
  ASSERT_EQ(ahead.size(), 8U);
  EXPECT_THAT(ahead[0],
              Pair("stage1.block1.norm1", "layers.0.blocks.0.attn.proj.weight layers.0.blocks.0.mlp.fc1.weight"));
  EXPECT_THAT(ahead[3],
              Pair("stage1.block2.norm2", "layers.0.blocks.1.mlp.fc2.weight layers.1.downsample.reduction.weight"));
  EXPECT_THAT(ahead[7], Pair("stage2.block2.norm2", "layers.1.blocks.1.mlp.fc2.weight head.fc.weight"));
  const auto none = [](const Graph& of) {
    return std::ranges::none_of(of.forward, [](const Op& op) { return op.ahead_first != kNoTensor; });
  };
  EXPECT_TRUE(none(graph_with("swin_nano", {})));
  EXPECT_TRUE(none(graph_with("swinv2_nano", find_level("graph").features))) << "its normalizations come last";
}

TEST(L2Policy, KeepsResultsThatFitAndLetsGoOfWhatFillsTheCache) {
  DeviceModelOptions options;
  options.features = find_level("graph").features;
  cuda::DeviceInfo gpu = kNoHopper;
  const auto norm_of = [&](std::int64_t l2_bytes) {
    gpu.l2_bytes = l2_bytes;
    const Graph graph = device_graph(find_model("swin_nano"), 1, options, gpu, [](const Op&, bool) { return false; });
    return *std::ranges::find(graph.forward, "stage1.block1.norm1", &Op::path);
  };
  constexpr std::int64_t kBytes = std::int64_t{16} * 16 * 32 * 2;  // of the rows in fp16
  EXPECT_EQ(norm_of(10 * kBytes).out_policy, cuda::Eviction::kLast);
  EXPECT_EQ(norm_of(10 * kBytes).in_policy, cuda::Eviction::kNormal);
  EXPECT_EQ(norm_of(kBytes).out_policy, cuda::Eviction::kNormal);
  EXPECT_EQ(norm_of(kBytes).in_policy, cuda::Eviction::kFirst);
  options.features.cachehints = false;
  EXPECT_EQ(norm_of(10 * kBytes).out_policy, cuda::Eviction::kNormal);
}

// Sums within products are in place: both stand at the same offset, and the planner may count on that.
TEST(MemoryPlan, SumsWithinProductsAreInPlace) {
  for (const char* model : {"swin_tiny", "swinv2_tiny"}) {
    const Graph graph = graph_with(model, find_level("graph").features, true);
    const MemoryPlan plan = plan_memory(graph, false);
    int sums = 0;
    for (const Op& op : graph.forward) {
      if (op.kind != OpKind::kLinear || op.input(3) == kNoTensor) continue;
      ++sums;
      EXPECT_EQ(plan.offsets[static_cast<std::size_t>(op.in[3])], plan.offsets[static_cast<std::size_t>(op.out[0])])
          << op.path;
    }
    EXPECT_EQ(sums, 2 * block_count(find_model(model)));
  }
}

// Activations of swin_base at batch 32 took 270 MiB as buffers of fixed use: images and their columns, two streams, two
// of tokens and a hidden layer, in fp16.
TEST(MemoryPlan, TakesLessThanBuffersOfFixedUse) {
  DeviceModelOptions options;
  options.features = find_level("graph").features;
  const std::int64_t images = std::int64_t{32} * 3 * 224 * 224;
  const std::int64_t map = std::int64_t{32} * 56 * 56 * 128;
  EXPECT_LT(device_activation_bytes(find_model("swin_base"), 32, options), 2 * (2 * images + 8 * map));
}

}  // namespace
}  // namespace swinscope
