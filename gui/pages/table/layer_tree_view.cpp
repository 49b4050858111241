#include "gui/pages/table/layer_tree_view.h"

#include <QHeaderView>
#include <QSortFilterProxyModel>
#include <algorithm>

namespace swinscope::gui {
namespace {

constexpr int kPathWidth = 240;

}  // namespace

LayerTreeView::LayerTreeView(QWidget* parent)
    : QTreeView(parent), model_(new LayerTreeModel(this)), named_(new QSortFilterProxyModel(this)) {
  named_->setSourceModel(model_);
  named_->setRecursiveFilteringEnabled(true);
  named_->setAutoAcceptChildRows(true);
  named_->setFilterCaseSensitivity(Qt::CaseInsensitive);
  setModel(named_);
  setAccessibleName(QStringLiteral("Layers"));
  setAlternatingRowColors(true);
  setUniformRowHeights(true);
  header()->setStretchLastSection(false);
  connect(selectionModel(), &QItemSelectionModel::currentChanged, this, [this](const QModelIndex& current) {
    if (!current.isValid()) return;
    const LayerTreeModel::Layer layer = model_->layer_of(named_->mapToSource(current));
    Q_EMIT layer_changed({layer.path.toStdString(), layer.phase.toStdString()});
  });
}

void LayerTreeView::set_table(const Table& table, const QString& name, const Called& selected) {
  model_->set_table(table);
  named_->setFilterFixedString(name);
  expandToDepth(0);
  for (int i = 0; i < model_->columnCount(); ++i)
    resizeColumnToContents(i);
  setColumnWidth(0, std::max(kPathWidth, columnWidth(0)));
  const LayerTreeModel::Layer layer{QString::fromStdString(selected.name), QString::fromStdString(selected.phase)};
  const QModelIndex again = layer.path.isEmpty() ? model_->index(0, 0) : model_->find(layer);
  setCurrentIndex(named_->mapFromSource(again));
}

}  // namespace swinscope::gui
