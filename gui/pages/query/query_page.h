// A console for SQL on the open run: what `swinscope query` runs, with Cancel, what was asked before, and rows that
// open at their time in the timeline.
#pragma once

#include "gui/core/queries.h"
#include "gui/pages/page.h"

class QLabel;
class QLineEdit;
class QPlainTextEdit;
class QSplitter;
class QToolButton;

namespace swinscope::gui {

class QueryList;
class TablePanel;

class QueryPage : public Page {
  Q_OBJECT

 public:
  explicit QueryPage(QWidget* parent = nullptr);

  void set_session(const Session& session) override;
  void set_filter(const Filter& filter) override;
  bool has(ActionId action) const override;
  bool can_perform(ActionId action) const override;
  void perform(ActionId action) override;
  // Its name is the SQL to run.
  void present(const Evidence& evidence) override;
  bool is_settled() const override { return queries_.is_idle(); }
  QString command() const override;
  QByteArray arrangement() const override;
  void arrange(const QByteArray& arrangement) override;

  QPlainTextEdit& editor() { return *editor_; }
  QueryList& list() { return *list_; }
  TablePanel& rows() { return *rows_; }
  // How the query went.
  QString status() const;

 protected:
  void showEvent(QShowEvent* event) override;

 private:
  void build_layout();
  QToolButton* new_button(ActionId action);
  void list_tables();
  void run();
  void save();
  void show_answer();
  void show_result(const QueryResult& result);
  void open_row(int row);
  void update_buttons();

  RunPointer run_;
  Queries queries_;

  QSplitter* parts_;
  QueryList* list_;
  QPlainTextEdit* editor_;
  QLineEdit* name_;
  QLabel* status_;
  TablePanel* rows_;
  std::vector<std::pair<ActionId, QToolButton*>> buttons_;
};

}  // namespace swinscope::gui
