// The layers that change the grid: the patch embedding at the start and the merging between stages.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/patch_embed.h"
#include "kernels/patch_merge.h"
#include "workloads/layers.h"
#include "workloads/model_table.h"

namespace swinscope {

// Image [batch, 3, size, size] -> tokens [batch, size / 4, size / 4, C], normalized.
template <typename T>
class PatchStem {
 public:
  PatchStem(ParameterBinder<T>& binder, const SwinConfig& config, std::int64_t batch);

  void forward(const T* images, T* y);
  // The images need no gradient. `dy` is overwritten.
  void backward(T* dy);

 private:
  PatchEmbedShape shape_;
  BoundParameter<T> weight_;
  BoundParameter<T> bias_;
  LayerNormLayer<T> norm_;
  std::vector<T> columns_;
  std::vector<T> embedded_;
  Operation operation_;
};

// [batch, r, r, C] -> [batch, r/2, r/2, 2C]. V1 normalizes the gathered 4C channels, V2 the 2C that come out.
template <typename T>
class PatchMerging {
 public:
  // `stage`, from 0, is the one that the merging leaves.
  PatchMerging(ParameterBinder<T>& binder, const SwinConfig& config, int stage, std::int64_t batch, bool training);

  void forward(const T* x, T* y);
  // dx is overwritten; `dy` is, too.
  void backward(T* dy, T* dx);

 private:
  bool pre_norm() const { return version_ == SwinVersion::kV1; }

  SwinVersion version_;
  PatchMergeShape shape_;
  LayerNormLayer<T> norm_;
  LinearLayer<T> reduction_;
  std::vector<T> gathered_;           // [tokens / 4, 4C]
  std::vector<T> norm_side_;          // V1 [tokens / 4, 4C] normalized, V2 [tokens / 4, 2C] to be normalized
  std::vector<T> gathered_gradient_;  // training only
  Operation gather_;
};

}  // namespace swinscope
