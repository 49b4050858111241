#include "gui/pages/kernels/kernels_page.h"

#include <QLabel>
#include <QSplitter>
#include <QVBoxLayout>
#include <algorithm>

#include "analyzer/analyses/kernel_table.h"
#include "gui/widgets/calls_panel.h"
#include "gui/widgets/table_panel.h"

namespace swinscope::gui {
namespace {

constexpr const char* kNoKernel = "Select a kernel to see how long its calls take.";

std::string text_of(const Table& table, int row, std::string_view key) {
  const Cell& cell = table.rows[static_cast<std::size_t>(row)][find_column(table, key)];
  const auto* text = std::get_if<std::string>(&cell);
  return text == nullptr ? std::string() : *text;
}

// Rows whose short or full name has the filter's text in it.
void keep_named(Table& table, const QString& name) {
  if (name.isEmpty()) return;
  const auto has_name = [&](const std::vector<Cell>& row) {
    return std::any_of(row.begin(), row.begin() + 2, [&](const Cell& cell) {
      const auto* text = std::get_if<std::string>(&cell);
      return text != nullptr && QString::fromStdString(*text).contains(name, Qt::CaseInsensitive);
    });
  };
  table.rows.erase(
      std::remove_if(table.rows.begin(), table.rows.end(), [&](const auto& row) { return !has_name(row); }),
      table.rows.end());
}

}  // namespace

KernelsPage::KernelsPage(QWidget* parent)
    : Page(parent),
      table_(new TablePanel(QStringLiteral("Kernels"), this)),
      calls_(new CallsPanel(QStringLiteral("The selected kernel"), this)),
      message_(new QLabel(this)) {
  setFocusProxy(table_);
  table_->setObjectName(QStringLiteral("kernel_table"));
  message_->setAlignment(Qt::AlignCenter);
  message_->setWordWrap(true);
  build_layout();
  connect(table_, &TablePanel::row_changed, this, &KernelsPage::show_kernel);
  connect(table_, &TablePanel::row_activated, this, [this] { calls_->step(true); });
  connect(calls_, &CallsPanel::call_requested, this, &KernelsPage::call_requested);
  connect(calls_, &CallsPanel::changed, this, &KernelsPage::changed);
}

void KernelsPage::build_layout() {
  auto* above = new QWidget(this);
  auto* stack = new QVBoxLayout(above);
  stack->setContentsMargins(0, 0, 0, 0);
  stack->addWidget(message_);
  stack->addWidget(table_, 1);
  auto* split = new QSplitter(Qt::Vertical, this);
  split->addWidget(above);
  split->addWidget(calls_);
  split->setStretchFactor(0, 3);
  split->setStretchFactor(1, 2);
  auto* all = new QVBoxLayout(this);
  all->setContentsMargins(4, 0, 4, 4);
  all->addWidget(split);
}

void KernelsPage::set_session(const Session& session) {
  run_ = session.run;
  selected_name_.clear();
  count();
}

void KernelsPage::set_filter(const Filter& filter) {
  if (filter == filter_) return;
  filter_ = filter;
  count();
}

void KernelsPage::count() {
  if (run_ == nullptr || run_->trace == nullptr) {
    counting_.forget();
    table_->set_table({});
    message_->setText(run_ == nullptr ? QStringLiteral("No run is open.") : QStringLiteral("Analyzing…"));
    message_->show();
    show_kernel(-1);
    return;
  }
  const auto work = [run = run_, filter = filter_] {
    const auto scope = scope_of(*run->trace, filter.selection());
    if (!scope) return Table();
    Table table = kernel_rows_table(
        *run->trace, *scope, kernel_table(*run->trace, *scope, time_breakdown(*run->trace, *scope)), NameStyle::kShort);
    table.title += ", " + scope->title();
    keep_named(table, filter.name);
    return table;
  };
  counting_.start(work, [this](Table table) {
    message_->setVisible(table.rows.empty());
    message_->setText(filter_ == Filter() ? QStringLiteral("The trace holds no GPU events.")
                                          : QStringLiteral("No kernel passes the filter."));
    int selected = -1;
    for (std::size_t i = 0; i < table.rows.size() && selected < 0; ++i) {
      if (text_of(table, static_cast<int>(i), "full_name") == selected_name_.toStdString())
        selected = static_cast<int>(i);
    }
    table_->set_table(std::move(table), "total_ns");
    table_->select_row(selected < 0 ? 0 : selected);
    if (table_->model_of_rows().rowCount() == 0) show_kernel(-1);
  });
}

void KernelsPage::show_kernel(int row) {
  const Table& table = table_->model_of_rows().table();
  if (row < 0 || row >= static_cast<int>(table.rows.size())) {
    collecting_.forget();
    calls_->clear(QString::fromUtf8(kNoKernel));
    return;
  }
  selected_name_ = QString::fromStdString(text_of(table, row, "full_name"));
  collecting_.start(
      [run = run_, filter = filter_, name = selected_name_.toStdString()] {
        const auto scope = scope_of(*run->trace, filter.selection());
        return scope ? kernel_calls(*run->trace, *scope, name) : std::vector<Call>();
      },
      [this](std::vector<Call> calls) { calls_->set_calls(selected_name_, std::move(calls), *run_->trace); });
}

bool KernelsPage::has(ActionId action) const {
  return action == ActionId::kNextOccurrence || action == ActionId::kPreviousOccurrence;
}

void KernelsPage::perform(ActionId action) { calls_->step(action == ActionId::kNextOccurrence); }

bool KernelsPage::can_perform(ActionId) const { return !calls_->calls().empty(); }

}  // namespace swinscope::gui
