// The rows of an analysis as a Qt model: what is shown is format_cell's text, what is sorted by is the value.
#pragma once

#include <QAbstractTableModel>
#include <QSortFilterProxyModel>

#include "analyzer/table/table.h"

namespace swinscope::gui {

enum TableRole : int { kSortRole = Qt::UserRole, kRowRole };  // kRowRole: index of the row in table()

// What a cell is sorted by; invalid without a value.
QVariant value_of(const Cell& cell);

class TableModel : public QAbstractTableModel {
  Q_OBJECT

 public:
  using QAbstractTableModel::QAbstractTableModel;

  // `with_details`: also the columns that the terminal leaves out.
  void set_table(Table table, bool with_details = false);
  const Table& table() const { return table_; }
  // Indexes of those that are shown.
  const std::vector<std::size_t>& shown_columns() const { return shown_; }
  // The shown column with this key; -1 for none.
  int column_of(std::string_view key) const;

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 private:
  Table table_;
  std::vector<std::size_t> shown_;  // columns
};

// Sorts by value; cells without one come last in either order. Without a column (-1) rows stand as in the table.
class TableOrder : public QSortFilterProxyModel {
  Q_OBJECT

 public:
  explicit TableOrder(QObject* parent = nullptr);
  void sort(int column, Qt::SortOrder order = Qt::AscendingOrder) override;

 protected:
  bool lessThan(const QModelIndex& left, const QModelIndex& right) const override;
};

}  // namespace swinscope::gui
