// The attention half of a Swin block, with its normalization and residual connection:
//   V1 (arXiv 2103.14030, section 3.2, pre-norm):       y = x + Attention(LN(x))
//   V2 (arXiv 2111.09883, section 3.2, res-post-norm):  y = x + LN(Attention(x))
// where Attention is the qkv projection, attention within shifted windows and the output projection.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/continuous_bias.h"
#include "kernels/window_attention.h"
#include "workloads/layers.h"
#include "workloads/model_table.h"

namespace swinscope {

// What a block is made of.
struct BlockSetup {
  SwinVersion version = SwinVersion::kV1;
  StageShape stage;
  std::int64_t batch = 0;
  int shift = 0;           // tokens; 0 in even blocks
  bool training = false;   // keeps what the backward pass needs
  std::string parameters;  // layers.2.blocks.4
  std::string path;        // stage3.block5

  std::int64_t tokens() const { return batch * stage.resolution * stage.resolution; }
};

// Buffers in which no value outlives one half of a block: shared by all blocks of a model. A half grows them to its
// needs when it is made.
template <typename T>
struct BlockScratch {
  std::vector<T> token;      // [tokens, C]
  std::vector<T> wide;       // [tokens, 4C]
  std::vector<T> position;   // workspace of V2's position bias
  std::vector<double> sums;  // workspace of the attention: partial sums

  template <typename U>
  static void grow(std::vector<U>& buffer, std::int64_t count) {
    buffer.resize(std::max(buffer.size(), static_cast<std::size_t>(count)));
  }
};

// What the forward pass leaves for the backward pass. In inference blocks of a stage share one.
template <typename T>
struct AttentionActivations {
  std::vector<T> norm_side;  // [tokens, C]: V1 the normalized input, V2 what is to be normalized
  std::vector<T> qkv;        // [tokens, 3C]
  std::vector<T> attended;   // [tokens, C]
  std::vector<T> lse;        // [tokens, heads]; empty in inference

  explicit AttentionActivations(const BlockSetup& setup);
};

// The relative position bias table [rows, heads] that the attention adds: V1's is a parameter, V2's is computed from
// coordinates by a two-layer network.
template <typename T>
class PositionBias {
 public:
  PositionBias(ParameterBinder<T>& binder, const BlockSetup& setup);

  // V2: computes the table from the weights. To be called in each training step and once after the weights of an
  // inference model have changed.
  void refresh();
  const T* table() const { return version_ == SwinVersion::kV1 ? parameter_.value : table_.data(); }
  // Where the attention accumulates the table's gradient; V2's is zeroed first.
  T* begin_backward();
  // V2: from the table's gradient to the network's. `workspace` holds backward_workspace() elements.
  void backward(T* workspace);
  std::int64_t backward_workspace() const { return version_ == SwinVersion::kV1 ? 0 : shape_.backward_workspace(); }

 private:
  SwinVersion version_;
  ContinuousBiasShape shape_;
  BoundParameter<T> parameter_;  // V1
  BoundParameter<T> weight1_, bias1_, weight2_;
  std::vector<T> coordinates_, activations_, table_, table_gradient_;
  Operation operation_;
};

template <typename T>
class AttentionHalf {
 public:
  AttentionHalf(ParameterBinder<T>& binder, const BlockSetup& setup, AttentionActivations<T>& activations,
                BlockScratch<T>& scratch);

  void refresh_position_bias() { position_.refresh(); }
  // y must not be x. `scale`: stochastic depth per sample, or null.
  void forward(const T* x, const std::type_identity_t<T>* scale, T* y);
  // `x` as in the forward pass. dx is overwritten and must not be dy.
  void backward(const T* x, const std::type_identity_t<T>* scale, const T* dy, T* dx);

 private:
  LinearLayer<T> make_qkv(ParameterBinder<T>& binder, const BlockSetup& setup);
  bool pre_norm() const { return version_ == SwinVersion::kV1; }
  void assemble_qkv_bias();
  void scatter_qkv_bias_gradient();
  WindowAttentionInputs<T> attention_inputs() const;
  void attend();
  void attend_backward(const T* dattended, T* dqkv);

  SwinVersion version_;
  bool training_;
  AttentionActivations<T>* saved_;
  BlockScratch<T>* scratch_;
  WindowAttentionShape shape_;
  BoundParameter<T> logit_scale_, q_bias_, v_bias_;  // V2
  std::vector<T> joint_bias_, joint_bias_gradient_;  // V2: [3C] of q, k (zeros) and v
  PositionBias<T> position_;
  LayerNormLayer<T> norm_;
  LinearLayer<T> qkv_;
  LinearLayer<T> projection_;
  ResidualLayer<T> residual_;
  Operation operation_;
};

}  // namespace swinscope
