#include "gui/pages/overview/overview_page.h"

#include <QDir>
#include <QEvent>
#include <QGridLayout>
#include <QHeaderView>
#include <QLabel>
#include <QScrollArea>
#include <QScrollBar>
#include <QVBoxLayout>
#include <algorithm>

#include "analyzer/base/text.h"
#include "analyzer/experiment/scaling.h"
#include "analyzer/report/registry.h"
#include "analyzer/report/report.h"
#include "gui/widgets/card.h"
#include "gui/widgets/chart_widget.h"
#include "gui/widgets/table_panel.h"
#include "gui/widgets/table_title.h"

namespace swinscope::gui {
namespace {

// Where the evidence of a figure is.
constexpr const char* kOverview = "overview";
constexpr const char* kTimeline = "timeline";
constexpr const char* kKernels = "kernels";

constexpr int kCardWidth = 180;   // pixels that a card needs
constexpr int kChartWidth = 440;  // and a chart
constexpr int kChartHeight = 290;
constexpr int kMostCardColumns = 6;
constexpr int kMostChartColumns = 3;

const QString& not_recorded() {
  static const QString text = QStringLiteral("not recorded");
  return text;
}

QString percent(const std::optional<double>& share) {
  return share ? QStringLiteral("%1 %").arg(100 * *share, 0, 'f', 1) : not_recorded();
}

QString duration(std::int64_t ns) { return QString::fromStdString(format_duration(ns)); }

// Of a run's tables, by question, as the page of tables lists them.
std::vector<std::string> keys_on_overview() {
  std::vector<std::string> keys;
  for (const AnalysisSection section : kAnalysisSections) {
    for (const Analysis& analysis : analyses()) {
      if (analysis.section == section && analysis.use == AnalysisUse::kOverview) keys.emplace_back(analysis.key);
    }
  }
  return keys;
}

// Places widgets in rows of `columns`.
template <typename Widget>
void fill_rows(QGridLayout& grid, const std::vector<Widget*>& widgets, int columns) {
  for (std::size_t i = 0; i < widgets.size(); ++i)
    grid.addWidget(widgets[i], static_cast<int>(i) / columns, static_cast<int>(i) % columns);
  for (int i = 0; i < std::max(columns, grid.columnCount()); ++i)
    grid.setColumnStretch(i, i < columns ? 1 : 0);
}

}  // namespace

OverviewPage::OverviewPage(QWidget* parent)
    : Page(parent),
      scroll_(new QScrollArea(this)),
      content_(new QWidget),
      headline_(new QLabel),
      notes_(new QLabel),
      card_grid_(new QGridLayout),
      chart_grid_(new QGridLayout),
      table_column_(new QVBoxLayout) {
  build_layout();
  setFocusProxy(scroll_);
  scroll_->viewport()->installEventFilter(this);
  clear();
}

void OverviewPage::build_layout() {
  scroll_->setAccessibleName(QStringLiteral("Overview"));
  scroll_->setWidgetResizable(true);
  scroll_->setFrameShape(QFrame::NoFrame);
  scroll_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  auto* all = new QVBoxLayout(this);
  all->setContentsMargins(0, 0, 0, 0);
  all->addWidget(scroll_);
  auto* column = new QVBoxLayout(content_);
  QFont large = headline_->font();
  large.setPointSizeF(large.pointSizeF() * 1.25);
  large.setWeight(QFont::DemiBold);
  headline_->setFont(large);
  headline_->setObjectName(QStringLiteral("verdict"));
  for (QLabel* label : {headline_, notes_}) {
    label->setWordWrap(true);
    label->setTextFormat(Qt::PlainText);
    label->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  }
  column->addWidget(headline_);
  column->addLayout(card_grid_);
  column->addLayout(chart_grid_);
  column->addLayout(table_column_);
  column->addWidget(notes_);
  column->addStretch(1);
  scroll_->setWidget(content_);
}

void OverviewPage::clear() {
  run_ = nullptr;
  experiment_ = nullptr;
  comparison_ = nullptr;
  headline_->setText(QStringLiteral("Open a trace, a run or an experiment: Ctrl+O, Ctrl+Shift+O, or drop it here."));
  notes_->clear();
  analyzing_.forget();
  clear_widgets();
}

void OverviewPage::clear_widgets() {
  const auto drop = [](auto& widgets) {
    for (QWidget* widget : widgets) {
      widget->hide();
      widget->deleteLater();  // one of them may be the one that asked for this
    }
    widgets.clear();
  };
  drop(cards_);
  drop(charts_);
  drop(tables_);
  drop(table_titles_);
  card_columns_ = chart_columns_ = 0;
}

void OverviewPage::set_session(const Session& session) {
  clear();
  if (session.run != nullptr) {
    run_ = session.run;
    show_run();
  } else if (session.experiment != nullptr) {
    experiment_ = session.experiment;
    show_experiment();
  } else if (session.comparison != nullptr) {
    comparison_ = session.comparison;
    show_comparison();
  }
}

void OverviewPage::set_filter(const Filter& filter) {
  const Selection before = filter_.selection();
  filter_ = filter;
  if (run_ == nullptr || run_->trace == nullptr || before == filter.selection()) return;
  analyzing_.start([run = run_, selection = filter.selection()] { return analyze_run(*run, selection); },
                   [this](const AnalyzedRun& analyzed) { show_analyzed(analyzed); });
}

void OverviewPage::show_run() {
  if (run_->trace == nullptr) {
    headline_->setText(QStringLiteral("Analyzing… the timeline can be used already."));
  } else {
    show_analyzed(run_->analyzed);
  }
}

void OverviewPage::set_unfinished() {
  if (run_ == nullptr || run_->trace != nullptr) return;
  headline_->setText(QStringLiteral("Not analyzed: loading did not end. The timeline can be used; F5 loads it again."));
}

void OverviewPage::show_analyzed(const AnalyzedRun& analyzed) {
  clear_widgets();
  show_headline(analyzed.document);
  add_cards(figures_of(analyzed.figures));
  add_charts(analyzed.document);
  add_tables(analyzed.document, keys_on_overview());
  reflow();
}

void OverviewPage::show_experiment() {
  show_headline(experiment_->document);
  add_cards(figures_of(*experiment_));
  add_charts(experiment_->document);
  add_tables(experiment_->document, {"points"});
  reflow();
}

void OverviewPage::show_comparison() {
  show_headline(comparison_->document);
  add_cards(figures_of(*comparison_));
  add_charts(comparison_->document);
  add_tables(comparison_->document, {"comparison", "differences"});
  reflow();
}

// What makes the figures doubtful stands with the sentence; the evidence, a command, below all.
void OverviewPage::show_headline(const Document& document) {
  QStringList sentences;
  QStringList notes;
  for (const std::string& line : document.headline) {
    const QString text = QString::fromStdString(line).trimmed();
    const bool is_sentence = sentences.isEmpty() || text.startsWith(QStringLiteral("note: "));
    (is_sentence ? sentences : notes) << text;
  }
  headline_->setText(sentences.join(QLatin1Char('\n')));
  QString text;
  for (const std::string& note : document.notes)
    text += (text.isEmpty() ? QString() : QStringLiteral(" ")) + QString::fromStdString(note);
  notes << text;
  notes_->setText(notes.join(QLatin1Char('\n')));
}

std::vector<OverviewPage::Figure> OverviewPage::figures_of(const KeyFigures& f) const {
  const QString step_note = f.step_ci_ns ? QStringLiteral("± %1, n = %2").arg(duration(*f.step_ci_ns)).arg(f.steps)
                                         : QStringLiteral("n = %1 steps").arg(f.steps);
  return {
      {QStringLiteral("Images/s"), f.images_per_second ? QString::number(*f.images_per_second, 'g', 4) : not_recorded(),
       QStringLiteral("of all ranks"), kTimeline},
      {QStringLiteral("Step time"), f.step_ns ? duration(*f.step_ns) : not_recorded(),
       f.step_ns ? step_note : QString(), kTimeline},
      {QStringLiteral("GPU busy"), percent(f.gpu_busy), QStringLiteral("mean over devices"), kKernels},
      {QStringLiteral("Exposed communication"),
       f.gpu_busy && !f.exposed_communication ? QStringLiteral("none") : percent(f.exposed_communication),
       QStringLiteral("of the devices' time"), kTimeline},
      {QStringLiteral("Idle"), percent(f.idle), QStringLiteral("by cause: see the table"), kTimeline},
      {QStringLiteral("Dropped records"), f.dropped ? QString::fromStdString(format_count(*f.dropped)) : not_recorded(),
       f.dropped ? QStringLiteral("counted by the recorder") : QStringLiteral("not counted by the source"), kOverview},
  };
}

// Those of the point with the most GPUs.
std::vector<OverviewPage::Figure> OverviewPage::figures_of(const OpenedExperiment& experiment) const {
  const Table& points = experiment.document.tables.front();
  if (points.rows.empty()) return {};
  const auto value = [&](const char* key) {
    const std::size_t column = find_column(points, key);
    const Cell& cell = points.rows.back()[column];
    return std::holds_alternative<std::monostate>(cell)
               ? not_recorded()
               : QString::fromStdString(format_cell(cell, points.columns[column].unit));
  };
  // Half the width of the 95 % confidence interval, and the runs behind it.
  const auto interval = [&](const char* key, const QString& otherwise) {
    const bool is_missing = std::holds_alternative<std::monostate>(points.rows.back()[find_column(points, key)]);
    return is_missing ? otherwise : QStringLiteral("± %1, n = %2").arg(value(key), value("repeats"));
  };
  const QString at = QStringLiteral("at %1 %2").arg(value("gpus"), QString::fromUtf8(counted_in(points).data()));
  return {
      {QStringLiteral("Images/s"), value("images_per_s"), at, kOverview},
      {QStringLiteral("Step time"), value("step_ns"), interval("step_ci95_ns", QStringLiteral("one run: no interval")),
       kOverview},
      {QStringLiteral("Speedup"), value("speedup"), interval("speedup_ci95", at), kOverview},
      {QStringLiteral("Parallel efficiency"), value("efficiency"), interval("efficiency_ci95", at), kOverview},
      {QStringLiteral("GPU busy"), value("gpu_busy_percent"), at, kOverview},
      {QStringLiteral("CPU"), value("cpu_util_percent"), QStringLiteral("of the cores allowed"), kOverview},
  };
}

// The training time of each experiment at its point with the most GPUs.
std::vector<OverviewPage::Figure> OverviewPage::figures_of(const OpenedComparison& comparison) const {
  const Table& table = *std::ranges::find(comparison.document.tables, "comparison", &Table::key);
  std::vector<Figure> figures;
  for (const QString& name : comparison.names) {
    const std::vector<Cell>* largest = nullptr;
    for (const std::vector<Cell>& row : table.rows) {
      if (std::get<std::string>(row.front()) == name.toStdString()) largest = &row;
    }
    if (largest == nullptr) continue;
    const auto value = [&](const char* key) {
      const std::size_t column = find_column(table, key);
      return QString::fromStdString(format_cell((*largest)[column], table.columns[column].unit));
    };
    figures.push_back({name, value("train_time_ns"),
                       QStringLiteral("training time at %1, efficiency %2").arg(value("gpus"), value("efficiency")),
                       kOverview});
  }
  return figures;
}

// Its recording, where the causes are; where there is none, its first timing run.
void OverviewPage::open_point(std::size_t index) {
  if (index >= experiment_->experiment.points.size()) return;
  const ExperimentPoint& point = experiment_->experiment.points[index];
  const QString folder = QString::fromStdString(point.folder.string());
  if (point.tracing.empty() && point.timing.empty()) {
    Q_EMIT problem(
        {QStringLiteral("%1: nothing to open").arg(folder), QStringLiteral("its times were given, not recorded"), {}});
    return;
  }
  const std::string run = point.tracing.empty() ? point.timing.front() : point.tracing;
  Q_EMIT open_requested({QDir(folder).filePath(QString::fromStdString(run))});
}

void OverviewPage::open_series(const QString& name) {
  if (const auto index = comparison_->names.indexOf(name); index >= 0)
    Q_EMIT open_requested({comparison_->paths[index]});
}

void OverviewPage::add_cards(const std::vector<Figure>& figures) {
  for (const Figure& figure : figures) {
    auto* card = new Card(content_);
    card->set_figure(figure.title, figure.value, figure.note);
    connect(card, &Card::clicked, this, [this, page = figure.page] { Q_EMIT page_requested(QString::fromUtf8(page)); });
    cards_.push_back(card);
  }
}

void OverviewPage::add_charts(const Document& document) {
  for (ReportChart& chart : charts_of(document)) {
    auto* shown = new ChartWidget(content_);
    shown->set_chart(std::move(chart.chart));
    shown->setFixedHeight(kChartHeight);
    if (comparison_ != nullptr) {
      connect(shown, &ChartWidget::category_activated, this, [this, shown](int, int series) {
        if (series >= 0)
          open_series(QString::fromStdString(shown->chart().series[static_cast<std::size_t>(series)].name));
      });
    } else if (experiment_ != nullptr) {
      connect(shown, &ChartWidget::category_activated, this,
              [this](int category) { open_point(static_cast<std::size_t>(category)); });
    } else {
      connect(shown, &ChartWidget::category_activated, this,
              [this] { Q_EMIT page_requested(QString::fromUtf8(kTimeline)); });
    }
    charts_.push_back(shown);
  }
}

void OverviewPage::add_tables(const Document& document, const std::vector<std::string>& keys) {
  for (const std::string& key : keys) {
    for (const Table& table : document.tables) {
      if (table.key != key || table.rows.empty()) continue;
      auto* title = new TableTitle(content_);
      auto* panel = new TablePanel(QString::fromStdString(table.title), content_);
      title->set_table(table, *panel);
      panel->set_table(table);
      const int rows = std::min<int>(12, static_cast<int>(table.rows.size()));
      panel->setFixedHeight(panel->horizontalHeader()->sizeHint().height() +
                            rows * panel->verticalHeader()->defaultSectionSize() +
                            panel->horizontalScrollBar()->sizeHint().height() + 4);
      if (experiment_ != nullptr) {
        connect(panel, &TablePanel::row_activated, this, [this](int row) {
          if (row >= 0) open_point(static_cast<std::size_t>(row));
        });
      }
      if (comparison_ != nullptr && key == "comparison") {
        connect(panel, &TablePanel::row_activated, this, [this, table](int row) {
          if (row >= 0)
            open_series(
                QString::fromStdString(std::get<std::string>(table.rows[static_cast<std::size_t>(row)].front())));
        });
      }
      table_column_->addWidget(title);
      table_column_->addWidget(panel);
      table_titles_.push_back(title);
      tables_.push_back(panel);
    }
  }
}

QString OverviewPage::verdict() const { return headline_->text(); }

bool OverviewPage::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() == QEvent::Resize) reflow();
  return Page::eventFilter(watched, event);
}

void OverviewPage::reflow() {
  const int room = scroll_->viewport()->width();
  const int cards = std::clamp(room / kCardWidth, 1, kMostCardColumns);
  const int most = std::clamp(static_cast<int>(charts_.size()), 1, kMostChartColumns);
  const int charts = std::clamp(room / kChartWidth, 1, most);
  if (cards != card_columns_) fill_rows(*card_grid_, cards_, cards);
  if (charts != chart_columns_) fill_rows(*chart_grid_, charts_, charts);
  card_columns_ = cards;
  chart_columns_ = charts;
}

}  // namespace swinscope::gui
