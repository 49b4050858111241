// The kernels of integer_only_kernels.h. Integer and floating-point arithmetic are two structs with the same functions,
// and each kernel is a template over them: memory accesses, lanes and the order of a row are the same.
//
// A thread has 16 bytes. Four neighbouring lanes share a row of a softmax, 8 to 32 a row that is normalized. Both forms
// round to an integer in 32 bits, and one instruction cuts two of them off and packs them. Each uses what suits it: the
// floating-point form makes a number of a byte by putting it into the last digits of 2^23, and has the special function
// unit's exponential, tanh and reciprocal root; the integer form sums bytes and their squares by dp4a.
#include <type_traits>

#include "kernels/check.h"
#include "kernels/cuda_call.h"
#include "kernels/device_math.cuh"
#include "kernels/early_launch.cuh"
#include "kernels/exp2_fast.cuh"
#include "kernels/integer_only.h"
#include "kernels/integer_only_kernels.h"

namespace swinscope::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kBytes = 16;  // of a thread
constexpr int kWords = kBytes / 4;
constexpr float kLog2E = 1.4426950408889634F;

struct alignas(kBytes) Bytes {
  std::uint32_t words[kWords];
};

// Byte e of a piece as an integer.
__device__ int integer_at(const Bytes& bytes, int e) {
  return static_cast<std::int8_t>(bytes.words[e / 4] >> (e % 4 * 8));
}

// As a floating-point number, which is 2^23 + 128 too large: bytes are compared and subtracted as they are.
constexpr float kRaised = 0x1p23F + 128.0F;
__device__ float raised_at(const Bytes& bytes, int e) {
  const std::uint32_t positive = bytes.words[e / 4] ^ 0x80808080U;
  return __uint_as_float(__byte_perm(positive, __float_as_uint(0x1p23F), 0x7440 + e % 4));
}

// value * factor, rounded to nearest; for results below 2^22 in magnitude.
__device__ int rounded(float value, float factor) {
  constexpr float kIntegers = 0x1.8p23F;
  return __float_as_int(fmaf(value, factor, kIntegers)) - __float_as_int(kIntegers);
}

// Two integers, cut off at what 8 bits hold, in the lowest bytes; above them the lower half of `rest`.
__device__ std::uint32_t pack(int low, int high, std::uint32_t rest) {
  std::uint32_t packed;
  asm("cvt.pack.sat.s8.s32.b32 %0, %1, %2, %3;" : "=r"(packed) : "r"(high), "r"(low), "r"(rest));
  return packed;
}

// The piece whose byte e is value(e).
template <typename Value>
__device__ Bytes piece_of(const Value& value) {
  Bytes bytes;
#pragma unroll
  for (int w = 0; w < kWords; ++w)
    bytes.words[w] = pack(value(4 * w), value(4 * w + 1), pack(value(4 * w + 2), value(4 * w + 3), 0));
  return bytes;
}

// Over groups of kLanes neighbouring lanes; every lane gets it.
template <int kLanes, typename Value>
__device__ Value sum_of_lanes(Value value) {
  if constexpr (kLanes == kWarp && std::is_same_v<Value, int>) {
    return __reduce_add_sync(0xffffffffU, value);
  } else {
#pragma unroll
    for (int step = kLanes / 2; step > 0; step /= 2)
      value += __shfl_xor_sync(0xffffffffU, value, step);
    return value;
  }
}
template <int kLanes, typename Value>
__device__ Value max_of_lanes(Value value) {
#pragma unroll
  for (int step = kLanes / 2; step > 0; step /= 2)
    value = max(value, __shfl_xor_sync(0xffffffffU, value, step));
  return value;
}

struct IntegerSoftmax {
  IntegerExponential exponential;

  static IntegerSoftmax of(float scale) { return {IntegerExponential::of(scale)}; }
  __device__ static int score(const Bytes& bytes, int e) { return integer_at(bytes, e); }
  __device__ std::uint32_t weight(int top, int score) const { return softmax_exponential(exponential, top - score); }
  __device__ static std::uint32_t reciprocal(std::uint32_t sum) { return softmax_reciprocal(sum); }
  __device__ static int probability(std::uint32_t weight, std::uint32_t reciprocal) {
    return softmax_probability(weight, reciprocal);
  }
};

struct FloatSoftmax {
  float factor;

  static FloatSoftmax of(float scale) { return {scale * kLog2E}; }
  __device__ static float score(const Bytes& bytes, int e) { return raised_at(bytes, e); }
  __device__ float weight(float top, float score) const { return exp2_fast((score - top) * factor); }
  __device__ static float reciprocal(float sum) { return __fdividef(128.0F, sum); }
  __device__ static int probability(float weight, float reciprocal) { return rounded(weight, reciprocal); }
};

constexpr int kSoftmaxLanes = kByteSoftmaxRow / kBytes;

// The first `count` bytes of a piece, and the least number behind them.
__device__ void pad(Bytes& bytes, int count) {
#pragma unroll
  for (int w = 0; w < kWords; ++w) {
    const int valid = min(max(count - 4 * w, 0), 4);
    const std::uint32_t mask = valid == 4 ? 0xffffffffU : (1U << 8 * valid) - 1;
    bytes.words[w] = (bytes.words[w] & mask) | (0x80808080U & ~mask);
  }
}

template <typename Arithmetic>
__global__ __launch_bounds__(kThreads) void softmax_kernel(std::int64_t pieces, int keys, const Arithmetic arithmetic,
                                                           const Bytes* x, Bytes* y) {
  using Score = decltype(Arithmetic::score(Bytes{}, 0));
  using Weight = decltype(arithmetic.weight(Score{}, Score{}));
  const std::int64_t i = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  const int count = keys - static_cast<int>(threadIdx.x) % kSoftmaxLanes * kBytes;
  let_next_begin();
  wait_for_previous();
  // All lanes take part in the sums; those behind the end repeat the last piece and store nothing.
  Bytes bytes = x[min(i, pieces - 1)];
  pad(bytes, count);
  Score top = Arithmetic::score(bytes, 0);
#pragma unroll
  for (int e = 1; e < kBytes; ++e)
    top = max(top, Arithmetic::score(bytes, e));
  top = max_of_lanes<kSoftmaxLanes>(top);
  Weight weights[kBytes];
  Weight sum{};
#pragma unroll
  for (int e = 0; e < kBytes; ++e) {
    const Weight weight = arithmetic.weight(top, Arithmetic::score(bytes, e));
    weights[e] = e < count ? weight : Weight{};
    sum += weights[e];
  }
  const Weight reciprocal = Arithmetic::reciprocal(sum_of_lanes<kSoftmaxLanes>(sum));
  bytes = piece_of([&](int e) { return Arithmetic::probability(weights[e], reciprocal); });
  if (i < pieces) y[i] = bytes;
}

struct IntegerActivation {
  IntegerGelu gelu;

  static IntegerActivation of(const ByteScales& scales) { return {IntegerGelu::of(scales.x, scales.y)}; }
  __device__ int operator()(const Bytes& bytes, int e) const { return integer_gelu(gelu, integer_at(bytes, e)); }
};

// y = x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))), of integers: scales are in the three factors.
struct FloatActivation {
  float linear, cubic;
  float half_ratio;

  static FloatActivation of(const ByteScales& scales) {
    const float linear = 0.7978845608028654F * scales.x;
    return {linear, 0.044715F * linear * scales.x * scales.x, 0.5F * scales.x / scales.y};
  }
  __device__ int operator()(const Bytes& bytes, int e) const {
    const float x = raised_at(bytes, e) - kRaised;
    float tanh;
    asm("tanh.approx.f32 %0, %1;" : "=f"(tanh) : "f"(x * fmaf(cubic, x * x, linear)));
    return rounded(fmaf(x, tanh, x), half_ratio);
  }
};

template <typename Activation>
__global__ __launch_bounds__(kThreads) void gelu_kernel(std::int64_t pieces, const Activation activation,
                                                        const Bytes* x, Bytes* y) {
  const std::int64_t i = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  let_next_begin();
  wait_for_previous();
  if (i >= pieces) return;
  const Bytes bytes = x[i];
  y[i] = piece_of([&](int e) { return activation(bytes, e); });
}

// A row of kLanes * kPieces pieces, of which a lane has kPieces.
template <int kLanes, int kPieces>
class IntegerRowNorm {
 public:
  using Settings = IntegerNorm;
  static Settings settings_of(float epsilon, const ByteScales& scales) {
    return IntegerNorm::of(epsilon, scales.x, scales.y);
  }

  __device__ IntegerRowNorm(const Settings& settings, const Bytes (&x)[kPieces]) : x_(x) {
    constexpr int kOnes = 0x01010101;
    int sum = 0;
    int squares = 0;
#pragma unroll
    for (int w = 0; w < kPieces * kWords; ++w) {
      const auto four = static_cast<int>(x[w / kWords].words[w % kWords]);
      sum = __dp4a(four, kOnes, sum);
      squares = __dp4a(four, four, squares);
    }
    row_ = integer_row(settings, kLanes * kPieces * kBytes, sum_of_lanes<kLanes>(sum), sum_of_lanes<kLanes>(squares));
  }
  __device__ int normalized(int piece, int e) const { return row_.normalized(integer_at(x_[piece], e)); }

 private:
  const Bytes (&x_)[kPieces];
  IntegerRow row_;
};

template <int kLanes, int kPieces>
class FloatRowNorm {
 public:
  struct Settings {
    float epsilon;  // in squares of an input's step
    float inverse;  // of the result's scale
  };
  static Settings settings_of(float epsilon, const ByteScales& scales) {
    return {epsilon / (scales.x * scales.x), 1.0F / scales.y};
  }

  __device__ FloatRowNorm(const Settings& settings, const Bytes (&x)[kPieces]) {
    constexpr float kInverseCount = 1.0F / static_cast<float>(kLanes * kPieces * kBytes);
    float sum = 0.0F;
#pragma unroll
    for (int e = 0; e < kPieces * kBytes; ++e) {
      values_[e] = raised_at(x[e / kBytes], e % kBytes) - kRaised;
      sum += values_[e];
    }
    const float mean = sum_of_lanes<kLanes>(sum) * kInverseCount;
    float squares = 0.0F;
#pragma unroll
    for (float& value : values_) {
      value -= mean;
      squares = fmaf(value, value, squares);
    }
    factor_ = rsqrtf(fmaf(sum_of_lanes<kLanes>(squares), kInverseCount, settings.epsilon)) * settings.inverse;
  }
  __device__ int normalized(int piece, int e) const { return rounded(values_[piece * kBytes + e], factor_); }

 private:
  float values_[kPieces * kBytes];
  float factor_;
};

template <template <int, int> typename RowNorm, int kLanes, int kPieces>
__global__ __launch_bounds__(kThreads) void layernorm_kernel(std::int64_t rows,
                                                             typename RowNorm<kLanes, kPieces>::Settings settings,
                                                             const Bytes* x, Bytes* y) {
  const std::int64_t row = (std::int64_t{blockIdx.x} * kThreads + threadIdx.x) / kLanes;
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  let_next_begin();
  wait_for_previous();
  // As in the softmax.
  const std::int64_t from = min(row, rows - 1) * (kLanes * kPieces) + lane;
  Bytes bytes[kPieces];
#pragma unroll
  for (int p = 0; p < kPieces; ++p)
    bytes[p] = x[from + p * kLanes];
  const RowNorm<kLanes, kPieces> norm(settings, bytes);
  if (row >= rows) return;
#pragma unroll
  for (int p = 0; p < kPieces; ++p)
    y[from + p * kLanes] = piece_of([&](int e) { return norm.normalized(p, e); });
}

// Returns false where no kernel has so many channels.
template <template <int, int> typename RowNorm>
bool launch_layernorm(const LayerNormShape& shape, const Bytes* x, const ByteScales& scales, Bytes* y, Stream stream) {
  const auto launch = [&]<int kLanes, int kPieces>() {
    const auto settings = RowNorm<kLanes, kPieces>::settings_of(static_cast<float>(shape.epsilon), scales);
    const LaunchShape grid{dim3(blocks_for(shape.rows, kThreads / kLanes)), dim3(kThreads)};
    launch_early(layernorm_kernel<RowNorm, kLanes, kPieces>, grid, stream, shape.rows, settings, x, y);
    return true;
  };
  switch (shape.channels) {
    case 128:
      return launch.template operator()<8, 1>();
    case 256:
      return launch.template operator()<16, 1>();
    case 512:
      return launch.template operator()<32, 1>();
    case 1024:
      return launch.template operator()<32, 2>();
    default:
      return false;
  }
}

template <typename Arithmetic>
void launch_softmax(const ByteSoftmaxShape& shape, const Bytes* x, float scale, Bytes* y, Stream stream) {
  const std::int64_t pieces = shape.rows * kSoftmaxLanes;
  launch_early(softmax_kernel<Arithmetic>, {dim3(blocks_for(pieces, kThreads)), dim3(kThreads)}, stream, pieces,
               shape.keys, Arithmetic::of(scale), x, y);
}

template <typename Activation>
void launch_gelu(std::int64_t pieces, const Bytes* x, const ByteScales& scales, Bytes* y, Stream stream) {
  launch_early(gelu_kernel<Activation>, {dim3(blocks_for(pieces, kThreads)), dim3(kThreads)}, stream, pieces,
               Activation::of(scales), x, y);
}

}  // namespace

void byte_softmax(ByteArithmetic arithmetic, const ByteSoftmaxShape& shape, const void* x, float scale, void* y,
                  Stream stream) {
  static_assert(kByteSoftmaxRow <= kMostSoftmaxKeys);
  require(shape.keys > 0 && shape.keys <= kByteSoftmaxRow, "byte_softmax", "a row has 1 to 64 keys");
  if (shape.rows == 0) return;
  const auto* const from = static_cast<const Bytes*>(x);
  auto* const to = static_cast<Bytes*>(y);
  if (arithmetic == ByteArithmetic::kInteger) {
    launch_softmax<IntegerSoftmax>(shape, from, scale, to, stream);
  } else {
    launch_softmax<FloatSoftmax>(shape, from, scale, to, stream);
  }
}

void byte_gelu(ByteArithmetic arithmetic, std::int64_t count, const void* x, const ByteScales& scales, void* y,
               Stream stream) {
  require(count % kBytes == 0, "byte_gelu", "the number of elements must be a multiple of 16");
  if (count == 0) return;
  const auto* const from = static_cast<const Bytes*>(x);
  auto* const to = static_cast<Bytes*>(y);
  if (arithmetic == ByteArithmetic::kInteger) {
    launch_gelu<IntegerActivation>(count / kBytes, from, scales, to, stream);
  } else {
    launch_gelu<FloatActivation>(count / kBytes, from, scales, to, stream);
  }
}

void byte_layernorm(ByteArithmetic arithmetic, const LayerNormShape& shape, const void* x, const ByteScales& scales,
                    void* y, Stream stream) {
  if (shape.rows == 0) return;
  const auto* const from = static_cast<const Bytes*>(x);
  auto* const to = static_cast<Bytes*>(y);
  const bool launched = arithmetic == ByteArithmetic::kInteger
                            ? launch_layernorm<IntegerRowNorm>(shape, from, scales, to, stream)
                            : launch_layernorm<FloatRowNorm>(shape, from, scales, to, stream);
  require(launched, "byte_layernorm", "no kernel has rows of this many channels");
}

}  // namespace swinscope::cuda
