// The backward pass of operations but normalization and attention, against the CPU's in fp64. Each runs twice: the same
// input must give the same bits.
#include <cmath>
#include <initializer_list>
#include <tuple>

#include <fmt/format.h>

#include "kernels/bias.h"
#include "kernels/continuous_bias.h"
#include "kernels/gelu.h"
#include "kernels/gemm.h"
#include "kernels/matmul.h"
#include "kernels/patch_merge.h"
#include "kernels/pool.h"
#include "kernels/residual.h"
#include "workloads/verify/device_tensor.h"
#include "workloads/verify/gradient_check.h"
#include "workloads/verify/kernel_cases.h"

namespace swinscope {
namespace {

constexpr std::initializer_list<ElementType> kTypes = {ElementType::kFp32, ElementType::kFp16, ElementType::kBf16};
constexpr auto kFloat = ElementType::kFp32;

std::vector<double> sized(std::int64_t count) { return std::vector<double>(static_cast<std::size_t>(count)); }

float* floats(const DeviceTensor& tensor) { return static_cast<float*>(tensor.buffer.data()); }

// What is wrong with sums of parameter gradients may be lost among the elements: they have a tolerance of their own.
constexpr double kSumTolerance = 1e-5;

void check_columns(const VerifyReport& report, const BiasShape& shape, ElementType type, bool accumulate) {
  TensorFactory make(static_cast<std::uint32_t>(shape.columns));
  const std::int64_t count = shape.rows * shape.columns;
  const DeviceTensor x = make.normal(count, type, 2.0);
  const DeviceTensor dy = make.normal(count, type);
  const DeviceTensor scale = make.scales(shape.rows);
  const std::vector<double> before = make.normal(shape.columns, kFloat).values;
  DeviceTensor dx = make.output(count, type);
  DeviceTensor y = make.output(count, type);
  DeviceTensor dbias = make.output(shape.columns, kFloat);
  const cuda::DeviceBuffer workspace(cuda::bias_backward_workspace_bytes(shape));
  const std::string place = fmt::format(" {} x {}{}", shape.rows, shape.columns, accumulate ? ", accumulate" : "");
  const auto start = [&] {
    if (accumulate) make.write(dbias, before);
  };

  cuda::BiasGradientTensors sums;
  sums.dy = dy.data();
  sums.dbias = floats(dbias);
  sums.accumulate = accumulate;
  sums.workspace = workspace.data();
  std::vector<double> expected = accumulate ? before : sized(shape.columns);
  cpu::bias_backward(shape, dy.values.data(), expected.data());
  GradientCheck plain(report, make, "bias backward" + place, type);
  plain.run_twice({&dbias}, [&] {
    start();
    cuda::bias_backward(shape, type, sums, make.stream());
  });
  plain.compare("dbias", dbias, expected, kSumTolerance);

  sums.sample_scale = floats(scale);
  sums.rows_per_sample = 1;
  sums.dx = dx.buffer.data();
  std::vector<double> scaled = dy.values;
  scale_rows(scaled, shape.columns, 1, scale.values);
  expected = accumulate ? before : sized(shape.columns);
  cpu::bias_backward(shape, scaled.data(), expected.data());
  GradientCheck branch(report, make, "bias backward" + place + ", scale", type);
  branch.run_twice({&dbias, &dx}, [&] {
    start();
    cuda::bias_backward(shape, type, sums, make.stream());
  });
  branch.compare("dbias", dbias, expected, kSumTolerance);
  branch.compare("dx", dx, scaled, by_type(type, 1e-6, 4e-4, 3e-3));

  cuda::GeluGradientTensors gelu;
  gelu.x = x.data();
  gelu.dy = dy.data();
  gelu.dx = dx.buffer.data();
  gelu.y = y.buffer.data();
  gelu.dbias = floats(dbias);
  gelu.accumulate = accumulate;
  gelu.workspace = workspace.data();
  std::vector<double> gradient = sized(count);
  std::vector<double> activated = sized(count);
  cpu::gelu_backward(count, x.values.data(), dy.values.data(), gradient.data());
  cpu::gelu_forward(count, x.values.data(), activated.data());
  expected = accumulate ? before : sized(shape.columns);
  cpu::bias_backward(shape, gradient.data(), expected.data());
  GradientCheck activation(report, make, "gelu backward" + place, type);
  activation.run_twice({&dx, &y, &dbias}, [&] {
    start();
    gelu.backwards = !gelu.backwards;  // either way the same bits
    cuda::gelu_backward(shape, type, gelu, make.stream());
  });
  activation.compare("dx", dx, gradient, by_type(type, 1e-6, 4e-4, 3e-3));
  activation.compare("y", y, activated, by_type(type, 1e-6, 4e-4, 3e-3));
  activation.compare("dbias", dbias, expected, kSumTolerance);
}

void check_copies_backward(const VerifyReport& report, ElementType type) {
  TensorFactory make(37);
  for (const std::int64_t height : {6, 5}) {
    const PatchMergeShape merge{2, height, 7, 40};
    const DeviceTensor dy = make.normal(merge.merged_tokens() * 160, type);
    DeviceTensor dx = make.output(2 * height * 7 * 40, type);
    std::vector<double> expected = sized(2 * height * 7 * 40);
    cpu::patch_merge_backward(merge, dy.values.data(), expected.data());
    GradientCheck check(report, make, fmt::format("merging backward of {} x 7", height), type);
    check.run_twice({&dx},
                    [&] { cuda::patch_merge_backward(merge, type, dy.data(), dx.buffer.data(), make.stream()); });
    check.compare("dx", dx, expected, 0.0);
  }
  const PoolShape pool{3, 49, 136};
  const DeviceTensor dpooled = make.normal(3 * 136, type);
  DeviceTensor dx = make.output(3 * 49 * 136, type);
  std::vector<double> expected = sized(3 * 49 * 136);
  cpu::pool_backward(pool, dpooled.values.data(), expected.data());
  GradientCheck pooled(report, make, "pool backward 49 x 136", type);
  pooled.run_twice({&dx}, [&] { cuda::pool_backward(pool, type, dpooled.data(), dx.buffer.data(), make.stream()); });
  pooled.compare("dx", dx, expected, by_type(type, 1e-6, 4e-4, 3e-3));

  const ResidualShape residual{5, 9 * 24};
  const DeviceTensor x = make.normal(5 * 9 * 24, type);
  const DeviceTensor branch = make.normal(5 * 9 * 24, type);
  const DeviceTensor scale = make.scales(5);
  DeviceTensor y = make.output(5 * 9 * 24, type);
  expected = sized(5 * 9 * 24);
  cpu::residual_forward(residual, x.values.data(), branch.values.data(), scale.values.data(), expected.data());
  GradientCheck forward(report, make, "residual, scale", type);
  forward.run_twice({&y}, [&] {
    cuda::residual_forward(residual, type, x.data(), branch.data(), floats(scale), y.buffer.data(), make.stream());
  });
  forward.compare("y", y, expected, by_type(type, 1e-6, 4e-4, 3e-3));
  cpu::residual_backward(residual, scale.values.data(), x.values.data(), expected.data());
  GradientCheck backward(report, make, "residual backward, scale", type);
  backward.run_twice(
      {&y}, [&] { cuda::residual_backward(residual, type, floats(scale), x.data(), y.buffer.data(), make.stream()); });
  backward.compare("dx", y, expected, by_type(type, 1e-6, 4e-4, 3e-3));

  const std::vector<double> before = make.normal(5 * 9 * 24, kFloat).values;
  DeviceTensor total = make.output(5 * 9 * 24, kFloat);
  for (std::size_t i = 0; i < expected.size(); ++i)
    expected[i] = before[i] + x.values[i];
  GradientCheck sum(report, make, "sum of batches' gradients", type);
  sum.run_twice({&total}, [&] {
    make.write(total, before);
    cuda::add_into(5 * 9 * 24, type, x.data(), floats(total), make.stream());
  });
  sum.compare("y", total, expected, 1e-6);
}

// Both gradients of a linear layer, as products.
void check_gradient_product(const VerifyReport& report, cuda::MatmulLibrary& library, const cuda::MatmulShape& shape) {
  TensorFactory make(41);
  const DeviceTensor a = make.normal(shape.m * shape.k, shape.operand_type);
  const DeviceTensor b = make.normal(shape.n * shape.k, shape.operand_type, 1.0 / std::sqrt(shape.k));
  const DeviceTensor before = make.normal(shape.m * shape.n, shape.result_type);
  DeviceTensor y = make.output(shape.m * shape.n, shape.result_type);
  std::vector<double> expected = before.values;
  const GemmShape gemm_shape{.m = shape.m,
                             .n = shape.n,
                             .k = shape.k,
                             .transpose_a = shape.transpose_a ? Transpose::kYes : Transpose::kNo,
                             .transpose_b = shape.transpose_b ? Transpose::kYes : Transpose::kNo};
  cpu::gemm(gemm_shape, 1.0, a.values.data(), b.values.data(), shape.accumulate ? 1.0 : 0.0, expected.data());
  const cuda::Matmul& matmul = library.prepare(shape, make.stream());
  const bool tf32 = shape.arithmetic == cuda::MatmulArithmetic::kTf32;
  GradientCheck check(report, make,
                      fmt::format("product {}{} x {} x {}{}, to {}", shape.transpose_a ? "T " : "", shape.m, shape.n,
                                  shape.k, shape.accumulate ? ", accumulate" : "", type_name(shape.result_type)),
                      shape.operand_type, tf32 ? "tf32" : "");
  check.run_twice({&y}, [&] {
    if (shape.accumulate) make.write(y, before.values);
    matmul.run({a.data(), b.data(), nullptr, y.buffer.data()}, make.stream());
  });
  // Operands are rounded already: with a result in fp32 only the sums are inexact.
  const double by_result = by_type(shape.result_type, 1e-5, 5e-4, 4e-3);
  check.compare("y", y, expected, tf32 ? 1e-3 : by_result);
}

}  // namespace

void check_elementwise_backward(const VerifyReport& report) {
  for (const ElementType type : kTypes) {
    for (const BiasShape& shape : {BiasShape{33, 200}, BiasShape{1, 8}, BiasShape{700, 96}, BiasShape{1030, 576},
                                   BiasShape{515, 1000}, BiasShape{67, 6144}}) {
      check_columns(report, shape, type, shape.columns == 96);
    }
    check_copies_backward(report, type);
  }
}

void check_gradient_products(const VerifyReport& report, const std::filesystem::path& algorithm_folder) {
  cuda::MatmulLibrary library(algorithm_folder);
  for (const bool transpose_a : {false, true}) {
    for (const auto& [m, n, k] : {std::tuple<int, int, int>{196, 192, 768},
                                  {1568, 384, 96},
                                  {576, 192, 3136},
                                  {96, 48, 784},
                                  {1000, 1536, 64}}) {
      for (const bool accumulate : {false, true}) {
        cuda::MatmulShape shape;
        shape.m = m;
        shape.n = n;
        shape.k = k;
        shape.transpose_a = transpose_a;
        shape.transpose_b = false;
        shape.accumulate = accumulate;
        for (const ElementType type : kTypes) {
          shape.operand_type = type;
          for (const ElementType result : {type, kFloat}) {
            shape.result_type = result;
            if (result != type || type == kFloat || !accumulate) check_gradient_product(report, library, shape);
            if (type == kFloat) break;
          }
        }
        shape.operand_type = shape.result_type = kFloat;
        shape.arithmetic = cuda::MatmulArithmetic::kTf32;
        check_gradient_product(report, library, shape);
      }
    }
  }
  library.finish_tuning();
}

void check_position_bias_backward(const VerifyReport& report) {
  for (const Extent2 window : {Extent2{8, 8}, Extent2{7, 7}, Extent2{3, 5}, Extent2{24, 24}}) {
    for (const bool accumulate : {false, true}) {
      const ContinuousBiasShape shape{window, 6, 512, {12, 12}};
      TensorFactory make(43);
      const std::int64_t table_count = shape.rows() * shape.heads;
      const std::int64_t weights = shape.hidden * (3 + shape.heads);
      const DeviceTensor weight1 = make.normal(shape.hidden * 2, kFloat);
      const DeviceTensor bias1 = make.normal(shape.hidden, kFloat, 0.2);
      const DeviceTensor weight2 = make.normal(shape.heads * shape.hidden, kFloat, 0.05);
      const DeviceTensor dtable = make.normal(table_count, kFloat);
      const std::vector<double> before = make.normal(weights, kFloat).values;
      DeviceTensor gradients = make.output(weights, kFloat);
      std::vector<double> coordinates = sized(shape.rows() * 2);
      std::vector<double> activations = sized(shape.rows() * shape.hidden);
      std::vector<double> table_values = sized(table_count);
      cpu::continuous_bias_forward(shape, weight1.values.data(), bias1.values.data(), weight2.values.data(),
                                   coordinates.data(), activations.data(), table_values.data());
      const DeviceTensor table = make.upload(table_values, kFloat);
      cuda::ContinuousBiasGradientTensors tensors;
      tensors.weight1 = floats(weight1);
      tensors.bias1 = floats(bias1);
      tensors.weight2 = floats(weight2);
      tensors.table = floats(table);
      tensors.dtable = floats(dtable);
      tensors.dweight1 = floats(gradients);
      tensors.dbias1 = floats(gradients) + 2 * shape.hidden;
      tensors.dweight2 = floats(gradients) + 3 * shape.hidden;
      tensors.accumulate = accumulate;
      GradientCheck check(report, make,
                          fmt::format("position bias backward {} x {}{}", window.height, window.width,
                                      accumulate ? ", accumulate" : ""),
                          kFloat);
      check.run_twice({&gradients}, [&] {
        if (accumulate) make.write(gradients, before);
        cuda::continuous_bias_backward(shape, tensors, make.stream());
      });
      std::vector<double> expected = accumulate ? before : sized(weights);
      std::vector<double> workspace = sized(shape.backward_workspace());
      cpu::continuous_bias_backward(shape, weight2.values.data(), coordinates.data(), activations.data(),
                                    table_values.data(), dtable.values.data(), expected.data(),
                                    expected.data() + 2 * shape.hidden, expected.data() + 3 * shape.hidden,
                                    workspace.data());
      check.compare("gradients", gradients, expected, kSumTolerance);
    }
  }
}

}  // namespace swinscope
