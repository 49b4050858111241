// The title above a table: in bold, and what its figures are as its tooltip and, for screen readers, as its
// description.
#pragma once

#include <QLabel>

#include "analyzer/table/table.h"

namespace swinscope::gui {

class TableTitle : public QLabel {
  Q_OBJECT

 public:
  explicit TableTitle(QWidget* parent = nullptr);

  // `rows`: the widget that shows them, which gets the same description: a title takes no keys, rows do.
  void set_table(const Table& table, QWidget& rows);
};

}  // namespace swinscope::gui
