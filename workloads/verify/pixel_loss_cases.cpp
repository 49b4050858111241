// Cross-entropy of resized logits, its gradient and the classes, against the CPU's in fp64.
#include <algorithm>
#include <cmath>
#include <initializer_list>

#include <fmt/format.h>

#include "kernels/upsample_loss.h"
#include "workloads/verify/device_tensor.h"
#include "workloads/verify/gradient_check.h"
#include "workloads/verify/kernel_cases.h"

namespace swinscope {
namespace {

constexpr std::initializer_list<ElementType> kTypes = {ElementType::kFp32, ElementType::kFp16, ElementType::kBf16};
constexpr auto kFloat = ElementType::kFp32;

std::vector<double> sized(std::int64_t count) { return std::vector<double>(static_cast<std::size_t>(count)); }

enum class Labels { kMixed, kAllIgnored };

struct LossCase {
  UpsampleShape shape;
  double sigma = 2.0;
  Labels labels = Labels::kMixed;
  bool equal = false;  // all logits of a pixel: the first class is the largest
};

class LossCheck {
 public:
  LossCheck(const VerifyReport& report, const LossCase& wanted, ElementType type)
      : c_(wanted),
        s_(wanted.shape),
        type_(type),
        make_(static_cast<std::uint32_t>(s_.channels + s_.out_width)),
        check_(report, make_, describe(), type),
        logits_(c_.equal ? make_.uniform(s_.pixels() * s_.channels, type, 1.0, 1.0)
                         : make_.normal(s_.pixels() * s_.channels, type, c_.sigma)),
        device_labels_(s_.out_pixels()),
        lse_(make_.output(s_.out_pixels(), kFloat)),
        workspace_(cuda::upsample_loss_workspace_bytes(s_)) {
    labels_.resize(static_cast<std::size_t>(s_.out_pixels()));
    for (std::size_t i = 0; i < labels_.size(); ++i) {
      const bool ignored = c_.labels == Labels::kAllIgnored || i * 2654435761U % 97 < 20;
      labels_[i] =
          ignored ? kIgnoredLabel : static_cast<std::uint8_t>(i * 40503U / 7 % static_cast<std::size_t>(s_.channels));
    }
    cuda::copy_to_device(device_labels_.data(), labels_.data(), s_.out_pixels(), make_.stream());
    tensors_.logits = logits_.data();
    tensors_.labels = static_cast<const std::uint8_t*>(device_labels_.data());
    tensors_.lse = static_cast<float*>(lse_.buffer.data());
    tensors_.workspace = workspace_.data();
  }

  void run() {
    forward();
    backward();
    argmax();
  }

 private:
  std::string describe() const {
    return fmt::format("pixel loss {} x {} to {} x {}, {} classes{}{}{}", s_.height, s_.width, s_.out_height,
                       s_.out_width, s_.channels, c_.sigma > 10.0 ? ", large logits" : "",
                       c_.labels == Labels::kAllIgnored ? ", all ignored" : "", c_.equal ? ", equal logits" : "");
  }

  void forward() {
    std::vector<PixelLoss> rows(static_cast<std::size_t>(s_.batch * s_.out_height));
    expected_lse_ = sized(s_.out_pixels());
    expected_ =
        cpu::upsample_loss_forward(s_, logits_.values.data(), labels_.data(), expected_lse_.data(), rows.data());
    const cuda::LossSums before{1.0, 2, 3};
    cuda::LossSums sums;
    DeviceTensor kept{kFloat, cuda::DeviceBuffer(sizeof(cuda::LossSums)), {}};
    tensors_.sums = static_cast<cuda::LossSums*>(kept.buffer.data());
    check_.run_twice({&lse_, &kept}, [&] {
      cuda::copy_to_device(tensors_.sums, &before, sizeof before, make_.stream());
      cuda::upsample_loss_forward(s_, type_, tensors_, make_.stream());
    });
    cuda::copy_to_host(&sums, tensors_.sums, sizeof sums, make_.stream());
    check_.compare("lse", lse_, expected_lse_, 1e-6);
    check_.number("loss", sums.loss - before.loss, expected_.sum, 1e-6);
    check_.number("pixels", static_cast<double>(sums.count - before.count), static_cast<double>(expected_.count), 0.0);
    // In fp64 two classes may be apart that are equal in fp32.
    const double few = c_.equal ? 0.0 : 1e-4 * static_cast<double>(s_.out_pixels());
    check_.error("right pixels", std::abs(static_cast<double>(sums.correct - before.correct - expected_.correct)), few);
  }

  void backward() {
    constexpr double kScale = 0.4;
    const DeviceTensor loss_scale = make_.upload({0.25}, kFloat);
    DeviceTensor dlogits = make_.output(s_.pixels() * s_.channels, type_);
    check_.run_twice({&dlogits}, [&] {
      cuda::upsample_loss_backward(s_, type_, tensors_, kScale, static_cast<const float*>(loss_scale.data()),
                                   dlogits.buffer.data(), make_.stream());
    });
    std::vector<double> expected = sized(s_.pixels() * s_.channels);
    cpu::upsample_loss_backward(s_, logits_.values.data(), labels_.data(), expected_lse_.data(), 0.25 * kScale,
                                expected.data());
    check_.compare("dlogits", dlogits, expected, by_type(type_, c_.sigma > 10.0 ? 2e-5 : 5e-6, 5e-4, 4e-3));
    const std::vector<double> gradient = make_.download(dlogits);
    double largest = 0.0;
    double norm = 0.0;
    for (std::int64_t pixel = 0; pixel < s_.pixels(); ++pixel) {
      double sum = 0.0;
      for (std::int64_t c = 0; c < s_.channels; ++c) {
        sum += gradient[static_cast<std::size_t>(pixel * s_.channels + c)];
        norm = std::max(norm, std::abs(gradient[static_cast<std::size_t>(pixel * s_.channels + c)]));
      }
      largest = std::max(largest, std::abs(sum));
    }
    check_.error("sum of dlogits over the classes", norm > 0.0 ? largest / norm : largest,
                 by_type(type_, 2e-5, 1e-2, 1e-1));
  }

  void argmax() {
    std::vector<std::uint8_t> expected(labels_.size());
    cpu::upsample_argmax(s_, logits_.values.data(), expected.data());
    const cuda::DeviceBuffer classes(s_.out_pixels());
    std::vector<std::uint8_t> found(labels_.size(), kIgnoredLabel);
    cuda::copy_to_device(classes.data(), found.data(), s_.out_pixels(), make_.stream());
    cuda::upsample_argmax(s_, type_, logits_.data(), static_cast<std::uint8_t*>(classes.data()), make_.stream());
    cuda::copy_to_host(found.data(), classes.data(), s_.out_pixels(), make_.stream());
    std::int64_t wrong = 0;
    for (std::size_t i = 0; i < found.size(); ++i)
      wrong += found[i] != expected[i] ? 1 : 0;
    check_.error("classes", static_cast<double>(wrong), c_.equal ? 0.0 : 1e-4 * static_cast<double>(s_.out_pixels()));
  }

  LossCase c_;
  UpsampleShape s_;
  ElementType type_;
  TensorFactory make_;
  GradientCheck check_;
  DeviceTensor logits_;
  std::vector<std::uint8_t> labels_;
  cuda::DeviceBuffer device_labels_;
  DeviceTensor lse_;
  cuda::DeviceBuffer workspace_;
  cuda::PixelLossTensors tensors_;
  std::vector<double> expected_lse_;
  PixelLoss expected_;
};

}  // namespace

void check_pixel_losses(const VerifyReport& report) {
  for (const ElementType type : kTypes) {
    for (const LossCase& c : std::initializer_list<LossCase>{
             {{2, 16, 16, 64, 64, 150}},                           // the classifier's logits
             {{2, 4, 4, 64, 64, 150}},                             // the auxiliary head's
             {{1, 40, 70, 160, 280, 19}},                          // several blocks each way
             {{1, 9, 150, 18, 300, 5}},                            // likewise, with few threads a column of logits
             {{1, 7, 5, 23, 31, 255}},                             // no whole factor
             {{1, 70, 6, 143, 24, 12}},                            // more rows of logits a block
             {{1, 2, 64, 6, 256, 255}},                            // more shared memory than without asking
             {{1, 2, 80, 4, 160, 200}},                            // too much of it for all columns of a block
             {{1, 6, 6, 6, 6, 8}},                                 // no resize
             {{1, 9, 400, 4, 100, 3}},                             // smaller: logits that no pixel reads
             {{1, 1, 1, 40, 50, 33}},                              // one pixel of logits
             {{1, 8, 8, 32, 32, 2}},                               // fewer than are taken at once
             {{2, 8, 8, 32, 32, 21}, 60.0},                        //
             {{1, 16, 16, 64, 64, 21}, 2.0, Labels::kAllIgnored},  //
             {{1, 8, 8, 32, 32, 150}, 2.0, Labels::kMixed, true},
         }) {
      LossCheck(report, c, type).run();
    }
  }
}

}  // namespace swinscope
