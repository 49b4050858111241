#include "gui/core/table_model.h"

#include "analyzer/table/render.h"
#include "gui/core/tool_tip.h"

namespace swinscope::gui {

QVariant value_of(const Cell& cell) {
  if (const auto* text = std::get_if<std::string>(&cell)) return QString::fromStdString(*text);
  if (const auto* integer = std::get_if<std::int64_t>(&cell)) return static_cast<qlonglong>(*integer);
  if (const auto* real = std::get_if<double>(&cell)) return *real;
  return {};
}

void TableModel::set_table(Table table, bool with_details) {
  beginResetModel();
  table_ = std::move(table);
  shown_.clear();
  for (std::size_t i = 0; i < table_.columns.size(); ++i) {
    if (with_details || !table_.columns[i].detail) shown_.push_back(i);
  }
  endResetModel();
}

int TableModel::column_of(std::string_view key) const {
  for (std::size_t i = 0; i < shown_.size(); ++i) {
    if (table_.columns[shown_[i]].key == key) return static_cast<int>(i);
  }
  return -1;
}

int TableModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(table_.rows.size());
}

int TableModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(shown_.size());
}

QVariant TableModel::data(const QModelIndex& index, int role) const {
  if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
  const std::size_t column = shown_[static_cast<std::size_t>(index.column())];
  const Cell& cell = table_.rows[static_cast<std::size_t>(index.row())][column];
  const Unit unit = table_.columns[column].unit;
  switch (role) {
    case Qt::DisplayRole:
    case Qt::AccessibleTextRole:
      return QString::fromStdString(format_cell(cell, unit));
    case Qt::ToolTipRole:
      return tooltip_of(QString::fromStdString(format_cell(cell, unit)));
    case Qt::TextAlignmentRole:
      return QVariant::fromValue((unit == Unit::kText ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
    case kSortRole:
      return value_of(cell);
    case kRowRole:
      return index.row();
    default:
      return {};
  }
}

QVariant TableModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || section < 0 || section >= columnCount()) return {};
  const Column& column = table_.columns[shown_[static_cast<std::size_t>(section)]];
  if (role == Qt::DisplayRole) return QString::fromStdString(column.title);
  if (role == Qt::ToolTipRole) return QString::fromStdString(column.key);
  if (role == Qt::TextAlignmentRole)
    return QVariant::fromValue((column.unit == Unit::kText ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
  return {};
}

TableOrder::TableOrder(QObject* parent) : QSortFilterProxyModel(parent) {
  setSortRole(kSortRole);
  setFilterCaseSensitivity(Qt::CaseInsensitive);
}

// From Qt 6.8 on, "descending" without a column turns the rows around.
void TableOrder::sort(int column, Qt::SortOrder order) {
  QSortFilterProxyModel::sort(column, column < 0 ? Qt::AscendingOrder : order);
}

bool TableOrder::lessThan(const QModelIndex& left, const QModelIndex& right) const {
  const QVariant a = left.data(kSortRole);
  const QVariant b = right.data(kSortRole);
  if (a.isValid() != b.isValid()) return a.isValid() == (sortOrder() == Qt::AscendingOrder);
  if (a.typeId() == QMetaType::QString) return a.toString() < b.toString();
  return a.toDouble() < b.toDouble();
}

}  // namespace swinscope::gui
