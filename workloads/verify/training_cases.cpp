// What a training step has beside the gradients of layers: the loss, stochastic depth, the optimizer.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "kernels/adamw.h"
#include "kernels/cross_entropy.h"
#include "kernels/multi_tensor_adamw.h"
#include "kernels/stochastic_depth.h"
#include "workloads/stochastic_depth.h"
#include "workloads/verify/device_tensor.h"
#include "workloads/verify/gradient_check.h"
#include "workloads/verify/kernel_cases.h"

namespace swinscope {
namespace {

constexpr auto kFloat = ElementType::kFp32;

float* floats(const DeviceTensor& tensor) { return static_cast<float*>(tensor.buffer.data()); }

template <typename Value>
class OnDevice {
 public:
  OnDevice(const Value& value, cuda::Stream stream) : stream_(stream) { set(value); }
  void set(const Value& value) { cuda::copy_to_device(buffer_.data(), &value, sizeof(Value), stream_); }
  Value get() const {
    Value value;
    cuda::copy_to_host(&value, buffer_.data(), sizeof(Value), stream_);
    return value;
  }
  Value* data() const { return static_cast<Value*>(buffer_.data()); }

 private:
  cuda::Stream stream_;
  cuda::DeviceBuffer buffer_{sizeof(Value)};
};

struct LossCase {
  std::int64_t rows;
  std::int64_t classes;
  double smoothing;
  double sigma = 3.0;
};

void check_one_loss(const VerifyReport& report, const LossCase& c, ElementType type) {
  TensorFactory make(47);
  const CrossEntropyShape shape{c.rows, c.classes, c.smoothing};
  const std::int64_t count = c.rows * c.classes;
  std::vector<double> start = make.normal(count, type, c.sigma).values;
  // The first of two equal logits counts as the prediction.
  if (c.classes > 3) start[2] = start[3] = 40.0;
  const DeviceTensor logits = make.upload(start, type);
  std::vector<std::int32_t> labels(static_cast<std::size_t>(c.rows));
  for (std::size_t row = 0; row < labels.size(); ++row) {
    const auto z = logits.values.begin() + static_cast<std::ptrdiff_t>(row) * c.classes;
    const auto best = static_cast<std::int32_t>(std::max_element(z, z + c.classes) - z);
    labels[row] =
        row % 5 == 3
            ? -1
            : (row % 2 == 0 ? best : static_cast<std::int32_t>(static_cast<std::int64_t>(row) * 7 % c.classes));
  }
  const cuda::DeviceBuffer device_labels(c.rows * 4);
  cuda::copy_to_device(device_labels.data(), labels.data(), device_labels.bytes(), make.stream());
  const auto* const label_values = static_cast<const std::int32_t*>(device_labels.data());
  const OnDevice<cuda::LossSums> sums({100.0, 10, 1}, make.stream());
  const OnDevice<float> loss_scale(1024.0F, make.stream());
  DeviceTensor row_loss = make.output(c.rows, kFloat);
  DeviceTensor lse = make.output(c.rows, kFloat);
  DeviceTensor predicted = make.output(c.rows, kFloat);
  DeviceTensor dlogits = make.output(count, type);
  const double row_scale = 1.0 / 64.0;
  GradientCheck check(report, make, fmt::format("loss {} x {}, smoothing {}", c.rows, c.classes, c.smoothing), type);
  check.run_twice({&row_loss, &lse, &predicted, &dlogits}, [&] {
    cuda::cross_entropy_forward(shape, type, logits.data(), label_values, floats(row_loss), floats(lse),
                                static_cast<std::int32_t*>(predicted.buffer.data()), sums.data(), make.stream());
    cuda::cross_entropy_backward(shape, type, logits.data(), label_values, floats(lse), row_scale, loss_scale.data(),
                                 dlogits.buffer.data(), make.stream());
  });
  std::vector<double> expected_loss(labels.size());
  std::vector<double> expected_lse(labels.size());
  std::vector<double> expected(static_cast<std::size_t>(count));
  const CrossEntropyResult result =
      cpu::cross_entropy_forward(shape, logits.values.data(), labels.data(), expected_loss.data(), expected_lse.data());
  cpu::cross_entropy_backward(shape, logits.values.data(), labels.data(), expected_lse.data(), row_scale,
                              expected.data());
  for (double& value : expected)
    value *= 1024.0;
  check.compare("loss of rows", row_loss, expected_loss, 1e-6);
  check.compare("LSE", lse, expected_lse, 1e-6);
  check.compare("dlogits", dlogits, expected, by_type(type, 2e-6, 5e-4, 4e-3));
  // It ran twice, on top of what was there.
  const cuda::LossSums total = sums.get();
  const auto counted = static_cast<double>(result.count);
  check.number("sum of losses", (total.loss - 100.0) / 2.0, counted * result.mean_loss, 1e-6);
  check.number("rows", static_cast<double>(total.count - 10), 2.0 * counted, 0.0);
  check.number("correct rows", static_cast<double>(total.correct - 1), 2.0 * static_cast<double>(result.correct), 0.0);
}

// Units in the last place of an fp32 number of the size before or after the step, the larger, at most: of a value that
// passes zero no digits are to be had.
double largest_ulps(const std::vector<double>& values, const std::vector<double>& expected,
                    const std::vector<double>& before) {
  double worst = 0.0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double size =
        std::max({std::abs(expected[i]), std::abs(before[i]), static_cast<double>(std::numeric_limits<float>::min())});
    const double ulp = std::ldexp(1.0, std::ilogb(size) - 23);
    const double error = std::abs(values[i] - expected[i]) / ulp;
    if (!(error <= worst)) worst = error;  // NaN, too
  }
  return worst;
}

// A model of three tensors, one of them without decay, with a gap.
struct OptimizerProblem {
  static constexpr std::int64_t kCount = 40000;
  std::vector<cuda::AdamWSpan> spans = {{0, 20001, 0.05}, {20008, 3, 0.0}, {20016, 19984, 0.05}};

  OptimizerProblem(ElementType gradient_type, ElementType copy_type)
      : gradients(make.normal(kCount, gradient_type, 0.3)),
        parameters(make.normal(kCount, kFloat)),
        first(make.normal(kCount, kFloat, 0.1)),
        second(make.uniform(kCount, kFloat, 0.0, 0.1)),
        copies(make.normal(kCount, copy_type)) {
    p = parameters.values;
    m = first.values;
    v = second.values;
  }

  cuda::AdamWBuffers buffers() const {
    cuda::AdamWBuffers b;
    b.gradients = gradients.data();
    b.gradient_type = gradients.type;
    b.parameters = floats(parameters);
    b.first_moment = floats(first);
    b.second_moment = floats(second);
    b.copies = copies.buffer.data();
    b.copy_type = copies.type;
    return b;
  }

  // One step of the reference on p, m and v; returns the norm.
  double reference_step(const cuda::AdamWSettings& settings, double learning_rate, double loss_scale,
                        std::int64_t step) {
    std::vector<GradientTensor<double>> views;
    std::vector<AdamWTensor<double>> tensors;
    for (const cuda::AdamWSpan& span : spans) {
      views.push_back({gradients.values.data() + span.offset, span.count});
      tensors.push_back({p.data() + span.offset, gradients.values.data() + span.offset, m.data() + span.offset,
                         v.data() + span.offset, span.count, span.weight_decay});
    }
    const double norm = cpu::gradient_norm<double>(views) / loss_scale;
    AdamWOptions options;
    options.learning_rate = learning_rate;
    options.beta1 = settings.beta1;
    options.beta2 = settings.beta2;
    options.epsilon = settings.epsilon;
    options.step = step;
    options.gradient_scale = (settings.clip_norm > 0.0 ? clip_factor(norm, settings.clip_norm) : 1.0) / loss_scale;
    cpu::adamw_step<double>(options, tensors);
    return norm;
  }

  TensorFactory make{53};
  DeviceTensor gradients, parameters, first, second, copies;
  std::vector<double> p, m, v;
};

void check_steps(const VerifyReport& report, ElementType gradient_type, ElementType copy_type, double clip_norm,
                 bool each_span = false) {
  OptimizerProblem problem(gradient_type, copy_type);
  const cuda::Stream stream = problem.make.stream();
  cuda::AdamWSettings settings;
  settings.clip_norm = clip_norm;
  settings.each_span = each_span;
  const cuda::MultiTensorAdamW optimizer(problem.spans, settings, stream);
  cuda::OptimizerState start;
  start.learning_rate = 1e-3;
  start.updates = 4;
  start.loss_scale = 512.0F;
  OnDevice<cuda::OptimizerState> state(start, stream);
  GradientCheck check(report, problem.make,
                      fmt::format("adamw{}, clipping at {}", each_span ? " of each tensor" : "", clip_norm),
                      gradient_type);
  optimizer.step(problem.buffers(), state.data(), stream);
  const double norm = problem.reference_step(settings, 1e-3, 512.0, 5);
  check.number("norm", state.get().gradient_norm, norm, 1e-12);
  const std::vector<double> after = problem.make.download(problem.parameters);
  check.number("parameters, ulps", largest_ulps(after, problem.p, problem.parameters.values), 0.0, 2.0);
  check.number("first moments, ulps",
               largest_ulps(problem.make.download(problem.first), problem.m, problem.first.values), 0.0, 2.0);
  check.number("second moments, ulps",
               largest_ulps(problem.make.download(problem.second), problem.v, problem.second.values), 0.0, 2.0);
  std::vector<double> rounded = problem.copies.values;  // the gaps keep theirs
  const std::vector<double> copies = problem.make.upload(after, copy_type).values;
  for (const cuda::AdamWSpan& span : problem.spans)
    std::copy_n(copies.begin() + span.offset, span.count, rounded.begin() + span.offset);
  check.compare("copies", problem.copies, rounded, 0.0);
  for (int step = 6; step <= 105; ++step) {
    cuda::OptimizerState now = state.get();
    now.learning_rate = 1e-3 * (110 - step) / 100.0;
    state.set(now);
    optimizer.step(problem.buffers(), state.data(), stream);
    problem.reference_step(settings, now.learning_rate, 512.0, step);
  }
  check.compare("parameters after 100 more", problem.parameters, problem.p, 1e-6);
  check.number("updates", static_cast<double>(state.get().updates), 105.0, 0.0);
}

// Infinite and NaN gradients change nothing but the scale, which grows again.
void check_skipping(const VerifyReport& report, double bad) {
  OptimizerProblem problem(ElementType::kFp16, ElementType::kFp16);
  const cuda::Stream stream = problem.make.stream();
  cuda::AdamWSettings settings;
  settings.growth_interval = 3;
  settings.clip_norm = 5.0;
  const cuda::MultiTensorAdamW optimizer(problem.spans, settings, stream);
  cuda::OptimizerState start;
  start.loss_scale = 65536.0F;
  start.good_steps = 2;
  const OnDevice<cuda::OptimizerState> state(start, stream);
  GradientCheck check(report, problem.make, fmt::format("adamw, a gradient is {}", bad), ElementType::kFp16);
  std::vector<double> broken = problem.gradients.values;
  broken[20010] = bad;
  problem.make.write(problem.gradients, broken);
  optimizer.step(problem.buffers(), state.data(), stream);
  check.compare("parameters", problem.parameters, problem.p, 0.0);
  check.compare("first moments", problem.first, problem.m, 0.0);
  check.compare("second moments", problem.second, problem.v, 0.0);
  check.compare("copies", problem.copies, problem.copies.values, 0.0);
  cuda::OptimizerState now = state.get();
  check.number("scale, halved", now.loss_scale, 32768.0, 0.0);
  check.number("skipped", static_cast<double>(now.skipped), 1.0, 0.0);
  check.number("updates", static_cast<double>(now.updates), 0.0, 0.0);
  check.number("norm is finite", std::isfinite(now.gradient_norm) ? 1.0 : 0.0, 0.0, 0.0);
  problem.make.write(problem.gradients, problem.gradients.values);
  for (int i = 0; i < 3; ++i)
    optimizer.step(problem.buffers(), state.data(), stream);
  now = state.get();
  check.number("scale after three good steps", now.loss_scale, 65536.0, 0.0);
  check.number("updates after three good steps", static_cast<double>(now.updates), 3.0, 0.0);
}

}  // namespace

void check_loss(const VerifyReport& report) {
  for (const ElementType type : {ElementType::kFp32, ElementType::kFp16, ElementType::kBf16}) {
    for (const LossCase& c : {LossCase{64, 1000, 0.1}, LossCase{7, 1000, 0.0}, LossCase{33, 10, 0.1},
                              LossCase{5, 1, 0.1}, LossCase{9, 21841, 0.1}, LossCase{16, 257, 0.1, 20.0}}) {
      check_one_loss(report, c, type);
    }
  }
}

void check_stochastic_depth(const VerifyReport& report) {
  TensorFactory make(59);
  constexpr int kBlocks = 24;
  for (const std::int64_t step : {std::int64_t{0}, std::int64_t{9}, std::int64_t{10}, std::int64_t{123456789012}}) {
    constexpr std::int64_t kBatch = 37;
    constexpr std::int64_t kFirst = 4000;
    const cuda::StochasticDepthShape shape{0.3, kBlocks, kBatch, 77};
    const OnDevice<cuda::SamplePlace> place({step, kFirst}, make.stream());
    DeviceTensor scales = make.output(2 * kBlocks * kBatch, kFloat);
    GradientCheck check(report, make, fmt::format("stochastic depth, step {}", step), kFloat);
    check.run_twice({&scales},
                    [&] { cuda::stochastic_depth_scales(shape, place.data(), floats(scales), make.stream()); });
    StochasticDepth<float> reference(shape.rate, kBlocks, kBatch, shape.seed);
    reference.draw(step, kFirst);
    std::vector<double> expected;
    for (int branch = 0; branch < 2 * kBlocks; ++branch) {
      const float* const scale = reference.scale(branch / 2, branch % 2);
      for (std::int64_t i = 0; i < kBatch; ++i)
        expected.push_back(scale == nullptr ? 1.0 : scale[i]);
    }
    check.compare("scales", scales, expected, 0.0);
  }
}

void check_optimizer(const VerifyReport& report) {
  check_steps(report, ElementType::kFp32, ElementType::kBf16, 0.0);
  check_steps(report, ElementType::kFp32, ElementType::kFp16, 0.01);
  check_steps(report, ElementType::kFp32, ElementType::kFp16, 0.01, true);
  check_steps(report, ElementType::kFp16, ElementType::kFp16, 5.0);
  check_steps(report, ElementType::kBf16, ElementType::kBf16, 0.0);
  check_skipping(report, std::numeric_limits<double>::infinity());
  check_skipping(report, std::nan(""));
}

}  // namespace swinscope
