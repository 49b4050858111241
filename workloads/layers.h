// The layers that several parts of a model share: an operation of kernels/ bound to its parameters, its fixed shape and
// its annotation. T is float or double. Layers keep raw pointers into a ParameterStore, which must outlive them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "kernels/layernorm.h"
#include "kernels/linear.h"
#include "kernels/residual.h"
#include "workloads/annotate.h"
#include "workloads/parameters.h"

namespace swinscope {

// A parameter and its gradient (null in inference).
template <typename T>
struct BoundParameter {
  const T* value = nullptr;
  T* gradient = nullptr;
};

// Binds parameters by name and remembers where the last one ends in the flat buffer: once the backward pass of
// everything bound is done, all gradients before `gradient_end()` are final (see ParameterLayout).
template <typename T>
class ParameterBinder {
 public:
  explicit ParameterBinder(ParameterStore<T>& store) : store_(&store) {}

  BoundParameter<T> bind(const std::string& name) {
    const ParameterInfo& tensor = store_->layout().find(name);
    gradient_end_ = std::max(gradient_end_, tensor.offset + tensor.count);
    return {store_->values(tensor).data(), store_->gradients(tensor).data()};
  }
  std::int64_t gradient_end() const { return gradient_end_; }

 private:
  ParameterStore<T>* store_;
  std::int64_t gradient_end_ = 0;
};

// y = x * weight^T + bias. Parameters <name>.weight and, where the shape says so, <name>.bias.
template <typename T>
class LinearLayer {
 public:
  LinearLayer(ParameterBinder<T>& binder, const std::string& name, const std::string& path, const LinearShape& shape);
  // With a bias that is no parameter of its own (V2's qkv): the caller owns value and gradient, [outputs].
  LinearLayer(ParameterBinder<T>& binder, const std::string& name, const std::string& path, const LinearShape& shape,
              const BoundParameter<T>& bias);

  void forward(const T* x, T* y) const;
  // dx is overwritten.
  void backward(const T* x, const T* dy, T* dx) const;
  const BoundParameter<T>& bias() const { return bias_; }

 private:
  LinearShape shape_;
  BoundParameter<T> weight_;
  BoundParameter<T> bias_;
  Operation operation_;
};

// Parameters <name>.weight and <name>.bias. Keeps the statistics of its last forward pass.
template <typename T>
class LayerNormLayer {
 public:
  LayerNormLayer(ParameterBinder<T>& binder, const std::string& name, const std::string& path,
                 const LayerNormShape& shape);

  // y may be x.
  void forward(const T* x, T* y);
  // dx is overwritten; it may be dy.
  void backward(const T* x, const T* dy, T* dx) const;

 private:
  LayerNormShape shape_;
  BoundParameter<T> gamma_;
  BoundParameter<T> beta_;
  std::vector<T> mean_;
  std::vector<T> rstd_;
  Operation operation_;
};

// y = x + scale[sample] * branch. A null scale is 1 (no stochastic depth).
template <typename T>
class ResidualLayer {
 public:
  ResidualLayer(const std::string& path, const ResidualShape& shape);

  void forward(const T* x, const T* branch, const std::type_identity_t<T>* scale, T* y) const;
  // The gradient of the branch: dy itself without a scale, else written to `scratch`.
  const T* branch_gradient(const std::type_identity_t<T>* scale, const T* dy, T* scratch) const;
  // dx += dy, where `dx` holds what came back through the branch.
  void join_gradient(const T* dy, T* dx) const;

 private:
  ResidualShape shape_;
  RangeName name_;
  OperationPayload forward_;
  OperationPayload scaled_forward_;
  OperationPayload scale_backward_;
  OperationPayload join_backward_;
};

}  // namespace swinscope
