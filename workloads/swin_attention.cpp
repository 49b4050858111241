#include "workloads/swin_attention.h"

#include <algorithm>

namespace swinscope {
namespace {

WindowAttentionShape attention_shape(const BlockSetup& setup) {
  const StageShape& stage = setup.stage;
  WindowAttentionShape shape;
  shape.grid.batch = setup.batch;
  shape.grid.map = {stage.resolution, stage.resolution};
  shape.grid.window = {stage.window, stage.window};
  shape.grid.shift = {setup.shift, setup.shift};
  shape.heads = stage.heads;
  shape.head_dim = stage.width / stage.heads;
  shape.score = setup.version == SwinVersion::kV1 ? AttentionScore::kScaledDot : AttentionScore::kCosine;
  return shape;
}

// Shapes as [windows, heads, tokens, head_dim].
template <typename T>
Operation attention_operation(const std::string& path, const WindowAttentionShape& shape) {
  const ShapeExtents extents = {shape.grid.window_count(), shape.heads, shape.grid.window_tokens(), shape.head_dim};
  return {RangeName(path),
          make_payload(window_attention_forward_cost(shape, sizeof(T)), OperationClass::kAttention, precision_of<T>(),
                       extents, extents),
          make_payload(window_attention_backward_cost(shape, sizeof(T)), OperationClass::kAttention, precision_of<T>(),
                       extents, extents)};
}

template <typename T>
Operation position_operation(const std::string& path, const ContinuousBiasShape& shape) {
  const ShapeExtents input = {shape.rows(), 2};
  const ShapeExtents output = {shape.rows(), shape.heads};
  return {RangeName(path),
          make_payload(continuous_bias_forward_cost(shape, sizeof(T)), OperationClass::kGemm, precision_of<T>(), input,
                       output),
          make_payload(continuous_bias_backward_cost(shape, sizeof(T)), OperationClass::kGemm, precision_of<T>(),
                       output, input)};
}

}  // namespace

template <typename T>
AttentionActivations<T>::AttentionActivations(const BlockSetup& setup)
    : norm_side(static_cast<std::size_t>(setup.tokens() * setup.stage.width)),
      qkv(norm_side.size() * 3),
      attended(norm_side.size()),
      lse(setup.training ? static_cast<std::size_t>(setup.tokens() * setup.stage.heads) : 0) {}

template <typename T>
PositionBias<T>::PositionBias(ParameterBinder<T>& binder, const BlockSetup& setup)
    : version_(setup.version),
      shape_{{setup.stage.window, setup.stage.window}, setup.stage.heads, kCpbHidden, {}},
      operation_(position_operation<T>(setup.path + ".attn.bias", shape_)) {
  const std::string prefix = setup.parameters + ".attn.";
  if (version_ == SwinVersion::kV1) {
    parameter_ = binder.bind(prefix + "relative_position_bias_table");
    return;
  }
  weight1_ = binder.bind(prefix + "cpb_mlp.0.weight");
  bias1_ = binder.bind(prefix + "cpb_mlp.0.bias");
  weight2_ = binder.bind(prefix + "cpb_mlp.2.weight");
  const auto rows = static_cast<std::size_t>(shape_.rows());
  coordinates_.resize(rows * 2);
  activations_.resize(rows * kCpbHidden);
  table_.resize(rows * static_cast<std::size_t>(shape_.heads));
  if (setup.training) table_gradient_.resize(table_.size());
}

template <typename T>
void PositionBias<T>::refresh() {
  if (version_ == SwinVersion::kV1) return;
  const OperationRange range(operation_.name, operation_.forward);
  cpu::continuous_bias_forward<T>(shape_, weight1_.value, bias1_.value, weight2_.value, coordinates_.data(),
                                  activations_.data(), table_.data());
}

template <typename T>
T* PositionBias<T>::begin_backward() {
  if (version_ == SwinVersion::kV1) return parameter_.gradient;
  std::fill(table_gradient_.begin(), table_gradient_.end(), T{0});
  return table_gradient_.data();
}

template <typename T>
void PositionBias<T>::backward(T* workspace) {
  if (version_ == SwinVersion::kV1) return;
  const OperationRange range(operation_.name, operation_.backward);
  cpu::continuous_bias_backward<T>(shape_, weight2_.value, coordinates_.data(), activations_.data(), table_.data(),
                                   table_gradient_.data(), weight1_.gradient, bias1_.gradient, weight2_.gradient,
                                   workspace);
}

template <typename T>
AttentionHalf<T>::AttentionHalf(ParameterBinder<T>& binder, const BlockSetup& setup,
                                AttentionActivations<T>& activations, BlockScratch<T>& scratch)
    : version_(setup.version),
      training_(setup.training),
      saved_(&activations),
      scratch_(&scratch),
      shape_(attention_shape(setup)),
      joint_bias_(pre_norm() ? 0 : static_cast<std::size_t>(3 * setup.stage.width)),
      joint_bias_gradient_(training_ ? joint_bias_.size() : 0),
      position_(binder, setup),
      norm_(binder, setup.parameters + ".norm1", setup.path + ".norm1", {setup.tokens(), setup.stage.width}),
      qkv_(make_qkv(binder, setup)),
      projection_(binder, setup.parameters + ".attn.proj", setup.path + ".attn.proj",
                  {setup.tokens(), setup.stage.width, setup.stage.width}),
      residual_(setup.path + ".residual1", {setup.batch, setup.tokens() / setup.batch * setup.stage.width}),
      operation_(attention_operation<T>(setup.path + ".attn.window", shape_)) {
  scratch.grow(scratch.token, setup.tokens() * setup.stage.width);
  if (training_) {
    scratch.grow(scratch.wide, 3 * setup.tokens() * setup.stage.width);
    scratch.grow(scratch.position, position_.backward_workspace());
    scratch.grow(scratch.sums, cpu::window_attention_backward_workspace(shape_));
  }
  if (version_ == SwinVersion::kV1) return;
  logit_scale_ = binder.bind(setup.parameters + ".attn.logit_scale");
  q_bias_ = binder.bind(setup.parameters + ".attn.q_bias");
  v_bias_ = binder.bind(setup.parameters + ".attn.v_bias");
}

template <typename T>
LinearLayer<T> AttentionHalf<T>::make_qkv(ParameterBinder<T>& binder, const BlockSetup& setup) {
  const LinearShape shape = {setup.tokens(), setup.stage.width, std::int64_t{3} * setup.stage.width};
  const std::string name = setup.parameters + ".attn.qkv";
  const std::string path = setup.path + ".attn.qkv";
  if (version_ == SwinVersion::kV1) return LinearLayer<T>(binder, name, path, shape);
  return LinearLayer<T>(binder, name, path, shape,
                        {joint_bias_.data(), training_ ? joint_bias_gradient_.data() : nullptr});
}

// V2 has no key bias: q's and v's stand around zeros.
template <typename T>
void AttentionHalf<T>::assemble_qkv_bias() {
  if (version_ == SwinVersion::kV1) return;
  const std::int64_t channels = shape_.channels();
  std::copy_n(q_bias_.value, channels, joint_bias_.begin());
  std::copy_n(v_bias_.value, channels, joint_bias_.begin() + 2 * channels);
}

template <typename T>
void AttentionHalf<T>::scatter_qkv_bias_gradient() {
  if (version_ == SwinVersion::kV1) return;
  const std::int64_t channels = shape_.channels();
  cpu::add_into<T>(channels, joint_bias_gradient_.data(), q_bias_.gradient);
  cpu::add_into<T>(channels, joint_bias_gradient_.data() + 2 * channels, v_bias_.gradient);
  std::fill(joint_bias_gradient_.begin(), joint_bias_gradient_.end(), T{0});
}

// What padding holds is the qkv projection of zero tokens, its bias.
template <typename T>
WindowAttentionInputs<T> AttentionHalf<T>::attention_inputs() const {
  return {saved_->qkv.data(), position_.table(), logit_scale_.value, qkv_.bias().value};
}

template <typename T>
void AttentionHalf<T>::attend() {
  const OperationRange range(operation_.name, operation_.forward);
  cpu::window_attention_forward<T>(shape_, attention_inputs(), saved_->attended.data(),
                                   training_ ? saved_->lse.data() : nullptr);
}

template <typename T>
void AttentionHalf<T>::attend_backward(const T* dattended, T* dqkv) {
  WindowAttentionGradients<T> gradients;
  gradients.qkv = dqkv;
  gradients.bias_table = position_.begin_backward();
  gradients.logit_scale = logit_scale_.gradient;
  gradients.pad_qkv = shape_.grid.padded() ? qkv_.bias().gradient : nullptr;
  {
    const OperationRange range(operation_.name, operation_.backward);
    cpu::window_attention_backward<T>(shape_, attention_inputs(), saved_->lse.data(), dattended, gradients,
                                      scratch_->sums.data());
  }
  position_.backward(scratch_->position.data());
}

template <typename T>
void AttentionHalf<T>::forward(const T* x, const std::type_identity_t<T>* scale, T* y) {
  if (training_) position_.refresh();
  assemble_qkv_bias();
  T* const norm_side = saved_->norm_side.data();
  T* const branch = scratch_->token.data();
  if (pre_norm()) norm_.forward(x, norm_side);
  qkv_.forward(pre_norm() ? norm_side : x, saved_->qkv.data());
  attend();
  projection_.forward(saved_->attended.data(), pre_norm() ? branch : norm_side);
  if (!pre_norm()) norm_.forward(norm_side, branch);
  residual_.forward(x, branch, scale, y);
}

template <typename T>
void AttentionHalf<T>::backward(const T* x, const std::type_identity_t<T>* scale, const T* dy, T* dx) {
  T* const token = scratch_->token.data();
  T* const dqkv = scratch_->wide.data();
  const T* const norm_side = saved_->norm_side.data();
  const T* dbranch = residual_.branch_gradient(scale, dy, token);
  if (!pre_norm()) {
    norm_.backward(norm_side, dbranch, token);
    dbranch = token;
  }
  // dx serves as the gradient of the attention's output until it is written for good.
  projection_.backward(saved_->attended.data(), dbranch, dx);
  attend_backward(dx, dqkv);
  qkv_.backward(pre_norm() ? norm_side : x, dqkv, dx);
  scatter_qkv_bias_gradient();
  if (pre_norm()) norm_.backward(x, dx, dx);
  residual_.join_gradient(dy, dx);
}

template struct AttentionActivations<float>;
template struct AttentionActivations<double>;
template class PositionBias<float>;
template class PositionBias<double>;
template class AttentionHalf<float>;
template class AttentionHalf<double>;

}  // namespace swinscope
