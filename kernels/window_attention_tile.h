// Internal to the CPU backend of window_attention: one head of one window as dense tiles in the thread's scratch
// memory, gathered, scored and scattered for the forward and the backward pass.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "kernels/gemm.h"
#include "kernels/lanes.h"
#include "kernels/parallel.h"
#include "kernels/vector_math.h"
#include "kernels/window_attention.h"

namespace swinscope::cpu {

// One head of one window at a time, in dense tiles of the thread's scratch memory: q, k, v are [tokens,
// head_dim], scores are [tokens, tokens].
template <typename T>
class HeadTile {
 public:
  HeadTile(const WindowAttentionShape& shape, const WindowAttentionInputs<T>& inputs, std::int64_t head, bool backward)
      : shape_(shape),
        inputs_(inputs),
        head_(head),
        tokens_(shape.grid.window_tokens()),
        dim_(shape.head_dim),
        scale_(score_scale()) {
    const std::int64_t rows = tokens_ * dim_;
    const std::int64_t square = tokens_ * tokens_;
    T* memory = thread_scratch<T>((backward ? 7 : 4) * rows + (backward ? 3 : 2) * square + 3 * tokens_);
    const auto take = [&memory](std::int64_t count) { return std::exchange(memory, memory + count); };
    q = take(rows);
    k = take(rows);
    v = take(rows);
    out = take(rows);
    bias_ = take(square);
    scores = take(square);
    q_norm_ = take(tokens_);
    k_norm_ = take(tokens_);
    region_ = take(tokens_);
    if (backward) {
      dq = take(rows);
      dk = take(rows);
      dv = take(rows);
      dscores = take(square);
    }
    spread_bias();
  }

  // Fills q, k and v; in the cosine form q and k are normalized.
  void gather(std::int64_t window) {
    const std::int64_t channels = shape_.channels();
    for (std::int64_t slot = 0; slot < tokens_; ++slot) {
      const std::int64_t token = window_token(shape_.grid, window, slot);
      const T* source = token == kPaddedToken ? inputs_.pad_qkv : inputs_.qkv + token * 3 * channels;
      T* const rows[3] = {q + slot * dim_, k + slot * dim_, v + slot * dim_};
      for (std::int64_t part = 0; part < 3; ++part) {
        if (source == nullptr) {
          std::fill_n(rows[part], dim_, T{0});
        } else {
          std::copy_n(source + part * channels + head_ * dim_, dim_, rows[part]);
        }
      }
    }
    if (shape_.score == AttentionScore::kCosine) {
      normalize(q, q_norm_);
      normalize(k, k_norm_);
    }
  }

  // scores = scale * q k^T + bias + mask.
  void compute_scores(std::int64_t window) {
    std::copy_n(bias_, tokens_ * tokens_, scores);
    gemm({.m = tokens_, .n = tokens_, .k = dim_, .transpose_b = Transpose::kYes}, scale_, q, k, T{1}, scores);
    if (!window_is_masked(shape_.grid, window)) return;
    for (std::int64_t slot = 0; slot < tokens_; ++slot) {
      region_[slot] = static_cast<T>(window_region(shape_.grid, window, slot));
    }
    for (std::int64_t i = 0; i < tokens_; ++i) {
      T* row = scores + i * tokens_;
      for (std::int64_t j = 0; j < tokens_; ++j) {
        row[j] += region_[i] == region_[j] ? T{0} : static_cast<T>(kWindowMask);
      }
    }
  }

  // scores[i, :] becomes its softmax; returns the log of the sum of exponentials.
  T softmax_row(std::int64_t i) {
    T* row = scores + i * tokens_;
    const T largest = *std::max_element(row, row + tokens_);
    for (std::int64_t j = 0; j < tokens_; ++j)
      row[j] = exponential(row[j] - largest);
    const T sum = lane_sum<T>(tokens_, [row](std::int64_t j) { return row[j]; });
    const T inverse = T{1} / sum;
    for (std::int64_t j = 0; j < tokens_; ++j)
      row[j] *= inverse;
    return largest + std::log(sum);
  }

  // Through x / max(norm, epsilon): the gradient of the normalized rows becomes that of the raw rows.
  void denormalize_gradients() {
    denormalize(q, q_norm_, dq);
    denormalize(k, k_norm_, dk);
  }

  std::int64_t tokens() const { return tokens_; }
  std::int64_t dim() const { return dim_; }
  T scale() const { return scale_; }

  // Calls body(table row, i, j) for all pairs of slots.
  template <typename Body>
  void for_pairs(const Body& body) const {
    const Extent2 window = shape_.grid.window;
    for (std::int64_t i = 0; i < tokens_; ++i) {
      for (std::int64_t j = 0; j < tokens_; j += window.width) {
        const std::int64_t first = bias_table_row(window, i, j);
        for (std::int64_t x = 0; x < window.width; ++x)
          body(first - x, i, j + x);
      }
    }
  }

  T* q;
  T* k;
  T* v;
  T* out;  // forward: the output; backward: its gradient
  T* scores;
  T* dq = nullptr;
  T* dk = nullptr;
  T* dv = nullptr;
  T* dscores = nullptr;

 private:
  static constexpr T kNormEpsilon = static_cast<T>(1e-12);

  T score_scale() const {
    if (shape_.score == AttentionScore::kScaledDot) return T{1} / std::sqrt(static_cast<T>(dim_));
    return std::exp(std::min(inputs_.logit_scale[head_], static_cast<T>(kMaxLogitScale)));
  }

  void spread_bias() {
    for_pairs([this](std::int64_t row, std::int64_t i, std::int64_t j) {
      bias_[i * tokens_ + j] = inputs_.bias_table[row * shape_.heads + head_];
    });
  }

  void normalize(T* rows, T* norms) const {
    for (std::int64_t slot = 0; slot < tokens_; ++slot) {
      T* row = rows + slot * dim_;
      norms[slot] = std::sqrt(lane_sum<T>(dim_, [row](std::int64_t c) { return row[c] * row[c]; }));
      const T divisor = std::max(norms[slot], kNormEpsilon);
      for (std::int64_t c = 0; c < dim_; ++c)
        row[c] /= divisor;
    }
  }

  void denormalize(const T* unit_rows, const T* norms, T* gradients) const {
    for (std::int64_t slot = 0; slot < tokens_; ++slot) {
      const T* unit = unit_rows + slot * dim_;
      T* gradient = gradients + slot * dim_;
      const bool clamped = norms[slot] < kNormEpsilon;
      const T along = clamped ? T{0} : lane_sum<T>(dim_, [&](std::int64_t c) { return unit[c] * gradient[c]; });
      const T divisor = std::max(norms[slot], kNormEpsilon);
      for (std::int64_t c = 0; c < dim_; ++c)
        gradient[c] = (gradient[c] - along * unit[c]) / divisor;
    }
  }

  const WindowAttentionShape& shape_;
  const WindowAttentionInputs<T>& inputs_;
  std::int64_t head_;
  std::int64_t tokens_;
  std::int64_t dim_;
  T scale_;
  T* bias_;
  T* q_norm_;
  T* k_norm_;
  T* region_;
};

}  // namespace swinscope::cpu
