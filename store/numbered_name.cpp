#include "store/numbered_name.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <utility>

namespace swinscope {
namespace {

constexpr std::array<std::string_view, 5> kKeys = {"seq", "stashed seq", "op_id", "sizes", "input_op_ids"};

// Takes ", KEY = " from the front of the text, and returns the key; nothing where it is not there.
std::string_view take_key(std::string_view& text) {
  for (const std::string_view key : kKeys) {
    constexpr std::string_view kBefore = ", ";
    constexpr std::string_view kAfter = " = ";
    const std::size_t size = kBefore.size() + key.size() + kAfter.size();
    if (!text.starts_with(kBefore) || text.substr(kBefore.size(), key.size()) != key) continue;
    if (text.substr(kBefore.size() + key.size(), kAfter.size()) != kAfter) continue;
    text.remove_prefix(size);
    return key;
  }
  return {};
}

std::optional<std::int64_t> take_number(std::string_view& text) {
  std::int64_t number = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (code != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

// A list in brackets, of numbers and lists; empty where it is cut off, nothing where it is none.
std::optional<std::string_view> take_list(std::string_view& text) {
  if (!text.starts_with('[')) return std::nullopt;
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (std::string_view("0123456789-, []()").find(c) == std::string_view::npos) return std::nullopt;
    depth += c == '[' ? 1 : c == ']' ? -1 : 0;
    if (depth > 0) continue;
    const std::string_view list = text.substr(0, i + 1);
    text.remove_prefix(i + 1);
    return list;
  }
  text = {};
  return std::string_view();
}

// Reads the value of `key` from the front of the text. Returns whether it was one.
bool take_value(std::string_view key, std::string_view& text, NumberedName& name) {
  if (key == "sizes" || key == "input_op_ids") {
    const auto list = take_list(text);
    if (list && key == "sizes") name.sizes = *list;
    return list.has_value();
  }
  const auto number = take_number(text);
  (key == "op_id" ? name.operation : name.sequence) = number;
  return number.has_value();
}

// AddmmBackward0
bool is_backward(std::string_view name) {
  const std::size_t end = name.find_last_not_of("0123456789");
  return end != std::string_view::npos && name.substr(0, end + 1).ends_with("Backward");
}

}  // namespace

bool NumberedName::is_operator() const {
  if (sequence.has_value() || name.starts_with("autograd::engine::evaluate_function: ")) return true;
  const std::size_t colons = name.find("::");
  constexpr std::string_view kLibrary = "abcdefghijklmnopqrstuvwxyz0123456789_.";
  return colons != std::string_view::npos &&
         name.substr(0, colons).find_first_not_of(kLibrary) == std::string_view::npos &&
         name.find(' ') == std::string_view::npos;
}

std::optional<NumberedName> split_numbered_name(std::string_view text) {
  std::size_t first = std::string_view::npos;
  if (text.find(" = ") == std::string_view::npos) return std::nullopt;
  for (std::size_t comma = text.find(", "); comma != std::string_view::npos; comma = text.find(", ", comma + 1)) {
    std::string_view rest = text.substr(comma);
    if (take_key(rest).empty()) continue;
    first = comma;
    break;
  }
  if (first == std::string_view::npos || first == 0) return std::nullopt;
  NumberedName result;
  result.name = text.substr(0, first);
  bool has_more = false;
  for (std::string_view rest = text.substr(first); !rest.empty();) {
    const std::string_view key = take_key(rest);
    if (key.empty() || !take_value(key, rest, result)) return std::nullopt;
    has_more = has_more || key != "seq";
  }
  const bool looks_like_one = result.name.find("::") != std::string_view::npos || is_backward(result.name);
  if (!has_more && !looks_like_one) return std::nullopt;
  return result;
}

bool take_numbers(const NumberedName& from, RecordSink& sink, NvtxRecord& record) {
  record.text = sink.intern(from.name);
  if (from.sequence && record.value_type == NvtxValueType::kNone) {
    record.value_type = NvtxValueType::kInt64;
    record.int64_value = *from.sequence;
  }
  if (from.operation && *from.operation > 0 && record.range == 0)
    record.range = static_cast<std::uint64_t>(*from.operation);
  if (!from.sizes.empty() && record.json == kNoString)
    record.json = sink.intern(std::string(R"({"input_dims":)").append(from.sizes).append(R"(,"input_types":[]})"));
  if (record.domain != 0 || !from.is_operator()) return false;
  record.domain = kNumberedDomain;
  return true;
}

}  // namespace swinscope
