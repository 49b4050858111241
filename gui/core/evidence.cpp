#include "gui/core/evidence.h"

#include <algorithm>
#include <array>

namespace swinscope::gui {
namespace {

// What no kernel is the cause of: the table that says more.
struct PartTable {
  std::string_view part;
  const char* analysis;
};
constexpr std::array kPartTables = {
    PartTable{"exposed_wire", "breakdown"},
    PartTable{"exposed_communication", "breakdown"},
    PartTable{"exposed_wait", "rank_summary"},
    PartTable{"slowest_rank", "rank_summary"},
    PartTable{"host", "idle"},
    PartTable{"input", "idle"},
    PartTable{"gaps", "idle"},
    PartTable{"unexplained_idle", "idle"},
};

}  // namespace

Evidence evidence_of_part(std::string_view part, const std::string& largest) {
  if (!largest.empty()) return {{}, QStringLiteral("kernels"), {}, QString::fromStdString(largest)};
  const auto found = std::ranges::find(kPartTables, part, &PartTable::part);
  if (found == kPartTables.end()) return {{}, QStringLiteral("overview"), {}, {}};
  return {{}, QStringLiteral("tables"), QString::fromUtf8(found->analysis), {}};
}

std::string text_in(const Table& table, std::size_t row, std::string_view key) {
  const auto column = std::ranges::find(table.columns, key, &Column::key) - table.columns.begin();
  if (column == std::ssize(table.columns)) return {};
  const auto* text = std::get_if<std::string>(&table.rows[row][static_cast<std::size_t>(column)]);
  return text == nullptr ? std::string() : *text;
}

}  // namespace swinscope::gui
