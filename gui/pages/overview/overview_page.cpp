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

#include "analyzer/experiment/work_difference.h"
#include "analyzer/report/registry.h"
#include "analyzer/report/report.h"
#include "analyzer/table/waterfall.h"
#include "gui/pages/overview/figures.h"
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
      why_(new QLabel),
      notes_(new QLabel),
      card_grid_(new QGridLayout),
      first_waterfall_(new QVBoxLayout),
      chart_grid_(new QGridLayout),
      waterfall_column_(new QVBoxLayout),
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
  why_->setObjectName(QStringLiteral("why"));
  for (QLabel* label : {headline_, why_, notes_}) {
    label->setWordWrap(true);
    label->setTextFormat(Qt::PlainText);
    label->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  }
  column->addWidget(headline_);
  column->addWidget(why_);
  column->addLayout(card_grid_);
  column->addLayout(first_waterfall_);
  column->addLayout(chart_grid_);
  column->addLayout(waterfall_column_);
  column->addLayout(table_column_);
  column->addWidget(notes_);
  column->addStretch(1);
  scroll_->setWidget(content_);
}

void OverviewPage::clear() {
  run_ = nullptr;
  experiment_ = nullptr;
  comparison_ = nullptr;
  why_->clear();
  why_->hide();
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
  drop(chart_notes_);
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

// What makes the figures doubtful stands with the sentence; the evidence, a command, below all.
void OverviewPage::show_headline(const Document& document) {
  QStringList sentences;
  QStringList notes;
  why_->clear();
  for (const std::string& line : document.headline) {
    const QString text = QString::fromStdString(line).trimmed();
    if (find_table(document, "scaling_loss") != nullptr && &line == &document.headline[1]) {
      why_->setText(text);
      continue;
    }
    const bool is_sentence = sentences.isEmpty() || text.startsWith(QStringLiteral("note: "));
    (is_sentence ? sentences : notes) << text;
  }
  headline_->setText(sentences.join(QLatin1Char('\n')));
  QString text;
  for (const std::string& note : document.notes)
    text += (text.isEmpty() ? QString() : QStringLiteral(" ")) + QString::fromStdString(note);
  notes << text;
  notes_->setText(notes.join(QLatin1Char('\n')));
  why_->setVisible(!why_->text().isEmpty());
}

// Its recording, where the causes are; where there is none, its first timing run.
void OverviewPage::open_point(std::size_t index) {
  if (index >= experiment_->points.size()) return;
  const ExperimentPoint& point = experiment_->points[index].point;
  const QString folder = QString::fromStdString(point.folder.string());
  if (point.tracing.empty() && point.timing.empty()) {
    Q_EMIT problem(
        {QStringLiteral("%1: nothing to open").arg(folder), QStringLiteral("its times were given, not recorded"), {}});
    return;
  }
  const std::string run = point.tracing.empty() ? point.timing.front() : point.tracing;
  Q_EMIT open_requested({QDir(folder).filePath(QString::fromStdString(run))});
}

void OverviewPage::open_evidence(const Table& table, std::size_t row) {
  const auto point = std::ranges::find(experiment_->points, text_in(table, row, "point"), &OpenedPoint::name);
  if (point == experiment_->points.end()) return;
  const std::string part = text_in(table, row, "part");
  const std::string kernel = text_in(table, row, "kernel");
  Evidence evidence =
      kernel.empty() ? evidence_of_part(part, text_in(table, row, "largest")) : evidence_of_part({}, kernel);
  // What is gone is seen where it was.
  const bool is_of_base = part == "base_step" || text_in(table, row, "verdict") == change_name(ChangeVerdict::kGone);
  const ExperimentPoint& traced = is_of_base ? experiment_->points[point->base].point : point->point;
  evidence.path = QString::fromStdString((traced.folder / traced.tracing).string());
  Q_EMIT evidence_requested(evidence);
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
  const std::vector<ReportChart> charts = charts_of(document);
  for (const ReportChart& chart : charts) {
    if (chart.chart.kind == ChartKind::kWaterfall) {
      charts_.push_back(add_waterfall(chart, find_table(document, "scaling_loss"),
                                      &chart == &charts.back() ? *first_waterfall_ : *waterfall_column_));
      continue;
    }
    auto* shown = new ChartWidget(content_);
    shown->set_chart(chart.chart);
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
              [this] { Q_EMIT page_requested(QStringLiteral("timeline")); });
    }
    charts_.push_back(shown);
  }
}

// `parts`: the table whose rows with the chart's name are its bars, in their order.
ChartWidget* OverviewPage::add_waterfall(ReportChart chart, const Table* parts, QVBoxLayout& column) {
  auto* shown = new ChartWidget(content_);
  auto* note = new QLabel(QString::fromStdString(chart.note), content_);
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

void OverviewPage::connect_rows(TablePanel& panel, const Table& table) {
  const auto on_row = [&](auto action) {
    connect(&panel, &TablePanel::row_activated, this, [action](int row) {
      if (row >= 0) action(static_cast<std::size_t>(row));
    });
  };
  if (experiment_ != nullptr && table.key == "points") {
    on_row([this](std::size_t row) { open_point(row); });
  } else if (experiment_ != nullptr) {
    on_row([this, table](std::size_t row) { open_evidence(table, row); });
  } else if (table.key == "comparison") {
    on_row([this, table](std::size_t row) { open_series(QString::fromStdString(text_in(table, row, "series"))); });
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
      connect_rows(*panel, table);
      table_column_->addWidget(title);
      table_column_->addWidget(panel);
      table_titles_.push_back(title);
      tables_.push_back(panel);
    }
  }
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
