// Window attention step by step, forward and backward: the kernels of kernels/window_attention_steps.h and the products
// between them, in their order. For the rungs below `attention`, in inference and in training.
#pragma once

#include <functional>
#include <string>

#include "kernels/matmul.h"
#include "kernels/window_attention.h"
#include "workloads/annotate.h"

namespace swinscope {

// As MatmulLibrary::prepare, which needs a GPU.
using PrepareProduct = std::function<const cuda::Matmul&(const cuda::MatmulShape&)>;

// What becomes of a step: its name within the attention ("softmax"), its work, what it does.
using EmitStep =
    std::function<void(const std::string& name, OperationClass operation_class, const OperationCost& cost,
                       const ShapeExtents& input, const ShapeExtents& output, std::function<void(cuda::Stream)> run)>;

// Padding of a window to a multiple of 8 tokens is part of all of them. Those of the backward pass may be null without
// one.
struct AttentionStepBuffers {
  // That the forward pass leaves for the backward pass:
  void* heads = nullptr;          // [3, products, padded tokens, head_dim]: q (V1: scaled), k, v
  float* norms = nullptr;         // [2, products, padded tokens]: inverse, of q and k; V2 only
  float* cosines = nullptr;       // as the probabilities, in fp32: V2's scores before the bias; without a backward pass
                                  // `scores`
  void* probabilities = nullptr;  // [products, padded tokens, padded tokens]
  // In which nothing stays:
  float* scores = nullptr;         // as the probabilities, in fp32
  void* attended = nullptr;        // [products, padded tokens, head_dim]; backward its gradient
  void* rounded_scores = nullptr;  // as the probabilities; backward only; may be `scores` in fp32
  void* head_gradients = nullptr;  // as the heads; backward only
};

// In elements.
struct AttentionStepSizes {
  explicit AttentionStepSizes(const WindowAttentionShape& shape);
  std::int64_t part;    // of one of q, k, v, attended
  std::int64_t scores;  // and probabilities
  std::int64_t norms;   // of one of q, k
};

std::int64_t attention_steps_workspace_bytes(const WindowAttentionShape& shape, cuda::TokenOrder order);

class AttentionSteps {
 public:
  AttentionSteps(const WindowAttentionShape& shape, Precision precision, cuda::TokenOrder order,
                 const AttentionStepBuffers& buffers, EmitStep emit, PrepareProduct prepare);

  // Tensors as for the single kernel, but for the bias, by cuda::steps::gather_position_bias(), and the LSE, of which
  // there is none.
  void forward(const cuda::WindowAttentionTensors& tensors) const;
  // Of the tensors qkv, bias, pad_qkv and lse are not read. Workspace: attention_steps_workspace_bytes().
  void backward(const cuda::WindowAttentionGradientTensors& tensors) const;

 private:
  bool cosine() const { return shape_.score == AttentionScore::kCosine; }
  void* part(void* parts, int index) const;
  cuda::MatmulShape product(std::int64_t n, std::int64_t k, ElementType result) const;
  void multiply(const char* name, const cuda::MatmulShape& shape, const void* a, const void* b, void* y) const;
  void score_gradients(const cuda::WindowAttentionGradientTensors& tensors) const;
  void query_and_key_gradients() const;
  void emit(const char* name, OperationClass operation_class, const OperationCost& cost, const ShapeExtents& input,
            const ShapeExtents& output, std::function<void(cuda::Stream)> run) const {
    emit_(name, operation_class, cost, input, output, std::move(run));
  }
  OperationCost moves(std::int64_t read, std::int64_t written) const {
    return {0, read * element_, written * element_};
  }

  WindowAttentionShape shape_;
  Precision precision_;
  ElementType type_;
  std::int64_t element_;
  cuda::TokenOrder order_;
  AttentionStepBuffers buffers_;
  EmitStep emit_;
  PrepareProduct prepare_;
  AttentionStepSizes sizes_;
  std::int64_t padded_;
  std::int64_t products_;
  std::int64_t rows_;  // of qkv
  ShapeExtents head_extents_, score_extents_, token_extents_, qkv_extents_;
};

}  // namespace swinscope
