#include "workloads/patch_layers.h"

#include <fmt/format.h>

namespace swinscope {
namespace {

PatchEmbedShape embed_shape(const SwinConfig& config, std::int64_t batch) {
  return {batch, kImageChannels, config.image_size, config.image_size, kPatchSize, config.embed_dim};
}

template <typename T>
Operation embed_operation(const PatchEmbedShape& shape) {
  const ShapeExtents image = {shape.batch, shape.channels, shape.height, shape.width};
  const ShapeExtents tokens = {shape.batch, shape.height / shape.patch, shape.width / shape.patch, shape.outputs};
  return {
      RangeName("patch_embed.proj"),
      make_payload(patch_embed_forward_cost(shape, sizeof(T)), OperationClass::kConv, precision_of<T>(), image, tokens),
      make_payload(patch_embed_backward_cost(shape, false, sizeof(T)), OperationClass::kConv, precision_of<T>(), tokens,
                   image)};
}

PatchMergeShape merge_shape(const SwinConfig& config, int stage, std::int64_t batch) {
  const StageShape from = stage_shape(config, stage);
  return {batch, from.resolution, from.resolution, from.width};
}

template <typename T>
Operation gather_operation(const std::string& path, const PatchMergeShape& shape) {
  const ShapeExtents input = {shape.batch, shape.height, shape.width, shape.channels};
  const ShapeExtents output = {shape.batch, shape.merged_height(), shape.merged_width(), 4 * shape.channels};
  return {RangeName(path),
          make_payload(patch_merge_forward_cost(shape, sizeof(T)), OperationClass::kLayout, precision_of<T>(), input,
                       output),
          make_payload(patch_merge_backward_cost(shape, sizeof(T)), OperationClass::kLayout, precision_of<T>(), output,
                       input)};
}

std::string merge_parameters(int stage) { return fmt::format("layers.{}.downsample", stage + 1); }
std::string merge_path(int stage) { return fmt::format("stage{}.merge", stage + 1); }

}  // namespace

template <typename T>
PatchStem<T>::PatchStem(ParameterBinder<T>& binder, const SwinConfig& config, std::int64_t batch)
    : shape_(embed_shape(config, batch)),
      weight_(binder.bind("patch_embed.proj.weight")),
      bias_(binder.bind("patch_embed.proj.bias")),
      norm_(binder, "patch_embed.norm", "patch_embed.norm", {shape_.tokens(), shape_.outputs}),
      columns_(static_cast<std::size_t>(shape_.column_elements())),
      embedded_(static_cast<std::size_t>(shape_.tokens() * shape_.outputs)),
      operation_(embed_operation<T>(shape_)) {}

template <typename T>
void PatchStem<T>::forward(const T* images, T* y) {
  {
    const OperationRange range(operation_.name, operation_.forward);
    cpu::patch_embed_forward<T>(shape_, images, weight_.value, bias_.value, columns_.data(), embedded_.data());
  }
  norm_.forward(embedded_.data(), y);
}

template <typename T>
void PatchStem<T>::backward(T* dy) {
  norm_.backward(embedded_.data(), dy, dy);
  const OperationRange range(operation_.name, operation_.backward);
  cpu::patch_embed_backward<T>(shape_, weight_.value, columns_.data(), dy, weight_.gradient, bias_.gradient, nullptr,
                               nullptr);
}

template <typename T>
PatchMerging<T>::PatchMerging(ParameterBinder<T>& binder, const SwinConfig& config, int stage, std::int64_t batch,
                              bool training)
    : version_(config.version),
      shape_(merge_shape(config, stage, batch)),
      norm_(binder, merge_parameters(stage) + ".norm", merge_path(stage) + ".norm",
            {shape_.merged_tokens(), (pre_norm() ? 4 : 2) * shape_.channels}),
      reduction_(binder, merge_parameters(stage) + ".reduction", merge_path(stage) + ".reduction",
                 {shape_.merged_tokens(), 4 * shape_.channels, 2 * shape_.channels, false}),
      gathered_(static_cast<std::size_t>(shape_.merged_tokens() * 4 * shape_.channels)),
      norm_side_(pre_norm() ? gathered_.size() : gathered_.size() / 2),
      gathered_gradient_(training ? gathered_.size() : 0),
      gather_(gather_operation<T>(merge_path(stage) + ".gather", shape_)) {}

template <typename T>
void PatchMerging<T>::forward(const T* x, T* y) {
  {
    const OperationRange range(gather_.name, gather_.forward);
    cpu::patch_merge_forward<T>(shape_, x, gathered_.data());
  }
  if (pre_norm()) {
    norm_.forward(gathered_.data(), norm_side_.data());
    reduction_.forward(norm_side_.data(), y);
  } else {
    reduction_.forward(gathered_.data(), norm_side_.data());
    norm_.forward(norm_side_.data(), y);
  }
}

template <typename T>
void PatchMerging<T>::backward(T* dy, T* dx) {
  T* const dgathered = gathered_gradient_.data();
  if (pre_norm()) {
    reduction_.backward(norm_side_.data(), dy, dgathered);
    norm_.backward(gathered_.data(), dgathered, dgathered);
  } else {
    norm_.backward(norm_side_.data(), dy, dy);
    reduction_.backward(gathered_.data(), dy, dgathered);
  }
  const OperationRange range(gather_.name, gather_.backward);
  cpu::patch_merge_backward<T>(shape_, dgathered, dx);
}

template class PatchStem<float>;
template class PatchStem<double>;
template class PatchMerging<float>;
template class PatchMerging<double>;

}  // namespace swinscope
