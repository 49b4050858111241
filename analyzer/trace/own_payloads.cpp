#include "analyzer/trace/own_payloads.h"

#include <algorithm>

#include <nlohmann/json.hpp>

namespace swinscope {
namespace {

std::int64_t integer(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number_integer() ? found->get<std::int64_t>() : 0;
}

std::string text(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

OperationPayload::Shape shape(const nlohmann::json& object, const char* key) {
  OperationPayload::Shape dimensions = {};
  const auto found = object.find(key);
  if (found == object.end() || !found->is_array()) return dimensions;
  for (std::size_t i = 0; i < std::min(found->size(), dimensions.size()); ++i) {
    const nlohmann::json& dimension = (*found)[i];
    if (dimension.is_number_integer()) dimensions[i] = dimension.get<std::int64_t>();
  }
  return dimensions;
}

bool has_schema(const nlohmann::json& object, std::string_view schema) {
  return object.is_object() && text(object, "$schema") == schema;
}

}  // namespace

const std::optional<OperationPayload>& OperationPayloads::operation(StringId json) {
  const auto [entry, is_new] = known_.try_emplace(json);
  if (!is_new || json == kNoString) return entry->second;
  const nlohmann::json object = nlohmann::json::parse(trace_.text(json), nullptr, false);
  if (!has_schema(object, "swinscope.operation/1")) return entry->second;
  OperationPayload& operation = entry->second.emplace();
  operation.operation = text(object, "class");
  operation.precision = text(object, "precision");
  operation.flops = integer(object, "flops");
  operation.bytes_read = integer(object, "bytes_read");
  operation.bytes_written = integer(object, "bytes_written");
  operation.input_shape = shape(object, "input_shape");
  operation.output_shape = shape(object, "output_shape");
  return entry->second;
}

std::optional<std::int64_t> images_of_step(std::string_view json) {
  const nlohmann::json object = nlohmann::json::parse(json, nullptr, false);
  if (!has_schema(object, "swinscope.step/1")) return std::nullopt;
  return integer(object, "images");
}

const std::string& InputDims::of(StringId json) {
  const auto [entry, is_new] = known_.try_emplace(json);
  if (!is_new || json == kNoString) return entry->second;
  const nlohmann::json object = nlohmann::json::parse(trace_.text(json), nullptr, false);
  if (!object.is_object()) return entry->second;
  if (const auto dims = object.find("input_dims"); dims != object.end()) entry->second = dims->dump();
  return entry->second;
}

}  // namespace swinscope
