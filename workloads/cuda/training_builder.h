// Makes the steps of training: forward pass, loss, backward pass, layer by layer, on buffers that stand where
// TrainingLayout says. The backward pass goes from the end of the model to its start, so that gradients become final
// from the front of their flat buffer to its back. And the steps of segmenting pictures, which are its forward pass
// alone.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "kernels/adaptive_pool.h"
#include "kernels/batchnorm.h"
#include "kernels/convolution.h"
#include "kernels/layernorm.h"
#include "kernels/matmul.h"
#include "kernels/tap_fusion.h"
#include "kernels/upsample.h"
#include "workloads/cuda/attention_steps.h"
#include "workloads/cuda/device_control.h"
#include "workloads/cuda/device_model.h"
#include "workloads/cuda/serpentine.h"
#include "workloads/cuda/training_layout.h"
#include "workloads/device_communicator.h"

namespace swinscope {

using PrepareConvolution = std::function<const cuda::Convolution&(const cuda::ConvolutionProblem&)>;

struct TrainingBuildOptions {
  Precision precision = Precision::kFp16;  // kFp32, kTf32, kFp16 or kBf16
  Features features;                       // see training_features(); graph and adamw are the trainer's
  bool recompute = false;
  double label_smoothing = 0.0;
  double drop_path = 0.0;
  std::uint64_t seed = 0;  // of stochastic depth
  // Segmentation only: who prepares convolutions, and the ranks that batches are normalized over; null: this one.
  PrepareConvolution prepare_convolution;
  DeviceCommunicator* ranks = nullptr;
  bool tap_fusion = false;
  // That products and attention of the backward pass leave to the all-reduces that run beside them: a kernel whose
  // blocks fill the GPU takes twice as long where some of them have to wait.
  int spare_multiprocessors = 0;
};

// After steps[0] to steps[count - 1] all gradients before `end` in the flat buffer are final.
struct GradientMark {
  std::size_t count = 0;
  std::int64_t end = 0;
};

struct BackwardSteps {
  std::vector<DeviceStep> steps;
  std::vector<GradientMark> marks;  // ascending
};

// `once` makes what follows from the parameters alone; `pass` may then be run as often as wanted.
struct InferenceSteps {
  std::vector<DeviceStep> once, pass;
};

class TrainingBuilder {
 public:
  // `memory`: where the layout's first byte lies. Layout and options must agree. Zeros are expected in the joint
  // biases.
  TrainingBuilder(const SwinConfig& config, std::int64_t batch, const TrainingBuildOptions& options,
                  const TrainingLayout& layout, void* memory, PrepareProduct prepare);

  // From the images to the loss, adding up to the control block's sums. Training: with stochastic depth drawn for the
  // control block's place and label smoothing. Else: without either.
  std::vector<DeviceStep> forward(bool training);
  // From the loss to all gradients, which are overwritten or added to. `row_scale`: see cuda::cross_entropy_backward.
  BackwardSteps backward(bool accumulate, double row_scale);
  // Segmentation, on a layout for inference: from the images to the logits and, where `answers`, to the class of each
  // pixel of the model's square, in layout.predicted. With the feature prebias all that follows from the parameters
  // (position biases, packed weights, running statistics) is made once, else in every pass.
  InferenceSteps inference(bool answers);

 private:
  struct Block {
    BlockPlace place;
    StageShape stage;
    BlockRegions regions;
    std::string parameters;  // layers.2.blocks.4
    std::string path;        // stage3.block5
    WindowAttentionShape attention;
    std::int64_t tokens = 0;
    std::int64_t rows = 0;  // of the attention half: with padding where windows are copied
    Region input;
    bool first = false;  // of its stage
  };
  struct Linear {
    std::string path;
    std::string weight;  // name
    std::int64_t rows = 0;
    std::int64_t inputs = 0;
    std::int64_t outputs = 0;
    const void* bias = nullptr;
    bool bias_in_product = true;
  };
  // A normalization with its parameters' names.
  struct Norm {
    std::string path;
    std::string parameters;
    LayerNormShape shape;
  };

  bool v1() const { return config_.version == SwinVersion::kV1; }
  Block make_block(const BlockPlace& place) const;
  Norm norm1(const Block& block) const;
  Norm norm2(const Block& block) const;
  Linear qkv(const Block& block) const;
  Linear projection(const Block& block) const;
  Linear fc1(const Block& block) const;
  Linear fc2(const Block& block) const;

  // V2's joint biases of qkv, and the position bias of all pairs of tokens.
  void biases();
  void backbone();

  // training_forward.cpp
  void stem();
  void block_forward(const Block& block, bool again);
  void mlp_hidden(const Block& block);
  void close_block(const Block& block);
  void merging(int stage);
  void head();
  void loss_forward(bool training);
  void linear(const Linear& linear, const void* x, void* y);
  void norm(const Norm& norm, const void* x, void* y);
  void residual_norm(const Norm& norm, const Block& block, const void* x, int branch, void* y);
  void add(const Block& block, const void* x, const void* branch, int half, void* y);
  void add_and_norm(const Block& block, const void* x, const void* branch, int half, void* sum, const Norm& norm,
                    void* y);

  // uper_forward.cpp and uper_backward.cpp: the head of a segmentation model.
  struct ConvNorm {
    std::string parameters;  // h.fpn.1
    std::string path;        // head.fpn2
    ConvolutionShape shape;
    ConvNormRegions regions;
    BatchNormShape norm() const { return {.rows = shape.pixels(), .channels = shape.outputs}; }
  };
  // Channels of a map that are a part of wider ones.
  struct Slice {
    void* data = nullptr;
    std::int64_t stride = 0;  // elements from pixel to pixel; 0: the map is no part
  };
  bool segments() const { return config_.task == Task::kSegmentation; }
  const UperRegions& uper() const { return layout_.uper; }
  int last_stage() const { return config_.stages - 1; }
  std::int64_t head_channels() const { return config_.head_channels; }
  std::int64_t side(int stage) const { return stage_shape(config_, stage).resolution; }
  std::int64_t pixels(int stage) const { return batch_ * side(stage) * side(stage); }
  ConvNorm conv_norm(const std::string& parameters, const std::string& path, std::int64_t side, std::int64_t inputs,
                     std::int64_t outputs, std::int64_t kernel, const ConvNormRegions& regions) const;
  ConvNorm level(std::size_t index) const;
  ConvNorm bottleneck() const;
  ConvNorm lateral(int stage) const;
  ConvNorm output(int stage) const;
  ConvNorm fusion() const;
  ConvNorm auxiliary() const;
  Linear classifier() const;
  Linear auxiliary_classifier() const;
  Norm feature_norm(int stage) const;
  AdaptivePoolShape grid(std::size_t level) const;
  UpsampleShape resize(std::int64_t from, int stage) const;
  UpsampleShape logits_resize(int stage) const;
  Slice pyramid_part(const Region& whole, std::int64_t first) const;
  Slice fused_part(const Region& whole, int stage) const;
  DeviceControl* control() const { return static_cast<DeviceControl*>(at(layout_.control)); }

  // From the stages to the logits.
  void uper_maps(bool training);
  void uper_head(bool training);
  void uper_answers();
  void uper_parameters();
  void uper_pyramid(bool training);
  void uper_fusion(bool training);
  void uper_loss(bool training);
  // uper_tap_fusion.cpp
  ConvolutionShape first_part() const;
  TapFusionShape tap_part(int stage) const;
  UpsampleShape packing() const;
  std::string part_path(int stage) const { return fmt::format("head.fusion.part{}", stage + 1); }
  std::string fusion_weight() const { return "h.fuse.0.weight"; }
  const void* part(int stage) const;
  void pack_fusion();
  void cut_fusion();
  void cut_fusion_backward();
  void tap_part_backward(int stage, void* dx);

  void conv_norm_forward(const ConvNorm& conv, const void* x, const Slice& y, bool training);
  void convolve(const std::string& path, const ConvolutionShape& shape, const void* x, const void* weight, void* y);
  void normalize(const ConvNorm& conv, const Slice& y, bool training);
  void statistics(const ConvNorm& conv, bool training);
  void enlarge(const std::string& path, const UpsampleShape& shape, const void* x, const void* addend, const Slice& y);
  void pixel_loss(const char* path, int stage, const Region& logits, const Region& lse, cuda::LossSums* sums);

  void uper_head_backward();
  void pixel_loss_backward(const char* path, int stage, double weight, const Region& logits, const Region& lse,
                           const Region& gradient);
  void uper_fusion_backward();
  void uper_laterals_backward();
  void uper_pyramid_backward();
  void auxiliary_backward();
  void conv_norm_backward(const ConvNorm& conv, const void* x, const Slice& dy, void* dx);
  // Leaves it in convolved_gradient.
  void normalize_backward(const ConvNorm& conv, const Slice& dy);
  void convolve_backward(const std::string& path, const ConvolutionShape& shape, const void* x, const void* weight,
                         float* dweight, void* dx);
  void reduce(const std::string& path, const UpsampleShape& shape, const Slice& dy, bool accumulate, void* dx);
  void add_feature_gradient(int stage, const std::string& path, const void* x, void* sum);

  // training_attention.cpp
  bool copies() const { return !options_.features.window; }
  cuda::TokenOrder order() const { return copies() ? cuda::TokenOrder::kWindow : cuda::TokenOrder::kImage; }
  void attention_half(const Block& block);
  const void* attention_input(const Block& block) const;
  const void* qkv_input(const Block& block) const;
  Region qkv_place(const Block& block) const;
  void into_windows(const Block& block, const void* x, void* rolled, void* windows, bool undoes);
  void out_of_windows(const Block& block, const void* windows, void* reversed, void* y, bool undoes);
  void attend(const Block& block);
  AttentionSteps attention_steps(const Block& block);
  void qkv_bias(const Block& block);
  void position_bias(const Block& block);
  void attention_half_backward(const Block& block, void* stream);
  void attention_backward(const Block& block);
  void split_qkv_bias_gradient(const Block& block);

  // training_backward.cpp
  void head_backward();
  void block_backward(const Block& block, void* stream);
  void mlp_half_backward(const Block& block, void* stream);
  void merging_backward(int stage, void* from, void* to);
  void stem_backward(void* stream);
  void product_backward(const Linear& linear, const void* dy, const void* x, void* dx, bool add_to_dx);
  cuda::MatmulShape gradient_product() const;
  void input_gradient(const Linear& linear, const void* dy, void* dx, bool add);
  void weight_gradient(const Linear& linear, const void* dy, const void* x);
  void norm_backward(const Norm& norm, const void* x, const void* dy, const void* residual, void* dx,
                     const float* sample_scale = nullptr, float* dx_sums = nullptr);
  void norm_into_stream(const Norm& norm, const Block& block, int half, const void* x, const void* dy, void* stream,
                        float* bias_sums);
  void add_into_stream(const Block& block, int half, const void* dx, void* stream);
  void scale_branch(const Block& block, int half, const float* scale, const void* dy, void* dbranch);
  void branch_norm_backward(const Norm& norm, const Block& block, int half, const Linear& last, const void* x,
                            const void* dy);
  const void* branch_gradient(const Block& block, int half, const Linear& last, const void* dy);
  float* branch_bias_sums(const BlockPlace& place, int half) const;
  // The gradient of a branch's last bias.
  float* branch_bias(const BlockPlace& place, int half) const;
  void bias_gradient(const std::string& path, std::int64_t rows, std::int64_t columns, const void* dy, float* dbias,
                     bool accumulate);
  void mark(const std::vector<std::string>& names);

  // backwards: through the tokens; most steps cannot.
  void step(const std::string& path, OperationClass operation_class, const OperationCost& cost,
            const ShapeExtents& input, const ShapeExtents& output, std::function<void(cuda::Stream)> run,
            bool backwards = false);
  OperationCost moves(std::int64_t read, std::int64_t written) const {
    return {0, read * element_, written * element_};
  }

  void* at(const Region& region) const { return static_cast<char*>(memory_) + region.offset; }
  float* floats(const Region& region) const { return static_cast<float*>(at(region)); }
  // A parameter in the model's element type, its fp32 master, its gradient.
  const void* value(const std::string& name) const;
  float* master(const std::string& name) const;
  float* gradient(const std::string& name) const;
  // Scales of stochastic depth of one half of a block; null where nothing is dropped.
  const float* scales(const BlockPlace& place, int half) const;
  void* workspace() const { return at(layout_.workspace); }

  SwinConfig config_;
  std::int64_t batch_;
  TrainingBuildOptions options_;
  const TrainingLayout& layout_;
  ParameterLayout parameters_;
  void* memory_;
  PrepareProduct prepare_;
  ElementType type_;
  std::int64_t element_;
  std::vector<BlockPlace> places_;
  // Of the list that is being made.
  std::vector<DeviceStep> steps_;
  Serpentine serpentine_;
  std::vector<GradientMark> marks_;
  bool inferring_ = false;   // what follows from the parameters alone is made already
  bool dropping_ = false;    // stochastic depth
  bool accumulate_ = false;  // gradients are added to
  double row_scale_ = 1.0;
};

}  // namespace swinscope
