#include "kernels/device.h"
#include "kernels/eviction.h"

namespace swinscope::cuda {
namespace {

std::int64_t cache_bytes() {
  static const std::int64_t bytes = device_info().l2_bytes;
  return bytes;
}

}  // namespace

Eviction eviction_of_result(std::int64_t bytes) {
  return 10 * bytes <= 6 * cache_bytes() ? Eviction::kLast : Eviction::kNormal;
}

Eviction eviction_before_residual(std::int64_t bytes) {
  return 4 * bytes > cache_bytes() ? Eviction::kFirst : Eviction::kNormal;
}

}  // namespace swinscope::cuda
