// The rows of the layers as a tree, of which the filter keeps the components with a name.
#pragma once

#include <QTreeView>

#include "gui/core/analysis_rows.h"
#include "gui/core/layer_tree.h"

namespace swinscope::gui {

class TableOrder;

class LayerTreeView : public QTreeView {
  Q_OBJECT

 public:
  explicit LayerTreeView(QWidget* parent = nullptr);

  // `selected` is selected where it is still there, the first layer where nothing was.
  // `steps`: of the scope, over ranks; 0 where it is the whole trace.
  void set_table(const Table& table, std::int64_t steps, const QString& name, const Called& selected);
  void select(const Called& layer);
  // The selected row, or all that are unfolded, as a spreadsheet takes them.
  void copy() const;
  void copy_all() const;

 Q_SIGNALS:
  void layer_changed(const swinscope::gui::Called& layer);

 protected:
  void keyPressEvent(QKeyEvent* event) override;

 private:
  void copy_rows(const QModelIndexList& rows) const;

  LayerTreeModel* model_;
  TableOrder* named_;
};

}  // namespace swinscope::gui
