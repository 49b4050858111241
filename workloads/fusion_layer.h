// The convolution that joins the outputs of all stages in UPerNet's head:
//   ConvNorm3x3([o_1, Up(o_2), ..., Up(o_S)]),   Up: a bilinear resize to the first stage's resolution.
// Two forms of one function: as it is written, or part by part with the enlarged parts at their own size
// (tap_fusion.h).
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "workloads/map_layers.h"

namespace swinscope {

struct FusionSetup {
  ConvNormSetup conv;               // of the concatenation; paths are those of its parts
  std::int64_t channels = 0;        // of each part
  std::vector<std::int64_t> sides;  // of the parts, the first's is the largest; they are square
  bool tap_fusion = false;
};

// T is float or double. A forward pass gives all parts in turn and ends with join(); a backward pass begins with the
// gradient of what that returned and then asks for all parts' gradients in turn.
template <typename T>
class FusionLayer {
 public:
  FusionLayer() = default;
  virtual ~FusionLayer() = default;
  FusionLayer(const FusionLayer&) = delete;
  FusionLayer& operator=(const FusionLayer&) = delete;
  FusionLayer(FusionLayer&&) = delete;
  FusionLayer& operator=(FusionLayer&&) = delete;

  // [batch, side, side, channels]. Part i must stay until its backward().
  virtual void add(std::size_t part, const T* x) = 0;
  // At the first part's resolution, valid until the next call.
  virtual const T* join() = 0;
  virtual const T* output() const = 0;
  // dy, of the output, is overwritten and must stay until the last part's gradient has been computed.
  virtual void begin_backward(T* dy) = 0;
  // x: as given to add(); dx is overwritten.
  virtual void backward(std::size_t part, const T* x, T* dx) = 0;
};

// `store` and `communicator` must outlive the layer.
template <typename T>
std::unique_ptr<FusionLayer<T>> make_fusion(ParameterStore<T>& store, ParameterBinder<T>& binder,
                                            const FusionSetup& setup, Communicator& communicator);

}  // namespace swinscope
