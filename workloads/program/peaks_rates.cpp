#include "workloads/program/peaks_rates.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>

#include "kernels/convert.h"
#include "kernels/cuda_call.h"
#include "kernels/matmul_lt.h"
#include "kernels/matmul_tuning.h"
#include "kernels/relu.h"

namespace swinscope {
namespace {

constexpr int kTriedAlgorithms = 3;

// Nanoseconds from one launch to the next in a graph of as many as take a millisecond; once_us: how long one takes.
double launch_period_ns(cuda::Stream stream, double once_us, const std::function<void(int)>& launch) {
  constexpr double kGraphTime = 1000.0;  // microseconds
  constexpr int kMostLaunches = 200;
  const int launches = std::clamp(static_cast<int>(kGraphTime / std::max(1.0, once_us)), 1, kMostLaunches);
  cuda::Graph graph;
  graph.begin_capture(stream);
  for (int i = 0; i < launches; ++i)
    launch(i);
  graph.end_capture(stream);
  return graph_period_ns(stream, graph) / launches;
}

// Tokens of images of 224 x 224 pixels in patches, from a classifier's 64 rows to 128 images of 56 x 56.
constexpr std::array<std::int64_t, 8> kTokens = {64, 196, 784, 3136, 12544, 50176, 200704, 401408};
// Wide layers have few tokens and narrow ones many, in models and in memory.
constexpr std::int64_t kMostElements = std::int64_t{401408} * 128;
constexpr std::int64_t kNarrow = 384;  // layers below that are not used on few tokens
constexpr std::int64_t kFewTokens = 784;

std::vector<std::int64_t> tokens_of_width(std::int64_t width) {
  std::vector<std::int64_t> tokens;
  for (const std::int64_t count : kTokens) {
    if (count * width <= kMostElements && (width >= kNarrow || count >= kFewTokens)) tokens.push_back(count);
  }
  return tokens;
}

}  // namespace

std::vector<cuda::MatmulShape> rate_shapes(const ProductPrecision& precision) {
  // Operands of one byte multiply in one layout only; casts to them transpose.
  const bool single_bytes = product_shape(precision, 1, 1, 1).operand_bytes() == 1;
  std::vector<cuda::MatmulShape> shapes;
  const auto add = [&](std::int64_t m, std::int64_t n, std::int64_t k) -> cuda::MatmulShape& {
    return shapes.emplace_back(product_shape(precision, m, n, k));
  };
  for (const std::int64_t width : {96, 192, 384, 768, 1024}) {
    for (const std::int64_t tokens : tokens_of_width(width)) {
      add(tokens, width, width);      // attn.proj
      add(tokens, 4 * width, width);  // mlp.fc1, and 1x1 convolutions
      add(tokens, width, 4 * width);  // mlp.fc2, and likewise
    }
  }
  for (const std::int64_t width : {128, 256, 512}) {
    for (const std::int64_t tokens : tokens_of_width(width)) {
      add(tokens, 3 * width, width);                             // attn.qkv
      add(tokens, width, 3 * width).transpose_b = single_bytes;  // dx = dy W of it
    }
  }
  for (const std::int64_t width : {192, 384, 768, 1024}) {  // dW = dy^T x of proj and fc1: a long sum
    for (const std::int64_t tokens : {std::int64_t{3136}, tokens_of_width(width).back()}) {
      for (const std::int64_t rows : {width, 4 * width}) {
        cuda::MatmulShape& shape = add(rows, width, tokens);
        shape.transpose_a = !single_bytes;
        shape.transpose_b = single_bytes;
      }
    }
  }
  constexpr std::int64_t kMostScores = std::int64_t{1} << 28;
  for (const std::int64_t window : {49, 64, 144, 256}) {  // q k^T, a head of a window each
    for (const std::int64_t batch : {64, 512, 4096, 16384}) {
      if (batch * window * window <= kMostScores) add(window, window, 32).batch = batch;
    }
  }
  for (const std::int64_t batch : {48, 768})  // of whole images
    add(196, 196, 64).batch = batch;
  return shapes;
}

std::vector<RateRow> epilogue_rows() {
  std::vector<RateRow> rows;
  const auto add = [&](const ProductPrecision& precision, std::int64_t m, std::int64_t n, std::int64_t k) {
    for (const cuda::Epilogue epilogue : {cuda::Epilogue::kBias, cuda::Epilogue::kBiasGelu}) {
      RateRow& row = rows.emplace_back(RateRow{precision.name, product_shape(precision, m, n, k), 0.0, {}});
      row.shape.epilogue = epilogue;
    }
  };
  for (const ProductPrecision& precision : product_precisions(false)) {
    if (precision.arithmetic == cuda::MatmulArithmetic::kInt8) continue;  // has none
    const bool half = precision.type != ElementType::kFp32;
    if (half) add(precision, 50176, 768, 192);
    if (half || precision.arithmetic == cuda::MatmulArithmetic::kTf32) add(precision, 12544, 3072, 768);
  }
  return rows;
}

struct RateMeter::State {
  // cuBLASLt's own.
  class Handle {
   public:
    Handle() { SWINSCOPE_CUDA(cublasLtCreate(&handle_)); }
    ~Handle() { (void)cublasLtDestroy(handle_); }
    Handle(const Handle&) = delete;
    Handle& operator=(const Handle&) = delete;
    Handle(Handle&&) = delete;
    Handle& operator=(Handle&&) = delete;
    cublasLtHandle_t get() const { return handle_; }

   private:
    cublasLtHandle_t handle_ = nullptr;
  };

  cuda::OwnedStream stream;
  Handle handle;
  cuda::DeviceBuffer workspace{cuda::kLtWorkspaceBytes};
  cuda::TuningData data;
  double graph_gap_ns = 0.0;

  double without_gap(double period_ns) const { return std::max(1.0, period_ns - graph_gap_ns); }

  // Nanoseconds; nothing: no algorithm.
  std::optional<double> product_ns(const cuda::MatmulShape& shape) {
    data.fit(shape, stream.get());
    const cuda::LtMatmul matmul(handle.get(), shape, workspace.data());
    double best_us = std::numeric_limits<double>::infinity();
    cublasLtMatmulAlgo_t best{};
    for (const cublasLtMatmulAlgo_t& algorithm : matmul.candidates(kTriedAlgorithms)) {
      const auto launch = [&](int index) {
        return matmul.try_launch(algorithm, data.operands(index), stream.get()) == CUBLAS_STATUS_SUCCESS;
      };
      const std::optional<double> time_us = cuda::time_launches(launch, stream.get());
      if (!time_us || *time_us >= best_us) continue;
      best_us = *time_us;
      best = algorithm;
    }
    if (std::isinf(best_us)) return std::nullopt;
    return without_gap(launch_period_ns(stream.get(), best_us, [&](int index) {
      SWINSCOPE_CUDA(matmul.try_launch(best, data.operands(index), stream.get()));
    }));
  }
};

RateMeter::RateMeter(double graph_gap_ns) : state_(std::make_unique<State>()) { state_->graph_gap_ns = graph_gap_ns; }
RateMeter::~RateMeter() = default;

void RateMeter::measure(RateRow& row) {
  try {
    const std::optional<double> ns = state_->product_ns(row.shape);
    row.ns = ns.value_or(0.0);
    if (!ns) row.left_out = "cuBLASLt has no algorithm for it";
  } catch (const cuda::Error& error) {
    // Odd shapes are refused in several ways.
    row.left_out = error.what();
  }
  // An error that outlasts the call is one of the device: no time from now on would be right.
  cuda::synchronize(state_->stream.get());
}

std::vector<BytesRow> RateMeter::measure_bytes() const {
  constexpr std::int64_t kLeast = std::int64_t{64} << 10;
  constexpr std::int64_t kMost = std::int64_t{2} << 30;
  constexpr ElementType kType = ElementType::kFp16;
  const cuda::Stream stream = state_->stream.get();
  const cuda::DeviceBuffer from(kMost / 2);
  const cuda::DeviceBuffer to(kMost / 2);
  cuda::fill_random(from.bytes() / element_bytes(kType), kType, 1, from.data(), stream);
  std::vector<BytesRow> rows;
  for (std::int64_t bytes = kLeast; bytes <= kMost; bytes *= 2) {
    const auto launch = [&](int) {
      cuda::relu_forward(bytes / 2 / element_bytes(kType), kType, from.data(), to.data(), stream);
    };
    const double once_us = device_time(stream, [&] { launch(0); });
    rows.push_back({bytes, state_->without_gap(launch_period_ns(stream, once_us, launch))});
  }
  return rows;
}

double RateMeter::light_clock_mhz() const {
  constexpr std::int64_t kCycles = 4'000'000;  // two milliseconds
  const cuda::Stream stream = state_->stream.get();
  return static_cast<double>(kCycles) / device_time(stream, [&] { cuda::launch_cycles(kCycles, stream); });
}

double RateMeter::loaded_clock_mhz() {
  constexpr std::int64_t kCycles = 1'000'000;
  constexpr double kLoad = 1e6;  // microseconds
  const cuda::Stream stream = state_->stream.get();
  const cuda::MatmulShape shape = product_shape({"fp16", ElementType::kFp16}, 8192, 8192, 8192);
  state_->data.fit(shape, stream);
  cuda::LtMatmul matmul(state_->handle.get(), shape, state_->workspace.data());
  const std::vector<cublasLtMatmulAlgo_t> algorithms = matmul.candidates(1);
  if (algorithms.empty()) return 0.0;
  matmul.use(algorithms.front());
  const double once_us = device_time(stream, [&] { matmul.run(state_->data.operands(0), stream); });
  cuda::Event begin;
  cuda::Event end;
  for (double load = 0.0; load < kLoad; load += once_us)
    matmul.run(state_->data.operands(0), stream);
  begin.record(stream);
  cuda::launch_cycles(kCycles, stream);
  end.record(stream);
  return static_cast<double>(kCycles) / (1e3 * static_cast<double>(cuda::Event::milliseconds(begin, end)));
}

}  // namespace swinscope
