#include "gui/pages/query/query_page.h"

#include <QFontDatabase>
#include <QLabel>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QSplitter>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>

#include "analyzer/base/text.h"
#include "gui/core/query_place.h"
#include "gui/core/run_command.h"
#include "gui/pages/query/query_list.h"
#include "gui/pages/table_export.h"
#include "gui/widgets/flow_layout.h"
#include "gui/widgets/table_panel.h"
#include "store/shell.h"

namespace swinscope::gui {
namespace {

constexpr int kListWidth = 260;
constexpr int kEditorLines = 6;
constexpr int kNameWidth = 190;

QString counted_rows(std::size_t count) {
  return QString::fromStdString(format_counted(static_cast<std::int64_t>(count), "rows"));
}

// Texts stand at the left.
Table shown_rows(const QueryResult& result) {
  Table table = result.table;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const bool has_text = std::ranges::any_of(
        table.rows, [i](const std::vector<Cell>& row) { return std::holds_alternative<std::string>(row[i]); });
    if (has_text) table.columns[i].unit = Unit::kText;
  }
  return table;
}

}  // namespace

QueryPage::QueryPage(QWidget* parent)
    : Page(parent),
      parts_(new QSplitter(Qt::Horizontal, this)),
      list_(new QueryList(parts_)),
      editor_(new QPlainTextEdit(this)),
      name_(new QLineEdit(this)),
      status_(new QLabel(this)),
      rows_(new TablePanel(QStringLiteral("Result of the query"), this)) {
  build_layout();
  setFocusProxy(editor_);
  editor_->setPlainText(example_queries().front().sql);
  connect(editor_, &QPlainTextEdit::textChanged, this, &QueryPage::update_buttons);
  connect(name_, &QLineEdit::returnPressed, this, [this] { perform(ActionId::kSaveQuery); });
  connect(list_, &QueryList::query_chosen, editor_, &QPlainTextEdit::setPlainText);
  connect(list_, &QueryList::query_activated, this, &QueryPage::run);
  connect(list_, &QueryList::changed, this, [this] {
    if (const QString saved = list_->current_saved(); !saved.isEmpty()) name_->setText(saved);
    update_buttons();
  });
  connect(list_, &QueryList::name_activated, this, [this](const QString& name) {
    editor_->insertPlainText(name);
    editor_->setFocus();
  });
  connect(rows_, &TablePanel::row_activated, this, &QueryPage::open_row);
  connect(&queries_, &Queries::listed, this, [this] { list_->show_tables(queries_.tables()); });
  connect(&queries_, &Queries::answered, this, &QueryPage::show_answer);
  QueryPage::set_session({});
}

void QueryPage::build_layout() {
  editor_->setObjectName(QStringLiteral("sql"));
  editor_->setAccessibleName(QStringLiteral("SQL"));
  editor_->setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
  editor_->setTabChangesFocus(true);
  editor_->setLineWrapMode(QPlainTextEdit::NoWrap);
  editor_->setMinimumHeight(3 * editor_->fontMetrics().lineSpacing());
  status_->setObjectName(QStringLiteral("query_status"));
  status_->setTextFormat(Qt::PlainText);
  status_->setWordWrap(true);
  status_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  auto* below = new QWidget(this);
  auto* controls = new QWidget(below);  // in two lines where the window is narrow
  auto* buttons = new FlowLayout(controls);
  name_->setObjectName(QStringLiteral("query_name"));
  name_->setAccessibleName(QStringLiteral("Name to save the query under"));
  name_->setPlaceholderText(QStringLiteral("name to save it under"));
  name_->setFixedWidth(kNameWidth);
  for (const ActionId action : {ActionId::kRunQuery, ActionId::kCancelQuery})
    buttons->addWidget(new_button(action));
  buttons->addWidget(name_);
  for (const ActionId action : {ActionId::kSaveQuery, ActionId::kRemoveQuery})
    buttons->addWidget(new_button(action));
  auto* column = new QVBoxLayout(below);
  column->setContentsMargins(0, 0, 0, 0);
  column->addWidget(controls);
  column->addWidget(status_);
  column->addWidget(rows_, 1);
  auto* right = new QSplitter(Qt::Vertical, this);
  right->setChildrenCollapsible(false);
  right->addWidget(editor_);
  right->addWidget(below);
  right->setStretchFactor(1, 1);
  right->setSizes({kEditorLines * editor_->fontMetrics().lineSpacing(), 4 * kListWidth});
  parts_->addWidget(right);
  parts_->setStretchFactor(1, 1);
  parts_->setSizes({kListWidth, 4 * kListWidth});
  auto* all = new QVBoxLayout(this);
  all->setContentsMargins(4, 4, 4, 4);
  all->addWidget(parts_);
}

// Says what the action does; its key works without it.
QToolButton* QueryPage::new_button(ActionId action) {
  const ActionInfo& info = action_info(action);
  auto* button = new QToolButton(this);
  const QList<QKeySequence> keys = shortcuts_of(info.shortcuts);
  const QString text = plain_text(QString::fromUtf8(info.text));
  button->setText(keys.isEmpty() ? text : QStringLiteral("%1 (%2)").arg(text, keys.front().toString()));
  button->setAccessibleName(text);
  button->setToolTip(QString::fromUtf8(info.help));
  button->setFocusPolicy(Qt::StrongFocus);
  connect(button, &QToolButton::clicked, this, [this, action] { perform(action); });
  buttons_.emplace_back(action, button);
  return button;
}

void QueryPage::set_session(const Session& session) {
  const QString path = session.run == nullptr ? QString() : session.run->path;
  const bool is_more = is_more_of(run_, session.run);
  run_ = session.run;
  if (is_more) return;
  queries_.open(path);
  list_->show_tables({});
  rows_->set_table({});
  if (run_ != nullptr) {
    status_->setText(
        QStringLiteral("One statement that reads: SELECT or WITH. Times are ns; the file is not changed."));
  } else {
    status_->setText(
        session.experiment != nullptr || session.comparison != nullptr
            ? QStringLiteral("Queries are asked of one run. Open a run of the experiment: choose it in the "
                             "list above, or click a point of a chart on the overview.")
            : QStringLiteral("No run is open."));
  }
  list_tables();
  update_buttons();
}

// SQL says itself what it is of.
void QueryPage::set_filter(const Filter&) {}

void QueryPage::showEvent(QShowEvent* event) {
  Page::showEvent(event);
  list_tables();
}

// A run of another program has to be converted for it, so only once the page is asked for.
void QueryPage::list_tables() {
  if (isVisible()) queries_.list_tables();
}

bool QueryPage::has(ActionId action) const {
  using enum ActionId;
  return action == kRunQuery || action == kCancelQuery || action == kSaveQuery || action == kRemoveQuery ||
         action == kExportTable;
}

bool QueryPage::can_perform(ActionId action) const {
  const bool has_sql = !editor_->toPlainText().trimmed().isEmpty();
  switch (action) {
    case ActionId::kRunQuery:
      return run_ != nullptr && has_sql;
    case ActionId::kCancelQuery:
      return queries_.is_asking();
    case ActionId::kSaveQuery:
      return has_sql;
    case ActionId::kRemoveQuery:
      return !list_->current_saved().isEmpty();
    default:
      return run_ != nullptr && queries_.result() && !queries_.result()->table.rows.empty();
  }
}

void QueryPage::perform(ActionId action) {
  if (!can_perform(action)) return;
  switch (action) {
    case ActionId::kRunQuery:
      return run();
    case ActionId::kCancelQuery:
      return queries_.cancel();
    case ActionId::kSaveQuery:
      return save();
    case ActionId::kRemoveQuery:
      SavedQueries::remove(list_->current_saved());
      list_->show_queries();
      return update_buttons();
    default:
      // Quoted as a shell wants it, a query of several lines can be read by nobody.
      return ask_and_export(*this, *run_, "query", rows_->shown_table(), {});
  }
}

QString QueryPage::command() const {
  if (!can_perform(ActionId::kRunQuery)) return {};
  const std::string sql = shell_word(editor_->toPlainText().trimmed().toStdString());
  return run_command({QStringLiteral("query")}, {run_->path}) + QLatin1Char(' ') + QString::fromStdString(sql);
}

void QueryPage::run() {
  if (!can_perform(ActionId::kRunQuery)) return;
  status_->setText(QStringLiteral("Running…"));
  queries_.ask(editor_->toPlainText());
  update_buttons();
}

void QueryPage::present(const Evidence& evidence) {
  if (evidence.name.isEmpty()) return;
  editor_->setPlainText(evidence.name);
  run();
}

void QueryPage::save() {
  const QString name = name_->text().trimmed();
  if (name.isEmpty()) {
    name_->setFocus();
    Q_EMIT said(QStringLiteral("type a name for the query, then Enter"));
    return;
  }
  SavedQueries::save({name, editor_->toPlainText()});
  Q_EMIT said(QStringLiteral("saved as “%1”").arg(name));
  list_->show_queries();
  update_buttons();
}

void QueryPage::show_answer() {
  if (queries_.problem()) {
    const Problem& problem = *queries_.problem();
    QString text = problem.what;
    if (!problem.cause.isEmpty()) text += QStringLiteral(": ") + problem.cause;
    if (!problem.hint.isEmpty()) text += QStringLiteral("\nhint: ") + problem.hint;
    status_->setText(text);
  } else {
    SavedQueries::add_recent(editor_->toPlainText());
    list_->show_queries();
    show_result(*queries_.result());
  }
  update_buttons();
  Q_EMIT changed();
}

void QueryPage::show_result(const QueryResult& result) {
  rows_->set_table(shown_rows(result), {}, true);
  QString text = result.is_cut
                     ? QStringLiteral("The first %1; there are more.").arg(counted_rows(result.table.rows.size()))
                     : counted_rows(result.table.rows.size()) + QLatin1Char('.');
  text += has_time(result.table) ? QStringLiteral(" Enter or a double click shows a row's time in the timeline.")
                                 : QStringLiteral(" With a column called start, rows could be shown in the timeline.");
  if (const std::string note = result.note(); !note.empty()) text += QLatin1Char(' ') + QString::fromStdString(note);
  text += QStringLiteral("\nthe same: %1 '…' (%2 copies it whole)")
              .arg(run_command({QStringLiteral("query")}, {queries_.path()}),
                   shortcuts_of(action_info(ActionId::kCopyCommand).shortcuts).front().toString());
  status_->setText(text);
}

void QueryPage::open_row(int row) {
  if (row < 0 || !queries_.result() || run_ == nullptr) return;
  const QueryResult& result = *queries_.result();
  const auto at = static_cast<std::size_t>(row);
  const auto time = time_of(result.table, at);
  if (!time) {
    Q_EMIT said(QStringLiteral("this row has no time: a column called start would be one"));
  } else if (run_->trace == nullptr) {
    Q_EMIT said(QStringLiteral("the run is still being read"));
  } else if (const auto call = call_at(*run_->trace, result.rank_of_row[at], *time)) {
    Q_EMIT call_requested(*call);
  } else {
    Q_EMIT said(QStringLiteral("at this time nothing was recorded"));
  }
}

void QueryPage::update_buttons() {
  for (const auto& [action, button] : buttons_)
    button->setEnabled(can_perform(action));
  Q_EMIT changed();
}

QString QueryPage::status() const { return status_->text(); }

QByteArray QueryPage::arrangement() const { return parts_->saveState(); }

void QueryPage::arrange(const QByteArray& arrangement) { parts_->restoreState(arrangement); }

}  // namespace swinscope::gui
