#include <algorithm>
#include <functional>
#include <utility>

#include <fmt/format.h>

#include "kernels/convert.h"
#include "kernels/integer_only_kernels.h"
#include "workloads/models/model_table.h"
#include "workloads/program/peaks_alternatives.h"
#include "workloads/program/peaks_measure.h"

namespace swinscope {
namespace {

constexpr std::int64_t kPool = std::int64_t{256} << 20;  // of launches that shall not find what the one before left
constexpr std::int64_t kCached = std::int64_t{8} << 20;  // of x, and of y: the L2 cache keeps both
constexpr float kScoreScale = 1.0F / 16.0F;
constexpr cuda::ByteScales kScales = {1.0F / 32.0F, 1.0F / 32.0F};

// Launches one of the kernels on so many bytes of x and y.
using Launch = std::function<void(cuda::ByteArithmetic, std::int64_t bytes, const void* x, void* y, cuda::Stream)>;

struct ByteTask {
  std::string name;
  std::int64_t bytes = 0;  // of x as a model has it; whole rows
  Launch launch;
};

ByteTask softmax_task(const std::string& stage, const StageShape& shape) {
  constexpr std::int64_t kKeys = 49;
  const std::int64_t tokens = kAlternativesBatch * shape.resolution * shape.resolution;  // in whole windows
  return {"softmax, " + stage, tokens * shape.heads * cuda::kByteSoftmaxRow,
          [](cuda::ByteArithmetic arithmetic, std::int64_t bytes, const void* x, void* y, cuda::Stream stream) {
            cuda::byte_softmax(arithmetic, {bytes / cuda::kByteSoftmaxRow, kKeys}, x, kScoreScale, y, stream);
          }};
}

ByteTask gelu_task(const std::string& stage, const StageShape& shape) {
  return {"GELU, " + stage, kAlternativesBatch * shape.resolution * shape.resolution * kMlpRatio * shape.width,
          [](cuda::ByteArithmetic arithmetic, std::int64_t bytes, const void* x, void* y, cuda::Stream stream) {
            cuda::byte_gelu(arithmetic, bytes, x, kScales, y, stream);
          }};
}

ByteTask layernorm_task(const std::string& stage, const StageShape& shape) {
  return {"normalization, " + stage, kAlternativesBatch * shape.resolution * shape.resolution * shape.width,
          [width = shape.width](cuda::ByteArithmetic arithmetic, std::int64_t bytes, const void* x, void* y,
                                cuda::Stream stream) {
            cuda::byte_layernorm(arithmetic, {bytes / width, width}, x, kScales, y, stream);
          }};
}

// On several places in turn, so that all of them together take kPool at least, or on one.
double microseconds(const ByteTask& task, cuda::ByteArithmetic arithmetic, std::int64_t bytes, bool cached) {
  const cuda::OwnedStream stream;
  const std::int64_t places = cached ? 1 : std::max<std::int64_t>(1, kPool / bytes);
  const cuda::DeviceBuffer x(places * bytes);
  const cuda::DeviceBuffer y(places * bytes);
  cuda::fill_random_bytes(x.bytes(), 1, x.data(), stream.get());
  return time_in_graph(stream.get(), [&](int launch) {
    const std::int64_t at = launch % places * bytes;
    task.launch(arithmetic, bytes, static_cast<const char*>(x.data()) + at, static_cast<char*>(y.data()) + at,
                stream.get());
  });
}

}  // namespace

std::vector<AlternativeRate> measure_integer_kernels() {
  std::vector<AlternativeRate> rates;
  const SwinConfig& config = find_model("swin_base");
  const auto measure = [&](const ByteTask& task, const std::string& name, std::int64_t bytes, bool cached) {
    for (const auto& [form, arithmetic] :
         {std::pair{"float", cuda::ByteArithmetic::kFloat}, std::pair{"integer", cuda::ByteArithmetic::kInteger}})
      rates.push_back({name, form, microseconds(task, arithmetic, bytes, cached), {}});
  };
  for (const int stage : {0, 2}) {
    const StageShape shape = stage_shape(config, stage);
    const std::string place = fmt::format("stage{} batch {}", stage + 1, kAlternativesBatch);
    for (const ByteTask& task : {softmax_task(place, shape), gelu_task(place, shape), layernorm_task(place, shape)}) {
      measure(task, task.name, task.bytes, false);
      measure(task, task.name + ", cached", kCached, true);
    }
  }
  return rates;
}

}  // namespace swinscope
