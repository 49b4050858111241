// Rows of name and value that wrap, as a text that can be selected; values that lead somewhere are links.
#pragma once

#include <QTextBrowser>

#include "analyzer/table/table.h"

namespace swinscope::gui {

class DetailsPanel : public QTextBrowser {
  Q_OBJECT

 public:
  explicit DetailsPanel(QWidget* parent = nullptr);

  // Columns: what, value, and perhaps link.
  void set_table(Table table);
  // Behind the row of that name, else at the end.
  void insert_rows(const QString& behind, const std::vector<std::vector<Cell>>& rows);
  // The first value of that name; empty where there is none.
  QString value_of(const QString& what) const;
  // Where the first value of that name leads; empty for nowhere.
  QString link_of(const QString& what) const;
  // All rows, for a spreadsheet.
  void copy_all() const;

 Q_SIGNALS:
  void link_chosen(const QString& link);

 private:
  void show_rows();
  QString text_at(const QString& what, std::size_t column) const;

  Table table_;
};

}  // namespace swinscope::gui
