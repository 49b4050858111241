#include "gui/pages/compare/compare_page.h"

#include <QComboBox>
#include <QFileDialog>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QScrollArea>
#include <QVBoxLayout>
#include <algorithm>

#include "analyzer/base/text.h"
#include "analyzer/experiment/work_difference.h"
#include "analyzer/table/waterfall.h"
#include "gui/core/analysis_rows.h"
#include "gui/core/run_command.h"
#include "gui/pages/compare/run_strip.h"
#include "gui/widgets/banner.h"
#include "gui/widgets/chart_widget.h"
#include "gui/widgets/step_lanes.h"
#include "gui/widgets/step_timelines.h"
#include "gui/widgets/table_panel.h"
#include "gui/widgets/table_title.h"

namespace swinscope::gui {
namespace {

constexpr int kTableHeight = 320;
constexpr const char* kKernelRows = "kernel_differences";
constexpr const char* kLayerRows = "layer_differences";

QString qt(const std::string& text) { return QString::fromStdString(text); }

QLabel* wrapped(QWidget* parent) {
  auto* label = new QLabel(parent);
  label->setTextFormat(Qt::PlainText);
  label->setWordWrap(true);
  label->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  return label;
}

const Table* table_of(const Document& document, std::string_view key) {
  const auto found = std::ranges::find(document.tables, key, &Table::key);
  return found == document.tables.end() ? nullptr : &*found;
}

}  // namespace

ComparePage::ComparePage(QWidget* parent)
    : Page(parent),
      add_(new QPushButton(QStringLiteral("Compare with…"), this)),
      against_(new QComboBox(this)),
      rows_(new QComboBox(this)),
      normalization_(new QComboBox(this)),
      cancel_(new QPushButton(QStringLiteral("Cancel"), this)),
      strip_(new RunStrip(this)),
      not_known_(wrapped(this)),
      message_(wrapped(this)),
      scroll_(new QScrollArea(this)),
      differences_(new Banner(this)),
      why_(wrapped(this)),
      waterfall_(new ChartWidget(this)),
      waterfall_note_(wrapped(this)),
      title_(new TableTitle(this)),
      table_(new TablePanel(QStringLiteral("What changed"), this)),
      timelines_(
          new StepTimelines(QStringLiteral("A step of the base"), QStringLiteral("A step of the other run"), this)) {
  build_controls();
  build_layout();
  connect_parts();
  setFocusProxy(table_);
  show_all();
}

void ComparePage::build_controls() {
  add_->setToolTip(QStringLiteral("Adds runs or traces of any source to the comparison"));
  add_->setAccessibleDescription(add_->toolTip());
  against_->setAccessibleName(QStringLiteral("Run that is shown beside the base"));
  rows_->setAccessibleName(QStringLiteral("Rows of the table"));
  normalization_->setAccessibleName(QStringLiteral("What the runs are compared by"));
  for (QComboBox* box : {against_, normalization_}) {
    box->setSizeAdjustPolicy(QComboBox::AdjustToContents);
    box->setMinimumContentsLength(8);
  }
  cancel_->setAccessibleName(QStringLiteral("Cancel reading the runs"));
  not_known_->setForegroundRole(QPalette::PlaceholderText);
  waterfall_note_->setForegroundRole(QPalette::PlaceholderText);
  not_known_->setObjectName(QStringLiteral("not_known"));
  why_->setObjectName(QStringLiteral("why"));
  waterfall_->setAccessibleName(QStringLiteral("Why the runs differ"));
  message_->setAlignment(Qt::AlignCenter);
  message_->setObjectName(QStringLiteral("compare_message"));
  differences_->setObjectName(QStringLiteral("differences"));
  differences_->setAccessibleName(QStringLiteral("Differences of configuration"));
}

void ComparePage::build_layout() {
  auto* all = new QVBoxLayout(this);
  all->setContentsMargins(4, 0, 0, 0);
  all->setSpacing(2);
  auto* controls = new QHBoxLayout;
  const auto labelled = [&](const QString& text, QWidget* field) {
    auto* label = new QLabel(text, this);
    label->setBuddy(field);
    controls->addSpacing(8);
    controls->addWidget(label);
    controls->addWidget(field);
  };
  controls->addWidget(add_);
  labelled(QStringLiteral("Beside the base"), against_);
  labelled(QStringLiteral("Compared by"), normalization_);
  labelled(QStringLiteral("Rows"), rows_);
  controls->addStretch(1);
  controls->addWidget(cancel_);
  all->addLayout(controls);
  all->addWidget(strip_);
  all->addWidget(not_known_);
  all->addWidget(message_, 1);
  all->addWidget(scroll_, 1);
  all->addWidget(timelines_);
  scroll_->setAccessibleName(QStringLiteral("Comparison"));
  scroll_->setWidgetResizable(true);
  scroll_->setFrameShape(QFrame::NoFrame);
  scroll_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  auto* content = new QWidget;
  auto* column = new QVBoxLayout(content);
  column->setContentsMargins(4, 2, 8, 8);
  for (QWidget* part : std::initializer_list<QWidget*>{differences_, why_, waterfall_, waterfall_note_, title_, table_})
    column->addWidget(part);
  column->addStretch(1);
  table_->setFixedHeight(kTableHeight);
  scroll_->setWidget(content);
}

void ComparePage::connect_parts() {
  connect(add_, &QPushButton::clicked, this, &ComparePage::choose_files);
  connect(cancel_, &QPushButton::clicked, &runs_, &ComparedRuns::cancel);
  connect(&runs_, &ComparedRuns::changed, this, &ComparePage::show_all);
  connect(strip_, &RunStrip::base_chosen, &runs_, &ComparedRuns::make_base);
  connect(strip_, &RunStrip::removed, &runs_, &ComparedRuns::remove);
  connect(strip_, &RunStrip::priced, &runs_, &ComparedRuns::set_price);
  connect(against_, &QComboBox::activated, this, &ComparePage::show_against);
  connect(rows_, &QComboBox::activated, this, &ComparePage::show_rows);
  connect(normalization_, &QComboBox::activated, this,
          [this] { runs_.set_normalization(static_cast<Normalization>(normalization_->currentData().toInt())); });
  connect(waterfall_, &ChartWidget::category_activated, this, &ComparePage::open_bar);
  connect(table_, &TablePanel::row_activated, this, &ComparePage::open_row);
}

void ComparePage::set_session(const Session& session) {
  const bool is_more = is_more_of(open_, session.run);
  open_ = session.run;
  is_unfinished_ = false;
  if (open_ != nullptr && !is_more) runs_.open(open_->path);
  is_stale_ = true;
  refresh();
}

void ComparePage::set_filter(const Filter& filter) {
  const bool is_same = filter_.selection() == filter.selection();
  filter_ = filter;
  if (is_same) return show_rows();
  runs_.forget();
  is_stale_ = true;
  refresh();
}

void ComparePage::set_unfinished() {
  is_unfinished_ = open_ != nullptr && open_->trace == nullptr;
  show_all();
}

void ComparePage::compare_runs(const QStringList& paths) {
  const QStringList first = paths.mid(0, ComparedRuns::kMost);  // nobody has asked to compare all of them
  if (const auto found = runs_.replace(first)) Q_EMIT problem(*found);
  is_stale_ = true;
  refresh();
}

void ComparePage::compare_with(const QStringList& paths) {
  if (const auto found = runs_.add(paths)) Q_EMIT problem(*found);
  is_stale_ = true;
  refresh();
}

void ComparePage::showEvent(QShowEvent* event) {
  Page::showEvent(event);
  refresh();
}

// Nothing is read for who does not look; the base is read by the window.
void ComparePage::refresh() {
  const bool waits = open_ != nullptr && open_->trace == nullptr && !is_unfinished_;
  if (!is_stale_ || !isVisible() || waits) return show_all();
  is_stale_ = false;
  if (runs_.runs().size() > 1) runs_.read(open_, filter_.selection());
  show_all();
}

void ComparePage::choose_files() {
  const QStringList paths = QFileDialog::getOpenFileNames(
      this, QStringLiteral("Compare with"), {},
      QStringLiteral("Traces (*.db *.sqlite *.sqlite3 *.json *.json.gz *.gz);;All files (*)"));
  if (!paths.isEmpty()) compare_with(paths);
}

void ComparePage::show_all() {
  cancel_->setVisible(runs_.is_reading());
  strip_->show_runs(runs_);
  fill_choices();
  if (runs_.compared().size() > 1 && !runs_.is_reading()) {
    show_message({});
    show_differences();
    return show_against();
  }
  if (runs_.runs().size() < 2) {
    show_message(
        QStringLiteral("Compare is of two to six runs or traces, of any source: “Compare with…” adds them "
                       "beside the one that is open, or start with swinscope-gui RUN RUN2 --page compare."));
  } else if (runs_.is_reading()) {
    show_message(QStringLiteral("Reading the runs that are compared…"));
  } else if (runs_.was_cancelled()) {
    show_message(QStringLiteral("Reading was cancelled. F5 reads the open run again, “Compare with…” the others."));
  } else if (is_stale_ && !is_unfinished_) {
    show_message(QStringLiteral("Analyzing…"));
  } else {
    show_message(QStringLiteral("Fewer than two of the runs could be read: see above why."));
  }
}

void ComparePage::show_message(const QString& text) {
  message_->setText(text);
  message_->setVisible(!text.isEmpty());
  scroll_->setVisible(text.isEmpty());
  if (!text.isEmpty()) timelines_->hide();
  Q_EMIT changed();
}

// What can be chosen, with what was chosen before where that is still there.
void ComparePage::fill_choices() {
  const std::vector<ComparedRun>& runs = runs_.compared();
  const QString before = against_->currentText();
  against_->clear();
  for (std::size_t i = 1; i < runs.size(); ++i)
    against_->addItem(qt(runs[i].name));
  against_->setCurrentIndex(std::max(0, against_->findText(before)));
  against_->setEnabled(against_->count() > 1);

  normalization_->clear();
  QStringList reasons;
  for (const Normalization by : kNormalizations) {
    const std::string reason = why_not(runs, by);
    if (reason.empty()) {
      const std::string_view name = normalization_name(by);
      normalization_->addItem(QString::fromUtf8(name.data(), static_cast<qsizetype>(name.size())),
                              static_cast<int>(by));
    } else {
      reasons << qt(reason);
    }
  }
  normalization_->setCurrentIndex(std::max(0, normalization_->findData(static_cast<int>(runs_.normalization()))));
  not_known_->setText(QStringLiteral("Not offered: ") + reasons.join(QStringLiteral("; ")));
  not_known_->setVisible(runs.size() > 1 && !reasons.isEmpty());

  const QVariant shown = rows_->currentData();
  rows_->clear();
  if (table_of(runs_.document(), kKernelRows) != nullptr)
    rows_->addItem(QStringLiteral("Kernels"), QString::fromUtf8(kKernelRows));
  if (table_of(runs_.document(), kLayerRows) != nullptr)
    rows_->addItem(QStringLiteral("Layers"), QString::fromUtf8(kLayerRows));
  rows_->setCurrentIndex(std::max(0, rows_->findData(shown)));
}

QString ComparePage::name_against() const { return against_->currentText(); }

void ComparePage::show_differences() {
  QStringList lines = configured_differently(runs_.document());
  differences_->dismiss();
  if (lines.isEmpty()) return;
  lines.front().prepend(QStringLiteral("Configured differently: "));
  differences_->show_warnings(lines);
}

// The sentences, the waterfall and the rest of the run that is shown beside the base.
void ComparePage::show_against() {
  const std::string name = name_against().toStdString();
  QStringList sentences;
  for (const std::string& line : runs_.document().headline)
    sentences << qt(line);
  why_->setText(sentences.join(QLatin1Char('\n')));
  const ReportChart* chart = nullptr;
  for (const ReportChart& one : runs_.charts()) {
    if (one.table.rows.front().front() == Cell(name)) chart = &one;
  }
  waterfall_->setVisible(chart != nullptr);
  waterfall_note_->setVisible(chart != nullptr);
  if (chart != nullptr) {
    waterfall_->set_chart(chart->chart);
    waterfall_->setFixedHeight(static_cast<int>(waterfall_height(chart->chart)));
    waterfall_note_->setText(qt(chart->note));
  }
  show_rows();
  show_steps();
}

void ComparePage::show_rows() {
  const Table* all = table_of(runs_.document(), rows_->currentData().toString().toStdString());
  shown_rows_ = all == nullptr ? Table() : *all;
  std::erase_if(shown_rows_.rows,
                [name = Cell(name_against().toStdString())](const auto& row) { return row.front() != name; });
  keep_named(shown_rows_, filter_.name);
  if (!shown_rows_.columns.empty()) shown_rows_.columns.front().detail = true;
  title_->setVisible(all != nullptr);
  table_->setVisible(all != nullptr);
  title_->set_table(shown_rows_, *table_);
  table_->setAccessibleName(qt(shown_rows_.title));
  table_->set_table(shown_rows_);
}

void ComparePage::show_steps() {
  const auto shown = [this](const std::string& name) -> StepTimelines::Shown {
    const ComparedPath* run = runs_.find(name);
    if (run == nullptr || run->step == nullptr) return {};
    const MeasuredStep& step = *run->step;
    return {{run->step, &step.picture},
            QStringLiteral("%1: step %2 of rank %3, %4")
                .arg(qt(name))
                .arg(step.step)
                .arg(step.rank)
                .arg(qt(format_duration(step.picture.step_ns)))};
  };
  const std::string base = runs_.compared().empty() ? std::string() : runs_.compared().front().name;
  timelines_->show_steps(shown(base), shown(name_against().toStdString()),
                         qt(base) + QLatin1Char('\n') + name_against());
  timelines_->setVisible(timelines_->has_pictures());
  setTabOrder(table_, &timelines_->above());
  setTabOrder(&timelines_->above(), &timelines_->below());
  Q_EMIT changed();
}

void ComparePage::open(Evidence evidence, bool is_of_base) {
  const ComparedPath* run = is_of_base ? &runs_.runs().front() : runs_.find(name_against().toStdString());
  if (run == nullptr) return;
  evidence.path = run->path;
  Q_EMIT evidence_requested(evidence);
}

void ComparePage::open_bar(int bar) {
  const Table& parts = *table_of(runs_.document(), "difference");
  const auto first =
      std::ranges::find(parts.rows, Cell(name_against().toStdString()), [](const auto& row) { return row.front(); }) -
      parts.rows.begin();
  const auto row = static_cast<std::size_t>(first + bar);
  const std::string part = text_in(parts, row, "part");
  // A kernel that takes less time now may be gone: it is shown where it took more.
  const auto* const largest_ns = std::get_if<std::int64_t>(&parts.rows[row][find_column(parts, "largest_ns")]);
  const bool is_less = largest_ns != nullptr && *largest_ns < 0;
  open(evidence_of_part(part, text_in(parts, row, "largest")), part == "base_step" || is_less);
}

// Kernels in the timeline, layers on their page; what is gone, in the base.
void ComparePage::open_row(int row) {
  if (row < 0) return;
  const auto at = static_cast<std::size_t>(row);
  const std::string kernel = text_in(shown_rows_, at, "kernel");
  const bool is_gone = text_in(shown_rows_, at, "verdict") == change_name(ChangeVerdict::kGone);
  if (kernel.empty()) {
    open({{}, QStringLiteral("layers"), {}, qt(text_in(shown_rows_, at, "path"))}, is_gone);
  } else {
    open({{}, QStringLiteral("timeline"), {}, qt(kernel)}, is_gone);
  }
}

bool ComparePage::has(ActionId action) const {
  return action == ActionId::kCompareWith || StepTimelines::moves(action);
}

bool ComparePage::can_perform(ActionId action) const {
  return action == ActionId::kCompareWith || (timelines_->has_pictures() && timelines_->isVisible());
}

// Where they can be compared; prices are not a part of it.
QString ComparePage::command() const {
  if (runs_.document().tables.empty()) return {};
  QStringList paths;
  for (const ComparedPath& run : runs_.runs())
    paths << run.path;
  return run_command({QStringLiteral("compare")}, paths, filter_);
}

void ComparePage::perform(ActionId action) {
  if (action == ActionId::kCompareWith) return choose_files();
  timelines_->move_by(action);
}

QString ComparePage::why() const { return why_->text(); }
QString ComparePage::not_known() const { return not_known_->isHidden() ? QString() : not_known_->text(); }
QString ComparePage::message() const { return message_->isHidden() ? QString() : message_->text(); }

}  // namespace swinscope::gui
