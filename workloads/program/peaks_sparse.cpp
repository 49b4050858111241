
#include <fmt/format.h>

#include "kernels/convert.h"
#include "kernels/matmul_tuning.h"
#include "kernels/sparse_product.h"
#include "workloads/models/model_table.h"
#include "workloads/program/peaks_alternatives.h"
#include "workloads/program/peaks_measure.h"

namespace swinscope {
namespace {

struct Layer {
  std::string name;
  std::int64_t m, n, k;
};

std::vector<Layer> linear_layers() {
  std::vector<Layer> layers;
  const SwinConfig& config = find_model("swin_base");
  for (int stage = 0; stage < config.stages; ++stage) {
    const StageShape shape = stage_shape(config, stage);
    const std::int64_t tokens = kAlternativesBatch * shape.resolution * shape.resolution;
    const std::int64_t width = shape.width;
    const auto add = [&](const char* part, std::int64_t n, std::int64_t k) {
      layers.push_back(
          {fmt::format("swin_base stage{}.{} batch {}", stage + 1, part, kAlternativesBatch), tokens, n, k});
    };
    add("attn.qkv", 3 * width, width);
    add("attn.proj", width, width);
    add("mlp.fc1", kMlpRatio * width, width);
    add("mlp.fc2", width, kMlpRatio * width);
  }
  return layers;
}

double dense_microseconds(cuda::MatmulLibrary& library, const Layer& layer, cuda::MatmulArithmetic arithmetic) {
  const cuda::OwnedStream stream;
  cuda::MatmulShape shape = product_shape({{}, ElementType::kFp16, arithmetic}, layer.m, layer.n, layer.k);
  shape.scaled = shape.operand_bytes() == 1;
  cuda::TuningData data;
  data.fit(shape, stream.get());
  const cuda::Matmul& matmul = library.prepare(shape, stream.get());
  return time_in_graph(stream.get(), [&](int launch) { matmul.run(data.operands(launch), stream.get()); });
}

double sparse_microseconds(const Layer& layer, cuda::SparseOperands operands) {
  const cuda::OwnedStream stream;
  const cuda::SparseShape shape{layer.m, layer.n, layer.k, operands};
  const cuda::DeviceBuffer x(shape.m * shape.k * shape.operand_bytes());
  const cuda::DeviceBuffer w(shape.n * shape.k * shape.operand_bytes());
  const cuda::DeviceBuffer y(shape.m * shape.n * 2);
  for (const cuda::DeviceBuffer* buffer : {&x, &w}) {
    if (shape.operand_bytes() == 1) {
      cuda::fill_random_bytes(buffer->bytes(), 1, buffer->data(), stream.get());
    } else {
      cuda::fill_random(buffer->bytes() / 2, ElementType::kFp16, 1, buffer->data(), stream.get());
    }
  }
  const cuda::SparseProduct product(shape, x.data(), w.data(), y.data(), stream.get());
  return time_in_graph(stream.get(), [&](int) { product.run(x.data(), y.data(), stream.get()); });
}

}  // namespace

std::vector<AlternativeRate> measure_sparse_products(cuda::MatmulLibrary& library) {
  std::vector<AlternativeRate> rates;
  const auto measure = [&](const Layer& layer, const char* form, const auto& microseconds) {
    AlternativeRate& rate = rates.emplace_back(AlternativeRate{layer.name, form, 0.0, {}});
    try {
      rate.microseconds = microseconds();
    } catch (const cuda::Error& error) {
      if (error.out_of_memory()) throw;
      rate.left_out = error.what();
    }
  };
  for (const Layer& layer : linear_layers()) {
    measure(layer, "fp16", [&] { return dense_microseconds(library, layer, cuda::MatmulArithmetic::kByType); });
    measure(layer, "fp8", [&] { return dense_microseconds(library, layer, cuda::MatmulArithmetic::kFp8); });
    measure(layer, "fp16, 2:4", [&] { return sparse_microseconds(layer, cuda::SparseOperands::kFp16); });
    measure(layer, "fp8, 2:4", [&] { return sparse_microseconds(layer, cuda::SparseOperands::kE4m3); });
    measure(layer, "int8, 2:4", [&] { return sparse_microseconds(layer, cuda::SparseOperands::kInt8); });
  }
  return rates;
}

}  // namespace swinscope
