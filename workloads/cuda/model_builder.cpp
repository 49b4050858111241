#include "workloads/cuda/model_builder.h"

#include <utility>

#include <fmt/format.h>

#include "kernels/bias.h"
#include "kernels/gelu.h"
#include "kernels/linear.h"
#include "kernels/normalized_rows.h"
#include "kernels/patch_embed.h"
#include "kernels/patch_merge.h"
#include "kernels/pool.h"
#include "kernels/residual.h"

namespace swinscope {

ModelBuilder::ModelBuilder(const SwinConfig& config, std::int64_t batch, const DeviceModelOptions& options,
                           DeviceWeights& weights, Activations& activations, cuda::MatmulLibrary& library,
                           cuda::Stream stream, cuda::DeviceInfo gpu)
    : config_(config),
      batch_(batch),
      options_(options),
      type_(element_type_of(options.precision)),
      element_(element_bytes(type_)),
      weights_(weights),
      activations_(activations),
      library_(library),
      stream_(stream),
      gpu_(std::move(gpu)),
      serpentine_(options.features.serpentine) {}

bool ModelBuilder::tanh_gelu() const {
  if (!options_.features.gelu || options_.gelu == GeluForm::kErf) return false;
  return options_.gelu == GeluForm::kTanh || type_ != ElementType::kFp32;
}

void ModelBuilder::step(const std::string& path, OperationClass operation_class, const OperationCost& cost,
                        const ShapeExtents& input, const ShapeExtents& output, std::function<void(cuda::Stream)> run,
                        bool backwards) {
  steps_.push_back(
      {RangeName(path), make_payload(cost, operation_class, options_.precision, input, output), std::move(run)});
  serpentine_.went(backwards);
}

OperationCost ModelBuilder::moves(std::int64_t read, std::int64_t written) const {
  return {0, read * element_, written * element_};
}

ModelBuilder::Block ModelBuilder::block_of(const StageShape& stage, int stage_index, int index, void* x) const {
  Block block;
  block.stage = stage;
  block.parameters = fmt::format("layers.{}.blocks.{}", stage_index, index);
  block.path = fmt::format("stage{}.block{}", stage_index + 1, index + 1);
  block.next = index + 1 < stage.depth            ? fmt::format("layers.{}.blocks.{}.attn.qkv", stage_index, index + 1)
               : stage_index + 1 < config_.stages ? fmt::format("layers.{}.downsample.reduction", stage_index + 1)
                                                  : "head.fc";
  const std::int64_t shift = index % 2 == 0 ? 0 : stage.shift;
  block.attention = {{batch_, {stage.resolution, stage.resolution}, {stage.window, stage.window}, {shift, shift}},
                     stage.heads,
                     stage.width / stage.heads,
                     v1() ? AttentionScore::kScaledDot : AttentionScore::kCosine};
  block.x = x;
  block.tokens = block.attention.grid.tokens();
  block.rows = options_.features.window ? block.tokens
                                        : block.attention.grid.window_count() * block.attention.grid.window_tokens();
  return block;
}

std::vector<DeviceStep> ModelBuilder::build() {
  stem();
  std::size_t current = 0;
  for (int stage = 0; stage < config_.stages; ++stage) {
    const StageShape shape = stage_shape(config_, stage);
    void* const x = activations_.streams.at(current).data();
    for (int index = 0; index < shape.depth; ++index) {
      const Block block = block_of(shape, stage, index, x);
      attention_half(block);
      if (index + 1 < shape.depth) {
        const Block next = block_of(shape, stage, index + 1, x);
        mlp_half(block, &next);
      } else {
        mlp_half(block, nullptr);
      }
    }
    if (stage + 1 == config_.stages) break;
    merging(stage, activations_.streams.at(current).data(), activations_.streams.at(1 - current).data());
    current = 1 - current;
  }
  head(activations_.streams.at(current).data());
  return std::move(steps_);
}

cuda::MatmulShape ModelBuilder::shape_of(const Linear& linear) const {
  cuda::MatmulShape shape;
  shape.m = linear.rows;
  shape.n = linear.outputs;
  shape.k = linear.inputs;
  shape.operand_type = type_;
  shape.result_type = type_;
  if (options_.precision == Precision::kTf32) shape.arithmetic = cuda::MatmulArithmetic::kTf32;
  const bool bias_inside = linear.bias != nullptr && linear.bias_in_product;
  if (bias_inside) shape.epilogue = linear.gelu ? cuda::Epilogue::kBiasGelu : cuda::Epilogue::kBias;
  shape.accumulate = linear.accumulate;
  return shape;
}

void ModelBuilder::product(const Linear& linear, const cuda::Matmul& matmul, cuda::MatmulOperands operands) {
  const bool bias_inside = linear.bias != nullptr && linear.bias_in_product;
  OperationCost cost = linear_forward_cost({linear.rows, linear.inputs, linear.outputs, bias_inside}, element_);
  if (linear.accumulate) cost.bytes_read += linear.rows * linear.outputs * element_;
  operands.backwards = serpentine_.against_the_last(matmul.turns());
  step(
      linear.path, OperationClass::kGemm, cost, {linear.rows, linear.inputs}, {linear.rows, linear.outputs},
      [=, &matmul](cuda::Stream stream) { matmul.run(operands, stream); }, operands.backwards);
}

void ModelBuilder::linear(const Linear& linear, const void* x, const void* weight, void* y) {
  const void* const bias = linear.bias;
  product(linear, library_.prepare(shape_of(linear), stream_), {x, weight, bias, y});
  if (linear.bias == nullptr || linear.bias_in_product) return;
  const BiasShape bias_shape{linear.rows, linear.outputs};
  step(linear.path + ".bias", OperationClass::kElementwise, bias_forward_cost(bias_shape, element_),
       {linear.rows, linear.outputs}, {linear.rows, linear.outputs},
       [=, type = type_](cuda::Stream stream) { cuda::bias_forward(bias_shape, type, y, bias, y, stream); });
}

void ModelBuilder::linear_before(const Linear& linear, const Linear& next, const void* y, const void* weight, void* x) {
  cuda::MatmulPair pair;
  if (options_.features.normfold && options_.features.layernorm && next.bias_in_product) {
    pair = library_.prepare_normalized_pair(shape_of(linear), shape_of(next), stream_);
  }
  folded_ = pair.second;
  if (pair.first == nullptr) return this->linear(linear, y, weight, x);
  cuda::MatmulOperands operands{y, weight, linear.bias, x};
  operands.row_moments = static_cast<float*>(activations_.moments.data());
  product(linear, *pair.first, operands);
}

bool ModelBuilder::folded_linear(const Linear& linear, const std::string& norm, const std::string& name, const void* x,
                                 void* y) {
  const cuda::Matmul* const matmul = std::exchange(folded_, nullptr);
  if (matmul == nullptr) return false;
  const DeviceWeights::Folded folded = weights_.fold(norm, name);
  cuda::MatmulOperands operands{x, folded.weight, nullptr, y, folded.corrections};
  operands.moments = static_cast<const float*>(activations_.moments.data());
  product(linear, *matmul, operands);
  return true;
}

bool ModelBuilder::normalized_rows(const Linear& linear, const std::string& norm, const std::string& name,
                                   const void* x, void* y) {
  const Features& features = options_.features;
  if (!v1() || !features.normrows || !features.layernorm || !features.window || !linear.bias_in_product) return false;
  cuda::NormalizedRowsShape shape{linear.rows, linear.inputs, linear.outputs, linear.gelu, type_, false};
  if (!cuda::normalized_rows_offered(shape, gpu_) || !cuda::normalized_rows_pays(shape, gpu_)) return false;
  shape.backwards = serpentine_.against_the_last(true);
  const cuda::NormalizedRowsTensors tensors{
      x, weights_.find(norm + ".weight"), weights_.find(norm + ".bias"), weights_.find(name + ".weight"), linear.bias,
      y};
  step(
      linear.path, OperationClass::kGemm, cuda::normalized_rows_cost(shape), {linear.rows, linear.inputs},
      {linear.rows, linear.outputs},
      [=](cuda::Stream stream) { cuda::normalized_rows_forward(shape, tensors, stream); }, shape.backwards);
  return true;
}

void ModelBuilder::normalized_linear(const Linear& linear, const std::string& norm_path, const std::string& norm_name,
                                     const std::string& name, const void* x, void* side, void* y) {
  const void* const weight = weights_.find(name + ".weight");
  if (options_.features.postnorm && options_.features.layernorm && linear.bias_in_product) {
    const cuda::Matmul* const matmul = library_.prepare_result_normalized(shape_of(linear), stream_);
    if (matmul != nullptr) {
      cuda::MatmulOperands operands{x, weight, linear.bias, y};
      operands.gamma = weights_.find(norm_name + ".weight");
      operands.beta = weights_.find(norm_name + ".bias");
      product(linear, *matmul, operands);
      return;
    }
  }
  Linear apart = linear;
  apart.accumulate = false;
  this->linear(apart, x, weight, side);
  norm(norm_path, norm_name, {linear.rows, linear.outputs}, side, y, linear.accumulate ? y : nullptr);
}

void ModelBuilder::norm(const std::string& path, const std::string& parameters, const LayerNormShape& shape,
                        const void* x, void* y, const void* residual, const DeviceWeights::Range& ahead) {
  cuda::LayerNormTensors tensors{x, weights_.find(parameters + ".weight"), weights_.find(parameters + ".bias"), y,
                                 residual};
  tensors.ahead = ahead.begin;
  tensors.ahead_bytes = ahead.bytes;
  OperationCost cost = layernorm_forward_cost(shape, element_);
  if (residual != nullptr) cost.bytes_read += shape.rows * shape.channels * element_;
  const bool plain = !options_.features.layernorm;
  tensors.backwards = serpentine_.against_the_last(!plain);
  if (options_.features.cachehints) {
    const std::int64_t bytes = shape.rows * shape.channels * element_;
    tensors.x_eviction = cuda::eviction_before_residual(bytes, gpu_.l2_bytes);
    tensors.y_eviction = cuda::eviction_of_result(bytes, gpu_.l2_bytes);
  }
  step(
      path, OperationClass::kNorm, cost, {shape.rows, shape.channels}, {shape.rows, shape.channels},
      [=, type = type_](cuda::Stream stream) {
        if (plain) {
          cuda::layernorm_forward_plain(shape, type, tensors, stream);
        } else {
          cuda::layernorm_forward(shape, type, tensors, stream);
        }
      },
      tensors.backwards);
}

// With many tokens products take longer than their weights, which all tiles share. The L2 cache of an H200 has 50 MB.
DeviceWeights::Range ModelBuilder::weights_ahead(const Block& block, const std::string& first,
                                                 const std::string& last) const {
  constexpr std::int64_t kMostTokens = 1024;
  constexpr std::int64_t kMostBytes = std::int64_t{24} << 20;
  if (!options_.features.weightsahead || block.tokens > kMostTokens) return {};
  const DeviceWeights::Range all = weights_.range(first, last);
  if (all.bytes % 16 != 0) return {};
  // Those that are needed first stand at the end.
  const std::int64_t left_out = std::max<std::int64_t>(0, all.bytes - kMostBytes);
  return {static_cast<const char*>(all.begin) + left_out, all.bytes - left_out};
}

void ModelBuilder::add(const std::string& path, const Block& block, void* x, const void* branch) {
  const ResidualShape shape{batch_, block.tokens / batch_ * block.stage.width};
  const ShapeExtents extents = {block.tokens, block.stage.width};
  step(path, OperationClass::kElementwise, residual_forward_cost(shape, false, element_), extents, extents,
       [=, type = type_](cuda::Stream stream) { cuda::residual_forward(shape, type, x, branch, x, stream); });
}

void ModelBuilder::stem() {
  const PatchEmbedShape shape{batch_,     kImageChannels,   config_.image_size, config_.image_size,
                              kPatchSize, config_.embed_dim};
  const void* const images = activations_.images.data();
  if (options_.features.patchembed && options_.features.layernorm &&
      cuda::normalized_patch_embed_offered(shape, type_, gpu_)) {
    const auto parameter = [&](const char* name) { return weights_.find(std::string("patch_embed.") + name); };
    const cuda::NormalizedPatchEmbedTensors tensors{
        images,
        parameter("proj.weight"),
        parameter("proj.bias"),
        parameter("norm.weight"),
        parameter("norm.bias"),
        activations_.streams[0].data(),
    };
    step(
        "patch_embed.proj", OperationClass::kGemm, cuda::normalized_patch_embed_cost(shape, element_),
        {shape.batch, shape.channels, shape.height, shape.width}, {shape.tokens(), shape.outputs},
        [=, type = type_](cuda::Stream stream) { cuda::normalized_patch_embed_forward(shape, type, tensors, stream); });
    return;
  }
  void* const columns = activations_.columns.data();
  step("patch_embed.columns", OperationClass::kLayout, moves(shape.column_elements(), shape.column_elements()),
       {shape.batch, shape.channels, shape.height, shape.width}, {shape.tokens(), shape.column_length()},
       [=, type = type_](cuda::Stream stream) { cuda::patch_columns(shape, type, images, columns, stream); });
  Linear projection;
  projection.path = "patch_embed.proj";
  projection.rows = shape.tokens();
  projection.inputs = shape.column_length();
  projection.outputs = shape.outputs;
  projection.bias = weights_.find("patch_embed.proj.bias");
  normalized_linear(projection, "patch_embed.norm", "patch_embed.norm", "patch_embed.proj", columns,
                    activations_.tokens[0].data(), activations_.streams[0].data());
}

ModelBuilder::Linear ModelBuilder::qkv_of(const Block& block, const void* bias) const {
  Linear qkv;
  qkv.path = block.path + ".attn.qkv";
  qkv.rows = block.rows;
  qkv.inputs = block.stage.width;
  qkv.outputs = std::int64_t{3} * block.stage.width;
  qkv.bias = bias;
  qkv.bias_in_product = options_.features.qkvbias;
  return qkv;
}

ModelBuilder::Linear ModelBuilder::fc1_of(const Block& block) const {
  Linear fc1;
  fc1.path = block.path + ".mlp.fc1";
  fc1.rows = block.tokens;
  fc1.inputs = block.stage.width;
  fc1.outputs = std::int64_t{kMlpRatio} * block.stage.width;
  fc1.bias = weights_.find(block.parameters + ".mlp.fc1.bias");
  fc1.bias_in_product = options_.features.gelu;
  fc1.gelu = tanh_gelu();
  return fc1;
}

// V1: x += proj(attend(qkv(LN(x)))). V2: x += LN(proj(attend(qkv(x)))).
void ModelBuilder::attention_half(const Block& block) {
  const std::int64_t width = block.stage.width;
  const LayerNormShape norm_shape{block.tokens, width};
  void* const side = activations_.tokens[0].data();
  const std::string norm_name = block.parameters + ".norm1";
  const std::string qkv_name = block.parameters + ".attn.qkv";
  const Linear qkv = qkv_of(block, qkv_bias(block));
  void* const wide = activations_.wide.data();
  if (has_qkv_attention(block)) {
    attend_with_qkv(block, qkv.bias);
  } else if (has_narrow_qkv(block)) {
    narrow_qkv(block, qkv.bias, wide);
    attend(block, qkv.bias);
  } else if (folded_linear(qkv, norm_name, qkv_name, block.x, wide) ||
             normalized_rows(qkv, norm_name, qkv_name, block.x, wide)) {
    attend(block, qkv.bias);
  } else {
    const void* input = block.x;
    if (v1()) {
      norm(block.path + ".norm1", norm_name, norm_shape, block.x, side, nullptr,
           weights_ahead(block, block.parameters + ".attn.proj.weight", block.parameters + ".mlp.fc1.weight"));
      input = side;
    }
    if (!options_.features.window) input = into_windows(block, input);
    linear(qkv, input, weights_.find(qkv_name + ".weight"), wide);
    attend(block, qkv.bias);
  }

  if (v1() && has_narrow_mlp(block)) return;  // the kernel of the other half begins with the projection
  // The residual sum belongs into the product where its rows stand as those of x do.
  const bool sum_in_product = v1() && options_.features.residual && options_.features.window;
  void* const branch = sum_in_product ? block.x : activations_.tokens[options_.features.window ? 0 : 3].data();
  Linear projection;
  projection.path = block.path + ".attn.proj";
  projection.rows = block.rows;
  projection.inputs = width;
  projection.outputs = width;
  projection.bias = weights_.find(block.parameters + ".attn.proj.bias");
  projection.bias_in_product = options_.features.residual;
  projection.accumulate = sum_in_product;
  const std::string name = block.parameters + ".attn.proj";
  if (!v1() && options_.features.window && options_.features.layernorm) {
    projection.accumulate = true;
    normalized_linear(projection, block.path + ".norm1", norm_name, name, activations_.tokens[1].data(), side, block.x);
    return;
  }
  const void* const weight = weights_.find(name + ".weight");
  if (sum_in_product) {
    linear_before(projection, fc1_of(block), activations_.tokens[1].data(), weight, block.x);
    return;
  }
  linear(projection, activations_.tokens[1].data(), weight, branch);
  if (!options_.features.window) out_of_windows(block, branch);
  if (v1()) {
    if (!sum_in_product) add(block.path + ".residual1", block, block.x, side);
  } else if (options_.features.layernorm) {
    norm(block.path + ".norm1", norm_name, norm_shape, side, block.x, block.x);
  } else {
    norm(block.path + ".norm1", norm_name, norm_shape, side, side);
    add(block.path + ".residual1", block, block.x, side);
  }
}

// V1: x += fc2(GELU(fc1(LN(x)))). V2: x += LN(fc2(GELU(fc1(x)))).
void ModelBuilder::mlp_half(const Block& block, const Block* next) {
  const std::int64_t width = block.stage.width;
  const std::int64_t hidden = kMlpRatio * width;
  const LayerNormShape norm_shape{block.tokens, width};
  void* const side = activations_.tokens[0].data();
  void* const wide = activations_.wide.data();
  const std::string norm_name = block.parameters + ".norm2";
  const std::string fc1_name = block.parameters + ".mlp.fc1";
  const Linear fc1 = fc1_of(block);
  if (has_narrow_mlp(block)) return v1() ? narrow_block_end(block) : narrow_mlp(block);
  if (!folded_linear(fc1, norm_name, fc1_name, block.x, wide) &&
      !normalized_rows(fc1, norm_name, fc1_name, block.x, wide)) {
    if (v1()) {
      norm(block.path + ".norm2", norm_name, norm_shape, block.x, side, nullptr,
           weights_ahead(block, block.parameters + ".mlp.fc2.weight", block.next + ".weight"));
    }
    linear(fc1, v1() ? side : block.x, weights_.find(fc1_name + ".weight"), wide);
  }
  if (!fc1.gelu) {
    const std::int64_t count = block.tokens * hidden;
    step(block.path + ".mlp.gelu", OperationClass::kElementwise, gelu_forward_cost(count, element_),
         {block.tokens, hidden}, {block.tokens, hidden},
         [=, type = type_](cuda::Stream stream) { cuda::gelu_forward(count, type, wide, wide, stream); });
  }

  const bool sum_in_product = v1() && options_.features.residual;
  Linear fc2;
  fc2.path = block.path + ".mlp.fc2";
  fc2.rows = block.tokens;
  fc2.inputs = hidden;
  fc2.outputs = width;
  fc2.bias = weights_.find(block.parameters + ".mlp.fc2.bias");
  fc2.bias_in_product = options_.features.residual;
  fc2.accumulate = sum_in_product;
  const std::string fc2_name = block.parameters + ".mlp.fc2";
  if (!v1() && options_.features.layernorm) {
    fc2.accumulate = true;
    normalized_linear(fc2, block.path + ".norm2", norm_name, fc2_name, wide, side, block.x);
    return;
  }
  const void* const weight = weights_.find(fc2_name + ".weight");
  if (sum_in_product && next != nullptr && options_.features.window && !has_qkv_attention(*next)) {
    linear_before(fc2, qkv_of(*next, qkv_bias(*next)), wide, weight, block.x);
    return;
  }
  linear(fc2, wide, weight, sum_in_product ? block.x : side);
  if (v1()) {
    if (!sum_in_product) add(block.path + ".residual2", block, block.x, side);
  } else {
    norm(block.path + ".norm2", norm_name, norm_shape, side, side);
    add(block.path + ".residual2", block, block.x, side);
  }
}

// V1: reduction(LN(gather(x))). V2: LN(reduction(gather(x))).
void ModelBuilder::merging(int stage, const void* x, void* y) {
  const StageShape from = stage_shape(config_, stage);
  const PatchMergeShape shape{batch_, from.resolution, from.resolution, from.width};
  const std::string parameters = fmt::format("layers.{}.downsample", stage + 1);
  const std::string path = fmt::format("stage{}.merge", stage + 1);
  const std::int64_t rows = shape.merged_tokens();
  void* const gathered = activations_.tokens[0].data();
  void* const side = activations_.tokens[1].data();
  const LayerNormShape norm_shape{rows, (v1() ? 4 : 2) * shape.channels};
  const void* input = gathered;
  if (v1() && options_.features.layernorm) {
    const cuda::LayerNormTensors tensors{x, weights_.find(parameters + ".norm.weight"),
                                         weights_.find(parameters + ".norm.bias"), gathered, nullptr};
    step(path + ".norm", OperationClass::kNorm, layernorm_forward_cost(norm_shape, element_),
         {rows, 4 * shape.channels}, {rows, 4 * shape.channels}, [=, type = type_](cuda::Stream stream) {
           cuda::layernorm_forward(norm_shape, type, tensors, stream, &shape);
         });
  } else {
    step(path + ".gather", OperationClass::kLayout, patch_merge_forward_cost(shape, element_),
         {batch_, shape.height, shape.width, shape.channels}, {rows, 4 * shape.channels},
         [=, type = type_](cuda::Stream stream) { cuda::patch_merge_forward(shape, type, x, gathered, stream); });
    if (v1()) {
      norm(path + ".norm", parameters + ".norm", norm_shape, gathered, side);
      input = side;
    }
  }
  Linear reduction;
  reduction.path = path + ".reduction";
  reduction.rows = rows;
  reduction.inputs = 4 * shape.channels;
  reduction.outputs = 2 * shape.channels;
  if (v1()) {
    linear(reduction, input, weights_.find(parameters + ".reduction.weight"), y);
  } else {
    normalized_linear(reduction, path + ".norm", parameters + ".norm", parameters + ".reduction", input, side, y);
  }
}

void ModelBuilder::head(const void* x) {
  const StageShape last = stage_shape(config_, config_.stages - 1);
  const std::int64_t tokens = std::int64_t{last.resolution} * last.resolution;
  const PoolShape shape{batch_, tokens, last.width};
  const void* const normalized = activations_.tokens[0].data();
  void* const pooled = activations_.pooled.data();
  norm("norm", "norm", {batch_ * tokens, last.width}, x, activations_.tokens[0].data());
  step("head.pool", OperationClass::kElementwise, pool_forward_cost(shape, element_), {batch_, tokens, last.width},
       {batch_, last.width},
       [=, type = type_](cuda::Stream stream) { cuda::pool_forward(shape, type, normalized, pooled, stream); });
  const void* const weight = weights_.find("head.fc.weight");
  const void* const bias = weights_.find("head.fc.bias");
  void* const logits = activations_.logits.data();
  if (options_.precision == Precision::kFp32) {
    const LinearShape classes{batch_, last.width, config_.classes};
    step("head.fc", OperationClass::kGemm, linear_forward_cost(classes, element_), {batch_, last.width},
         {batch_, config_.classes}, [=, type = type_](cuda::Stream stream) {
           cuda::linear_forward(classes, type, pooled, weight, bias, logits, stream);
         });
    return;
  }
  Linear classifier;
  classifier.path = "head.fc";
  classifier.rows = batch_;
  classifier.inputs = last.width;
  classifier.outputs = config_.classes;
  classifier.bias = bias;
  linear(classifier, pooled, weight, logits);
}

}  // namespace swinscope
