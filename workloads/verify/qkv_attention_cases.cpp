// Window attention with the qkv projection in it, and normalization before that where it is offered, against the CPU's
// operations in fp64, between which qkv is rounded.
#include <cmath>

#include <fmt/format.h>

#include "kernels/layernorm.h"
#include "kernels/linear.h"
#include "kernels/qkv_attention.h"
#include "workloads/verify/device_tensor.h"
#include "workloads/verify/kernel_cases.h"

namespace swinscope {
namespace {

struct QkvCase {
  std::int64_t batch;
  Extent2 map;
  Extent2 window;
  Extent2 shift;
  std::int64_t heads;
  AttentionScore score;
  double logit_scale = 2.0;  // natural logarithm
};

constexpr auto kDot = AttentionScore::kScaledDot;
constexpr auto kCosine = AttentionScore::kCosine;

// One window, an odd number of them, shifted and padded maps, heads shared among blocks, several pairs of windows for
// each block; x in one stage (512 channels) and in two. Four and eight heads without padding have kernels of their own,
// with the cosine where windows are many: fewer windows than multiprocessors, and several for each warp group.
const std::vector<QkvCase>& cases() {
  static const std::vector<QkvCase> all = {
      {1, {7, 7}, {7, 7}, {0, 0}, 2, kDot},       {2, {14, 14}, {7, 7}, {3, 3}, 4, kDot},
      {3, {10, 9}, {7, 7}, {3, 3}, 6, kDot},      {2, {14, 14}, {7, 7}, {3, 3}, 16, kDot},
      {1, {9, 12}, {3, 4}, {1, 2}, 2, kDot},      {10, {56, 56}, {7, 7}, {3, 3}, 4, kDot},
      {67, {14, 14}, {7, 7}, {3, 3}, 16, kDot},   {1, {8, 8}, {8, 8}, {0, 0}, 4, kCosine},
      {2, {16, 16}, {8, 8}, {4, 4}, 8, kCosine},  {3, {12, 11}, {8, 8}, {4, 4}, 4, kCosine},
      {2, {16, 16}, {8, 8}, {4, 4}, 16, kCosine}, {2, {16, 16}, {8, 8}, {4, 4}, 4, kCosine, 8.0},
      {10, {64, 64}, {8, 8}, {4, 4}, 4, kCosine}, {67, {16, 16}, {8, 8}, {4, 4}, 16, kCosine},
      {10, {32, 32}, {8, 8}, {4, 4}, 8, kCosine}, {3, {14, 14}, {7, 7}, {3, 3}, 12, kCosine},
      {1, {7, 7}, {7, 7}, {0, 0}, 4, kDot},       {17, {56, 56}, {7, 7}, {3, 3}, 4, kDot},
      {3, {6, 8}, {3, 4}, {1, 2}, 4, kDot},       {40, {21, 21}, {7, 7}, {3, 3}, 4, kCosine},
      {1, {7, 7}, {7, 7}, {0, 0}, 8, kDot},       {26, {28, 28}, {7, 7}, {3, 3}, 8, kDot},
      {3, {6, 8}, {3, 4}, {1, 2}, 8, kDot},       {28, {32, 32}, {8, 8}, {4, 4}, 8, kCosine},
  };
  return all;
}

void check_one(const QkvCase& c, ElementType type, bool normalizes, const VerifyReport& report) {
  constexpr std::int64_t kHeadDim = 32;
  const WindowAttentionShape shape{{c.batch, c.map, c.window, c.shift}, c.heads, kHeadDim, c.score};
  const cuda::DeviceInfo gpu = cuda::device_info();
  if (!(normalizes ? cuda::normalized_qkv_attention_offered(shape, type, gpu)
                   : cuda::qkv_attention_offered(shape, type, gpu)))
    return;
  TensorFactory make(29);
  const std::int64_t channels = shape.channels();
  const std::int64_t tokens = shape.grid.tokens();
  const DeviceTensor x = make.normal(tokens * channels, type);
  const DeviceTensor gamma = make.uniform(channels, type, 0.5, 1.5);
  const DeviceTensor beta = make.normal(channels, type, 0.2);
  const DeviceTensor weight =
      make.normal(3 * channels * channels, type, 1.0 / std::sqrt(static_cast<double>(channels)));
  const DeviceTensor qkv_bias = make.normal(3 * channels, type, 0.5);
  const DeviceTensor table = make.normal(bias_table_rows(c.window) * c.heads, ElementType::kFp32);
  const DeviceTensor logit_scale = make.uniform(c.heads, ElementType::kFp32, c.logit_scale - 0.5, c.logit_scale + 0.5);
  const auto floats = [](const DeviceTensor& tensor) { return static_cast<const float*>(tensor.data()); };
  const cuda::DeviceBuffer bias(cuda::attention_bias_bytes(shape, type));
  cuda::expand_attention_bias(shape, type, floats(table), bias.data(), make.stream());

  std::vector<double> input = x.values;
  if (normalizes) {
    std::vector<double> means(static_cast<std::size_t>(tokens));
    std::vector<double> rstds(means.size());
    cpu::layernorm_forward({tokens, channels}, x.values.data(), gamma.values.data(), beta.values.data(), input.data(),
                           means.data(), rstds.data());
    input = make.upload(input, type).values;
  }
  std::vector<double> qkv(static_cast<std::size_t>(tokens * 3 * channels));
  std::vector<double> expected(static_cast<std::size_t>(tokens * channels));
  cpu::linear_forward<double>({tokens, channels, 3 * channels, true}, input.data(), weight.values.data(),
                              qkv_bias.values.data(), qkv.data());
  qkv = make.upload(qkv, type).values;
  cpu::window_attention_forward<double>(
      shape, {qkv.data(), table.values.data(), logit_scale.values.data(), qkv_bias.values.data()}, expected.data(),
      nullptr);

  DeviceTensor out = make.output(tokens * channels, type);
  cuda::QkvAttentionTensors tensors;
  tensors.x = x.data();
  if (normalizes) {
    tensors.gamma = gamma.data();
    tensors.beta = beta.data();
  }
  tensors.weight = weight.data();
  tensors.qkv_bias = qkv_bias.data();
  tensors.bias = bias.data();
  tensors.logit_scale = floats(logit_scale);
  tensors.out = out.buffer.data();
  for (const bool backwards : {false, true}) {
    tensors.backwards = backwards;
    make.write(out, std::vector<double>(expected.size(), std::nan("")));
    cuda::qkv_attention_forward(shape, type, tensors, make.stream());
    // What is rounded once more or less, where fp32 sums differ, weighs as much as the scores' scale.
    report({fmt::format("{}qkv and attention, {}{} of {} x {} map, {} x {} windows, shift {}, {} heads{}{}",
                        normalizes ? "normalization, " : "", c.score == kCosine ? "cosine, " : "", c.batch,
                        c.map.height, c.map.width, c.window.height, c.window.width, c.shift.height, c.heads,
                        c.logit_scale > 5.0 ? ", scale 100" : "", backwards ? ", backwards" : ""),
            type_name(type), relative_error(make.download(out), expected),
            c.logit_scale > 5.0 ? by_type(type, 0.0, 3e-3, 2.5e-2) : by_type(type, 0.0, 1e-3, 8e-3)});
  }
}

}  // namespace

void check_qkv_attention(const VerifyReport& report) {
  for (const QkvCase& c : cases()) {
    for (const ElementType type : {ElementType::kFp16, ElementType::kBf16}) {
      for (const bool normalizes : {false, true})
        check_one(c, type, normalizes, report);
    }
  }
}

}  // namespace swinscope
