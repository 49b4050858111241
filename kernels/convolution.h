// Convolutions of NHWC maps, forward and both gradients: the reference on the CPU, and on the device cuDNN's plans,
// chosen by time, with 1x1 convolutions as GEMMs.
#pragma once

#include <compare>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "kernels/cost.h"
#include "kernels/device.h"

namespace swinscope {

// Convolution with stride 1 and zero padding kernel / 2, so that the map keeps its size, without a bias (one follows in
// the normalization, or there is none). Maps are NHWC [batch, height, width, channels].
//
// The weight is [outputs, kernel, kernel, weight_inputs]: a torch.nn.Conv2d weight in memory format channels_last. With
// weight_inputs > inputs the convolution reads a slice of the input channels of a wider weight, whose first channel
// `weight` (and `dweight`) points to: a convolution of concatenated maps is the sum of those of its parts.
struct ConvolutionShape {
  std::int64_t batch = 0;
  std::int64_t height = 0;
  std::int64_t width = 0;
  std::int64_t inputs = 0;
  std::int64_t outputs = 0;
  std::int64_t kernel = 3;         // odd
  std::int64_t weight_inputs = 0;  // 0: inputs

  constexpr std::int64_t pixels() const { return batch * height * width; }
  constexpr std::int64_t taps() const { return kernel * kernel; }
  constexpr std::int64_t weight_stride() const { return weight_inputs == 0 ? inputs : weight_inputs; }

  friend auto operator<=>(const ConvolutionShape&, const ConvolutionShape&) = default;  // NOLINT(modernize-use-nullptr)
};

// Products with the padding are counted, as everyone does.
OperationCost convolution_forward_cost(const ConvolutionShape& shape, bool accumulates, std::int64_t element_bytes);
OperationCost convolution_backward_cost(const ConvolutionShape& shape, bool input_gradient, std::int64_t element_bytes);

namespace cpu {

// y = convolution, or y += where `accumulate`. Throws std::invalid_argument for an even kernel, an empty extent, or a
// weight narrower than its slice.
template <typename T>
void convolution_forward(const ConvolutionShape& shape, const T* x, const T* weight, bool accumulate, T* y);

// dx is overwritten.
template <typename T>
void convolution_backward_input(const ConvolutionShape& shape, const T* weight, const T* dy, T* dx);

// dweight += its gradient.
template <typename T>
void convolution_backward_weight(const ConvolutionShape& shape, const T* x, const T* dy, T* dweight);

}  // namespace cpu
namespace cuda {

class MatmulLibrary;

enum class ConvolutionPass : std::uint8_t {
  kForward,         // y from x and the weight
  kInputGradient,   // dx from dy and the weight
  kWeightGradient,  // dweight from x and dy
};

// One direction of a convolution on a device. Slices of wider weights must be packed before (tap_fusion.h).
struct ConvolutionProblem {
  ConvolutionShape shape;
  ConvolutionPass pass = ConvolutionPass::kForward;
  ElementType operand_type = ElementType::kFp32;  // 16-bit ones with fp32 sums
  ElementType result_type = ElementType::kFp32;   // of a weight's gradient fp32 or the operands', else theirs
  bool tf32 = false;                              // of fp32 operands

  friend auto operator<=>(const ConvolutionProblem&,
                          const ConvolutionProblem&) = default;  // NOLINT(modernize-use-nullptr)
};

// Ready to be launched. Pointers must be aligned to 16 bytes. Not for two threads at once.
class Convolution {
 public:
  Convolution() = default;
  virtual ~Convolution() = default;
  Convolution(const Convolution&) = delete;
  Convolution& operator=(const Convolution&) = delete;
  Convolution(Convolution&&) = delete;
  Convolution& operator=(Convolution&&) = delete;
  // first, second: (x, weight), (dy, weight) or (x, dy), as the pass says. result is overwritten.
  virtual void run(const void* first, const void* second, void* result, Stream stream) const = 0;
};

struct ConvolutionStatistics {
  int shapes = 0;  // prepared by cuDNN
  int timed = 0;   // of them timed now; the rest came from the file
};

// 1x1 convolutions are products; others are cuDNN's, which is opened when the first of them is prepared. Its first
// plans for a problem that give the same bits each time are timed once, and the choice is kept in a file for the GPU
// and the version of cuDNN, as MatmulLibrary does.
class ConvolutionLibrary {
 public:
  // products must outlive it. cache_folder: where choices are kept; empty: nowhere.
  ConvolutionLibrary(MatmulLibrary& products, std::filesystem::path cache_folder);
  ~ConvolutionLibrary();
  ConvolutionLibrary(const ConvolutionLibrary&) = delete;
  ConvolutionLibrary& operator=(const ConvolutionLibrary&) = delete;
  ConvolutionLibrary(ConvolutionLibrary&&) = delete;
  ConvolutionLibrary& operator=(ConvolutionLibrary&&) = delete;

  // Valid as long as the library. Equal problems share one. Throws std::invalid_argument for a problem that makes no
  // sense, cuda::Error where cuDNN is missing or nothing can do it.
  const Convolution& prepare(const ConvolutionProblem& problem, Stream stream);
  ConvolutionStatistics statistics() const;
  // What was chosen of cuDNN's proposals, as text.
  std::string choices() const;
  // Writes the file.
  void finish_tuning();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// The version of cuDNN that would be opened, 91900 for 9.19.0; 0 where there is none, and why in `why`.
int cudnn_version(std::string* why);

}  // namespace cuda
}  // namespace swinscope
