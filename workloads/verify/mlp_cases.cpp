// The fully connected layers of narrow blocks in one kernel, against the CPU's in fp64.
#include <cmath>

#include <fmt/format.h>

#include "kernels/layernorm.h"
#include "kernels/linear.h"
#include "kernels/narrow_mlp.h"
#include "workloads/verify/device_tensor.h"
#include "workloads/verify/kernel_cases.h"

namespace swinscope {
namespace {

constexpr std::int64_t kChannels = cuda::kNarrowMlpChannels;
constexpr std::int64_t kHidden = cuda::kNarrowMlpHidden;

std::vector<double> sized(std::int64_t count) { return std::vector<double>(static_cast<std::size_t>(count)); }

class NarrowMlp {
 public:
  // in_place: the rows are their own residual, and are replaced, as Swin V2's.
  NarrowMlp(const cuda::NarrowMlpShape& shape, bool in_place) : shape_(shape), in_place_(in_place) {
    const auto scaled = [](std::int64_t inputs) { return 1.0 / std::sqrt(static_cast<double>(inputs)); };
    x_ = make_.normal(shape.rows * kChannels, shape.type);
    residual_ = in_place ? x_.values : make_.normal(shape.rows * kChannels, shape.type).values;
    weight1_ = make_.normal(kHidden * kChannels, shape.type, scaled(kChannels));
    bias1_ = make_.normal(kHidden, shape.type, 0.5);
    weight2_ = make_.normal(kChannels * kHidden, shape.type, scaled(kHidden));
    bias2_ = make_.normal(kChannels, shape.type, 0.5);
    gamma_ = make_.uniform(kChannels, shape.type, 0.5, 1.5);
    beta_ = make_.normal(kChannels, shape.type, 0.2);
  }

  // What lies behind the result must stay NaN.
  double error() {
    constexpr std::int64_t kGuard = 512;
    std::vector<double> start = residual_;
    start.resize(start.size() + kGuard, std::nan(""));
    const DeviceTensor y = make_.upload(start, shape_.type);
    cuda::NarrowMlpTensors tensors;
    tensors.x = in_place_ ? y.data() : x_.data();
    tensors.weight1 = weight1_.data();
    tensors.bias1 = bias1_.data();
    tensors.weight2 = weight2_.data();
    tensors.bias2 = bias2_.data();
    tensors.gamma = gamma_.data();
    tensors.beta = beta_.data();
    tensors.residual = y.data();
    tensors.y = y.buffer.data();
    cuda::narrow_mlp_forward(shape_, tensors, make_.stream());
    std::vector<double> result = make_.download(y);
    for (auto guard = result.end() - kGuard; guard != result.end(); ++guard) {
      if (!std::isnan(*guard)) return std::nan("");
    }
    result.resize(residual_.size());
    return relative_error(result, expected());
  }

 private:
  std::vector<double> expected() const {
    const std::int64_t m = shape_.rows;
    std::vector<double> hidden = sized(m * kHidden);
    std::vector<double> y = sized(m * kChannels);
    cpu::linear_forward<double>({m, kChannels, kHidden, true}, x_.values.data(), weight1_.values.data(),
                                bias1_.values.data(), hidden.data());
    for (double& z : hidden)
      z = 0.5 * z * (1.0 + std::tanh(std::sqrt(2.0 / M_PI) * (z + 0.044715 * z * z * z)));
    cpu::linear_forward<double>({m, kHidden, kChannels, true}, hidden.data(), weight2_.values.data(),
                                bias2_.values.data(), y.data());
    if (shape_.normalize_result) {
      const std::vector<double> product = y;
      std::vector<double> means = sized(m);
      std::vector<double> rstds = sized(m);
      cpu::layernorm_forward({m, kChannels}, product.data(), gamma_.values.data(), beta_.values.data(), y.data(),
                             means.data(), rstds.data());
    }
    for (std::size_t i = 0; i < y.size(); ++i)
      y[i] += residual_[i];
    return y;
  }

  cuda::NarrowMlpShape shape_;
  bool in_place_;
  TensorFactory make_{23};
  DeviceTensor x_, weight1_, bias1_, weight2_, bias2_, gamma_, beta_;
  std::vector<double> residual_;
};

}  // namespace

// Fewer rows than a tile, rows that tiles do not divide, and several tiles for each block.
void check_narrow_mlp(const VerifyReport& report) {
  for (const ElementType type : {ElementType::kFp16, ElementType::kBf16}) {
    if (!cuda::narrow_mlp_offered(type)) continue;
    for (const std::int64_t rows : {1, 77, 128, 300, 35000}) {
      for (const bool normalize : {false, true}) {
        NarrowMlp mlp({rows, type, normalize}, normalize);
        report({fmt::format("fc1, gelu and fc2 of {} rows{}", rows, normalize ? ", normalized in place" : ""),
                type_name(type), mlp.error(), by_type(type, 0.0, 1e-3, 8e-3)});
      }
    }
  }
}

}  // namespace swinscope
