#include "gui/core/layer_tree.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <optional>

#include "analyzer/table/render.h"
#include "gui/core/table_model.h"
#include "gui/core/tool_tip.h"

namespace swinscope::gui {

namespace {

// A row of the table, as whole numbers that can be added up.
struct LayerSums {
  std::string path;
  std::string phase;
  std::string operation;
  std::string precision;
  std::int64_t calls = 0;
  std::int64_t host_ns = 0;
  std::int64_t gpu_ns = 0;
  std::int64_t gpu_events = 0;
  std::int64_t flops = 0;
  std::int64_t bytes = 0;
  bool has_cost = false;
  std::optional<double> peak_percent;
  std::string bound;
  std::optional<std::int64_t> gain_ns;
  std::string fusable;
};

std::vector<LayerSums> layers_of(const Table& table) {
  std::vector<LayerSums> layers;
  for (const std::vector<Cell>& row : table.rows) {
    const auto cell = [&](const char* key) -> const Cell& { return row[find_column(table, key)]; };
    const auto text = [&](const char* key) { return std::get<std::string>(cell(key)); };
    // Of a column that may be missing.
    const auto known = [&]<typename T>(std::string_view key, T otherwise) {
      const auto column = std::ranges::find(table.columns, key, &Column::key) - table.columns.begin();
      const auto at = static_cast<std::size_t>(column);
      const auto* value = at < row.size() ? std::get_if<T>(&row[at]) : nullptr;
      return value == nullptr ? otherwise : *value;
    };
    constexpr double kNoShare = -1;
    constexpr std::int64_t kNoGain = std::numeric_limits<std::int64_t>::min();
    const auto number = [&](const char* key) {
      const auto* value = std::get_if<std::int64_t>(&cell(key));
      return value == nullptr ? 0 : *value;
    };
    const auto* gflop = std::get_if<double>(&cell("gflop"));
    layers.push_back({text("path"),
                      text("phase"),
                      text("operation"),
                      text("precision"),
                      number("calls"),
                      number("host_ns"),
                      number("gpu_ns"),
                      number("gpu_events"),
                      gflop == nullptr ? 0 : std::llround(*gflop * 1e9),
                      number("bytes_read") + number("bytes_written"),
                      gflop != nullptr,
                      {},
                      known("bound_by", std::string()),
                      {},
                      known("fusable_with", std::string())});
    if (const double share = known("peak_percent", kNoShare); share >= 0) layers.back().peak_percent = share;
    if (const std::int64_t gain = known("gain_8bit_ns", kNoGain); gain != kNoGain) layers.back().gain_ns = gain;
  }
  return layers;
}

}  // namespace

struct LayerTreeModel::Node {
  std::string name;
  Node* parent = nullptr;
  int row = 0;
  bool is_phase = false;
  std::vector<std::unique_ptr<Node>> children;
  int layers = 0;
  std::string operation;
  std::string precision;
  std::int64_t calls = 0;
  std::map<std::string, std::int64_t> own_host_ns;  // by phase, of the layer itself
  std::int64_t host_ns = 0;
  std::int64_t gpu_ns = 0;
  std::int64_t gpu_events = 0;
  std::int64_t flops = 0;
  std::int64_t bytes = 0;
  bool has_cost = false;         // of a layer at least
  double at_peak_ns = 0;         // that the layers whose share of the peaks is known would take at these
  std::int64_t of_peaks_ns = 0;  // that those took
  std::string bound;
  std::optional<std::int64_t> gain_ns;
  std::string fusable;  // of a single layer

  Node& child(std::string_view wanted) {
    for (const auto& node : children) {
      if (node->name == wanted) return *node;
    }
    auto node = std::make_unique<Node>();
    node->name = wanted;
    node->parent = this;
    node->row = static_cast<int>(children.size());
    return *children.emplace_back(std::move(node));
  }

  void add(const LayerSums& layer) {
    const auto settle = [](std::string& mine, const std::string& other) {
      if (mine.empty()) mine = other;
      if (mine != other) mine = "mixed";
    };
    settle(operation, layer.operation);
    settle(precision, layer.precision);
    calls += layer.calls;
    gpu_ns += layer.gpu_ns;
    gpu_events += layer.gpu_events;
    flops += layer.flops;
    bytes += layer.bytes;
    has_cost |= layer.has_cost;
    if (layer.peak_percent) {
      at_peak_ns += *layer.peak_percent / 100 * static_cast<double>(layer.gpu_ns);
      of_peaks_ns += layer.gpu_ns;
      settle(bound, layer.bound);
    }
    if (layer.gain_ns) gain_ns = gain_ns.value_or(0) + *layer.gain_ns;
    fusable = ++layers == 1 ? layer.fusable : std::string();
  }
  bool knows_peaks() const { return of_peaks_ns > 0 && of_peaks_ns == gpu_ns; }

  // Of it and what is below, by phase; sets host_ns of both.
  std::map<std::string, std::int64_t> add_up_host() {
    std::map<std::string, std::int64_t> sums;
    for (const auto& node : children) {
      for (const auto& [phase, ns] : node->add_up_host())
        if (!node->is_phase) sums[phase] += ns;
    }
    for (const auto& [phase, ns] : own_host_ns)
      sums[phase] = std::max(sums[phase], ns);
    for (const auto& [phase, ns] : sums)
      host_ns += ns;
    return sums;
  }
};

namespace {

struct ColumnInfo {
  const char* title;
  Unit unit;
};

constexpr std::array<ColumnInfo, LayerTreeModel::kColumns> kLayerColumns = {{
    {"layer", Unit::kText},
    {"operation", Unit::kText},
    {"precision", Unit::kText},
    {"calls", Unit::kCount},
    {"time", Unit::kDuration},  // or "GPU"
    {"per step", Unit::kDuration},
    {"of all", Unit::kPercent},
    {"host", Unit::kDuration},
    {"GFLOP", Unit::kNumber},
    {"TFLOP/s", Unit::kNumber},
    {"bytes", Unit::kBytes},
    {"GB/s", Unit::kNumber},
    {"of peak", Unit::kPercent},
    {"bound by", Unit::kText},
    {"8-bit gain", Unit::kDuration},
    {"fusable with", Unit::kText},
}};

const ColumnInfo& column_info(int column) { return kLayerColumns[static_cast<std::size_t>(column)]; }

double ratio(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

LayerTreeModel::LayerTreeModel(QObject* parent) : QAbstractItemModel(parent), root_(std::make_unique<Node>()) {}
LayerTreeModel::~LayerTreeModel() = default;

void LayerTreeModel::set_table(const Table& table, std::int64_t steps) {
  beginResetModel();
  steps_ = steps;
  root_ = std::make_unique<Node>();
  for (const LayerSums& layer : layers_of(table)) {
    Node* node = root_.get();
    node->add(layer);
    const auto descend = [&](std::string_view component) {
      node = &node->child(component);
      node->add(layer);
    };
    for (std::size_t begin = 0; begin <= layer.path.size();) {
      const std::size_t end = std::min(layer.path.find('.', begin), layer.path.size());
      descend(std::string_view(layer.path).substr(begin, end - begin));
      begin = end + 1;
    }
    node->own_host_ns[layer.phase] += layer.host_ns;
    if (layer.phase.empty()) continue;
    descend(layer.phase);
    node->is_phase = true;
    node->own_host_ns[layer.phase] += layer.host_ns;
  }
  root_->add_up_host();
  endResetModel();
}

const LayerTreeModel::Node& LayerTreeModel::node_at(const QModelIndex& index) const {
  return index.isValid() ? *static_cast<const Node*>(index.constInternalPointer()) : *root_;
}

QModelIndex LayerTreeModel::index(int row, int column, const QModelIndex& parent) const {
  if (!hasIndex(row, column, parent)) return {};
  return createIndex(row, column, node_at(parent).children[static_cast<std::size_t>(row)].get());
}

QModelIndex LayerTreeModel::parent(const QModelIndex& index) const {
  if (!index.isValid()) return {};
  const Node* parent = node_at(index).parent;
  return parent == root_.get() ? QModelIndex() : createIndex(parent->row, 0, parent);
}

int LayerTreeModel::rowCount(const QModelIndex& parent) const {
  return parent.column() > 0 ? 0 : static_cast<int>(node_at(parent).children.size());
}

int LayerTreeModel::columnCount(const QModelIndex&) const { return kColumns; }

bool LayerTreeModel::has_work(const Node& node) const { return root_->gpu_events == 0 || node.gpu_events > 0; }

std::int64_t LayerTreeModel::work_ns(const Node& node) const {
  return root_->gpu_events > 0 ? node.gpu_ns : node.host_ns;
}

bool LayerTreeModel::is_empty(Column column) const {
  const auto is_empty_below = [&](const auto& self, const Node& node) -> bool {
    return std::ranges::all_of(node.children, [&](const auto& child) {
      const Cell cell = cell_of(*child, column);
      const auto* text = std::get_if<std::string>(&cell);
      return (std::holds_alternative<std::monostate>(cell) || (text != nullptr && text->empty())) && self(self, *child);
    });
  };
  return is_empty_below(is_empty_below, *root_);
}

Cell LayerTreeModel::cell_of(const Node& node, Column column) const {
  switch (column) {
    case kPath:
      return node.name;
    case kOperation:
      return node.operation;
    case kPrecision:
      return node.precision;
    case kCalls:
      return node.calls;
    case kWork:
      return has_work(node) ? Cell(work_ns(node)) : Cell();
    case kPerStep:
      return steps_ == 0 || !has_work(node) ? Cell() : Cell(work_ns(node) / steps_);
    case kShare:
      return has_work(node) ? Cell(100 * ratio(work_ns(node), work_ns(*root_))) : Cell();
    case kHost:
      return node.host_ns;
    case kGflop:
      return node.has_cost ? Cell(static_cast<double>(node.flops) / 1e9) : Cell();
    case kRate:  // FLOP per ns are GFLOP/s
      return node.flops == 0 || work_ns(node) == 0 ? Cell() : Cell(ratio(node.flops, work_ns(node)) / 1e3);
    case kBytes:
      return node.has_cost ? Cell(node.bytes) : Cell();
    case kBandwidth:
      return node.bytes == 0 || work_ns(node) == 0 ? Cell() : Cell(ratio(node.bytes, work_ns(node)));
    case kPeak:
      return node.knows_peaks() ? Cell(100 * node.at_peak_ns / static_cast<double>(node.of_peaks_ns)) : Cell();
    case kBound:
      return node.knows_peaks() ? Cell(node.bound) : Cell();
    case kGain:
      return node.gain_ns ? Cell(*node.gain_ns) : Cell();
    case kFusable:
      return node.fusable.empty() ? Cell() : Cell(node.fusable);
  }
  return {};
}

QVariant LayerTreeModel::data(const QModelIndex& index, int role) const {
  if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
  const Node& node = node_at(index);
  const Cell cell = cell_of(node, static_cast<Column>(index.column()));
  const Unit unit = column_info(index.column()).unit;
  if (role == Qt::DisplayRole || role == Qt::AccessibleTextRole) return QString::fromStdString(format_cell(cell, unit));
  if (role == kSortRole) return value_of(cell);
  if (role == Qt::ToolTipRole) {
    const Layer layer = layer_of(index);
    return tooltip_of(layer.phase.isEmpty() ? layer.path : layer.path + QStringLiteral(", ") + layer.phase);
  }
  if (role == Qt::TextAlignmentRole)
    return QVariant::fromValue((unit == Unit::kText ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
  return {};
}

QVariant LayerTreeModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || section < 0 || section >= kColumns) return {};
  const ColumnInfo& column = column_info(section);
  if (role == Qt::DisplayRole && section == kWork && root_->gpu_events > 0) return QStringLiteral("GPU");
  if (role == Qt::DisplayRole) return QString::fromUtf8(column.title);
  if (role == Qt::TextAlignmentRole)
    return QVariant::fromValue((column.unit == Unit::kText ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
  return {};
}

LayerTreeModel::Layer LayerTreeModel::layer_of(const QModelIndex& index) const {
  Layer layer;
  for (QModelIndex at = index; at.isValid(); at = at.parent()) {
    const Node& node = node_at(at);
    const QString name = QString::fromStdString(node.name);
    if (node.is_phase) {
      layer.phase = name;
    } else {
      layer.path = layer.path.isEmpty() ? name : name + QLatin1Char('.') + layer.path;
    }
  }
  return layer;
}

Table LayerTreeModel::rows_of(const QModelIndexList& indexes) const {
  Table table{"layers", "Layers", {}, {}};
  for (int i = 0; i < kColumns; ++i) {
    const std::string title = headerData(i, Qt::Horizontal, Qt::DisplayRole).toString().toStdString();
    table.columns.push_back({title, title, column_info(i).unit});
  }
  for (const QModelIndex& index : indexes) {
    const Layer layer = layer_of(index);
    std::vector<Cell>& row = table.rows.emplace_back();
    for (int i = 0; i < kColumns; ++i)
      row.push_back(cell_of(node_at(index), static_cast<Column>(i)));
    row.front() = (layer.phase.isEmpty() ? layer.path : layer.path + QStringLiteral(", ") + layer.phase).toStdString();
  }
  return table;
}

QModelIndex LayerTreeModel::find(const Layer& layer) const {
  QModelIndex at;
  const auto descend = [&](const QString& name, bool is_phase) {
    for (int row = 0; row < rowCount(at); ++row) {
      const QModelIndex child = index(row, 0, at);
      if (node_at(child).is_phase == is_phase && QString::fromStdString(node_at(child).name) == name) {
        at = child;
        return true;
      }
    }
    return false;
  };
  for (const QString& component : layer.path.split(QLatin1Char('.'))) {
    if (!descend(component, false)) return {};
  }
  if (!layer.phase.isEmpty() && !descend(layer.phase, true)) return {};
  return at;
}

}  // namespace swinscope::gui
