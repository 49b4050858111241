// Every operation must give the same bits whatever the number of threads. Shapes are large enough to be cut
// into many tasks, with partial tiles at the ends.

#include <cstring>

#include "kernels/adamw.h"
#include "kernels/adaptive_pool.h"
#include "kernels/batchnorm.h"
#include "kernels/bias.h"
#include "kernels/continuous_bias.h"
#include "kernels/convolution.h"
#include "kernels/cross_entropy.h"
#include "kernels/gelu.h"
#include "kernels/layernorm.h"
#include "kernels/linear.h"
#include "kernels/parallel.h"
#include "kernels/patch_embed.h"
#include "kernels/patch_merge.h"
#include "kernels/pool.h"
#include "kernels/residual.h"
#include "kernels/tap_fusion.h"
#include "kernels/upsample_loss.h"
#include "tests/unit/kernels/attention_cases.h"

namespace swinscope {
namespace {

using test::poisoned;
using test::Random;
using test::to_size;

template <typename T>
using Outputs = std::vector<std::vector<T>>;

template <typename T>
Outputs<T> run_linear() {
  Random random(1);
  const LinearShape s{.rows = 1555, .inputs = 203, .outputs = 611};
  const auto x = random.normal<T>(s.rows * s.inputs);
  const auto weight = random.normal<T>(s.inputs * s.outputs);
  const auto bias = random.normal<T>(s.outputs);
  Outputs<T> out{poisoned<T>(s.rows * s.outputs), poisoned<T>(s.rows * s.inputs), std::vector<T>(weight.size(), T{1}),
                 std::vector<T>(bias.size(), T{1})};
  cpu::linear_forward(s, x.data(), weight.data(), bias.data(), out[0].data());
  cpu::linear_backward(s, x.data(), weight.data(), out[0].data(), out[1].data(), out[2].data(), out[3].data());
  return out;
}

template <typename T>
Outputs<T> run_layernorm() {
  Random random(2);
  const LayerNormShape s{.rows = 1000, .channels = 203};
  const auto x = random.normal<T>(s.rows * s.channels);
  const auto gamma = random.normal<T>(s.channels);
  Outputs<T> out{poisoned<T>(s.rows * s.channels), poisoned<T>(s.rows),          poisoned<T>(s.rows),
                 poisoned<T>(s.rows * s.channels), std::vector<T>(gamma.size()), std::vector<T>(gamma.size())};
  cpu::layernorm_forward(s, x.data(), gamma.data(), gamma.data(), out[0].data(), out[1].data(), out[2].data());
  cpu::layernorm_backward(s, x.data(), gamma.data(), out[1].data(), out[2].data(), out[0].data(), out[3].data(),
                          out[4].data(), out[5].data());
  return out;
}

template <typename T>
Outputs<T> run_elementwise() {
  Random random(3);
  const std::int64_t count = 100003;
  const auto x = random.normal<T>(count);
  const std::vector<T> scale{T{2}};
  Outputs<T> out(6, poisoned<T>(count));
  cpu::gelu_forward(count, x.data(), out[0].data());
  cpu::gelu_backward(count, x.data(), out[0].data(), out[1].data());
  cpu::residual_forward({1, count}, x.data(), out[0].data(), scale.data(), out[2].data());
  cpu::residual_backward({1, count}, scale.data(), out[0].data(), out[3].data());
  out[4] = x;
  cpu::add_into(count, out[1].data(), out[4].data());
  cpu::bias_forward<T>({1, count}, x.data(), out[0].data(), out[5].data());
  return out;
}

template <typename T>
Outputs<T> run_patches() {
  Random random(4);
  const PatchEmbedShape s{.batch = 3, .channels = 3, .height = 52, .width = 60, .patch = 4, .outputs = 40};
  const auto image = random.normal<T>(s.batch * 3 * s.height * s.width);
  const auto weight = random.normal<T>(s.outputs * s.column_length());
  Outputs<T> out{poisoned<T>(s.column_elements()), poisoned<T>(s.tokens() * s.outputs),
                 std::vector<T>(weight.size()),    std::vector<T>(to_size(s.outputs)),
                 poisoned<T>(3 * 3 * 52 * 60),     poisoned<T>(s.column_elements())};
  cpu::patch_embed_forward(s, image.data(), weight.data(), nullptr, out[0].data(), out[1].data());
  cpu::patch_embed_backward(s, weight.data(), out[0].data(), out[1].data(), out[2].data(), out[3].data(), out[4].data(),
                            out[5].data());
  const PatchMergeShape merge{.batch = 3, .height = 13, .width = 15, .channels = 40};
  out.push_back(poisoned<T>(merge.merged_tokens() * 160));
  out.push_back(poisoned<T>(s.tokens() * s.outputs));
  cpu::patch_merge_forward(merge, out[1].data(), out[6].data());
  cpu::patch_merge_backward(merge, out[6].data(), out[7].data());
  const PoolShape pool{.batch = 3, .tokens = std::int64_t{13} * 15, .channels = 40};
  out.push_back(poisoned<T>(120));
  out.push_back(poisoned<T>(s.tokens() * s.outputs));
  cpu::pool_forward(pool, out[1].data(), out[8].data());
  cpu::pool_backward(pool, out[8].data(), out[9].data());
  return out;
}

template <typename T>
Outputs<T> run_attention(AttentionScore score) {
  const auto shape = test::attention_shape({"padded", {20, 33}, {7, 7}, {3, 3}}, score, 3, 3, 16);
  const auto tensors = test::converted_tensors<T>(test::random_attention(shape, 5));
  const auto forward = test::attention_forward(shape, tensors);
  const auto gradients = test::attention_backward(shape, tensors, forward.lse, forward.out);
  return {forward.out, forward.lse, gradients.qkv, gradients.bias_table, gradients.logit_scale, gradients.pad_qkv};
}

template <typename T>
Outputs<T> run_continuous_bias() {
  Random random(6);
  const ContinuousBiasShape s{.window = {8, 8}, .heads = 12};
  const auto weight1 = random.normal<T>(s.hidden * 2);
  const auto bias1 = random.normal<T>(s.hidden);
  const auto weight2 = random.normal<T>(s.heads * s.hidden, 0.1);
  Outputs<T> out{poisoned<T>(s.rows() * 2),          poisoned<T>(s.rows() * s.hidden), poisoned<T>(s.rows() * s.heads),
                 std::vector<T>(weight1.size()),     std::vector<T>(bias1.size()),     std::vector<T>(weight2.size()),
                 poisoned<T>(s.backward_workspace())};
  cpu::continuous_bias_forward(s, weight1.data(), bias1.data(), weight2.data(), out[0].data(), out[1].data(),
                               out[2].data());
  cpu::continuous_bias_backward(s, weight2.data(), out[0].data(), out[1].data(), out[2].data(), out[2].data(),
                                out[3].data(), out[4].data(), out[5].data(), out[6].data());
  return out;
}

template <typename T>
Outputs<T> run_training() {
  Random random(7);
  const CrossEntropyShape s{.rows = 33, .classes = 1000, .smoothing = 0.1};
  const auto logits = random.normal<T>(33000);
  const auto labels = random.labels(33, 1000);
  Outputs<T> out{poisoned<T>(33), poisoned<T>(33), poisoned<T>(33000)};
  const auto result = cpu::cross_entropy_forward(s, logits.data(), labels.data(), out[0].data(), out[1].data());
  cpu::cross_entropy_backward(s, logits.data(), labels.data(), out[1].data(), 1.0 / 33, out[2].data());
  const auto g = random.normal<T>(2000003);
  const GradientTensor<T> gradient{g.data(), 2000003};
  const double norm = cpu::gradient_norm<T>({&gradient, 1});
  auto p = random.normal<T>(2000003);
  std::vector<T> m(p.size());
  std::vector<T> v(p.size());
  const AdamWTensor<T> tensor{p.data(), g.data(), m.data(), v.data(), 2000003, 0.05};
  cpu::adamw_step<T>({.gradient_scale = clip_factor(norm, 1.0)}, {&tensor, 1});
  out.push_back({static_cast<T>(norm), static_cast<T>(result.mean_loss)});
  out.insert(out.end(), {p, m, v});
  return out;
}

template <typename T>
Outputs<T> run_maps() {
  Random random(8);
  const ConvolutionShape conv{.batch = 2, .height = 21, .width = 27, .inputs = 40, .outputs = 150};
  const auto x = random.normal<T>(conv.pixels() * conv.inputs);
  const auto weight = random.normal<T>(conv.outputs * 9 * conv.inputs);
  Outputs<T> out{poisoned<T>(conv.pixels() * 150), poisoned<T>(conv.pixels() * 40), std::vector<T>(weight.size())};
  cpu::convolution_forward(conv, x.data(), weight.data(), false, out[0].data());
  cpu::convolution_backward_input(conv, weight.data(), out[0].data(), out[1].data());
  cpu::convolution_backward_weight(conv, x.data(), out[0].data(), out[2].data());
  const BatchNormShape norm{.rows = conv.pixels(), .channels = 40};
  std::vector<double> sums(to_size(norm.sum_elements()));
  out.insert(out.end(), {poisoned<T>(40), poisoned<T>(40), poisoned<T>(conv.pixels() * 40)});
  cpu::batchnorm_sums(norm, x.data(), sums.data());
  cpu::batchnorm_statistics<T>(norm, sums.data(), out[3].data(), out[4].data(), nullptr, nullptr);
  cpu::batchnorm_backward(norm, x.data(), out[3].data(), out[4].data(), weight.data(), sums.data(), x.data(),
                          out[5].data());
  const AdaptivePoolShape pool{.batch = 2, .height = 21, .width = 27, .channels = 40, .side = 6};
  out.insert(out.end(), {poisoned<T>(pool.bins() * 40), poisoned<T>(conv.pixels() * 40)});
  cpu::adaptive_pool_forward(pool, x.data(), out[6].data());
  cpu::adaptive_pool_backward(pool, out[6].data(), false, out[7].data());
  return out;
}

template <typename T>
Outputs<T> run_resizes() {
  Random random(9);
  const UpsampleShape up{.batch = 2, .height = 9, .width = 11, .out_height = 36, .out_width = 40, .channels = 33};
  const auto x = random.normal<T>(up.pixels() * 33);
  Outputs<T> out{poisoned<T>(up.out_pixels() * 33), poisoned<T>(up.pixels() * 33), poisoned<T>(up.out_pixels()),
                 poisoned<T>(up.pixels() * 33)};
  cpu::upsample_forward(up, x.data(), false, out[0].data());
  cpu::upsample_backward(up, out[0].data(), false, out[1].data());
  std::vector<std::uint8_t> labels;
  for (const std::int32_t label : random.labels(up.out_pixels(), 33))
    labels.push_back(static_cast<std::uint8_t>(label));
  std::vector<PixelLoss> rows(to_size(up.batch * up.out_height));
  const PixelLoss loss = cpu::upsample_loss_forward(up, x.data(), labels.data(), out[2].data(), rows.data());
  cpu::upsample_loss_backward(up, x.data(), labels.data(), out[2].data(), 1.0, out[3].data());
  out.push_back({static_cast<T>(loss.sum)});
  const TapFusionShape taps{
      .batch = 2, .height = 9, .width = 11, .out_height = 36, .out_width = 40, .inputs = 33, .outputs = 20};
  const auto weight = random.normal<T>(20 * 9 * 33);
  out.insert(out.end(), {std::vector<T>(to_size(taps.out_pixels() * 20)), poisoned<T>(taps.tap_elements()),
                         poisoned<T>(taps.pixels() * 33), std::vector<T>(weight.size())});
  cpu::tap_fusion_forward(taps, x.data(), weight.data(), out[6].data(), out[5].data());
  cpu::tap_fusion_backward(taps, x.data(), weight.data(), out[5].data(), out[6].data(), out[7].data(), out[8].data());
  return out;
}

struct Operation {
  const char* name;
  Outputs<float> (*single)();
  Outputs<double> (*wide)();
};

void PrintTo(const Operation& operation, std::ostream* out) { *out << operation.name; }

class Determinism : public ::testing::TestWithParam<Operation> {
 protected:
  void TearDown() override { cpu::set_thread_count(before_); }

  template <typename T>
  static void expect_same_bits(Outputs<T> (*run)()) {
    cpu::set_thread_count(1);
    const Outputs<T> expected = run();
    for (const int threads : {2, 3, 7}) {
      cpu::set_thread_count(threads);
      const Outputs<T> actual = run();
      ASSERT_EQ(actual.size(), expected.size());
      for (std::size_t i = 0; i < actual.size(); ++i) {
        ASSERT_EQ(actual[i].size(), expected[i].size());
        EXPECT_EQ(std::memcmp(actual[i].data(), expected[i].data(), actual[i].size() * sizeof(T)), 0)
            << "output " << i << ", " << threads << " threads";
      }
    }
  }

 private:
  int before_ = cpu::thread_count();
};

TEST_P(Determinism, SameBitsForAnyThreadCountInSinglePrecision) { expect_same_bits(GetParam().single); }

// In double nothing hides behind a last rounding to single precision.
TEST_P(Determinism, SameBitsForAnyThreadCountInDouble) { expect_same_bits(GetParam().wide); }

template <typename T>
Outputs<T> run_scaled_dot() {
  return run_attention<T>(AttentionScore::kScaledDot);
}

template <typename T>
Outputs<T> run_cosine() {
  return run_attention<T>(AttentionScore::kCosine);
}

INSTANTIATE_TEST_SUITE_P(
    Operations, Determinism,
    ::testing::Values(Operation{"linear", run_linear<float>, run_linear<double>},
                      Operation{"layernorm", run_layernorm<float>, run_layernorm<double>},
                      Operation{"elementwise", run_elementwise<float>, run_elementwise<double>},
                      Operation{"patches", run_patches<float>, run_patches<double>},
                      Operation{"attention_scaled_dot", run_scaled_dot<float>, run_scaled_dot<double>},
                      Operation{"attention_cosine", run_cosine<float>, run_cosine<double>},
                      Operation{"continuous_bias", run_continuous_bias<float>, run_continuous_bias<double>},
                      Operation{"maps", run_maps<float>, run_maps<double>},
                      Operation{"resizes", run_resizes<float>, run_resizes<double>},
                      Operation{"training", run_training<float>, run_training<double>}),
    [](const auto& instance) { return std::string(instance.param.name); });

}  // namespace
}  // namespace swinscope
