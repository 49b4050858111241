#include "gui/widgets/table_title.h"

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
  setToolTip(tooltip_of(table.definition));
  setAccessibleDescription(definition);
  rows.setAccessibleDescription(definition);
}

QString tooltip_of(std::string_view text) {
  if (text.empty()) return {};
  // Qt breaks the lines of rich text only.
  return QStringLiteral("<p>%1</p>")
      .arg(QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size())).toHtmlEscaped());
}

}  // namespace swinscope::gui
