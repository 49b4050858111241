// The backward pass of every operation but attention, against the CPU's in fp64. Each runs twice: the same input must
// give the same bits.
#include <algorithm>
#include <cmath>
#include <initializer_list>

#include <fmt/format.h>

#include "kernels/bias.h"
#include "kernels/continuous_bias.h"
#include "kernels/gelu.h"
#include "kernels/gemm.h"
#include "kernels/layernorm.h"
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

struct NormCase {
  std::int64_t rows;
  std::int64_t channels;
  bool residual = false;
  bool accumulate = false;
  std::int64_t rows_per_sample = 0;  // 0: no scale
  double mean = 0.0;
  double sigma = 1.0;
};

void check_norm_backward(const VerifyReport& report, const NormCase& c, ElementType type) {
  TensorFactory make(static_cast<std::uint32_t>(c.channels + c.rows));
  const LayerNormShape shape{c.rows, c.channels};
  const std::int64_t count = c.rows * c.channels;
  const DeviceTensor x = make.normal(count, type, c.sigma, c.mean);
  const DeviceTensor gamma = make.uniform(c.channels, type, 0.5, 1.5);
  const DeviceTensor dy = make.normal(count, type);
  const DeviceTensor residual = make.normal(count, type);
  const DeviceTensor scale = make.scales(c.rows_per_sample > 0 ? c.rows / c.rows_per_sample : 1);
  const std::vector<double> before = make.normal(2 * c.channels, kFloat).values;
  DeviceTensor dx = make.output(count, type);
  DeviceTensor dparameters = make.output(2 * c.channels, kFloat);
  const cuda::DeviceBuffer workspace(cuda::layernorm_backward_workspace_bytes(shape));

  cuda::LayerNormGradientTensors tensors;
  tensors.x = x.data();
  tensors.gamma = gamma.data();
  tensors.dy = dy.data();
  if (c.residual) tensors.residual = residual.data();
  if (c.rows_per_sample > 0) tensors.sample_scale = floats(scale);
  tensors.rows_per_sample = c.rows_per_sample;
  tensors.dx = dx.buffer.data();
  tensors.dgamma = floats(dparameters);
  tensors.dbeta = floats(dparameters) + c.channels;
  tensors.accumulate = c.accumulate;
  tensors.workspace = workspace.data();
  const std::string what =
      fmt::format("layernorm backward {} x {}{}{}{}{}{}", c.rows, c.channels, c.residual ? ", residual" : "",
                  c.accumulate ? ", accumulate" : "", c.rows_per_sample > 0 ? ", scale" : "",
                  c.mean == 0.0 ? "" : ", mean 1000", c.sigma == 1.0 ? "" : ", small variance");
  GradientCheck check(report, make, what, type);
  check.run_twice({&dx, &dparameters}, [&] {
    if (c.accumulate) make.write(dparameters, before);
    cuda::layernorm_backward(shape, type, tensors, make.stream());
  });

  std::vector<double> scaled = dy.values;
  if (c.rows_per_sample > 0) scale_rows(scaled, c.channels, c.rows_per_sample, scale.values);
  std::vector<double> unused = sized(count);
  std::vector<double> mean = sized(c.rows);
  std::vector<double> rstd = sized(c.rows);
  std::vector<double> expected = sized(count);
  std::vector<double> expected_parameters = c.accumulate ? before : sized(2 * c.channels);
  cpu::layernorm_forward(shape, x.values.data(), gamma.values.data(), gamma.values.data(), unused.data(), mean.data(),
                         rstd.data());
  cpu::layernorm_backward(shape, x.values.data(), gamma.values.data(), mean.data(), rstd.data(), scaled.data(),
                          expected.data(), expected_parameters.data(), expected_parameters.data() + c.channels);
  for (std::size_t i = 0; c.residual && i < expected.size(); ++i)
    expected[i] += residual.values[i];
  // In fp32 a mean of 1e3 costs three of seven digits of x itself, and so does it after rounding x.
  const double rounding = c.mean == 0.0 ? 0.0 : 3e-4;
  check.compare("dx", dx, expected, std::max(rounding, by_type(type, 2e-6, 6e-4, 5e-3)));
  check.compare("dgamma, dbeta", dparameters, expected_parameters, std::max(rounding, kSumTolerance));
}

void check_gathered_norm_backward(const VerifyReport& report, std::int64_t height, std::int64_t width,
                                  std::int64_t channels, ElementType type) {
  TensorFactory make(29);
  const PatchMergeShape merge{3, height, width, channels};
  const LayerNormShape shape{merge.merged_tokens(), 4 * channels};
  const std::int64_t map = 3 * height * width * channels;
  const std::int64_t count = shape.rows * shape.channels;
  const DeviceTensor x = make.normal(map, type);
  const DeviceTensor gamma = make.uniform(shape.channels, type, 0.5, 1.5);
  const DeviceTensor dy = make.normal(count, type);
  DeviceTensor dx = make.output(map, type);
  DeviceTensor dparameters = make.output(2 * shape.channels, kFloat);
  const cuda::DeviceBuffer workspace(cuda::layernorm_backward_workspace_bytes(shape));
  cuda::LayerNormGradientTensors tensors;
  tensors.x = x.data();
  tensors.gamma = gamma.data();
  tensors.dy = dy.data();
  tensors.dx = dx.buffer.data();
  tensors.dgamma = floats(dparameters);
  tensors.dbeta = floats(dparameters) + shape.channels;
  tensors.workspace = workspace.data();
  GradientCheck check(report, make, fmt::format("layernorm backward of merged {} x {} x {}", height, width, channels),
                      type);
  check.run_twice({&dx, &dparameters}, [&] { cuda::layernorm_backward(shape, type, tensors, make.stream(), &merge); });

  std::vector<double> gathered = sized(count);
  std::vector<double> unused = sized(count);
  std::vector<double> mean = sized(shape.rows);
  std::vector<double> rstd = sized(shape.rows);
  std::vector<double> expected = sized(map);
  std::vector<double> expected_parameters = sized(2 * shape.channels);
  cpu::patch_merge_forward(merge, x.values.data(), gathered.data());
  cpu::layernorm_forward(shape, gathered.data(), gamma.values.data(), gamma.values.data(), unused.data(), mean.data(),
                         rstd.data());
  cpu::layernorm_backward(shape, gathered.data(), gamma.values.data(), mean.data(), rstd.data(), dy.values.data(),
                          unused.data(), expected_parameters.data(), expected_parameters.data() + shape.channels);
  cpu::patch_merge_backward(merge, unused.data(), expected.data());
  check.compare("dx", dx, expected, by_type(type, 2e-6, 6e-4, 5e-3));
  check.compare("dgamma, dbeta", dparameters, expected_parameters, kSumTolerance);
}

// Swin V1's and V2's residual connections with stochastic depth.
void check_residual_norms(const VerifyReport& report, std::int64_t channels, ElementType type) {
  constexpr std::int64_t kSamples = 5;
  constexpr std::int64_t kSampleRows = 9;
  constexpr std::int64_t kRows = kSamples * kSampleRows;
  TensorFactory make(31);
  const LayerNormShape shape{kRows, channels};
  const std::int64_t count = kRows * channels;
  const DeviceTensor x = make.normal(count, type);
  const DeviceTensor branch = make.normal(count, type);
  const DeviceTensor gamma = make.uniform(channels, type, 0.5, 1.5);
  const DeviceTensor beta = make.normal(channels, type, 0.2);
  const DeviceTensor scale = make.scales(kSamples);
  DeviceTensor sum = make.output(count, type);
  DeviceTensor y = make.output(count, type);
  std::vector<double> mean = sized(kRows);
  std::vector<double> rstd = sized(kRows);
  std::vector<double> expected = sized(count);
  std::vector<double> normalized = sized(count);

  cuda::ResidualNormTensors v1;
  v1.x = x.data();
  v1.branch = branch.data();
  v1.sample_scale = floats(scale);
  v1.rows_per_sample = kSampleRows;
  v1.gamma = gamma.data();
  v1.beta = beta.data();
  v1.sum = sum.buffer.data();
  v1.y = y.buffer.data();
  GradientCheck check(report, make, fmt::format("residual and layernorm {} x {}", kRows, channels), type);
  check.run_twice({&sum, &y}, [&] { cuda::residual_layernorm_forward(shape, type, v1, make.stream()); });
  cpu::residual_forward({kSamples, kSampleRows * channels}, x.values.data(), branch.values.data(), scale.values.data(),
                        expected.data());
  check.compare("sum", sum, expected, by_type(type, 1e-6, 4e-4, 3e-3));
  // On the sum as it is stored: the backward pass reads that.
  const std::vector<double> stored = make.download(sum);
  cpu::layernorm_forward(shape, stored.data(), gamma.values.data(), beta.values.data(), normalized.data(), mean.data(),
                         rstd.data());
  check.compare("y", y, normalized, by_type(type, 2e-6, 4e-4, 3e-3));

  cuda::LayerNormTensors v2{x.data(), gamma.data(), beta.data(), y.buffer.data(), branch.data()};
  v2.sample_scale = floats(scale);
  v2.rows_per_sample = kSampleRows;
  cpu::layernorm_forward(shape, x.values.data(), gamma.values.data(), beta.values.data(), normalized.data(),
                         mean.data(), rstd.data());
  cpu::residual_forward({kSamples, kSampleRows * channels}, branch.values.data(), normalized.data(),
                        scale.values.data(), expected.data());
  for (const bool plain : {false, true}) {
    GradientCheck with_scale(
        report, make, fmt::format("layernorm {} x {}, residual, scale{}", kRows, channels, plain ? ", plain" : ""),
        type);
    with_scale.run_twice({&y}, [&] {
      if (plain) {
        cuda::layernorm_forward_plain(shape, type, v2, make.stream());
      } else {
        cuda::layernorm_forward(shape, type, v2, make.stream());
      }
    });
    with_scale.compare("y", y, expected, by_type(type, 2e-6, 4e-4, 3e-3));
  }
}

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

void check_layernorm_backward(const VerifyReport& report) {
  for (const ElementType type : kTypes) {
    for (const std::int64_t channels : {32, 40, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048, 3072})
      check_norm_backward(report, {37, channels}, type);
    for (const std::int64_t channels : {40, 192, 1536}) {
      check_norm_backward(report, {1, channels, true}, type);
      check_norm_backward(report, {333, channels, true, true}, type);
      check_norm_backward(report, {335, channels, false, false, 67}, type);
    }
    check_norm_backward(report, {37, 128, false, false, 0, 1000.0}, type);
    check_norm_backward(report, {37, 128, false, false, 0, 0.0, 1e-3}, type);
    check_gathered_norm_backward(report, 6, 8, 96, type);
    check_gathered_norm_backward(report, 5, 7, 192, type);
    check_gathered_norm_backward(report, 3, 4, 768, type);
    for (const std::int64_t channels : {96, 192, 1024})
      check_residual_norms(report, channels, type);
  }
}

void check_elementwise_backward(const VerifyReport& report) {
  for (const ElementType type : kTypes) {
    for (const BiasShape& shape : {BiasShape{33, 200}, BiasShape{1, 8}, BiasShape{700, 96}, BiasShape{1030, 576},
                                   BiasShape{515, 1000}, BiasShape{67, 6144}}) {
      check_columns(report, shape, type, shape.columns == 96);
    }
    check_copies_backward(report, type);
  }
}

void check_gradient_products(const VerifyReport& report) {
  cuda::MatmulLibrary library({});
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
