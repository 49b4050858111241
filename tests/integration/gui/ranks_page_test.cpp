// Who waits for whom: from a trace of several ranks to the collective at which the others waited longest, in the
// timeline.
#include "gui/pages/ranks/ranks_page.h"

#include <QComboBox>
#include <QTabBar>
#include <algorithm>

#include <gmock/gmock.h>

#include "analyzer/base/text.h"
#include "gui/pages/ranks/rank_heat_map.h"
#include "tests/integration/gui/support.h"

namespace swinscope::tests {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::filesystem::path two_ranks() {
  return std::filesystem::path(SWINSCOPE_SOURCE_DIR) / "data" / "pytorch_swin_tiny_ddp_2gpu";
}

class RanksPageTest : public WindowTest {
 protected:
  gui::RanksPage& ranks() { return page<gui::RanksPage>("ranks"); }
  gui::RankHeatMap& map() { return ranks().map(); }
  void show_ranks() {
    window_.show_page(QStringLiteral("ranks"));
    ASSERT_TRUE(QTest::qWaitForWindowExposed(&window_));
    settle();
  }
  void key(Qt::Key key) { QTest::keyClick(&map(), key); }
};

TEST_F(RanksPageTest, SaysWhatTheCommandSays) {
  const nlohmann::json said = run_json({"ranks", two_ranks().string()}).at("data");
  open(two_ranks());
  show_ranks();
  EXPECT_EQ(ranks().verdict().toStdString(), said.at("verdict").get<std::string>());
  const nlohmann::json& late = said.at("late_ranks");
  ASSERT_EQ(ranks().late_ranks().model_of_rows().rowCount(), static_cast<int>(late.size()));
  for (int row = 0; row < static_cast<int>(late.size()); ++row) {
    for (const char* cause : {"delay_ns", "host_ns", "other_ns"})
      EXPECT_EQ(ranks().late_ranks().text_at(row, cause).toStdString(),
                format_duration(late.at(static_cast<std::size_t>(row)).at(cause).get<std::int64_t>()))
          << cause;
  }
  EXPECT_EQ(ranks().collectives().model_of_rows().rowCount(), 7);
  expect_nothing_overlaps();
}

TEST_F(RanksPageTest, TheHeatMapIsReadAndLeftByKeyboard) {
  open(two_ranks());
  show_ranks();
  ASSERT_EQ(map().grid().rows.size(), 2U);
  ASSERT_EQ(map().grid().steps, 2U);
  // The worst cell is the current one: rank 0, which the other waits for.
  EXPECT_EQ(map().current_row(), 0U);
  EXPECT_THAT(ranks().cell_text().toStdString(), HasSubstr("each of the others waits "));
  EXPECT_THAT(map().accessibleDescription().toStdString(), StartsWith("2 rows, 2 steps. Most: rank 0, step "));
  EXPECT_THAT(map().accessibleDescription().toStdString(), HasSubstr(". Here: " + ranks().cell_text().toStdString()));
  key(Qt::Key_Home);
  key(Qt::Key_Down);
  EXPECT_EQ(ranks().cell_text().toStdString(), "rank 1, step 1: nobody waits for it");
  key(Qt::Key_Down);
  key(Qt::Key_Left);
  EXPECT_EQ(ranks().cell_text().toStdString(), "rank 1, step 1: nobody waits for it") << "there is nothing beyond";
  key(Qt::Key_End);
  key(Qt::Key_Up);
  EXPECT_THAT(ranks().cell_text().toStdString(), StartsWith("rank 0, step 2: each of the others waits "));

  key(Qt::Key_Return);
  settle();
  EXPECT_EQ(window_.page_id(), QStringLiteral("timeline"));
  ASSERT_TRUE(view().selection().has_value());
  EXPECT_THAT(timeline().detail(QStringLiteral("name")).toStdString(), HasSubstr("ncclDevKernel"));
  // The step is seen as a whole.
  const Interval step = view().timeline()->processes[0].steps[1];
  EXPECT_LE(view().seen().begin_ns, step.begin_ns + 1000);
  EXPECT_GE(view().seen().end_ns, step.end_ns - 1000);
}

TEST_F(RanksPageTest, ASelectedCollectiveIsJoinedToThoseOfTheOtherRanks) {
  open(two_ranks());
  show_ranks();
  key(Qt::Key_Return);
  settle();
  ASSERT_NE(view().collective().last.position, kNoPosition);
  EXPECT_EQ(view().collective().last, *view().selection()) << "rank 0 came last";
  ASSERT_EQ(view().collective().others.size(), 1U);
  const TimelineEventId other = view().collective().others[0];
  EXPECT_EQ(view().timeline()->lanes[other.lane].key.process, 1U);
  EXPECT_EQ(view().timeline()->name(other), view().timeline()->name(*view().selection()));
  EXPECT_THAT(view().collective().text.toStdString(), HasSubstr(" of 2 ranks: rank 0 comes last, "));

  // From the other side it is the same; what is no collective has none.
  view().select(other);
  settle();
  EXPECT_EQ(view().collective().others[0], other);
  view().clear_selection();
  settle();
  EXPECT_EQ(view().collective().last.position, kNoPosition);
}

TEST_F(RanksPageTest, ShowsStepsOverTheMedianToo) {
  open(two_ranks());
  show_ranks();
  ranks().shown_value().setCurrentIndex(1);
  EXPECT_THAT(ranks().cell_text().toStdString(), HasSubstr(" than the median of the ranks"));
  EXPECT_THAT(map().accessibleName().toStdString(), HasSubstr("step takes"));
}

TEST_F(RanksPageTest, OfOneRankThereIsNothingToCompare) {
  open(recording());
  show_ranks();
  EXPECT_EQ(ranks().verdict().toStdString(), "one rank: nothing to compare");
  EXPECT_EQ(ranks().late_ranks().model_of_rows().rowCount(), 0);
  EXPECT_FALSE(ranks().late_ranks().isVisible());
  EXPECT_FALSE(map().isVisible());
  EXPECT_THAT(ranks().cell_text().toStdString(), HasSubstr("on the page Tables"));
  expect_nothing_overlaps();
}

// More steps than pixels, more rows than have room for their names.
TEST_F(RanksPageTest, ManyRanksAndStepsHaveRoom) {
  gui::RankGrid grid;
  grid.steps = 3000;
  for (std::size_t r = 0; r < 64; ++r) {
    gui::RankGridRow row;
    row.late = r;
    row.label = QStringLiteral("rank %1").arg(r);
    row.delay_ns.resize(grid.steps);
    row.over_median_ns.resize(grid.steps);
    grid.rows.push_back(row);
  }
  grid.rows[40].delay_ns[1234] = 5'000'000;
  gui::RankHeatMap heat_map;
  heat_map.resize(600, heat_map.sizeHint().height());
  heat_map.set_grid(grid);
  heat_map.resize(600, heat_map.sizeHint().height());
  EXPECT_EQ(heat_map.current_text().toStdString(), "rank 40, step 1235: each of the others waits 5.000 ms");
  EXPECT_LE(heat_map.sizeHint().height(), 64 * 3 + 40);
  heat_map.set_current(0, 0);  // whose frame would hide it
  const QImage shown = heat_map.grab().toImage();
  const QPoint late = heat_map.cell_rect(40, 1234).center();
  const QPoint other = heat_map.cell_rect(20, 1234).center();
  EXPECT_NE(shown.pixel(late), shown.pixel(other)) << "one of several steps in the pixel, and the largest";
}

}  // namespace
}  // namespace swinscope::tests
