#include "gui/widgets/layers_page.h"

#include <QHeaderView>
#include <QLabel>
#include <QSortFilterProxyModel>
#include <QTreeView>
#include <QVBoxLayout>

namespace swinscope::gui {
namespace {

constexpr const char* kNoLayers =
    "This trace has no layers.\n\nLayers come from ranges that carry their FLOPs and bytes, as swinscope's own "
    "workloads "
    "have them:\nswinscope record -o run -- swin train --model swin_nano";
constexpr int kPathWidth = 240;

}  // namespace

LayersPage::LayersPage(QWidget* parent)
    : QWidget(parent),
      model_(new LayerTreeModel(this)),
      named_(new QSortFilterProxyModel(this)),
      tree_(new QTreeView(this)),
      message_(new QLabel(this)) {
  setObjectName(QStringLiteral("layers"));
  named_->setSourceModel(model_);
  named_->setRecursiveFilteringEnabled(true);
  named_->setAutoAcceptChildRows(true);
  named_->setFilterCaseSensitivity(Qt::CaseInsensitive);
  tree_->setModel(named_);
  tree_->setAccessibleName(QStringLiteral("Layers"));
  tree_->setAlternatingRowColors(true);
  tree_->setUniformRowHeights(true);
  tree_->header()->setStretchLastSection(false);
  message_->setAlignment(Qt::AlignCenter);
  message_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  message_->setWordWrap(true);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(4, 0, 4, 4);
  column->addWidget(message_, 1);
  column->addWidget(tree_, 1);
  show_rows({});
}

void LayersPage::set_run(RunPointer run) {
  run_ = std::move(run);
  count();
}

void LayersPage::set_filter(const Filter& filter) {
  named_->setFilterFixedString(filter.name);
  const bool same_rank = filter.rank == filter_.rank;
  filter_ = filter;
  if (!same_rank) count();
}

void LayersPage::count() {
  if (run_ == nullptr || run_->trace == nullptr) {
    counting_.forget();
    show_rows({});
    message_->setText(run_ == nullptr ? QStringLiteral("No run is open.") : QStringLiteral("Analyzing…"));
    return;
  }
  const auto work = [run = run_, rank = filter_.rank] {
    LayerOptions options;
    options.rank = rank;
    return layer_table(*run->trace, options);
  };
  counting_.start(work, [this](const std::vector<LayerRow>& rows) { show_rows(rows); });
}

void LayersPage::show_rows(const std::vector<LayerRow>& rows) {
  model_->set_rows(rows);
  message_->setText(QString::fromUtf8(kNoLayers));
  message_->setVisible(rows.empty());
  tree_->setVisible(!rows.empty());
  tree_->expandToDepth(0);
  for (int i = 0; i < model_->columnCount(); ++i)
    tree_->resizeColumnToContents(i);
  tree_->setColumnWidth(0, std::max(kPathWidth, tree_->columnWidth(0)));
}

QString LayersPage::message() const { return message_->isHidden() ? QString() : message_->text(); }

}  // namespace swinscope::gui
