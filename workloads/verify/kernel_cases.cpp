#include "workloads/verify/kernel_cases.h"

#include <cmath>
#include <initializer_list>

#include <fmt/format.h>

#include "kernels/bias.h"
#include "kernels/continuous_bias.h"
#include "kernels/gelu.h"
#include "kernels/layernorm.h"
#include "kernels/linear.h"
#include "kernels/patch_embed.h"
#include "kernels/patch_merge.h"
#include "kernels/pool.h"
#include "kernels/residual.h"
#include "kernels/window.h"
#include "workloads/verify/device_tensor.h"

namespace swinscope {
namespace {

constexpr std::initializer_list<ElementType> kTypes = {ElementType::kFp32, ElementType::kFp16, ElementType::kBf16};
// Of copies and of sums over few elements.
constexpr double kExact = 0.0;

std::vector<double> sized(std::int64_t count) { return std::vector<double>(static_cast<std::size_t>(count)); }

enum class NormForm { kVectors, kBackwards, kFetching, kPlain, kResidual };

constexpr std::int64_t kFewRows = 37;

void check_norm(const VerifyReport& report, const LayerNormShape& shape, ElementType type, NormForm form, double mean) {
  const auto [rows, channels, epsilon] = shape;
  TensorFactory make(static_cast<std::uint32_t>(channels));
  const std::int64_t count = rows * channels;
  const DeviceTensor x = make.normal(count, type, 1.0, mean);
  const DeviceTensor gamma = make.uniform(channels, type, 0.5, 1.5);
  const DeviceTensor beta = make.normal(channels, type, 0.2);
  const DeviceTensor residual = make.normal(count, type);
  DeviceTensor y = make.output(count, type);
  const bool adds = form == NormForm::kResidual;
  cuda::LayerNormTensors tensors{x.data(), gamma.data(), beta.data(), y.buffer.data(),
                                 adds ? residual.data() : nullptr};
  tensors.backwards = form == NormForm::kBackwards;
  if (tensors.backwards) {
    tensors.x_eviction = cuda::Eviction::kFirst;
    tensors.y_eviction = cuda::Eviction::kLast;
  }
  if (form == NormForm::kFetching) {
    tensors.ahead = residual.data();
    tensors.ahead_bytes = count * element_bytes(type) / 16 * 16;
  }
  if (form == NormForm::kPlain) {
    cuda::layernorm_forward_plain(shape, type, tensors, make.stream());
  } else {
    cuda::layernorm_forward(shape, type, tensors, make.stream());
  }
  std::vector<double> expected = sized(count);
  std::vector<double> means = sized(rows);
  std::vector<double> rstds = sized(rows);
  cpu::layernorm_forward(shape, x.values.data(), gamma.values.data(), beta.values.data(), expected.data(), means.data(),
                         rstds.data());
  if (adds) {
    for (std::size_t i = 0; i < expected.size(); ++i)
      expected[i] += residual.values[i];
  }
  const char* const suffix = form == NormForm::kPlain       ? ", plain"
                             : form == NormForm::kBackwards ? ", backwards"
                             : form == NormForm::kFetching  ? ", fetching"
                             : adds                         ? ", residual"
                                                            : "";
  // In fp32 a mean of 1e3 costs three of seven digits of x itself; the inputs are rounded, the sums are not exact.
  const double fp32 = mean == 0.0 ? 2e-6 : 3e-4;
  report({fmt::format("layernorm {} x {}{}{}", rows, channels, suffix, mean == 0.0 ? "" : ", mean 1000"),
          type_name(type), relative_error(make.download(y), expected), by_type(type, fp32, 4e-4, 3e-3)});
}

void check_gathered_norm(const VerifyReport& report, std::int64_t height, std::int64_t width, std::int64_t channels,
                         ElementType type) {
  TensorFactory make(5);
  const PatchMergeShape merge{2, height, width, channels};
  const LayerNormShape shape{merge.merged_tokens(), 4 * channels};
  const DeviceTensor x = make.normal(2 * height * width * channels, type);
  const DeviceTensor gamma = make.uniform(4 * channels, type, 0.5, 1.5);
  const DeviceTensor beta = make.normal(4 * channels, type, 0.2);
  DeviceTensor y = make.output(shape.rows * shape.channels, type);
  cuda::layernorm_forward(shape, type, {x.data(), gamma.data(), beta.data(), y.buffer.data(), nullptr}, make.stream(),
                          &merge);
  std::vector<double> gathered = sized(shape.rows * shape.channels);
  cpu::patch_merge_forward(merge, x.values.data(), gathered.data());
  std::vector<double> means = sized(shape.rows);
  std::vector<double> rstds = sized(shape.rows);
  cpu::layernorm_forward(shape, gathered.data(), gamma.values.data(), beta.values.data(), gathered.data(), means.data(),
                         rstds.data());
  report({fmt::format("layernorm of merged {} x {} x {}", height, width, channels), type_name(type),
          relative_error(make.download(y), gathered), by_type(type, 2e-6, 4e-4, 3e-3)});
}

// A copy must be exact in every element type, so it is checked in the narrowest.
void check_copy(const VerifyReport& report, TensorFactory& make, const std::string& what, const DeviceTensor& y,
                const std::vector<double>& expected) {
  report({what, type_name(y.type), relative_error(make.download(y), expected), kExact});
}

void check_window_copies(const VerifyReport& report, const WindowGrid& grid, ElementType type) {
  constexpr std::int64_t kChannels = 24;
  TensorFactory make(11);
  const std::string place = fmt::format("{} x {} map, {} x {} windows, shift {}", grid.map.height, grid.map.width,
                                        grid.window.height, grid.window.width, grid.shift.height);
  const DeviceTensor x = make.normal(grid.tokens() * kChannels, type);
  const std::int64_t rows = grid.window_count() * grid.window_tokens();
  DeviceTensor rolled = make.output(grid.tokens() * kChannels, type);
  DeviceTensor windows = make.output(rows * kChannels, type);
  DeviceTensor reversed = make.output(grid.tokens() * kChannels, type);
  DeviceTensor back = make.output(grid.tokens() * kChannels, type);
  cuda::window_roll(grid, kChannels, type, true, x.data(), rolled.buffer.data(), make.stream());
  cuda::window_partition(grid, kChannels, type, rolled.data(), windows.buffer.data(), make.stream());
  cuda::window_reverse(grid, kChannels, type, windows.data(), reversed.buffer.data(), make.stream());
  cuda::window_roll(grid, kChannels, type, false, reversed.data(), back.buffer.data(), make.stream());
  std::vector<double> expected = sized(rows * kChannels);
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::int64_t token = window_token(grid, row / grid.window_tokens(), row % grid.window_tokens());
    if (token == kPaddedToken) continue;
    for (std::int64_t c = 0; c < kChannels; ++c) {
      expected[static_cast<std::size_t>(row * kChannels + c)] =
          x.values[static_cast<std::size_t>(token * kChannels + c)];
    }
  }
  check_copy(report, make, "roll and partition, " + place, windows, expected);
  check_copy(report, make, "and back, " + place, back, x.values);
}

}  // namespace

double relative_error(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.size() != b.size()) return std::nan("");
  double difference = 0.0;
  double norm = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    difference += (a[i] - b[i]) * (a[i] - b[i]);
    norm += b[i] * b[i];
  }
  return norm > 0.0 ? std::sqrt(difference / norm) : std::sqrt(difference);
}

void check_layernorm(const VerifyReport& report) {
  for (const ElementType type : kTypes) {
    for (const std::int64_t channels : {32, 40, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048, 3072}) {
      check_norm(report, {kFewRows, channels}, type, NormForm::kVectors, 0.0);
    }
    for (const std::int64_t channels : {40, 96, 1024, 1536}) {
      check_norm(report, {kFewRows, channels}, type, NormForm::kPlain, 0.0);
      check_norm(report, {kFewRows, channels}, type, NormForm::kBackwards, 0.0);
      check_norm(report, {kFewRows, channels}, type, NormForm::kFetching, 0.0);
    }
    // Too many rows for more than a warp each.
    for (const std::int64_t channels : {1536, 2048, 3072}) {
      check_norm(report, {1201, channels}, type, NormForm::kVectors, 0.0);
      check_norm(report, {1201, channels}, type, NormForm::kResidual, 0.0);
    }
    for (const std::int64_t channels : {40, 64, 96, 128, 256, 512, 768, 1024, 1536, 2048, 3072}) {
      check_norm(report, {kFewRows, channels}, type, NormForm::kResidual, 0.0);
    }
    // Several rows in turn for each group of lanes.
    for (const NormForm form : {NormForm::kVectors, NormForm::kBackwards, NormForm::kResidual}) {
      check_norm(report, {50021, 96}, type, form, 0.0);
      check_norm(report, {14003, 512}, type, form, 0.0);
    }
    check_norm(report, {kFewRows, 128}, type, NormForm::kVectors, 1000.0);
    check_gathered_norm(report, 6, 8, 96, type);
    check_gathered_norm(report, 5, 7, 128, type);
    check_gathered_norm(report, 14, 13, 384, type);
    check_gathered_norm(report, 13, 14, 768, type);
  }
}

void check_elementwise(const VerifyReport& report) {
  constexpr std::int64_t kRows = 33;
  constexpr std::int64_t kColumns = 200;
  constexpr std::int64_t kCount = kRows * kColumns;
  for (const ElementType type : kTypes) {
    TensorFactory make(3);
    const DeviceTensor x = make.normal(kCount, type, 2.0);
    const DeviceTensor branch = make.normal(kCount, type);
    const DeviceTensor bias = make.normal(kColumns, type);
    std::vector<double> expected = sized(kCount);
    const double tolerance = by_type(type, 1e-6, 4e-4, 3e-3);

    DeviceTensor y = make.output(kCount, type);
    cuda::gelu_forward(kCount, type, x.data(), y.buffer.data(), make.stream());
    cpu::gelu_forward(kCount, x.values.data(), expected.data());
    report({"gelu (erf)", type_name(type), relative_error(make.download(y), expected), tolerance});
    y.buffer.poison(make.stream());
    cuda::gelu_forward(kCount, type, x.data(), y.buffer.data(), make.stream(), true);
    report({"gelu (erf), backwards", type_name(type), relative_error(make.download(y), expected), tolerance});

    y.buffer.poison(make.stream());
    cuda::bias_forward({kRows, kColumns}, type, x.data(), bias.data(), y.buffer.data(), make.stream());
    cpu::bias_forward({kRows, kColumns}, x.values.data(), bias.values.data(), expected.data());
    report({"bias", type_name(type), relative_error(make.download(y), expected), tolerance});

    y.buffer.poison(make.stream());
    cuda::residual_forward({kRows, kColumns}, type, x.data(), branch.data(), y.buffer.data(), make.stream());
    cpu::residual_forward<double>({kRows, kColumns}, x.values.data(), branch.values.data(), nullptr, expected.data());
    report({"residual", type_name(type), relative_error(make.download(y), expected), tolerance});

    const PoolShape pool{3, 49, 136};
    const DeviceTensor tokens = make.normal(pool.batch * pool.tokens * pool.channels, type);
    DeviceTensor pooled = make.output(pool.batch * pool.channels, type);
    std::vector<double> means = sized(pool.batch * pool.channels);
    cuda::pool_forward(pool, type, tokens.data(), pooled.buffer.data(), make.stream());
    cpu::pool_forward(pool, tokens.values.data(), means.data());
    report({"pool 49 x 136", type_name(type), relative_error(make.download(pooled), means), tolerance});

    // In fp32 one sum of 1,536 products after another has an error of 7e-7.
    const LinearShape classes{11, 1536, 37};
    const DeviceTensor inputs = make.normal(classes.rows * classes.inputs, type);
    const DeviceTensor weight = make.normal(classes.outputs * classes.inputs, type);
    const DeviceTensor offsets = make.normal(classes.outputs, type);
    DeviceTensor logits = make.output(classes.rows * classes.outputs, type);
    std::vector<double> sums = sized(classes.rows * classes.outputs);
    cuda::linear_forward(classes, type, inputs.data(), weight.data(), offsets.data(), logits.buffer.data(),
                         make.stream());
    cpu::linear_forward<double>(classes, inputs.values.data(), weight.values.data(), offsets.values.data(),
                                sums.data());
    report({"classifier 11 x 37 x 1536", type_name(type), relative_error(make.download(logits), sums),
            by_type(type, 1.5e-7, 4e-4, 3e-3)});
  }
}

void check_layout(const VerifyReport& report) {
  for (const ElementType type : kTypes) {
    TensorFactory make(9);
    const PatchEmbedShape patches{2, 3, 24, 16, 4, 8};
    const DeviceTensor image = make.normal(patches.column_elements(), type);
    DeviceTensor columns = make.output(patches.column_elements(), type);
    cuda::patch_columns(patches, type, image.data(), columns.buffer.data(), make.stream());
    // The CPU's operation leaves its columns behind.
    std::vector<double> expected = sized(patches.column_elements());
    const std::vector<double> weight = sized(patches.column_length() * patches.outputs);
    std::vector<double> embedded = sized(patches.tokens() * patches.outputs);
    cpu::patch_embed_forward<double>(patches, image.values.data(), weight.data(), nullptr, expected.data(),
                                     embedded.data());
    check_copy(report, make, "patches of 24 x 16 pixels", columns, expected);

    for (const std::int64_t height : {6, 5}) {
      const PatchMergeShape merge{2, height, 8, 40};
      const DeviceTensor x = make.normal(2 * height * 8 * 40, type);
      DeviceTensor y = make.output(merge.merged_tokens() * 160, type);
      std::vector<double> merged = sized(merge.merged_tokens() * 160);
      cuda::patch_merge_forward(merge, type, x.data(), y.buffer.data(), make.stream());
      cpu::patch_merge_forward(merge, x.values.data(), merged.data());
      check_copy(report, make, fmt::format("merging of {} x 8", height), y, merged);
    }
    check_window_copies(report, {2, {14, 14}, {7, 7}, {3, 3}}, type);
    check_window_copies(report, {2, {16, 8}, {8, 8}, {4, 0}}, type);
    check_window_copies(report, {1, {10, 9}, {7, 7}, {3, 3}}, type);  // padded
  }
}

void check_position_bias(const VerifyReport& report) {
  for (const Extent2 window : {Extent2{8, 8}, Extent2{7, 7}, Extent2{3, 5}}) {
    for (const Extent2 pretrained : {Extent2{0, 0}, Extent2{12, 12}}) {
      const ContinuousBiasShape shape{window, 6, 512, pretrained};
      TensorFactory make(13);
      const DeviceTensor weight1 = make.normal(shape.hidden * 2, ElementType::kFp32);
      const DeviceTensor bias1 = make.normal(shape.hidden, ElementType::kFp32, 0.2);
      const DeviceTensor weight2 = make.normal(shape.heads * shape.hidden, ElementType::kFp32, 0.05);
      DeviceTensor table = make.output(shape.rows() * shape.heads, ElementType::kFp32);
      const auto floats = [](const DeviceTensor& tensor) { return static_cast<const float*>(tensor.data()); };
      cuda::continuous_bias_forward(shape, floats(weight1), floats(bias1), floats(weight2),
                                    static_cast<float*>(table.buffer.data()), make.stream());
      std::vector<double> coordinates = sized(shape.rows() * 2);
      std::vector<double> activations = sized(shape.rows() * shape.hidden);
      std::vector<double> expected = sized(shape.rows() * shape.heads);
      cpu::continuous_bias_forward(shape, weight1.values.data(), bias1.values.data(), weight2.values.data(),
                                   coordinates.data(), activations.data(), expected.data());
      report({fmt::format("position bias {} x {}, trained on {}", window.height, window.width, pretrained.height),
              "fp32", relative_error(make.download(table), expected), 2e-6});
    }
  }
}

const std::vector<KernelCheck>& kernel_checks() {
  static const std::vector<KernelCheck> checks = {
      {"layernorm", check_layernorm},
      {"elementwise", check_elementwise},
      {"layout", check_layout},
      {"product", check_matmul},
      {"product tiles", check_product_tiles},
      {"tall product tiles", check_tall_product_tiles},
      {"normalized result tiles", check_normalized_result_tiles},
      {"tall normalized result tiles", check_tall_normalized_result_tiles},
      {"narrow block", check_narrow_block},
      {"normalized rows", check_normalized_rows},
      {"8 bits", check_eight_bits},
      {"tall products of 8 bits", check_tall_eight_bits},
      {"copies in 8 bits", check_byte_copies},
      {"weight gradients of 8 bits", check_byte_weight_gradients},
      {"integers alone", check_integers_alone},
      {"sparse products", check_sparse_products},
      {"position bias", check_position_bias},
      {"attention", check_attention},
      {"qkv and attention", check_qkv_attention},
      {"attention by steps", check_attention_steps},
      {"layernorm backward", check_layernorm_backward},
      {"elementwise backward", check_elementwise_backward},
      {"gradient products", check_gradient_products},
      {"attention backward", check_attention_backward},
      {"attention backward of wide windows", check_wide_attention_backward},
      {"attention by steps backward", check_attention_steps_backward},
      {"position bias backward", check_position_bias_backward},
      {"loss", check_loss},
      {"stochastic depth", check_stochastic_depth},
      {"optimizer", check_optimizer},
      {"sum of parts", check_sum_parts},
      {"resize", check_resize},
      {"pixel loss", check_pixel_losses},
      {"batchnorm", check_batchnorm},
      {"map operations", check_map_operations},
      {"tap fusion", check_tap_fusion},
      {"convolution", check_convolution},
  };
  return checks;
}

}  // namespace swinscope
