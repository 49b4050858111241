// From a figure to what it is from: each cell of a table leads on, and questions that users have are answered in few
// clicks. A click, a double click and a key count one each.
#include <QLineEdit>
#include <QStatusBar>
#include <QTabBar>
#include <algorithm>

#include <gmock/gmock.h>

#include "analyzer/report/registry.h"
#include "gui/core/cell_evidence.h"
#include "gui/pages/compare/compare_page.h"
#include "gui/pages/ranks/ranks_page.h"
#include "gui/widgets/calls_panel.h"
#include "gui/widgets/chart_widget.h"
#include "tests/integration/gui/support.h"

namespace swinscope::tests {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::filesystem::path data_file(const char* name) {
  return std::filesystem::path(SWINSCOPE_SOURCE_DIR) / "data" / name;
}

class EvidenceTest : public WindowTest {
 protected:
  void click_tab(const char* page) {
    auto* tabs = window_.findChild<QTabBar*>(QStringLiteral("pages"));
    click(*tabs, tabs->tabRect(gui::find_page(QString::fromUtf8(page))).center());
  }
  void click(QWidget& widget, QPoint place) {
    QTest::mouseClick(&widget, Qt::LeftButton, {}, place);
    ++clicks_;
    settle();
  }
  void key(QWidget& widget, Qt::Key key) {
    QTest::keyClick(&widget, key);
    ++clicks_;
    settle();
  }
  // Of a table that is in sight.
  void double_click(gui::TablePanel& table, int row, const char* column) {
    const QModelIndex cell = table.model()->index(row, table.model_of_rows().column_of(column));
    ASSERT_TRUE(cell.isValid()) << column;
    table.scrollTo(cell);
    const QPoint place = table.visualRect(cell).center();
    QTest::mouseClick(table.viewport(), Qt::LeftButton, {}, place);  // of the double click
    QTest::mouseDClick(table.viewport(), Qt::LeftButton, {}, place);
    ++clicks_;
    settle();
  }
  void show_table(const char* key) {
    window_.show_evidence({.page = QStringLiteral("tables"), .analysis = QString::fromUtf8(key)});
    settle();
  }

  int clicks_ = 0;
};

TEST_F(EvidenceTest, IdleByCauseLeadsToTheGapsOfThatCauseAndTheseToTheTimeline) {
  open(data_file("swinscope_swin_tiny_ddp_2gpu"));
  show_table("idle");
  double_click(tables().table(), 1, "host_ns");  // of rank 1
  EXPECT_THAT(tables().title().text().toStdString(), StartsWith("Idle gaps"));
  EXPECT_EQ(window_.filter().filter().rank, 1);
  gui::TablePanel& gaps = tables().table();
  ASSERT_GT(gaps.model()->rowCount(), 10);
  const Table shown = gaps.shown_table();
  const auto column = [&](const char* key) {
    return static_cast<std::size_t>(std::ranges::find(shown.columns, key, &Column::key) - shown.columns.begin());
  };
  for (const std::vector<Cell>& row : shown.rows) {
    EXPECT_EQ(row[column("rank")], Cell(std::int64_t{1}));
    EXPECT_EQ(row[column("cause")], Cell("host"));
  }
  const std::int64_t second_ns = std::get<std::int64_t>(shown.rows[1][column("idle_ns")]);
  double_click(gaps, 1, "idle_ns");
  EXPECT_EQ(window_.page_id(), QStringLiteral("timeline"));
  ASSERT_TRUE(view().area().has_value());
  EXPECT_EQ(view().area()->window.length(), second_ns);
  EXPECT_EQ(timeline().detail(QStringLiteral("cause")).toStdString(), "host");
}

TEST_F(EvidenceTest, TheBreakdownLeadsToKernelsOfAClassAndToCollectives) {
  open(data_file("swinscope_swin_tiny_ddp_2gpu"));
  show_table("breakdown");
  double_click(tables().table(), 0, "compute_ns");
  EXPECT_EQ(window_.page_id(), QStringLiteral("kernels"));
  const gui::TablePanel& rows = kernels().table();
  EXPECT_EQ(rows.model_of_rows().index(rows.current_row(), 0).data().toString(), QStringLiteral("compute"));
  EXPECT_EQ(kernels().calls().calls().size(), 3'511U);  // of rank 0: half of the 7,022 of both
  window_.show_page(QStringLiteral("tables"));
  settle();
  double_click(tables().table(), 0, "exposed_communication_ns");
  EXPECT_THAT(tables().title().text().toStdString(), StartsWith("Collectives"));
}

TEST_F(EvidenceTest, TheOverviewsTablesLeadOnFromTheirCells) {
  open(data_file("swinscope_swin_tiny_ddp_2gpu"));
  gui::TablePanel* idle = nullptr;
  for (gui::TablePanel* panel : overview().tables())
    if (panel->model_of_rows().table().key == "idle") idle = panel;
  ASSERT_NE(idle, nullptr);
  window_.resize(1280, 2400);  // all of the page is in sight
  QCoreApplication::processEvents();
  double_click(*idle, 0, "host_ns");
  EXPECT_EQ(window_.page_id(), QStringLiteral("tables"));
  EXPECT_THAT(tables().title().text().toStdString(), StartsWith("Idle gaps"));
}

// Whatever analysis there is: a cell leads to a page, or the status bar says that there is nothing behind it.
TEST_F(EvidenceTest, NoCellIsSilent) {
  open(data_file("swinscope_swin_tiny_ddp_2gpu"));
  const RunFacts run(*window_.run()->trace, {});
  int leading = 0;
  for (const Analysis& analysis : analyses()) {
    const Table table = table_of(analysis, run, {});
    for (const Column& column : table.columns) {
      if (table.rows.empty() || column.detail) continue;
      const gui::Evidence evidence = gui::evidence_of_cell(table, 0, column.key);
      if (evidence.page.isEmpty()) continue;
      ++leading;
      EXPECT_GE(gui::find_page(evidence.page), 0) << analysis.key << "." << column.key;
      EXPECT_TRUE(evidence.analysis.isEmpty() ||
                  std::ranges::find(analyses(), evidence.analysis.toStdString(), &Analysis::key) != analyses().end())
          << analysis.key << "." << column.key;
      const bool is_itself =
          evidence.page == QLatin1String("tables") && evidence.analysis.toStdString() == analysis.key;
      EXPECT_FALSE(is_itself) << analysis.key << "." << column.key;
    }
  }
  EXPECT_GT(leading, 60);
  show_table("environment");
  window_.statusBar()->clearMessage();
  double_click(tables().table(), 0, "value");
  EXPECT_EQ(window_.page_id(), QStringLiteral("tables"));
  EXPECT_THAT(window_.statusBar()->currentMessage().toStdString(), HasSubstr("nothing more to it"));
}

// By the keyboard: Right goes to the cell, Return opens its evidence.
TEST_F(EvidenceTest, CellsLeadOnByTheKeyboard) {
  open(data_file("swinscope_swin_tiny_ddp_2gpu"));
  show_table("idle");
  gui::TablePanel& table = tables().table();
  table.setFocus();
  table.setCurrentIndex(table.model()->index(0, 0));
  while (table.current_key() != "dependency_ns" && clicks_ < 20)
    key(table, Qt::Key_Right);
  key(table, Qt::Key_Return);
  EXPECT_THAT(tables().title().text().toStdString(), StartsWith("Idle gaps"));
  EXPECT_EQ(tables().findChild<QLineEdit*>(QStringLiteral("find_rows"))->text(), QStringLiteral("dependency"));
}

// At most 5: why is the efficiency 0.944? The bar that kernels add most to, then the kernel's call.
TEST_F(EvidenceTest, WhyTheEfficiencyIsNotOne) {
  open(data_file("swinscope_swin_large_weak_2gpu"));
  EXPECT_THAT(overview().verdict().toStdString(), StartsWith("parallel efficiency 0.94"));
  EXPECT_THAT(overview().why().toStdString(), HasSubstr("kernels slowed otherwise (matmul_kernel"));  // no click yet
  gui::ChartWidget* waterfall = nullptr;
  for (gui::ChartWidget* chart : overview().charts())
    if (chart->chart().kind == ChartKind::kWaterfall) waterfall = chart;
  ASSERT_NE(waterfall, nullptr);
  const auto& bars = waterfall->chart().categories;
  const auto bar = std::ranges::find(bars, "kernels slowed otherwise") - bars.begin();
  QPoint place;
  for (int y = 0; y < waterfall->height(); y += 4) {
    if (waterfall->text_at(QPointF(waterfall->width() / 2.0, y)).contains(QLatin1String("kernels slowed otherwise")))
      place = {waterfall->width() / 2, y};
  }
  if (place.isNull()) {  // by the keys, where the bar is not in the middle
    waterfall->setFocus();
    for (std::ptrdiff_t i = 0; i <= bar; ++i)
      QTest::keyClick(waterfall, Qt::Key_Down);
    key(*waterfall, Qt::Key_Return);
  } else {
    click(*waterfall, place);
  }
  ASSERT_EQ(window_.page_id(), QStringLiteral("kernels")) << banner();
  EXPECT_TRUE(kernels().table().text_at(0, "name").contains(QStringLiteral("matmul_kernel")));
  key(kernels().table(), Qt::Key_N);
  EXPECT_EQ(window_.page_id(), QStringLiteral("timeline"));
  EXPECT_THAT(timeline().detail(QStringLiteral("name")).toStdString(), HasSubstr("matmul_kernel"));
  EXPECT_LE(clicks_, 5);
}

// At most 4: eager beside attention. The window is given both; the page, and a row of what changed.
TEST_F(EvidenceTest, EagerBesideAttention) {
  const std::filesystem::path ladder = data_file("swinscope_swin_large_train_ladder");
  window_.open({qt(ladder / "eager.db"), qt(ladder / "attention.db")});
  settle();
  click_tab("compare");
  auto& compared = page<gui::ComparePage>("compare");
  EXPECT_THAT(compared.why().toStdString(), HasSubstr("attention"));
  EXPECT_FALSE(compared.waterfall().chart().categories.empty());
  double_click(compared.table(), 0, "kernel");
  EXPECT_EQ(window_.page_id(), QStringLiteral("timeline")) << banner();
  EXPECT_TRUE(view().selection().has_value());
  EXPECT_LE(clicks_, 4);
}

// At most 3: who waits for whom, and where that is seen.
TEST_F(EvidenceTest, WhoWaitsForWhom) {
  open(data_file("swinscope_swin_tiny_ddp_2gpu"));
  click_tab("ranks");
  auto& ranks = page<gui::RanksPage>("ranks");
  EXPECT_THAT(ranks.verdict().toStdString(), StartsWith("rank 1 arrives last"));
  double_click(ranks.late_ranks(), 0, "rank");
  EXPECT_EQ(window_.page_id(), QStringLiteral("timeline"));
  EXPECT_FALSE(view().collective().others.empty());
  EXPECT_LE(clicks_, 3);
}

}  // namespace
}  // namespace swinscope::tests
