#include "kernels/cost.h"

#include "kernels/adamw.h"
#include "kernels/adaptive_pool.h"
#include "kernels/batchnorm.h"
#include "kernels/bias.h"
#include "kernels/channels.h"
#include "kernels/continuous_bias.h"
#include "kernels/convolution.h"
#include "kernels/cross_entropy.h"
#include "kernels/gelu.h"
#include "kernels/layernorm.h"
#include "kernels/linear.h"
#include "kernels/patch_embed.h"
#include "kernels/patch_merge.h"
#include "kernels/pool.h"
#include "kernels/relu.h"
#include "kernels/residual.h"
#include "kernels/tap_fusion.h"
#include "kernels/upsample_loss.h"
#include "kernels/window_attention.h"
#include "tests/unit/kernels/support.h"

namespace swinscope {
namespace {

constexpr std::int64_t kFloat = 4;

struct Model {
  std::int64_t width, image, window;
  std::array<std::int64_t, 4> depths, heads;
  AttentionScore score;
};

// The products of a Swin's forward pass per image, from the operations it is built of.
double forward_gflop(const Model& m) {
  std::int64_t side = m.image / 4;
  std::int64_t c = m.width;
  OperationCost sum =
      patch_embed_forward_cost({.batch = 1, .height = m.image, .width = m.image, .outputs = m.width}, kFloat);
  for (std::size_t stage = 0; stage < 4; ++stage, side /= 2, c *= 2) {
    const std::int64_t tokens = side * side;
    for (std::int64_t block = 0; block < m.depths[stage]; ++block) {
      const auto used = effective_window({side, side}, {m.window, m.window}, {0, 0});
      const WindowAttentionShape attention{
          .grid = {.batch = 1, .map = {side, side}, .window = used.window, .shift = used.shift},
          .heads = m.heads[stage],
          .head_dim = c / m.heads[stage],
          .score = m.score};
      sum += linear_forward_cost({tokens, c, 3 * c}, kFloat) + window_attention_forward_cost(attention, kFloat) +
             linear_forward_cost({tokens, c, c}, kFloat) + linear_forward_cost({tokens, c, 4 * c}, kFloat) +
             linear_forward_cost({tokens, 4 * c, c}, kFloat) + gelu_forward_cost(tokens * 4 * c, kFloat) +
             layernorm_forward_cost({tokens, c}, kFloat) + layernorm_forward_cost({tokens, c}, kFloat) +
             residual_forward_cost({1, tokens * c}, true, kFloat);
    }
    if (stage < 3) {
      sum += patch_merge_forward_cost({1, side, side, c}, kFloat) +
             linear_forward_cost({tokens / 4, 4 * c, 2 * c, false}, kFloat);
    }
  }
  sum += pool_forward_cost({1, 49, c / 2}, kFloat) + linear_forward_cost({1, c / 2, 1000}, kFloat);
  return static_cast<double>(sum.flops) * 1e-9;
}

// The figures of the papers' model tables, with a multiply-add counted as two.
TEST(Cost, ModelsSumToTheirKnownFlops) {
  EXPECT_NEAR(forward_gflop({96, 224, 7, {2, 2, 6, 2}, {3, 6, 12, 24}, AttentionScore::kScaledDot}), 8.98, 0.005);
  EXPECT_NEAR(forward_gflop({128, 224, 7, {2, 2, 18, 2}, {4, 8, 16, 32}, AttentionScore::kScaledDot}), 30.86, 0.01);
  EXPECT_NEAR(forward_gflop({96, 256, 8, {2, 2, 6, 2}, {3, 6, 12, 24}, AttentionScore::kCosine}), 11.84, 0.005);
  EXPECT_NEAR(forward_gflop({128, 512, 8, {2, 2, 18, 2}, {4, 8, 16, 32}, AttentionScore::kCosine}), 162.2, 0.05);
}

TEST(Cost, OfLinearIsProductsAndCompulsoryTraffic) {
  const LinearShape s{.rows = 10, .inputs = 3, .outputs = 5};
  EXPECT_EQ(linear_forward_cost(s, kFloat), (OperationCost{300, (30 + 15 + 5) * kFloat, 50 * kFloat}));
  // dweight and dbias: x, dy, and both gradients in; both gradients out
  EXPECT_EQ(linear_backward_cost(s, false, kFloat),
            (OperationCost{300, (30 + 50 + 15 + 5) * kFloat, (15 + 5) * kFloat}));
  EXPECT_EQ(linear_backward_cost(s, true, kFloat),
            (OperationCost{600, (30 + 50 + 30 + 5) * kFloat, (30 + 15 + 5) * kFloat}));
  EXPECT_EQ(linear_forward_cost({10, 3, 5, false}, 8),
            (OperationCost{300, std::int64_t{45} * 8, std::int64_t{50} * 8}));
}

TEST(Cost, OfAttention) {
  WindowAttentionShape s{
      .grid = {.batch = 2, .map = {4, 4}, .window = {2, 2}, .shift = {0, 0}}, .heads = 3, .head_dim = 5};
  // 32 tokens of 15 channels, 4 keys each, two products forward and four backward; 9 x 3 biases, 32 x 3 lse
  EXPECT_EQ(window_attention_forward_cost(s, kFloat),
            (OperationCost{std::int64_t{2} * 2 * 32 * 4 * 15, (3 * 480 + 27) * kFloat, (480 + 96) * kFloat}));
  EXPECT_EQ(
      window_attention_backward_cost(s, kFloat),
      (OperationCost{std::int64_t{4} * 2 * 32 * 4 * 15, (4 * 480 + 96 + 2 * 27) * kFloat, (3 * 480 + 27) * kFloat}));
  s.score = AttentionScore::kCosine;
  EXPECT_EQ(window_attention_forward_cost(s, kFloat).bytes_read, (3 * 480 + 27 + 3) * kFloat);
  s.grid.map = {3, 4};  // padded to 4 x 4: the same products, fewer tokens, the pad row read
  EXPECT_EQ(window_attention_forward_cost(s, kFloat),
            (OperationCost{std::int64_t{2} * 2 * 32 * 4 * 15, (3 * 360 + 27 + 3 + 45) * kFloat, (360 + 72) * kFloat}));
}

TEST(Cost, OfTheRest) {
  EXPECT_EQ(layernorm_forward_cost({10, 4}, kFloat), (OperationCost{0, (40 + 8) * kFloat, (40 + 20) * kFloat}));
  EXPECT_EQ(layernorm_backward_cost({10, 4}, kFloat), (OperationCost{0, (80 + 20 + 12) * kFloat, (40 + 8) * kFloat}));
  EXPECT_EQ(gelu_forward_cost(7, kFloat), (OperationCost{0, 28, 28}));
  EXPECT_EQ(gelu_backward_cost(7, kFloat), (OperationCost{0, 56, 28}));
  EXPECT_EQ(bias_forward_cost({10, 4}, kFloat), (OperationCost{0, 44 * kFloat, 40 * kFloat}));
  EXPECT_EQ(bias_backward_cost({10, 4}, kFloat), (OperationCost{0, 44 * kFloat, 4 * kFloat}));
  EXPECT_EQ(residual_forward_cost({2, 5}, true, kFloat), (OperationCost{0, 22 * kFloat, 10 * kFloat}));
  EXPECT_EQ(residual_forward_cost({2, 5}, false, kFloat), (OperationCost{0, 20 * kFloat, 10 * kFloat}));
  EXPECT_EQ(residual_backward_cost({2, 5}, true, kFloat), (OperationCost{0, 12 * kFloat, 10 * kFloat}));
  EXPECT_EQ(residual_backward_cost({2, 5}, false, kFloat), (OperationCost{}));
  EXPECT_EQ(add_into_cost(5, kFloat), (OperationCost{0, 40, 20}));
  EXPECT_EQ(patch_merge_forward_cost({1, 3, 3, 2}, kFloat), (OperationCost{0, 18 * kFloat, 32 * kFloat}));
  EXPECT_EQ(patch_merge_backward_cost({1, 3, 3, 2}, kFloat), (OperationCost{0, 18 * kFloat, 18 * kFloat}));
  EXPECT_EQ(pool_forward_cost({2, 5, 3}, kFloat), (OperationCost{0, 120, 24}));
  EXPECT_EQ(pool_backward_cost({2, 5, 3}, kFloat), (OperationCost{0, 24, 120}));
  EXPECT_EQ(cross_entropy_forward_cost({3, 10}, kFloat), (OperationCost{0, std::int64_t{3} * 44, 24}));
  EXPECT_EQ(cross_entropy_backward_cost({3, 10}, kFloat), (OperationCost{0, std::int64_t{3} * 48, 120}));
  EXPECT_EQ(adamw_cost(10, kFloat), (OperationCost{0, 160, 120}));
  EXPECT_EQ(gradient_norm_cost(10, kFloat), (OperationCost{0, 40, 0}));
  // The image is read once, whatever becomes of it: 2 x 3 x 8 x 8 pixels, 8 tokens
  const PatchEmbedShape embed{.batch = 2, .height = 8, .width = 8, .outputs = 5};
  EXPECT_EQ(patch_embed_forward_cost(embed, kFloat),
            (OperationCost{std::int64_t{2} * 8 * 48 * 5, (384 + 240 + 5) * kFloat, 40 * kFloat}));
  EXPECT_EQ(patch_embed_backward_cost(embed, true, kFloat).flops, 2 * patch_embed_forward_cost(embed, kFloat).flops);
  const ContinuousBiasShape bias{.window = {2, 2}, .heads = 3, .hidden = 4};  // 9 rows
  EXPECT_EQ(continuous_bias_forward_cost(bias, kFloat),
            (OperationCost{std::int64_t{2} * 9 * 4 * (2 + 3), (8 + 4 + 12) * kFloat, (18 + 36 + 27) * kFloat}));
  EXPECT_EQ(continuous_bias_backward_cost(bias, kFloat),
            (OperationCost{std::int64_t{2} * 9 * 4 * (2 + 6), (24 + 12 + 18 + 36 + 54) * kFloat, 24 * kFloat}));
}

TEST(Cost, OfWhatAHeadOfMapsNeeds) {
  // 2 x 3 x 4 = 24 pixels, a weight of 9 x 5 x 7
  const ConvolutionShape conv{.batch = 2, .height = 3, .width = 4, .inputs = 5, .outputs = 7};
  EXPECT_EQ(convolution_forward_cost(conv, false, kFloat),
            (OperationCost{std::int64_t{2} * 24 * 315, (120 + 315) * kFloat, 168 * kFloat}));
  EXPECT_EQ(convolution_forward_cost(conv, true, kFloat).bytes_read, (120 + 315 + 168) * kFloat);
  EXPECT_EQ(convolution_backward_cost(conv, false, kFloat),
            (OperationCost{std::int64_t{2} * 24 * 315, (120 + 168 + 315) * kFloat, 315 * kFloat}));
  EXPECT_EQ(convolution_backward_cost(conv, true, kFloat),
            (OperationCost{std::int64_t{4} * 24 * 315, (120 + 168 + 315 + 315) * kFloat, (315 + 120) * kFloat}));
  const BatchNormShape norm{.rows = 10, .channels = 4};  // sums of 9 doubles
  EXPECT_EQ(batchnorm_sums_cost(norm, kFloat), (OperationCost{0, 160, 72}));
  EXPECT_EQ(batchnorm_forward_cost(norm, kFloat), (OperationCost{0, (40 + 16) * kFloat, 160}));
  EXPECT_EQ(batchnorm_backward_sums_cost(norm, kFloat), (OperationCost{0, (80 + 16) * kFloat, 32 + 72}));
  EXPECT_EQ(batchnorm_backward_cost(norm, kFloat), (OperationCost{0, (80 + 12) * 4 + 72, 160}));
  EXPECT_EQ(relu_forward_cost(7, kFloat), (OperationCost{0, 28, 28}));
  EXPECT_EQ(relu_backward_cost(7, kFloat), (OperationCost{0, 56, 28}));
  EXPECT_EQ(copy_channels_cost({3, 2, 2, 5}, true, kFloat), (OperationCost{0, 48, 24}));
  const AdaptivePoolShape pool{.batch = 2, .height = 3, .width = 4, .channels = 5, .side = 2};
  EXPECT_EQ(adaptive_pool_forward_cost(pool, kFloat), (OperationCost{0, 120 * kFloat, 40 * kFloat}));
  EXPECT_EQ(adaptive_pool_backward_cost(pool, true, kFloat), (OperationCost{0, 160 * kFloat, 120 * kFloat}));
  const UpsampleShape up{.batch = 2, .height = 3, .width = 4, .out_height = 6, .out_width = 8, .channels = 5};
  EXPECT_EQ(upsample_forward_cost(up, false, kFloat), (OperationCost{0, 120 * kFloat, 480 * kFloat}));
  EXPECT_EQ(upsample_backward_cost(up, true, kFloat), (OperationCost{0, 600 * kFloat, 120 * kFloat}));
  // The labels are bytes, and the resized logits never are in memory
  EXPECT_EQ(upsample_loss_forward_cost(up, kFloat), (OperationCost{0, 120 * 4 + 96, 96 * kFloat}));
  EXPECT_EQ(upsample_loss_backward_cost(up, kFloat), (OperationCost{0, (120 + 96) * 4 + 96, 120 * kFloat}));
  EXPECT_EQ(upsample_argmax_cost(up, kFloat), (OperationCost{0, 120 * kFloat, 96}));
  const TapFusionShape taps{
      .batch = 2, .height = 3, .width = 4, .out_height = 6, .out_width = 8, .inputs = 5, .outputs = 7};
  EXPECT_EQ(tap_fusion_forward_cost(taps, kFloat),
            (OperationCost{std::int64_t{2} * 24 * 315, (120 + 315 + 672) * kFloat, 672 * kFloat}));
  EXPECT_EQ(tap_fusion_backward_cost(taps, kFloat),
            (OperationCost{std::int64_t{4} * 24 * 315, (120 + 672 + 630) * kFloat, (120 + 315) * kFloat}));
}

}  // namespace
}  // namespace swinscope
