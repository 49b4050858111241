// AdamW over a flat buffer of all parameters in three kernels: squares of the gradients by chunk, one block that
// decides (norm, clipping, loss scale, skip), and the update, which also writes 16-bit copies. Norm and moments are
// computed in double, since moments cancel; parameters and moments are stored in fp32.
#include <cmath>
#include <vector>

#include "kernels/check.h"
#include "kernels/cuda_call.h"
#include "kernels/device_math.cuh"
#include "kernels/multi_tensor_adamw.h"

namespace swinscope::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kNormThreads = 1024;
constexpr int kPiece = 4;   // neighbours of a thread: a warp's are 512 bytes of fp32 in a row
constexpr int kAtOnce = 2;  // pieces of a thread, all loaded before the first one is used
constexpr int kTurn = kThreads * kPiece;
constexpr std::int64_t kAligned = 8;
constexpr std::int64_t kChunk = 16384;
constexpr float kSmallestScale = 0x1p-24F;

// What a block takes: part of one tensor.
struct Chunk {
  std::int64_t begin;
  std::int32_t count;
  float weight_decay;
};

template <typename T>
struct alignas(kPiece * sizeof(T)) Piece {
  T values[kPiece];
};

// Elements [at, at + kPiece) of which `count` exist, as fp32.
template <typename T>
__device__ void load_piece(const T* from, int count, float (&values)[kPiece]) {
  if (count >= kPiece) {
    const Piece<T> piece = *reinterpret_cast<const Piece<T>*>(from);
#pragma unroll
    for (int e = 0; e < kPiece; ++e)
      values[e] = to_float(piece.values[e]);
  } else {
#pragma unroll
    for (int e = 0; e < kPiece; ++e)
      values[e] = e < count ? to_float(from[e]) : 0.0F;
  }
}

template <typename T>
__device__ void store_piece(T* to, int count, const float (&values)[kPiece]) {
  if (count >= kPiece) {
    Piece<T> piece;
#pragma unroll
    for (int e = 0; e < kPiece; ++e)
      piece.values[e] = from_float<T>(values[e]);
    *reinterpret_cast<Piece<T>*>(to) = piece;
  } else {
#pragma unroll
    for (int e = 0; e < kPiece; ++e) {
      if (e < count) to[e] = from_float<T>(values[e]);
    }
  }
}

// Squares of fp32 numbers do not overflow in double: their sum is finite exactly if all of them are.
template <typename T>
__global__ __launch_bounds__(kThreads) void adamw_squares_kernel(const Chunk* chunks, const T* gradients,
                                                                 double* partials) {
  const Chunk chunk = chunks[blockIdx.x];
  double sum = 0.0;
  for (int i = static_cast<int>(threadIdx.x) * kPiece; i < chunk.count; i += kTurn * kAtOnce) {
    float g[kAtOnce][kPiece];
#pragma unroll
    for (int k = 0; k < kAtOnce; ++k)
      load_piece(gradients + chunk.begin + i + k * kTurn, chunk.count - i - k * kTurn, g[k]);
#pragma unroll
    for (const auto& piece : g) {
#pragma unroll
      for (const float value : piece)
        sum += static_cast<double>(value) * static_cast<double>(value);
    }
  }
  sum = block_sum<kThreads>(sum);
  if (threadIdx.x == 0) partials[blockIdx.x] = sum;
}

__global__ __launch_bounds__(kNormThreads) void adamw_decide_kernel(std::int64_t chunks, const double* partials,
                                                                    AdamWSettings settings, OptimizerState* state) {
  double sum = 0.0;
  for (std::int64_t i = threadIdx.x; i < chunks; i += kNormThreads)
    sum += partials[i];
  sum = block_sum<kNormThreads>(sum);
  if (threadIdx.x != 0) return;
  OptimizerState s = *state;
  const double inverse_scale = 1.0 / static_cast<double>(s.loss_scale);
  s.gradient_norm = sqrt(sum) * inverse_scale;
  const bool finite = isfinite(s.gradient_norm);
  s.apply = finite ? 1 : 0;
  if (finite) {
    constexpr double kAgainstZero = 1e-6;  // as clip_factor()
    const double clip =
        settings.clip_norm > 0.0 ? fmin(1.0, settings.clip_norm / (s.gradient_norm + kAgainstZero)) : 1.0;
    s.gradient_factor = clip * inverse_scale;
    ++s.updates;
    const auto step = static_cast<double>(s.updates);
    s.rate = s.learning_rate / (1.0 - pow(settings.beta1, step));
    s.second_correction = 1.0 / (1.0 - pow(settings.beta2, step));
  } else {
    ++s.skipped;
  }
  if (settings.growth_interval > 0) {
    s.good_steps = finite ? s.good_steps + 1 : 0;
    if (!finite) s.loss_scale = fmaxf(s.loss_scale * 0.5F, kSmallestScale);
    if (s.good_steps >= settings.growth_interval) {
      s.loss_scale = fminf(s.loss_scale * 2.0F, settings.largest_scale);
      s.good_steps = 0;
    }
  }
  *state = s;
}

template <typename G, typename C>
struct Buffers {
  const G* gradients;
  float* parameters;
  float* first_moment;
  float* second_moment;
  C* copies;  // null: none
};

// The moments are computed in double with one rounding, since they cancel; the change of a parameter, of which a few
// digits matter, in fp32.
template <typename G, typename C>
__global__ __launch_bounds__(kThreads) void adamw_kernel(const Chunk* chunks, AdamWSettings settings,
                                                         const OptimizerState* state, const Buffers<G, C> buffers) {
  if (state->apply == 0) return;
  const Chunk chunk = chunks[blockIdx.x];
  const double factor = state->gradient_factor;
  const auto rate = static_cast<float>(state->rate);
  const auto second_correction = static_cast<float>(state->second_correction);
  const auto epsilon = static_cast<float>(settings.epsilon);
  const auto decay = static_cast<float>(-state->learning_rate * static_cast<double>(chunk.weight_decay));
  for (int i = static_cast<int>(threadIdx.x) * kPiece; i < chunk.count; i += kTurn * kAtOnce) {
    float g[kAtOnce][kPiece];
    float p[kAtOnce][kPiece];
    float m[kAtOnce][kPiece];
    float v[kAtOnce][kPiece];
#pragma unroll
    for (int k = 0; k < kAtOnce; ++k) {
      const std::int64_t at = chunk.begin + i + k * kTurn;
      const int count = chunk.count - i - k * kTurn;
      load_piece(buffers.gradients + at, count, g[k]);
      load_piece(buffers.parameters + at, count, p[k]);
      load_piece(buffers.first_moment + at, count, m[k]);
      load_piece(buffers.second_moment + at, count, v[k]);
    }
#pragma unroll
    for (int k = 0; k < kAtOnce; ++k) {
      const std::int64_t at = chunk.begin + i + k * kTurn;
      const int count = chunk.count - i - k * kTurn;
#pragma unroll
      for (int e = 0; e < kPiece; ++e) {
        const double gradient = static_cast<double>(g[k][e]) * factor;
        m[k][e] =
            static_cast<float>(fma(settings.beta1, static_cast<double>(m[k][e]), (1.0 - settings.beta1) * gradient));
        v[k][e] = static_cast<float>(
            fma(settings.beta2, static_cast<double>(v[k][e]), (1.0 - settings.beta2) * gradient * gradient));
        const float change = rate * m[k][e] / (sqrtf(v[k][e] * second_correction) + epsilon);
        p[k][e] = p[k][e] + fmaf(decay, p[k][e], -change);
      }
      store_piece(buffers.parameters + at, count, p[k]);
      store_piece(buffers.first_moment + at, count, m[k]);
      store_piece(buffers.second_moment + at, count, v[k]);
      if (buffers.copies != nullptr) store_piece(buffers.copies + at, count, p[k]);
    }
  }
}

void append_chunks(const AdamWSpan& span, std::vector<Chunk>& chunks) {
  require(span.offset >= 0 && span.offset % kAligned == 0 && span.count >= 0, "adamw",
          "offsets must be multiples of 8");
  for (std::int64_t begin = 0; begin < span.count; begin += kChunk) {
    const auto count = static_cast<std::int32_t>(std::min(kChunk, span.count - begin));
    chunks.push_back({span.offset + begin, count, static_cast<float>(span.weight_decay)});
  }
}

}  // namespace

MultiTensorAdamW::MultiTensorAdamW(std::span<const AdamWSpan> spans, const AdamWSettings& settings, Stream stream)
    : settings_(settings) {
  std::vector<Chunk> chunks;
  for (const AdamWSpan& span : spans) {
    const auto first = static_cast<std::int64_t>(chunks.size());
    append_chunks(span, chunks);
    const std::int64_t count = static_cast<std::int64_t>(chunks.size()) - first;
    if (settings.each_span && count > 0) launches_.push_back({first, count});
  }
  chunks_ = static_cast<std::int64_t>(chunks.size());
  if (!settings.each_span && chunks_ > 0) launches_.push_back({0, chunks_});
  table_ = DeviceBuffer(chunks_ * static_cast<std::int64_t>(sizeof(Chunk)));
  partials_ = DeviceBuffer(chunks_ * static_cast<std::int64_t>(sizeof(double)));
  if (chunks_ > 0) copy_to_device(table_.data(), chunks.data(), table_.bytes(), stream);
}

void MultiTensorAdamW::step(const AdamWBuffers& buffers, OptimizerState* state, Stream stream) const {
  const auto* const chunks = static_cast<const Chunk*>(table_.data());
  auto* const partials = static_cast<double*>(partials_.data());
  with_element_type(buffers.gradient_type, [&]<typename G>() {
    const auto* const gradients = static_cast<const G*>(buffers.gradients);
    for (const Launch& launch : launches_) {
      adamw_squares_kernel<G><<<static_cast<unsigned>(launch.chunks), kThreads, 0, stream>>>(
          chunks + launch.first, gradients, partials + launch.first);
      SWINSCOPE_CUDA_LAUNCHED("adamw_squares_kernel");
    }
    adamw_decide_kernel<<<1, kNormThreads, 0, stream>>>(chunks_, partials, settings_, state);
    SWINSCOPE_CUDA_LAUNCHED("adamw_decide_kernel");
    with_element_type(buffers.copy_type, [&]<typename C>() {
      const Buffers<G, C> flat{gradients, buffers.parameters, buffers.first_moment, buffers.second_moment,
                               static_cast<C*>(buffers.copies)};
      for (const Launch& launch : launches_) {
        adamw_kernel<G, C><<<static_cast<unsigned>(launch.chunks), kThreads, 0, stream>>>(chunks + launch.first,
                                                                                          settings_, state, flat);
        SWINSCOPE_CUDA_LAUNCHED("adamw_kernel");
      }
    });
  });
}

}  // namespace swinscope::cuda
