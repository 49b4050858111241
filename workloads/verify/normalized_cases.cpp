// Products that normalize the rows of a by their moments, against normalization and product in fp64.
#include <array>
#include <cmath>
#include <numeric>
#include <vector>

#include <fmt/format.h>

#include "kernels/layernorm.h"
#include "kernels/linear.h"
#include "kernels/matmul_hopper.h"
#include "kernels/normalized_product.h"
#include "workloads/verify/device_tensor.h"
#include "workloads/verify/kernel_cases.h"

namespace swinscope {
namespace {

using cuda::Epilogue;
using cuda::MatmulShape;

std::vector<double> sized(std::int64_t count) { return std::vector<double>(static_cast<std::size_t>(count)); }

// What the rows hold beside a normal distribution of standard deviation 1.
struct Rows {
  double mean = 0.0;
  double spike = 0.0;  // in one column of each row
};

// As a product leaves them beside its rows.
std::vector<double> moments_of(const std::vector<double>& x) {
  std::vector<double> moments;
  for (auto from = x.begin(); from != x.end(); from += cuda::kMomentColumns) {
    const auto to = from + cuda::kMomentColumns;
    const double mean = std::accumulate(from, to, 0.0) / cuda::kMomentColumns;
    moments.push_back(mean);
    moments.push_back(std::accumulate(from, to, 0.0,
                                      [&](double sum, double value) { return sum + (value - mean) * (value - mean); }));
  }
  return moments;
}

class NormalizedProduct {
 public:
  NormalizedProduct(const MatmulShape& s, const Rows& rows) : shape_(s), rows_(rows) {
    x_ = make_.normal(s.m * s.k, s.operand_type, 1.0, rows.mean);
    if (rows.spike != 0.0) {
      std::vector<double> values = x_.values;
      for (std::int64_t row = 0; row < s.m; ++row)
        values[static_cast<std::size_t>(row * s.k + row * 37 % s.k)] += rows.spike;
      x_ = make_.upload(values, s.operand_type);
    }
    weight_ = make_.normal(s.n * s.k, ElementType::kFp32, 1.0 / std::sqrt(static_cast<double>(s.k)));
    bias_ = make_.normal(s.n, ElementType::kFp32, 0.5);
    gamma_ = make_.uniform(s.k, ElementType::kFp32, 0.5, 1.5);
    beta_ = make_.normal(s.k, ElementType::kFp32, 0.2);
    moments_ = make_.upload(moments_of(x_.values), ElementType::kFp32);
    folded_ = make_.output(s.n * s.k, s.operand_type);
    corrections_ = make_.output(2 * s.n, ElementType::kFp32);
    const auto floats = [](const DeviceTensor& tensor) { return static_cast<const float*>(tensor.data()); };
    cuda::fold_normalization(s.k, s.n, s.operand_type,
                             {floats(weight_), floats(bias_), floats(gamma_), floats(beta_), folded_.buffer.data(),
                              static_cast<float*>(corrections_.buffer.data())},
                             make_.stream());
  }

  // Of the weights, and of sums and biases: the sums are those of the weights as they are stored.
  void check_fold(const VerifyReport& report) {
    const MatmulShape& s = shape_;
    const std::vector<double> folded = make_.download(folded_);
    std::vector<double> weights = sized(s.n * s.k);
    std::vector<double> corrections = sized(2 * s.n);
    for (std::int64_t j = 0; j < s.n; ++j) {
      double sum = 0.0;
      double bias = bias_.values[static_cast<std::size_t>(j)];
      for (std::int64_t i = 0; i < s.k; ++i) {
        const auto at = static_cast<std::size_t>(j * s.k + i);
        weights[at] = weight_.values[at] * gamma_.values[static_cast<std::size_t>(i)];
        sum += folded[at];
        bias += weight_.values[at] * beta_.values[static_cast<std::size_t>(i)];
      }
      corrections[static_cast<std::size_t>(j)] = sum;
      corrections[static_cast<std::size_t>(s.n + j)] = bias;
    }
    const std::string what = fmt::format("normalization folded into {} x {}", s.n, s.k);
    report(
        {what, type_name(s.operand_type), relative_error(folded, weights), by_type(s.operand_type, 1e-7, 4e-4, 3e-3)});
    report({what + ", sums and biases", type_name(s.operand_type),
            relative_error(make_.download(corrections_), corrections), 1e-5});
  }

  void check_tiles(const VerifyReport& report) {
    const MatmulShape& s = shape_;
    std::vector<double> normalized = sized(s.m * s.k);
    std::vector<double> means = sized(s.m);
    std::vector<double> rstds = sized(s.m);
    cpu::layernorm_forward({s.m, s.k}, x_.values.data(), gamma_.values.data(), beta_.values.data(), normalized.data(),
                           means.data(), rstds.data());
    std::vector<double> expected = sized(s.m * s.n);
    cpu::linear_forward<double>({s.m, s.k, s.n, true}, normalized.data(), weight_.values.data(), bias_.values.data(),
                                expected.data());
    if (s.epilogue == Epilogue::kBiasGelu) {
      for (double& z : expected)
        z = 0.5 * z * (1.0 + std::tanh(std::sqrt(2.0 / M_PI) * (z + 0.044715 * z * z * z)));
    }
    for (int tile = 0; tile < cuda::hopper::kTiles; ++tile) {
      if (!cuda::HopperMatmul::fits(s, tile)) continue;
      report({fmt::format("{}, tile {}", name(), tile), type_name(s.operand_type), error(tile, expected),
              by_type(s.operand_type, 0.0, 5e-4, 4e-3)});
    }
  }

 private:
  // Into an output that is NaN. What lies behind it must stay NaN.
  double error(int tile, const std::vector<double>& expected) {
    constexpr std::int64_t kGuard = 512;
    const std::int64_t count = shape_.m * shape_.n;
    const DeviceTensor y = make_.output(count + kGuard, shape_.result_type);
    cuda::MatmulOperands operands{x_.data(), folded_.data(), nullptr, y.buffer.data()};
    operands.corrections = static_cast<const float*>(corrections_.data());
    operands.moments = static_cast<const float*>(moments_.data());
    cuda::HopperMatmul(shape_, tile).run(operands, make_.stream());
    std::vector<double> result = make_.download(y);
    for (auto guard = result.begin() + count; guard != result.end(); ++guard) {
      if (!std::isnan(*guard)) return std::nan("");
    }
    result.resize(static_cast<std::size_t>(count));
    return relative_error(result, expected);
  }

  std::string name() const {
    std::string text = fmt::format("normalized product {} x {} x {}", shape_.m, shape_.n, shape_.k);
    if (shape_.epilogue == Epilogue::kBiasGelu) text += ", gelu";
    if (rows_.mean != 0.0) text += fmt::format(", mean {}", rows_.mean);
    if (rows_.spike != 0.0) text += fmt::format(", spike {}", rows_.spike);
    return text;
  }

  MatmulShape shape_;
  Rows rows_;
  TensorFactory make_{13};
  DeviceTensor x_, moments_, weight_, bias_, gamma_, beta_, folded_, corrections_;
};

MatmulShape normalized(std::int64_t m, std::int64_t k, std::int64_t n, ElementType type, bool gelu) {
  MatmulShape shape;
  shape.m = m;
  shape.n = n;
  shape.k = k;
  shape.operand_type = type;
  shape.result_type = type;
  shape.epilogue = gelu ? Epilogue::kBiasGelu : Epilogue::kBias;
  shape.normalize = true;
  return shape;
}

constexpr std::array kTypes = {ElementType::kFp16, ElementType::kBf16};

}  // namespace

void check_folded_norm(const VerifyReport& report) {
  for (const ElementType type : kTypes) {
    NormalizedProduct(normalized(1, 96, 288, type, false), {}).check_fold(report);
    NormalizedProduct(normalized(1, 1536, 200, type, false), {}).check_fold(report);
  }
}

// Rows and columns that tiles do not divide, the channels of the models, means up to 30 standard deviations, and rows
// with one large value.
void check_normalized_product_tiles(const VerifyReport& report) {
  for (const ElementType type : kTypes) {
    NormalizedProduct(normalized(200, 512, 1536, type, false), {}).check_tiles(report);
    NormalizedProduct(normalized(77, 96, 288, type, false), {1.0, 0.0}).check_tiles(report);
    NormalizedProduct(normalized(49, 1536, 608, type, true), {}).check_tiles(report);
    NormalizedProduct(normalized(700, 128, 384, type, true), {}).check_tiles(report);
    NormalizedProduct(normalized(196, 768, 160, type, true), {10.0, 0.0}).check_tiles(report);
    NormalizedProduct(normalized(130, 384, 96, type, false), {30.0, 0.0}).check_tiles(report);
    NormalizedProduct(normalized(65, 192, 224, type, false), {0.0, 200.0}).check_tiles(report);
    NormalizedProduct(normalized(1, 1024, 288, type, true), {}).check_tiles(report);
  }
}

}  // namespace swinscope
