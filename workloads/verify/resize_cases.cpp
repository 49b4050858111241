// Bilinear resizing, and what is fused with it, against the CPU's in fp64.
#include <initializer_list>
#include <string>

#include <fmt/format.h>

#include "kernels/upsample.h"
#include "workloads/verify/device_tensor.h"
#include "workloads/verify/gradient_check.h"
#include "workloads/verify/kernel_cases.h"

namespace swinscope {
namespace {

constexpr std::initializer_list<ElementType> kTypes = {ElementType::kFp32, ElementType::kFp16, ElementType::kBf16};

std::vector<double> sized(std::int64_t count) { return std::vector<double>(static_cast<std::size_t>(count)); }

struct ResizeCase {
  UpsampleShape shape;
  std::int64_t stride = 0;  // of the large map; 0: its channels
  bool adds = false;
};

// The slice of a map [pixels, stride] that begins at channel `first`, and back.
std::vector<double> slice_of(const std::vector<double>& map, std::int64_t stride, std::int64_t first,
                             std::int64_t channels) {
  const std::int64_t pixels = static_cast<std::int64_t>(map.size()) / stride;
  std::vector<double> slice = sized(pixels * channels);
  for (std::int64_t i = 0; i < pixels * channels; ++i) {
    slice[static_cast<std::size_t>(i)] = map[static_cast<std::size_t>(i / channels * stride + first + i % channels)];
  }
  return slice;
}

void put_slice(const std::vector<double>& slice, std::int64_t stride, std::int64_t first, std::int64_t channels,
               std::vector<double>& map) {
  for (std::size_t i = 0; i < slice.size(); ++i) {
    const auto at = static_cast<std::int64_t>(i);
    map[static_cast<std::size_t>(at / channels * stride + first + at % channels)] = slice[i];
  }
}

std::string describe(const ResizeCase& c) {
  const UpsampleShape& s = c.shape;
  return fmt::format("{} x {} to {} x {}, {} channels{}{}", s.height, s.width, s.out_height, s.out_width, s.channels,
                     c.stride == 0 ? "" : fmt::format(" of {}", c.stride), c.adds ? ", added" : "");
}

void check_forward(const VerifyReport& report, const ResizeCase& c, ElementType type) {
  const UpsampleShape& s = c.shape;
  const std::int64_t stride = c.stride == 0 ? s.channels : c.stride;
  const std::int64_t first = stride - s.channels;  // the slice is the map's last
  TensorFactory make(static_cast<std::uint32_t>(s.channels + s.out_width));
  const DeviceTensor x = make.normal(s.pixels() * s.channels, type);
  const DeviceTensor before = make.normal(s.out_pixels() * stride, type);
  DeviceTensor y = make.output(s.out_pixels() * stride, type);
  cuda::UpsampleTensors tensors;
  tensors.x = x.data();
  tensors.y = static_cast<char*>(y.buffer.data()) + first * element_bytes(type);
  if (c.adds) tensors.addend = tensors.y;
  tensors.y_stride = c.stride;
  GradientCheck check(report, make, "resize " + describe(c), type);
  check.run_twice({&y}, [&] {
    // A slice's neighbours must keep what they have; else everything is NaN that is not written.
    if (c.adds || c.stride != 0) make.write(y, before.values);
    cuda::upsample_forward(s, type, tensors, make.stream());
  });
  std::vector<double> slice = slice_of(before.values, stride, first, s.channels);
  cpu::upsample_forward(s, x.values.data(), c.adds, slice.data());
  std::vector<double> expected = before.values;
  put_slice(slice, stride, first, s.channels, expected);
  check.compare("y", y, expected, by_type(type, 1e-6, 4e-4, 3e-3));
}

void check_backward(const VerifyReport& report, const ResizeCase& c, ElementType type) {
  const UpsampleShape& s = c.shape;
  const std::int64_t stride = c.stride == 0 ? s.channels : c.stride;
  const std::int64_t first = stride - s.channels;
  TensorFactory make(static_cast<std::uint32_t>(s.channels + s.width));
  const DeviceTensor dy = make.normal(s.out_pixels() * stride, type);
  const DeviceTensor before = make.normal(s.pixels() * s.channels, type);
  DeviceTensor dx = make.output(s.pixels() * s.channels, type);
  const cuda::DeviceBuffer workspace(cuda::upsample_backward_plain_workspace_bytes(s));
  cuda::UpsampleGradientTensors tensors;
  tensors.dy = static_cast<const char*>(dy.data()) + first * element_bytes(type);
  tensors.dy_stride = c.stride;
  tensors.dx = dx.buffer.data();
  tensors.accumulate = c.adds;
  tensors.workspace = workspace.data();
  const std::vector<double> slice = slice_of(dy.values, stride, first, s.channels);
  std::vector<double> expected = before.values;
  cpu::upsample_backward(s, slice.data(), c.adds, expected.data());
  const double tolerance = by_type(type, 2e-6, 4e-4, 3e-3);

  GradientCheck check(report, make, "resize backward " + describe(c), type);
  check.run_twice({&dx}, [&] {
    if (c.adds) make.write(dx, before.values);
    cuda::upsample_backward(s, type, tensors, make.stream());
  });
  check.compare("dx", dx, expected, tolerance);

  GradientCheck plain(report, make, "resize backward, plain, " + describe(c), type);
  dx.buffer.poison(make.stream());
  if (c.adds) make.write(dx, before.values);
  cuda::upsample_backward_plain(s, type, tensors, make.stream());
  plain.compare("dx", dx, expected, tolerance);
}

// <U x, y> = <x, U^T y>, both sides by the device.
void check_adjoint(const VerifyReport& report, const UpsampleShape& s) {
  constexpr auto kFloat = ElementType::kFp32;
  TensorFactory make(41);
  const DeviceTensor x = make.uniform(s.pixels() * s.channels, kFloat, 0.5, 1.5);
  const DeviceTensor y = make.uniform(s.out_pixels() * s.channels, kFloat, 0.5, 1.5);
  DeviceTensor up = make.output(s.out_pixels() * s.channels, kFloat);
  DeviceTensor down = make.output(s.pixels() * s.channels, kFloat);
  cuda::upsample_forward(s, kFloat, {x.data(), nullptr, up.buffer.data()}, make.stream());
  cuda::upsample_backward(s, kFloat, {y.data(), 0, down.buffer.data()}, make.stream());
  const auto product = [](const std::vector<double>& a, const std::vector<double>& b) {
    double sum = 0.0;
    for (std::size_t i = 0; i < a.size(); ++i)
      sum += a[i] * b[i];
    return sum;
  };
  GradientCheck check(report, make, "resize " + describe({s}), kFloat);
  check.number("<U x, y> = <x, U^T y>", product(make.download(up), y.values), product(x.values, make.download(down)),
               1e-6);
}

}  // namespace

void check_resize(const VerifyReport& report) {
  for (const ElementType type : kTypes) {
    for (const ResizeCase& c : std::initializer_list<ResizeCase>{
             {{2, 8, 8, 16, 16, 64}},
             {{2, 8, 6, 32, 24, 40}, 168},
             {{1, 4, 5, 32, 40, 64}, 0, true},
             {{1, 4, 3, 64, 48, 16}, 32, true},
             {{3, 1, 1, 16, 16, 32}},
             {{2, 2, 2, 16, 16, 32}, 96},
             {{2, 3, 3, 16, 16, 32}},
             {{2, 6, 6, 16, 16, 32}, 0, true},
             {{1, 9, 7, 23, 31, 21}},      // no whole pieces, no whole factor
             {{1, 9, 7, 23, 31, 21}, 50},  // nor in a slice
             {{2, 6, 5, 4, 2, 24}},        // smaller: inputs that nobody reads
             {{1, 5, 5, 5, 5, 8}},
             {{2, 64, 40, 128, 80, 32}},  // several rows a thread
         }) {
      check_forward(report, c, type);
      check_backward(report, c, type);
    }
  }
  for (const std::int64_t scale : {2, 4, 8, 16})
    check_adjoint(report, {2, 8, 6, 8 * scale, 6 * scale, 32});
  for (const std::int64_t side : {1, 2, 3, 6})
    check_adjoint(report, {2, side, side, 16, 16, 32});
}

}  // namespace swinscope
