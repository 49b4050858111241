#include "gui/pages/table/layer_tree_view.h"

#include <QClipboard>
#include <QGuiApplication>
#include <QHeaderView>
#include <QKeyEvent>
#include <algorithm>
#include <numeric>

#include "gui/core/copied_rows.h"
#include "gui/core/table_model.h"

namespace swinscope::gui {
namespace {

constexpr int kPathWidth = 240;

}  // namespace

LayerTreeView::LayerTreeView(QWidget* parent)
    : QTreeView(parent), model_(new LayerTreeModel(this)), named_(new TableOrder(this)) {
  named_->setSourceModel(model_);
  named_->setRecursiveFilteringEnabled(true);
  named_->setAutoAcceptChildRows(true);
  setModel(named_);
  setAccessibleName(QStringLiteral("Layers"));
  setAlternatingRowColors(true);
  setUniformRowHeights(true);
  header()->setStretchLastSection(false);
  header()->setSortIndicatorClearable(true);
  header()->setSortIndicator(-1, Qt::DescendingOrder);  // in the order in which layers ran
  setSortingEnabled(true);
  connect(selectionModel(), &QItemSelectionModel::currentChanged, this, [this](const QModelIndex& current) {
    if (!current.isValid()) return;
    const LayerTreeModel::Layer layer = model_->layer_of(named_->mapToSource(current));
    Q_EMIT layer_changed({layer.path.toStdString(), layer.phase.toStdString()});
  });
}

void LayerTreeView::set_table(const Table& table, std::int64_t steps, const QString& name, const Called& selected) {
  model_->set_table(table, steps);
  named_->setFilterFixedString(name);
  expandToDepth(0);
  for (int i = 0; i < model_->columnCount(); ++i) {
    setColumnHidden(i, i > 0 && model_->is_empty(static_cast<LayerTreeModel::Column>(i)));
    resizeColumnToContents(i);
  }
  setColumnWidth(0, std::max(kPathWidth, columnWidth(0)));
  const LayerTreeModel::Layer layer{QString::fromStdString(selected.name), QString::fromStdString(selected.phase)};
  const QModelIndex again = layer.path.isEmpty() ? model_->index(0, 0) : model_->find(layer);
  setCurrentIndex(named_->mapFromSource(again));
}

void LayerTreeView::select(const Called& layer) {
  const QModelIndex found = model_->find({QString::fromStdString(layer.name), QString::fromStdString(layer.phase)});
  if (!found.isValid()) return;
  setCurrentIndex(named_->mapFromSource(found));
  scrollTo(currentIndex());
}

void LayerTreeView::copy() const {
  if (currentIndex().isValid()) copy_rows({currentIndex()});
}

void LayerTreeView::copy_all() const {
  QModelIndexList rows;
  for (QModelIndex row = named_->index(0, 0); row.isValid(); row = indexBelow(row))
    rows << row;
  copy_rows(rows);
}

void LayerTreeView::copy_rows(const QModelIndexList& rows) const {
  QModelIndexList nodes;
  for (const QModelIndex& row : rows)
    nodes << named_->mapToSource(row);
  const Table table = model_->rows_of(nodes);
  std::vector<std::size_t> columns(table.columns.size());
  std::iota(columns.begin(), columns.end(), std::size_t{0});
  std::vector<std::size_t> all(table.rows.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  QGuiApplication::clipboard()->setText(copied_rows(table, columns, all));
}

void LayerTreeView::keyPressEvent(QKeyEvent* event) {
  if (event->matches(QKeySequence::Copy)) {
    copy();
  } else {
    QTreeView::keyPressEvent(event);
  }
}

}  // namespace swinscope::gui
