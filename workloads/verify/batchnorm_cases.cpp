// Batch normalization over one or several ranks, with a ReLU behind it, against the CPU's in fp64 on the joined batch.
#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "kernels/batchnorm.h"
#include "kernels/relu.h"
#include "workloads/verify/device_tensor.h"
#include "workloads/verify/gradient_check.h"
#include "workloads/verify/kernel_cases.h"

namespace swinscope {
namespace {

constexpr std::initializer_list<ElementType> kTypes = {ElementType::kFp32, ElementType::kFp16, ElementType::kBf16};
constexpr auto kFloat = ElementType::kFp32;
constexpr double kStatisticsTolerance = 1e-6;
constexpr double kSumTolerance = 1e-5;

std::vector<double> sized(std::int64_t count) { return std::vector<double>(static_cast<std::size_t>(count)); }
float* floats(const DeviceTensor& tensor) { return static_cast<float*>(tensor.buffer.data()); }

struct NormCase {
  std::vector<std::int64_t> rows;  // of each rank
  std::int64_t channels = 0;
  bool relu = true;
  std::int64_t stride = 0;  // of y and dy; 0: channels
  double mean = 0.0;
  bool accumulate = false;
};

class NormCheck {
 public:
  NormCheck(const VerifyReport& report, NormCase wanted, ElementType type)
      : c_(std::move(wanted)),
        type_(type),
        rows_(std::accumulate(c_.rows.begin(), c_.rows.end(), std::int64_t{0})),
        stride_(c_.stride == 0 ? c_.channels : c_.stride),
        whole_{rows_, c_.channels},
        make_(static_cast<std::uint32_t>(rows_ + c_.channels)),
        check_(report, make_, describe(), type),
        x_(make_.normal(rows_ * c_.channels, type, 1.0, c_.mean)),
        gamma_(make_.uniform(c_.channels, type, 0.5, 1.5)),
        beta_(make_.normal(c_.channels, type, 0.2)),
        dy_(make_.normal(rows_ * stride_, type)),
        statistics_(make_.output(whole_.sum_elements(), kFloat)),
        workspace_(cuda::batchnorm_workspace_bytes(whole_)),
        mean_(sized(c_.channels)),
        rstd_(sized(c_.channels)) {}

  void run() {
    statistics();
    forward();
    backward();
  }

 private:
  std::string describe() const {
    return fmt::format("batchnorm {} x {}{}{}{}{}", fmt::join(c_.rows, " + "), c_.channels, c_.relu ? ", relu" : "",
                       c_.stride == 0 ? "" : fmt::format(" of {}", c_.stride), c_.mean == 0.0 ? "" : ", mean 1000",
                       c_.accumulate ? ", accumulate" : "");
  }

  // Calls visit(rank, its shape, its first row).
  template <typename Visit>
  void for_ranks(const Visit& visit) const {
    std::int64_t first = 0;
    for (std::size_t rank = 0; rank < c_.rows.size(); ++rank) {
      visit(static_cast<std::int64_t>(rank), BatchNormShape{c_.rows[rank], c_.channels}, first);
      first += c_.rows[rank];
    }
  }
  const char* row_of(const DeviceTensor& map, std::int64_t row, std::int64_t stride) const {
    return static_cast<const char*>(map.data()) + row * stride * element_bytes(type_);
  }
  // The slice is the last of the map's channels.
  std::int64_t slice_bytes() const { return (stride_ - c_.channels) * element_bytes(type_); }

  void statistics() {
    const auto ranks = static_cast<std::int64_t>(c_.rows.size());
    DeviceTensor moments = make_.output(ranks * whole_.sum_elements(), kFloat);
    DeviceTensor running = make_.output(2 * c_.channels, kFloat);
    const DeviceTensor before = make_.uniform(2 * c_.channels, kFloat, 0.5, 1.5);
    check_.run_twice({&moments, &statistics_, &running}, [&] {
      make_.write(running, before.values);
      for_ranks([&](std::int64_t rank, const BatchNormShape& shape, std::int64_t first) {
        cuda::batchnorm_moments(shape, type_, row_of(x_, first, c_.channels),
                                floats(moments) + rank * whole_.sum_elements(), workspace_.data(), make_.stream());
      });
      cuda::batchnorm_statistics(whole_, floats(moments), ranks, floats(statistics_), floats(running),
                                 floats(running) + c_.channels, make_.stream());
    });
    std::vector<double> sums = sized(whole_.sum_elements());
    std::vector<double> expected_running = before.values;
    cpu::batchnorm_sums(whole_, x_.values.data(), sums.data());
    cpu::batchnorm_statistics(whole_, sums.data(), mean_.data(), rstd_.data(), expected_running.data(),
                              expected_running.data() + c_.channels);
    const std::vector<double> found = make_.download(statistics_);
    const auto part = [&](std::int64_t first, std::int64_t count) {
      return std::vector<double>(found.begin() + first, found.begin() + first + count);
    };
    // The mean of centred values is no larger than its own error would be: measured in standard deviations.
    double apart = 0.0;
    for (std::size_t c = 0; c < mean_.size(); ++c)
      apart = std::max(apart, std::abs(found[c] - mean_[c]) * rstd_[c]);
    check_.error("mean, in standard deviations", apart, c_.mean == 0.0 ? kStatisticsTolerance : 1e-4);
    check_.error("rstd", relative_error(part(c_.channels, c_.channels), rstd_), kStatisticsTolerance);
    check_.number("rows", found.back(), static_cast<double>(rows_), 0.0);
    check_.compare("running statistics", running, expected_running, kStatisticsTolerance);

    DeviceTensor evaluation = make_.output(whole_.sum_elements(), kFloat);
    cuda::batchnorm_running(whole_, floats(before), floats(before) + c_.channels, floats(evaluation), make_.stream());
    std::vector<double> expected = sized(whole_.sum_elements());
    cpu::batchnorm_running(whole_, before.values.data(), before.values.data() + c_.channels, expected.data(),
                           expected.data() + c_.channels);
    check_.compare("of evaluation", evaluation, expected, kStatisticsTolerance);
  }

  void forward() {
    y_ = make_.output(rows_ * stride_, type_);
    const DeviceTensor before = make_.normal(rows_ * stride_, type_);
    check_.run_twice({&y_}, [&] {
      if (c_.stride != 0) make_.write(y_, before.values);  // neighbours keep what they have
      for_ranks([&](std::int64_t /*rank*/, const BatchNormShape& shape, std::int64_t first) {
        cuda::BatchNormTensors tensors;
        tensors.x = row_of(x_, first, c_.channels);
        tensors.statistics = floats(statistics_);
        tensors.gamma = gamma_.data();
        tensors.beta = beta_.data();
        tensors.relu = c_.relu;
        tensors.y = static_cast<char*>(y_.buffer.data()) + first * stride_ * element_bytes(type_) + slice_bytes();
        tensors.y_stride = c_.stride;
        cuda::batchnorm_forward(shape, type_, tensors, make_.stream());
      });
    });
    std::vector<double> normalized = sized(rows_ * c_.channels);
    cpu::batchnorm_forward(whole_, x_.values.data(), mean_.data(), rstd_.data(), gamma_.values.data(),
                           beta_.values.data(), normalized.data());
    if (c_.relu) cpu::relu_forward(rows_ * c_.channels, normalized.data(), normalized.data());
    std::vector<double> expected = before.values;
    for (std::int64_t i = 0; i < rows_ * c_.channels; ++i)
      expected[wide(i)] = normalized[static_cast<std::size_t>(i)];
    check_.compare("y", y_, expected, by_type(type_, c_.mean == 0.0 ? 2e-6 : 3e-4, 4e-4, 3e-3));
  }

  // Where element i of the slice lies in the map.
  std::size_t wide(std::int64_t i) const {
    return static_cast<std::size_t>(i / c_.channels * stride_ + stride_ - c_.channels + i % c_.channels);
  }

  void backward() {
    const auto ranks = static_cast<std::int64_t>(c_.rows.size());
    const std::int64_t parameters = 2 * c_.channels;
    DeviceTensor sums = make_.output(ranks * parameters, kFloat);
    DeviceTensor dparameters = make_.output(ranks * parameters, kFloat);
    DeviceTensor joined = make_.output(parameters, kFloat);
    DeviceTensor dx = make_.output(rows_ * c_.channels, type_);
    const DeviceTensor before = make_.normal(ranks * parameters, kFloat);
    const auto tensors_of = [&](std::int64_t rank, std::int64_t first) {
      cuda::BatchNormGradientTensors tensors;
      tensors.x = row_of(x_, first, c_.channels);
      tensors.statistics = floats(statistics_);
      tensors.gamma = gamma_.data();
      tensors.beta = beta_.data();
      tensors.relu = c_.relu;
      tensors.dy = row_of(dy_, first, stride_) + slice_bytes();
      tensors.dy_stride = c_.stride;
      tensors.sums = floats(sums) + rank * parameters;
      tensors.dgamma = floats(dparameters) + rank * parameters;
      tensors.dbeta = tensors.dgamma + c_.channels;
      tensors.accumulate = c_.accumulate;
      tensors.dx = static_cast<char*>(dx.buffer.data()) + first * c_.channels * element_bytes(type_);
      tensors.workspace = workspace_.data();
      return tensors;
    };
    check_.run_twice({&sums, &dparameters, &dx}, [&] {
      if (c_.accumulate) make_.write(dparameters, before.values);
      for_ranks([&](std::int64_t rank, const BatchNormShape& shape, std::int64_t first) {
        cuda::batchnorm_backward_sums(shape, type_, tensors_of(rank, first), make_.stream());
      });
      make_.write(joined, added_over_ranks(make_.download(sums), parameters));
      for_ranks([&](std::int64_t rank, const BatchNormShape& shape, std::int64_t first) {
        cuda::BatchNormGradientTensors tensors = tensors_of(rank, first);
        tensors.sums = floats(joined);
        cuda::batchnorm_backward(shape, type_, tensors, make_.stream());
      });
    });
    // A gradient passes where what is stored is above 0.
    const std::vector<double> y = make_.download(y_);
    std::vector<double> dy = sized(rows_ * c_.channels);
    for (std::int64_t i = 0; i < rows_ * c_.channels; ++i)
      dy[static_cast<std::size_t>(i)] = c_.relu && y[wide(i)] <= 0.0 ? 0.0 : dy_.values[wide(i)];
    std::vector<double> expected_sums = sized(whole_.sum_elements());
    std::vector<double> expected_parameters = sized(parameters);
    std::vector<double> expected = sized(rows_ * c_.channels);
    if (c_.accumulate) expected_parameters = added_over_ranks(before.values, parameters);
    cpu::batchnorm_backward_sums(whole_, x_.values.data(), mean_.data(), rstd_.data(), dy.data(), expected_sums.data(),
                                 expected_parameters.data(), expected_parameters.data() + c_.channels);
    cpu::batchnorm_backward(whole_, x_.values.data(), mean_.data(), rstd_.data(), gamma_.values.data(),
                            expected_sums.data(), dy.data(), expected.data());
    const double rounding = c_.mean == 0.0 ? 0.0 : 3e-4;
    expected_sums.resize(static_cast<std::size_t>(parameters));
    check_.compare("sums of dy", joined, expected_sums, std::max(rounding, kSumTolerance));
    check_.error("dgamma, dbeta",
                 relative_error(added_over_ranks(make_.download(dparameters), parameters), expected_parameters),
                 std::max(rounding, kSumTolerance));
    check_.compare("dx", dx, expected, std::max(rounding, by_type(type_, 5e-6, 6e-4, 5e-3)));
  }

  static std::vector<double> added_over_ranks(const std::vector<double>& parts, std::int64_t count) {
    std::vector<double> sum = sized(count);
    for (std::size_t i = 0; i < parts.size(); ++i)
      sum[i % static_cast<std::size_t>(count)] += parts[i];
    return sum;
  }

  NormCase c_;
  ElementType type_;
  std::int64_t rows_;
  std::int64_t stride_;
  BatchNormShape whole_;
  TensorFactory make_;
  GradientCheck check_;
  DeviceTensor x_;
  DeviceTensor gamma_;
  DeviceTensor beta_;
  DeviceTensor dy_;
  DeviceTensor statistics_;
  cuda::DeviceBuffer workspace_;
  DeviceTensor y_;
  std::vector<double> mean_;
  std::vector<double> rstd_;
};

}  // namespace

void check_batchnorm(const VerifyReport& report) {
  for (const ElementType type : kTypes) {
    for (const NormCase& c : std::initializer_list<NormCase>{
             {{1024}, 512},
             {{8}, 512},                          // pooled to one pixel
             {{5000}, 64, true, 256},             // into a slice
             {{333}, 21, true, 50},               // no whole pieces
             {{2000}, 256, false, 0, 0.0, true},  //
             {{1000}, 128, true, 0, 1000.0},      //
             {{700, 1, 299, 1000}, 128},          // ranks of unequal size
             {{700, 1, 299, 1000}, 40, true, 0, 1000.0},
         }) {
      NormCheck(report, c, type).run();
    }
  }
}

}  // namespace swinscope
