// Where the evidence of a figure is: what is to be opened, the page, and what of it to show there.
#pragma once

#include <QString>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "analyzer/table/table.h"

namespace swinscope::gui {

struct Evidence {
  QString path = {};      // of the run; empty: what is open
  QString page = {};      // its id
  QString analysis = {};  // of the page that lists all tables: the key of one
  // kernels: only those with this in their name; timeline: what is searched for; query: the SQL
  QString name = {};
  // Tables whose rows stand for calls: the row that is selected, by a kernel's full name or a layer's path.
  QString called = {};
  std::size_t grouping = 0;               // of these rows: index into RowKind::groupings
  QString find = {};                      // of the page that lists all tables: only rows with this text
  std::optional<std::int32_t> rank = {};  // that the filter keeps; nothing: as it is
  std::optional<std::size_t> gap = {};    // timeline: the idle gap that so many are longer than
};

// The grouping of layers that are equal but for a number.
inline constexpr std::size_t kEqualLayersTogether = 1;

// Of a row of waterfall_table(), by its key; `largest`: the kernel that adds most to it, empty for none. Without a
// path.
Evidence evidence_of_part(std::string_view part, const std::string& largest);
// The row's text in the column of that key; empty where there is none.
std::string text_in(const Table& table, std::size_t row, std::string_view key);

}  // namespace swinscope::gui
