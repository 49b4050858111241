// Products of many rows that normalize them, and the merging that is one of them, against the CPU's operations in fp64.
#include <cmath>

#include <fmt/format.h>

#include "kernels/layernorm.h"
#include "kernels/linear.h"
#include "kernels/normalized_rows.h"
#include "kernels/patch_merge.h"
#include "workloads/verify/device_tensor.h"
#include "workloads/verify/kernel_cases.h"

namespace swinscope {
namespace {

constexpr std::size_t kGuard = 512;
constexpr std::int64_t kChannels = 128;

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

double patch_merge_error(const PatchMergeShape& shape, ElementType type) {
  TensorFactory make(37);
  const std::int64_t rows = shape.merged_tokens();
  const std::int64_t inputs = 4 * shape.channels;
  const std::int64_t outputs = 2 * shape.channels;
  const DeviceTensor x = make.normal(shape.batch * shape.height * shape.width * shape.channels, type);
  const DeviceTensor weight = make.normal(outputs * inputs, type, 1.0 / std::sqrt(static_cast<double>(inputs)));
  const DeviceTensor gamma = make.uniform(inputs, type, 0.5, 1.5);
  const DeviceTensor beta = make.normal(inputs, type, 0.2);

  std::vector<double> gathered(static_cast<std::size_t>(rows * inputs));
  std::vector<double> normalized(gathered.size());
  std::vector<double> means(static_cast<std::size_t>(rows));
  std::vector<double> rstds(means.size());
  cpu::patch_merge_forward<double>(shape, x.values.data(), gathered.data());
  cpu::layernorm_forward({rows, inputs}, gathered.data(), gamma.values.data(), beta.values.data(), normalized.data(),
                         means.data(), rstds.data());
  const auto count = static_cast<std::size_t>(rows * outputs);
  std::vector<double> expected(count);
  cpu::linear_forward<double>({rows, inputs, outputs, false}, normalized.data(), weight.values.data(), nullptr,
                              expected.data());

  DeviceTensor y = make.upload(std::vector<double>(count + kGuard, std::nan("")), type);
  cuda::normalized_patch_merge_forward(
      shape, type, {x.data(), gamma.data(), beta.data(), weight.data(), y.buffer.data()}, make.stream());
  return guarded_error(make.download(y), expected);
}

// Fewer rows than a tile, rows that tiles do not divide, and several tiles for each warp group.
void check_rows(ElementType type, const VerifyReport& report) {
  for (const std::int64_t inputs : {256, 512}) {
    for (const std::int64_t rows : {1, 77, 300, 20000}) {
      for (const bool gelu : {false, true}) {
        for (const bool backwards : {false, true}) {
          const cuda::NormalizedRowsShape shape{rows, inputs, (gelu ? 4 : 3) * inputs, gelu, type, backwards};
          if (!cuda::normalized_rows_offered(shape)) continue;
          report({fmt::format("{} x {} normalized, by {}{}{}", rows, inputs, shape.outputs, gelu ? ", GELU" : "",
                              backwards ? ", backwards" : ""),
                  type_name(type), rows_error(shape), by_type(type, 0.0, 1e-3, 8e-3)});
        }
      }
    }
  }
}

// One merged token, odd maps, and several tiles for each warp group.
void check_patch_merge(ElementType type, const VerifyReport& report) {
  for (const PatchMergeShape& shape : {PatchMergeShape{1, 2, 2, kChannels}, PatchMergeShape{1, 9, 7, kChannels},
                                       PatchMergeShape{3, 14, 16, kChannels}, PatchMergeShape{45, 56, 56, kChannels}}) {
    if (!cuda::normalized_patch_merge_offered(shape, type)) continue;
    report({fmt::format("patch merging with normalization of {} x {} x {}", shape.batch, shape.height, shape.width),
            type_name(type), patch_merge_error(shape, type), by_type(type, 0.0, 1e-3, 8e-3)});
  }
}

}  // namespace

void check_normalized_rows(const VerifyReport& report) {
  for (const ElementType type : {ElementType::kFp16, ElementType::kBf16}) {
    check_rows(type, report);
    check_patch_merge(type, report);
  }
}

}  // namespace swinscope
