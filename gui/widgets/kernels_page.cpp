#include "gui/widgets/kernels_page.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSplitter>
#include <QVBoxLayout>
#include <algorithm>

#include "analyzer/tables.h"
#include "analyzer/text.h"
#include "gui/widgets/chart_widget.h"
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
    : QWidget(parent),
      table_(new TablePanel(QStringLiteral("Kernels"), this)),
      histogram_(new ChartWidget(this)),
      summary_(new QPlainTextEdit(this)),
      message_(new QLabel(this)) {
  setObjectName(QStringLiteral("kernels"));
  table_->setObjectName(QStringLiteral("kernel_table"));
  summary_->setObjectName(QStringLiteral("kernel_summary"));
  summary_->setAccessibleName(QStringLiteral("The selected kernel"));
  summary_->setReadOnly(true);
  summary_->setTabChangesFocus(true);
  summary_->setWordWrapMode(QTextOption::WrapAtWordBoundaryOrAnywhere);  // names of kernels have no spaces
  message_->setAlignment(Qt::AlignCenter);
  message_->setWordWrap(true);
  build_layout();
  connect(table_, &TablePanel::row_changed, this, &KernelsPage::show_kernel);
  connect(table_, &TablePanel::row_activated, this, [this] { step(true); });
}

void KernelsPage::build_layout() {
  auto* side = new QWidget(this);
  auto* column = new QVBoxLayout(side);
  column->addWidget(summary_, 1);
  auto* buttons = new QHBoxLayout;
  for (const bool forward : {false, true}) {
    auto* button =
        new QPushButton(forward ? QStringLiteral("&Next call in timeline") : QStringLiteral("&Previous call"), side);
    connect(button, &QPushButton::clicked, this, [this, forward] { step(forward); });
    buttons->addWidget(button);
  }
  column->addLayout(buttons);
  auto* below = new QSplitter(Qt::Horizontal, this);
  below->addWidget(histogram_);
  below->addWidget(side);
  below->setStretchFactor(0, 3);
  below->setStretchFactor(1, 2);
  auto* above = new QWidget(this);
  auto* stack = new QVBoxLayout(above);
  stack->setContentsMargins(0, 0, 0, 0);
  stack->addWidget(message_);
  stack->addWidget(table_, 1);
  auto* split = new QSplitter(Qt::Vertical, this);
  split->addWidget(above);
  split->addWidget(below);
  split->setStretchFactor(0, 3);
  split->setStretchFactor(1, 2);
  auto* all = new QVBoxLayout(this);
  all->setContentsMargins(4, 0, 4, 4);
  all->addWidget(split);
}

void KernelsPage::set_run(RunPointer run) {
  run_ = std::move(run);
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
    KernelTableOptions options;
    options.accept = accept_of(filter, *run->trace, run->steps);
    Table table =
        kernel_rows_table(*run->trace, kernel_table(*run->trace, options, run->steps), run->steps, NameStyle::kShort);
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
  current_call_ = -1;
  calls_.clear();
  const Table& table = table_->model_of_rows().table();
  if (row < 0 || row >= static_cast<int>(table.rows.size())) {
    collecting_.forget();
    show_calls();
    return;
  }
  selected_name_ = QString::fromStdString(text_of(table, row, "full_name"));
  collecting_.start(
      [run = run_, filter = filter_, name = selected_name_.toStdString()] {
        return kernel_calls(*run->trace, name, accept_of(filter, *run->trace, run->steps));
      },
      [this](std::vector<KernelCall> calls) {
        calls_ = std::move(calls);
        show_calls();
      });
}

void KernelsPage::show_calls() {
  Q_EMIT actions_changed();
  if (calls_.empty()) {
    histogram_->set_chart({});
    summary_->setPlainText(QString::fromUtf8(kNoKernel));
    return;
  }
  if (current_call_ < 0) histogram_->set_chart(duration_histogram(calls_, "Duration of the calls"));
  const auto [low, high] = std::minmax_element(
      calls_.begin(), calls_.end(), [](const auto& a, const auto& b) { return a.duration_ns < b.duration_ns; });
  QString text =
      QStringLiteral("%1\n\n%2 calls from %3 to %4")
          .arg(selected_name_.left(600), QString::fromStdString(format_count(static_cast<std::int64_t>(calls_.size()))),
               QString::fromStdString(format_duration(low->duration_ns)),
               QString::fromStdString(format_duration(high->duration_ns)));
  if (current_call_ >= 0) {
    text +=
        QStringLiteral("\nin the timeline: call %1, %2")
            .arg(current_call_ + 1)
            .arg(QString::fromStdString(format_duration(calls_[static_cast<std::size_t>(current_call_)].duration_ns)));
  }
  summary_->setPlainText(text);
}

QString KernelsPage::summary() const { return summary_->toPlainText(); }

void KernelsPage::step(bool forward) {
  if (calls_.empty()) return;
  const int count = static_cast<int>(calls_.size());
  current_call_ = current_call_ < 0 ? (forward ? 0 : count - 1) : (current_call_ + (forward ? 1 : count - 1)) % count;
  show_calls();
  const KernelCall& call = calls_[static_cast<std::size_t>(current_call_)];
  Q_EMIT call_requested(call.process, call.event);
}

bool KernelsPage::perform(ActionId action) {
  if (action != ActionId::kNextOccurrence && action != ActionId::kPreviousOccurrence) return false;
  step(action == ActionId::kNextOccurrence);
  return true;
}

bool KernelsPage::can_perform(ActionId) const { return !calls_.empty(); }

}  // namespace swinscope::gui
