// The addition in an all-reduce by copies, against sums in fp64.
#include <fmt/format.h>

#include "kernels/sum_parts.h"
#include "workloads/verify/device_tensor.h"
#include "workloads/verify/gradient_check.h"
#include "workloads/verify/kernel_cases.h"

namespace swinscope {

void check_sum_parts(const VerifyReport& report) {
  for (const ElementType type : {ElementType::kFp32, ElementType::kFp16, ElementType::kBf16}) {
    for (const int ranks : {2, 3, 8}) {
      for (const std::int64_t count : {std::int64_t{8}, std::int64_t{1000}, std::int64_t{1} << 20}) {
        TensorFactory make(static_cast<std::uint32_t>(ranks + count));
        const DeviceTensor parts = make.normal(ranks * count, type);
        DeviceTensor sums = make.output(count, type);
        GradientCheck check(report, make, fmt::format("sum of {} parts of {}", ranks, count), type);
        check.run_twice({&sums},
                        [&] { cuda::sum_parts(type, parts.data(), ranks, count, sums.buffer.data(), make.stream()); });
        std::vector<double> expected(static_cast<std::size_t>(count));
        for (std::size_t i = 0; i < parts.values.size(); ++i)
          expected[i % expected.size()] += parts.values[i];
        check.compare("sums", sums, expected, by_type(type, 1e-6, 4e-4, 3e-3));
      }
    }
  }
}

}  // namespace swinscope
