// Makes the steps of a forward pass, layer by layer.
#pragma once

#include <string>
#include <vector>

#include "kernels/layernorm.h"
#include "kernels/matmul.h"
#include "kernels/narrow_block.h"
#include "kernels/window_attention.h"
#include "workloads/cuda/activations.h"
#include "workloads/cuda/device_model.h"
#include "workloads/cuda/device_weights.h"
#include "workloads/cuda/element_type.h"
#include "workloads/cuda/serpentine.h"

namespace swinscope {

class ModelBuilder {
 public:
  ModelBuilder(const SwinConfig& config, std::int64_t batch, const DeviceModelOptions& options, DeviceWeights& weights,
               Activations& activations, cuda::MatmulLibrary& library, cuda::Stream stream, cuda::DeviceInfo gpu);
  // The steps from the images to the logits in fp32.
  std::vector<DeviceStep> build();

 private:
  // One block of a stage.
  struct Block {
    StageShape stage;
    std::string parameters;  // layers.2.blocks.4
    std::string path;        // stage3.block5
    std::string next;        // the parameters of the product after this block: layers.2.blocks.5.attn.qkv
    WindowAttentionShape attention;
    void* x = nullptr;        // the residual stream, updated in place
    std::int64_t tokens = 0;  // rows in image order
    std::int64_t rows = 0;    // rows that the attention half works on: with padding where windows are copied
  };
  // What a product adds beside y = x w^T.
  struct Linear {
    std::string path;
    std::int64_t rows = 0;
    std::int64_t inputs = 0;
    std::int64_t outputs = 0;
    const void* bias = nullptr;
    bool bias_in_product = true;
    bool gelu = false;        // tanh form, in the product
    bool accumulate = false;  // y += ...
  };

  bool v1() const { return config_.version == SwinVersion::kV1; }
  bool tanh_gelu() const;

  void stem();
  Block block_of(const StageShape& stage, int stage_index, int index, void* x) const;
  void attention_half(const Block& block);
  void mlp_half(const Block& block, const Block* next);
  void merging(int stage, const void* x, void* y);
  void head(const void* x);

  void linear(const Linear& linear, const void* x, const void* weight, void* y);
  cuda::MatmulShape shape_of(const Linear& linear) const;
  void product(const Linear& linear, const cuda::Matmul& matmul, cuda::MatmulOperands operands);
  Linear qkv_of(const Block& block, const void* bias) const;
  Linear fc1_of(const Block& block) const;
  // V1: x += y W^T + b before `next`, whose normalization is left to the two products where that is wanted and faster.
  void linear_before(const Linear& linear, const Linear& next, const void* y, const void* weight, void* x);
  // Of the block's x, by the product that linear_before() chose; nothing happens where it chose none. `norm` and `name`
  // are those of parameters.
  bool folded_linear(const Linear& linear, const std::string& norm, const std::string& name, const void* x, void* y);
  // Of the block's x, many rows of it: the product that normalizes them itself, where there is one and it is wanted;
  // else nothing happens. `norm` and `name` are those of parameters.
  bool normalized_rows(const Linear& linear, const std::string& norm, const std::string& name, const void* x, void* y);
  // y = LN(x W^T + b), or y += where `linear` accumulates, as one product where that is wanted and faster; else in two,
  // by way of `side`. `norm`: of the step; `norm_name` and `name`: of parameters.
  void normalized_linear(const Linear& linear, const std::string& norm, const std::string& norm_name,
                         const std::string& name, const void* x, void* side, void* y);
  void norm(const std::string& path, const std::string& parameters, const LayerNormShape& shape, const void* x, void* y,
            const void* residual = nullptr, const DeviceWeights::Range& ahead = {});
  // Weights that a normalization fetches ahead, where that is wanted.
  DeviceWeights::Range weights_ahead(const Block& block, const std::string& first, const std::string& last) const;
  void add(const std::string& path, const Block& block, void* x, const void* branch);

  // Blocks with few channels and many rows; defined in narrow_builder.cpp.
  // Whether the block has 128 channels, and so many rows that kernels of several operations pay.
  bool is_narrow(const Block& block) const;
  // Whether normalization and qkv projection are such a kernel, and all from the fully connected layers on (in V1 from
  // the projection on).
  bool has_narrow_qkv(const Block& block) const;
  bool has_narrow_mlp(const Block& block) const;
  // V1: the qkv projection of LN(x).
  void narrow_qkv(const Block& block, const void* bias, void* y);
  // V1: x += proj(attended); x += fc2(GELU(fc1(LN(x)))).
  void narrow_block_end(const Block& block);
  // V2: x += LN(fc2(GELU(fc1(x)))).
  void narrow_mlp(const Block& block);
  cuda::NarrowMlpWeights narrow_mlp_weights(const Block& block) const;

  // Attention between qkv and the attended values; defined in attention_builder.cpp.
  const void* qkv_bias(const Block& block);
  const float* position_table(const Block& block);
  void attend(const Block& block, const void* bias);
  void attend_at_once(const Block& block, const void* pad, cuda::TokenOrder order);
  // The bias of all pairs of tokens, as attention kernels read it.
  const void* attention_bias(const Block& block);
  // Whether the qkv projection is part of the attention kernel, and in V1 the normalization before it.
  bool has_qkv_attention(const Block& block) const;
  // In V1 also the normalization before it.
  void attend_with_qkv(const Block& block, const void* bias);
  void attend_by_steps(const Block& block, const void* pad, cuda::TokenOrder order);
  const void* into_windows(const Block& block, const void* x);
  void out_of_windows(const Block& block, const void* branch);

  // backwards: through the tokens; most steps cannot.
  void step(const std::string& path, OperationClass operation_class, const OperationCost& cost,
            const ShapeExtents& input, const ShapeExtents& output, std::function<void(cuda::Stream)> run,
            bool backwards = false);
  // The cost of a step that only moves elements of the model's type.
  OperationCost moves(std::int64_t read, std::int64_t written) const;

  SwinConfig config_;
  std::int64_t batch_;
  DeviceModelOptions options_;
  ElementType type_;
  std::int64_t element_;
  DeviceWeights& weights_;
  Activations& activations_;
  cuda::MatmulLibrary& library_;
  cuda::Stream stream_;
  cuda::DeviceInfo gpu_;  // that decides which fused kernels there are and pay
  std::vector<DeviceStep> steps_;
  Serpentine serpentine_;
  const cuda::Matmul* folded_ = nullptr;  // the next product, where it normalizes by moments
};

}  // namespace swinscope
