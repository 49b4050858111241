// The blocks of one stage of a Swin model, and the buffers between them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "workloads/stochastic_depth.h"
#include "workloads/swin_attention.h"
#include "workloads/swin_mlp.h"

namespace swinscope {

// Called during a backward pass with a position in the flat gradient buffer: all gradients before it are final.
using GradientsReady = std::function<void(std::int64_t end)>;

template <typename T>
struct BlockActivations {
  AttentionActivations<T> attention;
  MlpActivations<T> mlp;
  std::vector<T> middle;  // [tokens, C] between the halves

  explicit BlockActivations(const BlockSetup& setup);
};

template <typename T>
class SwinBlock {
 public:
  // `number` counts blocks through the model.
  SwinBlock(ParameterStore<T>& store, const BlockSetup& setup, int number, BlockActivations<T>& activations,
            BlockScratch<T>& scratch, const StochasticDepth<T>& depth);

  void refresh_position_bias() { attention_.refresh_position_bias(); }
  // y must not be x.
  void forward(const T* x, T* y);
  // From dy to dx in place; `scratch` holds as many elements.
  void backward(const T* x, T* gradient, T* scratch, const GradientsReady& ready);

 private:
  int number_;
  const StochasticDepth<T>* depth_;
  T* middle_;
  ParameterBinder<T> attention_binder_;
  ParameterBinder<T> mlp_binder_;
  AttentionHalf<T> attention_;
  MlpHalf<T> mlp_;
};

template <typename T>
class SwinStage {
 public:
  struct Setup {
    SwinVersion version = SwinVersion::kV1;
    StageShape shape;
    int stage = 0;        // from 0
    int first_block = 0;  // counted through the model
    std::int64_t batch = 0;
    bool training = false;
    std::vector<int> identity_blocks;  // blocks that hand their input on
  };

  SwinStage(ParameterStore<T>& store, const Setup& setup, BlockScratch<T>& scratch, const StochasticDepth<T>& depth);

  void refresh_position_bias();
  // The result lies in a buffer of the stage until its next forward pass (or is x, when all blocks are identities).
  const T* forward(const T* x);
  void backward(T* gradient, T* scratch, const GradientsReady& ready);

  const T* output() const { return output_; }
  std::int64_t output_count() const { return count_; }

 private:
  struct Slot {
    std::unique_ptr<SwinBlock<T>> block;  // null: identity
    std::vector<T> output;                // training only
    const T* input = nullptr;             // of the last forward pass
  };

  T* next_output(Slot& slot, const T* x);

  std::int64_t count_;
  std::vector<std::unique_ptr<BlockActivations<T>>> activations_;  // one a block in training, else one for all
  std::vector<T> shared_outputs_[2];                               // inference
  std::vector<Slot> slots_;
  const T* output_ = nullptr;
};

}  // namespace swinscope
