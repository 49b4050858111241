#include <algorithm>
#include <cmath>

#include "kernels/check.h"
#include "kernels/gemm.h"
#include "kernels/lanes.h"
#include "kernels/parallel.h"
#include "kernels/vector_math.h"
#include "kernels/window_attention.h"
#include "kernels/window_attention_tile.h"

namespace swinscope {
namespace {

// A task is one head and a range of windows: the head's bias is laid out once for all of them, and the
// parameter gradients of a task have a place of their own, added up in task order at the end. The number of
// ranges is fixed, since results must not depend on the thread count.
constexpr std::int64_t kMaxRangesPerHead = 16;

struct TaskPlan {
  std::int64_t windows_per_range;
  std::int64_t ranges;
};

TaskPlan plan_tasks(const WindowGrid& grid) {
  const std::int64_t windows = grid.window_count();
  const std::int64_t per_range = std::max<std::int64_t>((windows + kMaxRangesPerHead - 1) / kMaxRangesPerHead, 1);
  return {per_range, (windows + per_range - 1) / per_range};
}

// Partial parameter gradients of one task: the head's column of the bias table, its logit scale, and what
// padding adds to q, k and v.
std::int64_t partial_elements(const WindowAttentionShape& shape) {
  return bias_table_rows(shape.grid.window) + 1 + 3 * shape.head_dim;
}

std::int64_t forward_flops(const WindowAttentionShape& shape) {
  const std::int64_t tokens = shape.grid.window_tokens();
  return 4 * shape.grid.window_count() * tokens * tokens * shape.channels();
}

// bias table, logit scale and pad row, as inputs or as gradients
std::int64_t parameter_elements(const WindowAttentionShape& shape) {
  return bias_table_rows(shape.grid.window) * shape.heads + (shape.score == AttentionScore::kCosine ? shape.heads : 0) +
         (shape.grid.padded() ? 3 * shape.channels() : 0);
}

template <typename T>
void check(const WindowAttentionShape& shape, const WindowAttentionInputs<T>& inputs) {
  const char* const operation = "window_attention";
  const auto fits = [](std::int64_t map, std::int64_t window, std::int64_t shift) {
    return map > 0 && window > 0 && shift >= 0 && shift < window;
  };
  const WindowGrid& grid = shape.grid;
  require(grid.batch >= 0 && shape.heads > 0 && shape.head_dim > 0, operation, "extent out of range");
  require(fits(grid.map.height, grid.window.height, grid.shift.height) &&
              fits(grid.map.width, grid.window.width, grid.shift.width),
          operation, "the map must not be empty and the shift must be smaller than the window");
  require(inputs.qkv != nullptr && inputs.bias_table != nullptr, operation, "qkv and bias_table are needed");
  require(shape.score != AttentionScore::kCosine || inputs.logit_scale != nullptr, operation,
          "the cosine score needs logit_scale");
}

}  // namespace

OperationCost window_attention_forward_cost(const WindowAttentionShape& shape, std::int64_t element_bytes) {
  const std::int64_t out = shape.grid.tokens() * shape.channels();
  return {forward_flops(shape), (3 * out + parameter_elements(shape)) * element_bytes,
          (out + shape.grid.tokens() * shape.heads) * element_bytes};
}

OperationCost window_attention_backward_cost(const WindowAttentionShape& shape, std::int64_t element_bytes) {
  const std::int64_t out = shape.grid.tokens() * shape.channels();
  const std::int64_t lse = shape.grid.tokens() * shape.heads;
  return {2 * forward_flops(shape), (4 * out + lse + 2 * parameter_elements(shape)) * element_bytes,
          (3 * out + parameter_elements(shape)) * element_bytes};
}

namespace cpu {
namespace {

// The partial sums of one backward task: see partial_elements().
struct PartialGradients {
  PartialGradients(const WindowAttentionShape& shape, double* memory)
      : bias(memory), logit_scale(memory + bias_table_rows(shape.grid.window)), pad(logit_scale + 1) {}
  double* bias;
  double* logit_scale;
  double* pad;  // [3, head_dim]
};

template <typename T>
void forward_window(const WindowAttentionShape& shape, std::int64_t head, std::int64_t window, HeadTile<T>& tile,
                    T* out, T* lse) {
  const std::int64_t tokens = tile.tokens();
  const std::int64_t dim = tile.dim();
  tile.gather(window);
  tile.compute_scores(window);
  for (std::int64_t i = 0; i < tokens; ++i) {
    const T row_lse = tile.softmax_row(i);
    const std::int64_t token = window_token(shape.grid, window, i);
    if (lse != nullptr && token != kPaddedToken) lse[token * shape.heads + head] = row_lse;
  }
  gemm({.m = tokens, .n = dim, .k = tokens}, T{1}, tile.scores, tile.v, T{0}, tile.out);
  for (std::int64_t i = 0; i < tokens; ++i) {
    const std::int64_t token = window_token(shape.grid, window, i);
    if (token == kPaddedToken) continue;
    std::copy_n(tile.out + i * dim, dim, out + token * shape.channels() + head * dim);
  }
}

// tile.scores become probabilities and tile.out the output's gradient. Padded queries have no output: all
// zero.
template <typename T>
void recompute_probabilities(const WindowAttentionShape& shape, std::int64_t head, std::int64_t window, const T* lse,
                             const T* dout, HeadTile<T>& tile) {
  const std::int64_t tokens = tile.tokens();
  const std::int64_t dim = tile.dim();
  tile.compute_scores(window);
  for (std::int64_t i = 0; i < tokens; ++i) {
    const std::int64_t token = window_token(shape.grid, window, i);
    T* row = tile.scores + i * tokens;
    if (token == kPaddedToken) {
      std::fill_n(row, tokens, T{0});
      std::fill_n(tile.out + i * dim, dim, T{0});
      continue;
    }
    const T row_lse = lse[token * shape.heads + head];
    for (std::int64_t j = 0; j < tokens; ++j)
      row[j] = exponential(row[j] - row_lse);
    std::copy_n(dout + token * shape.channels() + head * dim, dim, tile.out + i * dim);
  }
}

// dscores = P o (dP - rowsum(P o dP)) with dP = dout v^T; dv = P^T dout; dq, dk from dscores.
template <typename T>
void tile_gradients(HeadTile<T>& tile) {
  const std::int64_t tokens = tile.tokens();
  const std::int64_t dim = tile.dim();
  gemm({.m = tokens, .n = tokens, .k = dim, .transpose_b = Transpose::kYes}, T{1}, tile.out, tile.v, T{0},
       tile.dscores);
  const GemmShape transposed{.m = tokens, .n = dim, .k = tokens, .transpose_a = Transpose::kYes};
  gemm(transposed, T{1}, tile.scores, tile.out, T{0}, tile.dv);
  for (std::int64_t i = 0; i < tokens; ++i) {
    const T* p = tile.scores + i * tokens;
    T* d = tile.dscores + i * tokens;
    const T mean = lane_sum<T>(tokens, [&](std::int64_t j) { return p[j] * d[j]; });
    for (std::int64_t j = 0; j < tokens; ++j)
      d[j] = p[j] * (d[j] - mean);
  }
  gemm({.m = tokens, .n = dim, .k = tokens}, tile.scale(), tile.dscores, tile.k, T{0}, tile.dq);
  gemm(transposed, tile.scale(), tile.dscores, tile.q, T{0}, tile.dk);
}

template <typename T>
void scatter_gradients(const WindowAttentionShape& shape, std::int64_t head, std::int64_t window,
                       const HeadTile<T>& tile, T* dqkv, double* dpad) {
  const std::int64_t dim = tile.dim();
  const T* const parts[3] = {tile.dq, tile.dk, tile.dv};
  for (std::int64_t slot = 0; slot < tile.tokens(); ++slot) {
    const std::int64_t token = window_token(shape.grid, window, slot);
    for (std::int64_t part = 0; part < 3; ++part) {
      const T* row = parts[part] + slot * dim;
      if (token != kPaddedToken) {
        std::copy_n(row, dim, dqkv + (token * 3 + part) * shape.channels() + head * dim);
      } else {
        for (std::int64_t c = 0; c < dim; ++c)
          dpad[part * dim + c] += static_cast<double>(row[c]);
      }
    }
  }
}

template <typename T>
void backward_window(const WindowAttentionShape& shape, std::int64_t head, std::int64_t window, const T* lse,
                     const T* dout, HeadTile<T>& tile, T* dqkv, const PartialGradients& partial) {
  tile.gather(window);
  recompute_probabilities(shape, head, window, lse, dout, tile);
  tile_gradients(tile);
  tile.for_pairs([&](std::int64_t row, std::int64_t i, std::int64_t j) {
    partial.bias[row] += static_cast<double>(tile.dscores[i * tile.tokens() + j]);
  });
  if (shape.score == AttentionScore::kCosine) {
    // d score / d logit_scale is scale * cosine, and sum_ij dscores_ij * scale * q_i . k_j = sum_i q_i .
    // dq_i.
    *partial.logit_scale += static_cast<double>(
        lane_sum<T>(tile.tokens() * tile.dim(), [&](std::int64_t c) { return tile.q[c] * tile.dq[c]; }));
    tile.denormalize_gradients();
  }
  scatter_gradients(shape, head, window, tile, dqkv, partial.pad);
}

// Adds the partial sums of all ranges of a head to the parameter gradients, in order.
template <typename T>
void reduce_head(const WindowAttentionShape& shape, const WindowAttentionInputs<T>& inputs, std::int64_t head,
                 double* partials, const WindowAttentionGradients<T>& gradients) {
  const std::int64_t elements = partial_elements(shape);
  const std::int64_t ranges = plan_tasks(shape.grid).ranges;
  double* const total = partials + head * ranges * elements;
  for (std::int64_t range = 1; range < ranges; ++range) {
    for (std::int64_t e = 0; e < elements; ++e)
      total[e] += total[range * elements + e];
  }
  const PartialGradients sum(shape, total);
  for (std::int64_t row = 0; row < bias_table_rows(shape.grid.window); ++row) {
    gradients.bias_table[row * shape.heads + head] += static_cast<T>(sum.bias[row]);
  }
  if (shape.score == AttentionScore::kCosine && inputs.logit_scale[head] <= static_cast<T>(kMaxLogitScale)) {
    gradients.logit_scale[head] += static_cast<T>(*sum.logit_scale);
  }
  if (gradients.pad_qkv == nullptr || !shape.grid.padded()) return;
  for (std::int64_t part = 0; part < 3; ++part) {
    T* row = gradients.pad_qkv + part * shape.channels() + head * shape.head_dim;
    for (std::int64_t c = 0; c < shape.head_dim; ++c)
      row[c] += static_cast<T>(sum.pad[part * shape.head_dim + c]);
  }
}

}  // namespace

template <typename T>
void window_attention_forward(const WindowAttentionShape& shape, const WindowAttentionInputs<T>& inputs, T* out,
                              std::type_identity_t<T>* lse) {
  check(shape, inputs);
  const TaskPlan plan = plan_tasks(shape.grid);
  parallel_for(plan.ranges * shape.heads, [&](std::int64_t task) {
    const std::int64_t head = task % shape.heads;
    const std::int64_t first = task / shape.heads * plan.windows_per_range;
    const std::int64_t last = std::min(first + plan.windows_per_range, shape.grid.window_count());
    HeadTile<T> tile(shape, inputs, head, false);
    for (std::int64_t window = first; window < last; ++window)
      forward_window(shape, head, window, tile, out, lse);
  });
}

std::int64_t window_attention_backward_workspace(const WindowAttentionShape& shape) {
  return plan_tasks(shape.grid).ranges * shape.heads * partial_elements(shape);
}

template <typename T>
void window_attention_backward(const WindowAttentionShape& shape, const WindowAttentionInputs<T>& inputs, const T* lse,
                               const T* dout, const WindowAttentionGradients<T>& gradients, double* workspace) {
  check(shape, inputs);
  require(gradients.qkv != nullptr && gradients.bias_table != nullptr, "window_attention_backward",
          "the gradients of qkv and bias_table are needed");
  require(shape.score != AttentionScore::kCosine || gradients.logit_scale != nullptr, "window_attention_backward",
          "the gradient of logit_scale is needed");
  const TaskPlan plan = plan_tasks(shape.grid);
  const std::int64_t elements = partial_elements(shape);
  parallel_for(plan.ranges * shape.heads, [&](std::int64_t task) {
    const std::int64_t head = task % shape.heads;
    const std::int64_t range = task / shape.heads;
    const std::int64_t first = range * plan.windows_per_range;
    const std::int64_t last = std::min(first + plan.windows_per_range, shape.grid.window_count());
    double* const memory = workspace + (head * plan.ranges + range) * elements;
    std::fill_n(memory, elements, 0.0);
    const PartialGradients partial(shape, memory);
    HeadTile<T> tile(shape, inputs, head, true);
    for (std::int64_t window = first; window < last; ++window) {
      backward_window(shape, head, window, lse, dout, tile, gradients.qkv, partial);
    }
  });
  parallel_for(shape.heads, [&](std::int64_t head) { reduce_head(shape, inputs, head, workspace, gradients); });
}

template void window_attention_forward<float>(const WindowAttentionShape&, const WindowAttentionInputs<float>&, float*,
                                              float*);
template void window_attention_forward<double>(const WindowAttentionShape&, const WindowAttentionInputs<double>&,
                                               double*, double*);
template void window_attention_backward<float>(const WindowAttentionShape&, const WindowAttentionInputs<float>&,
                                               const float*, const float*, const WindowAttentionGradients<float>&,
                                               double*);
template void window_attention_backward<double>(const WindowAttentionShape&, const WindowAttentionInputs<double>&,
                                                const double*, const double*, const WindowAttentionGradients<double>&,
                                                double*);

}  // namespace cpu
}  // namespace swinscope
