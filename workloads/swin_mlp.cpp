#include "workloads/swin_mlp.h"

#include "kernels/gelu.h"

namespace swinscope {
namespace {

template <typename T>
Operation gelu_operation(const std::string& path, std::int64_t tokens, std::int64_t channels) {
  const std::int64_t count = tokens * channels;
  const ShapeExtents extents = {tokens, channels};
  return {RangeName(path),
          make_payload(gelu_forward_cost(count, sizeof(T)), OperationClass::kElementwise, precision_of<T>(), extents,
                       extents),
          make_payload(gelu_backward_cost(count, sizeof(T)), OperationClass::kElementwise, precision_of<T>(), extents,
                       extents)};
}

}  // namespace

template <typename T>
MlpActivations<T>::MlpActivations(const BlockSetup& setup)
    : norm_side(static_cast<std::size_t>(setup.tokens() * setup.stage.width)),
      hidden(norm_side.size() * kMlpRatio),
      activated(setup.training ? hidden.size() : 0) {}

template <typename T>
MlpHalf<T>::MlpHalf(ParameterBinder<T>& binder, const BlockSetup& setup, MlpActivations<T>& activations,
                    BlockScratch<T>& scratch)
    : version_(setup.version),
      saved_(&activations),
      scratch_(&scratch),
      hidden_count_(setup.tokens() * setup.stage.width * kMlpRatio),
      norm_(binder, setup.parameters + ".norm2", setup.path + ".norm2", {setup.tokens(), setup.stage.width}),
      fc1_(binder, setup.parameters + ".mlp.fc1", setup.path + ".mlp.fc1",
           {setup.tokens(), setup.stage.width, kMlpRatio * setup.stage.width}),
      fc2_(binder, setup.parameters + ".mlp.fc2", setup.path + ".mlp.fc2",
           {setup.tokens(), kMlpRatio * setup.stage.width, setup.stage.width}),
      residual_(setup.path + ".residual2", {setup.batch, setup.tokens() / setup.batch * setup.stage.width}),
      gelu_(gelu_operation<T>(setup.path + ".mlp.gelu", setup.tokens(), kMlpRatio * setup.stage.width)) {
  scratch.grow(scratch.token, setup.tokens() * setup.stage.width);
  if (setup.training) scratch.grow(scratch.wide, hidden_count_);
}

template <typename T>
void MlpHalf<T>::forward(const T* x, const std::type_identity_t<T>* scale, T* y) {
  T* const norm_side = saved_->norm_side.data();
  T* const branch = scratch_->token.data();
  if (pre_norm()) norm_.forward(x, norm_side);
  fc1_.forward(pre_norm() ? norm_side : x, saved_->hidden.data());
  {
    const OperationRange range(gelu_.name, gelu_.forward);
    cpu::gelu_forward<T>(hidden_count_, saved_->hidden.data(), activated());
  }
  fc2_.forward(activated(), pre_norm() ? branch : norm_side);
  if (!pre_norm()) norm_.forward(norm_side, branch);
  residual_.forward(x, branch, scale, y);
}

template <typename T>
void MlpHalf<T>::backward(const T* x, const std::type_identity_t<T>* scale, const T* dy, T* dx) {
  T* const token = scratch_->token.data();
  T* const dhidden = scratch_->wide.data();
  const T* const norm_side = saved_->norm_side.data();
  const T* dbranch = residual_.branch_gradient(scale, dy, token);
  if (!pre_norm()) {
    norm_.backward(norm_side, dbranch, token);
    dbranch = token;
  }
  fc2_.backward(activated(), dbranch, dhidden);
  {
    const OperationRange range(gelu_.name, gelu_.backward);
    cpu::gelu_backward<T>(hidden_count_, saved_->hidden.data(), dhidden, dhidden);
  }
  fc1_.backward(pre_norm() ? norm_side : x, dhidden, dx);
  if (pre_norm()) norm_.backward(x, dx, dx);
  residual_.join_gradient(dy, dx);
}

template struct MlpActivations<float>;
template struct MlpActivations<double>;
template class MlpHalf<float>;
template class MlpHalf<double>;

}  // namespace swinscope
