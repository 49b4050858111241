// A sortable table of an analysis' rows, the same on every page.
#pragma once

#include <QTableView>

#include "gui/core/table_model.h"

namespace swinscope::gui {

class TablePanel : public QTableView {
  Q_OBJECT

 public:
  explicit TablePanel(const QString& accessible_name, QWidget* parent = nullptr);

  // `sort_column`: a key; empty: the order of the rows.
  void set_table(Table table, std::string_view sort_column = {}, bool with_details = false);
  const TableModel& model_of_rows() const { return *model_; }
  TableOrder& order() { return *order_; }
  // Index in the table's rows; -1 for none.
  int current_row() const;
  // Key of the column of the current cell; empty for none.
  std::string current_key() const;
  void select_row(int row);
  // The rows in the order in which they are shown, with all columns.
  Table shown_table() const;
  // The text shown in the column of that key; for tests and for copying.
  QString text_at(int row, std::string_view key) const;
  // Copies all rows, or those that are selected, with the titles of the columns.
  void copy_all() const;
  void copy() const;

 Q_SIGNALS:
  void row_changed(int row);
  void row_activated(int row);

 protected:
  void keyPressEvent(QKeyEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  void copy_rows(const QModelIndexList& rows) const;
  void fit_first_column();

  TableModel* model_;
  TableOrder* order_;
  int first_width_ = 0;  // that its texts need
};

}  // namespace swinscope::gui
