#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/adamw.h"
#include "kernels/check.h"
#include "kernels/lanes.h"
#include "kernels/parallel.h"

namespace swinscope {
namespace {
constexpr std::int64_t kGrain = 16384;
constexpr std::int64_t kPartials = 64;
}  // namespace

OperationCost adamw_cost(std::int64_t count, std::int64_t element_bytes) {
  return {0, 4 * count * element_bytes, 3 * count * element_bytes};
}

OperationCost gradient_norm_cost(std::int64_t count, std::int64_t element_bytes) {
  return {0, count * element_bytes, 0};
}

double clip_factor(double norm, double max_norm) {
  if (!std::isfinite(norm)) return std::numeric_limits<double>::quiet_NaN();
  constexpr double kAgainstZero = 1e-6;
  return std::min(1.0, max_norm / (norm + kAgainstZero));
}

namespace cpu {
namespace {

// In double with one rounding per stored value: the moments cancel, and fp32 arithmetic loses digits that
// later steps would build on.
template <typename T>
void update(const AdamWOptions& options, const AdamWTensor<T>& tensor, std::int64_t begin, std::int64_t end) {
  const double decay = 1.0 - options.learning_rate * tensor.weight_decay;
  const auto step = static_cast<double>(options.step);
  const double rate = options.learning_rate / (1.0 - std::pow(options.beta1, step));
  const double second_correction = 1.0 / (1.0 - std::pow(options.beta2, step));
  for (std::int64_t i = begin; i < end; ++i) {
    const double g = static_cast<double>(tensor.gradient[i]) * options.gradient_scale;
    const double m = options.beta1 * static_cast<double>(tensor.first_moment[i]) + (1.0 - options.beta1) * g;
    const double v = options.beta2 * static_cast<double>(tensor.second_moment[i]) + (1.0 - options.beta2) * g * g;
    const double change = rate * m / (std::sqrt(v * second_correction) + options.epsilon);
    tensor.parameter[i] = static_cast<T>(static_cast<double>(tensor.parameter[i]) * decay - change);
    tensor.first_moment[i] = static_cast<T>(m);
    tensor.second_moment[i] = static_cast<T>(v);
  }
}

template <typename T>
double squared_norm(const GradientTensor<T>& tensor) {
  double total = 0.0;
  for (std::int64_t base = 0; base < tensor.count; base += kPartials * kGrain) {
    double partial[kPartials] = {};
    const std::int64_t count = std::min(tensor.count - base, kPartials * kGrain);
    parallel_ranges(count, kGrain, [&](std::int64_t begin, std::int64_t end) {
      const T* g = tensor.gradient + base + begin;
      partial[begin / kGrain] = lane_sum<double>(
          end - begin, [&](std::int64_t i) { return static_cast<double>(g[i]) * static_cast<double>(g[i]); });
    });
    for (const double sum : partial)
      total += sum;
  }
  return total;
}

}  // namespace

template <typename T>
void adamw_step(const AdamWOptions& options, std::span<const AdamWTensor<T>> tensors) {
  require(options.step >= 1, "adamw_step", "steps are counted from 1");
  for (const AdamWTensor<T>& tensor : tensors) {
    parallel_ranges(tensor.count, kGrain,
                    [&](std::int64_t begin, std::int64_t end) { update(options, tensor, begin, end); });
  }
}

template <typename T>
double gradient_norm(std::span<const GradientTensor<T>> tensors) {
  double total = 0.0;
  for (const GradientTensor<T>& tensor : tensors)
    total += squared_norm(tensor);
  return std::sqrt(total);
}

template void adamw_step<float>(const AdamWOptions&, std::span<const AdamWTensor<float>>);
template void adamw_step<double>(const AdamWOptions&, std::span<const AdamWTensor<double>>);
template double gradient_norm<float>(std::span<const GradientTensor<float>>);
template double gradient_norm<double>(std::span<const GradientTensor<double>>);

}  // namespace cpu
}  // namespace swinscope
