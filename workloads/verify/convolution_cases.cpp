// Convolutions in all directions against the CPU's in fp64.
#include <initializer_list>

#include <fmt/format.h>

#include "kernels/convolution.h"
#include "kernels/matmul.h"
#include "workloads/verify/device_tensor.h"
#include "workloads/verify/gradient_check.h"
#include "workloads/verify/kernel_cases.h"

namespace swinscope {
namespace {

using cuda::ConvolutionPass;

std::vector<double> sized(std::int64_t count) { return std::vector<double>(static_cast<std::size_t>(count)); }

struct Arithmetic {
  ElementType type;
  bool tf32 = false;
};

class ConvolutionCheck {
 public:
  ConvolutionCheck(const VerifyReport& report, cuda::ConvolutionLibrary& library, const ConvolutionShape& shape,
                   Arithmetic arithmetic)
      : library_(library),
        s_(shape),
        arithmetic_(arithmetic),
        make_(static_cast<std::uint32_t>(s_.inputs + s_.outputs + s_.height)),
        check_(report, make_,
               fmt::format("convolution {0} x {0}, {1} to {2} channels, {3} maps of {4} x {5}", s_.kernel, s_.inputs,
                           s_.outputs, s_.batch, s_.height, s_.width),
               arithmetic.type, arithmetic.tf32 ? "tf32" : ""),
        x_(make_.normal(s_.pixels() * s_.inputs, arithmetic.type)),
        weight_(make_.normal(s_.outputs * s_.taps() * s_.inputs, arithmetic.type, 0.05)),
        dy_(make_.normal(s_.pixels() * s_.outputs, arithmetic.type)) {}

  void run() {
    std::vector<double> y = sized(s_.pixels() * s_.outputs);
    cpu::convolution_forward(s_, x_.values.data(), weight_.values.data(), false, y.data());
    check(ConvolutionPass::kForward, "y", x_, weight_, y, arithmetic_.type);

    std::vector<double> dx = sized(s_.pixels() * s_.inputs);
    cpu::convolution_backward_input(s_, weight_.values.data(), dy_.values.data(), dx.data());
    check(ConvolutionPass::kInputGradient, "dx", dy_, weight_, dx, arithmetic_.type);

    std::vector<double> dweight = sized(s_.outputs * s_.taps() * s_.inputs);
    cpu::convolution_backward_weight(s_, x_.values.data(), dy_.values.data(), dweight.data());
    check(ConvolutionPass::kWeightGradient, "dweight in fp32", x_, dy_, dweight, ElementType::kFp32);
    if (arithmetic_.type != ElementType::kFp32)
      check(ConvolutionPass::kWeightGradient, "dweight", x_, dy_, dweight, arithmetic_.type);
  }

 private:
  void check(ConvolutionPass pass, const char* name, const DeviceTensor& first, const DeviceTensor& second,
             const std::vector<double>& expected, ElementType result_type) {
    DeviceTensor result = make_.output(static_cast<std::int64_t>(expected.size()), result_type);
    // What the sums lose, and what rounding the result does; TF32 rounds the operands to 10 bits.
    const double tolerance = arithmetic_.tf32 ? 1e-3 : by_type(result_type, 5e-6, 6e-4, 5e-3);
    try {
      const cuda::Convolution& convolution =
          library_.prepare({s_, pass, arithmetic_.type, result_type, arithmetic_.tf32}, make_.stream());
      check_.run_twice({&result},
                       [&] { convolution.run(first.data(), second.data(), result.buffer.data(), make_.stream()); });
      check_.compare(name, result, expected, tolerance);
    } catch (const cuda::Error& error) {
      check_.error(fmt::format("{}: {}", name, error.what()), 1.0, 0.0);
    }
  }

  cuda::ConvolutionLibrary& library_;
  ConvolutionShape s_;
  Arithmetic arithmetic_;
  TensorFactory make_;
  GradientCheck check_;
  DeviceTensor x_;
  DeviceTensor weight_;
  DeviceTensor dy_;
};

ConvolutionShape shape_of(std::int64_t batch, std::int64_t height, std::int64_t width, std::int64_t inputs,
                          std::int64_t outputs, std::int64_t kernel) {
  ConvolutionShape s;
  s.batch = batch;
  s.height = height;
  s.width = width;
  s.inputs = inputs;
  s.outputs = outputs;
  s.kernel = kernel;
  return s;
}

}  // namespace

// Without cuDNN the rows of 3x3 convolutions fail and say so.
void check_convolution(const VerifyReport& report) {
  cuda::MatmulLibrary products({});
  cuda::ConvolutionLibrary library(products, {});
  for (const Arithmetic arithmetic : std::initializer_list<Arithmetic>{
           {ElementType::kFp32}, {ElementType::kFp32, true}, {ElementType::kFp16}, {ElementType::kBf16}}) {
    for (const ConvolutionShape& shape : {
             shape_of(2, 6, 6, 64, 32, 1),
             shape_of(2, 16, 16, 64, 32, 3),
             shape_of(3, 7, 10, 32, 64, 3),
         }) {
      ConvolutionCheck(report, library, shape, arithmetic).run();
    }
  }
}

}  // namespace swinscope
