// A model's graph, and what follows from it: constants, backward pass, memory.
#include "workloads/graph/graph.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/workloads/loss_harness.h"
#include "workloads/graph/backward.h"
#include "workloads/graph/builder.h"
#include "workloads/graph/cost.h"
#include "workloads/models/model.h"
#include "workloads/passes/hoist_constants.h"
#include "workloads/plan/memory_plan.h"

namespace swinscope {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> paths_of(const std::vector<Op>& ops) {
  std::vector<std::string> paths;
  std::ranges::transform(ops, std::back_inserter(paths), &Op::path);
  return paths;
}

// Four tokens of 8 channels through 16 hidden ones: x + fc2(GELU(fc1(x))).
GraphBuilder small(bool training) {
  GraphBuilder g(DataType::kFp32, training, 1);
  const TensorId x = g.input("x", {1, 2, 2, 8});
  const TensorId first = g.linear("first", "first", x, 8);
  const TensorId hidden = g.gelu("gelu", g.linear("fc1", "fc1", first, 16));
  g.output("y", g.residual("residual", first, g.linear("fc2", "fc2", hidden, 8), kNoTensor));
  return g;
}

TEST(GraphBuilder, ExtentsFollowFromTheOperands) {
  Graph graph = small(false).finish();
  EXPECT_THAT(paths_of(graph.forward), ElementsAre("first", "fc1", "gelu", "fc2", "residual"));
  EXPECT_THAT(graph.at(graph.find("y")).shape, ElementsAre(1, 2, 2, 8));
  EXPECT_EQ(cost_of(graph, graph.forward[1]).flops, 2 * 4 * 8 * 16);
  EXPECT_EQ(cost_of(graph, graph.forward[1]).bytes_written, 4 * 16 * 4);
  EXPECT_EQ(graph.find("z"), kNoTensor);
}

// `first` (128 bytes) lives until the residual, the hidden layer (256) is turned in its place, fc2's result (128)
// becomes that of the whole in its own; each takes what tensors are aligned to.
TEST(MemoryPlan, IsWhatIsAliveAtOnce) {
  const Graph graph = small(false).finish();
  const MemoryPlan plan = plan_memory(graph);
  EXPECT_EQ(plan.bytes, 3 * MemoryPlan::kAlignment);
  const auto place = [&](std::size_t op) { return plan.offsets[static_cast<std::size_t>(graph.forward[op].out[0])]; };
  EXPECT_EQ(place(1), place(2));
  EXPECT_EQ(place(0), place(4));
  EXPECT_NE(place(0), place(3));
  EXPECT_LT(plan.offsets[static_cast<std::size_t>(graph.find("x"))], 0);
}

// Whether every value that an op reads is still there: an op claims the bytes that it writes, and finds those that it
// reads claimed by whoever made them.
void expect_values_stay(Graph graph, const std::string& name) {
  if (!graph.training) hoist_constants(graph);
  const MemoryPlan plan = plan_memory(graph);
  std::map<std::int64_t, std::pair<std::int64_t, TensorId>> owners;  // begin -> end, tensor
  const auto claim = [&](TensorId id) {
    const std::int64_t begin = id == kNoTensor ? -1 : plan.offsets[static_cast<std::size_t>(id)];
    if (begin < 0) return;
    const std::int64_t end = begin + graph.at(id).bytes();
    EXPECT_LE(end, plan.bytes);
    std::erase_if(owners, [&](const auto& o) { return o.first < end && begin < o.second.first; });
    owners[begin] = {end, id};
  };
  const auto expect_owned = [&](TensorId id, const std::string& by) {
    const std::int64_t begin = id == kNoTensor ? -1 : plan.offsets[static_cast<std::size_t>(id)];
    if (begin < 0) return;
    const auto found = owners.find(begin);
    ASSERT_TRUE(found != owners.end() && found->second.second == id) << name << ": overwritten before " << by;
  };
  for (const std::vector<Op>* ops : {&graph.once, &graph.forward, &graph.backward}) {
    for (const Op& op : *ops) {
      for (const TensorId id : op.in)
        expect_owned(id, op.path);
      for (const TensorId id : op.out)
        claim(id);
    }
  }
  for (const auto& [output, id] : graph.named)
    if (graph.at(id).role == TensorRole::kOutput) expect_owned(id, "the end: " + output);
}

SwinConfig scenes_of(SwinConfig config) {
  config.task = Task::kSegmentation;
  config.image_size = 64;
  return config;
}

TEST(MemoryPlan, NoValueIsOverwrittenBeforeItIsRead) {
  for (const char* name : {"swin_nano", "swinv2_nano", "swin_tiny", "swinv2_tiny"}) {
    for (const bool training : {false, true}) {
      const ModelOptions options{.training = training, .drop_path = 0.1};
      expect_values_stay(build_model(find_model(name), 2, options, DataType::kFp32), name);
      for (const bool tap_fusion : {false, true}) {
        const ModelOptions scenes{.training = training, .drop_path = 0.1, .tap_fusion = tap_fusion};
        expect_values_stay(build_model(scenes_of(find_model(name)), 2, scenes, DataType::kFp64, 2), name);
      }
    }
  }
}

// Inference of Swin-T at batch 1 in fp32: the qkv projection's 3 x 56 x 56 x 96 values beside its input, or the hidden
// layer's 4 x; beside them what stays: the outputs of stem, stages and final norm.
TEST(MemoryPlan, InferenceTakesWhatItsWidestLayerTakes) {
  const Graph graph = build_model(find_model("swin_tiny"), 1, {}, DataType::kFp32);
  const std::int64_t map = std::int64_t{56} * 56 * 96 * 4;
  const std::int64_t kept = map + map + map / 2 + map / 4 + map / 8 + map / 8;
  const std::int64_t planned = plan_memory(graph).bytes;
  EXPECT_GE(planned, 5 * map + map);  // the hidden layer, the branch's input or result, the stem that stays
  EXPECT_LE(planned, 6 * map + kept);
}

TEST(HoistConstants, TakesWhatFollowsFromWeightsAloneOutOfInference) {
  Graph v1 = build_model(find_model("swin_nano"), 1, {}, DataType::kFp32);
  hoist_constants(v1);
  EXPECT_THAT(v1.once, IsEmpty());
  Graph v2 = build_model(find_model("swinv2_nano"), 1, {}, DataType::kFp32);
  hoist_constants(v2);
  EXPECT_THAT(paths_of(v2.once),
              ElementsAre("stage1.block1.attn.qkv.join", "stage1.block1.attn.bias", "stage1.block2.attn.qkv.join",
                          "stage1.block2.attn.bias", "stage2.block1.attn.qkv.join", "stage2.block1.attn.bias",
                          "stage2.block2.attn.qkv.join", "stage2.block2.attn.bias"));
  EXPECT_EQ(v2.forward.size(), v1.forward.size());
  const Graph training = build_model(find_model("swinv2_nano"), 1, {.training = true}, DataType::kFp32);
  EXPECT_THAT(training.once, IsEmpty());
  EXPECT_EQ(training.forward.size(), v2.forward.size() + v2.once.size());
}

TEST(Backward, GradientsOfTwoPathsMeet) {
  Graph graph = small(true).finish();
  add_backward(graph, {"y"});
  // The residual hands its gradient on without an op, and meets fc1's where `first` begins.
  EXPECT_THAT(paths_of(graph.backward), ElementsAre("fc2", "gelu", "fc1", "residual", "first"));
  EXPECT_EQ(graph.backward[3].kind, OpKind::kAdd);
  const TensorId seed = graph.find("gradient of y");
  EXPECT_EQ(graph.at(seed).role, TensorRole::kInput);
  EXPECT_THAT(graph.backward[3].in, ElementsAre(seed, graph.backward[2].out[0]));
  EXPECT_EQ(graph.backward[4].in.back(), graph.backward[3].out[0]);
}

TEST(Backward, EveryParameterHasAGradient) {
  for (const char* name : {"swin_nano", "swinv2_nano"}) {
    for (const Task task : {Task::kClassification, Task::kSegmentation}) {
      SwinConfig config = find_model(name);
      config.task = task;
      const Graph graph = build_model(config, 1, {.training = true}, DataType::kFp64);
      std::set<std::string> parameters, gradients;
      for (const GraphTensor& tensor : graph.tensors) {
        if (tensor.role == TensorRole::kParameter) parameters.insert(tensor.name);
        if (tensor.role == TensorRole::kGradient) gradients.insert(tensor.name);
      }
      EXPECT_EQ(parameters, gradients) << name;
    }
  }
}

// Sections follow each other without a way back, so that the gradients of one are final when the next one begins.
TEST(Backward, SectionsEndInTheOrderInWhichTheyStand) {
  const Graph graph = build_model(scenes_of(find_model("swinv2_nano")), 1, {.training = true}, DataType::kFp32);
  EXPECT_TRUE(std::ranges::is_sorted(graph.forward, {}, &Op::section));
  EXPECT_TRUE(std::ranges::is_sorted(graph.backward, std::ranges::greater(), &Op::section));
  EXPECT_EQ(graph.forward.back().section, 2 * 4 + 1 + 1);  // halves of four blocks, a merging, the head; the stem is 0
}

TEST(HostModel, RefusesAGraphOfAnotherTypeAndABackwardPassWithoutTraining) {
  const SwinConfig config = test::small_nano(SwinVersion::kV1);
  ParameterStore<float> store(config, false);
  EXPECT_THROW(HostBackend<float>(build_model(config, 1, {}, DataType::kFp64), store, nullptr), std::invalid_argument);
  HostModel<float> model(config, 1, {}, store);
  const std::vector<float> logits(10);
  EXPECT_THROW(model.backward(logits.data()), std::logic_error);
  EXPECT_THROW(model.output("stage9"), std::out_of_range);
}

}  // namespace
}  // namespace swinscope
