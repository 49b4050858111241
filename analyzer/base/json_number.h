// Whole numbers in JSON that others wrote. nlohmann::json::get() makes an integer of any number: of a fraction it cuts
// what is behind the point, a wide number it cuts to size, and of 1e99 the result is not defined at all.
#pragma once

#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

namespace swinscope {

// Of a number that `Int` can hold; floating-point ones count where they are whole. Throws nlohmann::json::type_error,
// as get() does of what is no number.
template <std::integral Int, typename Json>
Int whole_number(const Json& json) {
  if (json.is_number_unsigned()) {
    if (const auto value = json.template get<std::uint64_t>(); std::in_range<Int>(value))
      return static_cast<Int>(value);
  } else if (json.is_number_integer()) {
    if (const auto value = json.template get<std::int64_t>(); std::in_range<Int>(value)) return static_cast<Int>(value);
  } else if (json.is_number_float()) {
    constexpr double kExact = 9007199254740992.0;  // 2^53: below, every whole number has a double of its own
    const auto value = json.template get<double>();
    const bool is_whole = std::abs(value) < kExact && value == std::trunc(value);
    if (is_whole && std::in_range<Int>(static_cast<std::int64_t>(value))) return static_cast<Int>(value);
  }
  throw Json::type_error::create(302, "this is no whole number that fits: " + json.dump(), &json);
}

// Of the value of `key`, which need not be there.
template <std::integral Int, typename Json>
Int whole_number(const Json& object, const char* key, Int otherwise) {
  const auto found = object.find(key);
  return found == object.end() ? otherwise : whole_number<Int>(*found);
}

// Of an array.
template <std::integral Int, typename Json>
std::vector<Int> whole_numbers(const Json& json) {
  std::vector<Int> numbers;
  for (const Json& element : json.template get_ref<const typename Json::array_t&>())
    numbers.push_back(whole_number<Int>(element));
  return numbers;
}

}  // namespace swinscope
