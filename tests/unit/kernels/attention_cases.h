// The geometries, random inputs and calls of window attention that its tests on the CPU and on the device share.
#pragma once

#include <string>
#include <vector>

#include "kernels/window_attention.h"
#include "tests/unit/kernels/support.h"

namespace swinscope::test {

struct AttentionCase {
  std::string name;
  Extent2 map;
  Extent2 window;  // as configured: the effective one is taken
  Extent2 shift;
};

// Small enough for finite differences; every geometry the models meet.
inline const std::vector<AttentionCase>& attention_cases() {
  static const std::vector<AttentionCase> cases{
      {"plain", {4, 4}, {2, 2}, {0, 0}},
      {"shifted", {6, 6}, {3, 3}, {1, 1}},
      {"shifted_non_square_map", {4, 6}, {2, 2}, {1, 1}},
      {"window_equals_map", {3, 3}, {3, 3}, {1, 1}},
      {"window_larger_than_map", {2, 3}, {4, 4}, {2, 2}},
      {"larger_in_one_dimension", {2, 6}, {3, 3}, {1, 1}},
      {"non_square_window", {4, 6}, {2, 3}, {1, 1}},
      {"shift_in_one_dimension", {4, 6}, {2, 3}, {0, 2}},
      {"padded", {5, 4}, {3, 3}, {0, 0}},
      {"padded_shifted", {5, 4}, {3, 3}, {1, 1}},
      {"padded_by_more_than_the_shift", {4, 7}, {3, 3}, {1, 1}},
  };
  return cases;
}

inline WindowAttentionShape attention_shape(const AttentionCase& c, AttentionScore score, std::int64_t batch,
                                            std::int64_t heads, std::int64_t head_dim) {
  const WindowShift used = effective_window(c.map, c.window, c.shift);
  return {.grid = {.batch = batch, .map = c.map, .window = used.window, .shift = used.shift},
          .heads = heads,
          .head_dim = head_dim,
          .score = score};
}

// Inputs of one call with their storage.
template <typename T>
struct AttentionTensors {
  std::vector<T> qkv, bias_table, logit_scale, pad_qkv;

  WindowAttentionInputs<T> inputs() const {
    return {qkv.data(), bias_table.data(), logit_scale.data(), pad_qkv.data()};
  }
};

inline AttentionTensors<double> random_attention(const WindowAttentionShape& shape, std::uint32_t seed,
                                                 double logit_scale = 1.0) {
  Random random(seed);
  AttentionTensors<double> tensors;
  tensors.qkv = random.normal(shape.grid.tokens() * 3 * shape.channels());
  tensors.bias_table = random.normal(bias_table_rows(shape.grid.window) * shape.heads);
  tensors.logit_scale = random.uniform(shape.heads, logit_scale - 0.5, logit_scale + 0.5);
  tensors.pad_qkv = random.normal(3 * shape.channels());
  return tensors;
}

template <typename To, typename From>
AttentionTensors<To> converted_tensors(const AttentionTensors<From>& from) {
  return {converted<To>(from.qkv), converted<To>(from.bias_table), converted<To>(from.logit_scale),
          converted<To>(from.pad_qkv)};
}

template <typename T>
struct AttentionForward {
  std::vector<T> out, lse;
};

template <typename T>
AttentionForward<T> attention_forward(const WindowAttentionShape& shape, const AttentionTensors<T>& tensors) {
  AttentionForward<T> result{poisoned<T>(shape.grid.tokens() * shape.channels()),
                             poisoned<T>(shape.grid.tokens() * shape.heads)};
  cpu::window_attention_forward(shape, tensors.inputs(), result.out.data(), result.lse.data());
  return result;
}

template <typename T>
AttentionTensors<T> attention_backward(const WindowAttentionShape& shape, const AttentionTensors<T>& tensors,
                                       const std::vector<T>& lse, const std::vector<T>& dout) {
  AttentionTensors<T> gradients{poisoned<T>(static_cast<std::int64_t>(tensors.qkv.size())),
                                std::vector<T>(tensors.bias_table.size()), std::vector<T>(tensors.logit_scale.size()),
                                std::vector<T>(tensors.pad_qkv.size())};
  auto workspace = poisoned(cpu::window_attention_backward_workspace(shape));
  const WindowAttentionGradients<T> targets{gradients.qkv.data(), gradients.bias_table.data(),
                                            gradients.logit_scale.data(), gradients.pad_qkv.data()};
  cpu::window_attention_backward(shape, tensors.inputs(), lse.data(), dout.data(), targets, workspace.data());
  return gradients;
}

}  // namespace swinscope::test
