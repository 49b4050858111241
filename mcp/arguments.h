// The arguments of a tool, checked as they are asked for, and the schema that says what they are.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace swinscope::mcp {

using Json = nlohmann::ordered_json;

// What a tool takes: one row of its schema.
struct Argument {
  enum class Type : std::uint8_t { kText, kWhole, kNumber, kTexts };
  std::string name;
  Type type = Type::kText;
  std::string description;
  bool is_required = false;
  std::vector<std::string> one_of = {};              // of a text
  std::optional<std::int64_t> least = std::nullopt;  // of a number
};

// JSON Schema of an object of these and no others.
Json schema_of(const std::vector<Argument>& arguments);

// An argument is missing, unknown or of another type; what() says which and what it has to be.
class WrongArgument : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class Arguments {
 public:
  // Throws WrongArgument for what the schema does not allow.
  Arguments(const Json& given, const std::vector<Argument>& known);

  bool has(const std::string& name) const { return given_.contains(name); }
  std::string text(const std::string& name, const std::string& otherwise = {}) const;
  std::optional<std::int64_t> whole(const std::string& name) const;
  double number(const std::string& name, double otherwise) const;
  std::vector<std::string> texts(const std::string& name) const;

 private:
  Json given_ = Json::object();
};

}  // namespace swinscope::mcp
