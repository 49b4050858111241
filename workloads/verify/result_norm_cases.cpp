// Products whose rows are normalized at their end, against product and normalization in fp64.
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "kernels/layernorm.h"
#include "kernels/linear.h"
#include "kernels/matmul_hopper.h"
#include "workloads/verify/device_tensor.h"
#include "workloads/verify/kernel_cases.h"

namespace swinscope {
namespace {

using cuda::Epilogue;
using cuda::MatmulShape;

std::vector<double> sized(std::int64_t count) { return std::vector<double>(static_cast<std::size_t>(count)); }

// What the rows of the product hold beside a normal distribution of standard deviation 1: the bias brings it.
struct Rows {
  double mean = 0.0;
  double spike = 0.0;  // in one column
};

class NormalizedResult {
 public:
  NormalizedResult(const MatmulShape& s, const Rows& rows) : shape_(s), rows_(rows) {
    const ElementType type = s.operand_type;
    x_ = make_.normal(s.m * s.k, type);
    weight_ = make_.normal(s.n * s.k, type, 1.0 / std::sqrt(static_cast<double>(s.k)));
    bias_ = make_.normal(s.n, type, 0.5, rows.mean);
    if (rows.spike != 0.0) {
      std::vector<double> values = bias_.values;
      values[static_cast<std::size_t>(s.n / 3)] += rows.spike;
      bias_ = make_.upload(values, type);
    }
    gamma_ = make_.uniform(s.n, type, 0.5, 1.5);
    beta_ = make_.normal(s.n, type, 0.2);
    before_ = make_.normal(s.m * s.n, type);
  }

  void check_tiles(const VerifyReport& report) {
    const MatmulShape& s = shape_;
    std::vector<double> product = sized(s.m * s.n);
    const bool has_bias = s.epilogue == Epilogue::kBias;
    cpu::linear_forward<double>({s.m, s.k, s.n, has_bias}, x_.values.data(), weight_.values.data(),
                                has_bias ? bias_.values.data() : nullptr, product.data());
    std::vector<double> expected = sized(s.m * s.n);
    std::vector<double> means = sized(s.m);
    std::vector<double> rstds = sized(s.m);
    cpu::layernorm_forward({s.m, s.n}, product.data(), gamma_.values.data(), beta_.values.data(), expected.data(),
                           means.data(), rstds.data());
    if (s.accumulate) {
      for (std::size_t i = 0; i < expected.size(); ++i)
        expected[i] += before_.values[i];
    }
    for (int tile = 0; tile < cuda::hopper::kTiles; ++tile) {
      if (!cuda::HopperMatmul::fits(s, tile)) continue;
      for (const bool backwards : {false, true}) {
        report({fmt::format("{}, tile {}{}", name(), tile, backwards ? ", backwards" : ""), type_name(s.operand_type),
                error(tile, backwards, expected), by_type(s.operand_type, 0.0, 5e-4, 4e-3)});
      }
    }
  }

 private:
  // Into an output that is NaN, or what it accumulates on. What lies behind it must stay NaN.
  double error(int tile, bool backwards, const std::vector<double>& expected) {
    constexpr std::int64_t kGuard = 512;
    const std::int64_t count = shape_.m * shape_.n;
    const DeviceTensor y = make_.output(count + kGuard, shape_.result_type);
    if (shape_.accumulate) {
      cuda::copy_on_device(y.buffer.data(), before_.data(), count * element_bytes(shape_.result_type), make_.stream());
    }
    cuda::MatmulOperands operands{x_.data(), weight_.data(), bias_.data(), y.buffer.data()};
    operands.gamma = gamma_.data();
    operands.beta = beta_.data();
    operands.backwards = backwards;
    cuda::HopperMatmul(shape_, tile).run(operands, make_.stream());
    std::vector<double> result = make_.download(y);
    for (auto guard = result.begin() + count; guard != result.end(); ++guard) {
      if (!std::isnan(*guard)) return std::nan("");
    }
    result.resize(static_cast<std::size_t>(count));
    return relative_error(result, expected);
  }

  std::string name() const {
    std::string text = fmt::format("normalized result {} x {} x {}", shape_.m, shape_.n, shape_.k);
    if (shape_.accumulate) text += ", residual";
    if (rows_.mean != 0.0) text += fmt::format(", mean {}", rows_.mean);
    if (rows_.spike != 0.0) text += fmt::format(", spike {}", rows_.spike);
    return text;
  }

  MatmulShape shape_;
  Rows rows_;
  TensorFactory make_{17};
  DeviceTensor x_, weight_, bias_, gamma_, beta_, before_;
};

MatmulShape normalized(std::int64_t m, std::int64_t k, std::int64_t n, ElementType type, bool residual) {
  MatmulShape shape;
  shape.m = m;
  shape.n = n;
  shape.k = k;
  shape.operand_type = type;
  shape.result_type = type;
  shape.epilogue = Epilogue::kBias;
  shape.accumulate = residual;
  shape.normalize_result = true;
  return shape;
}

constexpr std::array kTypes = {ElementType::kFp16, ElementType::kBf16};

}  // namespace

// Rows of one block and of clusters of two, four and eight; rows that tiles do not divide; means up to 300 standard
// deviations, and rows with one large value.
void check_normalized_result_tiles(const VerifyReport& report) {
  for (const ElementType type : kTypes) {
    NormalizedResult(normalized(200, 72, 128, type, true), {}).check_tiles(report);
    NormalizedResult(normalized(77, 200, 256, type, false), {1.0, 0.0}).check_tiles(report);
    NormalizedResult(normalized(300, 512, 512, type, true), {10.0, 0.0}).check_tiles(report);
    NormalizedResult(normalized(1, 1024, 1024, type, true), {}).check_tiles(report);
    NormalizedResult(normalized(130, 136, 768, type, true), {0.0, 200.0}).check_tiles(report);
    NormalizedResult(normalized(300, 64, 1536, type, false), {300.0, 0.0}).check_tiles(report);
    MatmulShape plain = normalized(260, 768, 384, type, false);
    plain.epilogue = Epilogue::kNone;
    NormalizedResult(plain, {}).check_tiles(report);
  }
}

// More rows than blocks take in two turns on a GPU of 132 multiprocessors.
void check_tall_normalized_result_tiles(const VerifyReport& report) {
  for (const ElementType type : kTypes) {
    NormalizedResult(normalized(34000, 64, 128, type, true), {1.0, 0.0}).check_tiles(report);
    NormalizedResult(normalized(17100, 72, 512, type, true), {1.0, 0.0}).check_tiles(report);
    NormalizedResult(normalized(9000, 520, 1024, type, false), {}).check_tiles(report);
  }
}

}  // namespace swinscope
