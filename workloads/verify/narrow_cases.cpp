// Parts of narrow blocks that are one kernel each, against the CPU's operations in fp64.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "kernels/layernorm.h"
#include "kernels/linear.h"
#include "kernels/narrow_block.h"
#include "kernels/patch_embed.h"
#include "workloads/verify/device_tensor.h"
#include "workloads/verify/kernel_cases.h"

namespace swinscope {
namespace {

constexpr std::int64_t kChannels = cuda::kNarrowChannels;
constexpr std::int64_t kHidden = cuda::kNarrowHidden;
constexpr std::int64_t kQkv = 3 * kChannels;

class NarrowBlock {
 public:
  explicit NarrowBlock(const cuda::NarrowShape& shape) : shape_(shape) {
    const auto scaled = [](std::int64_t inputs) { return 1.0 / std::sqrt(static_cast<double>(inputs)); };
    x_ = make_.normal(shape.rows * kChannels, shape.type);
    residual_ = make_.normal(shape.rows * kChannels, shape.type);
    square_ = make_.normal(kQkv * kChannels, shape.type, scaled(kChannels));  // qkv's, and in part the projection's
    square_bias_ = make_.normal(kQkv, shape.type, 0.5);
    weight1_ = make_.normal(kHidden * kChannels, shape.type, scaled(kChannels));
    bias1_ = make_.normal(kHidden, shape.type, 0.5);
    weight2_ = make_.normal(kChannels * kHidden, shape.type, scaled(kHidden));
    bias2_ = make_.normal(kChannels, shape.type, 0.5);
    gamma_ = make_.uniform(kChannels, shape.type, 0.5, 1.5);
    beta_ = make_.normal(kChannels, shape.type, 0.2);
  }

  double mlp_error() {
    return error(x_.values, x_.values.size(), mlp_of_v2(), [&](void* y) {
      const cuda::NarrowMlpTensors tensors{y, weights(), y};
      cuda::narrow_mlp_forward(shape_, tensors, make_.stream());
    });
  }
  double block_end_error() {
    return error(residual_.values, residual_.values.size(), block_end(), [&](void* y) {
      const cuda::NarrowBlockEndTensors tensors{x_.data(), square_.data(), square_bias_.data(), weights(), y, y};
      cuda::narrow_block_end_forward(shape_, tensors, make_.stream());
    });
  }
  double qkv_error() {
    const auto count = static_cast<std::size_t>(shape_.rows * kQkv);
    return error({}, count, product(normalized(x_.values), square_, square_bias_, kQkv), [&](void* y) {
      const cuda::NarrowQkvTensors tensors{x_.data(),      gamma_.data(),       beta_.data(),
                                           square_.data(), square_bias_.data(), y};
      cuda::narrow_qkv_forward(shape_, tensors, make_.stream());
    });
  }

 private:
  using Values = std::vector<double>;

  cuda::NarrowMlpWeights weights() const {
    return {weight1_.data(), bias1_.data(), weight2_.data(), bias2_.data(), gamma_.data(), beta_.data()};
  }

  // Of what `run` makes of `start` in its place; the rest of `count` elements, and what lies behind them, is NaN, and
  // must stay so behind them.
  template <typename Run>
  double error(Values start, std::size_t count, const Values& expected, const Run& run) {
    constexpr std::size_t kGuard = 512;
    start.resize(count + kGuard, std::nan(""));
    DeviceTensor y = make_.upload(start, shape_.type);
    run(y.buffer.data());
    return guarded_error(make_.download(y), expected);
  }

  Values product(const Values& rows, const DeviceTensor& weight, const DeviceTensor& bias, std::int64_t outputs) const {
    Values y(static_cast<std::size_t>(shape_.rows * outputs));
    const std::int64_t inputs = static_cast<std::int64_t>(rows.size()) / shape_.rows;
    cpu::linear_forward<double>({shape_.rows, inputs, outputs, true}, rows.data(), weight.values.data(),
                                bias.values.data(), y.data());
    return y;
  }
  Values normalized(const Values& rows) const {
    Values y(rows.size());
    Values means(static_cast<std::size_t>(shape_.rows));
    Values rstds(means.size());
    cpu::layernorm_forward({shape_.rows, kChannels}, rows.data(), gamma_.values.data(), beta_.values.data(), y.data(),
                           means.data(), rstds.data());
    return y;
  }
  Values fully_connected(const Values& rows) const {
    Values hidden = product(rows, weight1_, bias1_, kHidden);
    for (double& z : hidden)
      z = 0.5 * z * (1.0 + std::tanh(std::sqrt(2.0 / M_PI) * (z + 0.044715 * z * z * z)));
    return product(hidden, weight2_, bias2_, kChannels);
  }
  static Values sum(Values a, const Values& b) {
    for (std::size_t i = 0; i < a.size(); ++i)
      a[i] += b[i];
    return a;
  }
  Values mlp_of_v2() const { return sum(normalized(fully_connected(x_.values)), x_.values); }
  Values block_end() const {
    const Values middle = sum(product(x_.values, square_, square_bias_, kChannels), residual_.values);
    return sum(fully_connected(normalized(middle)), middle);
  }

  cuda::NarrowShape shape_;
  TensorFactory make_{23};
  DeviceTensor x_, residual_, square_, square_bias_, weight1_, bias1_, weight2_, bias2_, gamma_, beta_;
};

double patch_embed_error(const PatchEmbedShape& shape, ElementType type) {
  constexpr std::size_t kGuard = 512;
  TensorFactory make(31);
  const DeviceTensor image = make.normal(shape.column_elements(), type);
  const DeviceTensor weight = make.normal(shape.outputs * shape.column_length(), type,
                                          1.0 / std::sqrt(static_cast<double>(shape.column_length())));
  const DeviceTensor bias = make.normal(shape.outputs, type, 0.5);
  const DeviceTensor gamma = make.uniform(shape.outputs, type, 0.5, 1.5);
  const DeviceTensor beta = make.normal(shape.outputs, type, 0.2);

  const auto count = static_cast<std::size_t>(shape.tokens() * shape.outputs);
  std::vector<double> columns(static_cast<std::size_t>(shape.column_elements()));
  std::vector<double> embedded(count);
  cpu::patch_embed_forward<double>(shape, image.values.data(), weight.values.data(), bias.values.data(), columns.data(),
                                   embedded.data());
  std::vector<double> expected(count);
  std::vector<double> means(static_cast<std::size_t>(shape.tokens()));
  std::vector<double> rstds(means.size());
  cpu::layernorm_forward({shape.tokens(), shape.outputs}, embedded.data(), gamma.values.data(), beta.values.data(),
                         expected.data(), means.data(), rstds.data());

  DeviceTensor y = make.upload(std::vector<double>(count + kGuard, std::nan("")), type);
  cuda::normalized_patch_embed_forward(
      shape, type, {image.data(), weight.data(), bias.data(), gamma.data(), beta.data(), y.buffer.data()},
      make.stream());
  return guarded_error(make.download(y), expected);
}

// One patch, maps that are no squares and that tiles do not divide, and several tiles for each warp group.
void check_patch_embed(ElementType type, const VerifyReport& report) {
  for (const PatchEmbedShape& shape :
       {PatchEmbedShape{1, 3, 4, 4, 4, kChannels}, PatchEmbedShape{1, 3, 28, 20, 4, kChannels},
        PatchEmbedShape{3, 3, 56, 60, 4, kChannels}, PatchEmbedShape{13, 3, 224, 224, 4, kChannels}}) {
    if (!cuda::normalized_patch_embed_offered(shape, type, cuda::device_info())) continue;
    report({fmt::format("patch embedding and normalization of {} x {} x {}", shape.batch, shape.height, shape.width),
            type_name(type), patch_embed_error(shape, type), by_type(type, 0.0, 1e-3, 8e-3)});
  }
}

}  // namespace

// Fewer rows than a tile, rows that tiles do not divide, and several tiles for each block; in both directions where
// there are two.
void check_narrow_block(const VerifyReport& report) {
  for (const ElementType type : {ElementType::kFp16, ElementType::kBf16}) {
    if (!cuda::narrow_block_offered(type, cuda::device_info())) continue;
    check_patch_embed(type, report);
    for (const std::int64_t rows : {1, 77, 128, 300, 35000}) {
      const auto row = [&](const char* what, bool backwards, double error) {
        report({fmt::format("{} of {} rows{}", what, rows, backwards ? ", backwards" : ""), type_name(type), error,
                by_type(type, 0.0, 1e-3, 8e-3)});
      };
      for (const bool backwards : {false, true}) {
        NarrowBlock block({rows, type, backwards});
        row("normalization and qkv", backwards, block.qkv_error());
        row("block after attention", backwards, block.block_end_error());
        if (!backwards) row("fc1, gelu, fc2 and normalization", backwards, block.mlp_error());
      }
    }
  }
}

}  // namespace swinscope
