#include "gui/widgets/table_panel.h"

#include <QClipboard>
#include <QGuiApplication>
#include <QHeaderView>
#include <QKeyEvent>
#include <algorithm>

#include "gui/core/copied_rows.h"

namespace swinscope::gui {
namespace {

constexpr int kNarrowestName = 220;
constexpr int kWidestColumn = 260;  // pixels, of what is not the last

// Where nothing is known of any row a column has only dashes to show.
bool is_empty_column(const Table& table, std::size_t column) {
  return !table.rows.empty() && std::ranges::all_of(table.rows, [&](const std::vector<Cell>& row) {
    const auto* text = std::get_if<std::string>(&row[column]);
    return std::holds_alternative<std::monostate>(row[column]) || (text != nullptr && text->empty());
  });
}

}  // namespace

TablePanel::TablePanel(const QString& accessible_name, QWidget* parent)
    : QTableView(parent), model_(new TableModel(this)), order_(new TableOrder(this)) {
  setAccessibleName(accessible_name);
  order_->setSourceModel(model_);
  setModel(order_);
  setSelectionBehavior(QAbstractItemView::SelectRows);
  setSelectionMode(QAbstractItemView::ExtendedSelection);
  setAlternatingRowColors(true);
  setShowGrid(false);
  setWordWrap(false);
  setTabKeyNavigation(false);  // Tab goes on to the next control
  setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
  verticalHeader()->hide();
  verticalHeader()->setDefaultSectionSize(fontMetrics().height() + 7);
  horizontalHeader()->setHighlightSections(false);
  horizontalHeader()->setSortIndicatorClearable(true);
  connect(selectionModel(), &QItemSelectionModel::currentRowChanged, this,
          [this] { Q_EMIT row_changed(current_row()); });
  connect(this, &QTableView::activated, this, [this] { Q_EMIT row_activated(current_row()); });
}

void TablePanel::set_table(Table table, std::string_view sort_column, bool with_details) {
  model_->set_table(std::move(table), with_details);
  const int column = sort_column.empty() ? -1 : model_->column_of(sort_column);
  setSortingEnabled(true);
  sortByColumn(column, Qt::DescendingOrder);
  for (int i = 0; i < model_->columnCount(); ++i)
    setColumnHidden(i, i > 0 && !with_details &&
                           is_empty_column(model_->table(), model_->shown_columns()[static_cast<std::size_t>(i)]));
  resizeColumnsToContents();
  first_width_ = model_->columnCount() > 0 ? columnWidth(0) : 0;
  for (int i = 0; i < model_->columnCount(); ++i)
    setColumnWidth(i, std::min(columnWidth(i), kWidestColumn));
  fit_first_column();
}

// Names are cut only as far as there is no room for them.
void TablePanel::fit_first_column() {
  if (model_->columnCount() == 0 || horizontalHeader()->stretchLastSection()) return;
  const int others = horizontalHeader()->length() - columnWidth(0);
  const int room = std::max(kNarrowestName, viewport()->width() - others);
  setColumnWidth(0, std::min(first_width_, room));
}

void TablePanel::resizeEvent(QResizeEvent* event) {
  QTableView::resizeEvent(event);
  fit_first_column();
}

int TablePanel::current_row() const {
  const QModelIndex current = currentIndex();
  return current.isValid() ? current.data(kRowRole).toInt() : -1;
}

std::string TablePanel::current_key() const {
  const QModelIndex current = currentIndex();
  if (!current.isValid()) return {};
  return model_->table().columns[model_->shown_columns()[static_cast<std::size_t>(current.column())]].key;
}

void TablePanel::select_row(int row) {
  const QModelIndex index = order_->mapFromSource(model_->index(row, 0));
  if (!index.isValid()) return;
  setCurrentIndex(index);
  scrollTo(index);
}

Table TablePanel::shown_table() const {
  const Table& all = model_->table();
  Table shown{all.key, all.title, all.columns, {}, all.definition};
  for (int i = 0; i < order_->rowCount(); ++i)
    shown.rows.push_back(all.rows[order_->index(i, 0).data(kRowRole).toULongLong()]);
  return shown;
}

QString TablePanel::text_at(int row, std::string_view key) const {
  const int column = model_->column_of(key);
  return column < 0 ? QString() : model_->index(row, column).data().toString();
}

void TablePanel::keyPressEvent(QKeyEvent* event) {
  if (event->matches(QKeySequence::Copy)) {
    copy();
  } else {
    QTableView::keyPressEvent(event);
  }
}

void TablePanel::copy() const { copy_rows(selectionModel()->selectedRows()); }

void TablePanel::copy_all() const {
  QModelIndexList rows;
  for (int row = 0; row < order_->rowCount(); ++row)
    rows << order_->index(row, 0);
  copy_rows(rows);
}

void TablePanel::copy_rows(const QModelIndexList& rows) const {
  std::vector<std::size_t> indexes;
  for (const QModelIndex& row : rows)
    indexes.push_back(row.data(kRowRole).toULongLong());
  QGuiApplication::clipboard()->setText(copied_rows(model_->table(), model_->shown_columns(), indexes));
}

}  // namespace swinscope::gui
