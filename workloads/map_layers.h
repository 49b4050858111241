// The layers of heads that work on maps [batch, height, width, channels]: operations of kernels/ bound to parameters,
// fixed shapes and annotations, as layers.h has them for tokens. T is float or double.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/adaptive_pool.h"
#include "kernels/batchnorm.h"
#include "kernels/channels.h"
#include "kernels/convolution.h"
#include "kernels/upsample.h"
#include "workloads/communicator.h"
#include "workloads/layers.h"

namespace swinscope {

// What an operation on maps is called, costs and works on.
template <typename T>
Operation map_operation(const std::string& path, OperationClass operation_class, const OperationCost& forward,
                        const OperationCost& backward, const ShapeExtents& input, const ShapeExtents& output);

struct ConvNormSetup {
  std::string parameters;  // <parameters>.0.weight, .1.weight, .1.bias and the buffers .1.running_mean, .1.running_var
  std::string path;        // <path>.conv, .sums, .norm, .relu, and .allreduce between ranks
  ConvolutionShape shape;
  bool training = false;
};

// Batch normalization and ReLU of what a convolution left in input(). In training the normalization is over the batch
// of all ranks (each of which must run the same layers in the same order) and moves the running statistics, which are
// what inference normalizes with.
template <typename T>
class NormReluLayer {
 public:
  NormReluLayer(ParameterStore<T>& store, ParameterBinder<T>& binder, const ConvNormSetup& setup,
                Communicator& communicator);

  // To be written before each forward(), which may overwrite it.
  T* input() { return training_ ? input_.data() : output_.data(); }
  // The output is valid until the next call, or until input() is written.
  const T* forward();
  // From the gradient of the output to that of the input, in place.
  void backward(T* dy);

  const T* output() const { return output_.data(); }
  std::int64_t output_count() const { return static_cast<std::int64_t>(output_.size()); }

 private:
  void normalize_batch();
  void add_over_ranks();

  BatchNormShape norm_;
  bool training_;
  Communicator* communicator_;
  BoundParameter<T> gamma_, beta_;
  T* running_mean_;
  T* running_variance_;
  std::vector<T> input_;  // training: what is normalized. In inference the output's memory serves
  std::vector<T> output_;
  std::vector<T> mean_, rstd_;
  std::vector<double> sums_;
  Operation sums_operation_, norm_operation_, relu_operation_, allreduce_operation_;
};

// Convolution without bias, batch normalization, ReLU.
template <typename T>
class ConvNormLayer {
 public:
  ConvNormLayer(ParameterStore<T>& store, ParameterBinder<T>& binder, const ConvNormSetup& setup,
                Communicator& communicator);

  // The output is valid until the next call.
  const T* forward(const T* x);
  // dy, of the output, is overwritten, and so is dx.
  void backward(const T* x, T* dy, T* dx);

  const T* output() const { return norm_.output(); }
  std::int64_t output_count() const { return norm_.output_count(); }

 private:
  ConvolutionShape shape_;
  BoundParameter<T> weight_;
  NormReluLayer<T> norm_;
  Operation operation_;
};

// Bilinear resize.
template <typename T>
class ResizeLayer {
 public:
  ResizeLayer(const std::string& path, const UpsampleShape& shape);

  void forward(const T* x, bool accumulate, T* y) const;
  void backward(const T* dy, bool accumulate, T* dx) const;
  const UpsampleShape& shape() const { return shape_; }

 private:
  UpsampleShape shape_;
  Operation operation_;
};

// Averages over a grid.
template <typename T>
class GridPoolLayer {
 public:
  GridPoolLayer(const std::string& path, const AdaptivePoolShape& shape);

  void forward(const T* x, T* y) const;
  // dx += the gradient.
  void backward(const T* dy, T* dx) const;
  std::int64_t output_count() const { return shape_.bins() * shape_.channels; }

 private:
  AdaptivePoolShape shape_;
  Operation operation_;
};

// One part of maps concatenated by channels.
template <typename T>
class ConcatPart {
 public:
  // The part's channels begin at `first` of the `together` of the concatenation.
  ConcatPart(const std::string& path, std::int64_t rows, std::int64_t channels, std::int64_t first,
             std::int64_t together);

  void forward(const T* part, T* whole) const;
  // `part` is overwritten.
  void backward(const T* whole, T* part) const;

 private:
  std::int64_t rows_, channels_, first_, together_;
  Operation operation_;
};

}  // namespace swinscope
