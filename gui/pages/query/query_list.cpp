#include "gui/pages/query/query_list.h"

#include <QHeaderView>
#include <QTreeWidget>
#include <algorithm>

#include "gui/core/tool_tip.h"

namespace swinscope::gui {
namespace {

constexpr int kSql = Qt::UserRole;
constexpr int kIsSaved = Qt::UserRole + 1;

QTreeWidget* tree(const QString& object_name, const QString& title, QSplitter* parent) {
  auto* made = new QTreeWidget(parent);
  made->setObjectName(object_name);
  made->setAccessibleName(title);
  made->setHeaderLabel(title);
  made->setUniformRowHeights(true);
  made->header()->setStretchLastSection(true);
  return made;
}

}  // namespace

QueryList::QueryList(QWidget* parent)
    : QSplitter(Qt::Vertical, parent),
      queries_(tree(QStringLiteral("queries"), QStringLiteral("Queries"), this)),
      tables_(tree(QStringLiteral("query_tables"), QStringLiteral("Tables"), this)) {
  queries_->setRootIsDecorated(false);
  setChildrenCollapsible(false);
  connect(queries_, &QTreeWidget::currentItemChanged, this, [this](const QTreeWidgetItem* item) {
    if (item != nullptr && item->data(0, kSql).isValid()) Q_EMIT query_chosen(item->data(0, kSql).toString());
    Q_EMIT changed();
  });
  connect(queries_, &QTreeWidget::itemActivated, this, [this](const QTreeWidgetItem* item) {
    if (item->data(0, kSql).isValid()) Q_EMIT query_activated(item->data(0, kSql).toString());
  });
  connect(tables_, &QTreeWidget::itemActivated, this,
          [this](const QTreeWidgetItem* item) { Q_EMIT name_activated(item->data(0, kSql).toString()); });
  tables_->setExpandsOnDoubleClick(false);  // it puts the name into the query
  show_queries();
}

void QueryList::add_queries(const QString& heading, const std::vector<NamedQuery>& queries, bool is_saved) {
  if (queries.empty()) return;
  auto* top = new QTreeWidgetItem(queries_, {heading});
  top->setFlags(Qt::ItemIsEnabled);
  QFont bold = font();
  bold.setBold(true);
  top->setFont(0, bold);
  for (const NamedQuery& query : queries) {
    auto* item = new QTreeWidgetItem(top, {query.name});
    item->setData(0, kSql, query.sql);
    item->setData(0, kIsSaved, is_saved);
    item->setToolTip(0, tooltip_of(query.sql));
    item->setData(0, Qt::AccessibleDescriptionRole, query.sql);
  }
}

void QueryList::show_queries() {
  queries_->clear();
  add_queries(QStringLiteral("Saved"), SavedQueries::saved(), true);
  add_queries(QStringLiteral("Examples"), example_queries(), false);
  add_queries(QStringLiteral("Recent"), SavedQueries::recent(), false);
  queries_->expandAll();
}

void QueryList::show_tables(const std::vector<QueryTable>& tables) {
  tables_->clear();
  std::vector<QueryTable> sorted = tables;
  // Last what only says what numbers mean, and what this run has nothing in.
  std::stable_partition(sorted.begin(), sorted.end(),
                        [](const QueryTable& table) { return table.has_rows && !table.name.starts_with("ENUM_"); });
  for (const QueryTable& table : sorted) {
    const QString name = QString::fromStdString(table.name);
    auto* item = new QTreeWidgetItem(tables_, {table.has_rows ? name : QStringLiteral("%1 (no rows)").arg(name)});
    item->setData(0, kSql, name);
    for (const std::string& column : table.columns) {
      auto* child = new QTreeWidgetItem(item, {QString::fromStdString(column)});
      child->setData(0, kSql, child->text(0));
    }
  }
}

QString QueryList::current_saved() const {
  const QTreeWidgetItem* item = queries_->currentItem();
  return item != nullptr && item->data(0, kIsSaved).toBool() ? item->text(0) : QString();
}

}  // namespace swinscope::gui
