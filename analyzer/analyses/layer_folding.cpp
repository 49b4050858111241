#include "analyzer/analyses/layer_folding.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "analyzer/analyses/run_facts.h"

namespace swinscope {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// What a call of the layer costs, as far as it is known.
std::tuple<std::int64_t, std::int64_t, std::int64_t> cost_of_call(const LayerRow& row) {
  if (!row.has_cost || row.calls == 0) return {-1, -1, -1};
  return {row.flops / row.calls, row.bytes_read / row.calls, row.bytes_written / row.calls};
}

void add(const LayerRow& row, FoldedLayers& sum) {
  ++sum.layers;
  sum.row.calls += row.calls;
  sum.row.host.count += row.host.count;
  sum.row.host.total += row.host.total;
  sum.row.gpu_ns += row.gpu_ns;
  sum.row.gpu_events += row.gpu_events;
  sum.row.flops += row.flops;
  sum.row.bytes_read += row.bytes_read;
  sum.row.bytes_written += row.bytes_written;
}

}  // namespace

std::string folded_path(std::string_view path) {
  const std::size_t last_dot = path.rfind('.');
  if (last_dot == std::string_view::npos) return std::string(path);
  std::size_t end = last_dot;  // of the number: the last digits of a component
  while (end > 0 && !(is_digit(path[end - 1]) && path[end] == '.')) {
    end = path.rfind('.', end - 1);
    if (end == std::string_view::npos) return std::string(path);
  }
  std::size_t begin = end;
  while (begin > 0 && is_digit(path[begin - 1]))
    --begin;
  return std::string(path.substr(0, begin)) + '*' + std::string(path.substr(end));
}

std::vector<FoldedLayers> fold_equal_layers(const std::vector<LayerRow>& rows) {
  using Key = std::tuple<std::string, std::string, std::string, std::string, std::string,
                         std::tuple<std::int64_t, std::int64_t, std::int64_t>>;
  std::map<Key, std::size_t> places;
  std::vector<FoldedLayers> folded;
  for (const LayerRow& row : rows) {
    const Key key{folded_path(row.path), row.phase, row.operation, row.precision, row.input_dims, cost_of_call(row)};
    const auto [place, is_new] = places.emplace(key, folded.size());
    if (is_new) {
      folded.push_back({row, 1});
    } else {
      add(row, folded[place->second]);
    }
  }
  for (FoldedLayers& one : folded) {
    if (one.layers > 1) one.row.path = folded_path(one.row.path);
  }
  std::ranges::stable_sort(folded, std::ranges::greater(), [](const FoldedLayers& one) { return one.row.work_ns(); });
  return folded;
}

Table folded_layers_table(const RunFacts& run) {
  const std::vector<FoldedLayers> folded = fold_equal_layers(run.layers());
  std::vector<LayerRow> rows;
  rows.reserve(folded.size());
  for (const FoldedLayers& one : folded)
    rows.push_back(one.row);
  Table table = layer_rows_table(rows, gpu_peaks(run.trace));
  table.key = "layer_groups";
  table.title = "Layers, equal ones together";
  table.columns.insert(table.columns.begin() + 1, {"layers", "layers", Unit::kCount});
  for (std::size_t i = 0; i < folded.size(); ++i)
    table.rows[i].insert(table.rows[i].begin() + 1, Cell(folded[i].layers));
  return table;
}

}  // namespace swinscope
