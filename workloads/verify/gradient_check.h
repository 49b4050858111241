// Checks of what a training step computes: outputs that are NaN before, a second run that must give the same bits, rows
// of `swin verify`.
#pragma once

#include <functional>
#include <initializer_list>
#include <string>
#include <vector>

#include "workloads/verify/device_tensor.h"
#include "workloads/verify/verify.h"

namespace swinscope {

class GradientCheck {
 public:
  // precision: of the rows, where it is not the type's name.
  GradientCheck(const VerifyReport& report, TensorFactory& make, std::string what, ElementType type,
                std::string precision = {});

  // Poisons the outputs and runs, twice; a row says whether the bits agree.
  void run_twice(std::initializer_list<DeviceTensor*> outputs, const std::function<void()>& run);

  // A row for one output.
  void compare(const std::string& name, const DeviceTensor& output, const std::vector<double>& expected,
               double tolerance);
  void error(const std::string& name, double error, double tolerance) const { row(name, error, tolerance); }
  // A row for one number: the error is |value - expected|, over |expected| where that is not 0.
  void number(const std::string& name, double value, double expected, double tolerance);

 private:
  void row(const std::string& what, double error, double tolerance) const;

  const VerifyReport& report_;
  TensorFactory& make_;
  std::string what_;
  std::string precision_;
};

// Row r of `rows` times scale[r / rows_per_sample].
void scale_rows(std::vector<double>& rows, std::int64_t channels, std::int64_t rows_per_sample,
                const std::vector<double>& scale);

}  // namespace swinscope
