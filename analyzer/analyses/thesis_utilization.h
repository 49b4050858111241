// GPU and CPU shares as the master's thesis defines them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analyzer/facts/scope.h"
#include "analyzer/table/table.h"
#include "analyzer/trace/trace.h"

namespace swinscope {

// The thesis's definition (section 3.1), per rank: device time over the total compute time,
//   GPU share = sum of kernel time / (sum of kernel time + sum of CPU operation self time).
// CPU operations are those of the framework's profiler; where it did not run, CUDA calls and annotated operations.
// Nothing where neither was recorded.
struct ThesisUtilization {
  std::int32_t rank = 0;
  std::int64_t kernel_ns = 0;
  std::optional<std::int64_t> cpu_self_ns;
  bool is_of_cuda_calls = false;
  std::optional<double> gpu_share() const;
};
std::vector<ThesisUtilization> thesis_utilization(const Trace& trace, const RunScope& scope);
// The mean over ranks; nothing where no rank has one.
std::optional<double> mean_gpu_share(const std::vector<ThesisUtilization>& ranks);

Table thesis_table(const std::vector<ThesisUtilization>& ranks);

}  // namespace swinscope
