// UPerNet's head (Xiao et al. 2018, arXiv 1807.10221) with an auxiliary FCN head, as Swin's segmentation models use it.
// With d = head_channels, S stages, ConvNorm = convolution without bias, synchronized batch normalization, ReLU:
//   pyramid     p_k  = Up(ConvNorm1x1(Pool_k(f_S)))   for grids of side k = 1, 2, 3, 6
//   lateral     l_S  = ConvNorm3x3([f_S, p_1, p_2, p_3, p_6]),  l_i = ConvNorm1x1(f_i) + Up(l_{i+1})
//   outputs     o_S  = l_S,                                     o_i = ConvNorm3x3(l_i)
//   fusion      ConvNorm3x3([o_1, Up(o_2), ..., Up(o_S)]),  then a 1x1 convolution to the classes
//   auxiliary   ConvNorm3x3(f_{S-1}) with d / 2 channels,   then a 1x1 convolution to the classes
// where Up is a bilinear resize to the map that it is joined with (align_corners = False) and every map is NHWC.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "workloads/fusion_layer.h"
#include "workloads/map_layers.h"
#include "workloads/model_table.h"

namespace swinscope {

struct UperOptions {
  bool training = false;
  bool tap_fusion = false;  // fusion_layer.h
};

// T is float or double. `store` and `communicator` must outlive the head.
template <typename T>
class UperHead {
 public:
  UperHead(ParameterStore<T>& store, ParameterBinder<T>& binder, const SwinConfig& config, std::int64_t batch,
           const UperOptions& options, Communicator& communicator);

  struct Logits {
    const T* main = nullptr;       // at the resolution of the first stage
    const T* auxiliary = nullptr;  // of the last stage but one; null in inference
  };

  // features[i]: the map of stage i, which must stay until the backward pass.
  Logits forward(std::span<const T* const> features);
  // gradients[i], of features[i], are overwritten.
  void backward(const T* dlogits, const T* dauxiliary, std::span<T* const> gradients);

 private:
  using Map = std::vector<T>;

  struct Level {  // of the pyramid
    GridPoolLayer<T> pool;
    ConvNormLayer<T> conv;
    ResizeLayer<T> resize;
    ConcatPart<T> part;
    Map pooled;
  };
  struct Stage {  // all but the last
    ConvNormLayer<T> lateral;
    ResizeLayer<T> from_next;  // l_{i+1} to this stage
    ConvNormLayer<T> output;
    Map joined;    // l_i
    Map gradient;  // of l_i; training only
  };

  std::int64_t side(int stage) const;
  std::int64_t count(int stage, std::int64_t channels) const;
  ConvNormSetup conv(const std::string& parameters, const std::string& path, int stage, std::int64_t inputs,
                     std::int64_t outputs, std::int64_t kernel) const;
  UpsampleShape resize(std::int64_t from, int stage) const;
  void build_pyramid(ParameterStore<T>& store, ParameterBinder<T>& binder, Communicator& communicator);
  void build_stages(ParameterStore<T>& store, ParameterBinder<T>& binder, Communicator& communicator);
  void build_fusion(ParameterStore<T>& store, ParameterBinder<T>& binder, bool tap_fusion, Communicator& communicator);
  void build_buffers();
  void fuse();
  void backward_fusion(const T* dlogits);
  void backward_pyramid(T* gradient);

  SwinConfig config_;
  std::int64_t batch_;
  bool training_;
  int last_;  // stage

  std::vector<Level> levels_;
  std::unique_ptr<ConcatPart<T>> pyramid_input_;  // f_S's place
  std::unique_ptr<ConvNormLayer<T>> bottleneck_;
  std::vector<Stage> stages_;
  std::unique_ptr<FusionLayer<T>> fusion_;
  std::unique_ptr<LinearLayer<T>> classifier_;
  std::unique_ptr<ConvNormLayer<T>> auxiliary_;
  std::unique_ptr<LinearLayer<T>> auxiliary_classifier_;

  std::vector<const T*> features_;  // of the last forward pass
  Map pyramid_;                     // the concatenation
  Map logits_, auxiliary_logits_;
  Map resized_;                           // one level of the pyramid before it is concatenated
  Map pyramid_gradient_, last_gradient_;  // training only, as all below
  Map wide_gradient_;                     // of the output of any ConvNorm
  Map narrow_gradient_;                   // of the input of any but the concatenations' ConvNorms
};

}  // namespace swinscope
