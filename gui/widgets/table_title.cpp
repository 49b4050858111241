#include "gui/widgets/table_title.h"

#include "gui/core/tool_tip.h"

namespace swinscope::gui {

TableTitle::TableTitle(QWidget* parent) : QLabel(parent) {
  QFont bold = font();
  bold.setBold(true);
  setFont(bold);
  setTextFormat(Qt::PlainText);
}

void TableTitle::set_table(const Table& table, QWidget& rows) {
  const QString definition = QString::fromStdString(table.definition);
  setText(QString::fromStdString(table.title));
  setToolTip(tooltip_of(definition));
  setAccessibleDescription(definition);
  rows.setAccessibleDescription(definition);
}

}  // namespace swinscope::gui
