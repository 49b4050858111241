// host_device.h: the operations of a segmentation head, and convolutions.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <stdexcept>
#include <vector>

#include "kernels/adaptive_pool.h"
#include "kernels/batchnorm.h"
#include "kernels/convolution.h"
#include "kernels/matmul.h"
#include "kernels/relu.h"
#include "kernels/tap_fusion.h"
#include "kernels/upsample.h"
#include "kernels/upsample_loss.h"
#include "tests/unit/workloads/host_device_memory.h"

namespace swinscope::cuda {
namespace {

using namespace test;

// Channels of a map that may be a part of wider ones.
Floats load_part(ElementType type, const void* from, std::int64_t rows, std::int64_t channels, std::int64_t stride) {
  if (stride == 0 || stride == channels) return load(type, from, rows * channels);
  Floats values;
  values.reserve(static_cast<std::size_t>(rows * channels));
  for (std::int64_t i = 0; i < rows; ++i) {
    const Floats row = load(type, static_cast<const char*>(from) + i * stride * element_bytes(type), channels);
    values.insert(values.end(), row.begin(), row.end());
  }
  return values;
}

void store_part(ElementType type, const Floats& values, std::int64_t channels, std::int64_t stride, void* to) {
  if (stride == 0 || stride == channels) return store(type, values, to);
  const std::int64_t rows = static_cast<std::int64_t>(values.size()) / channels;
  for (std::int64_t i = 0; i < rows; ++i) {
    const auto row = values.begin() + i * channels;
    store(type, Floats(row, row + channels), static_cast<char*>(to) + i * stride * element_bytes(type));
  }
}

std::vector<double> doubles(const Floats& values) { return {values.begin(), values.end()}; }

class HostConvolution : public Convolution {
 public:
  explicit HostConvolution(const ConvolutionProblem& problem) : problem_(problem) {}

  void run(const void* first, const void* second, void* result, Stream stream) const override {
    const auto work = [=, p = problem_] {
      const ConvolutionShape& s = p.shape;
      const std::int64_t x_count = s.pixels() * s.inputs;
      const std::int64_t y_count = s.pixels() * s.outputs;
      const std::int64_t weights = s.outputs * s.taps() * s.inputs;
      const bool forward = p.pass == ConvolutionPass::kForward;
      const bool of_weight = p.pass == ConvolutionPass::kWeightGradient;
      const Floats a = load(p.operand_type, first, forward || of_weight ? x_count : y_count);
      const Floats b = load(p.operand_type, second, of_weight ? y_count : weights);
      Floats out = zeros(forward ? y_count : of_weight ? weights : x_count);
      if (forward) cpu::convolution_forward<float>(s, a.data(), b.data(), false, out.data());
      if (of_weight) cpu::convolution_backward_weight<float>(s, a.data(), b.data(), out.data());
      if (!forward && !of_weight) cpu::convolution_backward_input<float>(s, b.data(), a.data(), out.data());
      store(p.result_type, out, result);
    };
    launch(stream, work, describe(problem_));
  }

 private:
  static std::string describe(const ConvolutionProblem& p) {
    constexpr const char* kNames[] = {"convolution", "convolution's input", "convolution's weight"};
    std::string text = kNames[static_cast<std::size_t>(p.pass)];
    for (const std::int64_t extent : {p.shape.height, p.shape.width, p.shape.inputs, p.shape.outputs, p.shape.kernel})
      text += " " + std::to_string(extent);
    return text;
  }

  ConvolutionProblem problem_;
};

struct Statistics {
  Floats mean, rstd;
  explicit Statistics(const BatchNormShape& shape, const float* statistics)
      : mean(statistics, statistics + shape.channels),
        rstd(statistics + shape.channels, statistics + 2 * shape.channels) {}
};

// dy where the normalized and ReLU'd output is above 0.
Floats counted(const BatchNormShape& shape, ElementType type, const BatchNormGradientTensors& t, const Floats& x,
               const Statistics& s, const Floats& gamma) {
  Floats dy = load_part(type, t.dy, shape.rows, shape.channels, t.dy_stride);
  if (!t.relu) return dy;
  const Floats beta = load(type, t.beta, shape.channels);
  Floats y(x.size());
  cpu::batchnorm_forward<float>(shape, x.data(), s.mean.data(), s.rstd.data(), gamma.data(), beta.data(), y.data());
  for (std::size_t i = 0; i < y.size(); ++i)
    dy[i] = y[i] > 0.0F ? dy[i] : 0.0F;
  return dy;
}

}  // namespace

struct ConvolutionLibrary::State {
  std::map<ConvolutionProblem, HostConvolution> convolutions;
};

// NOLINTNEXTLINE(performance-unnecessary-value-param): as it is declared
ConvolutionLibrary::ConvolutionLibrary(MatmulLibrary& /*products*/, std::filesystem::path /*cache_folder*/)
    : state_(std::make_unique<State>()) {}
ConvolutionLibrary::~ConvolutionLibrary() = default;
const Convolution& ConvolutionLibrary::prepare(const ConvolutionProblem& problem, Stream /*stream*/) {
  return state_->convolutions.try_emplace(problem, problem).first->second;
}
void ConvolutionLibrary::finish_tuning() {}

void upsample_forward(const UpsampleShape& shape, ElementType type, const UpsampleTensors& t, Stream stream) {
  launch(stream, [=] {
    const Floats x = load(type, t.x, shape.pixels() * shape.channels);
    Floats y = zeros(shape.out_pixels() * shape.channels);
    if (t.addend != nullptr) y = load_part(type, t.addend, shape.out_pixels(), shape.channels, t.y_stride);
    cpu::upsample_forward<float>(shape, x.data(), t.addend != nullptr, y.data());
    store_part(type, y, shape.channels, t.y_stride, t.y);
  });
}

void upsample_backward(const UpsampleShape& shape, ElementType type, const UpsampleGradientTensors& t, Stream stream) {
  launch(stream, [=] {
    const Floats dy = load_part(type, t.dy, shape.out_pixels(), shape.channels, t.dy_stride);
    Floats dx = zeros(shape.pixels() * shape.channels);
    if (t.accumulate) dx = load(type, t.dx, shape.pixels() * shape.channels);
    cpu::upsample_backward<float>(shape, dy.data(), t.accumulate, dx.data());
    store(type, dx, t.dx);
  });
}

std::int64_t upsample_loss_workspace_bytes(const UpsampleShape& shape) {
  return shape.batch * shape.out_height * static_cast<std::int64_t>(sizeof(PixelLoss));
}

void upsample_loss_forward(const UpsampleShape& shape, ElementType type, const PixelLossTensors& t, Stream stream) {
  launch(stream, [=] {
    const Floats logits = load(type, t.logits, shape.pixels() * shape.channels);
    const PixelLoss loss =
        cpu::upsample_loss_forward<float>(shape, logits.data(), t.labels, t.lse, static_cast<PixelLoss*>(t.workspace));
    t.sums->loss += loss.sum;
    t.sums->count += loss.count;
    t.sums->correct += loss.correct;
  });
}

void upsample_loss_backward(const UpsampleShape& shape, ElementType type, const PixelLossTensors& t, double pixel_scale,
                            const float* loss_scale, void* dlogits, Stream stream) {
  launch(stream, [=] {
    const Floats logits = load(type, t.logits, shape.pixels() * shape.channels);
    Floats gradient(logits.size());
    const double scale = pixel_scale * static_cast<double>(loss_scale == nullptr ? 1.0F : *loss_scale);
    cpu::upsample_loss_backward<float>(shape, logits.data(), t.labels, t.lse, scale, gradient.data());
    store(type, gradient, dlogits);
  });
}

void upsample_argmax(const UpsampleShape& shape, ElementType type, const void* logits, std::uint8_t* classes,
                     Stream stream) {
  launch(stream, [=] {
    const Floats values = load(type, logits, shape.pixels() * shape.channels);
    cpu::upsample_argmax<float>(shape, values.data(), classes);
  });
}

void add_loss(double weight, const LossSums* part, LossSums* sums, Stream stream) {
  launch(stream, [=] { sums->loss += weight * part->loss; });
}

void pixel_loss_scale(const LossSums* sums, const float* loss_scale, float* scale, Stream stream) {
  launch(stream, [=] {
    *scale = sums->count == 0 ? std::numeric_limits<float>::quiet_NaN() : *loss_scale / static_cast<float>(sums->count);
  });
}

void tap_fusion_pack(const TapFusionShape& shape, ElementType type, const void* weight, void* packed, Stream stream) {
  launch(stream, [=] {
    const std::int64_t rows = shape.outputs * 9;
    // The last row of a slice is shorter than the stride.
    const Floats values = load_part(type, weight, rows, shape.inputs, shape.weight_stride());
    Floats out = zeros(rows * shape.inputs);
    for (std::int64_t row = 0; row < rows; ++row)
      std::copy_n(values.begin() + row * shape.inputs, shape.inputs,
                  out.begin() + (row % 9 * shape.outputs + row / 9) * shape.inputs);
    store(type, out, packed);
  });
}

void tap_fusion_unpack(const TapFusionShape& shape, const float* dpacked, bool accumulate, float* dweight,
                       Stream stream) {
  launch(stream, [=] {
    for (std::int64_t output = 0; output < shape.outputs; ++output) {
      for (std::int64_t tap = 0; tap < 9; ++tap) {
        for (std::int64_t input = 0; input < shape.inputs; ++input) {
          float& value = dweight[(output * 9 + tap) * shape.weight_stride() + input];
          value = (accumulate ? value : 0.0F) + dpacked[(tap * shape.outputs + output) * shape.inputs + input];
        }
      }
    }
  });
}

namespace {

UpsampleShape resize_of(const TapFusionShape& s) {
  return {s.batch, s.height, s.width, s.out_height, s.out_width, s.outputs};
}

// For each output pixel and tap that stays in the image: the pixels of y and of the enlarged tap.
template <typename Visit>
void for_each_pair(const TapFusionShape& s, std::int64_t tap, const Visit& visit) {
  const std::int64_t down = tap / 3 - 1;
  const std::int64_t right = tap % 3 - 1;
  for (std::int64_t pixel = 0; pixel < s.out_pixels(); ++pixel) {
    const std::int64_t row = pixel / s.out_width % s.out_height + down;
    const std::int64_t column = pixel % s.out_width + right;
    if (row < 0 || row >= s.out_height || column < 0 || column >= s.out_width) continue;
    visit(pixel * s.outputs, (pixel + down * s.out_width + right) * s.outputs);
  }
}

}  // namespace

void tap_fusion_gather(const TapFusionShape& shape, ElementType type, const void* taps, void* y, Stream stream) {
  launch(stream, [=] {
    Floats sum = load(type, y, shape.out_pixels() * shape.outputs);
    Floats enlarged(sum.size());
    for (std::int64_t tap = 0; tap < 9; ++tap) {
      const Floats one = load_part(type, static_cast<const char*>(taps) + tap * shape.outputs * element_bytes(type),
                                   shape.pixels(), shape.outputs, 9 * shape.outputs);
      cpu::upsample_forward<float>(resize_of(shape), one.data(), false, enlarged.data());
      for_each_pair(shape, tap, [&](std::int64_t out, std::int64_t in) {
        for (std::int64_t c = 0; c < shape.outputs; ++c)
          sum[static_cast<std::size_t>(out + c)] += enlarged[static_cast<std::size_t>(in + c)];
      });
    }
    store(type, sum, y);
  });
}

void tap_fusion_gather_backward(const TapFusionShape& shape, ElementType type, const void* from, void* dtaps,
                                Stream stream) {
  launch(stream, [=] {
    const Floats dy = load(type, from, shape.out_pixels() * shape.outputs);
    for (std::int64_t tap = 0; tap < 9; ++tap) {
      Floats shifted(dy.size());
      for_each_pair(shape, tap, [&](std::int64_t out, std::int64_t in) {
        for (std::int64_t c = 0; c < shape.outputs; ++c)
          shifted[static_cast<std::size_t>(in + c)] = dy[static_cast<std::size_t>(out + c)];
      });
      Floats one = zeros(shape.pixels() * shape.outputs);
      cpu::upsample_backward<float>(resize_of(shape), shifted.data(), false, one.data());
      store_part(type, one, shape.outputs, 9 * shape.outputs,
                 static_cast<char*>(dtaps) + tap * shape.outputs * element_bytes(type));
    }
  });
}

std::int64_t batchnorm_workspace_bytes(const BatchNormShape& shape) { return shape.channels * 8; }

void batchnorm_moments(const BatchNormShape& shape, ElementType type, const void* from, float* moments,
                       void* /*workspace*/, Stream stream) {
  launch(stream, [=] {
    const Floats x = load(type, from, shape.rows * shape.channels);
    const auto channels = static_cast<std::size_t>(shape.channels);
    std::vector<double> mean(channels), squares(channels);
    for (std::size_t i = 0; i < x.size(); ++i)
      mean[i % channels] += static_cast<double>(x[i]) / static_cast<double>(shape.rows);
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double distance = static_cast<double>(x[i]) - mean[i % channels];
      squares[i % channels] += distance * distance;
    }
    for (std::size_t i = 0; i < channels; ++i) {
      moments[i] = static_cast<float>(mean[i]);
      moments[channels + i] = static_cast<float>(squares[i]);
    }
    moments[2 * channels] = static_cast<float>(shape.rows);
  });
}

void batchnorm_statistics(const BatchNormShape& shape, const float* moments, std::int64_t ranks, float* statistics,
                          float* running_mean, float* running_variance, Stream stream) {
  launch(stream, [=] {
    // As plain sums, which is what the CPU merges.
    std::vector<double> sums(static_cast<std::size_t>(shape.sum_elements()));
    const auto channels = static_cast<std::size_t>(shape.channels);
    for (std::int64_t rank = 0; rank < ranks; ++rank) {
      const std::vector<double> own =
          doubles(Floats(moments + rank * shape.sum_elements(), moments + (rank + 1) * shape.sum_elements()));
      const double rows = own[2 * channels];
      for (std::size_t i = 0; i < channels; ++i) {
        sums[i] += own[i] * rows;
        sums[channels + i] += own[channels + i] + own[i] * own[i] * rows;
      }
      sums[2 * channels] += rows;
    }
    cpu::batchnorm_statistics<float>(shape, sums.data(), statistics, statistics + channels, running_mean,
                                     running_variance);
    statistics[2 * channels] = static_cast<float>(sums[2 * channels]);
  });
}

void batchnorm_running(const BatchNormShape& shape, const float* running_mean, const float* running_variance,
                       float* statistics, Stream stream) {
  launch(stream, [=] {
    cpu::batchnorm_running<float>(shape, running_mean, running_variance, statistics, statistics + shape.channels);
    statistics[2 * shape.channels] = 0.0F;
  });
}

void batchnorm_forward(const BatchNormShape& shape, ElementType type, const BatchNormTensors& t, Stream stream) {
  launch(stream, [=] {
    const Floats x = load(type, t.x, shape.rows * shape.channels);
    const Statistics s(shape, t.statistics);
    const Floats gamma = load(type, t.gamma, shape.channels);
    const Floats beta = load(type, t.beta, shape.channels);
    Floats y(x.size());
    cpu::batchnorm_forward<float>(shape, x.data(), s.mean.data(), s.rstd.data(), gamma.data(), beta.data(), y.data());
    if (t.relu) cpu::relu_forward<float>(static_cast<std::int64_t>(y.size()), y.data(), y.data());
    store_part(type, y, shape.channels, t.y_stride, t.y);
  });
}

void batchnorm_backward_sums(const BatchNormShape& shape, ElementType type, const BatchNormGradientTensors& t,
                             Stream stream) {
  launch(stream, [=] {
    const Floats x = load(type, t.x, shape.rows * shape.channels);
    const Statistics s(shape, t.statistics);
    const Floats dy = counted(shape, type, t, x, s, load(type, t.gamma, shape.channels));
    std::vector<double> sums(static_cast<std::size_t>(shape.sum_elements()));
    begin_gradient(t.dgamma, shape.channels, t.accumulate);
    begin_gradient(t.dbeta, shape.channels, t.accumulate);
    cpu::batchnorm_backward_sums<float>(shape, x.data(), s.mean.data(), s.rstd.data(), dy.data(), sums.data(), t.dgamma,
                                        t.dbeta);
    for (std::int64_t i = 0; i < 2 * shape.channels; ++i)
      t.sums[i] = static_cast<float>(sums[static_cast<std::size_t>(i)]);
  });
}

void batchnorm_backward(const BatchNormShape& shape, ElementType type, const BatchNormGradientTensors& t,
                        Stream stream) {
  launch(stream, [=] {
    const Floats x = load(type, t.x, shape.rows * shape.channels);
    const Statistics s(shape, t.statistics);
    const Floats gamma = load(type, t.gamma, shape.channels);
    const Floats dy = counted(shape, type, t, x, s, gamma);
    std::vector<double> sums(t.sums, t.sums + 2 * shape.channels);
    sums.push_back(static_cast<double>(t.statistics[2 * shape.channels]));
    Floats dx(x.size());
    cpu::batchnorm_backward<float>(shape, x.data(), s.mean.data(), s.rstd.data(), gamma.data(), sums.data(), dy.data(),
                                   dx.data());
    store(type, dx, t.dx);
  });
}

void adaptive_pool_forward(const AdaptivePoolShape& shape, ElementType type, const void* from, void* to,
                           Stream stream) {
  launch(stream, [=] {
    const Floats x = load(type, from, shape.pixels() * shape.channels);
    Floats y = zeros(shape.bins() * shape.channels);
    cpu::adaptive_pool_forward<float>(shape, x.data(), y.data());
    store(type, y, to);
  });
}

void adaptive_pool_backward(const AdaptivePoolShape& shape, ElementType type, const void* from, bool accumulate,
                            void* to, Stream stream) {
  launch(stream, [=] {
    const Floats dy = load(type, from, shape.bins() * shape.channels);
    Floats dx = zeros(shape.pixels() * shape.channels);
    if (accumulate) dx = load(type, to, shape.pixels() * shape.channels);
    cpu::adaptive_pool_backward<float>(shape, dy.data(), accumulate, dx.data());
    store(type, dx, to);
  });
}

}  // namespace swinscope::cuda
