// How the memory that a batch needs is compared with what a device has.
#pragma once

#include <cstdint>

namespace swinscope {

// CUDA's context, cuBLASLt's kernels and workspace, the batches that are on their way, and fragmentation.
inline constexpr std::int64_t kDeviceReserve = std::int64_t{768} << 20;

inline double gibibytes(std::int64_t bytes) { return static_cast<double>(bytes) / (1024.0 * 1024.0 * 1024.0); }

// The largest batch below `batch` whose need(batch) is at most `free_bytes`; 0 if none is. `need` grows with the batch.
template <typename Need>
std::int64_t largest_fitting_batch(std::int64_t batch, const Need& need, std::int64_t free_bytes) {
  std::int64_t fits = 0;
  for (std::int64_t step = std::int64_t{1} << 30; step > 0; step /= 2) {
    if (fits + step < batch && need(fits + step) <= free_bytes) fits += step;
  }
  return fits;
}

}  // namespace swinscope
