// Gradients of weights from operands of 8 bits (kernels/byte_weight_gradient.h): against sums in fp64 of the same
// numbers, at the edges of tiles and of steps, added to what was there, and the same bits twice.
#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "kernels/byte_weight_gradient.h"
#include "kernels/check.h"
#include "kernels/gemm.h"
#include "workloads/verify/device_tensor.h"
#include "workloads/verify/kernel_cases.h"

namespace swinscope {
namespace {

constexpr std::int64_t kGuard = 64;
// Sums of products of 8 bits are kept to some 13 bits by the tensor cores, which cut off what is below: a sum of
// thousands loses that each time.
constexpr double kTolerance = 2e-3;

// In 8 bits with a scale on the device, and what those stand for.
class Operand {
 public:
  Operand(TensorFactory& make, std::int64_t count, float scale, double sigma)
      : values(static_cast<std::size_t>(count)), bytes_(count), scale_(sizeof(DelayedScale)) {
    std::vector<std::uint8_t> bits(values.size());
    const std::vector<double> drawn = make.normal(count, ElementType::kFp32, sigma).values;
    for (std::size_t i = 0; i < bits.size(); ++i) {
      bits[i] = to_byte(ByteFormat::kE4m3, static_cast<float>(drawn[i]) / scale);
      values[i] = static_cast<double>(scale) * static_cast<double>(from_byte(ByteFormat::kE4m3, bits[i]));
    }
    DelayedScale delayed;
    delayed.scale = scale;
    cuda::copy_to_device(bytes_.data(), bits.data(), count, make.stream());
    cuda::copy_to_device(scale_.data(), &delayed, sizeof(delayed), make.stream());
    cuda::synchronize(make.stream());
  }
  const void* bytes() const { return bytes_.data(); }
  const DelayedScale* scale() const { return static_cast<const DelayedScale*>(scale_.data()); }

  std::vector<double> values;

 private:
  cuda::DeviceBuffer bytes_, scale_;
};

void check_shape(const VerifyReport& report, cuda::ByteWeightGradientShape shape) {
  TensorFactory make(static_cast<std::uint32_t>(shape.rows + shape.outputs));
  const Operand dy(make, shape.rows * shape.outputs, 0x1p-9F, 0.05), x(make, shape.rows * shape.inputs, 0.125F, 3.0);
  const std::int64_t count = shape.outputs * shape.inputs;
  const std::vector<double> before = make.normal(count, ElementType::kFp32).values;
  const cuda::DeviceBuffer workspace(cuda::byte_weight_gradient_workspace_bytes(shape));
  DeviceTensor dweight = make.output(count + kGuard, ElementType::kFp32);
  std::vector<double> expected(static_cast<std::size_t>(count));
  cpu::gemm<double>({shape.outputs, shape.inputs, shape.rows, Transpose::kYes}, 1.0, dy.values.data(), x.values.data(),
                    0.0, expected.data());
  for (const bool accumulate : {false, true}) {
    shape.accumulate = accumulate;
    const cuda::ByteWeightGradient product(shape, {dy.bytes(), x.bytes(), dy.scale(), x.scale(),
                                                   static_cast<float*>(dweight.buffer.data()), workspace.data()});
    std::vector<unsigned char> first;
    double others = 0.0;
    for (int turn = 0; turn < 3; ++turn) {
      std::vector<double> start(static_cast<std::size_t>(count + kGuard), std::nan(""));
      if (accumulate) std::copy(before.begin(), before.end(), start.begin());
      make.write(dweight, start);
      cuda::poison(workspace.data(), workspace.bytes(), make.stream());
      product.run(make.stream());
      if (turn == 0) first = make.bytes(dweight);
      if (make.bytes(dweight) != first) ++others;
    }
    std::vector<double> sums = expected;
    for (std::size_t i = 0; accumulate && i < sums.size(); ++i)
      sums[i] += before[i];
    const std::string place = fmt::format("weight gradient of 8 bits {} x {} of {}{}", shape.outputs, shape.inputs,
                                          shape.rows, accumulate ? ", added" : "");
    report({place, "fp8", guarded_error(make.download(dweight), sums), kTolerance});
    report({place + ": others in another turn", "fp8", others, 0.0});
  }
}

}  // namespace

void check_byte_weight_gradients(const VerifyReport& report) {
  if (cuda::device_info().major != 9) return;
  for (const cuda::ByteWeightGradientShape& shape : std::vector<cuda::ByteWeightGradientShape>{{128, 256, 128},
                                                                                               {1, 16, 16},
                                                                                               {300, 192, 48},
                                                                                               {1000, 400, 272},
                                                                                               {3136, 1536, 384},
                                                                                               {12544, 768, 768},
                                                                                               {6272, 3072, 768}})
    check_shape(report, shape);
  cuda::ByteWeightGradientShape beside{2500, 768, 384};
  beside.spare_multiprocessors = 24;
  check_shape(report, beside);
}

}  // namespace swinscope
