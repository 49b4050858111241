// host_device.h: operations of inference alone, most of them several of the CPU's in one. What lies between those is
// rounded where the device's kernels round it.
#include <algorithm>
#include <bit>
#include <cmath>

#include "kernels/byte_weight_gradient.h"
#include "kernels/convert.h"
#include "kernels/delayed_scale.h"
#include "kernels/gemm.h"
#include "kernels/linear.h"
#include "kernels/narrow_block.h"
#include "kernels/normalized_rows.h"
#include "kernels/patch_embed.h"
#include "kernels/qkv_attention.h"
#include "kernels/quantize.h"
#include "tests/unit/workloads/host_device_memory.h"
#include "workloads/hash_stream.h"

namespace swinscope {
namespace test {

Floats normalized(const LayerNormShape& shape, const Floats& x, const Floats& gamma, const Floats& beta) {
  Floats y(x.size()), mean = zeros(shape.rows), rstd = zeros(shape.rows);
  cpu::layernorm_forward<float>(shape, x.data(), gamma.data(), beta.data(), y.data(), mean.data(), rstd.data());
  return y;
}

Floats load_bytes(ByteFormat format, const void* from, std::int64_t count, float scale) {
  const auto* const bytes = static_cast<const std::uint8_t*>(from);
  Floats values(static_cast<std::size_t>(count));
  std::transform(bytes, bytes + count, values.begin(),
                 [=](std::uint8_t bits) { return scale * from_byte(format, bits); });
  return values;
}

void store_bytes(ByteFormat format, const Floats& values, float scale, void* to) {
  const float inverse = 1.0F / scale;
  std::ranges::transform(values, static_cast<std::uint8_t*>(to),
                         [=](float value) { return to_byte(format, value * inverse); });
}

void copy_bytes(ElementType type, const void* from, std::int64_t count, const cuda::ByteCopy& copy) {
  if (copy.bytes == nullptr) return;
  const Floats values = load(type, from, count);
  store_bytes(copy.format, values, copy.scale->scale, copy.bytes);
  for (const float value : values)
    if (!std::isnan(value))
      copy.scale->largest = std::max(copy.scale->largest, std::bit_cast<std::uint32_t>(std::fabs(value)));
}

void store(ElementType type, const Floats& values, void* to, const cuda::ByteCopy& copy) {
  std::vector<std::byte> rounded(to == nullptr ? values.size() * static_cast<std::size_t>(element_bytes(type)) : 0);
  if (to == nullptr) to = rounded.data();
  store(type, values, to);
  copy_bytes(type, to, static_cast<std::int64_t>(values.size()), copy);
}

void gelu_tanh(Floats& values) {
  constexpr float kScale = 0.7978845608028654F;  // sqrt(2 / pi)
  for (float& z : values)
    z = 0.5F * z * (1.0F + std::tanh(kScale * (z + 0.044715F * z * z * z)));
}

}  // namespace test

namespace cuda {
namespace {

using namespace test;

// Of tensors of one type.
struct Loader {
  ElementType type;
  Floats operator()(const void* from, std::int64_t count) const { return load(type, from, count); }
  Floats rounded(const Floats& values) const {
    std::vector<char> stored(values.size() * static_cast<std::size_t>(element_bytes(type)));
    store(type, values, stored.data());
    return load(type, stored.data(), static_cast<std::int64_t>(values.size()));
  }
  Floats norm(const LayerNormShape& shape, const Floats& x, const void* gamma, const void* beta) const {
    return rounded(normalized(shape, x, (*this)(gamma, shape.channels), (*this)(beta, shape.channels)));
  }
  Floats linear(const LinearShape& shape, const Floats& x, const void* weight, const void* bias) const {
    Floats y = zeros(shape.rows * shape.outputs);
    const Floats w = (*this)(weight, shape.outputs * shape.inputs);
    const Floats b = bias == nullptr ? zeros(shape.outputs) : (*this)(bias, shape.outputs);
    cpu::linear_forward<float>(shape, x.data(), w.data(), b.data(), y.data());
    return y;
  }
};

Floats sum(Floats a, const Floats& b) {
  for (std::size_t i = 0; i < a.size(); ++i)
    a[i] += b[i];
  return a;
}

float largest_of(const Floats& values) {
  float largest = 0.0F;
  for (const float value : values)
    largest = std::max(largest, std::fabs(value));
  return largest;
}

void quantize_rows(const WeightShape& shape, const Floats& values, void* y, float* scales) {
  for (std::int64_t row = 0; row < shape.outputs; ++row) {
    const Floats own(values.begin() + row * shape.inputs, values.begin() + (row + 1) * shape.inputs);
    const float scale = byte_scale(shape.format, largest_of(own));
    store_bytes(shape.format, own, scale, static_cast<std::uint8_t*>(y) + row * shape.inputs);
    scales[row] = scale * shape.input_scale;
  }
}

void round_weight(const ByteWeight& w, ByteFormat format) {
  const Floats values = load(ElementType::kFp16, w.weight, w.outputs * w.inputs);
  quantize_rows({w.outputs, w.inputs, w.input_scale->scale, format}, values, w.bytes, w.factors);
  if (w.transposed == nullptr) return;
  Floats transposed(values.size());
  for (std::int64_t i = 0; i < w.outputs * w.inputs; ++i)
    transposed[static_cast<std::size_t>(i % w.inputs * w.outputs + i / w.inputs)] = values[static_cast<std::size_t>(i)];
  const float scale = byte_scale(ByteFormat::kE4m3, largest_of(values));
  store_bytes(ByteFormat::kE4m3, transposed, scale, w.transposed);
  std::fill_n(w.transposed_factors, w.inputs, scale * w.gradient_scale->scale);
}

// fc2(GELU(fc1(x))).
Floats narrow_layers(const NarrowShape& shape, const NarrowMlpWeights& w, const Floats& x) {
  const Loader of{shape.type};
  Floats hidden = of.linear({shape.rows, kNarrowChannels, kNarrowHidden}, x, w.weight1, w.bias1);
  gelu_tanh(hidden);
  return of.linear({shape.rows, kNarrowHidden, kNarrowChannels}, of.rounded(hidden), w.weight2, w.bias2);
}

}  // namespace

void linear_forward(const LinearShape& shape, ElementType type, const void* x, const void* weight, const void* bias,
                    void* y, Stream stream) {
  launch(stream, [=] {
    const Loader of{type};
    store(type, of.linear(shape, of(x, shape.rows * shape.inputs), weight, bias), y);
  });
}

void quantize(std::int64_t count, ElementType type, const void* x, ByteFormat format, float scale, void* y,
              Stream stream) {
  launch(stream, [=] { store_bytes(format, load(type, x, count), scale, y); });
}

void quantize_weight(const WeightShape& shape, ElementType type, const void* weight, void* y, float* scales,
                     Stream stream) {
  launch(stream, [=] { quantize_rows(shape, load(type, weight, shape.outputs * shape.inputs), y, scales); });
}

void advance_scales(std::int64_t count, ByteFormat format, DelayedScale* scales, Stream stream) {
  launch(stream, [=] { std::for_each_n(scales, count, [=](DelayedScale& scale) { advance(scale, format); }); });
}

void copy_to_bytes(std::int64_t count, ElementType type, const void* x, const ByteCopy& copy, Stream stream) {
  launch(stream, [=] { copy_bytes(type, x, count, copy); });
}

ByteWeights::ByteWeights(std::span<const ByteWeight> weights, ByteFormat format, Stream stream)
    : format_(format),
      weights_(static_cast<std::int64_t>(weights.size())),
      table_(static_cast<std::int64_t>(weights.size_bytes())) {
  copy_to_device(table_.data(), weights.data(), table_.bytes(), stream);
}

void ByteWeights::run(Stream stream) const {
  const std::span weights(static_cast<const ByteWeight*>(table_.data()), static_cast<std::size_t>(weights_));
  launch(stream, [=, format = format_] {
    for (const ByteWeight& weight : weights)
      round_weight(weight, format);
  });
}

struct ByteWeightGradient::Launch {
  ByteWeightGradientShape shape;
  ByteWeightGradientTensors tensors;
};

std::int64_t byte_weight_gradient_workspace_bytes(const ByteWeightGradientShape& /*shape*/) { return 0; }

ByteWeightGradient::ByteWeightGradient(const ByteWeightGradientShape& shape, const ByteWeightGradientTensors& tensors)
    : launch_(std::make_shared<const Launch>(Launch{shape, tensors})) {}

void ByteWeightGradient::run(Stream stream) const {
  launch(stream, [l = launch_] {
    const auto& [shape, t] = *l;
    const Floats dy = load_bytes(ByteFormat::kE4m3, t.dy, shape.rows * shape.outputs, t.dy_scale->scale);
    const Floats x = load_bytes(ByteFormat::kE4m3, t.x, shape.rows * shape.inputs, t.x_scale->scale);
    cpu::gemm<float>({shape.outputs, shape.inputs, shape.rows, Transpose::kYes}, 1.0F, dy.data(), x.data(),
                     shape.accumulate ? 1.0F : 0.0F, t.dweight);
  });
}

void count_magnitudes(std::int64_t count, const void* x, std::uint32_t* counts, Stream stream) {
  launch(stream, [=] {
    const auto* const bits = static_cast<const std::uint16_t*>(x);
    for (std::int64_t i = 0; i < count; ++i)
      ++counts[(bits[i] & 0x7fff) >> 4];
  });
}

void narrow_qkv_forward(const NarrowShape& shape, const NarrowQkvTensors& t, Stream stream) {
  launch(stream, [=] {
    const Loader of{shape.type};
    const Floats x = of.norm({shape.rows, kNarrowChannels}, of(t.x, shape.rows * kNarrowChannels), t.gamma, t.beta);
    store(shape.type, of.linear({shape.rows, kNarrowChannels, 3 * kNarrowChannels}, x, t.weight, t.bias), t.y);
  });
}

void narrow_mlp_forward(const NarrowShape& shape, const NarrowMlpTensors& t, Stream stream) {
  launch(stream, [=] {
    const Loader of{shape.type};
    const Floats x = of(t.x, shape.rows * kNarrowChannels);
    const Floats branch = narrow_layers(shape, t.weights, x);
    const Floats y = normalized({shape.rows, kNarrowChannels}, branch, of(t.weights.gamma, kNarrowChannels),
                                of(t.weights.beta, kNarrowChannels));
    store(shape.type, sum(y, x), t.y);
  });
}

void narrow_block_end_forward(const NarrowShape& shape, const NarrowBlockEndTensors& t, Stream stream) {
  launch(stream, [=] {
    const Loader of{shape.type};
    const std::int64_t count = shape.rows * kNarrowChannels;
    const LinearShape projection{shape.rows, kNarrowChannels, kNarrowChannels};
    const Floats r = of.rounded(sum(
        of.linear(projection, of(t.attended, count), t.projection_weight, t.projection_bias), of(t.residual, count)));
    const Floats x = of.norm({shape.rows, kNarrowChannels}, r, t.weights.gamma, t.weights.beta);
    store(shape.type, sum(narrow_layers(shape, t.weights, x), r), t.y);
  });
}

void normalized_rows_forward(const NormalizedRowsShape& shape, const NormalizedRowsTensors& t, Stream stream) {
  launch(stream, [=] {
    const Loader of{shape.type};
    const Floats x = of.norm({shape.rows, shape.inputs}, of(t.x, shape.rows * shape.inputs), t.gamma, t.beta);
    Floats y = of.linear({shape.rows, shape.inputs, shape.outputs}, x, t.weight, t.bias);
    if (shape.gelu) gelu_tanh(y);
    store(shape.type, y, t.y);
  });
}

void normalized_patch_embed_forward(const PatchEmbedShape& shape, ElementType type,
                                    const NormalizedPatchEmbedTensors& t, Stream stream) {
  launch(stream, [=] {
    const Loader of{type};
    const Floats images = of(t.image, shape.column_elements());
    const Floats weight = of(t.weight, shape.outputs * shape.column_length());
    const Floats bias = t.bias == nullptr ? zeros(shape.outputs) : of(t.bias, shape.outputs);
    Floats columns = zeros(shape.column_elements()), y = zeros(shape.tokens() * shape.outputs);
    cpu::patch_embed_forward<float>(shape, images.data(), weight.data(), bias.data(), columns.data(), y.data());
    store(type, normalized({shape.tokens(), shape.outputs}, y, of(t.gamma, shape.outputs), of(t.beta, shape.outputs)),
          t.y);
  });
}

void qkv_attention_forward(const WindowAttentionShape& shape, ElementType type, const QkvAttentionTensors& t,
                           Stream stream) {
  launch(stream, [=] {
    const Loader of{type};
    const std::int64_t tokens = shape.grid.tokens();
    const std::int64_t channels = shape.channels();
    Floats x = of(t.x, tokens * channels);
    if (t.gamma != nullptr) x = of.norm({tokens, channels}, x, t.gamma, t.beta);
    const Floats qkv = of.rounded(of.linear({tokens, channels, 3 * channels}, x, t.weight, t.qkv_bias));
    const Floats pad = t.qkv_bias == nullptr ? zeros(3 * channels) : of(t.qkv_bias, 3 * channels);
    Floats out = zeros(tokens * channels);
    cpu::window_attention_forward<float>(
        shape, {qkv.data(), static_cast<const float*>(t.bias), t.logit_scale, pad.data()}, out.data(), nullptr);
    store(type, out, t.out);
  });
}

void fill_random(std::int64_t count, ElementType type, std::uint64_t seed, void* to, Stream stream) {
  launch(stream, [=] {
    const HashStream random("fill", seed);
    Floats values = zeros(count);
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<float>(2.0 * random.unit(i) - 1.0);
    store(type, values, to);
  });
}

}  // namespace cuda
}  // namespace swinscope
