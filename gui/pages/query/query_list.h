// What can be asked, as trees: queries that were saved or asked lately, and the tables that there are with their
// columns.
#pragma once

#include <QSplitter>
#include <vector>

#include "analyzer/query/query.h"
#include "gui/core/saved_queries.h"

class QTreeWidget;
class QTreeWidgetItem;

namespace swinscope::gui {

class QueryList : public QSplitter {
  Q_OBJECT

 public:
  explicit QueryList(QWidget* parent = nullptr);

  // Reads what the settings keep.
  void show_queries();
  // Those with rows first.
  void show_tables(const std::vector<QueryTable>& tables);
  // The name of the user's saved query that is current; empty where none is.
  QString current_saved() const;
  QTreeWidget& queries() { return *queries_; }
  QTreeWidget& tables() { return *tables_; }

 Q_SIGNALS:
  void query_chosen(const QString& sql);     // to be seen
  void query_activated(const QString& sql);  // to be run
  void name_activated(const QString& name);  // of a table or column
  void changed();                            // another one is current

 private:
  void add_queries(const QString& heading, const std::vector<NamedQuery>& queries, bool is_saved);

  QTreeWidget* queries_;
  QTreeWidget* tables_;
};

}  // namespace swinscope::gui
