// The end of a model: final normalization, average over the tokens, classifier.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/pool.h"
#include "workloads/layers.h"
#include "workloads/model_table.h"

namespace swinscope {

template <typename T>
class ClassifierHead {
 public:
  ClassifierHead(ParameterBinder<T>& binder, const SwinConfig& config, std::int64_t batch, bool training);

  // x: [batch, tokens, C]; logits: [batch, classes].
  void forward(const T* x, T* logits);
  // dx is overwritten.
  void backward(const T* x, const T* dlogits, T* dx);
  // The normalized tokens of the last forward pass.
  const std::vector<T>& normalized() const { return normalized_; }

 private:
  PoolShape shape_;
  LayerNormLayer<T> norm_;
  LinearLayer<T> classifier_;
  std::vector<T> normalized_;
  std::vector<T> pooled_;
  std::vector<T> pooled_gradient_;
  Operation pool_;
};

}  // namespace swinscope
