// Layers as a tree: a node is a component of the layer path ("stage3" > "block5" > "attn"), with the sums of what is
// below. Time is that on the GPU where anything ran there, else that of the host; ranges of layers enclose those of the
// layers below them, so that a layer's host time is not added to that of what it encloses.
#pragma once

#include <QAbstractItemModel>
#include <memory>

#include "analyzer/table/table.h"

namespace swinscope::gui {

class LayerTreeModel : public QAbstractItemModel {
  Q_OBJECT

 public:
  enum Column : int {
    kPath,
    kOperation,
    kPrecision,
    kCalls,
    kWork,
    kPerStep,
    kShare,
    kHost,
    kGflop,
    kRate,
    kBytes,
    kBandwidth,
    kPeak,
    kBound,
    kGain,
    kFusable,
  };
  static constexpr int kColumns = kFusable + 1;

  explicit LayerTreeModel(QObject* parent = nullptr);
  Q_DISABLE_COPY_MOVE(LayerTreeModel)
  ~LayerTreeModel() override;

  // The registry's table of layers, with the advisor's columns where it has them. Forward and backward are told apart
  // by a node below the path. Several layers reach together what they would take at the GPU's peaks / what they took.
  // `steps`: those that the time per step is of; 0: there are none.
  void set_table(const Table& table, std::int64_t steps = 0);

  QModelIndex index(int row, int column, const QModelIndex& parent = {}) const override;
  QModelIndex parent(const QModelIndex& index) const override;
  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  // No node has a value in it.
  bool is_empty(Column column) const;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

  // The layer of a node: its path, "stage3.block5.attn", and its phase where it stands for one only.
  struct Layer {
    QString path;
    QString phase;
    bool operator==(const Layer&) const = default;
  };
  Layer layer_of(const QModelIndex& index) const;
  // Nodes as rows of a table, in all columns; names are paths.
  Table rows_of(const QModelIndexList& indexes) const;
  // The node of a layer; invalid when there is none.
  QModelIndex find(const Layer& layer) const;

 private:
  struct Node;
  const Node& node_at(const QModelIndex& index) const;
  bool has_work(const Node& node) const;
  std::int64_t work_ns(const Node& node) const;
  Cell cell_of(const Node& node, Column column) const;

  std::unique_ptr<Node> root_;
  std::int64_t steps_ = 0;
};

}  // namespace swinscope::gui
