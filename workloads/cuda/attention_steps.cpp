#include "workloads/cuda/attention_steps.h"

#include <algorithm>
#include <utility>

#include "kernels/bias.h"
#include "kernels/convert.h"
#include "kernels/window_attention_steps.h"
#include "workloads/cuda/element_type.h"

namespace swinscope {
namespace {

std::int64_t rows_of(const WindowGrid& grid, cuda::TokenOrder order) {
  return order == cuda::TokenOrder::kImage ? grid.tokens() : grid.window_count() * grid.window_tokens();
}

}  // namespace

AttentionStepSizes::AttentionStepSizes(const WindowAttentionShape& shape)
    : part(cuda::steps::products(shape) * cuda::steps::padded_tokens(shape) * shape.head_dim),
      scores(cuda::steps::products(shape) * cuda::steps::padded_tokens(shape) * cuda::steps::padded_tokens(shape)),
      norms(cuda::steps::products(shape) * cuda::steps::padded_tokens(shape)) {}

std::int64_t attention_steps_workspace_bytes(const WindowAttentionShape& shape, cuda::TokenOrder order) {
  return std::max(cuda::steps::backward_workspace_bytes(shape),
                  cuda::bias_backward_workspace_bytes({rows_of(shape.grid, order), 3 * shape.channels()}));
}

AttentionSteps::AttentionSteps(const WindowAttentionShape& shape, Precision precision, cuda::TokenOrder order,
                               const AttentionStepBuffers& buffers, EmitStep emit, PrepareProduct prepare)
    : shape_(shape),
      precision_(precision),
      type_(element_type_of(precision)),
      element_(element_bytes(type_)),
      order_(order),
      buffers_(buffers),
      emit_(std::move(emit)),
      prepare_(std::move(prepare)),
      sizes_(shape),
      padded_(cuda::steps::padded_tokens(shape)),
      products_(cuda::steps::products(shape)),
      rows_(rows_of(shape.grid, order)),
      head_extents_{products_, padded_, shape.head_dim},
      score_extents_{products_, padded_, padded_},
      token_extents_{rows_, shape.channels()},
      qkv_extents_{rows_, 3 * shape.channels()} {}

void* AttentionSteps::part(void* parts, int index) const {
  return static_cast<char*>(parts) + index * sizes_.part * element_;
}

// All have a row for each of the window's tokens.
cuda::MatmulShape AttentionSteps::product(std::int64_t n, std::int64_t k, ElementType result) const {
  cuda::MatmulShape shape;
  shape.m = padded_;
  shape.n = n;
  shape.k = k;
  shape.batch = products_;
  shape.transpose_b = false;
  shape.operand_type = type_;
  shape.result_type = result;
  if (precision_ == Precision::kTf32) shape.arithmetic = cuda::MatmulArithmetic::kTf32;
  return shape;
}

void AttentionSteps::multiply(const char* name, const cuda::MatmulShape& shape, const void* a, const void* b,
                              void* y) const {
  const cuda::Matmul& matmul = prepare_(shape);
  const OperationCost cost{2 * products_ * shape.m * shape.n * shape.k,
                           products_ * (shape.m + shape.n) * shape.k * element_,
                           products_ * shape.m * shape.n * element_bytes(shape.result_type)};
  emit(name, OperationClass::kGemm, cost, shape.k == padded_ ? score_extents_ : head_extents_,
       shape.n == padded_ ? score_extents_ : head_extents_, [=, &matmul](cuda::Stream stream) {
         matmul.run({a, b, nullptr, y}, stream);
       });
}

void AttentionSteps::forward(const cuda::WindowAttentionTensors& tensors) const {
  void* const q = buffers_.heads;
  void* const k = part(q, 1);
  void* const v = part(q, 2);
  float* const scores = buffers_.scores;
  float* const products = cosine() ? buffers_.cosines : scores;
  const OperationCost in_place{0, sizes_.scores * 4, sizes_.scores * 4};
  const auto on_scores = [&](const char* name, std::function<void(cuda::Stream)> run) {
    emit(name, OperationClass::kElementwise, in_place, score_extents_, score_extents_, std::move(run));
  };
  emit("split", OperationClass::kLayout, moves(rows_ * 3 * shape_.channels(), 3 * sizes_.part), qkv_extents_,
       head_extents_, [=, shape = shape_, type = type_, order = order_](cuda::Stream stream) {
         cuda::steps::split_heads(shape, type, order, tensors.qkv, tensors.pad_qkv, q, stream);
       });
  if (!cosine()) {
    emit(
        "scale", OperationClass::kElementwise, moves(sizes_.part, sizes_.part), head_extents_, head_extents_,
        [=, shape = shape_, type = type_](cuda::Stream stream) { cuda::steps::scale_queries(shape, type, q, stream); });
  } else {
    for (const int index : {0, 1}) {
      OperationCost cost = moves(sizes_.part, 0);
      cost.bytes_written = sizes_.norms * 4;
      emit(index == 0 ? "q_norm" : "k_norm", OperationClass::kNorm, cost, head_extents_, {products_, padded_},
           [=, shape = shape_, type = type_, from = part(q, index), norms = buffers_.norms + index * sizes_.norms](
               cuda::Stream stream) { cuda::steps::inverse_norms(shape, type, from, norms, stream); });
    }
  }
  cuda::MatmulShape score_product = product(padded_, shape_.head_dim, ElementType::kFp32);
  score_product.transpose_b = true;
  multiply("scores", score_product, q, k, products);
  if (cosine()) {
    on_scores("cosine", [=, shape = shape_, norms = buffers_.norms, count = sizes_.norms](cuda::Stream stream) {
      cuda::steps::scale_cosine(shape, norms, norms + count, tensors.logit_scale, products, stream);
    });
  }
  on_scores("bias.add", [=, shape = shape_, bias = static_cast<const float*>(tensors.bias)](cuda::Stream stream) {
    cuda::steps::add_position_bias(shape, bias, products, scores, stream);
  });
  if (shape_.grid.shift.height + shape_.grid.shift.width > 0) {
    on_scores("mask",
              [=, shape = shape_](cuda::Stream stream) { cuda::steps::add_window_mask(shape, scores, stream); });
  }
  emit("softmax", OperationClass::kElementwise, {0, sizes_.scores * 4, sizes_.scores * element_}, score_extents_,
       score_extents_, [=, shape = shape_, type = type_, to = buffers_.probabilities](cuda::Stream stream) {
         cuda::steps::softmax(shape, type, scores, to, stream);
       });
  multiply("values", product(shape_.head_dim, padded_, type_), buffers_.probabilities, v, buffers_.attended);
  emit("merge", OperationClass::kLayout, moves(sizes_.part, rows_ * shape_.channels()), head_extents_, token_extents_,
       [=, shape = shape_, type = type_, order = order_, from = buffers_.attended](cuda::Stream stream) {
         cuda::steps::merge_heads(shape, type, order, from, tensors.out, stream);
       });
}

void AttentionSteps::backward(const cuda::WindowAttentionGradientTensors& tensors) const {
  void* const dattended = buffers_.attended;
  void* const gradients = buffers_.head_gradients;
  emit("merge", OperationClass::kLayout, moves(rows_ * shape_.channels(), sizes_.part), token_extents_, head_extents_,
       [=, shape = shape_, type = type_, order = order_](cuda::Stream stream) {
         cuda::steps::split_gradient(shape, type, order, tensors.dout, dattended, stream);
       });
  cuda::MatmulShape value_product = product(shape_.head_dim, padded_, type_);
  value_product.transpose_a = true;
  multiply("values", value_product, buffers_.probabilities, dattended, part(gradients, 2));
  cuda::MatmulShape probability_product = product(padded_, shape_.head_dim, ElementType::kFp32);
  probability_product.transpose_b = true;
  multiply("values", probability_product, dattended, part(buffers_.heads, 2), buffers_.scores);
  score_gradients(tensors);
  query_and_key_gradients();
  emit("split", OperationClass::kLayout, moves(3 * sizes_.part, rows_ * 3 * shape_.channels()), head_extents_,
       qkv_extents_, [=, shape = shape_, type = type_, order = order_](cuda::Stream stream) {
         cuda::steps::merge_gradients(shape, type, order, gradients, tensors.dqkv, stream);
       });
  const BiasShape rows{rows_, 3 * shape_.channels()};
  cuda::BiasGradientTensors sums;
  sums.dy = tensors.dqkv;
  sums.dbias = tensors.dqkv_bias;
  sums.accumulate = tensors.accumulate;
  sums.workspace = tensors.workspace;
  emit("qkv", OperationClass::kElementwise, bias_backward_cost(rows, element_), qkv_extents_, {rows.columns},
       [=, type = type_](cuda::Stream stream) { cuda::bias_backward(rows, type, sums, stream); });
  if (!shape_.grid.padded() || order_ == cuda::TokenOrder::kWindow) return;
  const std::int64_t padding = rows_of(shape_.grid, cuda::TokenOrder::kWindow) - rows_;
  emit("split.padding", OperationClass::kElementwise,
       {0, padding * 3 * shape_.channels() * element_ + 3 * shape_.channels() * 4, 3 * shape_.channels() * 4},
       {padding, 3 * shape_.channels()}, {3 * shape_.channels()},
       [=, shape = shape_, type = type_](cuda::Stream stream) {
         cuda::steps::add_padding(shape, type, gradients, tensors.dqkv_bias, stream);
       });
}

// From the probabilities' gradient in `scores` to that of q k^T in `rounded_scores`, with the position bias's.
void AttentionSteps::score_gradients(const cuda::WindowAttentionGradientTensors& tensors) const {
  float* const scores = buffers_.scores;
  void* const rounded = buffers_.rounded_scores;
  emit("softmax", OperationClass::kElementwise, {0, sizes_.scores * (4 + element_), sizes_.scores * 4}, score_extents_,
       score_extents_, [=, shape = shape_, type = type_, from = buffers_.probabilities](cuda::Stream stream) {
         cuda::steps::softmax_backward(shape, type, from, scores, stream);
       });
  const std::int64_t table_rows = bias_table_rows(shape_.grid.window);
  emit("bias.gather", OperationClass::kElementwise, {0, sizes_.scores * 4, table_rows * shape_.heads * 4},
       score_extents_, {table_rows, shape_.heads}, [=, shape = shape_](cuda::Stream stream) {
         cuda::steps::position_bias_backward(shape, scores, tensors.accumulate, tensors.workspace, tensors.dtable,
                                             stream);
       });
  const OperationCost cost{0, sizes_.scores * 4, sizes_.scores * element_};
  if (cosine()) {
    emit("logit_scale", OperationClass::kElementwise, {0, 2 * sizes_.scores * 4, shape_.heads * 4}, score_extents_,
         {shape_.heads}, [=, shape = shape_, cosines = buffers_.cosines](cuda::Stream stream) {
           cuda::steps::logit_scale_backward(shape, cosines, scores, tensors.logit_scale, tensors.accumulate,
                                             tensors.workspace, tensors.dlogit_scale, stream);
         });
    emit("cosine", OperationClass::kElementwise, cost, score_extents_, score_extents_,
         [=, shape = shape_, type = type_, norms = buffers_.norms, count = sizes_.norms](cuda::Stream stream) {
           cuda::steps::scale_cosine_backward(shape, type, norms, norms + count, tensors.logit_scale, scores, rounded,
                                              stream);
         });
  } else if (rounded != scores) {
    emit("scores.round", OperationClass::kElementwise, cost, score_extents_, score_extents_,
         [=, type = type_, count = sizes_.scores](cuda::Stream stream) {
           cuda::convert(count, ElementType::kFp32, scores, type, rounded, stream);
         });
  }
}

void AttentionSteps::query_and_key_gradients() const {
  void* const q = buffers_.heads;
  void* const dq = buffers_.head_gradients;
  const void* const dscores = buffers_.rounded_scores;
  multiply("scores", product(shape_.head_dim, padded_, type_), dscores, part(q, 1), dq);
  cuda::MatmulShape key_product = product(shape_.head_dim, padded_, type_);
  key_product.transpose_a = true;
  multiply("scores", key_product, dscores, q, part(dq, 1));
  if (!cosine()) {
    emit("scale", OperationClass::kElementwise, moves(sizes_.part, sizes_.part), head_extents_, head_extents_,
         [=, shape = shape_, type = type_](cuda::Stream stream) {
           cuda::steps::scale_queries(shape, type, dq, stream);
         });
    return;
  }
  for (const int index : {0, 1}) {
    emit(index == 0 ? "q_norm" : "k_norm", OperationClass::kNorm, moves(2 * sizes_.part, sizes_.part), head_extents_,
         head_extents_,
         [=, shape = shape_, type = type_, x = part(q, index), dx = part(dq, index),
          norms = buffers_.norms + index * sizes_.norms](cuda::Stream stream) {
           cuda::steps::normalize_backward(shape, type, x, norms, dx, stream);
         });
  }
}

}  // namespace swinscope
