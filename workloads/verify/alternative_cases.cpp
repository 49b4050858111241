// What no model uses (kernels/sparse_product.h, kernels/integer_only_kernels.h): against the same on the host.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "kernels/byte_format.h"
#include "kernels/gemm.h"
#include "kernels/integer_only.h"
#include "kernels/integer_only_kernels.h"
#include "kernels/sparse_product.h"
#include "workloads/verify/device_tensor.h"
#include "workloads/verify/kernel_cases.h"

namespace swinscope {
namespace {

constexpr std::int64_t kGuard = 64;

ByteFormat format_of(cuda::SparseOperands operands) {
  if (operands == cuda::SparseOperands::kFp16) return ByteFormat::kNone;
  return operands == cuda::SparseOperands::kE4m3 ? ByteFormat::kE4m3 : ByteFormat::kInt8;
}

// Values as `operands` have them, and the device's copy.
class SparseOperand {
 public:
  SparseOperand(TensorFactory& make, std::int64_t count, cuda::SparseOperands operands) : format_(format_of(operands)) {
    const double sigma = operands == cuda::SparseOperands::kInt8 ? 2.0 : 1.0;
    values = make.normal(count, ElementType::kFp16, sigma).values;
    if (format_ == ByteFormat::kNone) {
      half_ = make.upload(values, ElementType::kFp16);
      return;
    }
    std::vector<std::uint8_t> bits(values.size());
    for (std::size_t i = 0; i < bits.size(); ++i)
      bits[i] = to_byte(format_, static_cast<float>(values[i]));
    bytes_ = cuda::DeviceBuffer(count);
    cuda::copy_to_device(bytes_.data(), bits.data(), count, make.stream());
    take(bits);
  }
  void* data() const { return format_ == ByteFormat::kNone ? half_.buffer.data() : bytes_.data(); }
  // What the device has now.
  void read_back(TensorFactory& make) {
    if (format_ == ByteFormat::kNone) {
      values = make.download(half_);
      return;
    }
    std::vector<std::uint8_t> bits(values.size());
    cuda::copy_to_host(bits.data(), bytes_.data(), bytes_.bytes(), make.stream());
    take(bits);
  }

  std::vector<double> values;

 private:
  void take(const std::vector<std::uint8_t>& bits) {
    for (std::size_t i = 0; i < bits.size(); ++i)
      values[i] = static_cast<double>(from_byte(format_, bits[i]));
  }

  ByteFormat format_;
  DeviceTensor half_;
  cuda::DeviceBuffer bytes_;
};

// Of each four weights: two are as they were, and none that went is larger than one that stayed.
double wrongly_pruned(const std::vector<double>& before, const std::vector<double>& after) {
  double wrong = 0.0;
  for (std::size_t first = 0; first < before.size(); first += 4) {
    int stayed = 0;
    double least = std::numeric_limits<double>::infinity();
    double most = 0.0;
    for (std::size_t i = first; i < first + 4; ++i) {
      if (after[i] != 0.0) {
        ++stayed;
        least = std::min(least, std::abs(after[i]));
        if (after[i] != before[i]) ++wrong;
      } else {
        most = std::max(most, std::abs(before[i]));
      }
    }
    if (stayed > 2 || most > least) ++wrong;
  }
  return wrong;
}

void check_sparse_product(const VerifyReport& report, const cuda::SparseShape& shape) {
  TensorFactory make(static_cast<std::uint32_t>(shape.n + shape.k));
  const SparseOperand x(make, shape.m * shape.k, shape.operands);
  SparseOperand w(make, shape.n * shape.k, shape.operands);
  const std::vector<double> before = w.values;
  DeviceTensor y = make.output(shape.m * shape.n + kGuard, ElementType::kFp16);
  const cuda::SparseProduct product(shape, x.data(), w.data(), y.buffer.data(), make.stream());
  w.read_back(make);
  y.buffer.poison(make.stream());
  product.run(x.data(), y.buffer.data(), make.stream());
  std::vector<double> expected(static_cast<std::size_t>(shape.m * shape.n));
  cpu::gemm<double>({shape.m, shape.n, shape.k, Transpose::kNo, Transpose::kYes}, 1.0, x.values.data(), w.values.data(),
                    0.0, expected.data());
  const char* const type = shape.operands == cuda::SparseOperands::kFp16   ? "fp16"
                           : shape.operands == cuda::SparseOperands::kE4m3 ? "fp8"
                                                                           : "int8";
  const std::string place = fmt::format("2:4 sparse product {} x {} x {}", shape.m, shape.n, shape.k);
  report({place, type, guarded_error(make.download(y), expected), 5e-4});
  report({place + ": weights that should not have gone", type, wrongly_pruned(before, w.values), 0.0});
}

// All bytes in random order, rows of one value and of extremes among them.
std::vector<std::int8_t> drawn_bytes(TensorFactory& make, std::int64_t rows, std::int64_t row) {
  const std::vector<double> drawn = make.uniform(rows * row, ElementType::kFp32, -128.0, 128.0).values;
  std::vector<std::int8_t> values(drawn.size());
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<std::int8_t>(std::clamp(std::floor(drawn[i]), -128.0, 127.0));
  const auto fill = [&](std::int64_t at, std::int8_t value) { std::fill_n(values.begin() + at * row, row, value); };
  fill(0, 0);
  fill(1, 127);
  fill(2, -128);
  std::fill_n(values.begin() + 2 * row, row / 2, std::int8_t{127});
  return values;
}

std::int8_t cut_off(double value) { return static_cast<std::int8_t>(std::clamp(value, -128.0, 127.0)); }

// How many bytes differ from the host's by more than `apart` steps, with what stands behind them.
template <typename Launch>
double wrong_bytes(TensorFactory& make, const std::vector<std::int8_t>& x, const std::vector<double>& expected,
                   double apart, const Launch& launch) {
  const auto count = static_cast<std::int64_t>(x.size());
  const cuda::DeviceBuffer from(count);
  const cuda::DeviceBuffer to(count + kGuard);
  cuda::copy_to_device(from.data(), x.data(), count, make.stream());
  cuda::poison(to.data(), to.bytes(), make.stream());
  launch(from.data(), to.data());
  std::vector<std::int8_t> found(x.size() + kGuard);
  cuda::copy_to_host(found.data(), to.data(), to.bytes(), make.stream());
  double wrong = 0.0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (std::abs(static_cast<double>(found[i]) - expected[i]) > apart) ++wrong;
  }
  for (std::size_t i = expected.size(); i < found.size(); ++i) {
    if (found[i] != -1) ++wrong;
  }
  return wrong;
}

constexpr cuda::ByteArithmetic kArithmetics[] = {cuda::ByteArithmetic::kInteger, cuda::ByteArithmetic::kFloat};
// What two roundings of numbers that hardly differ can be apart.
constexpr double kStep = 1.0;

double steps_apart(cuda::ByteArithmetic arithmetic) {
  return arithmetic == cuda::ByteArithmetic::kInteger ? 0.0 : kStep;
}
const char* form_name(cuda::ByteArithmetic arithmetic) {
  return arithmetic == cuda::ByteArithmetic::kInteger ? "integer" : "float";
}

void check_byte_softmax(const VerifyReport& report, int keys, float scale) {
  constexpr std::int64_t kRows = 1003;
  TensorFactory make(static_cast<std::uint32_t>(keys));
  const std::vector<std::int8_t> x = drawn_bytes(make, kRows, cuda::kByteSoftmaxRow);
  const IntegerExponential exponential = IntegerExponential::of(scale);
  for (const cuda::ByteArithmetic arithmetic : kArithmetics) {
    std::vector<double> expected(x.size());
    for (std::size_t row = 0; row < x.size(); row += cuda::kByteSoftmaxRow) {
      int top = -128;
      for (int e = 0; e < keys; ++e)
        top = std::max<int>(top, x[row + static_cast<std::size_t>(e)]);
      std::uint32_t sum = 0;
      double exact_sum = 0.0;
      for (int e = 0; e < keys; ++e) {
        const int below = top - x[row + static_cast<std::size_t>(e)];
        sum += softmax_exponential(exponential, below);
        exact_sum += std::exp(-static_cast<double>(scale) * below);
      }
      for (int e = 0; e < keys; ++e) {
        const std::size_t at = row + static_cast<std::size_t>(e);
        const int below = top - x[at];
        expected[at] =
            cut_off(arithmetic == cuda::ByteArithmetic::kInteger
                        ? softmax_probability(softmax_exponential(exponential, below), softmax_reciprocal(sum))
                        : std::nearbyint(128.0 * std::exp(-static_cast<double>(scale) * below) / exact_sum));
      }
    }
    report({fmt::format("softmax of bytes, {} keys, scale {}", keys, scale), form_name(arithmetic),
            wrong_bytes(make, x, expected, steps_apart(arithmetic),
                        [&](const void* from, void* to) {
                          cuda::byte_softmax(arithmetic, {kRows, keys}, from, scale, to, make.stream());
                        }),
            0.0});
  }
}

void check_byte_gelu(const VerifyReport& report, const cuda::ByteScales& scales) {
  constexpr std::int64_t kCount = std::int64_t{16} * 401;
  TensorFactory make(7);
  const std::vector<std::int8_t> x = drawn_bytes(make, kCount / 16, 16);
  const IntegerGelu gelu = IntegerGelu::of(scales.x, scales.y);
  for (const cuda::ByteArithmetic arithmetic : kArithmetics) {
    std::vector<double> expected(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double value = static_cast<double>(scales.x) * x[i];
      const double exact =
          0.5 * value * (1.0 + std::tanh(0.7978845608028654 * (value + 0.044715 * value * value * value)));
      expected[i] = cut_off(arithmetic == cuda::ByteArithmetic::kInteger ? integer_gelu(gelu, x[i])
                                                                         : std::nearbyint(exact / scales.y));
    }
    report({fmt::format("GELU of bytes, scales {} and {}", scales.x, scales.y), form_name(arithmetic),
            wrong_bytes(make, x, expected, steps_apart(arithmetic),
                        [&](const void* from, void* to) {
                          cuda::byte_gelu(arithmetic, kCount, from, scales, to, make.stream());
                        }),
            0.0});
  }
}

void check_byte_layernorm(const VerifyReport& report, int channels, const cuda::ByteScales& scales) {
  constexpr std::int64_t kRows = 203;
  TensorFactory make(static_cast<std::uint32_t>(channels));
  LayerNormShape shape;
  shape.rows = kRows;
  shape.channels = channels;
  const std::vector<std::int8_t> x = drawn_bytes(make, kRows, channels);
  const IntegerNorm norm = IntegerNorm::of(shape.epsilon, scales.x, scales.y);
  for (const cuda::ByteArithmetic arithmetic : kArithmetics) {
    std::vector<double> expected(x.size());
    for (auto row = x.begin(); row != x.end(); row += channels) {
      int sum = 0;
      int squares = 0;
      for (auto value = row; value != row + channels; ++value) {
        sum += *value;
        squares += *value * *value;
      }
      const IntegerRow integers = integer_row(norm, channels, sum, squares);
      const double mean = static_cast<double>(sum) / channels;
      const double variance = static_cast<double>(squares) / channels - mean * mean;
      const double epsilon = shape.epsilon / static_cast<double>(scales.x * scales.x);
      for (auto value = row; value != row + channels; ++value) {
        const double exact = (*value - mean) / std::sqrt(variance + epsilon) / scales.y;
        expected[static_cast<std::size_t>(value - x.begin())] =
            cut_off(arithmetic == cuda::ByteArithmetic::kInteger ? integers.normalized(*value) : std::nearbyint(exact));
      }
    }
    report({fmt::format("normalization of bytes, {} channels", channels), form_name(arithmetic),
            wrong_bytes(make, x, expected, steps_apart(arithmetic),
                        [&](const void* from, void* to) {
                          cuda::byte_layernorm(arithmetic, shape, from, scales, to, make.stream());
                        }),
            0.0});
  }
}

}  // namespace

void check_integers_alone(const VerifyReport& report) {
  for (const int keys : {49, 64, 1, 17}) {
    check_byte_softmax(report, keys, 1.0F / 16.0F);
    check_byte_softmax(report, keys, 1.0F / 300.0F);
  }
  check_byte_gelu(report, {1.0F / 32.0F, 1.0F / 32.0F});
  check_byte_gelu(report, {0.1F, 0.02F});
  for (const int channels : {128, 256, 512, 1024})
    check_byte_layernorm(report, channels, {1.0F / 32.0F, 1.0F / 32.0F});
}

void check_sparse_products(const VerifyReport& report) {
  if (!cuda::sparse_products_offered()) return;
  for (const cuda::SparseOperands operands :
       {cuda::SparseOperands::kFp16, cuda::SparseOperands::kE4m3, cuda::SparseOperands::kInt8}) {
    check_sparse_product(report, {128, 128, 128, operands});
    check_sparse_product(report, {6272, 1536, 512, operands});
  }
}

}  // namespace swinscope
