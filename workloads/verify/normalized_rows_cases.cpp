// Products of many rows that normalize them, against the CPU's operations in fp64.
#include <cmath>

#include <fmt/format.h>

#include "kernels/layernorm.h"
#include "kernels/linear.h"
#include "kernels/normalized_rows.h"
#include "workloads/verify/device_tensor.h"
#include "workloads/verify/kernel_cases.h"

namespace swinscope {
namespace {

constexpr std::size_t kGuard = 512;

double rows_error(const cuda::NormalizedRowsShape& shape) {
  TensorFactory make(41);
  const DeviceTensor x = make.normal(shape.rows * shape.inputs, shape.type, 1.0, 0.5);
  const DeviceTensor weight =
      make.normal(shape.outputs * shape.inputs, shape.type, 1.0 / std::sqrt(static_cast<double>(shape.inputs)));
  const DeviceTensor bias = make.normal(shape.outputs, shape.type, 0.5);
  const DeviceTensor gamma = make.uniform(shape.inputs, shape.type, 0.5, 1.5);
  const DeviceTensor beta = make.normal(shape.inputs, shape.type, 0.2);

  std::vector<double> normalized(x.values.size());
  std::vector<double> means(static_cast<std::size_t>(shape.rows));
  std::vector<double> rstds(means.size());
  cpu::layernorm_forward({shape.rows, shape.inputs}, x.values.data(), gamma.values.data(), beta.values.data(),
                         normalized.data(), means.data(), rstds.data());
  std::vector<double> expected(static_cast<std::size_t>(shape.rows * shape.outputs));
  cpu::linear_forward<double>({shape.rows, shape.inputs, shape.outputs, true}, normalized.data(), weight.values.data(),
                              bias.values.data(), expected.data());
  if (shape.gelu) {
    for (double& z : expected)
      z = 0.5 * z * (1.0 + std::tanh(std::sqrt(2.0 / M_PI) * (z + 0.044715 * z * z * z)));
  }

  DeviceTensor y = make.upload(std::vector<double>(expected.size() + kGuard, std::nan("")), shape.type);
  cuda::normalized_rows_forward(
      shape, {x.data(), gamma.data(), beta.data(), weight.data(), bias.data(), y.buffer.data()}, make.stream());
  return guarded_error(make.download(y), expected);
}

// Fewer rows than a tile, rows that tiles do not divide, and several tiles for each warp group.
void check_rows(ElementType type, const VerifyReport& report) {
  constexpr std::int64_t kInputs = cuda::kNormalizedRowsInputs;
  for (const std::int64_t rows : {1, 77, 300, 20000, 40000}) {
    for (const bool gelu : {false, true}) {
      for (const bool backwards : {false, true}) {
        const cuda::NormalizedRowsShape shape{rows, kInputs, (gelu ? 4 : 3) * kInputs, gelu, type, backwards};
        if (!cuda::normalized_rows_offered(shape, cuda::device_info())) continue;
        report({fmt::format("{} x {} normalized, by {}{}{}", rows, kInputs, shape.outputs, gelu ? ", GELU" : "",
                            backwards ? ", backwards" : ""),
                type_name(type), rows_error(shape), by_type(type, 0.0, 1e-3, 8e-3)});
      }
    }
  }
}

}  // namespace

void check_normalized_rows(const VerifyReport& report) {
  for (const ElementType type : {ElementType::kFp16, ElementType::kBf16}) {
    check_rows(type, report);
  }
}

}  // namespace swinscope
