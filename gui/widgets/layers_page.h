// Time, FLOPs and bytes by layer, as a tree, and the calls of one layer.
#pragma once

#include <QWidget>

#include "gui/core/actions.h"
#include "gui/core/background.h"
#include "gui/core/calls.h"
#include "gui/core/filter.h"
#include "gui/core/layer_tree.h"
#include "gui/core/opened.h"

class QLabel;
class QSortFilterProxyModel;
class QSplitter;
class QTreeView;

namespace swinscope::gui {

class CallsPanel;

class LayersPage : public QWidget {
  Q_OBJECT

 public:
  explicit LayersPage(QWidget* parent = nullptr);

  void set_run(RunPointer run);
  void set_filter(const Filter& filter);
  bool perform(ActionId action);
  bool can_perform(ActionId action) const;

  QTreeView& tree() { return *tree_; }
  CallsPanel& calls() { return *calls_; }
  QString message() const;
  bool is_busy() const { return !counting_.is_idle() || !collecting_.is_idle(); }

 Q_SIGNALS:
  void call_requested(const swinscope::gui::Call& call);
  void actions_changed();

 private:
  void count();
  void show_rows(const std::vector<LayerRow>& rows);
  void show_layer(const QModelIndex& index);

  RunPointer run_;
  Filter filter_;
  LayerTreeModel::Layer selected_;  // kept when the filter changes
  LayerTreeModel* model_;
  QSortFilterProxyModel* named_;
  QTreeView* tree_;
  CallsPanel* calls_;  // of the selected layer
  QSplitter* split_;
  QLabel* message_;  // in place of both
  Background counting_;
  Background collecting_;
};

}  // namespace swinscope::gui
