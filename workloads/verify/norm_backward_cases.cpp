// The backward pass of layer normalization, and the forward passes that only training has, against the CPU's in fp64.
#include <algorithm>
#include <cmath>
#include <initializer_list>

#include <fmt/format.h>

#include "kernels/layernorm.h"
#include "kernels/patch_merge.h"
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
  bool dx_sums = false;
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
  const std::int64_t sums = c.dx_sums ? 3 : 2;
  const std::vector<double> before = make.normal(sums * c.channels, kFloat).values;
  DeviceTensor dx = make.output(count, type);
  DeviceTensor dparameters = make.output(sums * c.channels, kFloat);
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
  if (c.dx_sums) tensors.dx_sums = floats(dparameters) + 2 * c.channels;
  tensors.accumulate = c.accumulate;
  tensors.workspace = workspace.data();
  const std::string what =
      fmt::format("layernorm backward {} x {}{}{}{}{}{}{}", c.rows, c.channels, c.residual ? ", residual" : "",
                  c.dx_sums ? ", sums" : "", c.accumulate ? ", accumulate" : "", c.rows_per_sample > 0 ? ", scale" : "",
                  c.mean == 0.0 ? "" : ", mean 1000", c.sigma == 1.0 ? "" : ", small variance");
  GradientCheck check(report, make, what, type);
  check.run_twice({&dx, &dparameters}, [&] {
    if (c.accumulate) make.write(dparameters, before);
    tensors.backwards = !tensors.backwards;  // either way the same bits
    cuda::layernorm_backward(shape, type, tensors, make.stream());
  });

  std::vector<double> scaled = dy.values;
  if (c.rows_per_sample > 0) scale_rows(scaled, c.channels, c.rows_per_sample, scale.values);
  std::vector<double> unused = sized(count);
  std::vector<double> mean = sized(c.rows);
  std::vector<double> rstd = sized(c.rows);
  std::vector<double> expected = sized(count);
  std::vector<double> expected_parameters = c.accumulate ? before : sized(sums * c.channels);
  cpu::layernorm_forward(shape, x.values.data(), gamma.values.data(), gamma.values.data(), unused.data(), mean.data(),
                         rstd.data());
  cpu::layernorm_backward(shape, x.values.data(), gamma.values.data(), mean.data(), rstd.data(), scaled.data(),
                          expected.data(), expected_parameters.data(), expected_parameters.data() + c.channels);
  for (std::size_t i = 0; c.residual && i < expected.size(); ++i)
    expected[i] += residual.values[i];
  for (std::size_t i = 0; c.dx_sums && i < expected.size(); ++i)
    expected_parameters[static_cast<std::size_t>(2 * c.channels) + i % static_cast<std::size_t>(c.channels)] +=
        expected[i];
  // In fp32 a mean of 1e3 costs three of seven digits of x itself, and so does it after rounding x.
  const double rounding = c.mean == 0.0 ? 0.0 : 3e-4;
  check.compare("dx", dx, expected, std::max(rounding, by_type(type, 2e-6, 6e-4, 5e-3)));
  check.compare(c.dx_sums ? "dgamma, dbeta, sums of dx" : "dgamma, dbeta", dparameters, expected_parameters,
                std::max(rounding, kSumTolerance));
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
  check.run_twice({&sum, &y}, [&] {
    v1.backwards = !v1.backwards;  // either way the same bits
    cuda::residual_layernorm_forward(shape, type, v1, make.stream());
  });
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
    for (const std::int64_t channels : {96, 192, 768, 1536, 3072}) {
      check_norm_backward(report, {333, channels, true, false, 0, 0.0, 1.0, true}, type);
      check_norm_backward(report, {335, channels, false, true, 67, 0.0, 1.0, true}, type);
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

}  // namespace swinscope
