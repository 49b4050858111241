// host_device.h: the operations of a model.
#include <algorithm>
#include <cmath>

#include "kernels/bias.h"
#include "kernels/continuous_bias.h"
#include "kernels/cross_entropy.h"
#include "kernels/gelu.h"
#include "kernels/layernorm.h"
#include "kernels/patch_embed.h"
#include "kernels/patch_merge.h"
#include "kernels/pool.h"
#include "kernels/residual.h"
#include "kernels/stochastic_depth.h"
#include "kernels/sum_parts.h"
#include "tests/unit/workloads/host_device_memory.h"
#include "workloads/stochastic_depth.h"

namespace swinscope::cuda {
namespace {

using namespace test;

// Row r times scale[r / rows_per_sample]; nothing without a scale.
void scale_rows(Floats& rows, std::int64_t columns, const float* scale, std::int64_t rows_per_sample) {
  if (scale == nullptr) return;
  for (std::size_t i = 0; i < rows.size(); ++i)
    rows[i] *= scale[static_cast<std::int64_t>(i) / columns / rows_per_sample];
}

Floats rows_of(const LayerNormShape& shape, ElementType type, const void* x, const PatchMergeShape* gather) {
  if (gather == nullptr) return load(type, x, shape.rows * shape.channels);
  const Floats map = load(type, x, gather->batch * gather->height * gather->width * gather->channels);
  Floats rows = zeros(shape.rows * shape.channels);
  cpu::patch_merge_forward<float>(*gather, map.data(), rows.data());
  return rows;
}

void layernorm(const LayerNormShape& shape, ElementType type, const LayerNormTensors& t,
               const PatchMergeShape* gather) {
  Floats y = normalized(shape, rows_of(shape, type, t.x, gather), load(type, t.gamma, shape.channels),
                        load(type, t.beta, shape.channels));
  if (t.residual != nullptr) {
    scale_rows(y, shape.channels, t.sample_scale, t.rows_per_sample);
    const Floats residual = load(type, t.residual, shape.rows * shape.channels);
    for (std::size_t i = 0; i < y.size(); ++i)
      y[i] += residual[i];
  }
  if (t.bytes == nullptr || t.residual != nullptr) store(type, y, t.y, t.copy);
  if (t.bytes == nullptr) return;
  store_bytes(t.byte_format, t.residual == nullptr ? y : load(type, t.y, shape.rows * shape.channels), t.byte_scale,
              t.bytes);
}

}  // namespace

void layernorm_forward(const LayerNormShape& shape, ElementType type, const LayerNormTensors& tensors, Stream stream,
                       const PatchMergeShape* gather) {
  const bool gathers = gather != nullptr;
  launch(stream, [=, map = gathers ? *gather : PatchMergeShape{}] {
    layernorm(shape, type, tensors, gathers ? &map : nullptr);
  });
}

void layernorm_forward_plain(const LayerNormShape& shape, ElementType type, const LayerNormTensors& tensors,
                             Stream stream) {
  launch(stream, [=] { layernorm(shape, type, tensors, nullptr); });
}

std::int64_t layernorm_backward_workspace_bytes(const LayerNormShape& shape) { return shape.channels * 8; }

void layernorm_backward(const LayerNormShape& shape, ElementType type, const LayerNormGradientTensors& t, Stream stream,
                        const PatchMergeShape* gather) {
  const bool gathers = gather != nullptr;
  launch(stream, [=, map = gathers ? *gather : PatchMergeShape{}] {
    const Floats x = rows_of(shape, type, t.x, gathers ? &map : nullptr);
    const Floats gamma = load(type, t.gamma, shape.channels);
    Floats y(x.size()), mean = zeros(shape.rows), rstd = zeros(shape.rows), dx(x.size());
    cpu::layernorm_forward<float>(shape, x.data(), gamma.data(), gamma.data(), y.data(), mean.data(), rstd.data());
    Floats dy = load(type, t.dy, shape.rows * shape.channels);
    scale_rows(dy, shape.channels, t.sample_scale, t.rows_per_sample);
    begin_gradient(t.dgamma, shape.channels, t.accumulate);
    begin_gradient(t.dbeta, shape.channels, t.accumulate);
    cpu::layernorm_backward<float>(shape, x.data(), gamma.data(), mean.data(), rstd.data(), dy.data(), dx.data(),
                                   t.dgamma, t.dbeta);
    if (t.residual != nullptr) {
      const Floats residual = load(type, t.residual, shape.rows * shape.channels);
      for (std::size_t i = 0; i < dx.size(); ++i)
        dx[i] += residual[i];
    }
    if (!gathers) {
      begin_gradient(t.dx_sums, shape.channels, t.accumulate);
      for (std::size_t i = 0; t.dx_sums != nullptr && i < dx.size(); ++i)
        t.dx_sums[i % static_cast<std::size_t>(shape.channels)] += dx[i];
      store(type, dx, t.dx, t.copy);
      return;
    }
    Floats dmap = zeros(map.batch * map.height * map.width * map.channels);
    cpu::patch_merge_backward<float>(map, dx.data(), dmap.data());
    store(type, dmap, t.dx);
  });
}

void residual_layernorm_forward(const LayerNormShape& shape, ElementType type, const ResidualNormTensors& t,
                                Stream stream) {
  launch(stream, [=] {
    Floats sum = load(type, t.branch, shape.rows * shape.channels);
    scale_rows(sum, shape.channels, t.sample_scale, t.rows_per_sample);
    const Floats x = load(type, t.x, shape.rows * shape.channels);
    for (std::size_t i = 0; i < sum.size(); ++i)
      sum[i] += x[i];
    // As on a GPU, what is normalized is what is stored.
    store(type, sum, t.sum);
    sum = load(type, t.sum, shape.rows * shape.channels);
    store(type, normalized(shape, sum, load(type, t.gamma, shape.channels), load(type, t.beta, shape.channels)), t.y,
          t.copy);
  });
}

void bias_forward(const BiasShape& shape, ElementType type, const void* x, const void* bias, void* y, Stream stream) {
  launch(stream, [=] {
    Floats values = load(type, x, shape.rows * shape.columns);
    const Floats b = load(type, bias, shape.columns);
    cpu::bias_forward<float>(shape, values.data(), b.data(), values.data());
    store(type, values, y);
  });
}

std::int64_t bias_backward_workspace_bytes(const BiasShape& shape) { return shape.columns * 4; }

void bias_backward(const BiasShape& shape, ElementType type, const BiasGradientTensors& t, Stream stream) {
  if (shape.columns % 8 != 0) throw std::invalid_argument("bias_backward: columns");
  launch(stream, [=] {
    Floats dy = load(type, t.dy, shape.rows * shape.columns);
    scale_rows(dy, shape.columns, t.sample_scale, t.rows_per_sample);
    begin_gradient(t.dbias, shape.columns, t.accumulate);
    cpu::bias_backward<float>(shape, dy.data(), t.dbias);
    store(type, dy, t.dx, t.copy);
  });
}

void gelu_forward(std::int64_t count, ElementType type, const void* x, void* y, Stream stream, bool /*backwards*/,
                  const ByteCopy& copy) {
  launch(stream, [=] {
    Floats values = load(type, x, count);
    cpu::gelu_forward<float>(count, values.data(), values.data());
    store(type, values, y, copy);
  });
}

std::int64_t gelu_backward_workspace_bytes(const BiasShape& shape) { return shape.columns * 4; }

void gelu_backward(const BiasShape& shape, ElementType type, const GeluGradientTensors& t, Stream stream) {
  launch(stream, [=] {
    const std::int64_t count = shape.rows * shape.columns;
    const Floats x = load(type, t.x, count);
    Floats dx = load(type, t.dy, count);
    cpu::gelu_backward<float>(count, x.data(), dx.data(), dx.data());
    store(type, dx, t.dx, t.copy);
    if (t.dbias == nullptr) return;
    begin_gradient(t.dbias, shape.columns, t.accumulate);
    cpu::bias_backward<float>(shape, dx.data(), t.dbias);
  });
}

void continuous_bias_forward(const ContinuousBiasShape& shape, const float* weight1, const float* bias1,
                             const float* weight2, float* table, Stream stream) {
  launch(stream, [=] {
    Floats coordinates = zeros(shape.rows() * 2), activations = zeros(shape.rows() * shape.hidden);
    cpu::continuous_bias_forward<float>(shape, weight1, bias1, weight2, coordinates.data(), activations.data(), table);
  });
}

void continuous_bias_backward(const ContinuousBiasShape& shape, const ContinuousBiasGradientTensors& t, Stream stream) {
  launch(stream, [=] {
    Floats coordinates = zeros(shape.rows() * 2), activations = zeros(shape.rows() * shape.hidden);
    Floats table = zeros(shape.rows() * shape.heads), workspace = zeros(shape.backward_workspace());
    cpu::continuous_bias_forward<float>(shape, t.weight1, t.bias1, t.weight2, coordinates.data(), activations.data(),
                                        table.data());
    begin_gradient(t.dweight1, shape.hidden * 2, t.accumulate);
    begin_gradient(t.dbias1, shape.hidden, t.accumulate);
    begin_gradient(t.dweight2, shape.heads * shape.hidden, t.accumulate);
    cpu::continuous_bias_backward<float>(shape, t.weight2, coordinates.data(), activations.data(), t.table, t.dtable,
                                         t.dweight1, t.dbias1, t.dweight2, workspace.data());
  });
}

void patch_columns(const PatchEmbedShape& shape, ElementType type, const void* image, void* columns, Stream stream) {
  launch(stream, [=] {
    const Floats images = load(type, image, shape.column_elements());
    const Floats weight = zeros(shape.outputs * shape.column_length());
    Floats values = zeros(shape.column_elements()), y = zeros(shape.tokens() * shape.outputs);
    cpu::patch_embed_forward<float>(shape, images.data(), weight.data(), nullptr, values.data(), y.data());
    store(type, values, columns);
  });
}

void patch_merge_forward(const PatchMergeShape& shape, ElementType type, const void* x, void* y, Stream stream) {
  launch(stream, [=] {
    const Floats map = load(type, x, shape.batch * shape.height * shape.width * shape.channels);
    Floats merged = zeros(shape.merged_tokens() * 4 * shape.channels);
    cpu::patch_merge_forward<float>(shape, map.data(), merged.data());
    store(type, merged, y);
  });
}

void patch_merge_backward(const PatchMergeShape& shape, ElementType type, const void* dy, void* dx, Stream stream) {
  launch(stream, [=] {
    const Floats merged = load(type, dy, shape.merged_tokens() * 4 * shape.channels);
    Floats map = zeros(shape.batch * shape.height * shape.width * shape.channels);
    cpu::patch_merge_backward<float>(shape, merged.data(), map.data());
    store(type, map, dx);
  });
}

void pool_forward(const PoolShape& shape, ElementType type, const void* x, void* y, Stream stream) {
  launch(stream, [=] {
    const Floats values = load(type, x, shape.batch * shape.tokens * shape.channels);
    Floats means = zeros(shape.batch * shape.channels);
    cpu::pool_forward<float>(shape, values.data(), means.data());
    store(type, means, y);
  });
}

void pool_backward(const PoolShape& shape, ElementType type, const void* dy, void* dx, Stream stream) {
  launch(stream, [=] {
    const Floats means = load(type, dy, shape.batch * shape.channels);
    Floats values = zeros(shape.batch * shape.tokens * shape.channels);
    cpu::pool_backward<float>(shape, means.data(), values.data());
    store(type, values, dx);
  });
}

void residual_forward(const ResidualShape& shape, ElementType type, const void* x, const void* branch,
                      const float* scale, void* y, Stream stream) {
  launch(stream, [=] {
    const std::int64_t count = shape.batch * shape.sample_elements;
    Floats values = load(type, x, count);
    const Floats added = load(type, branch, count);
    cpu::residual_forward<float>(shape, values.data(), added.data(), scale, values.data());
    store(type, values, y);
  });
}

void residual_forward(const ResidualShape& shape, ElementType type, const void* x, const void* branch, void* y,
                      Stream stream) {
  residual_forward(shape, type, x, branch, nullptr, y, stream);
}

void residual_backward(const ResidualShape& shape, ElementType type, const float* scale, const void* dy, void* dbranch,
                       Stream stream) {
  launch(stream, [=] {
    Floats values = load(type, dy, shape.batch * shape.sample_elements);
    cpu::residual_backward<float>(shape, scale, values.data(), values.data());
    store(type, values, dbranch);
  });
}

void add_into(std::int64_t count, ElementType type, const void* x, float* y, Stream stream) {
  launch(stream, [=] { cpu::add_into<float>(count, load(type, x, count).data(), y); });
}

void cross_entropy_forward(const CrossEntropyShape& shape, ElementType type, const void* logits,
                           const std::int32_t* labels, float* row_loss, float* lse, std::int32_t* /*predicted*/,
                           LossSums* sums, Stream stream) {
  launch(stream, [=] {
    const CrossEntropyResult result = cpu::cross_entropy_forward<float>(
        shape, load(type, logits, shape.rows * shape.classes).data(), labels, row_loss, lse);
    sums->loss += result.mean_loss * static_cast<double>(result.count);
    sums->count += result.count;
    sums->correct += result.correct;
  });
}

void cross_entropy_backward(const CrossEntropyShape& shape, ElementType type, const void* logits,
                            const std::int32_t* labels, const float* lse, double row_scale, const float* loss_scale,
                            void* dlogits, Stream stream) {
  launch(stream, [=] {
    const Floats values = load(type, logits, shape.rows * shape.classes);
    Floats gradient(values.size());
    cpu::cross_entropy_backward<float>(shape, values.data(), labels, lse,
                                       row_scale * (loss_scale == nullptr ? 1.0 : static_cast<double>(*loss_scale)),
                                       gradient.data());
    store(type, gradient, dlogits);
  });
}

void sum_parts(ElementType type, const void* parts, int ranks, std::int64_t count, void* out, Stream stream) {
  launch(stream, [=] {
    const Floats values = load(type, parts, ranks * count);
    Floats sums = zeros(count);
    for (std::size_t i = 0; i < values.size(); ++i)
      sums[i % sums.size()] += values[i];
    store(type, sums, out);
  });
}

void stochastic_depth_scales(const StochasticDepthShape& shape, const SamplePlace* place, float* scales,
                             Stream stream) {
  launch(stream, [=] {
    StochasticDepth<float> depth(shape.rate, shape.blocks, shape.batch, shape.seed);
    depth.draw(place->step, place->first_sample);
    for (int half = 0; half < 2 * shape.blocks; ++half) {
      const float* const drawn = depth.scale(half / 2, half % 2);
      for (std::int64_t i = 0; i < shape.batch; ++i)
        scales[half * shape.batch + i] = drawn == nullptr ? 1.0F : drawn[i];
    }
  });
}

}  // namespace swinscope::cuda
