// host_device.h: window attention by steps.
#include <algorithm>
#include <cmath>

#include "kernels/window_attention_steps.h"
#include "tests/unit/workloads/host_device_memory.h"

namespace swinscope::cuda::steps {
namespace {

using namespace test;

// visit(window row, its row in `order` or -1 for padding that has none).
template <typename Visit>
void for_rows(const WindowGrid& grid, TokenOrder order, const Visit& visit) {
  for (std::int64_t row = 0; row < window_rows(grid); ++row)
    visit(row, order == TokenOrder::kWindow ? row : token_of(grid, row));
}

// [part, window, head, slot of padded_tokens(), channel].
std::int64_t row_of_heads(const WindowAttentionShape& shape, std::int64_t part, std::int64_t window_row,
                          std::int64_t head) {
  const std::int64_t tokens = shape.grid.window_tokens();
  const std::int64_t product = (part * shape.grid.window_count() + window_row / tokens) * shape.heads + head;
  return product * padded_tokens(shape) + window_row % tokens;
}

std::int64_t head_rows(const WindowAttentionShape& shape) { return products(shape) * padded_tokens(shape); }
std::int64_t score_count(const WindowAttentionShape& shape) { return head_rows(shape) * padded_tokens(shape); }

// visit(index among the parts' heads, index among the tokens, or -1 for padding, whose place in `pad` comes last).
template <typename Visit>
void for_heads(const WindowAttentionShape& shape, TokenOrder order, std::int64_t parts, const Visit& visit) {
  for_rows(shape.grid, order, [&](std::int64_t window_row, std::int64_t row) {
    for (std::int64_t i = 0; i < parts * shape.channels(); ++i) {
      const std::int64_t channel = i % shape.head_dim;
      const std::int64_t head = i / shape.head_dim % shape.heads;
      const std::int64_t place = row_of_heads(shape, i / shape.channels(), window_row, head);
      visit(static_cast<std::size_t>(place * shape.head_dim + channel),
            row < 0 ? -1 : row * parts * shape.channels() + i, static_cast<std::size_t>(i));
    }
  });
}

void split(const WindowAttentionShape& shape, ElementType type, TokenOrder order, std::int64_t parts,
           const void* tokens, const void* pad_values, void* heads) {
  const Floats from = load(type, tokens, rows_of(shape.grid, order) * parts * shape.channels());
  const Floats pad =
      pad_values == nullptr ? zeros(parts * shape.channels()) : load(type, pad_values, parts * shape.channels());
  Floats to = zeros(parts * head_rows(shape) * shape.head_dim);
  for_heads(shape, order, parts, [&](std::size_t place, std::int64_t token, std::size_t in_token) {
    to[place] = token < 0 ? pad[in_token] : from[static_cast<std::size_t>(token)];
  });
  store(type, to, heads);
}

void merge(const WindowAttentionShape& shape, ElementType type, TokenOrder order, std::int64_t parts, const void* heads,
           void* tokens) {
  const Floats from = load(type, heads, parts * head_rows(shape) * shape.head_dim);
  Floats to = zeros(rows_of(shape.grid, order) * parts * shape.channels());
  for_heads(shape, order, parts, [&](std::size_t place, std::int64_t token, std::size_t /*in_token*/) {
    if (token >= 0) to[static_cast<std::size_t>(token)] = from[place];
  });
  store(type, to, tokens);
}

// visit(index of the score, window, head, query, key), for pairs of tokens that exist.
template <typename Visit>
void for_pairs(const WindowAttentionShape& shape, const Visit& visit) {
  const std::int64_t tokens = shape.grid.window_tokens();
  const std::int64_t padded = padded_tokens(shape);
  for (std::int64_t product = 0; product < products(shape); ++product) {
    for (std::int64_t pair = 0; pair < tokens * tokens; ++pair) {
      const std::int64_t query = pair / tokens;
      const std::int64_t key = pair % tokens;
      visit((product * padded + query) * padded + key, product / shape.heads, product % shape.heads, query, key);
    }
  }
}

float cosine_scale(const WindowAttentionShape& shape, const float* logit_scale, std::int64_t row) {
  const std::int64_t head = row / padded_tokens(shape) % shape.heads;
  return std::exp(std::min(logit_scale[head], static_cast<float>(kMaxLogitScale)));
}

}  // namespace

std::int64_t padded_tokens(const WindowAttentionShape& shape) { return (shape.grid.window_tokens() + 7) / 8 * 8; }
std::int64_t products(const WindowAttentionShape& shape) { return shape.grid.window_count() * shape.heads; }

void split_heads(const WindowAttentionShape& shape, ElementType type, TokenOrder order, const void* qkv,
                 const void* pad_qkv, void* heads, Stream stream) {
  launch(stream, [=] { split(shape, type, order, 3, qkv, pad_qkv, heads); });
}
void split_gradient(const WindowAttentionShape& shape, ElementType type, TokenOrder order, const void* dout,
                    void* heads, Stream stream) {
  launch(stream, [=] { split(shape, type, order, 1, dout, nullptr, heads); });
}
void merge_heads(const WindowAttentionShape& shape, ElementType type, TokenOrder order, const void* heads, void* out,
                 Stream stream) {
  launch(stream, [=] { merge(shape, type, order, 1, heads, out); });
}
void merge_gradients(const WindowAttentionShape& shape, ElementType type, TokenOrder order, const void* heads,
                     void* dqkv, Stream stream) {
  launch(stream, [=] { merge(shape, type, order, 3, heads, dqkv); });
}

void scale_queries(const WindowAttentionShape& shape, ElementType type, void* q, Stream stream) {
  launch(stream, [=] {
    Floats values = load(type, q, head_rows(shape) * shape.head_dim);
    for (float& value : values)
      value /= std::sqrt(static_cast<float>(shape.head_dim));
    store(type, values, q);
  });
}

void inverse_norms(const WindowAttentionShape& shape, ElementType type, const void* q, float* norms, Stream stream) {
  launch(stream, [=] {
    const Floats values = load(type, q, head_rows(shape) * shape.head_dim);
    for (std::int64_t row = 0; row < head_rows(shape); ++row) {
      float sum = 0.0F;
      for (std::int64_t c = 0; c < shape.head_dim; ++c)
        sum += std::pow(values[static_cast<std::size_t>(row * shape.head_dim + c)], 2.0F);
      norms[row] = 1.0F / std::max(std::sqrt(sum), 1e-12F);
    }
  });
}

void scale_cosine(const WindowAttentionShape& shape, const float* q_norms, const float* k_norms,
                  const float* logit_scale, float* scores, Stream stream) {
  launch(stream, [=] {
    const std::int64_t padded = padded_tokens(shape);
    for (std::int64_t i = 0; i < score_count(shape); ++i) {
      const std::int64_t row = i / padded;
      scores[i] *= cosine_scale(shape, logit_scale, row) * q_norms[row] * k_norms[row / padded * padded + i % padded];
    }
  });
}

void gather_position_bias(const WindowAttentionShape& shape, const float* table, float* bias, Stream stream) {
  launch(stream, [=] {
    const std::int64_t tokens = shape.grid.window_tokens();
    for (std::int64_t i = 0; i < shape.heads * tokens * tokens; ++i) {
      const std::int64_t row = bias_table_row(shape.grid.window, i / tokens % tokens, i % tokens);
      bias[i] = table[row * shape.heads + i / tokens / tokens];
    }
  });
}

void add_position_bias(const WindowAttentionShape& shape, const float* bias, const float* scores, float* sums,
                       Stream stream) {
  launch(stream, [=] {
    const std::int64_t tokens = shape.grid.window_tokens();
    if (sums != scores) std::copy_n(scores, score_count(shape), sums);
    for_pairs(shape, [&](std::int64_t i, std::int64_t, std::int64_t head, std::int64_t query, std::int64_t key) {
      sums[i] += bias[(head * tokens + query) * tokens + key];
    });
  });
}

void add_window_mask(const WindowAttentionShape& shape, float* scores, Stream stream) {
  launch(stream, [=] {
    for_pairs(shape, [&](std::int64_t i, std::int64_t window, std::int64_t, std::int64_t query, std::int64_t key) {
      if (window_region(shape.grid, window, query) != window_region(shape.grid, window, key)) {
        scores[i] += static_cast<float>(kWindowMask);
      }
    });
  });
}

void softmax(const WindowAttentionShape& shape, ElementType type, const float* scores, void* probabilities,
             Stream stream) {
  launch(stream, [=] {
    const std::int64_t tokens = shape.grid.window_tokens();
    const std::int64_t padded = padded_tokens(shape);
    Floats p = zeros(score_count(shape));
    for (std::int64_t row = 0; row < head_rows(shape); ++row) {
      if (row % padded >= tokens) continue;
      const float* const from = scores + row * padded;
      const float largest = *std::max_element(from, from + tokens);
      float sum = 0.0F;
      for (std::int64_t key = 0; key < tokens; ++key)
        sum += std::exp(from[key] - largest);
      for (std::int64_t key = 0; key < tokens; ++key)
        p[static_cast<std::size_t>(row * padded + key)] = std::exp(from[key] - largest) / sum;
    }
    store(type, p, probabilities);
  });
}

void softmax_backward(const WindowAttentionShape& shape, ElementType type, const void* probabilities, float* gradients,
                      Stream stream) {
  launch(stream, [=] {
    const std::int64_t padded = padded_tokens(shape);
    const Floats p = load(type, probabilities, score_count(shape));
    for (std::int64_t row = 0; row < head_rows(shape); ++row) {
      float* const d = gradients + row * padded;
      const float* const of_row = p.data() + row * padded;
      float sum = 0.0F, weighted = 0.0F;
      for (std::int64_t key = 0; key < padded; ++key) {
        sum += of_row[key];
        weighted += of_row[key] * d[key];
      }
      for (std::int64_t key = 0; key < padded; ++key)
        d[key] = sum > 0.0F ? of_row[key] / sum * (d[key] - weighted / sum) : 0.0F;
    }
  });
}

std::int64_t backward_workspace_bytes(const WindowAttentionShape& /*shape*/) { return 8; }

void position_bias_backward(const WindowAttentionShape& shape, const float* dscores, bool accumulate,
                            void* /*workspace*/, float* dtable, Stream stream) {
  launch(stream, [=] {
    begin_gradient(dtable, bias_table_rows(shape.grid.window) * shape.heads, accumulate);
    for_pairs(shape, [&](std::int64_t i, std::int64_t, std::int64_t head, std::int64_t query, std::int64_t key) {
      dtable[bias_table_row(shape.grid.window, query, key) * shape.heads + head] += dscores[i];
    });
  });
}

void scale_cosine_backward(const WindowAttentionShape& shape, ElementType type, const float* q_norms,
                           const float* k_norms, const float* logit_scale, const float* dscores, void* dproducts,
                           Stream stream) {
  launch(stream, [=] {
    const std::int64_t padded = padded_tokens(shape);
    const auto factor = [](float norm) { return norm > 0.999e12F ? 0.0F : norm; };
    Floats d = zeros(score_count(shape));
    for (std::int64_t i = 0; i < score_count(shape); ++i) {
      const std::int64_t row = i / padded;
      d[static_cast<std::size_t>(i)] = dscores[i] * cosine_scale(shape, logit_scale, row) * factor(q_norms[row]) *
                                       factor(k_norms[row / padded * padded + i % padded]);
    }
    store(type, d, dproducts);
  });
}

void normalize_backward(const WindowAttentionShape& shape, ElementType type, const void* q, const float* norms,
                        void* dq, Stream stream) {
  launch(stream, [=] {
    const Floats x = load(type, q, head_rows(shape) * shape.head_dim);
    Floats d = load(type, dq, head_rows(shape) * shape.head_dim);
    for (std::int64_t row = 0; row < head_rows(shape); ++row) {
      float sum = 0.0F;
      const auto first = static_cast<std::size_t>(row * shape.head_dim);
      for (std::size_t i = first; i < first + static_cast<std::size_t>(shape.head_dim); ++i)
        sum += x[i] * d[i];
      for (std::size_t i = first; i < first + static_cast<std::size_t>(shape.head_dim); ++i)
        d[i] -= norms[row] > 0.999e12F ? 0.0F : sum * norms[row] * norms[row] * x[i];
    }
    store(type, d, dq);
  });
}

void logit_scale_backward(const WindowAttentionShape& shape, const float* cosines, const float* dscores,
                          const float* logit_scale, bool accumulate, void* /*workspace*/, float* dlogit_scale,
                          Stream stream) {
  launch(stream, [=] {
    begin_gradient(dlogit_scale, shape.heads, accumulate);
    for_pairs(shape, [&](std::int64_t i, std::int64_t, std::int64_t head, std::int64_t, std::int64_t) {
      if (logit_scale[head] <= static_cast<float>(kMaxLogitScale)) dlogit_scale[head] += cosines[i] * dscores[i];
    });
  });
}

void add_padding(const WindowAttentionShape& shape, ElementType type, const void* heads, float* dqkv_bias,
                 Stream stream) {
  launch(stream, [=] {
    const Floats from = load(type, heads, 3 * head_rows(shape) * shape.head_dim);
    for_heads(shape, TokenOrder::kImage, 3, [&](std::size_t place, std::int64_t token, std::size_t in_token) {
      if (token < 0) dqkv_bias[in_token] += from[place];
    });
  });
}

}  // namespace swinscope::cuda::steps
