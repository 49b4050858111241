#include "workloads/quantized_weights.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <list>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "workloads/cuda/element_type.h"
#include "workloads/error.h"
#include "workloads/safetensors_writer.h"
#include "workloads/whole_number.h"

namespace swinscope {
namespace {

constexpr const char* kKey = "swinscope.quantization";
constexpr const char* kSchema = "swinscope.quantization/1";

const char* name_of(Precision precision) { return precision == Precision::kInt8 ? "int8" : "fp8"; }

struct RoundedWeight {
  std::vector<std::uint8_t> values;
  std::vector<float> scales;  // of each output
};

RoundedWeight round_weight(std::span<const float> weight, std::int64_t outputs, ByteFormat format) {
  RoundedWeight rounded;
  const std::size_t inputs = weight.size() / static_cast<std::size_t>(outputs);
  rounded.values.reserve(weight.size());
  for (std::size_t begin = 0; begin < weight.size(); begin += inputs) {
    const std::span<const float> row = weight.subspan(begin, inputs);
    float largest = 0.0F;
    for (const float value : row)
      largest = std::max(largest, std::fabs(value));
    const float scale = byte_scale(format, largest);
    rounded.scales.push_back(scale);
    for (const float value : row)
      rounded.values.push_back(to_byte(format, value / scale));
  }
  return rounded;
}

// "stage3.": 3, and what follows.
std::optional<int> take_number(std::string_view& text, std::string_view before) {
  if (!text.starts_with(before)) return std::nullopt;
  text.remove_prefix(before.size());
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number < 1 || end == text.data() + text.size() || *end != '.') return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()) + 1);
  return number;
}

}  // namespace

std::string weight_of_layer(const std::string& layer) {
  std::string_view rest = layer;
  const std::optional<int> stage = take_number(rest, "stage");
  const std::optional<int> block = stage ? take_number(rest, "block") : std::nullopt;
  if (!block || rest == "attn.window") return {};
  return fmt::format("layers.{}.blocks.{}.{}.weight", *stage - 1, *block - 1, rest);
}

void write_quantized_weights(const std::filesystem::path& file, const Quantization& quantization,
                             const ParameterStore<float>& store) {
  const ByteFormat format = byte_format_of(quantization.precision);
  std::map<std::string, bool> is_quantized;
  for (const auto& [layer, range] : quantization.ranges)
    is_quantized[weight_of_layer(layer)] = true;
  std::list<RoundedWeight> rounded;
  std::vector<TensorSource> tensors;
  for (const ParameterInfo& tensor : store.layout().tensors()) {
    const std::span<const float> values =
        store.values().subspan(static_cast<std::size_t>(tensor.offset), static_cast<std::size_t>(tensor.count));
    if (!is_quantized.contains(tensor.name)) {
      tensors.push_back({tensor.name, tensor.shape, values, {}, {}});
      continue;
    }
    const RoundedWeight& weight = rounded.emplace_back(round_weight(values, tensor.shape.front(), format));
    tensors.push_back({tensor.name, tensor.shape, {}, {}, weight.values, format});
    tensors.push_back({tensor.name + std::string(kScaleSuffix), {tensor.shape.front()}, weight.scales, {}, {}});
  }
  const nlohmann::ordered_json document = {{"schema", kSchema},
                                           {"model", quantization.model},
                                           {"precision", name_of(quantization.precision)},
                                           {"observer", quantization.observer},
                                           {"images", quantization.images},
                                           {"ranges", quantization.ranges}};
  write_safetensors(file, tensors, {{kKey, document.dump()}});
}

std::optional<Quantization> quantization_in(const SafetensorsFile& file) {
  const auto text = file.metadata().find(kKey);
  if (text == file.metadata().end()) return std::nullopt;
  const auto refuse = [&](const std::string& why) -> WorkloadError {
    return {WorkloadErrorKind::kInput,
            fmt::format("{}: what it says of its quantization cannot be read", file.path().string()), why,
            "`swin quantize` writes such files"};
  };
  const nlohmann::json document = nlohmann::json::parse(text->second, nullptr, false);
  if (!document.is_object() || document.value("schema", nlohmann::json()) != kSchema)
    throw refuse(fmt::format("it is not of schema {}", kSchema));
  try {
    Quantization found{document.at("model").get<std::string>(), document.at("observer").get<std::string>(),
                       whole_number<std::int64_t>(document.at("images")), document.at("ranges").get<InputRanges>()};
    const auto precision = document.at("precision").get<std::string>();
    if (precision != "fp8" && precision != "int8") throw refuse("precision " + precision + " is unknown");
    if (precision == "int8") found.precision = Precision::kInt8;
    for (const auto& [layer, range] : found.ranges)
      if (!std::isfinite(range) || range < 0.0F) throw refuse(fmt::format("the range of {} is none", layer));
    return found;
  } catch (const nlohmann::json::exception& error) {
    throw refuse(error.what());
  }
}

InputRanges ranges_for(Precision precision, const Quantization& quantization, const std::filesystem::path& file) {
  if (precision == quantization.precision) return quantization.ranges;
  const char* const wanted = name_of(precision);
  const char* const found = name_of(quantization.precision);
  throw WorkloadError(
      WorkloadErrorKind::kUsage, fmt::format("--precision {}: the weights in {} are {}", wanted, file.string(), found),
      "rounding them once more would cost accuracy",
      fmt::format("--precision {}, or `swin quantize --precision {}` from the weights before that", found, wanted));
}

}  // namespace swinscope
