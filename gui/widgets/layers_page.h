// Time, FLOPs and bytes by layer, as a tree.
#pragma once

#include <QWidget>

#include "gui/core/background.h"
#include "gui/core/filter.h"
#include "gui/core/layer_tree.h"
#include "gui/core/opened.h"

class QLabel;
class QSortFilterProxyModel;
class QTreeView;

namespace swinscope::gui {

class LayersPage : public QWidget {
  Q_OBJECT

 public:
  explicit LayersPage(QWidget* parent = nullptr);

  void set_run(RunPointer run);
  void set_filter(const Filter& filter);
  QTreeView& tree() { return *tree_; }
  QString message() const;
  bool is_busy() const { return !counting_.is_idle(); }

 private:
  void count();
  void show_rows(const std::vector<LayerRow>& rows);

  RunPointer run_;
  Filter filter_;
  LayerTreeModel* model_;
  QSortFilterProxyModel* named_;
  QTreeView* tree_;
  QLabel* message_;
  Background counting_;
};

}  // namespace swinscope::gui
