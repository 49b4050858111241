// Matrix products, with what follows them in the same kernel, against the CPU's in fp64.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <vector>

#include <fmt/format.h>

#include "kernels/linear.h"
#include "kernels/matmul.h"
#include "kernels/matmul_hopper.h"
#include "workloads/verify/device_tensor.h"
#include "workloads/verify/kernel_cases.h"

namespace swinscope {
namespace {

using cuda::Epilogue;
using cuda::MatmulArithmetic;
using cuda::MatmulShape;

constexpr std::array kTypes = {ElementType::kFp32, ElementType::kFp16, ElementType::kBf16};

MatmulShape product(std::int64_t rows, std::int64_t inputs, std::int64_t outputs, Epilogue epilogue,
                    bool accumulate = false) {
  MatmulShape shape;
  shape.m = rows;
  shape.k = inputs;
  shape.n = outputs;
  shape.epilogue = epilogue;
  shape.accumulate = accumulate;
  return shape;
}

MatmulShape of_type(MatmulShape shape, ElementType type) {
  shape.operand_type = type;
  shape.result_type = type;
  return shape;
}

double tanh_gelu(double z) { return 0.5 * z * (1.0 + std::tanh(std::sqrt(2.0 / M_PI) * (z + 0.044715 * z * z * z))); }

// Operands of a product and its result in fp64.
class Product {
 public:
  explicit Product(const MatmulShape& s) : shape(s) {
    const ElementType type = s.operand_type;
    x = make.normal(s.m * s.k, type);
    weight = make.normal(s.n * s.k, type, 1.0 / std::sqrt(static_cast<double>(s.k)));
    bias = make.normal(s.n, type, 0.5);
    before = make.normal(s.m * s.n, type);
    expected.resize(static_cast<std::size_t>(s.m * s.n));
    const bool biased = s.epilogue != Epilogue::kNone;
    cpu::linear_forward<double>({s.m, s.k, s.n, biased}, x.values.data(), weight.values.data(),
                                biased ? bias.values.data() : nullptr, expected.data());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      if (s.epilogue == Epilogue::kBiasGelu) expected[i] = tanh_gelu(expected[i]);
      if (s.accumulate) expected[i] += before.values[i];
    }
  }

  // Runs it into an output that is NaN, or holds what is added to. What lies behind it must stay NaN.
  double error(const cuda::Matmul& matmul, bool backwards = false) {
    constexpr std::int64_t kGuard = 512;
    const std::int64_t count = shape.m * shape.n;
    std::vector<double> start(static_cast<std::size_t>(count + kGuard), std::nan(""));
    if (shape.accumulate) std::copy(before.values.begin(), before.values.end(), start.begin());
    const DeviceTensor y = make.upload(start, shape.result_type);
    cuda::MatmulOperands operands{x.data(), weight.data(), bias.data(), y.buffer.data()};
    operands.backwards = backwards;
    matmul.run(operands, make.stream());
    std::vector<double> result = make.download(y);
    for (auto guard = result.begin() + count; guard != result.end(); ++guard) {
      if (!std::isnan(*guard)) return std::nan("");
    }
    result.resize(static_cast<std::size_t>(count));
    return relative_error(result, expected);
  }

  std::string name() const {
    std::string text = fmt::format("product {} x {} x {}", shape.m, shape.n, shape.k);
    if (shape.epilogue != Epilogue::kNone) text += ", bias";
    if (shape.epilogue == Epilogue::kBiasGelu) text += ", gelu";
    return text + (shape.accumulate ? ", accumulate" : "");
  }

  cuda::Stream stream() const { return make.stream(); }

  MatmulShape shape;

 private:
  TensorFactory make{7};
  DeviceTensor x, weight, bias, before;
  std::vector<double> expected;
};

double tolerance(const MatmulShape& shape) {
  if (shape.arithmetic == MatmulArithmetic::kTf32) return 1e-3;
  return by_type(shape.operand_type, 2e-6, 5e-4, 4e-3);
}

}  // namespace

// By whatever is fastest for each shape.
void check_matmul(const VerifyReport& report, const std::filesystem::path& algorithm_folder) {
  cuda::MatmulLibrary library(algorithm_folder);
  const std::vector<MatmulShape> shapes = {
      product(49, 48, 128, Epilogue::kBias),          product(196, 512, 1536, Epilogue::kBias),
      product(196, 512, 512, Epilogue::kBias, true),  product(1568, 96, 384, Epilogue::kBiasGelu),
      product(196, 2048, 512, Epilogue::kBias, true), product(49, 768, 384, Epilogue::kNone),
      product(3, 1024, 1000, Epilogue::kBias),        product(17, 64, 10, Epilogue::kBias),
  };
  const auto check = [&](const MatmulShape& shape) {
    Product problem(shape);
    const cuda::Matmul& matmul = library.prepare(shape, problem.stream());
    const bool tf32 = shape.arithmetic == MatmulArithmetic::kTf32;
    report({problem.name(), tf32 ? "tf32" : type_name(shape.operand_type), problem.error(matmul), tolerance(shape)});
  };
  for (const MatmulShape& shape : shapes) {
    const bool gelu = shape.epilogue == Epilogue::kBiasGelu;
    for (const ElementType type : kTypes) {
      if (!gelu || type != ElementType::kFp32) check(of_type(shape, type));  // fp32 keeps the exact form
    }
    MatmulShape tf32 = shape;
    tf32.arithmetic = MatmulArithmetic::kTf32;
    if (!gelu) check(tf32);
  }
  library.finish_tuning();
}

namespace {

// late: the next kernel may begin when the one before has ended.
void check_tiles(const VerifyReport& report, const std::vector<MatmulShape>& shapes, bool late = false) {
  if (!cuda::hopper::offered()) return;
  for (const MatmulShape& shape : shapes) {
    for (const ElementType type : {ElementType::kFp16, ElementType::kBf16}) {
      Product problem(of_type(shape, type));
      for (int tile = 0; tile < cuda::hopper::kTiles; ++tile) {
        if (!cuda::HopperMatmul::fits(problem.shape, tile)) continue;
        const cuda::HopperMatmul matmul(problem.shape, tile, late);
        for (const bool backwards : {false, true}) {
          if (backwards && !matmul.turns()) continue;
          const std::string what = fmt::format("{}, tile {}{}{}", problem.name(), tile, backwards ? ", backwards" : "",
                                               late ? ", late" : "");
          report({what, type_name(type), problem.error(matmul, backwards), tolerance(problem.shape)});
        }
      }
    }
  }
}

}  // namespace

// Each tile size of our own kernels, on shapes that its tiles do not divide: the last rows, columns and part of k; and
// on few rows with much to add up.
void check_product_tiles(const VerifyReport& report) {
  check_tiles(report, {product(200, 512, 512, Epilogue::kBias, true), product(131, 72, 992, Epilogue::kNone, true)});
  check_tiles(report, {product(200, 512, 512, Epilogue::kBias), product(49, 1024, 160, Epilogue::kBias, true)}, true);
  check_tiles(report, {product(200, 512, 512, Epilogue::kBias), product(77, 96, 160, Epilogue::kNone),
                       product(392, 72, 992, Epilogue::kBias, true), product(1, 1024, 288, Epilogue::kBiasGelu),
                       product(700, 2048, 128, Epilogue::kNone, true), product(1031, 192, 576, Epilogue::kBiasGelu),
                       product(65, 264, 96, Epilogue::kBiasGelu), product(49, 4104, 160, Epilogue::kBias, true),
                       product(130, 520, 224, Epilogue::kBiasGelu), product(63, 640, 96, Epilogue::kNone)});
}

// The same with many tiles for each block.
void check_tall_product_tiles(const VerifyReport& report) {
  check_tiles(report, {product(35000, 64, 256, Epilogue::kBias, true), product(40000, 128, 512, Epilogue::kBiasGelu)});
}

}  // namespace swinscope
