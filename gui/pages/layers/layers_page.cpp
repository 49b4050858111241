#include "gui/pages/layers/layers_page.h"

#include <QHeaderView>
#include <QLabel>
#include <QSortFilterProxyModel>
#include <QSplitter>
#include <QTreeView>
#include <QVBoxLayout>
#include <algorithm>
#include <functional>

#include "gui/widgets/calls_panel.h"

namespace swinscope::gui {
namespace {

constexpr const char* kNoLayers =
    "This trace has no layers.\n\nLayers come from ranges that carry their FLOPs and bytes, as swinscope's own "
    "workloads have them (swinscope record -o run -- swin train --model swin_nano), or from PyTorch: the modules of "
    "swinscope record --torch-modules, or the operators of its profiler.";
constexpr const char* kNoLayer = "Select a layer to see how long its calls take.";
constexpr int kPathWidth = 240;

// Of a stream only what ran on it: a range belongs to none.
template <typename Row>
std::vector<Row> on_stream(std::vector<Row> rows, const Filter& filter, bool (*is_on_gpu)(const Row&)) {
  if (filter.stream) rows.erase(std::remove_if(rows.begin(), rows.end(), std::not_fn(is_on_gpu)), rows.end());
  return rows;
}

}  // namespace

LayersPage::LayersPage(QWidget* parent)
    : Page(parent),
      model_(new LayerTreeModel(this)),
      named_(new QSortFilterProxyModel(this)),
      tree_(new QTreeView(this)),
      calls_(new CallsPanel(QStringLiteral("The selected layer"), this)),
      split_(new QSplitter(Qt::Vertical, this)),
      message_(new QLabel(this)) {
  setFocusProxy(tree_);
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
  column->addWidget(split_, 1);
  split_->addWidget(tree_);
  split_->addWidget(calls_);
  split_->setStretchFactor(0, 3);
  split_->setStretchFactor(1, 2);
  connect(tree_->selectionModel(), &QItemSelectionModel::currentChanged, this,
          [this](const QModelIndex& current) { show_layer(named_->mapToSource(current)); });
  connect(calls_, &CallsPanel::call_requested, this, &LayersPage::call_requested);
  connect(calls_, &CallsPanel::changed, this, &LayersPage::changed);
  show_rows({});
}

void LayersPage::set_session(const Session& session) {
  run_ = session.run;
  selected_ = {};
  count();
}

void LayersPage::set_filter(const Filter& filter) {
  if (filter == filter_) return;
  named_->setFilterFixedString(filter.name);
  filter_ = filter;
  count();
}

void LayersPage::count() {
  if (run_ == nullptr || run_->trace == nullptr) {
    counting_.forget();
    show_rows({});
    message_->setText(run_ == nullptr ? QStringLiteral("No run is open.") : QStringLiteral("Analyzing…"));
    return;
  }
  const auto work = [run = run_, filter = filter_] {
    const auto scope = scope_of(*run->trace, filter.selection());
    return on_stream<LayerRow>(scope ? layer_table(*run->trace, *scope) : std::vector<LayerRow>(), filter,
                               [](const LayerRow& row) { return row.gpu_events > 0; });
  };
  counting_.start(work, [this](const std::vector<LayerRow>& rows) { show_rows(rows); });
}

void LayersPage::show_rows(const std::vector<LayerRow>& rows) {
  const LayerTreeModel::Layer before = selected_;  // which the model forgets
  model_->set_rows(rows);
  message_->setText(filter_ == Filter() ? QString::fromUtf8(kNoLayers) : QStringLiteral("No layer passes the filter."));
  message_->setVisible(rows.empty());
  split_->setVisible(!rows.empty());
  tree_->expandToDepth(0);
  for (int i = 0; i < model_->columnCount(); ++i)
    tree_->resizeColumnToContents(i);
  tree_->setColumnWidth(0, std::max(kPathWidth, tree_->columnWidth(0)));
  const QModelIndex again = before.path.isEmpty() ? model_->index(0, 0) : model_->find(before);
  if (again.isValid()) {
    tree_->setCurrentIndex(named_->mapFromSource(again));
  } else {
    show_layer({});
  }
}

void LayersPage::show_layer(const QModelIndex& index) {
  if (!index.isValid() || run_ == nullptr || run_->trace == nullptr) {
    collecting_.forget();
    calls_->clear(QString::fromUtf8(kNoLayer));
    return;
  }
  selected_ = model_->layer_of(index);
  const auto work = [run = run_, filter = filter_, path = selected_.path.toStdString(),
                     phase = selected_.phase.toStdString()] {
    const auto scope = scope_of(*run->trace, filter.selection());
    return calls_of(
        on_stream<LayerCall>(scope ? layer_calls(*run->trace, path, phase, *scope) : std::vector<LayerCall>(), filter,
                             [](const LayerCall& call) { return call.gpu_event != kNoEvent; }));
  };
  collecting_.start(work, [this](std::vector<Call> calls) {
    const QString phase = selected_.phase.isEmpty() ? QString() : QStringLiteral(", ") + selected_.phase;
    calls_->set_calls(selected_.path + phase, std::move(calls), *run_->trace);
  });
}

bool LayersPage::has(ActionId action) const {
  return action == ActionId::kNextOccurrence || action == ActionId::kPreviousOccurrence;
}

void LayersPage::perform(ActionId action) { calls_->step(action == ActionId::kNextOccurrence); }

bool LayersPage::can_perform(ActionId) const { return !calls_->calls().empty(); }

QString LayersPage::message() const { return message_->isHidden() ? QString() : message_->text(); }

}  // namespace swinscope::gui
