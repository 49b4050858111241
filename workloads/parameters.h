// The trainable tensors of a model: their names (timm's), shapes, and places in one flat buffer. Which there are
// follows from the model's graph.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "workloads/models/model_table.h"

namespace swinscope {

struct ParameterInfo {
  std::string name;  // as in timm's state dict, e.g. layers.0.blocks.1.attn.qkv.weight
  std::vector<std::int64_t> shape;
  std::int64_t count = 0;   // elements
  std::int64_t offset = 0;  // of the first element in the flat buffer
  // Weight decay applies (matrices); not to biases, norms, position tables and V2's position networks, as in the
  // reference training recipes.
  bool decays = false;
};

// Order of the flat buffer: backward, that is the last layer of the model first. Gradients then become final from the
// front to the back of the buffer while the backward pass runs, and an all-reduce bucket is one contiguous piece. Each
// tensor starts at a multiple of kAlignment elements; the gaps hold zeros.
class ParameterLayout {
 public:
  static constexpr std::int64_t kAlignment = 16;

  explicit ParameterLayout(const SwinConfig& config);

  // In forward order, which is timm's own.
  std::span<const ParameterInfo> tensors() const { return tensors_; }
  // What is neither trained nor decided by the weights, but belongs to the model: running statistics. In a flat buffer
  // of their own, in this order.
  std::span<const ParameterInfo> buffers() const { return buffers_; }
  std::int64_t buffer_count() const { return buffer_count_; }
  // Length of the flat buffer in elements, gaps included.
  std::int64_t flat_count() const { return flat_count_; }
  // Throws std::out_of_range for a name that the model does not have (a bug: names come from the same config).
  const ParameterInfo& find(std::string_view name) const;
  const ParameterInfo& find_buffer(std::string_view name) const;

 private:
  void place();

  std::vector<ParameterInfo> tensors_;
  std::vector<ParameterInfo> buffers_;
  std::int64_t buffer_count_ = 0;
  std::unordered_map<std::string, std::size_t> index_;
  std::int64_t flat_count_ = 0;
};

// The values and, for training, the gradients of all parameters; and the values of the buffers. T is float or double.
template <typename T>
class ParameterStore {
 public:
  // Values, buffers and gradients start as zeros. Without gradients (inference) `gradients()` is empty.
  ParameterStore(const SwinConfig& config, bool with_gradients);

  const ParameterLayout& layout() const { return layout_; }
  std::span<T> values() { return values_; }
  std::span<const T> values() const { return values_; }
  std::span<T> gradients() { return gradients_; }
  std::span<const T> gradients() const { return gradients_; }

  std::span<T> buffers() { return buffers_; }
  std::span<const T> buffers() const { return buffers_; }

  std::span<T> values(const ParameterInfo& tensor) { return slice(values_, tensor); }
  std::span<T> gradients(const ParameterInfo& tensor) { return slice(gradients_, tensor); }

  std::span<T> buffer(const ParameterInfo& tensor) { return slice(buffers_, tensor); }

  void clear_gradients();

 private:
  static std::span<T> slice(std::vector<T>& flat, const ParameterInfo& tensor) {
    if (flat.empty()) return {};
    return std::span<T>(flat).subspan(static_cast<std::size_t>(tensor.offset), static_cast<std::size_t>(tensor.count));
  }

  ParameterLayout layout_;
  std::vector<T> values_;
  std::vector<T> gradients_;
  std::vector<T> buffers_;
};

}  // namespace swinscope
