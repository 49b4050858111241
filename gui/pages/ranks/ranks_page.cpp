#include "gui/pages/ranks/ranks_page.h"

#include <QComboBox>
#include <QLabel>
#include <QSplitter>
#include <QVBoxLayout>
#include <algorithm>

#include "analyzer/analyses/late_ranks_table.h"
#include "gui/core/analysis_rows.h"
#include "gui/core/cell_evidence.h"
#include "gui/core/run_command.h"
#include "gui/pages/ranks/rank_heat_map.h"
#include "gui/pages/table_export.h"
#include "gui/widgets/table_panel.h"
#include "gui/widgets/table_title.h"

namespace swinscope::gui {
namespace {

Table rows_with(std::string_view key, const RunFacts& run, const Filter& filter) {
  return rows_of(*std::ranges::find(analyses(), key, &Analysis::key), run, filter);
}

}  // namespace

RanksPage::RanksPage(QWidget* parent)
    : ComputedPage(QStringLiteral("ranks_message"), parent),
      verdict_(wrapped_label(QStringLiteral("ranks_verdict"), this)),
      content_(new QWidget(this)),
      value_(new QComboBox(content_)),
      cell_(new QLabel(content_)),
      map_(new RankHeatMap(content_)),
      tables_(new QSplitter(Qt::Vertical, content_)),
      late_title_(new TableTitle(content_)),
      late_(new TablePanel(QStringLiteral("Late ranks"), content_)),
      collectives_title_(new TableTitle(content_)),
      collectives_(new TablePanel(QStringLiteral("Collectives"), content_)) {
  build_layout();
  setFocusProxy(map_);
  connect(value_, &QComboBox::currentIndexChanged, this,
          [this](int index) { map_->set_value(index == 0 ? GridValue::kDelay : GridValue::kOverMedian); });
  connect(map_, &RankHeatMap::current_changed, this, [this] { cell_->setText(map_->current_text()); });
  connect(map_, &RankHeatMap::activated, this, &RanksPage::open_step);
  connect(late_, &TablePanel::row_activated, this, &RanksPage::open_worst_step_of);
  connect(collectives_, &TablePanel::row_activated, this, [this](int row) {
    if (row >= 0) Q_EMIT evidence_requested(evidence_of_cell(compared_.collectives, static_cast<std::size_t>(row), {}));
  });
  show_message(QStringLiteral("No run is open."));
}

void RanksPage::build_layout() {
  auto* all = new QVBoxLayout(this);
  all->setContentsMargins(8, 4, 8, 4);
  QFont bold = verdict_->font();
  bold.setBold(true);
  verdict_->setFont(bold);
  all->addWidget(verdict_);
  all->addWidget(&message_label(), 1);
  all->addWidget(content_, 1);

  value_->setAccessibleName(QStringLiteral("What the heat map shows"));
  value_->addItems({QStringLiteral("Others wait"), QStringLiteral("Step over median")});
  cell_->setObjectName(QStringLiteral("heat_map_cell"));
  cell_->setTextFormat(Qt::PlainText);
  auto* above = new QHBoxLayout;
  above->addWidget(value_);
  above->addWidget(cell_, 1);
  auto* column = new QVBoxLayout(content_);
  column->setContentsMargins(0, 0, 0, 0);
  column->addLayout(above);
  column->addWidget(map_);
  tables_->addWidget(titled(*late_title_, *late_));
  tables_->addWidget(titled(*collectives_title_, *collectives_));
  tables_->setChildrenCollapsible(false);
  column->addWidget(tables_, 1);
  column->addStretch(0);
}

QWidget* RanksPage::titled(TableTitle& title, TablePanel& rows) {
  auto* part = new QWidget(tables_);
  auto* column = new QVBoxLayout(part);
  column->setContentsMargins(0, 0, 0, 0);
  column->addWidget(&title);
  column->addWidget(&rows, 1);
  return part;
}

void RanksPage::compute() {
  show_message(QStringLiteral("Comparing the ranks…"));
  comparing_.start([run = run(), filter = filter()] { return compare(*run, filter); },
                   [this](Compared compared) { show_compared(std::move(compared)); });
}

RanksPage::Compared RanksPage::compare(const OpenedRun& run, const Filter& filter) {
  Compared compared;
  try {
    compared.run = run.shared->of(run.trace, filter.selection());
    compared.grid = rank_grid(*compared.run);
    compared.late = rows_with("late_ranks", *compared.run, filter);
    compared.collectives = rows_with("collectives", *compared.run, filter);
    compared.verdict = QString::fromStdString(late_rank_verdict(*compared.run));
  } catch (const Error&) {  // nothing meets the selection
    compared = {};
  }
  return compared;
}

void RanksPage::show_content(bool is_shown) {
  content_->setVisible(is_shown);
  verdict_->setVisible(is_shown);
}

void RanksPage::show_compared(Compared compared) {
  compared_ = std::move(compared);
  if (compared_.run == nullptr) return show_message(QStringLiteral("Nothing passes the filter."));
  verdict_->setText(compared_.verdict);
  const bool has_ranks = compared_.grid.rows.size() > 1;
  map_->set_grid(has_ranks ? compared_.grid : RankGrid());
  map_->setVisible(has_ranks);
  value_->setVisible(has_ranks);
  if (!has_ranks)
    cell_->setText(QStringLiteral("Its steps stand on the page Tables: Steps, Distribution of the step times."));
  cell_->setVisible(!compared_.grid.rows.empty());
  tables_->setVisible(!compared_.late.rows.empty() || !compared_.collectives.rows.empty());
  late_title_->set_table(compared_.late, *late_);
  late_->set_table(compared_.late);
  late_->parentWidget()->setVisible(!compared_.late.rows.empty());
  collectives_title_->set_table(compared_.collectives, *collectives_);
  collectives_->set_table(compared_.collectives);
  collectives_->parentWidget()->setVisible(!compared_.collectives.rows.empty());
  show_message({});
}

bool RanksPage::can_perform(ActionId /*action*/) const {
  const bool has_rows = !compared_.late.rows.empty() || !compared_.collectives.rows.empty();
  return compared_.run != nullptr && message().isEmpty() && has_rows;
}

QString RanksPage::command() const {
  return run() == nullptr ? QString() : run_command({QStringLiteral("ranks")}, {run()->path}, filter());
}

void RanksPage::perform(ActionId action) {
  if (!can_perform(action)) return;
  const bool is_of_collectives = collectives_->hasFocus() || compared_.late.rows.empty();
  const std::string key = is_of_collectives ? "collectives" : "late_ranks";
  ask_and_export(*this, *run(), key, (is_of_collectives ? collectives_ : late_)->shown_table(),
                 table_command(key, 0, run()->path, filter()));
}

void RanksPage::open_step(std::size_t row, std::size_t step) {
  if (compared_.run == nullptr) return;
  if (const auto call = call_of_step(*compared_.run, compared_.grid, row, step)) {
    Q_EMIT call_requested(*call);
  } else {
    Q_EMIT said(QStringLiteral("this step has no GPU activity to show"));
  }
}

// A row of the table of late ranks: the step in which the others waited longest for it.
void RanksPage::open_worst_step_of(int late_row) {
  if (compared_.run == nullptr || late_row < 0) return;
  const std::vector<Cell>& cells = compared_.late.rows[static_cast<std::size_t>(late_row)];
  for (std::size_t row = 0; row < compared_.grid.rows.size(); ++row) {
    const RankGridRow& at = compared_.grid.rows[row];
    if (!at.late || at.delay_ns.empty()) continue;
    const LateRank& late = compared_.run->late_ranks().ranks[*at.late];
    if (Cell(std::int64_t{late.rank}) != cells[0] || Cell(std::int64_t{late.device}) != cells[1]) continue;
    const auto most = std::ranges::max_element(at.delay_ns) - at.delay_ns.begin();
    map_->set_current(row, static_cast<std::size_t>(most));
    return open_step(row, static_cast<std::size_t>(most));
  }
}

QString RanksPage::verdict() const { return verdict_->isHidden() ? QString() : verdict_->text(); }
QString RanksPage::cell_text() const { return cell_->text(); }

}  // namespace swinscope::gui
