#include "workloads/program/peaks_measure.h"

#include <algorithm>
#include <functional>

#include <cuda_runtime.h>
#include <fmt/format.h>

#include "kernels/convert.h"
#include "kernels/cuda_call.h"
#include "workloads/models/model_table.h"

namespace swinscope {
namespace {

constexpr int kRounds = 7;
constexpr double kGraphMicroseconds = 1500.0;
constexpr int kMaxGraphLaunches = 100;

class PinnedBuffer {
 public:
  explicit PinnedBuffer(std::int64_t bytes) { SWINSCOPE_CUDA(cudaMallocHost(&data_, static_cast<std::size_t>(bytes))); }
  ~PinnedBuffer() { (void)cudaFreeHost(data_); }
  PinnedBuffer(const PinnedBuffer&) = delete;
  PinnedBuffer& operator=(const PinnedBuffer&) = delete;
  PinnedBuffer(PinnedBuffer&&) = delete;
  PinnedBuffer& operator=(PinnedBuffer&&) = delete;
  void* data() const { return data_; }

 private:
  void* data_ = nullptr;
};

std::int64_t result_bytes(const cuda::MatmulShape& shape) {
  return shape.arithmetic == cuda::MatmulArithmetic::kInt8 ? 4 : element_bytes(shape.result_type);
}

// The operands of a product, random, and its launches within one graph.
class Bench {
 public:
  Bench(cuda::MatmulLibrary& library, const ProductTask& task)
      : shape_(task.shape),
        a_(shape_.m * shape_.k * shape_.operand_bytes()),
        b_(shape_.n * shape_.k * shape_.operand_bytes()),
        y_(shape_.m * shape_.n * result_bytes(shape_)),
        matmul_(library.prepare(shape_, stream_.get())) {
    std::uint64_t seed = 1;
    for (const cuda::DeviceBuffer* operand : {&a_, &b_}) {
      if (shape_.operand_bytes() == 1) {
        cuda::fill_random_bytes(operand->bytes(), seed++, operand->data(), stream_.get());
      } else {
        const std::int64_t count = operand->bytes() / element_bytes(shape_.operand_type);
        cuda::fill_random(count, shape_.operand_type, seed++, operand->data(), stream_.get());
      }
    }
    launch();
    const double once = std::max(1.0, device_time(stream_.get(), [this] { launch(); }));
    launches_ = std::clamp(static_cast<int>(kGraphMicroseconds / once), 1, kMaxGraphLaunches);
    graph_.begin_capture(stream_.get());
    for (int i = 0; i < launches_; ++i)
      launch();
    graph_.end_capture(stream_.get());
  }

  // Of one product.
  double microseconds() {
    return device_time(stream_.get(), [this] { graph_.launch(stream_.get()); }) / launches_;
  }
  void run_graph() const { graph_.launch(stream_.get()); }
  int launches() const { return launches_; }
  cuda::Stream stream() const { return stream_.get(); }
  double flops() const { return 2.0 * static_cast<double>(shape_.m) * static_cast<double>(shape_.n * shape_.k); }
  double bytes() const { return static_cast<double>(a_.bytes() + b_.bytes() + y_.bytes()); }

 private:
  void launch() const { matmul_.run({a_.data(), b_.data(), nullptr, y_.data()}, stream_.get()); }

  cuda::OwnedStream stream_;
  cuda::MatmulShape shape_;
  cuda::DeviceBuffer a_, b_, y_;
  const cuda::Matmul& matmul_;
  cuda::Graph graph_;
  int launches_ = 1;
};

}  // namespace

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

std::vector<ProductPrecision> product_precisions(bool with_fp8) {
  std::vector<ProductPrecision> precisions = {
      {"fp32", ElementType::kFp32, cuda::MatmulArithmetic::kByType},
      {"tf32", ElementType::kFp32, cuda::MatmulArithmetic::kTf32},
      {"fp16", ElementType::kFp16, cuda::MatmulArithmetic::kByType},
      {"bf16", ElementType::kBf16, cuda::MatmulArithmetic::kByType},
  };
  if (with_fp8) precisions.push_back({"fp8", ElementType::kFp16, cuda::MatmulArithmetic::kFp8});
  precisions.push_back({"int8", ElementType::kFp16, cuda::MatmulArithmetic::kInt8});
  return precisions;
}

cuda::MatmulShape product_shape(const ProductPrecision& precision, std::int64_t m, std::int64_t n, std::int64_t k) {
  cuda::MatmulShape shape;
  shape.m = m;
  shape.n = n;
  shape.k = k;
  shape.operand_type = precision.type;
  shape.result_type = precision.type;
  shape.arithmetic = precision.arithmetic;
  return shape;
}

double device_time(cuda::Stream stream, const std::function<void()>& work) {
  cuda::Event begin;
  cuda::Event end;
  std::vector<double> times;
  for (int round = 0; round <= kRounds; ++round) {
    begin.record(stream);
    work();
    end.record(stream);
    const double time = 1e3 * static_cast<double>(cuda::Event::milliseconds(begin, end));
    if (round > 0) times.push_back(time);
  }
  return median(times);
}

double time_in_graph(cuda::Stream stream, const std::function<void(int)>& launch) {
  launch(0);
  const double once = std::max(1.0, device_time(stream, [&] { launch(0); }));
  const int launches = std::clamp(static_cast<int>(kGraphMicroseconds / once), 1, kMaxGraphLaunches);
  cuda::Graph graph;
  graph.begin_capture(stream);
  for (int i = 0; i < launches; ++i)
    launch(i);
  graph.end_capture(stream);
  return device_time(stream, [&] { graph.launch(stream); }) / launches;
}

std::vector<CopyRate> measure_copies() {
  constexpr std::int64_t kDeviceBytes = std::int64_t{2} << 30;
  constexpr std::int64_t kHostBytes = std::int64_t{256} << 20;
  const cuda::OwnedStream stream;
  const cuda::DeviceBuffer from(kDeviceBytes);
  const cuda::DeviceBuffer to(kDeviceBytes);
  const PinnedBuffer host(kHostBytes);
  cuda::fill_random(kDeviceBytes / 4, ElementType::kFp32, 1, from.data(), stream.get());
  const auto rate = [&](const char* kind, void* target, const void* source, std::int64_t bytes, int counted) {
    const double time = device_time(stream.get(), [&] {
      SWINSCOPE_CUDA(cudaMemcpyAsync(target, source, static_cast<std::size_t>(bytes), cudaMemcpyDefault, stream.get()));
    });
    return CopyRate{kind, bytes, counted * static_cast<double>(bytes) * 1e-3 / time};
  };
  return {rate("device", to.data(), from.data(), kDeviceBytes, 2),
          rate("device to host", host.data(), from.data(), kHostBytes, 1),
          rate("host to device", to.data(), host.data(), kHostBytes, 1)};
}

std::vector<ProductTask> product_tasks(bool with_fp8) {
  std::vector<ProductTask> tasks;
  const auto add = [&](const std::string& name, std::int64_t m, std::int64_t n, std::int64_t k,
                       const ProductPrecision& precision) {
    tasks.push_back({name, precision.name, product_shape(precision, m, n, k)});
  };
  const SwinConfig& config = find_model("swin_base");
  for (const ProductPrecision& precision : product_precisions(with_fp8)) {
    for (const std::int64_t size : {2048, 4096, 8192})
      add(fmt::format("square {}", size), size, size, size, precision);
    for (const std::int64_t batch : {1, 32}) {
      for (int stage = 0; stage < config.stages; ++stage) {
        const StageShape shape = stage_shape(config, stage);
        const std::int64_t tokens = batch * shape.resolution * shape.resolution;
        const std::int64_t width = shape.width;
        const auto name = [&](const char* part) { return fmt::format("stage{}.{} batch {}", stage + 1, part, batch); };
        add(name("attn.qkv"), tokens, 3 * width, width, precision);
        add(name("attn.proj"), tokens, width, width, precision);
        add(name("mlp.fc1"), tokens, kMlpRatio * width, width, precision);
        add(name("mlp.fc2"), tokens, width, kMlpRatio * width, precision);
      }
    }
  }
  return tasks;
}

ProductRate measure_product(cuda::MatmulLibrary& library, const ProductTask& task) {
  Bench bench(library, task);
  const double time = bench.microseconds();
  return {time, bench.flops() * 1e-6 / time, bench.bytes() * 1e-3 / time};
}

SustainedRate measure_sustained(cuda::MatmulLibrary& library, const ProductTask& task, double seconds) {
  Bench bench(library, task);
  constexpr double kSlice = 0.25;
  SustainedRate result;
  std::vector<double> slices;
  const double graph_seconds = std::max(1e-6, bench.microseconds() * bench.launches() * 1e-6);
  const int graphs = std::max(1, static_cast<int>(kSlice / graph_seconds));
  cuda::Event begin;
  cuda::Event end;
  while (result.seconds < seconds) {
    begin.record(bench.stream());
    for (int i = 0; i < graphs; ++i)
      bench.run_graph();
    end.record(bench.stream());
    const double time = 1e-3 * static_cast<double>(cuda::Event::milliseconds(begin, end));
    slices.push_back(bench.flops() * bench.launches() * graphs * 1e-12 / time);
    result.seconds += time;
  }
  const auto mean = [](auto first, auto last) {
    double sum = 0.0;
    for (auto at = first; at != last; ++at)
      sum += *at;
    return sum / static_cast<double>(last - first);
  };
  constexpr std::size_t kFirst = 2;
  constexpr std::size_t kLast = 8;
  result.first_teraflops =
      mean(slices.begin(), slices.begin() + static_cast<std::ptrdiff_t>(std::min(kFirst, slices.size())));
  result.last_teraflops =
      mean(slices.end() - static_cast<std::ptrdiff_t>(std::min(kLast, slices.size())), slices.end());
  result.lowest_teraflops = *std::min_element(slices.begin(), slices.end());
  return result;
}

}  // namespace swinscope
