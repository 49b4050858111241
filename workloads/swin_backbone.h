// The part of a Swin Transformer that all tasks share: patch embedding, stages of blocks, mergings between them.
// Forward and backward for one fixed batch size on the CPU backend; every operation is annotated.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

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
  bool tap_fusion = false;  // of a segmentation model: fusion_layer.h
};

// T is float or double. The store must outlive the backbone, and have gradients for a training one.
template <typename T>
class SwinBackbone {
 public:
  // Throws WorkloadError (kUsage) for a configuration that cannot be built.
  SwinBackbone(const SwinConfig& config, std::int64_t batch, const ModelOptions& options, ParameterStore<T>& store);
  SwinBackbone(const SwinBackbone&) = delete;
  SwinBackbone& operator=(const SwinBackbone&) = delete;
  SwinBackbone(SwinBackbone&&) = delete;
  SwinBackbone& operator=(SwinBackbone&&) = delete;
  ~SwinBackbone() = default;

  // V2's position tables are computed from the weights once in inference, in each forward pass in training.
  void weights_changed();
  void begin_step(std::int64_t step, std::int64_t first_sample) { depth_.draw(step, first_sample); }

  // images: [batch, 3, size, size]. Returns the last stage's output [batch, tokens, C]; all stages' stay valid until
  // the next forward pass.
  const T* forward(const T* images);
  std::span<const T> stem_output() const { return stem_output_; }
  std::span<const T> stage_output(int stage) const;

  // Where the gradient of the last stage's output must be before backward(), which overwrites it.
  T* last_gradient() { return gradient_.data(); }
  // stage_gradients[i], which may be null or beyond the end: the gradient of stage i's output from elsewhere than the
  // stages behind it. Accumulates into the store's gradients, calling `ready` as they become final.
  void backward(std::span<const T* const> stage_gradients, const GradientsReady& ready);

 private:
  void build_stages(const SwinConfig& config, const ModelOptions& options);

  std::int64_t batch_;
  bool training_;
  ParameterStore<T>* store_;
  BlockScratch<T> scratch_;
  StochasticDepth<T> depth_;
  ParameterBinder<T> stem_binder_;
  std::unique_ptr<PatchStem<T>> stem_;
  std::vector<std::unique_ptr<SwinStage<T>>> stages_;
  std::vector<ParameterBinder<T>> merging_binders_;
  std::vector<std::unique_ptr<PatchMerging<T>>> mergings_;  // [i] follows stage i
  std::vector<std::vector<T>> merged_;                      // output of mergings_[i]
  std::vector<T> stem_output_;
  std::vector<T> gradient_, gradient_scratch_;  // [tokens, C] of the largest stage
  std::vector<Operation> joins_;                // [i]: adding stage_gradients[i]
};

}  // namespace swinscope
