// Whole numbers in JSON of files that others wrote: nlohmann::json::get() cuts wide ones to size, and what it makes of
// 1e99 is not defined.
#pragma once

#include <concepts>
#include <cstdint>
#include <utility>

#include <nlohmann/json.hpp>

namespace swinscope {

// Throws nlohmann::json::type_error, as get() does of what is no number, where `Int` cannot hold it, or it is a
// fraction.
template <std::integral Int>
Int whole_number(const nlohmann::json& json) {
  const bool fits = json.is_number_unsigned()
                        ? std::in_range<Int>(json.get<std::uint64_t>())
                        : json.is_number_integer() && std::in_range<Int>(json.get<std::int64_t>());
  if (!fits) throw nlohmann::json::type_error::create(302, "no whole number that fits: " + json.dump(), &json);
  return json.get<Int>();
}

}  // namespace swinscope
