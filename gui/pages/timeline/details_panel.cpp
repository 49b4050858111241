#include "gui/pages/timeline/details_panel.h"

#include <QClipboard>
#include <QGuiApplication>
#include <QScrollBar>
#include <algorithm>
#include <array>
#include <numeric>

#include "gui/core/copied_rows.h"

namespace swinscope::gui {
namespace {

QString text_in(const std::vector<Cell>& row, std::size_t column) {
  const auto* text = column < row.size() ? std::get_if<std::string>(&row[column]) : nullptr;
  return text == nullptr ? QString() : QString::fromStdString(*text);
}

}  // namespace

DetailsPanel::DetailsPanel(QWidget* parent) : QTextBrowser(parent) {
  setObjectName(QStringLiteral("details"));
  setAccessibleName(QStringLiteral("Details of the selected event"));
  setOpenLinks(false);
  setWordWrapMode(QTextOption::WrapAtWordBoundaryOrAnywhere);  // names of kernels have no spaces
  connect(this, &QTextBrowser::anchorClicked, this,
          [this](const QUrl& url) { Q_EMIT link_chosen(url.toString(QUrl::FullyDecoded)); });
}

void DetailsPanel::set_table(Table table) {
  table_ = std::move(table);
  show_rows();
  verticalScrollBar()->setValue(0);
}

void DetailsPanel::insert_rows(const QString& behind, const std::vector<std::vector<Cell>>& rows) {
  const auto found =
      std::ranges::find_if(table_.rows, [&](const std::vector<Cell>& row) { return text_in(row, 0) == behind; });
  table_.rows.insert(found == table_.rows.end() ? found : found + 1, rows.begin(), rows.end());
  show_rows();
}

// Names beside their values; what is long goes below its name.
void DetailsPanel::show_rows() {
  constexpr qsizetype kShort = 28;
  const int place = verticalScrollBar()->value();
  QString html = QStringLiteral("<table width=\"100%\" cellspacing=\"0\" cellpadding=\"2\">");
  for (const std::vector<Cell>& row : table_.rows) {
    const QString what = text_in(row, 0).toHtmlEscaped();
    const QString text = text_in(row, 1);
    QString value = text.toHtmlEscaped();
    if (const QString link = text_in(row, 2); !link.isEmpty())
      value = QStringLiteral("<a href=\"%1\">%2</a>")
                  .arg(QString::fromUtf8(QUrl::toPercentEncoding(link, ":")).toHtmlEscaped(), value);
    html += text.size() <= kShort && !what.isEmpty()
                ? QStringLiteral("<tr><td>%1&nbsp;</td><td width=\"66%\">%2</td></tr>").arg(what, value)
                : QStringLiteral("<tr><td colspan=\"2\">%1<br/>%2</td></tr>").arg(what, value);
  }
  setHtml(html + QStringLiteral("</table>"));
  verticalScrollBar()->setValue(place);
}

QString DetailsPanel::text_at(const QString& what, std::size_t column) const {
  for (const std::vector<Cell>& row : table_.rows) {
    if (text_in(row, 0) == what) return text_in(row, column);
  }
  return {};
}

QString DetailsPanel::value_of(const QString& what) const { return text_at(what, 1); }
QString DetailsPanel::link_of(const QString& what) const { return text_at(what, 2); }

void DetailsPanel::copy_all() const {
  constexpr std::array<std::size_t, 2> kColumns = {0, 1};
  std::vector<std::size_t> rows(table_.rows.size());
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  QGuiApplication::clipboard()->setText(copied_rows(table_, kColumns, rows));
}

}  // namespace swinscope::gui
