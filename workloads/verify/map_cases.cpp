// What else a head does with maps, against the CPU's in fp64: averages over a grid, ReLU, and the fusion of taps.
#include <initializer_list>

#include <fmt/format.h>

#include "kernels/adaptive_pool.h"
#include "kernels/relu.h"
#include "kernels/tap_fusion.h"
#include "workloads/verify/device_tensor.h"
#include "workloads/verify/gradient_check.h"
#include "workloads/verify/kernel_cases.h"

namespace swinscope {
namespace {

constexpr std::initializer_list<ElementType> kTypes = {ElementType::kFp32, ElementType::kFp16, ElementType::kBf16};
constexpr auto kFloat = ElementType::kFp32;
constexpr double kExact = 0.0;  // of what only copies
constexpr std::int64_t kTaps = 9;

std::vector<double> sized(std::int64_t count) { return std::vector<double>(static_cast<std::size_t>(count)); }

void check_grid(const VerifyReport& report, const AdaptivePoolShape& s, ElementType type) {
  TensorFactory make(static_cast<std::uint32_t>(s.channels + s.side));
  const DeviceTensor x = make.normal(s.pixels() * s.channels, type);
  const DeviceTensor dy = make.normal(s.bins() * s.channels, type);
  const DeviceTensor before = make.normal(s.pixels() * s.channels, type);
  DeviceTensor y = make.output(s.bins() * s.channels, type);
  DeviceTensor dx = make.output(s.pixels() * s.channels, type);
  GradientCheck check(
      report, make, fmt::format("grid of {} over {} x {} x {} channels", s.side, s.height, s.width, s.channels), type);
  check.run_twice({&y}, [&] { cuda::adaptive_pool_forward(s, type, x.data(), y.buffer.data(), make.stream()); });
  std::vector<double> expected = sized(s.bins() * s.channels);
  cpu::adaptive_pool_forward(s, x.values.data(), expected.data());
  check.compare("y", y, expected, by_type(type, 1e-6, 4e-4, 3e-3));
  for (const bool accumulate : {false, true}) {
    check.run_twice({&dx}, [&] {
      if (accumulate) make.write(dx, before.values);
      cuda::adaptive_pool_backward(s, type, dy.data(), accumulate, dx.buffer.data(), make.stream());
    });
    std::vector<double> gradient = before.values;
    cpu::adaptive_pool_backward(s, dy.values.data(), accumulate, gradient.data());
    check.compare(accumulate ? "dx, accumulate" : "dx", dx, gradient, by_type(type, 1e-6, 4e-4, 3e-3));
  }
}

void check_relu(const VerifyReport& report, std::int64_t count, ElementType type) {
  TensorFactory make(static_cast<std::uint32_t>(count));
  const DeviceTensor x = make.normal(count, type);
  const DeviceTensor dy = make.normal(count, type);
  DeviceTensor y = make.output(count, type);
  DeviceTensor dx = make.output(count, type);
  std::vector<double> expected = sized(count);
  cuda::relu_forward(count, type, x.data(), y.buffer.data(), make.stream());
  cpu::relu_forward(count, x.values.data(), expected.data());
  report({fmt::format("relu of {}", count), type_name(type), relative_error(make.download(y), expected), kExact});
  cuda::relu_backward(count, type, y.data(), dy.data(), dx.buffer.data(), make.stream());
  cpu::relu_backward(count, expected.data(), dy.values.data(), expected.data());
  report({fmt::format("relu backward of {}", count), type_name(type), relative_error(make.download(dx), expected),
          kExact});
}

// A weight that is 1 where the input is (tap, output) makes the input of the operation its taps, and dx their gradient.
std::vector<double> identity_weight(std::int64_t outputs) {
  std::vector<double> weight = sized(outputs * kTaps * kTaps * outputs);
  for (std::int64_t o = 0; o < outputs; ++o) {
    for (std::int64_t tap = 0; tap < kTaps; ++tap)
      weight[static_cast<std::size_t>((o * kTaps + tap) * kTaps * outputs + tap * outputs + o)] = 1.0;
  }
  return weight;
}

void check_gathers(const VerifyReport& report, TapFusionShape s, ElementType type) {
  s.inputs = kTaps * s.outputs;
  TensorFactory make(static_cast<std::uint32_t>(s.outputs + s.out_width));
  const DeviceTensor taps = make.normal(s.tap_elements(), type);
  const DeviceTensor before = make.normal(s.out_pixels() * s.outputs, type);
  const DeviceTensor dy = make.normal(s.out_pixels() * s.outputs, type);
  DeviceTensor y = make.output(s.out_pixels() * s.outputs, type);
  DeviceTensor dtaps = make.output(s.tap_elements(), type);
  const std::vector<double> weight = identity_weight(s.outputs);
  std::vector<double> unused = sized(s.tap_elements());
  GradientCheck check(
      report, make,
      fmt::format("taps of {} x {} to {} x {}, {} channels", s.height, s.width, s.out_height, s.out_width, s.outputs),
      type);
  check.run_twice({&y}, [&] {
    make.write(y, before.values);
    cuda::tap_fusion_gather(s, type, taps.data(), y.buffer.data(), make.stream());
  });
  std::vector<double> expected = before.values;
  cpu::tap_fusion_forward(s, taps.values.data(), weight.data(), unused.data(), expected.data());
  check.compare("y", y, expected, by_type(type, 2e-6, 6e-4, 5e-3));
  check.run_twice({&dtaps},
                  [&] { cuda::tap_fusion_gather_backward(s, type, dy.data(), dtaps.buffer.data(), make.stream()); });
  std::vector<double> gradient = sized(s.tap_elements());
  std::vector<double> unused_weight = sized(static_cast<std::int64_t>(weight.size()));
  cpu::tap_fusion_backward(s, taps.values.data(), weight.data(), dy.values.data(), unused.data(), gradient.data(),
                           unused_weight.data());
  check.compare("dtaps", dtaps, gradient, by_type(type, 2e-6, 6e-4, 5e-3));
}

void check_packing(const VerifyReport& report, const TapFusionShape& s, ElementType type) {
  const std::int64_t first = s.weight_stride() - s.inputs;  // the slice is the weight's last
  const std::int64_t count = kTaps * s.outputs * s.inputs;
  TensorFactory make(static_cast<std::uint32_t>(s.inputs));
  const DeviceTensor weight = make.normal(s.outputs * kTaps * s.weight_stride(), type);
  const DeviceTensor dpacked = make.normal(count, kFloat);
  DeviceTensor packed = make.output(count, type);
  DeviceTensor dweight = make.output(s.outputs * kTaps * s.weight_stride(), kFloat);
  const DeviceTensor before = make.normal(s.outputs * kTaps * s.weight_stride(), kFloat);
  cuda::tap_fusion_pack(s, type, static_cast<const char*>(weight.data()) + first * element_bytes(type),
                        packed.buffer.data(), make.stream());
  std::vector<double> expected = sized(count);
  std::vector<double> expected_gradient = before.values;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t tap = i / s.inputs / s.outputs;
    const std::int64_t output = i / s.inputs % s.outputs;
    const auto from = static_cast<std::size_t>((output * kTaps + tap) * s.weight_stride() + first + i % s.inputs);
    expected[static_cast<std::size_t>(i)] = weight.values[from];
    expected_gradient[from] += dpacked.values[static_cast<std::size_t>(i)];
  }
  GradientCheck check(report, make,
                      fmt::format("tap weights {} x 9 x {} of {}", s.outputs, s.inputs, s.weight_stride()), type);
  check.compare("packed", packed, expected, kExact);
  check.run_twice({&dweight}, [&] {
    make.write(dweight, before.values);
    cuda::tap_fusion_unpack(s, static_cast<const float*>(dpacked.data()), true,
                            static_cast<float*>(dweight.buffer.data()) + first, make.stream());
  });
  check.compare("their gradient", dweight, expected_gradient, 1e-6);
}

}  // namespace

void check_map_operations(const VerifyReport& report) {
  for (const ElementType type : kTypes) {
    for (const std::int64_t side : {1, 2, 3, 6})
      check_grid(report, {2, 16, 16, 512, side}, type);
    check_grid(report, {3, 7, 10, 21, 4}, type);  // bins that share pixels, no whole pieces
    check_grid(report, {1, 2, 3, 16, 6}, type);   // a grid finer than the map
    check_relu(report, 4096, type);
    check_relu(report, 1003, type);
  }
}

void check_tap_fusion(const VerifyReport& report) {
  const auto shape = [](std::int64_t height, std::int64_t width, std::int64_t out_height, std::int64_t out_width,
                        std::int64_t outputs) {
    TapFusionShape s;
    s.batch = 2;
    s.height = height;
    s.width = width;
    s.out_height = out_height;
    s.out_width = out_width;
    s.inputs = outputs;
    s.outputs = outputs;
    return s;
  };
  for (const ElementType type : kTypes) {
    check_gathers(report, shape(8, 8, 16, 16, 16), type);
    check_gathers(report, shape(6, 5, 24, 20, 8), type);
    check_gathers(report, shape(3, 2, 24, 16, 12), type);
    check_gathers(report, shape(1, 1, 6, 5, 8), type);
    check_gathers(report, shape(5, 7, 13, 17, 5), type);
    check_gathers(report, shape(4, 4, 4, 4, 8), type);       // no resize: the convolution itself
    check_gathers(report, shape(18, 35, 40, 70, 72), type);  // several blocks each way, of channels too
    check_gathers(report, shape(2, 3, 19, 150, 5), type);    // more of a row than is in shared memory at once
    check_gathers(report, shape(36, 33, 36, 33, 4), type);   // as large as a block, and one more
    TapFusionShape slice = shape(1, 1, 1, 1, 24);
    slice.inputs = 16;
    slice.weight_inputs = 48;
    check_packing(report, slice, type);
    slice.inputs = 5;
    slice.weight_inputs = 11;
    check_packing(report, slice, type);
  }
}

}  // namespace swinscope
