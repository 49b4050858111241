#include "mcp/arguments.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace swinscope::mcp {
namespace {

constexpr std::size_t kLongestText = std::size_t{64} << 10U;
constexpr std::size_t kMostTexts = 256;

const char* name_of(Argument::Type type) {
  switch (type) {
    case Argument::Type::kText:
      return "string";
    case Argument::Type::kWhole:
      return "integer";
    case Argument::Type::kNumber:
      return "number";
    case Argument::Type::kTexts:
      break;
  }
  return "array of strings";
}

bool is_text(const Json& value) {
  const auto* text = value.get_ptr<const Json::string_t*>();
  return text != nullptr && text->size() <= kLongestText && text->find('\0') == std::string::npos;
}

// 64 bits, signed; as JSON Schema has it, 3.0 is no integer here.
bool is_whole(const Json& value) {
  return value.is_number_integer() &&
         (!value.is_number_unsigned() || value.get<std::uint64_t>() <= static_cast<std::uint64_t>(INT64_MAX));
}

bool is_of(Argument::Type type, const Json& value) {
  switch (type) {
    case Argument::Type::kText:
      return is_text(value);
    case Argument::Type::kWhole:
      return is_whole(value);
    case Argument::Type::kNumber:
      return value.is_number() && std::isfinite(value.get<double>());
    case Argument::Type::kTexts:
      break;
  }
  return value.is_array() && value.size() <= kMostTexts && std::ranges::all_of(value, is_text);
}

void check(const Argument& argument, const Json& value) {
  if (!is_of(argument.type, value))
    throw WrongArgument(fmt::format("{}: not a valid {}", argument.name, name_of(argument.type)));
  if (argument.least && value.get<double>() < static_cast<double>(*argument.least))
    throw WrongArgument(fmt::format("{}: less than {}", argument.name, *argument.least));
  if (!argument.one_of.empty() && std::ranges::find(argument.one_of, value.get<std::string>()) == argument.one_of.end())
    throw WrongArgument(fmt::format("{}: not one of {}", argument.name, fmt::join(argument.one_of, ", ")));
}

}  // namespace

Json schema_of(const std::vector<Argument>& arguments) {
  Json properties = Json::object();
  Json required = Json::array();
  for (const Argument& argument : arguments) {
    Json& property = properties[argument.name];
    property["type"] = argument.type == Argument::Type::kTexts ? "array" : name_of(argument.type);
    if (argument.type == Argument::Type::kTexts) property["items"] = {{"type", "string"}};
    property["description"] = argument.description;
    if (!argument.one_of.empty()) property["enum"] = argument.one_of;
    if (argument.least) property["minimum"] = *argument.least;
    if (argument.is_required) required.push_back(argument.name);
  }
  Json schema = {{"type", "object"}, {"properties", properties}};
  if (!required.empty()) schema["required"] = required;
  schema["additionalProperties"] = false;
  return schema;
}

Arguments::Arguments(const Json& given, const std::vector<Argument>& known) {
  if (!given.is_null() && !given.is_object()) throw WrongArgument("arguments: not an object");
  if (given.is_object()) given_ = given;
  for (const auto& [name, value] : given_.items()) {
    const auto argument = std::ranges::find(known, name, &Argument::name);
    if (argument == known.end()) throw WrongArgument(fmt::format("{}: there is no such argument", name));
    check(*argument, value);
  }
  for (const Argument& argument : known) {
    if (argument.is_required && !has(argument.name)) throw WrongArgument(fmt::format("{}: is missing", argument.name));
  }
}

std::string Arguments::text(const std::string& name, const std::string& otherwise) const {
  return has(name) ? given_.at(name).get<std::string>() : otherwise;
}

std::optional<std::int64_t> Arguments::whole(const std::string& name) const {
  return has(name) ? std::optional(given_.at(name).get<std::int64_t>()) : std::nullopt;
}

double Arguments::number(const std::string& name, double otherwise) const {
  return has(name) ? given_.at(name).get<double>() : otherwise;
}

std::vector<std::string> Arguments::texts(const std::string& name) const {
  return has(name) ? given_.at(name).get<std::vector<std::string>>() : std::vector<std::string>();
}

}  // namespace swinscope::mcp
