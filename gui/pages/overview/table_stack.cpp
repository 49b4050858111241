#include "gui/pages/overview/table_stack.h"

#include <QHeaderView>
#include <QScrollBar>
#include <QVBoxLayout>
#include <algorithm>

#include "gui/widgets/table_panel.h"
#include "gui/widgets/table_title.h"

namespace swinscope::gui {
TableStack::TableStack(QWidget* parent) : QWidget(parent), column_(new QVBoxLayout(this)) {
  column_->setContentsMargins(0, 0, 0, 0);
  column_->addStretch(0);
}

void TableStack::add(const Table& table, int most_rows) {
  auto* title = new TableTitle(this);
  auto* panel = new TablePanel(QString::fromStdString(table.title), this);
  title->set_table(table, *panel);
  panel->set_table(table);
  const int all_rows = static_cast<int>(table.rows.size());
  const auto height_of = [&](int rows) {
    return panel->horizontalHeader()->sizeHint().height() + rows * panel->verticalHeader()->defaultSectionSize() +
           panel->horizontalScrollBar()->sizeHint().height() + 4;
  };
  panel->setMinimumHeight(height_of(std::min(most_rows, all_rows)));
  panel->setMaximumHeight(height_of(all_rows));  // as far as the window has room
  connect(panel, &TablePanel::row_activated, this, [this, panel](int row) {
    if (row < 0) return;
    Q_EMIT cell_activated(panel->model_of_rows().table(), static_cast<std::size_t>(row), panel->current_key());
  });
  for (QWidget* part : {static_cast<QWidget*>(title), static_cast<QWidget*>(panel)})
    column_->insertWidget(column_->count() - 1, part, part == panel ? 1 : 0);
  titles_.push_back(title);
  panels_.push_back(panel);
}

void TableStack::clear() {
  for (std::size_t i = 0; i < panels_.size(); ++i) {
    for (QWidget* widget : {static_cast<QWidget*>(titles_[i]), static_cast<QWidget*>(panels_[i])}) {
      widget->hide();
      widget->deleteLater();  // one of them may be the one that asked for this
    }
  }
  panels_.clear();
  titles_.clear();
}

TablePanel* TableStack::find(const std::string& key) const {
  const auto found =
      std::ranges::find(panels_, key, [](const TablePanel* panel) { return panel->model_of_rows().table().key; });
  return found == panels_.end() ? nullptr : *found;
}

}  // namespace swinscope::gui
