// AdamW (adamw.h) over all parameters of a model at once, with everything that decides about a step on the device: loss
// scale, check for infinities, global norm and clipping, learning rate, step count. Nothing waits for the host, so the
// whole is captured in a graph.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/device.h"

namespace swinscope::cuda {

// Part of the flat buffers. Offsets must be multiples of 8. What no span covers is left alone.
struct AdamWSpan {
  std::int64_t offset = 0;  // elements
  std::int64_t count = 0;
  double weight_decay = 0.0;
};

struct AdamWSettings {
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double clip_norm = 0.0;  // 0: no clipping
  // Dynamic loss scaling (Micikevicius et al. 2018, arXiv:1710.03740): halved after a step whose gradient was not
  // finite, doubled after that many good ones in a row. 0: the scale stays as it is.
  std::int32_t growth_interval = 0;
  float largest_scale = 0x1p24F;
  // A launch for each span, as a framework's loop over tensors, not one for all: the same bits, later.
  bool each_span = false;
};

// In device memory; the caller fills it before the first step and may read it at any time.
struct OptimizerState {
  double learning_rate = 0.0;   // of the next update: the caller's to set
  std::int64_t updates = 0;     // made so far; skipped steps do not count
  std::int64_t skipped = 0;     // steps whose gradient was not finite
  float loss_scale = 1.0F;      // the gradients carry this factor
  std::int32_t good_steps = 0;  // since the scale last changed
  double gradient_norm =
      0.0;  // of the last step, without the loss scale and before clipping; not finite if it was skipped
  // What the update takes; of use to it only.
  double gradient_factor = 0.0;    // clipping over the loss scale
  double rate = 0.0;               // learning_rate / (1 - beta1^t)
  double second_correction = 0.0;  // 1 / (1 - beta2^t)
  std::int32_t apply = 0;
};

// Flat buffers of equal layout.
struct AdamWBuffers {
  const void* gradients = nullptr;
  ElementType gradient_type = ElementType::kFp32;
  float* parameters = nullptr;    // masters
  float* first_moment = nullptr;  // zero before the first step, as the second
  float* second_moment = nullptr;
  void* copies = nullptr;  // the parameters rounded to copy_type, where wanted
  ElementType copy_type = ElementType::kFp16;
};

class MultiTensorAdamW {
 public:
  // Throws std::invalid_argument for spans that are not aligned.
  MultiTensorAdamW(std::span<const AdamWSpan> spans, const AdamWSettings& settings, Stream stream);

  // Three kernels: partial sums of squares; norm and what follows from it; update (nothing where the norm is not
  // finite). The first and the last for each span, if wanted. The squares are added up in double in fixed order.
  void step(const AdamWBuffers& buffers, OptimizerState* state, Stream stream) const;

 private:
  struct Launch {
    std::int64_t first = 0;  // chunk
    std::int64_t chunks = 0;
  };
  AdamWSettings settings_;
  std::int64_t chunks_ = 0;
  std::vector<Launch> launches_;
  DeviceBuffer table_;
  DeviceBuffer partials_;
};

}  // namespace swinscope::cuda
