#include "gui/core/analysis_rows.h"

#include <algorithm>
#include <array>

namespace swinscope::gui {
namespace {

std::vector<Call> calls_of_kernel(const RunFacts& run, const Filter&, const Called& kernel) {
  return kernel_calls(run.trace, run.scope, kernel.name);
}

std::vector<Call> calls_of_layer(const RunFacts& run, const Filter& filter, const Called& layer) {
  std::vector<LayerCall> calls = layer_calls(run, layer.name, layer.phase);
  if (filter.stream) std::erase_if(calls, [](const LayerCall& call) { return call.gpu_event == kNoEvent; });
  return calls_of(calls);
}

constexpr const char* kNoLayers =
    "This trace has no layers.\n\nLayers come from ranges that carry their FLOPs and bytes, as swinscope's own "
    "workloads have them (swinscope record -o run -- swin train --model swin_nano), or from PyTorch: the modules of "
    "swinscope record --torch-modules, or the operators of its profiler.";

constexpr std::array kRowKinds = {
    RowKind{"kernels", "kernel", "total_ns", "The trace holds no GPU events.", "full_name", "", &calls_of_kernel},
    RowKind{"layers", "layer", "", kNoLayers, "path", "phase", &calls_of_layer}};
constexpr RowKind kPlainRows{
    "", "row", "", "This run has nothing to say here: it was not recorded, or there was none.", "", "", nullptr};

std::size_t column_of(const Table& table, std::string_view key) {
  return static_cast<std::size_t>(std::ranges::find(table.columns, key, &Column::key) - table.columns.begin());
}

// Empty where there is no such column, or no text.
std::string_view text_of(const Table& table, const std::vector<Cell>& row, std::string_view key) {
  const std::size_t column = column_of(table, key);
  const auto* text = column < row.size() ? std::get_if<std::string>(&row[column]) : nullptr;
  return text == nullptr ? std::string_view() : *text;
}

}  // namespace

const RowKind& row_kind(std::string_view analysis) {
  const auto found = std::ranges::find(kRowKinds, analysis, &RowKind::analysis);
  return found == kRowKinds.end() ? kPlainRows : *found;
}

Table rows_of(const Analysis& analysis, const RunFacts& run, const Filter& filter) {
  Table table = table_of(analysis, run, {});
  const std::size_t gpu_events = column_of(table, "gpu_events");
  if (!filter.stream || gpu_events == table.columns.size()) return table;
  std::erase_if(table.rows, [&](const std::vector<Cell>& row) { return row[gpu_events] == Cell(std::int64_t{0}); });
  return table;
}

void keep_named(Table& table, const QString& text) {
  std::vector<std::size_t> names;
  for (const std::string_view key : {"name", "full_name", "path", "kernel"}) {
    if (const std::size_t column = column_of(table, key); column < table.columns.size()) names.push_back(column);
  }
  if (text.isEmpty() || names.empty()) return;
  std::erase_if(table.rows, [&](const std::vector<Cell>& row) {
    return std::ranges::none_of(names, [&](std::size_t column) {
      const auto* name = std::get_if<std::string>(&row[column]);
      return name != nullptr && QString::fromStdString(*name).contains(text, Qt::CaseInsensitive);
    });
  });
}

Called called_by(const RowKind& kind, const Table& table, int row) {
  const std::vector<Cell>& cells = table.rows[static_cast<std::size_t>(row)];
  return {std::string(text_of(table, cells, kind.name)), std::string(text_of(table, cells, kind.phase))};
}

int find_row(const RowKind& kind, const Table& table, const Called& called) {
  const int count = static_cast<int>(table.rows.size());
  for (int row = 0; row < count; ++row) {
    if (called_by(kind, table, row) == called) return row;
  }
  return -1;
}

}  // namespace swinscope::gui
