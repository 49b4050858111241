// What training in 8 bits adds to kernels: a copy of their result, which must have the bits of the CPU's rounding of
// that result, the largest magnitude of it, and the result itself as without a copy, or nothing else; weights in 8
// bits, also transposed; and the scales' way from step to step.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "kernels/bias.h"
#include "kernels/delayed_scale.h"
#include "kernels/gelu.h"
#include "kernels/layernorm.h"
#include "kernels/window_attention.h"
#include "workloads/verify/device_tensor.h"
#include "workloads/verify/kernel_cases.h"

namespace swinscope {
namespace {

constexpr ElementType kHalf = ElementType::kFp16;
constexpr ByteFormat kFormats[] = {ByteFormat::kE4m3, ByteFormat::kInt8};
constexpr float kScale = 0x1p-5F;  // large magnitudes are cut off
constexpr std::int64_t kGuard = 256;
constexpr unsigned char kPoison = 0x7f;  // NaN, and 127

const char* name_of(ByteFormat format) { return format == ByteFormat::kInt8 ? "int8" : "fp8"; }
float* floats(const DeviceTensor& tensor) { return static_cast<float*>(tensor.buffer.data()); }

// A place for a copy on the device, with a guard behind it.
class Copy {
 public:
  Copy(TensorFactory& make, ByteFormat format, std::int64_t count, float scale)
      : make_(make), format_(format), count_(count), bytes_(count + kGuard), scale_(sizeof(DelayedScale)) {
    const std::vector<unsigned char> poison(static_cast<std::size_t>(count + kGuard), kPoison);
    cuda::copy_to_device(bytes_.data(), poison.data(), count + kGuard, make.stream());
    DelayedScale first;
    first.scale = scale;
    cuda::copy_to_device(scale_.data(), &first, sizeof(first), make.stream());
    cuda::synchronize(make.stream());
  }
  cuda::ByteCopy get() const { return {bytes_.data(), static_cast<DelayedScale*>(scale_.data()), format_}; }

  // How many bytes are not the rounding of `values`, the guard's included.
  double others(const std::vector<double>& values) const {
    std::vector<unsigned char> found(static_cast<std::size_t>(count_ + kGuard));
    cuda::copy_to_host(found.data(), bytes_.data(), count_ + kGuard, make_.stream());
    const float inverse = 1.0F / scale().scale;
    double count = 0.0;
    for (std::size_t i = 0; i < found.size(); ++i) {
      const bool inside = i < values.size();
      const unsigned char expected = inside ? to_byte(format_, static_cast<float>(values[i]) * inverse) : kPoison;
      // NaN has two signs.
      const bool both_nan = inside && std::isnan(values[i]) && (found[i] & 0x7f) == kPoison;
      if (found[i] != expected && !both_nan) ++count;
    }
    return count;
  }
  DelayedScale scale() const {
    DelayedScale now;
    cuda::copy_to_host(&now, scale_.data(), sizeof(now), make_.stream());
    return now;
  }

 private:
  TensorFactory& make_;
  ByteFormat format_;
  std::int64_t count_;
  cuda::DeviceBuffer bytes_, scale_;
};

double largest_of(const std::vector<double>& values) {
  double largest = 0.0;
  for (const double value : values)
    if (!std::isnan(value)) largest = std::max(largest, std::fabs(value));
  return largest;
}

// To where a result is given a place, and to a copy where there is one.
using MakeCopy = std::function<void(void* result, const cuda::ByteCopy&)>;

// alone: the kernel also leaves the copy and nothing else.
void check_copy(const VerifyReport& report, TensorFactory& make, const std::string& what, DeviceTensor& result,
                std::int64_t count, const MakeCopy& run, bool alone = true) {
  run(result.buffer.data(), {});
  const std::vector<unsigned char> without = make.bytes(result);
  for (const ByteFormat format : kFormats) {
    const Copy copy(make, format, count, kScale);
    cuda::poison(result.buffer.data(), result.buffer.bytes(), make.stream());
    run(result.buffer.data(), copy.get());
    std::vector<double> values = make.download(result);
    values.resize(static_cast<std::size_t>(count));
    const auto row = [&](const char* name, double error) {
      report({fmt::format("8-bit copy, {}: {}", what, name), name_of(format), error, 0.0});
    };
    row("others than the CPU's", copy.others(values));
    row("largest", std::fabs(static_cast<double>(std::bit_cast<float>(copy.scale().largest)) - largest_of(values)));
    row("result without it", make.bytes(result) == without ? 0.0 : 1.0);
    if (!alone) continue;
    const Copy only(make, format, count, kScale);
    run(nullptr, only.get());
    row("others than the CPU's, nothing else", only.others(values));
    row("largest, nothing else", only.scale() == copy.scale() ? 0.0 : 1.0);
  }
}

// Infinities, NaN, zeros and whatever fp16 has.
void check_own_kernel(const VerifyReport& report) {
  TensorFactory make(3);
  std::vector<double> values = make.normal(8 * 4099, kHalf, 4.0).values;
  values[5] = std::nan("");
  values[6] = 65504.0;
  values[7] = -0.0;
  std::fill_n(values.begin() + 64, 64, 0.0);
  const auto count = static_cast<std::int64_t>(values.size());
  DeviceTensor x = make.upload(values, kHalf);
  const auto run = [&](void* /*result*/, const cuda::ByteCopy& copy) {
    make.write(x, values);
    if (copy.bytes != nullptr) cuda::copy_to_bytes(count, kHalf, x.data(), copy, make.stream());
  };
  check_copy(report, make, "by a kernel of its own", x, count, run, false);
}

void check_norms(const VerifyReport& report, std::int64_t rows, std::int64_t channels) {
  TensorFactory make(static_cast<std::uint32_t>(channels));
  const LayerNormShape shape{rows, channels};
  const std::int64_t count = rows * channels;
  const DeviceTensor x = make.normal(count, kHalf), branch = make.normal(count, kHalf);
  const DeviceTensor gamma = make.uniform(channels, kHalf, 0.5, 1.5), beta = make.normal(channels, kHalf);
  DeviceTensor y = make.output(count, kHalf), sum = make.output(count, kHalf);
  const std::string place = fmt::format("{} x {}", rows, channels);
  for (const bool residual : {false, true}) {
    check_copy(report, make, (residual ? "layernorm with residual " : "layernorm ") + place, y, count,
               [&](void* result, const cuda::ByteCopy& copy) {
                 cuda::LayerNormTensors tensors{x.data(), gamma.data(), beta.data(), result};
                 if (residual) tensors.residual = branch.data();
                 tensors.copy = copy;
                 tensors.backwards = copy.bytes != nullptr;
                 cuda::layernorm_forward(shape, kHalf, tensors, make.stream());
               });
  }
  check_copy(report, make, "residual sum and layernorm " + place, y, count,
             [&](void* result, const cuda::ByteCopy& copy) {
               cuda::ResidualNormTensors tensors;
               tensors.x = x.data();
               tensors.branch = branch.data();
               tensors.gamma = gamma.data();
               tensors.beta = beta.data();
               tensors.sum = sum.buffer.data();
               tensors.y = result;
               tensors.copy = copy;
               cuda::residual_layernorm_forward(shape, kHalf, tensors, make.stream());
             });
  const cuda::DeviceBuffer workspace(cuda::layernorm_backward_workspace_bytes(shape));
  const DeviceTensor parameters = make.output(3 * channels, ElementType::kFp32);
  for (const bool sums : {false, true}) {
    check_copy(report, make, (sums ? "layernorm backward with sums " : "layernorm backward ") + place, y, count,
               [&](void* result, const cuda::ByteCopy& copy) {
                 cuda::LayerNormGradientTensors tensors;
                 tensors.x = x.data();
                 tensors.gamma = gamma.data();
                 tensors.dy = branch.data();
                 tensors.residual = x.data();
                 tensors.dx = result;
                 tensors.dgamma = floats(parameters);
                 tensors.dbeta = floats(parameters) + channels;
                 if (sums) tensors.dx_sums = floats(parameters) + 2 * channels;
                 tensors.workspace = workspace.data();
                 tensors.copy = copy;
                 cuda::layernorm_backward(shape, kHalf, tensors, make.stream());
               });
  }
}

void check_elements(const VerifyReport& report, const BiasShape& shape) {
  TensorFactory make(17);
  const std::int64_t count = shape.rows * shape.columns;
  const DeviceTensor x = make.normal(count, kHalf, 2.0), dy = make.normal(count, kHalf, 2.0);
  const DeviceTensor scales = make.scales(shape.rows);
  DeviceTensor y = make.output(count, kHalf);
  const DeviceTensor dbias = make.output(shape.columns, ElementType::kFp32);
  const cuda::DeviceBuffer workspace(cuda::bias_backward_workspace_bytes(shape));
  const std::string place = fmt::format("{} x {}", shape.rows, shape.columns);
  check_copy(report, make, "gelu " + place, y, count, [&](void* result, const cuda::ByteCopy& copy) {
    cuda::gelu_forward(count, kHalf, x.data(), result, make.stream(), copy.bytes != nullptr, copy);
  });
  check_copy(report, make, "gelu backward " + place, y, count, [&](void* result, const cuda::ByteCopy& copy) {
    cuda::GeluGradientTensors tensors;
    tensors.x = x.data();
    tensors.dy = dy.data();
    tensors.dx = result;
    tensors.dbias = floats(dbias);
    tensors.workspace = workspace.data();
    tensors.copy = copy;
    cuda::gelu_backward(shape, kHalf, tensors, make.stream());
  });
  check_copy(report, make, "scaled branch " + place, y, count, [&](void* result, const cuda::ByteCopy& copy) {
    cuda::BiasGradientTensors tensors;
    tensors.dy = dy.data();
    tensors.sample_scale = floats(scales);
    tensors.rows_per_sample = 1;
    tensors.dx = result;
    tensors.dbias = floats(dbias);
    tensors.workspace = workspace.data();
    tensors.copy = copy;
    cuda::bias_backward(shape, kHalf, tensors, make.stream());
  });
}

void check_attention_copies(const VerifyReport& report, AttentionScore score, std::int64_t window, std::int64_t map,
                            std::int64_t shift) {
  TensorFactory make(23);
  WindowAttentionShape shape;
  shape.grid.batch = 3;
  shape.grid.map = {map, map};
  shape.grid.window = {window, window};
  shape.grid.shift = {shift, shift};
  shape.heads = 2;
  shape.head_dim = 32;
  shape.score = score;
  const std::int64_t count = shape.grid.tokens() * shape.channels();
  const DeviceTensor qkv = make.normal(3 * count, kHalf), pad = make.normal(3 * shape.channels(), kHalf);
  const DeviceTensor dout = make.normal(count, kHalf, 4.0);
  const DeviceTensor table = make.normal(bias_table_rows(shape.grid.window) * shape.heads, ElementType::kFp32);
  const DeviceTensor logit = make.normal(shape.heads, ElementType::kFp32);
  const cuda::DeviceBuffer bias(cuda::attention_bias_bytes(shape, kHalf));
  cuda::expand_attention_bias(shape, kHalf, floats(table), bias.data(), make.stream());
  const DeviceTensor lse = make.output(shape.grid.tokens() * shape.heads, ElementType::kFp32);
  DeviceTensor out = make.output(count, kHalf), dqkv = make.output(3 * count, kHalf);
  const cuda::DeviceBuffer workspace(cuda::attention_backward_workspace_bytes(shape, kHalf, cuda::TokenOrder::kImage));
  const DeviceTensor sums = make.output(
      bias_table_rows(shape.grid.window) * shape.heads + shape.heads + 3 * shape.channels(), ElementType::kFp32);
  const std::string place =
      fmt::format("attention {} {} of {}", score == AttentionScore::kCosine ? "V2" : "V1", window, map);
  check_copy(report, make, place, out, count, [&](void* result, const cuda::ByteCopy& copy) {
    cuda::WindowAttentionTensors tensors{qkv.data(), bias.data(), floats(logit), pad.data(), result, floats(lse)};
    tensors.copy = copy;
    cuda::window_attention_forward(shape, kHalf, cuda::TokenOrder::kImage, tensors, make.stream());
  });
  check_copy(report, make, place + " backward", dqkv, 3 * count, [&](void* result, const cuda::ByteCopy& copy) {
    cuda::WindowAttentionGradientTensors tensors;
    tensors.qkv = qkv.data();
    tensors.bias = bias.data();
    tensors.logit_scale = floats(logit);
    tensors.pad_qkv = pad.data();
    tensors.lse = floats(lse);
    tensors.dout = dout.data();
    tensors.dqkv = result;
    tensors.dtable = floats(sums);
    tensors.dlogit_scale = tensors.dtable + bias_table_rows(shape.grid.window) * shape.heads;
    tensors.dqkv_bias = tensors.dlogit_scale + shape.heads;
    tensors.workspace = workspace.data();
    tensors.copy = copy;
    cuda::window_attention_backward(shape, kHalf, cuda::TokenOrder::kImage, tensors, make.stream());
  });
}

// Three weights at once, of which the second has a copy of its rows only, and one with a row of zeros.
void check_weights(const VerifyReport& report, ByteFormat format) {
  TensorFactory make(41);
  struct Case {
    std::int64_t outputs, inputs;
    bool transposed;
  };
  const std::vector<Case> cases = {{64, 128, true}, {96, 48, false}, {192, 64, true}};
  constexpr float kGradientScale = 0x1p-9F;
  std::vector<DeviceTensor> weights;
  std::vector<Copy> rows, transposed;  // their scales are those of the other operands
  std::vector<DeviceTensor> factors;
  std::vector<cuda::ByteWeight> all;
  rows.reserve(cases.size());
  transposed.reserve(cases.size());
  for (const Case& c : cases) {
    std::vector<double> values = make.normal(c.outputs * c.inputs, kHalf, 0.05).values;
    std::fill_n(values.begin() + c.inputs, c.inputs, 0.0);
    weights.push_back(make.upload(values, kHalf));
    rows.emplace_back(make, format, c.outputs * c.inputs, kScale);
    transposed.emplace_back(make, ByteFormat::kE4m3, c.outputs * c.inputs, kGradientScale);
    factors.push_back(make.output(c.outputs + c.inputs, ElementType::kFp32));
    cuda::ByteWeight w{c.outputs, c.inputs, weights.back().data()};
    w.input_scale = rows.back().get().scale;
    w.bytes = rows.back().get().bytes;
    w.factors = floats(factors.back());
    if (c.transposed) {
      w.gradient_scale = transposed.back().get().scale;
      w.transposed = transposed.back().get().bytes;
      w.transposed_factors = w.factors + c.outputs;
    }
    all.push_back(w);
  }
  const cuda::ByteWeights kernels(all, format, make.stream());
  for (int turn = 0; turn < 2; ++turn)
    kernels.run(make.stream());
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const Case& c = cases[i];
    const std::vector<double>& w = weights[i].values;
    const std::vector<double> found = make.download(factors[i]);
    const auto size = static_cast<std::size_t>(c.outputs * c.inputs);
    std::vector<unsigned char> bytes(size), turned(size);
    cuda::copy_to_host(bytes.data(), all[i].bytes, c.outputs * c.inputs, make.stream());
    if (c.transposed) cuda::copy_to_host(turned.data(), all[i].transposed, c.outputs * c.inputs, make.stream());
    const float whole = byte_scale(ByteFormat::kE4m3, static_cast<float>(largest_of(w)));
    double others = 0.0, others_turned = 0.0, factor_error = 0.0;
    for (std::int64_t o = 0; o < c.outputs; ++o) {
      const std::vector<double> row(w.begin() + o * c.inputs, w.begin() + (o + 1) * c.inputs);
      const float scale = byte_scale(format, static_cast<float>(largest_of(row)));
      factor_error = std::max(factor_error, std::fabs(found[static_cast<std::size_t>(o)] / (scale * kScale) - 1.0));
      for (std::int64_t k = 0; k < c.inputs; ++k) {
        const auto value = static_cast<float>(row[static_cast<std::size_t>(k)]);
        if (bytes[static_cast<std::size_t>(o * c.inputs + k)] != to_byte(format, value / scale)) ++others;
        const unsigned char in_turn = turned[static_cast<std::size_t>(k * c.outputs + o)];
        if (c.transposed && in_turn != to_byte(ByteFormat::kE4m3, value * (1.0F / whole))) ++others_turned;
      }
    }
    for (std::int64_t k = 0; c.transposed && k < c.inputs; ++k)
      factor_error = std::max(
          factor_error, std::fabs(found[static_cast<std::size_t>(c.outputs + k)] / (whole * kGradientScale) - 1.0));
    const auto row = [&](const char* name, double error, double tolerance) {
      report({fmt::format("weights of a step, {} x {}: {}", c.outputs, c.inputs, name), name_of(format), error,
              tolerance});
    };
    // Some lie in the middle between two numbers, where division on the GPU may be off by the last bit.
    row("others than the CPU's", others / static_cast<double>(size), 1e-3);
    if (c.transposed) row("others, transposed", others_turned / static_cast<double>(size), 1e-3);
    row("factors", factor_error, 1e-6);
  }
}

void check_scales(const VerifyReport& report, ByteFormat format) {
  TensorFactory make(43);
  std::vector<DelayedScale> expected(300);
  const cuda::DeviceBuffer buffer(static_cast<std::int64_t>(expected.size() * sizeof(DelayedScale)));
  std::vector<DelayedScale> found = expected;
  double others = 0.0;
  for (int step = 0; step < kScaleHistory + 3; ++step) {
    for (std::size_t i = 0; i < expected.size(); ++i) {
      float largest = std::ldexp(1.0F, static_cast<int>(i + static_cast<std::size_t>(7 * step)) % 40 - 20);
      if (i % 50 == 3) largest = std::numeric_limits<float>::infinity();
      if (i % 50 == 4) largest = 0.0F;
      expected[i].largest = found[i].largest = std::bit_cast<std::uint32_t>(largest);
      advance(expected[i], format);
    }
    cuda::copy_to_device(buffer.data(), found.data(), buffer.bytes(), make.stream());
    cuda::advance_scales(static_cast<std::int64_t>(found.size()), format, static_cast<DelayedScale*>(buffer.data()),
                         make.stream());
    cuda::copy_to_host(found.data(), buffer.data(), buffer.bytes(), make.stream());
    others += std::memcmp(found.data(), expected.data(), found.size() * sizeof(DelayedScale)) == 0 ? 0.0 : 1.0;
  }
  report({"scales from step to step", name_of(format), others, 0.0});
}

}  // namespace

void check_byte_copies(const VerifyReport& report) {
  check_own_kernel(report);
  for (const std::int64_t channels : {128, 384, 768, 1536, 3072})
    check_norms(report, 37, channels);
  check_norms(report, 5000, 768);
  for (const BiasShape& shape : {BiasShape{37, 96}, BiasShape{1000, 3072}})
    check_elements(report, shape);
  check_attention_copies(report, AttentionScore::kScaledDot, 7, 14, 3);
  check_attention_copies(report, AttentionScore::kScaledDot, 7, 17, 3);
  check_attention_copies(report, AttentionScore::kScaledDot, 8, 16, 4);
  check_attention_copies(report, AttentionScore::kCosine, 8, 16, 4);
  for (const ByteFormat format : kFormats) {
    check_weights(report, format);
    check_scales(report, format);
  }
}

}  // namespace swinscope
