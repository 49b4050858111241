// The MLP half of a Swin block, with its normalization and residual connection: fc1, GELU, fc2 between
//   V1 (pre-norm):       y = x + MLP(LN(x))
//   V2 (res-post-norm):  y = x + LN(MLP(x))
#pragma once

#include <vector>

#include "workloads/layers.h"
#include "workloads/swin_attention.h"

namespace swinscope {

// What the forward pass leaves for the backward pass. In inference blocks of a stage share one.
template <typename T>
struct MlpActivations {
  std::vector<T> norm_side;  // [tokens, C]: V1 the normalized input, V2 what is to be normalized
  std::vector<T> hidden;     // [tokens, 4C], before GELU
  std::vector<T> activated;  // [tokens, 4C]; empty in inference, where GELU works in place

  explicit MlpActivations(const BlockSetup& setup);
};

template <typename T>
class MlpHalf {
 public:
  MlpHalf(ParameterBinder<T>& binder, const BlockSetup& setup, MlpActivations<T>& activations,
          BlockScratch<T>& scratch);

  // y must not be x. `scale`: stochastic depth per sample, or null.
  void forward(const T* x, const std::type_identity_t<T>* scale, T* y);
  // `x` as in the forward pass. dx is overwritten and must not be dy.
  void backward(const T* x, const std::type_identity_t<T>* scale, const T* dy, T* dx);

 private:
  bool pre_norm() const { return version_ == SwinVersion::kV1; }
  // GELU's output: its own buffer in training, where the input is needed again.
  T* activated() { return saved_->activated.empty() ? saved_->hidden.data() : saved_->activated.data(); }

  SwinVersion version_;
  MlpActivations<T>* saved_;
  BlockScratch<T>* scratch_;
  std::int64_t hidden_count_;
  LayerNormLayer<T> norm_;
  LinearLayer<T> fc1_;
  LinearLayer<T> fc2_;
  ResidualLayer<T> residual_;
  Operation gelu_;
};

}  // namespace swinscope
