#include <algorithm>

#include "kernels/check.h"
#include "kernels/linear.h"
#include "kernels/parallel.h"
#include "kernels/patch_embed.h"

namespace swinscope {
namespace {

LinearShape as_linear(const PatchEmbedShape& shape) {
  return {.rows = shape.tokens(), .inputs = shape.column_length(), .outputs = shape.outputs};
}

void check(const PatchEmbedShape& shape) {
  require(shape.batch >= 0 && shape.channels > 0 && shape.patch > 0 && shape.outputs > 0, "patch_embed",
          "extent out of range");
  require(shape.height % shape.patch == 0 && shape.width % shape.patch == 0, "patch_embed",
          "height and width must be multiples of the patch");
}

// Calls copy(pixels, column part) for each run of `patch` neighbouring pixels: every pixel is in exactly one
// run.
template <typename Copy>
void for_patch_rows(const PatchEmbedShape& s, const Copy& copy) {
  const std::int64_t token_rows = s.height / s.patch;
  const std::int64_t token_columns = s.width / s.patch;
  cpu::parallel_for(s.batch * token_rows, [&](std::int64_t task) {
    const std::int64_t image = task / token_rows;
    const std::int64_t token_row = task % token_rows;
    for (std::int64_t c = 0; c < s.channels; ++c) {
      for (std::int64_t y = 0; y < s.patch; ++y) {
        const std::int64_t pixel_row = (image * s.channels + c) * s.height + token_row * s.patch + y;
        for (std::int64_t token = 0; token < token_columns; ++token) {
          const std::int64_t column = (task * token_columns + token) * s.column_length();
          copy(pixel_row * s.width + token * s.patch, column + (c * s.patch + y) * s.patch);
        }
      }
    }
  });
}

}  // namespace

// The convolution reads the image once: that the columns pass through memory is our choice, not the
// operation's.
OperationCost patch_embed_forward_cost(const PatchEmbedShape& shape, std::int64_t element_bytes) {
  return linear_forward_cost(as_linear(shape), element_bytes);
}

OperationCost patch_embed_backward_cost(const PatchEmbedShape& shape, bool input_gradient, std::int64_t element_bytes) {
  return linear_backward_cost(as_linear(shape), input_gradient, element_bytes);
}

namespace cpu {

template <typename T>
void patch_embed_forward(const PatchEmbedShape& shape, const T* image, const T* weight,
                         const std::type_identity_t<T>* bias, T* columns, T* y) {
  check(shape);
  for_patch_rows(shape, [&](std::int64_t pixel, std::int64_t column) {
    std::copy_n(image + pixel, shape.patch, columns + column);
  });
  linear_forward(as_linear(shape), columns, weight, bias, y);
}

template <typename T>
void patch_embed_backward(const PatchEmbedShape& shape, const T* weight, const T* columns, const T* dy, T* dweight,
                          std::type_identity_t<T>* dbias, std::type_identity_t<T>* dimage,
                          std::type_identity_t<T>* workspace) {
  check(shape);
  require(dimage == nullptr || workspace != nullptr, "patch_embed_backward", "dimage needs a workspace");
  linear_backward(as_linear(shape), columns, weight, dy, nullptr, dweight, dbias);
  if (dimage == nullptr) return;
  // After the weight gradient, since the workspace may be the columns.
  linear_backward(as_linear(shape), columns, weight, dy, workspace, nullptr, nullptr);
  for_patch_rows(shape, [&](std::int64_t pixel, std::int64_t column) {
    std::copy_n(workspace + column, shape.patch, dimage + pixel);
  });
}

template void patch_embed_forward<float>(const PatchEmbedShape&, const float*, const float*, const float*, float*,
                                         float*);
template void patch_embed_forward<double>(const PatchEmbedShape&, const double*, const double*, const double*, double*,
                                          double*);
template void patch_embed_backward<float>(const PatchEmbedShape&, const float*, const float*, const float*, float*,
                                          float*, float*, float*);
template void patch_embed_backward<double>(const PatchEmbedShape&, const double*, const double*, const double*, double*,
                                           double*, double*, double*);

}  // namespace cpu
}  // namespace swinscope
