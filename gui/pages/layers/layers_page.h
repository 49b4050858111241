// Time, FLOPs and bytes by layer, as a tree, and the calls of one layer.
#pragma once

#include "gui/core/background.h"
#include "gui/core/layer_tree.h"
#include "gui/pages/page.h"

class QLabel;
class QSortFilterProxyModel;
class QSplitter;
class QTreeView;

namespace swinscope::gui {

class CallsPanel;

class LayersPage : public Page {
  Q_OBJECT

 public:
  explicit LayersPage(QWidget* parent = nullptr);

  void set_session(const Session& session) override;
  void set_filter(const Filter& filter) override;
  bool has(ActionId action) const override;
  bool can_perform(ActionId action) const override;
  void perform(ActionId action) override;
  bool is_settled() const override { return counting_.is_idle() && collecting_.is_idle(); }

  QTreeView& tree() { return *tree_; }
  CallsPanel& calls() { return *calls_; }
  QString message() const;

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
