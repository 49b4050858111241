#include "gui/pages/overview/overview_page.h"

#include <QEvent>
#include <QGridLayout>
#include <QLabel>
#include <QPushButton>
#include <QScrollArea>
#include <QVBoxLayout>
#include <algorithm>

#include "analyzer/report/report_summary.h"
#include "analyzer/table/waterfall.h"
#include "gui/core/cell_evidence.h"
#include "gui/core/tool_tip.h"
#include "gui/pages/overview/advice_cards.h"
#include "gui/pages/overview/fact_list.h"
#include "gui/pages/overview/figures.h"
#include "gui/pages/overview/headline.h"
#include "gui/pages/overview/start_panel.h"
#include "gui/pages/overview/step_cost.h"
#include "gui/pages/overview/table_stack.h"
#include "gui/widgets/card.h"
#include "gui/widgets/chart_widget.h"
#include "gui/widgets/table_panel.h"
#include "gui/widgets/table_title.h"

namespace swinscope::gui {
namespace {

constexpr int kCardWidth = 180;   // pixels that a card needs
constexpr int kChartWidth = 440;  // and a chart
constexpr int kChartHeight = 290;
constexpr int kMostCardColumns = 6;
constexpr int kMostChartColumns = 3;
constexpr std::string_view kKernels = "kernels";  // the table

const Table* find_table(const Document& document, std::string_view key) {
  const auto found = std::ranges::find(document.tables, key, &Table::key);
  return found == document.tables.end() ? nullptr : &*found;
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
      start_(new StartPanel),
      why_(new QLabel),
      evidence_(new QPushButton(QStringLiteral("Show the evidence"))),
      notes_(new QLabel),
      card_grid_(new QGridLayout),
      step_cost_(new StepCost),
      advice_(new AdviceCards),
      first_waterfall_(new QVBoxLayout),
      chart_grid_(new QGridLayout),
      chart_note_(new QLabel),
      waterfall_column_(new QVBoxLayout),
      what_(new FactList(QStringLiteral("What was run"))),
      quality_(new FactList(QStringLiteral("How far the figures can be believed"))),
      tables_(new TableStack) {
  build_layout();
  connect(evidence_, &QPushButton::clicked, this, &OverviewPage::open_verdict);
  connect(start_, &StartPanel::open_requested, this, &OverviewPage::open_requested);
  connect(step_cost_, &StepCost::part_activated, this,
          [this](const QString& part) { Q_EMIT evidence_requested(evidence_of_bound(part)); });
  connect(advice_, &AdviceCards::activated, this, [this](const QString& id) {
    Q_EMIT evidence_requested({.page = QStringLiteral("opportunities"), .called = id});
  });
  connect(tables_, &TableStack::cell_activated, this, &OverviewPage::activate_cell);
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
  why_->setObjectName(QStringLiteral("why"));
  chart_note_->setForegroundRole(QPalette::PlaceholderText);
  for (QLabel* label : {headline_, why_, chart_note_, notes_}) {
    label->setWordWrap(true);
    label->setTextFormat(Qt::PlainText);
    label->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  }
  column->addWidget(headline_);
  column->addWidget(start_);
  column->addWidget(why_);
  column->addWidget(evidence_, 0, Qt::AlignLeft);
  column->addLayout(card_grid_);
  column->addWidget(step_cost_);
  column->addWidget(advice_);
  column->addLayout(first_waterfall_);
  column->addLayout(chart_grid_);
  column->addWidget(chart_note_);
  column->addLayout(waterfall_column_);
  auto* facts = new QHBoxLayout;
  facts->addWidget(what_, 1);
  facts->addWidget(quality_, 1);
  column->addLayout(facts);
  column->addWidget(tables_, 1);
  column->addWidget(notes_);
  column->addStretch(0);
  scroll_->setWidget(content_);
}

void OverviewPage::clear() {
  run_ = nullptr;
  experiment_ = nullptr;
  comparison_ = nullptr;
  why_->clear();
  why_->hide();
  headline_->setText(QStringLiteral("Open a trace, a run or an experiment"));
  start_->show();
  notes_->clear();
  evidence_->hide();
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
  drop(chart_notes_);
  tables_->clear();
  step_cost_->set_parts({});
  advice_->clear();
  what_->set_facts({});
  quality_->set_facts({});
  chart_note_->hide();
  card_columns_ = chart_columns_ = 0;
}

void OverviewPage::set_session(const Session& session) {
  clear();
  start_->setVisible(session.run == nullptr && session.experiment == nullptr && session.comparison == nullptr);
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
  if (const Table* bounds = find_table(analyzed.document, "bounds")) step_cost_->set_parts(*bounds);
  if (run_->trace->gpu_event_count() > 0) advice_->show_advice(run_, filter_.selection());
  add_charts(analyzed.document);
  add_facts(analyzed.what, analyzed.quality);
  add_tables(analyzed.document, keys_on_overview());
  reflow();
}

void OverviewPage::show_experiment() {
  show_headline(experiment_->document);
  add_cards(figures_of(*experiment_));
  add_charts(experiment_->document);
  add_facts(experiment_->what, experiment_->quality);
  add_tables(experiment_->document, {"points", "scaling_loss", "scaling_kernels", "pop"});
  reflow();
}

void OverviewPage::show_comparison() {
  show_headline(comparison_->document);
  add_cards(figures_of(*comparison_));
  add_charts(comparison_->document);
  add_tables(comparison_->document, {"comparison", "differences"});
  reflow();
}

void OverviewPage::show_headline(const Document& document) {
  const Headline said = headline_of(document);
  headline_->setText(said.verdict);
  why_->setText(said.why);
  why_->setVisible(!said.why.isEmpty());
  notes_->setText(said.notes);
  evidence_->setVisible(!said.evidence.isEmpty());
  evidence_->setToolTip(tooltip_of(said.evidence));
  evidence_->setAccessibleDescription(said.evidence);
}

void OverviewPage::add_cards(const std::vector<Figure>& figures) {
  for (const Figure& figure : figures) {
    auto* card = new Card(content_);
    card->set_figure(figure.title, figure.value, figure.note);
    connect(card, &Card::clicked, this, [this, evidence = figure.evidence] { Q_EMIT evidence_requested(evidence); });
    cards_.push_back(card);
  }
}

void OverviewPage::add_facts(const WhatWasRun& what, const std::vector<QualityFact>& quality) {
  std::vector<Fact> facts;
  facts.reserve(quality.size());
  for (const QualityFact& one : quality)
    facts.push_back(one.fact);
  what_->set_facts(what.facts);
  quality_->set_facts(facts);
}

// Those of the report's first page first; what they have in common is said once.
void OverviewPage::add_charts(const Document& document) {
  SplitCharts split = split_charts(document);
  std::vector<ReportChart> charts = std::move(split.first);
  charts.insert(charts.end(), split.others.begin(), split.others.end());
  const Table* parts = find_table(document, "scaling_loss");
  for (const ReportChart& chart : charts) {
    if (chart.chart.kind == ChartKind::kWaterfall) {
      charts_.push_back(add_waterfall(chart, parts, *waterfall_column_));
    } else if (run_ == nullptr || chart.chart.categories.size() > 1) {  // of one device the cost of a step says more
      add_chart(chart);
    }
  }
  if (split.waterfall && run_ == nullptr) charts_.push_back(add_waterfall(*split.waterfall, parts, *first_waterfall_));
  std::erase_if(charts, [](const ReportChart& chart) { return chart.chart.kind == ChartKind::kWaterfall; });
  chart_note_->setText(run_ == nullptr ? QString::fromStdString(common_note(charts)) : QString());
  chart_note_->setVisible(!chart_note_->text().isEmpty());
}

void OverviewPage::add_chart(const ReportChart& chart) {
  auto* shown = new ChartWidget(content_);
  shown->set_chart(chart.chart);
  shown->setFixedHeight(kChartHeight);
  connect(shown, &ChartWidget::category_activated, this, [this, shown](int category, int series) {
    if (experiment_ != nullptr) {
      open_point(static_cast<std::size_t>(category));
    } else if (comparison_ == nullptr) {
      Q_EMIT page_requested(QStringLiteral("timeline"));
    } else if (series >= 0) {
      open_series(QString::fromStdString(shown->chart().series[static_cast<std::size_t>(series)].name));
    }
  });
  charts_.push_back(shown);
}

// `parts`: the table whose rows with the chart's name are its bars, in their order.
ChartWidget* OverviewPage::add_waterfall(ReportChart chart, const Table* parts, QVBoxLayout& column) {
  auto* shown = new ChartWidget(content_);
  auto* note = new QLabel(content_);
  note->setTextFormat(Qt::PlainText);
  note->setText(QString::fromStdString(chart.note));
  note->setForegroundRole(QPalette::PlaceholderText);
  note->setWordWrap(true);
  shown->setFixedHeight(static_cast<int>(waterfall_height(chart.chart)));
  shown->set_chart(chart.chart);
  if (parts != nullptr) {
    const Cell name = chart.table.rows.front().front();
    const auto first = std::ranges::find(parts->rows, name, [](const auto& row) { return row.front(); });
    connect(shown, &ChartWidget::category_activated, this,
            [this, table = *parts, first = first - parts->rows.begin()](int category) {
              open_evidence(table, static_cast<std::size_t>(first + category));
            });
  }
  column.addWidget(shown);
  column.addWidget(note);
  chart_notes_.push_back(note);
  return shown;
}

// Of a run a table with one row says nothing that the cards do not.
void OverviewPage::add_tables(const Document& document, const std::vector<std::string>& keys) {
  const std::size_t least = run_ == nullptr ? 1 : 2;
  constexpr int kTopKernels = 6;
  if (const Table* kernels = find_table(document, kKernels); kernels != nullptr && !kernels->rows.empty())
    tables_->add(*kernels, kTopKernels);
  for (const std::string& key : keys) {
    for (const Table& table : document.tables) {
      if (table.key == key && table.key != kKernels && table.rows.size() >= least) tables_->add(table);
    }
  }
}

bool OverviewPage::is_settled() const { return analyzing_.is_idle() && advice_->is_settled(); }

const std::vector<TablePanel*>& OverviewPage::tables() const { return tables_->panels(); }
const std::vector<TableTitle*>& OverviewPage::table_titles() const { return tables_->titles(); }

void OverviewPage::showEvent(QShowEvent* event) {
  Page::showEvent(event);
  if (!start_->isHidden()) start_->refresh();
}

QString OverviewPage::verdict() const { return headline_->text(); }

QString OverviewPage::why() const { return why_->text(); }

bool OverviewPage::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() == QEvent::Resize) reflow();
  return Page::eventFilter(watched, event);
}

void OverviewPage::reflow() {
  const int room = scroll_->viewport()->width();
  const int cards = std::clamp(room / kCardWidth, 1, kMostCardColumns);
  std::vector<ChartWidget*> small;
  std::ranges::copy_if(charts_, std::back_inserter(small),
                       [](const ChartWidget* chart) { return chart->chart().kind != ChartKind::kWaterfall; });
  const int most = std::clamp(static_cast<int>(small.size()), 1, kMostChartColumns);
  const int charts = std::clamp(room / kChartWidth, 1, most);
  if (cards != card_columns_) fill_rows(*card_grid_, cards_, cards);
  if (charts != chart_columns_) fill_rows(*chart_grid_, small, charts);
  card_columns_ = cards;
  chart_columns_ = charts;
}

}  // namespace swinscope::gui
