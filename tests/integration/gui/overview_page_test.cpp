// The first page decides nothing by itself: each figure is that of a command, and leads to its evidence.
#include <QAbstractButton>
#include <QCheckBox>
#include <QPushButton>
#include <QTreeWidget>

#include <gmock/gmock.h>

#include "gui/core/opportunities.h"
#include "gui/pages/opportunities/opportunity_card.h"
#include "gui/pages/overview/advice_cards.h"
#include "gui/pages/overview/fact_list.h"
#include "gui/pages/overview/figures.h"
#include "gui/pages/overview/step_cost.h"
#include "gui/pages/overview/table_stack.h"
#include "gui/widgets/card.h"
#include "gui/widgets/chart_widget.h"
#include "gui/widgets/elided_label.h"
#include "gui/widgets/table_title.h"
#include "tests/integration/gui/support.h"

namespace swinscope::tests {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

std::filesystem::path data_file(const char* name) {
  return std::filesystem::path(SWINSCOPE_SOURCE_DIR) / "data" / name;
}

class OverviewPageTest : public WindowTest {};

TEST_F(OverviewPageTest, WhatAStepCostsIsTheTableOfAnalyze) {
  const std::filesystem::path path = data_file("swinscope_swin_tiny_graph_1gpu.db");
  open(path);
  nlohmann::json bounds = run_json({"analyze", path.string()})["data"]["bounds"];
  std::vector<std::string> expected;
  for (const nlohmann::json& part : bounds) {
    if (part["per_step_ns"] == 0) continue;
    expected.push_back(part["bound"].get<std::string>() + "  " +
                       format_cell(part["per_step_ns"].get<std::int64_t>(), Unit::kDuration) + ", " +
                       format_cell(part["share_percent"].get<double>(), Unit::kPercent));
  }
  std::vector<std::string> shown;
  for (const QAbstractButton* button : overview().step_cost().buttons())
    shown.push_back(button->text().toStdString());
  EXPECT_THAT(shown, testing::UnorderedElementsAreArray(expected));
  EXPECT_THAT(shown.front(), StartsWith("host  887.6 us"));  // largest first
  QAbstractButton* host = overview().step_cost().buttons().front();
  host->setFocus();
  QTest::keyClick(host, Qt::Key_Space);
  QCoreApplication::processEvents();
  settle();
  EXPECT_EQ(window_.page_id(), QStringLiteral("tables"));
  EXPECT_THAT(tables().title().text().toStdString(), StartsWith("What the host did"));
}

TEST(OverviewFigures, OneStepIsNoSteps) {
  const auto note_of = [](std::int64_t steps) {
    KeyFigures figures;
    figures.step_ns = 1'000'000;
    figures.steps = steps;
    return gui::figures_of(figures).at(0).note;
  };
  EXPECT_EQ(note_of(1), QStringLiteral("n = 1 step"));
  EXPECT_EQ(note_of(2), QStringLiteral("n = 2 steps"));
}

TEST_F(OverviewPageTest, TheLargestOpportunitiesAreThoseOfAdvise) {
  const std::filesystem::path path = data_file("swinscope_swin_tiny_graph_1gpu.db");
  open(path);
  const nlohmann::json advice = run_json({"advise", path.string()})["data"];
  // The first one is what `analyze` and `advise` say is next; the others follow as they are ranked.
  nlohmann::json rows = advice["opportunities"];
  const std::string printed = run({"analyze", path.string()}).out;
  const auto first = std::ranges::find_if(rows, [&](const nlohmann::json& row) {
    return printed.find("\nnext: " + row["change"].get<std::string>() + ", saves") != std::string::npos;
  });
  ASSERT_NE(first, rows.end()) << printed;
  EXPECT_NE(first, rows.begin()) << "what saves most is speculative here";
  std::rotate(rows.begin(), first, first + 1);
  ASSERT_EQ(overview().advice().cards().size(), 3U) << overview().advice().note().toStdString();
  for (std::size_t i = 0; i < 3; ++i) {
    const gui::Card& card = *overview().advice().cards()[i];
    EXPECT_THAT(card.accessibleName().toStdString(), StartsWith(rows[i]["change"].get<std::string>()));
    EXPECT_THAT(card.value().toStdString(),
                HasSubstr(format_cell(rows[i]["saving_ns"].get<std::int64_t>(), Unit::kDuration)));
  }
  EXPECT_THAT(
      overview().advice().note().toStdString(),
      AllOf(HasSubstr("in a step of " + format_cell(advice["unrecorded_step_ns"].get<std::int64_t>(), Unit::kDuration) +
                      ", which is without what recording added"),
            HasSubstr(std::to_string(rows.size() - 3) + " more on the page Opportunities")));
}

// Must be done in three clicks: a card, and its switch. What was found for the card is not computed again.
TEST_F(OverviewPageTest, TheFirstOpportunityIsAppliedInTwoClicks) {
  open(data_file("swinscope_swin_tiny_graph_1gpu.db"));
  int clicks = 0;
  QTest::mouseClick(overview().advice().cards().front(), Qt::LeftButton);
  ++clicks;
  ASSERT_EQ(window_.page_id(), QStringLiteral("opportunities"));
  settle();
  QCoreApplication::processEvents();
  QString wanted = overview().advice().cards().front()->toolTip();
  wanted.replace(QLatin1Char('\n'), QLatin1Char(' '));
  // The page leads with it, too, though a speculative change would save more.
  gui::OpportunityCard& first = *opportunities().cards().front();
  EXPECT_EQ(first.title().text(), QStringLiteral("1. ") + wanted);
  EXPECT_TRUE(first.apply().hasFocus()) << "it is the one that was asked for";
  EXPECT_TRUE(opportunities().rect().contains(first.apply().mapTo(&opportunities(), first.apply().rect().center())));
  QTest::mouseClick(&first.apply(), Qt::LeftButton, {}, QPoint(8, first.apply().height() / 2));
  ++clicks;
  settle();
  EXPECT_TRUE(first.apply().isChecked());
  EXPECT_LE(clicks, 3);
}

// Where nothing can be said of a step the first page itself says why.
TEST_F(OverviewPageTest, SaysWhyThereIsNoAdvice) {
  write("two.json", kineto({kineto_kernel("gemm", "10", "5"), kineto_kernel("gemm", "20", "5")}));
  open(folder() / "two.json");
  EXPECT_TRUE(overview().advice().cards().empty());
  EXPECT_THAT(
      overview().advice().note().toStdString(),
      StartsWith("Not computed: savings are of a step, and this is the whole trace, since no steps were found"));
}

TEST_F(OverviewPageTest, SaysWhatWasRunAndWhatIsNotKnown) {
  const std::filesystem::path path = data_file("swinscope_swin_tiny_graph_1gpu.db");
  open(path);
  EXPECT_EQ(overview().what_was_run().value(QStringLiteral("GPUs")), QStringLiteral("NVIDIA H200"));
  EXPECT_EQ(overview().what_was_run().value(QStringLiteral("command")), QStringLiteral("python3 small_runs.py graph"));
  EXPECT_THAT(overview().data_quality().value(QStringLiteral("missing ranks")).toStdString(),
              StartsWith("not known: "));
  EXPECT_THAT(overview().data_quality().value(QStringLiteral("lost records")).toStdString(), StartsWith("none: "));
  window_.export_report(qt(folder() / "report.html"));
  settle();
  const std::string report = read_file(folder() / "report.html");
  for (const char* title : {"host", "GPUs", "recorded"})
    EXPECT_THAT(report, HasSubstr(overview().what_was_run().value(QString::fromUtf8(title)).toStdString())) << title;
  EXPECT_THAT(report, HasSubstr(overview().data_quality().value(QStringLiteral("steps")).toStdString()));
}

TEST_F(OverviewPageTest, EveryFigureOpensItsEvidence) {
  open(data_file("swinscope_swin_tiny_ddp_2gpu"));
  EXPECT_THAT(overview().evidence().toolTip().toStdString(), testing::EndsWith(" --table host_waits"));
  overview().evidence().click();
  settle();
  EXPECT_EQ(window_.page_id(), QStringLiteral("tables"));
  EXPECT_THAT(tables().title().text().toStdString(), StartsWith("What the host did while GPUs waited for it"));
  const std::size_t count = overview().cards().size();
  ASSERT_GE(count, 4U);
  std::vector<std::string> titles;
  for (std::size_t i = 0; i < count; ++i) {
    window_.show_page(QStringLiteral("overview"));
    QTest::mouseClick(overview().cards()[i], Qt::LeftButton);
    settle();
    EXPECT_EQ(window_.page_id(), QStringLiteral("tables"));
    titles.push_back(tables().title().text().toStdString());
  }
  EXPECT_THAT(titles, testing::IsSupersetOf({testing::Matcher<std::string>(StartsWith("Steps")),
                                             testing::Matcher<std::string>(StartsWith("Utilization")),
                                             testing::Matcher<std::string>(StartsWith("Idle, by cause"))}));
  window_.show_page(QStringLiteral("overview"));
  gui::TablePanel& kernels_there = *overview().tables().front();
  const QString name = kernels_there.text_at(0, "name");
  Q_EMIT kernels_there.row_activated(0);
  settle();
  EXPECT_EQ(window_.page_id(), QStringLiteral("kernels"));
  EXPECT_EQ(kernels().table().text_at(0, "name"), name);
}

TEST_F(OverviewPageTest, NoTableOfOneRowAndNoChartOfOneDevice) {
  open(data_file("swinscope_swin_tiny_graph_1gpu.db"));
  EXPECT_TRUE(overview().charts().empty());
  for (const gui::TablePanel* panel : overview().tables())
    EXPECT_GT(panel->model()->rowCount(), 1) << panel->accessibleName().toStdString();
}

TEST_F(OverviewPageTest, AnExperimentsFiguresLeadToItsTableAndItsChartsShowTheLoss) {
  open(data_file("swinscope_swin_large_weak_2gpu"));
  QTest::mouseClick(overview().cards()[3], Qt::LeftButton);
  EXPECT_EQ(window_.page_id(), QStringLiteral("overview"));
  const gui::TablePanel* points = overview().tables().front();
  EXPECT_EQ(points->current_row(), 1) << "the point that the figures are of";
  int with_legend = 0;
  for (const gui::ChartWidget* shown : overview().charts()) {
    const Chart& chart = shown->chart();
    if (chart.title == "Parallel efficiency") {
      EXPECT_GT(chart.y_min.value_or(0), 0.8) << "0.94 is seen beside 1";
    }
    if (chart.title == "Training time") {
      EXPECT_THAT(chart.y_title, HasSubstr("images"));
    }
    with_legend += chart.has_legend && chart.series.size() > 1 && !chart.series[1].is_reference ? 1 : 0;
  }
  EXPECT_LE(with_legend, 2);
  EXPECT_THAT(overview().data_quality().value(QStringLiteral("noise from run to run")).toStdString(),
              StartsWith("not known: one run at each point"));
}

}  // namespace
}  // namespace swinscope::tests
