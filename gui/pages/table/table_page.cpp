#include "gui/pages/table/table_page.h"

#include <QClipboard>
#include <QComboBox>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QSplitter>
#include <QTreeWidget>
#include <QTreeWidgetItemIterator>
#include <QVBoxLayout>
#include <algorithm>
#include <numeric>

#include "advisor/advice_columns.h"
#include "gui/core/cell_evidence.h"
#include "gui/core/run_command.h"
#include "gui/core/table_sums.h"
#include "gui/core/tool_tip.h"
#include "gui/pages/table/layer_tree_view.h"
#include "gui/pages/table_export.h"
#include "gui/widgets/calls_panel.h"
#include "gui/widgets/table_panel.h"
#include "gui/widgets/table_title.h"

namespace swinscope::gui {
namespace {

constexpr int kListWidth = 230;

const Analysis& analysis_with(std::string_view key) { return *std::ranges::find(analyses(), key, &Analysis::key); }

QString text_of(std::string_view text) { return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size())); }

}  // namespace

TablePage::TablePage(QWidget* parent) : TablePage(analyses().front(), RowsLook::kTable, parent) {
  find_ = new QLineEdit(content_->parentWidget());
  find_->setObjectName(QStringLiteral("find_rows"));
  find_->setAccessibleName(QStringLiteral("Find rows"));
  find_->setPlaceholderText(QStringLiteral("only rows with this text"));
  find_->setClearButtonEnabled(true);
  qobject_cast<QVBoxLayout*>(content_->parentWidget()->layout())->insertWidget(1, find_);
  connect(find_, &QLineEdit::textChanged, &table_->order(), &QSortFilterProxyModel::setFilterFixedString);
  parts_->insertWidget(0, build_list());
  parts_->setSizes({kListWidth, 5 * kListWidth});
  parts_->setStretchFactor(1, 1);
}

TablePage::TablePage(std::string_view analysis, RowsLook look, QWidget* parent)
    : TablePage(analysis_with(analysis), look, parent) {}

TablePage::TablePage(const Analysis& analysis, RowsLook look, QWidget* parent)
    : ComputedPage(QStringLiteral("table_message"), parent),
      analysis_(&analysis),
      look_(look),
      parts_(new QSplitter(Qt::Horizontal, this)),
      content_(new QSplitter(Qt::Vertical, this)),
      title_(new TableTitle(this)),
      sum_(new QLabel(this)),
      calls_(new CallsPanel(QStringLiteral("The calls of the selected row"), this)) {
  if (look == RowsLook::kTable) {
    table_ = new TablePanel(text_of(analysis.title), this);
    table_->order().setFilterKeyColumn(-1);
    connect(table_, &TablePanel::row_changed, this, [this](int row) {
      if (row >= 0 && kind().calls != nullptr) show_calls(called_by(kind(), counted_.table, row));
    });
    connect(table_, &TablePanel::row_activated, this, &TablePage::activate_row);
    connect(table_->selectionModel(), &QItemSelectionModel::selectionChanged, this, &TablePage::show_sum);
    connect(&table_->order(), &QAbstractItemModel::layoutChanged, this, &TablePage::show_sum);
  } else {
    tree_ = new LayerTreeView(this);
    connect(tree_, &LayerTreeView::layer_changed, this, &TablePage::show_calls);
  }
  connect(calls_, &CallsPanel::call_requested, this, &TablePage::call_requested);
  connect(calls_, &CallsPanel::changed, this, &TablePage::changed);
  rows().setContextMenuPolicy(Qt::CustomContextMenu);
  connect(&rows(), &QWidget::customContextMenuRequested, this, [this](QPoint place) {
    show_menu(static_cast<QAbstractScrollArea&>(rows()).viewport()->mapToGlobal(place));
  });
  build_layout();
  show_message(QStringLiteral("No run is open."));
}

void TablePage::build_layout() {
  title_->setWordWrap(true);
  title_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  setFocusProxy(&rows());
  sum_->setObjectName(QStringLiteral("sum"));
  sum_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  sum_->setMargin(2);
  sum_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
  auto* summed = new QWidget(this);
  auto* lines = new QVBoxLayout(summed);
  lines->setContentsMargins(0, 0, 0, 0);
  lines->setSpacing(0);
  lines->addWidget(&rows(), 1);
  lines->addWidget(sum_);
  content_->addWidget(summed);
  content_->addWidget(calls_);
  content_->setStretchFactor(0, 3);
  content_->setStretchFactor(1, 2);
  auto* chosen = new QWidget(this);
  auto* column = new QVBoxLayout(chosen);
  column->setContentsMargins(0, 0, 0, 0);
  column->addWidget(title_);
  build_groupings(*column);
  column->addWidget(&message_label(), 1);
  column->addWidget(content_, 1);
  parts_->addWidget(chosen);
  auto* all = new QVBoxLayout(this);
  all->setContentsMargins(4, 0, 4, 4);
  all->addWidget(parts_);
}

// A choice of what rows are, where the page is of one analysis.
void TablePage::build_groupings(QVBoxLayout& column) {
  if (kind().groupings.empty() || find_ != nullptr) return;
  by_ = new QComboBox(this);
  by_->setObjectName(QStringLiteral("group_by"));
  by_->setAccessibleName(QStringLiteral("A row for each"));
  for (const char* grouping : kind().groupings)
    by_->addItem(QString::fromUtf8(grouping));
  connect(by_, &QComboBox::currentIndexChanged, this, [this](int index) {
    grouping_ = static_cast<std::size_t>(std::max(0, index));
    selected_ = {};
    invalidate();
  });
  auto* label = new QLabel(QStringLiteral("A row for &each"), this);
  label->setBuddy(by_);
  auto* line = new QHBoxLayout;
  line->addWidget(label);
  line->addWidget(by_);
  line->addStretch(1);
  column.addLayout(line);
}

void TablePage::group_by(std::size_t grouping) { by_->setCurrentIndex(static_cast<int>(grouping)); }

QString TablePage::sum() const { return sum_->text(); }

// Of the rows that are selected where there are several, else of all that are shown.
void TablePage::show_sum() {
  std::vector<std::size_t> rows;
  bool is_selection = false;
  if (table_ != nullptr) {
    const QModelIndexList selected = table_->selectionModel()->selectedRows();
    is_selection = selected.size() > 1;
    for (const QModelIndex& row : selected)
      if (is_selection) rows.push_back(row.data(kRowRole).toULongLong());
    for (int row = 0; !is_selection && row < table_->order().rowCount(); ++row)
      rows.push_back(table_->order().index(row, 0).data(kRowRole).toULongLong());
  } else {
    rows.resize(counted_.table.rows.size());
    std::iota(rows.begin(), rows.end(), std::size_t{0});
  }
  QString line = kind().calls == nullptr ? QString() : sum_line(counted_.table, rows);
  if (is_selection) line.replace(QStringLiteral(" rows:"), QStringLiteral(" selected rows:"));
  sum_->setText(line);
  sum_->setVisible(!line.isEmpty());
}

QWidget& TablePage::rows() const { return table_ != nullptr ? static_cast<QWidget&>(*table_) : *tree_; }

QWidget* TablePage::build_list() {
  auto* list = new QTreeWidget(this);
  list->setObjectName(QStringLiteral("analyses"));
  list->setAccessibleName(QStringLiteral("Tables"));
  list->setHeaderHidden(true);
  list->setRootIsDecorated(false);
  for (const AnalysisSection section : kAnalysisSections) {
    auto* heading = new QTreeWidgetItem(list, {text_of(section_title(section))});
    heading->setFlags(Qt::ItemIsEnabled);
    heading->setFont(0, title_->font());
    for (std::size_t i = 0; i < analyses().size(); ++i) {
      if (analyses()[i].section != section) continue;
      auto* item = new QTreeWidgetItem(heading, {text_of(analyses()[i].title)});
      item->setData(0, Qt::UserRole, static_cast<qulonglong>(i));
      item->setToolTip(0, tooltip_of(QString::fromUtf8(analyses()[i].definition)));
      item->setData(0, Qt::AccessibleDescriptionRole, text_of(analyses()[i].definition));
      if (&analyses()[i] == analysis_) list->setCurrentItem(item);
    }
  }
  list->expandAll();
  connect(list, &QTreeWidget::currentItemChanged, this, [this](const QTreeWidgetItem* item) {
    if (item != nullptr && item->parent() != nullptr) choose(analyses()[item->data(0, Qt::UserRole).toULongLong()]);
  });
  setFocusProxy(list);
  return list;
}

void TablePage::choose(const Analysis& analysis) {
  if (&analysis == analysis_) return;
  analysis_ = &analysis;
  selected_ = {};
  find_->clear();
  table_->setAccessibleName(text_of(analysis.title));
  invalidate();
}

// The page with one analysis has nothing to choose.
void TablePage::present(const Evidence& evidence) {
  if (by_ != nullptr && !evidence.called.isEmpty()) group_by(evidence.grouping);
  if (!evidence.called.isEmpty()) select_called({evidence.called.toStdString(), {}});
  auto* list = findChild<QTreeWidget*>(QStringLiteral("analyses"));
  const auto found = std::ranges::find(analyses(), evidence.analysis.toStdString(), &Analysis::key);
  if (list == nullptr || found == analyses().end()) return;
  for (QTreeWidgetItemIterator item(list); *item != nullptr; ++item) {
    const QVariant index = (*item)->data(0, Qt::UserRole);
    if (index.isValid() && index.toLongLong() == found - analyses().begin()) list->setCurrentItem(*item);
  }
  find_->setText(evidence.find);
}

// Its row, or the one that it gets when the rows are there.
void TablePage::select_called(const Called& called) {
  selected_ = called;
  if (counted_.table.rows.empty()) return;
  if (table_ != nullptr) {
    if (const int row = find_row(kind(), counted_.table, called); row >= 0) table_->select_row(row);
  } else {
    tree_->select(called);
  }
}

void TablePage::show_menu(QPoint place) {
  if (counted_.table.rows.empty()) return;
  auto* menu = new QMenu(this);
  menu->setAttribute(Qt::WA_DeleteOnClose);
  menu->setObjectName(QStringLiteral("rows_menu"));
  const QString name = QString::fromStdString(selected_.name);
  if (kind().calls != nullptr && !name.isEmpty()) {
    for (QAction* action : actions()) {
      if (action->objectName().startsWith(QLatin1String("kernels."))) menu->addAction(action);
    }
    menu->addAction(QStringLiteral("&Only rows with this name"), this, [this, name] { Q_EMIT name_requested(name); });
    menu->addAction(QStringLiteral("&Search in the timeline"), this, [this, name] {
      Q_EMIT evidence_requested({{}, QStringLiteral("timeline"), {}, name, {}});
    });
    menu->addSeparator();
    menu->addAction(QStringLiteral("Copy &name"), this, [name] { QGuiApplication::clipboard()->setText(name); });
  }
  menu->addAction(QStringLiteral("&Copy rows"), this, [this] { table_ != nullptr ? table_->copy() : tree_->copy(); });
  menu->addAction(QStringLiteral("Copy &all rows"), this,
                  [this] { table_ != nullptr ? table_->copy_all() : tree_->copy_all(); });
  menu->popup(place);
}

TablePage::Counted TablePage::counted(const OpenedRun& run, const Analysis& analysis, const Filter& filter,
                                      RowsLook look, std::size_t grouping) {
  Counted counted;
  try {
    counted.run = run.shared->of(run.trace, filter.selection());
    counted.table = rows_of(analysis, *counted.run, filter, grouping);
    // As `swinscope kernels --by` does: operations and classes are no kernels that could be changed.
    const bool is_of_kernels = grouping <= static_cast<std::size_t>(KernelGrouping::kShortName);
    if (has_advice_columns(counted.table.key)) {
      add_advice_columns(counted.table, *counted.run,
                         is_of_kernels ? run.shared->advisor(run.trace, filter.selection()).get() : nullptr);
    }
    if (look == RowsLook::kTable) keep_named(counted.table, filter.name);  // the tree keeps what is above, too
  } catch (const Error&) {                                                 // nothing meets the selection
    counted = {};
  }
  return counted;
}

// What is shown of the same run stays until there is more; of another one it would be wrong.
void TablePage::compute() {
  if (counted_of_ != run()) {
    counted_of_ = run();
    show_rows({});
    show_message(QStringLiteral("Analyzing…"));
  }
  counting_.start([run = run(), analysis = analysis_, filter = filter(), look = look_,
                   grouping = grouping_] { return counted(*run, *analysis, filter, look, grouping); },
                  [this](Counted counted) { show_rows(std::move(counted)); });
}

void TablePage::forget() {
  counting_.forget();
  collecting_.forget();
}

void TablePage::show_content(bool is_shown) {
  content_->setVisible(is_shown);
  title_->setVisible(is_shown || !counted_.table.title.empty());
}

void TablePage::show_rows(Counted counted) {
  counted_ = std::move(counted);
  const Table& table = counted_.table;
  title_->set_table(table, rows());
  calls_->setVisible(kind().calls != nullptr);
  show_calls({});
  if (table_ != nullptr) {
    table_->set_table(table, kind().order);
    if (kind().calls != nullptr) table_->select_row(std::max(0, find_row(kind(), table, selected_)));
  } else {
    const std::int64_t steps =
        counted_.run == nullptr || counted_.run->layers().empty() ? 0 : counted_.run->layers().front().steps;
    tree_->set_table(table, steps, filter().name, selected_);
  }
  show_sum();
  QString message;
  if (table.rows.empty()) {
    message = filter() == Filter() ? QString::fromUtf8(kind().absence)
                                   : QStringLiteral("No %1 passes the filter.").arg(QLatin1String(kind().noun));
  }
  show_message(message);
}

void TablePage::show_calls(const std::optional<Called>& called) {
  if (!called || counted_.run == nullptr) {
    collecting_.forget();
    calls_->clear(QStringLiteral("Select a %1 to see how long its calls take.").arg(QLatin1String(kind().noun)));
    return;
  }
  selected_ = *called;
  const auto work = [run = counted_.run, filter = filter(), calls = kind().calls, called = selected_,
                     grouping = grouping_] { return calls(*run, filter, called, grouping); };
  collecting_.start(work, [this, run = counted_.run](std::vector<Call> calls) {
    QString name = QString::fromStdString(selected_.name);
    if (!selected_.phase.empty()) name += QStringLiteral(", ") + text_of(selected_.phase);
    calls_->set_calls(name, std::move(calls), run->trace);
  });
}

// Rows that stand for calls go to the first of them, others to where the figure below the cursor is from.
void TablePage::activate_row(int row) {
  if (kind().calls != nullptr) return calls_->step(true);
  if (row < 0) return;
  const Evidence evidence = evidence_of_cell(counted_.table, static_cast<std::size_t>(row), table_->current_key());
  if (evidence.page.isEmpty()) {
    Q_EMIT said(QStringLiteral("this was read from the recording: there is nothing more to it"));
  } else {
    Q_EMIT evidence_requested(evidence);
  }
}

bool TablePage::has(ActionId action) const {
  return action == ActionId::kNextOccurrence || action == ActionId::kPreviousOccurrence ||
         action == ActionId::kLongestOccurrence || action == ActionId::kExportTable;
}

bool TablePage::can_perform(ActionId action) const {
  return message().isEmpty() &&
         (action == ActionId::kExportTable ? !counted_.table.rows.empty() : !calls_->calls().empty());
}

void TablePage::perform(ActionId action) {
  if (action == ActionId::kExportTable)
    return ask_and_export(*this, *run(), std::string(analysis_->key), shown_table(), export_command());
  if (action == ActionId::kLongestOccurrence) return calls_->step_by_length();
  calls_->step(action == ActionId::kNextOccurrence);
}

Table TablePage::shown_table() const {
  if (table_ != nullptr) return table_->shown_table();
  Table table = counted_.table;
  keep_named(table, filter().name);
  return table;
}

QString TablePage::command() const {
  return run() == nullptr || !message().isEmpty() ? QString()
                                                  : table_command(analysis_->key, grouping_, run()->path, filter());
}

QString TablePage::export_command() const {
  const bool is_whole = filter().name.isEmpty() && (find_ == nullptr || find_->text().isEmpty());
  return is_whole ? command() : QString();
}

bool TablePage::export_table(const QString& path) {
  if (run() == nullptr || run()->trace == nullptr) return false;
  return gui::export_table(*this, *run(), std::string(analysis_->key), shown_table(), export_command(), path);
}

QTreeView& TablePage::tree() { return *tree_; }

QLabel& TablePage::title() const { return *title_; }

}  // namespace swinscope::gui
