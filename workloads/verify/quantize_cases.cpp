// 8-bit numbers: rounding to them, and products of them, against the CPU's on the same rounded operands in fp64. Sums
// of integers are exact, so that their products are within a step of fp16, and the same bits by every tile.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include <fmt/format.h>

#include "kernels/byte_format.h"
#include "kernels/layernorm.h"
#include "kernels/linear.h"
#include "kernels/matmul_hopper.h"
#include "kernels/quantize.h"
#include "kernels/window_attention.h"
#include "workloads/verify/device_tensor.h"
#include "workloads/verify/kernel_cases.h"

namespace swinscope {
namespace {

constexpr ElementType kHalf = ElementType::kFp16;
constexpr ByteFormat kFormats[] = {ByteFormat::kE4m3, ByteFormat::kInt8};
// Of results in 8 bits: of some that lie near the middle between two numbers the other one is taken.
constexpr double kFewOthers = 1e-2;

const char* name_of(ByteFormat format) { return format == ByteFormat::kInt8 ? "int8" : "fp8"; }

// On the device, with a guard behind it that must stay as it is.
class Bytes {
 public:
  Bytes(TensorFactory& make, ByteFormat format, std::int64_t count)
      : make_(&make), format_(format), count_(count), buffer_(count + kGuard) {
    const std::vector<std::uint8_t> poison(static_cast<std::size_t>(count + kGuard), this->poison());
    cuda::copy_to_device(buffer_.data(), poison.data(), count + kGuard, make.stream());
    cuda::synchronize(make.stream());
  }
  // Rounded, of values that stand for `scale` times as much.
  Bytes(TensorFactory& make, ByteFormat format, const std::vector<double>& of, double scale)
      : Bytes(make, format, static_cast<std::int64_t>(of.size())) {
    std::vector<std::uint8_t> bits(of.size());
    std::ranges::transform(of, bits.begin(),
                           [=](double value) { return to_byte(format, static_cast<float>(value / scale)); });
    cuda::copy_to_device(buffer_.data(), bits.data(), count_, make.stream());
    cuda::synchronize(make.stream());
    values = decoded(bits, scale);
  }
  void* data() const { return buffer_.data(); }
  std::vector<std::uint8_t> bits() const {
    std::vector<std::uint8_t> found(static_cast<std::size_t>(count_ + kGuard));
    cuda::copy_to_host(found.data(), buffer_.data(), count_ + kGuard, make_->stream());
    for (auto guard = found.begin() + count_; guard != found.end(); ++guard)
      if (*guard != poison()) found.front() = poison();
    found.resize(static_cast<std::size_t>(count_));
    return found;
  }
  // NaN where the guard was written to.
  std::vector<double> download(double scale) const { return decoded(bits(), scale); }

  std::vector<double> values;

 private:
  static constexpr std::int64_t kGuard = 512;
  // NaN, and of integers -128, which is never made.
  std::uint8_t poison() const { return format_ == ByteFormat::kInt8 ? 0x80 : 0x7f; }

  std::vector<double> decoded(const std::vector<std::uint8_t>& bits, double scale) const {
    std::vector<double> result(bits.size());
    std::ranges::transform(bits, result.begin(), [&](std::uint8_t one) {
      return one == poison() ? std::nan("") : scale * static_cast<double>(from_byte(format_, one));
    });
    return result;
  }

  TensorFactory* make_;
  ByteFormat format_;
  std::int64_t count_;
  cuda::DeviceBuffer buffer_;
};

std::vector<double> rounded(ByteFormat format, const std::vector<double>& values, double scale) {
  std::vector<double> result(values.size());
  std::ranges::transform(values, result.begin(), [=](double value) {
    return scale * static_cast<double>(from_byte(format, to_byte(format, static_cast<float>(value / scale))));
  });
  return result;
}

double largest_of(const std::vector<double>& values) {
  double largest = 0.0;
  for (const double value : values)
    largest = std::max(largest, std::fabs(value));
  return largest;
}

// The largest difference in steps of fp16; where sum and bias cancel, below 2^-8, in the steps of that.
double most_steps(const std::vector<double>& found, const std::vector<double>& expected) {
  double most = 0.0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double steps =
        std::fabs(found[i] - expected[i]) / std::ldexp(1.0, std::max(std::ilogb(expected[i]), -8) - 10);
    most = std::isnan(steps) ? std::numeric_limits<double>::infinity() : std::max(most, steps);
  }
  return most;
}

double tanh_gelu(double z) { return 0.5 * z * (1.0 + std::tanh(std::sqrt(2.0 / M_PI) * (z + 0.044715 * z * z * z))); }

// Every fp16 number, of which those beyond the largest become that: the same bits as the CPU's.
void check_rounding(const VerifyReport& report, ByteFormat format) {
  TensorFactory make(31);
  std::vector<double> all;
  for (int exponent = -24; exponent <= 15; ++exponent)
    for (int part = 0; part < 1024; ++part)
      for (const double sign : {1.0, -1.0})
        all.push_back(sign * std::ldexp(1.0 + part / 1024.0, exponent));
  const double infinity = std::numeric_limits<double>::infinity();
  all[0] = infinity;
  all[1] = -infinity;
  if (format == ByteFormat::kInt8) all[2] = std::nan("");
  const DeviceTensor x = make.upload(all, kHalf);
  for (const float scale : {1.0F, 0.25F}) {
    const auto count = static_cast<std::int64_t>(all.size());
    const Bytes y(make, format, count);
    cuda::quantize(count, kHalf, x.data(), format, scale, y.data(), make.stream());
    const std::vector<std::uint8_t> bits = y.bits();
    int others = 0;
    for (std::size_t i = 0; i < bits.size(); ++i)
      if (bits[i] != to_byte(format, static_cast<float>(x.values[i]) / scale)) ++others;
    report({fmt::format("rounding to 8 bits, scale {}: others than the CPU's", scale), name_of(format),
            static_cast<double>(others), 0.5});
  }
}

void check_weights(const VerifyReport& report, ByteFormat format) {
  TensorFactory make(32);
  const WeightShape shape{70, 520, 0.125F, format};
  std::vector<double> values = make.normal(shape.outputs * shape.inputs, kHalf, 0.05).values;
  std::fill_n(values.begin(), shape.inputs, 0.0);             // a row of zeros
  values[static_cast<std::size_t>(shape.inputs + 3)] = 40.0;  // an outlier
  const DeviceTensor weight = make.upload(values, kHalf);
  const Bytes y(make, format, shape.outputs * shape.inputs);
  DeviceTensor factors = make.output(shape.outputs, ElementType::kFp32);
  cuda::quantize_weight(shape, kHalf, weight.data(), y.data(), static_cast<float*>(factors.buffer.data()),
                        make.stream());
  const std::vector<double> bytes = y.download(1.0);
  std::vector<double> expected, expected_factors;
  for (std::int64_t row = 0; row < shape.outputs; ++row) {
    const auto begin = weight.values.begin() + row * shape.inputs;
    const std::vector<double> own(begin, begin + shape.inputs);
    const auto scale = static_cast<double>(byte_scale(format, static_cast<float>(largest_of(own))));
    expected_factors.push_back(scale * static_cast<double>(shape.input_scale));
    for (const double value : rounded(format, own, scale))
      expected.push_back(value / scale);
  }
  report({"a weight in 8 bits", name_of(format), relative_error(bytes, expected), 1e-3});
  report(
      {"a weight in 8 bits, factors", name_of(format), relative_error(make.download(factors), expected_factors), 1e-6});
}

void check_counts(const VerifyReport& report) {
  TensorFactory make(33);
  const DeviceTensor x = make.normal(100003, kHalf);
  const cuda::DeviceBuffer counts(sizeof(MagnitudeCounts));
  cuda::clear(counts.data(), counts.bytes(), make.stream());
  cuda::count_magnitudes(100003, x.data(), static_cast<std::uint32_t*>(counts.data()), make.stream());
  MagnitudeCounts found{};
  cuda::copy_to_host(found.data(), counts.data(), counts.bytes(), make.stream());
  MagnitudeCounts expected{};
  for (const double value : x.values) {
    int exponent = 0;
    const double part = std::frexp(std::fabs(value), &exponent);  // part * 2^exponent, half or more
    const int bin = exponent < -13 ? static_cast<int>(std::ldexp(std::fabs(value), 20))
                                   : (exponent + 14) * 64 + static_cast<int>((2.0 * part - 1.0) * 64.0);
    ++expected.at(static_cast<std::size_t>(bin));
  }
  int others = 0;
  for (std::size_t i = 0; i < found.size(); ++i)
    if (found.at(i) != expected.at(i)) ++others;
  report({"counts of magnitudes: others than the CPU's", "fp16", static_cast<double>(others), 0.5});
}

void check_normalization(const VerifyReport& report, ByteFormat format) {
  for (const std::int64_t channels : {384, 512, 768, 1024, 1536}) {
    for (const bool adds : {false, true}) {
      TensorFactory make(34);
      const LayerNormShape shape{301, channels};
      const DeviceTensor x = make.normal(shape.rows * channels, kHalf, 2.0, 0.5);
      const DeviceTensor gamma = make.normal(channels, kHalf, 0.3, 1.0), beta = make.normal(channels, kHalf, 0.2);
      const DeviceTensor residual = make.normal(shape.rows * channels, kHalf);
      DeviceTensor y = make.output(shape.rows * channels, kHalf);
      std::vector<double> expected(x.values.size()), unused(static_cast<std::size_t>(shape.rows));
      cpu::layernorm_forward<double>(shape, x.values.data(), gamma.values.data(), beta.values.data(), expected.data(),
                                     unused.data(), unused.data());
      for (std::size_t i = 0; adds && i < expected.size(); ++i)
        expected[i] += residual.values[i];
      const float scale =
          byte_scale(format, static_cast<float>(largest_of(expected) / 2.0));  // some are beyond the largest
      for (const bool backwards : {false, true}) {
        const Bytes bytes(make, format, shape.rows * channels);
        cuda::LayerNormTensors tensors{x.data(), gamma.data(), beta.data(), y.buffer.data(),
                                       adds ? residual.data() : nullptr};
        tensors.bytes = bytes.data();
        tensors.byte_format = format;
        tensors.byte_scale = scale;
        tensors.backwards = backwards;
        cuda::layernorm_forward(shape, kHalf, tensors, make.stream());
        const auto once = static_cast<double>(scale);
        report({fmt::format("layernorm of {} to 8 bits{}{}", channels, adds ? ", with residual" : "",
                            backwards ? ", backwards" : ""),
                name_of(format), relative_error(bytes.download(once), rounded(format, expected, once)), kFewOthers});
        if (adds)
          report({fmt::format("layernorm of {} beside 8 bits", channels), "fp16",
                  relative_error(make.download(y), expected), 5e-4});
      }
    }
  }
}

void check_attention_result(const VerifyReport& report, ByteFormat format) {
  for (const bool cosine : {false, true}) {
    TensorFactory make(35);
    const Extent2 window = cosine ? Extent2{8, 8} : Extent2{7, 7};
    const WindowAttentionShape shape{{3, {2 * window.height, 3 * window.width}, window, {3, 3}},
                                     6,
                                     32,
                                     cosine ? AttentionScore::kCosine : AttentionScore::kScaledDot};
    const DeviceTensor qkv = make.normal(shape.grid.tokens() * 3 * shape.channels(), kHalf);
    const DeviceTensor table = make.normal(bias_table_rows(window) * shape.heads, ElementType::kFp32);
    const DeviceTensor logit_scale = make.uniform(shape.heads, ElementType::kFp32, 1.0, 2.0);
    std::vector<double> expected(static_cast<std::size_t>(shape.grid.tokens() * shape.channels()));
    std::vector<double> lse(static_cast<std::size_t>(shape.grid.tokens() * shape.heads));
    cpu::window_attention_forward<double>(shape,
                                          {qkv.values.data(), table.values.data(), logit_scale.values.data(), nullptr},
                                          expected.data(), lse.data());
    const cuda::DeviceBuffer bias(cuda::attention_bias_bytes(shape, kHalf));
    cuda::expand_attention_bias(shape, kHalf, static_cast<const float*>(table.data()), bias.data(), make.stream());
    const float scale = byte_scale(format, static_cast<float>(largest_of(expected)));
    const Bytes out(make, format, shape.grid.tokens() * shape.channels());
    cuda::WindowAttentionTensors tensors;
    tensors.qkv = qkv.data();
    tensors.bias = bias.data();
    tensors.logit_scale = static_cast<const float*>(logit_scale.data());
    tensors.out = out.data();
    tensors.byte_format = format;
    tensors.out_scale = scale;
    const auto once = static_cast<double>(scale);
    for (const bool backwards : {false, true}) {
      tensors.backwards = backwards;
      cuda::window_attention_forward(shape, kHalf, cuda::TokenOrder::kImage, tensors, make.stream());
      report({fmt::format("attention to 8 bits{}{}", cosine ? ", cosine" : "", backwards ? ", backwards" : ""),
              name_of(format), relative_error(out.download(once), rounded(format, expected, once)), kFewOthers});
    }
    if (cosine) continue;  // qkv in 8 bits is V1's alone
    // qkv as well: of the same numbers, rounded.
    const auto qkv_scale = static_cast<double>(byte_scale(format, static_cast<float>(largest_of(qkv.values))));
    const Bytes qkv_bytes(make, format, qkv.values, qkv_scale);
    cpu::window_attention_forward<double>(
        shape, {qkv_bytes.values.data(), table.values.data(), logit_scale.values.data(), nullptr}, expected.data(),
        lse.data());
    tensors.qkv = qkv_bytes.data();
    tensors.qkv_scale = static_cast<float>(qkv_scale);
    for (const bool backwards : {false, true}) {
      tensors.backwards = backwards;
      cuda::window_attention_forward(shape, kHalf, cuda::TokenOrder::kImage, tensors, make.stream());
      report({fmt::format("attention of 8 bits to 8 bits{}", backwards ? ", backwards" : ""), name_of(format),
              relative_error(out.download(once), rounded(format, expected, once)), kFewOthers});
    }
    const DeviceTensor wide = make.output(shape.grid.tokens() * shape.channels(), kHalf);
    tensors.out = wide.buffer.data();
    tensors.out_scale = 0.0F;
    cuda::window_attention_forward(shape, kHalf, cuda::TokenOrder::kImage, tensors, make.stream());
    report({"attention of 8 bits", name_of(format), relative_error(make.download(wide), expected), 1.5e-3});
  }
}

cuda::MatmulArithmetic arithmetic_of(ByteFormat format) {
  return format == ByteFormat::kInt8 ? cuda::MatmulArithmetic::kInt8 : cuda::MatmulArithmetic::kFp8;
}

struct ProductCase {
  std::int64_t rows, outputs, inputs;
  cuda::Epilogue epilogue;
  bool accumulate;
};

// What x and weight stand for: some of x are beyond the largest number.
constexpr double kInputScale = 0.02;
double weight_scale_of(ByteFormat format) { return format == ByteFormat::kInt8 ? 0.12 / 127.0 : 1.0 / 4096.0; }

std::vector<double> operand(TensorFactory& make, const ProductCase& c, ByteFormat format) {
  std::vector<double> values = make.normal(c.rows * c.inputs, kHalf).values;
  if (format == ByteFormat::kInt8) {  // a row of zeros, and a channel far from the others
    std::fill_n(values.begin(), c.inputs, 0.0);
    for (std::int64_t row = 1; row < c.rows; ++row)
      values[static_cast<std::size_t>(row * c.inputs + 5)] *= 100.0;
  }
  return values;
}

// Sums of e4m3's products have about 14 bits on the tensor cores of compute capability 9.0.
void check_product(const VerifyReport& report, const ProductCase& c, ByteFormat format) {
  TensorFactory make(36);
  const Bytes x(make, format, operand(make, c, format), kInputScale);
  const Bytes weight(make, format, make.normal(c.outputs * c.inputs, kHalf, 0.04).values, weight_scale_of(format));
  const DeviceTensor bias = make.normal(c.outputs, kHalf, 0.5), before = make.normal(c.rows * c.outputs, kHalf);
  const DeviceTensor factors = make.uniform(c.outputs, ElementType::kFp32, 0.5 * kInputScale * weight_scale_of(format),
                                            kInputScale * weight_scale_of(format));
  const bool biased = c.epilogue != cuda::Epilogue::kNone, gelu = c.epilogue == cuda::Epilogue::kBiasGelu;
  const bool exact = format == ByteFormat::kInt8 && !gelu;
  const std::vector<double> x_bytes = x.download(1.0), weight_bytes = weight.download(1.0);
  std::vector<double> expected(before.values.size());
  cpu::linear_forward<double>({c.rows, c.inputs, c.outputs, false}, x_bytes.data(), weight_bytes.data(), nullptr,
                              expected.data());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const std::size_t column = i % factors.values.size();
    expected[i] = expected[i] * factors.values[column] + (biased ? bias.values[column] : 0.0);
    if (gelu) expected[i] = tanh_gelu(expected[i]);
    if (c.accumulate) expected[i] += before.values[i];
  }
  for (const bool byte_result : {false, true}) {
    cuda::MatmulShape shape;
    shape.m = c.rows, shape.n = c.outputs, shape.k = c.inputs;
    shape.operand_type = shape.result_type = kHalf;
    shape.arithmetic = arithmetic_of(format);
    shape.scaled = true;
    shape.epilogue = c.epilogue;
    shape.accumulate = c.accumulate;
    if (byte_result) shape.byte_result = format;
    const auto scale = static_cast<double>(byte_scale(format, static_cast<float>(largest_of(expected))));
    std::vector<double> first;
    for (int tile = 0; tile < cuda::hopper::kTiles; ++tile) {
      if (!cuda::HopperMatmul::fits(shape, tile)) continue;
      for (const bool backwards : {false, true}) {
        const DeviceTensor y = make.upload(before.values, kHalf);
        const Bytes bytes(make, format, c.rows * c.outputs);
        cuda::MatmulOperands operands{x.data(), weight.data(), bias.data(),
                                      byte_result ? bytes.data() : y.buffer.data()};
        operands.scales = static_cast<const float*>(factors.data());
        operands.result_scale = static_cast<float>(scale);
        operands.backwards = backwards;
        cuda::HopperMatmul(shape, tile).run(operands, make.stream());
        const std::string what =
            fmt::format("8-bit product {} x {} x {}{}{}, tile {}{}{}", c.rows, c.outputs, c.inputs,
                        biased ? ", bias" : "", gelu ? ", gelu" : (c.accumulate ? ", accumulate" : ""), tile,
                        byte_result ? ", to 8 bits" : "", backwards ? ", backwards" : "");
        const std::vector<double> found = byte_result ? bytes.download(scale) : make.download(y);
        if (byte_result) {
          report({what, name_of(format), relative_error(found, rounded(format, expected, scale)), kFewOthers});
        } else if (exact) {
          report({what + ", steps of fp16", name_of(format), most_steps(found, expected), 1.0});
        } else {
          report({what, name_of(format), relative_error(found, expected), 1e-3});
        }
        if (first.empty()) first = found;
        if (format == ByteFormat::kInt8 && found != first) report({what + ", other bits", name_of(format), 1.0, 0.0});
      }
    }
  }
}

// A product whose rows are normalized, of operands in 8 or 16 bits, with the result in 8 bits beside it or not.
void check_normalized_product(const VerifyReport& report, const ProductCase& c, ByteFormat format) {
  TensorFactory make(37);
  const double weight_scale = weight_scale_of(format);
  const Bytes x(make, format, make.normal(c.rows * c.inputs, kHalf).values, kInputScale);
  const Bytes weight(make, format, make.normal(c.outputs * c.inputs, kHalf, 0.04).values, weight_scale);
  const DeviceTensor wide_x = make.upload(x.values, kHalf), wide_weight = make.upload(weight.values, kHalf);
  const DeviceTensor bias = make.normal(c.outputs, kHalf, 0.5), before = make.normal(c.rows * c.outputs, kHalf);
  const DeviceTensor gamma = make.normal(c.outputs, kHalf, 0.3, 1.0), beta = make.normal(c.outputs, kHalf, 0.2);
  const DeviceTensor factors = make.upload(
      std::vector<double>(static_cast<std::size_t>(c.outputs), kInputScale * weight_scale), ElementType::kFp32);
  for (const bool bytes_in : {false, true}) {
    std::vector<double> expected(before.values.size()), unused(static_cast<std::size_t>(c.rows));
    cpu::linear_forward<double>({c.rows, c.inputs, c.outputs}, bytes_in ? x.values.data() : wide_x.values.data(),
                                bytes_in ? weight.values.data() : wide_weight.values.data(), bias.values.data(),
                                expected.data());
    const std::vector<double> product = expected;
    cpu::layernorm_forward<double>({c.rows, c.outputs}, product.data(), gamma.values.data(), beta.values.data(),
                                   expected.data(), unused.data(), unused.data());
    for (std::size_t i = 0; c.accumulate && i < expected.size(); ++i)
      expected[i] += before.values[i];
    const auto scale = static_cast<double>(byte_scale(format, static_cast<float>(largest_of(expected))));
    for (const bool beside : {false, true}) {
      if (format == ByteFormat::kInt8 && !bytes_in && !beside) continue;  // the same as with e4m3
      cuda::MatmulShape shape;
      shape.m = c.rows, shape.n = c.outputs, shape.k = c.inputs;
      shape.operand_type = shape.result_type = kHalf;
      if (bytes_in) shape.arithmetic = arithmetic_of(format);
      shape.scaled = bytes_in;
      shape.epilogue = cuda::Epilogue::kBias;
      shape.accumulate = c.accumulate;
      shape.normalize_result = true;
      if (beside) shape.byte_result = format;
      for (int tile = 0; tile < cuda::hopper::kTiles; ++tile) {
        if (!cuda::HopperMatmul::fits(shape, tile)) continue;
        const DeviceTensor y = make.upload(before.values, kHalf);
        const Bytes bytes(make, format, c.rows * c.outputs);
        cuda::MatmulOperands operands{bytes_in ? x.data() : wide_x.data(),
                                      bytes_in ? weight.data() : wide_weight.data(),
                                      bias.data(),
                                      y.buffer.data(),
                                      gamma.data(),
                                      beta.data()};
        operands.scales = static_cast<const float*>(factors.data());
        operands.result_scale = static_cast<float>(scale);
        operands.bytes = bytes.data();
        cuda::HopperMatmul(shape, tile).run(operands, make.stream());
        const std::string what = fmt::format("normalized product {} x {} x {} of {} bits{}, tile {}", c.rows, c.outputs,
                                             c.inputs, bytes_in ? 8 : 16, c.accumulate ? ", accumulate" : "", tile);
        report({what, name_of(format), relative_error(make.download(y), expected), 1e-3});
        if (beside)
          report({what + ", beside in 8 bits", name_of(format),
                  relative_error(bytes.download(scale), rounded(format, expected, scale)), kFewOthers});
      }
    }
  }
}

}  // namespace

void check_eight_bits(const VerifyReport& report) {
  if (!cuda::hopper::offered()) return;
  check_counts(report);
  for (const ByteFormat format : kFormats) {
    check_rounding(report, format);
    check_weights(report, format);
    check_normalization(report, format);
    check_attention_result(report, format);
    for (const ProductCase& c : {ProductCase{200, 512, 512, cuda::Epilogue::kBias, false},
                                 ProductCase{1031, 288, 592, cuda::Epilogue::kBiasGelu, false},
                                 ProductCase{131, 544, 2048, cuda::Epilogue::kBias, true},
                                 ProductCase{77, 96, 144, cuda::Epilogue::kNone, false}})
      check_product(report, c, format);
    for (const ProductCase& c : {ProductCase{200, 512, 512, cuda::Epilogue::kBias, true},
                                 ProductCase{1031, 384, 592, cuda::Epilogue::kBias, false},
                                 ProductCase{131, 1024, 2048, cuda::Epilogue::kBias, true}})
      check_normalized_product(report, c, format);
  }
}

void check_tall_eight_bits(const VerifyReport& report) {
  if (!cuda::hopper::offered()) return;
  for (const ByteFormat format : kFormats) {
    check_product(report, {30000, 512, 512, cuda::Epilogue::kBiasGelu, false}, format);
    check_normalized_product(report, {30000, 512, 512, cuda::Epilogue::kBias, true}, format);
  }
}

}  // namespace swinscope
