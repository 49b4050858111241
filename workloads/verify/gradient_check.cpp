#include "workloads/verify/gradient_check.h"

#include <cmath>
#include <utility>

namespace swinscope {

GradientCheck::GradientCheck(const VerifyReport& report, TensorFactory& make, std::string what, ElementType type,
                             std::string precision)
    : report_(report),
      make_(make),
      what_(std::move(what)),
      precision_(precision.empty() ? type_name(type) : std::move(precision)) {}

void GradientCheck::run_twice(std::initializer_list<DeviceTensor*> outputs, const std::function<void()>& run) {
  std::vector<std::vector<unsigned char>> first;
  for (int round = 0; round < 2; ++round) {
    for (DeviceTensor* output : outputs)
      output->buffer.poison(make_.stream());
    run();
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      std::vector<unsigned char> bytes = make_.bytes(**(outputs.begin() + i));
      if (round == 0) {
        first.push_back(std::move(bytes));
      } else if (bytes != first[i]) {
        return row("another run, the same bits", 1.0, 0.0);
      }
    }
  }
  row("another run, the same bits", 0.0, 0.0);
}

void GradientCheck::compare(const std::string& name, const DeviceTensor& output, const std::vector<double>& expected,
                            double tolerance) {
  row(name, relative_error(make_.download(output), expected), tolerance);
}

void GradientCheck::number(const std::string& name, double value, double expected, double tolerance) {
  const double difference = std::abs(value - expected);
  row(name, expected == 0.0 ? difference : difference / std::abs(expected), tolerance);
}

void GradientCheck::row(const std::string& what, double error, double tolerance) const {
  VerifyRow result;
  result.what = what_ + ": " + what;
  result.precision = precision_;
  result.error = error;
  result.tolerance = tolerance;
  report_(result);
}

void scale_rows(std::vector<double>& rows, std::int64_t channels, std::int64_t rows_per_sample,
                const std::vector<double>& scale) {
  for (std::size_t i = 0; i < rows.size(); ++i)
    rows[i] *= scale[i / static_cast<std::size_t>(channels * rows_per_sample)];
}

}  // namespace swinscope
