// Layers on the GPU, of a trace written by hand.
#include "gui/core/layer_lanes.h"

#include <gtest/gtest.h>

#include "tests/unit/analyzer/hand_trace.h"

namespace swinscope::gui {
namespace {

constexpr const char* kPayload =
    R"({"$schema":"swinscope.operation/1","class":"gemm","precision":"fp16","flops":1000})";

std::string pieces_of(const LayerLanes& layers, const TimelineLane& lane) {
  std::string text;
  for (LanePosition i = 0; i < lane.size(); ++i) {
    const LaneEvent piece = lane.event(i);
    text += std::string(layers.timeline.names.text(piece.name)) + " " + std::to_string(piece.start_ns / 1'000) + ".." +
            std::to_string(piece.end_ns() / 1'000) + "; ";
  }
  return text;
}

// On the host 0 .. 20; on the GPU, behind it, 30 .. 36 and 38 .. 40 for qkv, 40 .. 50 for mlp on another stream, which
// ends after the head begins; the copy is nobody's.
TEST(LayerLanes, AreWhereTheWorkOfALayerIs) {
  test::HandTrace hand;
  test::HandRank& rank = hand.add_rank();
  rank.own_range("forward", 0, 20);
  rank.own_range("stage1.block0.attn.qkv", 1, 7, kPayload);
  rank.launch("gemm", 1, 30, 36);
  rank.launch("gemm", 4, 38, 40);
  rank.own_range("stage1.block0.mlp", 8, 11, kPayload);
  rank.launch("gemm", 8, 40, 50, {8});
  rank.own_range("head", 12, 15, kPayload);
  rank.launch("gemm", 12, 48, 52);
  rank.launch("other", 22, 60, 70);
  const Trace trace = hand.build();
  const Timeline timeline = build_timeline(trace);
  const LayerLanes layers = layer_lanes(trace, find_operations(trace), timeline);
  ASSERT_EQ(layers.timeline.lanes.size(), 4U);
  EXPECT_EQ(pieces_of(layers, layers.timeline.lanes[0]), "forward 30..52; ");
  EXPECT_EQ(pieces_of(layers, layers.timeline.lanes[1]), "stage1 30..48; head 48..52; ");
  EXPECT_EQ(pieces_of(layers, layers.timeline.lanes[2]), "block0 30..48; ");
  EXPECT_EQ(pieces_of(layers, layers.timeline.lanes[3]), "attn.qkv 30..40; mlp 40..48; ");
  EXPECT_EQ(layers.paths[layers.timeline.lanes[3].event(0).ref], "forward, stage1.block0.attn.qkv");
  // Called by what takes most of the time in them, numbers apart.
  std::vector<std::string> labels;
  for (const TimelineLane& lane : layers.timeline.lanes)
    labels.push_back(lane.label);
  EXPECT_EQ(labels, (std::vector<std::string>{"phase", "layer", "block*", "attn.qkv, mlp"}));
  EXPECT_EQ(layers.paths[layers.timeline.lanes[1].event(1).ref], "forward, head");
}

TEST(LayerLanes, AreNoneWithoutLayers) {
  test::HandTrace hand;
  hand.add_rank().launch("gemm", 1, 30, 36);
  const Trace trace = hand.build();
  const LayerLanes layers = layer_lanes(trace, find_operations(trace), build_timeline(trace));
  EXPECT_TRUE(layers.timeline.lanes.empty());
}

}  // namespace
}  // namespace swinscope::gui
