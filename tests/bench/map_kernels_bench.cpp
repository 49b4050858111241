// Times the kernels of a segmentation head on a GPU, at the shapes of SwinV2-B + UPerNet, 512 x 512, beside their
// floors: bytes over 4,233 GB/s, or operations over 700 TFLOP/s, as one H200 reaches.
//   map_kernels_bench [--batch 8] [--precision fp16|bf16] [--seconds 150]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <stdexcept>
#include <string>

#include "kernels/adaptive_pool.h"
#include "kernels/batchnorm.h"
#include "kernels/convert.h"
#include "kernels/convolution.h"
#include "kernels/matmul.h"
#include "kernels/matmul_tuning.h"
#include "kernels/relu.h"
#include "kernels/tap_fusion.h"
#include "kernels/upsample.h"
#include "kernels/upsample_loss.h"

namespace swinscope {
namespace {

constexpr double kBytesPerMicrosecond = 4.233e6;
constexpr double kFlopsPerMicrosecond = 700e6;
constexpr std::int64_t kChannels = 512;
constexpr std::int64_t kSide = 128;

class Bench {
 public:
  Bench(std::int64_t batch, ElementType type, double seconds)
      : batch_(batch),
        type_(type),
        end_(std::chrono::steady_clock::now() + std::chrono::milliseconds(static_cast<std::int64_t>(1e3 * seconds))) {
    std::printf("%-72s %9s %9s %6s\n", "", "us", "floor us", "ratio");
  }

  void resizes() {
    for (const std::int64_t side : {64, 32, 16}) {
      const UpsampleShape s{batch_, side, side, kSide, kSide, kChannels};
      void* const small = map(s.pixels() * kChannels);
      void* const large = map(s.out_pixels() * 4 * kChannels);
      const std::string what = std::to_string(side) + " to 128, 512 channels of 2048";
      time("resize " + what, upsample_forward_cost(s, false, bytes()), [=, this] {
        cuda::upsample_forward(s, type_, {small, nullptr, large, 4 * kChannels}, stream());
      });
      time("resize backward " + what, upsample_backward_cost(s, false, bytes()), [=, this] {
        cuda::upsample_backward(s, type_, {large, 4 * kChannels, small}, stream());
      });
      void* const sums = map(cuda::upsample_backward_plain_workspace_bytes(s) / bytes());
      time("resize backward, plain, " + what, upsample_backward_cost(s, false, bytes()), [=, this] {
        cuda::upsample_backward_plain(s, type_, {large, 4 * kChannels, small, false, sums}, stream());
      });
      release();
    }
  }

  void losses() {
    for (const std::int64_t side : {std::int64_t{128}, std::int64_t{32}}) {
      const UpsampleShape s{batch_, side, side, 512, 512, 150};
      const std::string what = std::to_string(side) + " to 512, 150 classes";
      void* const logits = map(s.pixels() * s.channels);
      void* const dlogits = map(s.pixels() * s.channels);
      cuda::PixelLossTensors tensors;
      tensors.logits = logits;
      tensors.labels = static_cast<const std::uint8_t*>(zeros(s.out_pixels()));
      tensors.lse = static_cast<float*>(zeros(s.out_pixels() * 4));
      tensors.sums = static_cast<cuda::LossSums*>(zeros(sizeof(cuda::LossSums)));
      tensors.workspace = zeros(cuda::upsample_loss_workspace_bytes(s));
      void* const classes = zeros(s.out_pixels());
      time("pixel loss " + what, upsample_loss_forward_cost(s, bytes()),
           [=, this] { cuda::upsample_loss_forward(s, type_, tensors, stream()); });
      time("pixel loss backward " + what, upsample_loss_backward_cost(s, bytes()),
           [=, this] { cuda::upsample_loss_backward(s, type_, tensors, 1e-6, nullptr, dlogits, stream()); });
      time("argmax " + what, upsample_argmax_cost(s, bytes()),
           [=, this] { cuda::upsample_argmax(s, type_, logits, static_cast<std::uint8_t*>(classes), stream()); });
      release();
    }
  }

  void normalizations() {
    for (const std::int64_t side : {128, 64, 32, 16}) {
      const BatchNormShape s{batch_ * side * side, kChannels};
      const std::string what = std::to_string(s.rows) + " x 512";
      void* const x = map(s.rows * kChannels);
      void* const y = map(s.rows * kChannels);
      void* const parameters = map(2 * kChannels);
      auto* const moments = static_cast<float*>(zeros(s.sum_elements() * 4));
      auto* const statistics = static_cast<float*>(zeros(s.sum_elements() * 4));
      auto* const sums = static_cast<float*>(zeros(4 * kChannels * 4));
      void* const workspace = zeros(cuda::batchnorm_workspace_bytes(s));
      time("batchnorm moments " + what, batchnorm_sums_cost(s, bytes()), [=, this] {
        cuda::batchnorm_moments(s, type_, x, moments, workspace, stream());
        cuda::batchnorm_statistics(s, moments, 1, statistics, nullptr, nullptr, stream());
      });
      cuda::BatchNormTensors forward;
      forward.x = x;
      forward.statistics = statistics;
      forward.gamma = forward.beta = parameters;
      forward.relu = true;
      forward.y = y;
      time("batchnorm and relu " + what, batchnorm_forward_cost(s, bytes()),
           [=, this] { cuda::batchnorm_forward(s, type_, forward, stream()); });
      cuda::BatchNormGradientTensors backward;
      backward.x = x;
      backward.statistics = statistics;
      backward.gamma = backward.beta = parameters;
      backward.relu = true;
      backward.dy = y;
      backward.sums = sums;
      backward.dgamma = sums + 2 * kChannels;
      backward.dbeta = sums + 3 * kChannels;
      backward.dx = y;
      backward.workspace = workspace;
      time("batchnorm backward sums " + what, batchnorm_backward_sums_cost(s, bytes()),
           [=, this] { cuda::batchnorm_backward_sums(s, type_, backward, stream()); });
      time("batchnorm backward " + what, batchnorm_backward_cost(s, bytes()),
           [=, this] { cuda::batchnorm_backward(s, type_, backward, stream()); });
      release();
    }
  }

  void small_maps() {
    for (const std::int64_t side : {1, 2, 3, 6}) {
      const AdaptivePoolShape s{batch_, 16, 16, 1024, side};
      void* const x = map(s.pixels() * s.channels);
      void* const y = map(s.bins() * s.channels);
      const std::string what = "grid of " + std::to_string(side) + " over 16 x 16 x 1024";
      time(what, adaptive_pool_forward_cost(s, bytes()),
           [=, this] { cuda::adaptive_pool_forward(s, type_, x, y, stream()); });
      time(what + ", backward", adaptive_pool_backward_cost(s, true, bytes()),
           [=, this] { cuda::adaptive_pool_backward(s, type_, y, true, x, stream()); });
      release();
    }
    const std::int64_t count = batch_ * kSide * kSide * kChannels;
    void* const x = map(count);
    void* const y = map(count);
    time("relu 128 x 128 x 512", relu_forward_cost(count, bytes()),
         [=, this] { cuda::relu_forward(count, type_, x, y, stream()); });
    release();
  }

  void taps() {
    for (const std::int64_t side : {64, 32, 16}) {
      TapFusionShape s;
      s.batch = batch_;
      s.height = s.width = side;
      s.out_height = s.out_width = kSide;
      s.inputs = s.outputs = kChannels;
      void* const small = map(s.tap_elements());
      void* const large = map(s.out_pixels() * kChannels);
      const std::int64_t y = s.out_pixels() * kChannels * bytes();
      const std::int64_t taps = s.tap_elements() * bytes();
      const std::string what = std::to_string(side) + " to 128, 512 channels";
      time("taps gathered " + what, {0, taps + y, y},
           [=, this] { cuda::tap_fusion_gather(s, type_, small, large, stream()); });
      time("taps gathered, backward, " + what, {0, y, taps},
           [=, this] { cuda::tap_fusion_gather_backward(s, type_, large, small, stream()); });
      release();
    }
  }

  void convolutions() {
    cuda::MatmulLibrary products({});
    cuda::ConvolutionLibrary library(products, {});
    struct Layer {
      const char* name;
      std::int64_t side, inputs, outputs;
    };
    for (const Layer& layer :
         {Layer{"bottleneck", 16, 3072, 512}, Layer{"auxiliary", 32, 512, 256}, Layer{"fpn 3", 32, 512, 512},
          Layer{"fpn 2", 64, 512, 512}, Layer{"fpn 1", 128, 512, 512}, Layer{"fusion's first part", 128, 512, 512},
          Layer{"fusion", 128, 2048, 512}}) {
      for (const cuda::ConvolutionPass pass : {cuda::ConvolutionPass::kForward, cuda::ConvolutionPass::kInputGradient,
                                               cuda::ConvolutionPass::kWeightGradient})
        convolution(library, layer.name, pass, layer.side, layer.inputs, layer.outputs);
    }
    std::printf("%s", library.choices().c_str());
  }

 private:
  void convolution(cuda::ConvolutionLibrary& library, const std::string& name, cuda::ConvolutionPass pass,
                   std::int64_t side, std::int64_t inputs, std::int64_t outputs) {
    static const char* const passes[] = {"", ", input gradient", ", weight gradient"};
    cuda::ConvolutionProblem problem;
    problem.shape.batch = batch_;
    problem.shape.height = problem.shape.width = side;
    problem.shape.inputs = inputs;
    problem.shape.outputs = outputs;
    problem.pass = pass;
    problem.operand_type = problem.result_type = type_;
    const ConvolutionShape& s = problem.shape;
    if (pass == cuda::ConvolutionPass::kWeightGradient) problem.result_type = ElementType::kFp32;
    if (late()) return;
    const std::string what = "convolution " + name + passes[static_cast<std::size_t>(pass)] + ", " +
                             std::to_string(inputs) + " to " + std::to_string(outputs) + " at " + std::to_string(side);
    try {
      const cuda::Convolution& prepared = library.prepare(problem, stream());
      void* const x = map(s.pixels() * inputs);
      void* const y = map(s.pixels() * outputs);
      void* const weight = map(2 * s.outputs * s.taps() * s.inputs);  // of fp32, too
      const bool of_weight = pass == cuda::ConvolutionPass::kWeightGradient;
      const bool forward = pass == cuda::ConvolutionPass::kForward;
      void* const first = forward || of_weight ? x : y;
      void* const second = of_weight ? y : weight;
      void* const result = of_weight ? weight : (forward ? y : x);
      time(what, convolution_forward_cost(s, false, bytes()),
           [&prepared, first, second, result, this] { prepared.run(first, second, result, stream()); });
    } catch (const std::exception& error) {
      std::printf("%-72s %s\n", what.c_str(), error.what());
    }
    release();
  }

  std::int64_t bytes() const { return element_bytes(type_); }
  cuda::Stream stream() const { return stream_.get(); }
  bool late() const { return std::chrono::steady_clock::now() > end_; }

  void* map(std::int64_t count) {
    void* const data = zeros(count * bytes());
    cuda::fill_random(count, type_, 1, data, stream());
    return data;
  }
  void* zeros(std::int64_t size) {
    buffers_.emplace_back((size + 255) / 256 * 256);
    cuda::clear(buffers_.back().data(), buffers_.back().bytes(), stream());
    return buffers_.back().data();
  }
  void release() {
    cuda::synchronize(stream());
    buffers_.clear();
  }

  void time(const std::string& what, const OperationCost& cost, const std::function<void()>& launch) const {
    if (late()) return;
    const auto run = [&](int /*index*/) {
      launch();
      return true;
    };
    const double microseconds = cuda::time_launches(run, stream()).value();
    const double floor = std::max(static_cast<double>(cost.bytes_read + cost.bytes_written) / kBytesPerMicrosecond,
                                  static_cast<double>(cost.flops) / kFlopsPerMicrosecond);
    std::printf("%-72s %9.1f %9.1f %6.2f\n", what.c_str(), microseconds, floor, microseconds / floor);
    std::fflush(stdout);
  }

  std::int64_t batch_;
  ElementType type_;
  std::chrono::steady_clock::time_point end_;
  cuda::OwnedStream stream_;
  std::deque<cuda::DeviceBuffer> buffers_;
};

int run(int argc, char** argv) {
  std::int64_t batch = 8;
  double seconds = 150.0;
  ElementType type = ElementType::kFp16;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], "--batch") == 0) batch = std::atoll(argv[i + 1]);
    if (std::strcmp(argv[i], "--seconds") == 0) seconds = std::atof(argv[i + 1]);
    if (std::strcmp(argv[i], "--precision") == 0 && std::strcmp(argv[i + 1], "bf16") == 0) type = ElementType::kBf16;
  }
  if (cuda::device_count() == 0) {
    std::fprintf(stderr, "map_kernels_bench: there is no GPU\n");
    return 1;
  }
  std::printf("%s, batch %lld, %s\n", cuda::device_info().name.c_str(), static_cast<long long>(batch),
              type == ElementType::kFp16 ? "fp16" : "bf16");
  Bench bench(batch, type, seconds);
  bench.resizes();
  bench.losses();
  bench.normalizations();
  bench.small_maps();
  bench.taps();
  bench.convolutions();
  return 0;
}

}  // namespace
}  // namespace swinscope

int main(int argc, char** argv) {
  try {
    return swinscope::run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "map_kernels_bench: %s\n", error.what());
    return 1;
  }
}
