#include "workloads/verify/training_times.h"

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include <fmt/format.h>

#include "kernels/bias.h"
#include "kernels/convert.h"
#include "kernels/cross_entropy.h"
#include "kernels/gelu.h"
#include "kernels/layernorm.h"
#include "kernels/linear.h"
#include "kernels/matmul.h"
#include "kernels/matmul_tuning.h"
#include "kernels/multi_tensor_adamw.h"
#include "kernels/patch_merge.h"
#include "kernels/residual.h"
#include "kernels/window_attention.h"
#include "workloads/parameters.h"

namespace swinscope {
namespace {

// Random numbers, of which every launch gets other ones.
class Pool {
 public:
  Pool(std::int64_t bytes, ElementType type, cuda::Stream stream) : buffer_(bytes) {
    cuda::fill_random(bytes / element_bytes(type), type, 7, buffer_.data(), stream);
  }
  void* at(int launch, std::int64_t bytes) const {
    const std::int64_t size = (bytes + 255) / 256 * 256;
    const std::int64_t places = std::max<std::int64_t>(buffer_.bytes() / size, 1);
    return static_cast<char*>(buffer_.data()) + launch % places * size;
  }

 private:
  cuda::DeviceBuffer buffer_;
};

class StepTimes {
 public:
  StepTimes(const SwinConfig& config, std::int64_t batch, ElementType type,
            const std::function<void(const KernelTime&)>& report)
      : config_(config), batch_(batch), type_(type), element_(element_bytes(type)), report_(report) {
    const StageShape first = stage_shape(config, 0);
    const std::int64_t widest = batch * first.resolution * first.resolution * first.width * kMlpRatio * element_;
    const std::int64_t bytes = std::max(widest, std::int64_t{256} << 20) + 4096;
    for (Pool*& pool : pools_) {
      owned_.push_back(std::make_unique<Pool>(bytes, type, stream()));
      pool = owned_.back().get();
    }
    small_ = cuda::DeviceBuffer(std::int64_t{1} << 20);
    cuda::fill_random(small_.bytes() / element_, type, 3, small_.data(), stream());
    floats_ = cuda::DeviceBuffer(std::int64_t{1} << 20);
    cuda::fill_random(floats_.bytes() / 4, ElementType::kFp32, 4, floats_.data(), stream());
    sums_ = cuda::DeviceBuffer(std::int64_t{64} << 20);
  }

  void run() {
    for (int stage = 0; stage < config_.stages; ++stage) {
      const StageShape shape = stage_shape(config_, stage);
      place_ = fmt::format("stage {}: ", stage + 1);
      tokens_ = batch_ * shape.resolution * shape.resolution;
      time_norms(shape);
      time_attention(shape);
      time_columns(shape);
      time_products(shape);
      if (stage + 1 < config_.stages) time_merging(shape);
    }
    place_.clear();
    time_loss();
    time_optimizer();
  }

 private:
  cuda::Stream stream() const { return stream_.get(); }
  void* a(int launch, std::int64_t elements) const { return pools_[0]->at(launch, elements * element_); }
  void* b(int launch, std::int64_t elements) const { return pools_[1]->at(launch, elements * element_); }
  void* c(int launch, std::int64_t elements) const { return pools_[2]->at(launch, elements * element_); }
  void* d(int launch, std::int64_t elements) const { return pools_[3]->at(launch, elements * element_); }
  void* small() const { return small_.data(); }
  const float* floats() const { return static_cast<const float*>(floats_.data()); }
  float* sums() const { return static_cast<float*>(sums_.data()); }
  void* workspace(std::int64_t bytes) {
    if (workspace_.bytes() < bytes) {
      cuda::synchronize(stream());
      workspace_ = cuda::DeviceBuffer();
      workspace_ = cuda::DeviceBuffer(bytes);
    }
    return workspace_.data();
  }

  template <typename Launch>
  void time(const std::string& what, int calls, const OperationCost& cost, const Launch& launch) {
    const auto once = [&](int index) {
      launch(index);
      return true;
    };
    KernelTime row;
    row.what = place_ + what;
    row.calls = calls;
    row.microseconds = cuda::time_launches(once, stream()).value_or(0.0);
    row.bytes = cost.bytes_read + cost.bytes_written;
    row.flops = cost.flops;
    report_(row);
  }

  void time_norms(const StageShape& stage) {
    const LayerNormShape shape{tokens_, stage.width};
    const std::int64_t count = tokens_ * stage.width;
    const OperationCost pass{0, count * element_, 0};
    const std::int64_t rows = tokens_ / batch_;
    void* const memory = workspace(cuda::layernorm_backward_workspace_bytes(shape));
    OperationCost forward = layernorm_forward_cost(shape, element_);
    time("layernorm", 2 * stage.depth, forward, [&](int i) {
      cuda::layernorm_forward(shape, type_, {a(i, count), small(), small(), b(i, count)}, stream());
    });
    cuda::ResidualNormTensors joined;
    joined.sample_scale = floats();
    joined.rows_per_sample = rows;
    joined.gamma = joined.beta = small();
    time("residual, scale and layernorm", 2 * stage.depth, forward + pass + pass, [&](int i) {
      joined.x = a(i, count);
      joined.branch = b(i, count);
      joined.sum = c(i, count);
      joined.y = d(i, count);
      cuda::residual_layernorm_forward(shape, type_, joined, stream());
    });
    cuda::LayerNormGradientTensors gradient;
    gradient.gamma = small();
    gradient.dgamma = gradient.dbeta = sums();
    gradient.workspace = memory;
    time("layernorm backward, residual", 2 * stage.depth, layernorm_backward_cost(shape, element_) + pass, [&](int i) {
      gradient.x = a(i, count);
      gradient.dy = b(i, count);
      gradient.residual = c(i, count);
      gradient.dx = d(i, count);
      cuda::layernorm_backward(shape, type_, gradient, stream());
    });
  }

  void time_attention(const StageShape& stage) {
    WindowAttentionShape shape;
    shape.grid = {
        batch_, {stage.resolution, stage.resolution}, {stage.window, stage.window}, {stage.shift, stage.shift}};
    shape.heads = stage.heads;
    shape.head_dim = stage.width / stage.heads;
    shape.score = attention_score(config_);
    const std::int64_t count = tokens_ * stage.width;
    const auto order = cuda::TokenOrder::kImage;
    const cuda::DeviceBuffer bias(cuda::attention_bias_bytes(shape, type_));
    const cuda::DeviceBuffer lse(tokens_ * stage.heads * 4);
    time("bias of pairs", stage.depth, {0, 0, bias.bytes()},
         [&](int) { cuda::expand_attention_bias(shape, type_, floats(), bias.data(), stream()); });
    cuda::WindowAttentionTensors forward;
    forward.bias = bias.data();
    forward.logit_scale = floats();
    forward.pad_qkv = small();
    forward.lse = static_cast<float*>(lse.data());
    time("attention with LSE", stage.depth, window_attention_forward_cost(shape, element_), [&](int i) {
      forward.qkv = a(i, 3 * count);
      forward.out = b(i, count);
      cuda::window_attention_forward(shape, type_, order, forward, stream());
    });
    cuda::WindowAttentionGradientTensors backward;
    backward.bias = bias.data();
    backward.logit_scale = floats();
    backward.pad_qkv = small();
    backward.lse = forward.lse;
    backward.dtable = backward.dlogit_scale = backward.dqkv_bias = sums();
    backward.workspace = workspace(cuda::attention_backward_workspace_bytes(shape, type_, order));
    time("attention backward", stage.depth, window_attention_backward_cost(shape, element_), [&](int i) {
      backward.qkv = a(i, 3 * count);
      backward.dout = b(i, count);
      backward.dqkv = c(i, 3 * count);
      cuda::window_attention_backward(shape, type_, order, backward, stream());
    });
  }

  void time_columns(const StageShape& stage) {
    const BiasShape hidden{tokens_, kMlpRatio * stage.width};
    const std::int64_t wide = hidden.rows * hidden.columns;
    time("gelu", stage.depth, gelu_forward_cost(wide, element_),
         [&](int i) { cuda::gelu_forward(wide, type_, a(i, wide), b(i, wide), stream()); });
    cuda::GeluGradientTensors gelu;
    gelu.dbias = sums();
    gelu.workspace = workspace(cuda::gelu_backward_workspace_bytes(hidden));
    time("gelu backward, bias gradient", stage.depth, gelu_backward_cost(wide, element_), [&](int i) {
      gelu.x = a(i, wide);
      gelu.dy = b(i, wide);
      gelu.dx = c(i, wide);
      cuda::gelu_backward(hidden, type_, gelu, stream());
    });
    for (const std::int64_t columns : {std::int64_t{stage.width}, 3 * std::int64_t{stage.width}}) {
      const bool scaled = columns == stage.width;
      const BiasShape shape{tokens_, columns};
      const std::int64_t count = shape.rows * shape.columns;
      cuda::BiasGradientTensors tensors;
      if (scaled) tensors.sample_scale = floats();
      tensors.rows_per_sample = tokens_ / batch_;
      tensors.dbias = sums();
      tensors.workspace = workspace(cuda::bias_backward_workspace_bytes(shape));
      OperationCost cost = bias_backward_cost(shape, element_);
      if (scaled) cost.bytes_written += count * element_;
      time(scaled ? "scale of a branch's gradient, bias gradient" : "bias gradient of qkv",
           (scaled ? 2 : 1) * stage.depth, cost, [&](int i) {
             tensors.dy = a(i, count);
             if (scaled) tensors.dx = b(i, count);
             cuda::bias_backward(shape, type_, tensors, stream());
           });
    }
  }

  void time_product(const std::string& what, int calls, std::int64_t m, std::int64_t n, std::int64_t k,
                    bool transpose_a, bool transpose_b) {
    cuda::MatmulShape shape;
    shape.m = m;
    shape.n = n;
    shape.k = k;
    shape.transpose_a = transpose_a;
    shape.transpose_b = transpose_b;
    shape.operand_type = type_;
    shape.result_type = transpose_a ? ElementType::kFp32 : type_;
    if (type_ == ElementType::kFp32) shape.arithmetic = cuda::MatmulArithmetic::kTf32;
    if (transpose_b) shape.epilogue = cuda::Epilogue::kBias;
    const cuda::Matmul& matmul = library_.prepare(shape, stream());
    const std::int64_t result = m * n * element_bytes(shape.result_type);
    time(what, calls, {2 * m * n * k, (m * k + n * k) * element_, result}, [&](int i) {
      void* const y = transpose_a ? static_cast<void*>(sums()) : c(i, m * n);
      matmul.run({a(i, m * k), b(i, n * k), small(), y}, stream());
    });
  }

  void time_products(const StageShape& stage) {
    const std::int64_t width = stage.width;
    struct Linear {
      const char* name;
      std::int64_t inputs;
      std::int64_t outputs;
    };
    const std::array<Linear, 4> layers = {Linear{"qkv", width, 3 * width}, Linear{"proj", width, width},
                                          Linear{"fc1", width, kMlpRatio * width},
                                          Linear{"fc2", kMlpRatio * width, width}};
    for (const Linear& layer : layers) {
      const std::string name = layer.name;
      time_product(name, stage.depth, tokens_, layer.outputs, layer.inputs, false, true);
      time_product(name + ", input gradient", stage.depth, tokens_, layer.inputs, layer.outputs, false, false);
      time_product(name + ", weight gradient", stage.depth, layer.outputs, layer.inputs, tokens_, true, false);
    }
    library_.finish_tuning();
  }

  void time_merging(const StageShape& stage) {
    const PatchMergeShape merge{batch_, stage.resolution, stage.resolution, stage.width};
    const LayerNormShape shape{merge.merged_tokens(), 4 * std::int64_t{stage.width}};
    const std::int64_t count = tokens_ * stage.width;
    void* const memory = workspace(cuda::layernorm_backward_workspace_bytes(shape));
    if (!normalizes_results(config_)) {
      cuda::LayerNormGradientTensors gradient;
      gradient.gamma = small();
      gradient.dgamma = gradient.dbeta = sums();
      gradient.workspace = memory;
      time("layernorm backward of the merging", 1, layernorm_backward_cost(shape, element_), [&](int i) {
        gradient.x = a(i, count);
        gradient.dy = b(i, count);
        gradient.dx = c(i, count);
        cuda::layernorm_backward(shape, type_, gradient, stream(), &merge);
      });
    } else {
      time("merging backward", 1, patch_merge_backward_cost(merge, element_),
           [&](int i) { cuda::patch_merge_backward(merge, type_, a(i, count), b(i, count), stream()); });
    }
  }

  void time_loss() {
    const CrossEntropyShape shape{batch_, config_.classes, 0.1};
    const std::vector<std::int32_t> labels(static_cast<std::size_t>(batch_), 1);
    const cuda::DeviceBuffer device_labels(batch_ * 4);
    cuda::copy_to_device(device_labels.data(), labels.data(), device_labels.bytes(), stream());
    cuda::clear(sums(), 64, stream());
    const std::int64_t count = batch_ * config_.classes;
    const auto* const label_values = static_cast<const std::int32_t*>(device_labels.data());
    float* const rows = sums() + 1024;
    const OperationCost cost =
        cross_entropy_forward_cost(shape, element_) + cross_entropy_backward_cost(shape, element_);
    time("loss and its gradient", 1, cost, [&](int i) {
      cuda::cross_entropy_forward(shape, type_, a(i, count), label_values, rows, rows + batch_,
                                  reinterpret_cast<std::int32_t*>(rows + 2 * batch_),
                                  static_cast<cuda::LossSums*>(sums_.data()), stream());
      cuda::cross_entropy_backward(shape, type_, a(i, count), label_values, rows + batch_, 1.0 / 64.0, nullptr,
                                   b(i, count), stream());
    });
  }

  void time_optimizer() {
    const ParameterLayout layout(config_);
    const std::int64_t count = layout.flat_count();
    std::vector<cuda::AdamWSpan> spans;
    for (const ParameterInfo& tensor : layout.tensors())
      spans.push_back({tensor.offset, tensor.count, tensor.decays ? 0.05 : 0.0});
    std::array<cuda::DeviceBuffer, 4> flat;
    for (cuda::DeviceBuffer& buffer : flat) {
      buffer = cuda::DeviceBuffer(count * 4);
      cuda::clear(buffer.data(), buffer.bytes(), stream());
    }
    cuda::fill_random(count, ElementType::kFp32, 11, flat[0].data(), stream());
    cuda::fill_random(count, ElementType::kFp32, 12, flat[1].data(), stream());
    const cuda::DeviceBuffer copies(count * element_);
    const cuda::DeviceBuffer state(sizeof(cuda::OptimizerState));
    cuda::OptimizerState start;
    start.learning_rate = 1e-4;
    cuda::copy_to_device(state.data(), &start, sizeof(start), stream());
    cuda::AdamWSettings settings;
    settings.clip_norm = 5.0;
    const cuda::MultiTensorAdamW optimizer(spans, settings, stream());
    cuda::AdamWBuffers buffers;
    buffers.gradients = flat[0].data();
    buffers.parameters = static_cast<float*>(flat[1].data());
    buffers.first_moment = static_cast<float*>(flat[2].data());
    buffers.second_moment = static_cast<float*>(flat[3].data());
    if (type_ != ElementType::kFp32) buffers.copies = copies.data();
    buffers.copy_type = type_;
    // The norm reads the gradients once more.
    const OperationCost cost{0, 5 * count * 4, 3 * count * 4 + (buffers.copies == nullptr ? 0 : count * element_)};
    time("optimizer", 1, cost,
         [&](int) { optimizer.step(buffers, static_cast<cuda::OptimizerState*>(state.data()), stream()); });
  }

  SwinConfig config_;
  std::int64_t batch_;
  ElementType type_;
  std::int64_t element_;
  const std::function<void(const KernelTime&)>& report_;
  cuda::OwnedStream stream_;
  cuda::MatmulLibrary library_{{}};
  std::vector<std::unique_ptr<Pool>> owned_;
  std::array<Pool*, 4> pools_{};
  cuda::DeviceBuffer small_, floats_, sums_, workspace_;
  std::string place_;
  std::int64_t tokens_ = 0;
};

}  // namespace

void time_training_kernels(const SwinConfig& config, std::int64_t batch, ElementType type,
                           const std::function<void(const KernelTime&)>& report) {
  StepTimes(config, batch, type, report).run();
}

}  // namespace swinscope
