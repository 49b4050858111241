#include "advisor/candidates/channels_last.h"

#include <initializer_list>

namespace swinscope {
namespace {

constexpr double kHalf = 2;  // bytes

// Of convolutions whose kernels take images channel by channel. `flops` are those of one product, or of the two of a
// backward pass, which reads the gradient of the results twice.
double transposes_ns(const OperationPayload& what, const Rates& rates) {
  const auto m = static_cast<double>(what.input_shape[0]);
  const auto k = static_cast<double>(what.input_shape[1]);
  const auto n = static_cast<double>(what.output_shape[1]);
  const double width = what.precision == "fp64" ? 8 : what.precision == "fp32" || what.precision == "tf32" ? 4 : 2;
  const bool is_backward = static_cast<double>(what.flops) > 3 * m * n * k;
  const double of_both = static_cast<double>(is_backward ? what.bytes_written : what.bytes_read) / width;
  const double filters = n * k;
  const double images = of_both - filters;
  const bool is_of_single_pixels = m * k < 1.5 * images;
  if (is_of_single_pixels) return 0;
  const auto transpose_ns = [&](std::initializer_list<double> values) {
    double ns = 0;
    for (const double each : values)
      ns += rates.bytes_ns(2 * kHalf * each).value_or(0);
    return ns;
  };
  return is_backward ? transpose_ns({m * n, images, filters, images, filters}) : transpose_ns({images, filters, m * n});
}

}  // namespace

bool fits_tensor_cores(const WorkItem& item) {
  constexpr std::int64_t kLeastChannels = 4;  // 16 bytes of TF32
  return item.kind != OperationKind::kConv || item.what == nullptr || item.what->channels == 0 ||
         item.what->channels >= kLeastChannels;
}

double kernels_beside_ns(const WorkItem& item, const Rates& rates) {
  if (item.kind == OperationKind::kConv && item.what != nullptr && item.what->flops > 0 &&
      item.full_name.find("nhwc") == std::string_view::npos)
    return transposes_ns(*item.what, rates);
  constexpr double kStatisticsAndCopy = 2;
  const bool is_normalization_of_cudnn = item.kernel.find("bn_fw_inf") != std::string_view::npos;
  return is_normalization_of_cudnn ? kStatisticsAndCopy * rates.empty_kernel_ns().value_or(0) : 0;
}

}  // namespace swinscope
