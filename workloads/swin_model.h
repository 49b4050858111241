// A Swin Transformer for image classification on the CPU backend: patch embedding, stages of blocks with mergings
// between them, head. Forward and backward for one fixed batch size; every operation is annotated.
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
#include "workloads/patch_layers.h"
#include "workloads/swin_stage.h"

namespace swinscope {

// Both count from 0.
struct BlockIndex {
  int stage = 0;
  int block = 0;
};

struct ModelOptions {
  bool training = false;   // keep what the backward pass needs
  double drop_path = 0.0;  // stochastic depth of the last block; training only
  std::uint64_t seed = 0;  // of stochastic depth
  // Blocks replaced by the identity: what does a block contribute? (Their gradients stay zero.)
  std::vector<BlockIndex> identity_blocks = {};
};

// T is float or double. The store must outlive the model, and have gradients for a training model.
template <typename T>
class SwinModel {
 public:
  // Throws WorkloadError (kUsage) for a configuration that cannot be built.
  SwinModel(const SwinConfig& config, std::int64_t batch, const ModelOptions& options, ParameterStore<T>& store);
  SwinModel(const SwinModel&) = delete;
  SwinModel& operator=(const SwinModel&) = delete;
  SwinModel(SwinModel&&) = delete;
  SwinModel& operator=(SwinModel&&) = delete;
  ~SwinModel() = default;

  // Must be called after the weights of an inference model have been set or changed (V2's position tables are computed
  // from them once). A training model computes them in each forward pass.
  void weights_changed();
  // Draws stochastic depth for a step; without it the last draw stays. `first_sample`: see StochasticDepth::draw.
  void begin_step(std::int64_t step, std::int64_t first_sample) { depth_.draw(step, first_sample); }

  // images: [batch, 3, size, size]. Returns the logits [batch, classes], valid until the next call.
  const T* forward(const T* images);
  // dlogits: [batch, classes], of the loss with respect to the last forward pass's logits. Accumulates into the store's
  // gradients, from the end of the model to its start, calling `ready` as they become final.
  void backward(
      const T* dlogits, const GradientsReady& ready = [](std::int64_t) {});

  std::int64_t batch() const { return batch_; }
  // Of the last forward pass, for comparisons: what patch_embed, stage i (from 0) and the final norm gave.
  std::span<const T> stem_output() const { return stem_output_; }
  std::span<const T> stage_output(int stage) const;
  std::span<const T> normalized_output() const { return head_->normalized(); }

 private:
  void build_stages(const SwinConfig& config, const ModelOptions& options);

  std::int64_t batch_;
  bool training_;
  ParameterStore<T>* store_;
  BlockScratch<T> scratch_;
  StochasticDepth<T> depth_;
  ParameterBinder<T> stem_binder_;
  ParameterBinder<T> head_binder_;
  std::unique_ptr<PatchStem<T>> stem_;
  std::vector<std::unique_ptr<SwinStage<T>>> stages_;
  std::vector<ParameterBinder<T>> merging_binders_;
  std::vector<std::unique_ptr<PatchMerging<T>>> mergings_;  // [i] follows stage i
  std::vector<std::vector<T>> merged_;                      // output of mergings_[i]
  std::unique_ptr<ClassifierHead<T>> head_;
  std::vector<T> stem_output_;
  std::vector<T> logits_;
  std::vector<T> gradient_, gradient_scratch_;  // [tokens, C] of the largest stage
};

}  // namespace swinscope
