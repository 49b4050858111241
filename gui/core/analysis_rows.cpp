#include "gui/core/analysis_rows.h"

#include <algorithm>
#include <array>
#include <tuple>

#include "analyzer/analyses/layer_folding.h"

namespace swinscope::gui {
namespace {

constexpr std::array<const char*, 4> kKernelGroupings = {"kernel", "short name", "operation", "class"};
constexpr std::array<const char*, 2> kLayerGroupings = {"layer", "equal layers together"};

std::vector<Call> calls_of_kernel(const RunFacts& run, const Filter&, const Called& kernel, std::size_t grouping) {
  return kernel_calls(run.trace, run.scope, kernel.name, static_cast<KernelGrouping>(grouping));
}

// Of all layers that are equal but for the number at `*`, and of those below them.
std::vector<LayerCall> calls_of_equal_layers(const RunFacts& run, const Called& layer) {
  std::vector<LayerCall> calls;
  for (const LayerRow& row : run.layers()) {
    const std::string folded = folded_path(row.path);
    const bool is_below = folded.starts_with(layer.name + '.');
    if ((folded != layer.name && !is_below) || (!layer.phase.empty() && row.phase != layer.phase)) continue;
    const std::vector<LayerCall> some = layer_calls(run, row.path, row.phase);
    calls.insert(calls.end(), some.begin(), some.end());
  }
  std::ranges::sort(calls, {}, [](const LayerCall& call) { return std::tuple(call.rank, call.start_ns, call.range); });
  // A layer may be counted below itself.
  const auto is_same = [](const LayerCall& a, const LayerCall& b) {
    return a.rank == b.rank && a.range == b.range && a.gpu_event == b.gpu_event;
  };
  const auto doubled = std::ranges::unique(calls, is_same);
  calls.erase(doubled.begin(), doubled.end());
  return calls;
}

std::vector<Call> calls_of_layer(const RunFacts& run, const Filter& filter, const Called& layer, std::size_t grouping) {
  std::vector<LayerCall> calls =
      grouping == 0 ? layer_calls(run, layer.name, layer.phase) : calls_of_equal_layers(run, layer);
  if (filter.stream) std::erase_if(calls, [](const LayerCall& call) { return call.gpu_event == kNoEvent; });
  return calls_of(calls);
}

constexpr const char* kNoLayers =
    "This trace has no layers.\n\nLayers come from ranges that carry their FLOPs and bytes, as swinscope's own "
    "workloads have them (swinscope record -o run -- swin train --model swin_nano), or from PyTorch: the modules of "
    "swinscope record --torch-modules, or the operators of its profiler.";

constexpr std::array kRowKinds = {
    RowKind{"kernels", "kernel", "total_ns", "The trace holds no GPU events.", "full_name", "", &calls_of_kernel,
            kKernelGroupings},
    RowKind{"layers", "layer", "", kNoLayers, "path", "phase", &calls_of_layer, kLayerGroupings}};
constexpr RowKind kPlainRows{
    "", "row", "", "This run has nothing to say here: it was not recorded, or there was none.", "", "", nullptr, {}};

std::size_t column_of(const Table& table, std::string_view key) {
  return static_cast<std::size_t>(std::ranges::find(table.columns, key, &Column::key) - table.columns.begin());
}

// Empty where there is no such column, or no text.
std::string_view text_of(const Table& table, const std::vector<Cell>& row, std::string_view key) {
  const std::size_t column = column_of(table, key);
  const auto* text = column < row.size() ? std::get_if<std::string>(&row[column]) : nullptr;
  return text == nullptr ? std::string_view() : *text;
}

// By short name, operation or class; rows are called what they are grouped by, also in full.
Table grouped_kernels(const RunFacts& run, KernelGrouping grouping) {
  const std::vector<KernelRow> rows =
      kernel_table(run.trace, run.scope, run.devices(), {.grouping = grouping, .operations = &run.operations()});
  return kernel_rows_table(run.trace, run.scope, rows, NameStyle::kFull);
}

Table grouped_rows(const Analysis& analysis, const RunFacts& run, std::size_t grouping) {
  Table table = analysis.key == "kernels" ? grouped_kernels(run, static_cast<KernelGrouping>(grouping))
                                          : folded_layers_table(run);
  const std::string by = row_kind(analysis.key).groupings[grouping];
  table.title = analysis.key == "kernels" ? "GPU time by " + by : "Layers, equal ones together";
  return table;
}

}  // namespace

const RowKind& row_kind(std::string_view analysis) {
  const auto found = std::ranges::find(kRowKinds, analysis, &RowKind::analysis);
  return found == kRowKinds.end() ? kPlainRows : *found;
}

Table rows_of(const Analysis& analysis, const RunFacts& run, const Filter& filter, std::size_t grouping) {
  Table table = grouping == 0 ? table_of(analysis, run, {}) : grouped_rows(analysis, run, grouping);
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
