// The rows of the layers as a tree, of which the filter keeps the components with a name.
#pragma once

#include <QTreeView>

#include "gui/core/analysis_rows.h"
#include "gui/core/layer_tree.h"

class QSortFilterProxyModel;

namespace swinscope::gui {

class LayerTreeView : public QTreeView {
  Q_OBJECT

 public:
  explicit LayerTreeView(QWidget* parent = nullptr);

  // `selected` is selected where it is still there, the first layer where nothing was.
  void set_table(const Table& table, const QString& name, const Called& selected);

 Q_SIGNALS:
  void layer_changed(const swinscope::gui::Called& layer);

 private:
  LayerTreeModel* model_;
  QSortFilterProxyModel* named_;
};

}  // namespace swinscope::gui
