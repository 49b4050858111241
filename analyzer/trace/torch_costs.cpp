#include "analyzer/trace/torch_costs.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <tuple>
#include <utility>

#include <nlohmann/json.hpp>

namespace swinscope {
namespace {

using Sizes = std::vector<std::int64_t>;
using Dims = std::vector<Sizes>;

constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kPrecisions = {
    {{"float", "fp32"}, {"c10::Half", "fp16"}, {"c10::BFloat16", "bf16"}, {"double", "fp64"}}};

double bytes_per_value(std::string_view precision) { return precision == "fp32" ? 4 : precision == "fp64" ? 8 : 2; }

// `times` products of batch x (m x k) and (k x n).
struct Product {
  std::int64_t batch = 1;
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  std::int64_t times = 1;
  bool is_exact = true;
  std::string_view operation = "gemm";
  // Values, where they are not those of the factors and the product.
  std::int64_t read = 0;
  std::int64_t written = 0;
  std::int64_t channels = 0;  // that a filter of a convolution reads
};

// 0: a size is none, or there are more than memories hold.
std::int64_t count_of(std::span<const std::int64_t> sizes) {
  constexpr std::int64_t kMost = std::int64_t{1} << 56;
  std::int64_t count = 1;
  for (const std::int64_t size : sizes) {
    if (size <= 0 || size > kMost / count) return 0;
    count *= size;
  }
  return count;
}

std::optional<Product> of_matrices(const Dims& dims, std::size_t first) {
  if (dims.size() < first + 2 || dims[first].size() != 2 || dims[first + 1].size() != 2) return std::nullopt;
  return Product{.m = dims[first][0], .n = dims[first + 1][1], .k = dims[first][1]};
}

std::optional<Product> of_batches(const Dims& dims, std::size_t first) {
  if (dims.size() < first + 2 || dims[first].size() != 3 || dims[first + 1].size() != 3) return std::nullopt;
  return Product{.batch = dims[first][0], .m = dims[first][1], .n = dims[first + 1][2], .k = dims[first][2]};
}

// results: N x K x pixels, of which those alone count; filters: K x C/groups x their pixels. Each value of a filter
// takes part in each result.
std::optional<Product> of_convolution(const std::vector<std::int64_t>& results,
                                      const std::vector<std::int64_t>& filters) {
  if (results.size() < 3 || filters.size() != results.size()) return std::nullopt;
  const std::span pixels = std::span(results).subspan(2);
  return Product{.m = count_of(std::array{results[0], count_of(pixels)}),
                 .n = filters[0],
                 .k = count_of(std::span(filters).subspan(1)),
                 .operation = "conv",
                 .channels = filters[1]};
}

// How many places a filter has along each side of an image; empty: these arguments were not recorded, or fit no image.
std::vector<std::int64_t> result_sizes(const std::vector<std::int64_t>& images,
                                       const std::vector<std::int64_t>& filters, std::span<const Sizes> arguments) {
  const std::size_t sides = images.size() - 2;
  if (arguments.size() < 3) return {};
  const auto& [padding, stride, dilation] = std::tie(arguments[0], arguments[1], arguments[2]);
  if (padding.size() != sides || stride.size() != sides || dilation.size() != sides) return {};
  std::vector<std::int64_t> sizes(images.begin(), images.begin() + 2);
  sizes[1] = filters[0];
  for (std::size_t i = 0; i < sides; ++i) {
    constexpr std::int64_t kMost = 1 << 30;
    for (const std::int64_t value : {images[i + 2], filters[i + 2], padding[i], stride[i], dilation[i]})
      if (value < 0 || value > kMost) return {};
    const std::int64_t room = images[i + 2] + 2 * padding[i] - dilation[i] * (filters[i + 2] - 1) - 1;
    if (stride[i] == 0 || room < 0) return {};
    sizes.push_back(room / stride[i] + 1);
  }
  return sizes;
}

// arguments: padding, stride and dilation. Without them there are at most as many results as images have pixels.
std::optional<Product> of_forward(const std::vector<std::int64_t>& images, const std::vector<std::int64_t>& filters,
                                  std::span<const Sizes> arguments) {
  if (images.size() < 3 || filters.size() != images.size()) return std::nullopt;
  const std::vector<std::int64_t> results = result_sizes(images, filters, arguments);
  std::optional<Product> product = of_convolution(results.empty() ? images : results, filters);
  if (!product) return product;
  product->is_exact = !results.empty();
  product->read = count_of(images) + count_of(filters);
  product->written = count_of(std::array{product->m, product->n});
  return product;
}

// The gradient of the images reads that of the results and the filters, that of the filters the former and the images.
std::optional<Product> of_backward(const std::vector<std::int64_t>& results, const std::vector<std::int64_t>& images,
                                   const std::vector<std::int64_t>& filters) {
  std::optional<Product> product = of_convolution(results, filters);
  if (!product) return product;
  product->times = 2;
  product->written = count_of(images) + count_of(filters);
  product->read = 2 * count_of(results) + product->written;
  return product;
}

// values: of the arguments that are lists of integers.
std::optional<Product> product_by(std::string_view name, const Dims& dims, const Dims& values) {
  if (name == "aten::mm") return of_matrices(dims, 0);
  if (name == "aten::addmm" || name == "aten::_addmm_activation") return of_matrices(dims, 1);
  if (name == "aten::bmm") return of_batches(dims, 0);
  if (name == "aten::baddbmm") return of_batches(dims, 1);
  // Padding, stride and dilation come behind the image and the filters, and on AMD's GPUs behind the bias.
  const std::size_t before = name == "aten::cudnn_convolution" ? 2 : name == "aten::miopen_convolution" ? 3 : 0;
  if (before > 0 && dims.size() >= 2)
    return of_forward(dims[0], dims[1], std::span(values).subspan(std::min(before, values.size())));
  if (dims.size() >= 3 && name == "aten::convolution_backward") return of_backward(dims[0], dims[1], dims[2]);
  return std::nullopt;
}

OperationPayload payload_of(const Product& product, std::string_view precision) {
  const auto [batch, m, n, k, times, is_exact, operation, read, written, channels] = product;
  const double width = bytes_per_value(precision);
  const std::int64_t of_all = times * batch;
  OperationPayload payload;
  payload.operation = operation;
  payload.precision = precision;
  payload.flops = 2 * times * batch * m * n * k;
  payload.bytes_read =
      static_cast<std::int64_t>(width * static_cast<double>(read > 0 ? read : of_all * (m * k + k * n)));
  payload.bytes_written =
      static_cast<std::int64_t>(width * static_cast<double>(written > 0 ? written : of_all * m * n));
  payload.channels = channels;
  payload.has_cost = is_exact && !precision.empty();
  if (batch == 1) {
    payload.input_shape = {m, k};
    payload.output_shape = {m, n};
  } else {
    payload.input_shape = {batch, m, k};
    payload.output_shape = {batch, m, n};
  }
  return payload;
}

// Sizes come from a file: none is negative, and products of them must not overflow.
bool is_plausible(const Product& product) {
  constexpr double kMost = 1e18;
  double flops = 2.0;
  for (const std::int64_t size : {product.batch, product.m, product.n, product.k, product.times}) {
    if (size <= 0) return false;
    flops *= static_cast<double>(size);
  }
  return flops < kMost;
}

}  // namespace

const TorchCosts::Inputs& TorchCosts::inputs_of(StringId json) {
  const auto [entry, is_new] = inputs_.try_emplace(json);
  Inputs& inputs = entry->second;
  if (!is_new || json == kNoString) return inputs;
  const nlohmann::json object = nlohmann::json::parse(trace_.text(json), nullptr, false);
  if (!object.is_object()) return inputs;
  if (const auto dims = object.find("input_dims"); dims != object.end() && dims->is_array()) {
    for (const nlohmann::json& input : *dims) {
      std::vector<std::int64_t>& sizes = inputs.dims.emplace_back();
      if (!input.is_array()) continue;
      for (const nlohmann::json& size : input)
        if (size.is_number_integer()) sizes.push_back(size.get<std::int64_t>());
    }
  }
  if (const auto values = object.find("concrete_inputs"); values != object.end() && values->is_array()) {
    for (const nlohmann::json& value : *values) {
      Sizes& list = inputs.values.emplace_back();
      const nlohmann::json numbers =
          value.is_string() ? nlohmann::json::parse(value.get_ref<const std::string&>(), nullptr, false) : value;
      if (!numbers.is_array()) continue;
      for (const nlohmann::json& number : numbers)
        if (number.is_number_integer()) list.push_back(number.get<std::int64_t>());
    }
  }
  if (const auto types = object.find("input_types"); types != object.end() && types->is_array()) {
    for (const nlohmann::json& type : *types)
      for (const auto& [torch, name] : kPrecisions)
        if (inputs.precision.empty() && type == torch) inputs.precision = name;
  }
  return inputs;
}

std::string_view TorchCosts::precision(StringId json) { return inputs_of(json).precision; }

const OperationPayload* TorchCosts::product(StringId name, StringId json) {
  if (json == kNoString) return nullptr;
  const auto [entry, is_new] = products_.try_emplace(std::uint64_t{name} << 32U | json, nullptr);
  if (!is_new) return entry->second;
  const Inputs& inputs = inputs_of(json);
  const std::optional<Product> product = product_by(trace_.text(name), inputs.dims, inputs.values);
  if (product && is_plausible(*product))
    entry->second = &payloads_.emplace_back(payload_of(*product, inputs.precision));
  return entry->second;
}

}  // namespace swinscope
