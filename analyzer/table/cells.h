// Cells of tables from what analyses compute.
#pragma once

#include <cstdint>
#include <optional>

#include "analyzer/table/table.h"

namespace swinscope {

// 0 where there is no whole.
inline double percent_of(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? 0.0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

inline Cell int_cell(std::int64_t value) { return value; }

inline Cell optional_cell(const std::optional<double>& value) { return value ? Cell(*value) : Cell(); }

}  // namespace swinscope
