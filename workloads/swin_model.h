// A Swin Transformer for image classification on the CPU backend: the backbone and a classifier. Forward and backward
// for one fixed batch size; every operation is annotated.
//
//   ParameterStore<float> store(config, /*with_gradients=*/true);
//   initialize_parameters(store, seed);
//   SwinModel<float> model(config, batch, {.training = true}, store);
//   const float* logits = model.forward(images);
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "workloads/classifier_head.h"
#include "workloads/swin_backbone.h"

namespace swinscope {

// T is float or double. The store must outlive the model, and have gradients for a training model.
template <typename T>
class SwinModel {
 public:
  // Throws WorkloadError (kUsage) for a configuration that cannot be built.
  SwinModel(const SwinConfig& config, std::int64_t batch, const ModelOptions& options, ParameterStore<T>& store);

  // Must be called after the weights of an inference model have been set or changed (V2's position tables are computed
  // from them once). A training model computes them in each forward pass.
  void weights_changed() { backbone_.weights_changed(); }
  // Draws stochastic depth for a step; without it the last draw stays. `first_sample`: see StochasticDepth::draw.
  void begin_step(std::int64_t step, std::int64_t first_sample) { backbone_.begin_step(step, first_sample); }

  // images: [batch, 3, size, size]. Returns the logits [batch, classes], valid until the next call.
  const T* forward(const T* images);
  // dlogits: [batch, classes], of the loss with respect to the last forward pass's logits. Accumulates into the store's
  // gradients, from the end of the model to its start, calling `ready` as they become final.
  void backward(
      const T* dlogits, const GradientsReady& ready = [](std::int64_t) {});

  std::int64_t batch() const { return batch_; }
  // Of the last forward pass, for comparisons: what patch_embed, stage i (from 0) and the final norm gave.
  std::span<const T> stem_output() const { return backbone_.stem_output(); }
  std::span<const T> stage_output(int stage) const { return backbone_.stage_output(stage); }
  std::span<const T> normalized_output() const { return head_->normalized(); }

 private:
  std::int64_t batch_;
  bool training_;
  int last_stage_;
  SwinBackbone<T> backbone_;
  ParameterBinder<T> head_binder_;
  std::unique_ptr<ClassifierHead<T>> head_;
  std::vector<T> logits_;
};

}  // namespace swinscope
