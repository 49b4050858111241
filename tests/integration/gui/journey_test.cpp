// What a user does with a recording, on the real widgets; every step looks at what is on the screen then.
#include <QAccessible>
#include <QAction>
#include <QDir>
#include <QImage>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QStatusBar>
#include <QTreeView>
#include <fstream>

#include <gmock/gmock.h>

#include "analyzer/analyses/run_facts.h"
#include "analyzer/base/text.h"
#include "analyzer/importers/open.h"
#include "gui/pages/timeline/minimap_widget.h"
#include "gui/widgets/calls_panel.h"
#include "gui/widgets/card.h"
#include "tests/integration/gui/support.h"

namespace swinscope::tests {
namespace {

using gui::ActionId;
using testing::HasSubstr;

constexpr const char* kKernel = "upsample_bilinear2d_backward_out_frame";

class JourneyTest : public WindowTest {
 protected:
  void SetUp() override {
    open(copy_of_recording());
    ASSERT_NE(window_.run(), nullptr) << banner();
  }
  void show_timeline() {
    window_.show_page(QStringLiteral("timeline"));
    ASSERT_TRUE(QTest::qWaitForWindowExposed(&window_));
    view().setFocus();
  }
  // Types into the search bar as a user does, and goes to the first hit.
  void find(const char* name) {
    show_timeline();
    press(Qt::Key_Slash);
    auto* edit = window_.findChild<QLineEdit*>(QStringLiteral("search_text"));
    ASSERT_TRUE(edit->isVisible());
    QTest::keyClicks(edit, QString::fromUtf8(name));
    settle();
    QTest::keyClick(edit, Qt::Key_Return);
    ASSERT_TRUE(view().selection().has_value());
  }
  std::string detail(const char* what) { return timeline().detail(QString::fromUtf8(what)).toStdString(); }
};

TEST_F(JourneyTest, OverviewShowsVerdictFiguresAndCharts) {
  EXPECT_THAT(overview().verdict().toStdString(), HasSubstr("bound by memory"));
  ASSERT_EQ(overview().cards().size(), 3U);  // PyTorch says neither images nor losses, and one rank has no others
  EXPECT_EQ(overview().cards()[0]->value(), QStringLiteral("236.0 ms"));
  EXPECT_EQ(overview().cards()[1]->value(), QStringLiteral("76.3 %"));
  EXPECT_EQ(overview().cards()[2]->value(), QStringLiteral("23.7 %"));
  QTest::mouseClick(overview().cards()[1], Qt::LeftButton);  // its evidence
  settle();
  EXPECT_EQ(window_.page_id(), QStringLiteral("tables"));
  EXPECT_THAT(tables().title().text().toStdString(), HasSubstr("Utilization"));
  EXPECT_THAT(window_.breadcrumbs().toStdString(), HasSubstr("copy.kineto.json.gz › Tables"));
}

TEST_F(JourneyTest, ThreeStepsAreInTheMinimap) {
  show_timeline();
  EXPECT_EQ(timeline().minimap().step_count(), 3U);
  EXPECT_FALSE(view().rows().lanes().empty());
}

TEST_F(JourneyTest, SearchFindsAKernelAndItsDetailsShowTheLaunchDelay) {
  find(kKernel);
  EXPECT_EQ(timeline().search().status(), QStringLiteral("13 of 36 hits"));  // the first of the step that is seen
  const auto& ticks = timeline().minimap().ticks();
  EXPECT_TRUE(std::any_of(ticks.begin(), ticks.end(), [](auto hits) { return hits > 0; }));
  EXPECT_THAT(detail("name"), HasSubstr(kKernel));
  const gui::LaunchLink link = view().links().at(0);
  EXPECT_EQ(detail("launch delay"), format_duration(link.launch_delay_ns));
  EXPECT_GT(link.launch_delay_ns, 0);
  EXPECT_THAT(detail("grid"), HasSubstr(" x "));
  // The next hit is a later one of the same name.
  const auto first = *view().selection();
  press(Qt::Key_Return);
  EXPECT_GT(view().timeline()->event(*view().selection()).start_ns, view().timeline()->event(first).start_ns);
  press(Qt::Key_Return, Qt::ShiftModifier);
  EXPECT_EQ(*view().selection(), first);
}

TEST_F(JourneyTest, ZoomsToTheSelectionAndBack) {
  find(kKernel);
  view().setFocus();
  press(Qt::Key_0);
  const Interval all = view().seen();
  press(Qt::Key_F);
  const Interval close = view().seen();
  const LaneEvent event = view().timeline()->event(*view().selection());
  EXPECT_LT(close.length(), all.length() / 4);
  EXPECT_LE(close.begin_ns, event.start_ns);
  EXPECT_GE(close.end_ns, event.end_ns());
  EXPECT_GT(view().event_rect(*view().selection()).width(), 100);
  press(Qt::Key_Backspace);
  EXPECT_EQ(view().seen(), all);
  press(Qt::Key_Right, Qt::AltModifier);
  EXPECT_EQ(view().seen(), close);
  press(Qt::Key_0);
  EXPECT_EQ(view().seen(), all);
}

TEST_F(JourneyTest, KeysMoveAndZoom) {
  show_timeline();
  const Interval all = view().seen();
  press(Qt::Key_W);
  const Interval closer = view().seen();
  EXPECT_LT(closer.length(), all.length());
  press(Qt::Key_D);
  EXPECT_GT(view().seen().begin_ns, closer.begin_ns);
  press(Qt::Key_A);
  press(Qt::Key_S);
  EXPECT_NEAR(static_cast<double>(view().seen().length()), static_cast<double>(all.length()),
              0.01 * static_cast<double>(all.length()));
}

TEST_F(JourneyTest, DraggingSelectsAnAreaWithItsStatistics) {
  show_timeline();
  const QRect lanes = view().lanes_rect();
  const QPoint from(lanes.left() + lanes.width() / 3, lanes.top() + 30);
  const QPoint to(lanes.left() + 2 * lanes.width() / 3, lanes.top() + 80);
  QTest::mousePress(view().viewport(), Qt::LeftButton, {}, from);
  QTest::mouseMove(view().viewport(), (from + to) / 2);
  QTest::mouseMove(view().viewport(), to);
  ASSERT_TRUE(view().area().has_value());  // while the mouse is still down
  QTest::mouseRelease(view().viewport(), Qt::LeftButton, {}, to);
  settle();
  const auto& area = *view().area();
  EXPECT_EQ(area.window.begin_ns, view().time_at(from.x()));
  EXPECT_EQ(area.window.end_ns, view().time_at(to.x()));
  std::uint64_t events = 0;
  for (const LaneId lane : area.lanes) {
    const auto [first, last] = view().timeline()->lanes[lane].events_in(area.window.begin_ns, area.window.end_ns);
    events += last - first;
  }
  ASSERT_GT(events, 0U);
  EXPECT_THAT(timeline().area_summary().toStdString(),
              HasSubstr("Δt " + format_duration(area.window.length()) + " · " +
                        format_count(static_cast<std::int64_t>(events)) + " events"));
}

TEST_F(JourneyTest, FollowsTheArrowToTheLaunchAndBack) {
  find(kKernel);
  view().setFocus();
  const TimelineEventId kernel = *view().selection();
  press(Qt::Key_BracketLeft);
  EXPECT_THAT(detail("name"), HasSubstr("cudaLaunchKernel"));
  EXPECT_THAT(detail("launches"), HasSubstr(kKernel));
  EXPECT_FALSE(view().event_rect(*view().selection()).isEmpty());
  press(Qt::Key_BracketRight);
  EXPECT_EQ(*view().selection(), kernel);
}

TEST_F(JourneyTest, NeighboursPinsAndAreaByKeyboard) {
  show_timeline();
  press(Qt::Key_Period);  // nothing is selected: the first in sight
  ASSERT_TRUE(view().selection().has_value());
  const TimelineEventId first = *view().selection();
  press(Qt::Key_Period);
  EXPECT_EQ(view().selection()->position, first.position + 1);
  press(Qt::Key_Comma);
  EXPECT_EQ(*view().selection(), first);
  press(Qt::Key_P);
  ASSERT_EQ(view().rows().pinned.size(), 1U);
  EXPECT_EQ(view().rows().pinned[0].lane(), first.lane);
  press(Qt::Key_P);
  EXPECT_TRUE(view().rows().pinned.empty());
  press(Qt::Key_R);
  settle();
  EXPECT_EQ(view().area()->window.length(), view().timeline()->event(first).duration_ns);
  press(Qt::Key_Escape);
  EXPECT_FALSE(view().selection().has_value());
  EXPECT_FALSE(view().area().has_value());
}

TEST_F(JourneyTest, BookmarksComeBack) {
  find(kKernel);
  view().setFocus();
  press(Qt::Key_F);
  const Interval close = view().seen();
  press(Qt::Key_M);
  auto* list = window_.findChild<QListWidget*>(QStringLiteral("bookmarks"));
  ASSERT_EQ(list->count(), 1);
  EXPECT_THAT(list->item(0)->text().toStdString(), HasSubstr(kKernel));
  list->item(0)->setText(QStringLiteral("the slow one"));
  QCoreApplication::processEvents();
  EXPECT_TRUE(std::filesystem::exists(folder() / "copy.kineto.json.gz.swinscope-bookmarks.json"));

  gui::MainWindow later;
  later.open({window_.run()->path});
  ASSERT_TRUE(QTest::qWaitFor([&] { return later.is_settled(); }, kWaitMs));
  ASSERT_EQ(later.findChild<gui::TimelinePage*>()->bookmarks().all().size(), 1U);
  EXPECT_EQ(later.findChild<gui::TimelinePage*>()->bookmarks().all()[0].label, QStringLiteral("the slow one"));
  EXPECT_EQ(later.findChild<gui::TimelinePage*>()->bookmarks().all()[0].begin_ns, close.begin_ns);
  EXPECT_EQ(later.findChild<gui::TimelinePage*>()->bookmarks().all()[0].end_ns, close.end_ns);
}

TEST_F(JourneyTest, KernelsPageGoesThroughTheCallsInTheTimeline) {
  window_.show_page(QStringLiteral("kernels"));
  settle();
  gui::TablePanel& table = kernels().table();
  EXPECT_THAT(table.text_at(table.current_row(), "name").toStdString(), HasSubstr(kKernel));  // the longest
  EXPECT_EQ(table.text_at(table.current_row(), "total_ns"), QStringLiteral("196.4 ms"));
  EXPECT_EQ(kernels().calls().calls().size(), 36U);
  QTest::keyClick(&table, Qt::Key_N);
  ASSERT_EQ(window_.page_id(), QStringLiteral("timeline"));
  EXPECT_THAT(detail("name"), HasSubstr(kKernel));
  EXPECT_EQ(view().timeline()->event(*view().selection()).duration_ns, kernels().calls().calls()[0].duration_ns);
}

TEST_F(JourneyTest, TheFilterChangesEveryPage) {
  window_.show_page(QStringLiteral("kernels"));
  settle();
  auto* name = window_.findChild<QLineEdit*>(QStringLiteral("filter_name"));
  const int all = kernels().table().model_of_rows().rowCount();
  name->setText(QStringLiteral("upsample"));
  ASSERT_TRUE(QTest::qWaitFor([&] { return kernels().table().model_of_rows().rowCount() < all; }, kWaitMs));
  settle();
  const gui::TableModel& rows = kernels().table().model_of_rows();
  ASSERT_GT(rows.rowCount(), 0);
  for (int i = 0; i < rows.rowCount(); ++i)
    EXPECT_THAT(kernels().table().text_at(i, "name").toStdString(), HasSubstr("upsample"));
  EXPECT_THAT(window_.breadcrumbs().toStdString(), HasSubstr("filtered"));
  window_.perform(ActionId::kClearFilter);
  settle();
  EXPECT_EQ(rows.rowCount(), all);
}

TEST_F(JourneyTest, TheOperatorsOfAPyTorchTraceAreLayers) {
  window_.show_page(QStringLiteral("layers"));
  settle();
  const QAbstractItemModel& model = *layers().tree().model();
  const QModelIndexList found = model.match(model.index(0, 0), Qt::DisplayRole, QStringLiteral("aten::conv2d"), 1,
                                            Qt::MatchRecursive | Qt::MatchContains);
  EXPECT_FALSE(found.isEmpty());
}

TEST_F(JourneyTest, ExportsAnImageOfTheView) {
  show_timeline();
  const QString path = qt(folder() / "view.png");
  ASSERT_TRUE(window_.export_image(path));
  const QImage image(path);
  EXPECT_GT(image.width(), 1000);
  EXPECT_FALSE(window_.export_image(qt(folder() / "no such folder" / "view.png")));
  EXPECT_THAT(banner(), HasSubstr("cannot be written"));
}

TEST_F(JourneyTest, ExportsReports) {
  for (const char* name : {"r.html", "r.json", "r.csv", "r.md"}) {
    window_.export_report(qt(folder() / name));
    settle();
    EXPECT_EQ(banner(), "");
    EXPECT_THAT(read_file(folder() / name), HasSubstr("bilinear2d")) << name;
  }
  const std::string markdown = read_file(folder() / "r.md");
  const std::size_t figure = markdown.find("](r_figures/1-");
  ASSERT_NE(figure, std::string::npos) << "as the terminal's report has them";
  const std::string name = markdown.substr(figure + 2, markdown.find(')', figure) - figure - 2);
  EXPECT_THAT(read_file(folder() / name), HasSubstr("<svg"));
  window_.export_report(qt(folder() / "r.pdf"));
  EXPECT_THAT(banner(), HasSubstr("“pdf” is none"));
}

// Two actions: to the timeline, and G.
TEST_F(JourneyTest, TheLongestIdleGapAndWhatTheHostDid) {
  const Trace trace = open_trace(recording());
  const RunFacts facts(trace, {});
  const std::vector<IdleGap>& gaps = facts.idle_gaps();
  const std::vector<HostWork> host = host_work(trace, std::span(gaps).first(2));
  const auto expect_shown = [&](std::size_t number) {
    settle();
    EXPECT_EQ(detail("duration"), format_duration(gaps[number].time.length()));
    EXPECT_EQ(detail("cause"), idle_cause_name(gaps[number].cause));
    EXPECT_EQ(detail("the host"), host[number].shares(trace).front());
    ASSERT_TRUE(view().area().has_value());
    EXPECT_EQ(view().area()->window.length(), gaps[number].time.length());
    EXPECT_LE(view().seen().begin_ns, view().area()->window.begin_ns);
    EXPECT_GE(view().seen().end_ns, view().area()->window.end_ns);
    EXPECT_LT(view().seen().length(), 3 * view().area()->window.length());
  };
  QTest::keyClick(&window_, Qt::Key_2, Qt::ControlModifier);
  press(Qt::Key_G);
  expect_shown(0);
  EXPECT_EQ(detail("the host"), "aten::cat 57 %");
  EXPECT_THAT(window_.statusBar()->currentMessage().toStdString(),
              HasSubstr("idle gap 1 of 17,769, the longest first: 3.345 ms, host"));
  // In the gap nothing runs on the device.
  for (const LaneId lane : view().area()->lanes) {
    if (!is_gpu(view().timeline()->lanes[lane].key.kind)) continue;
    const auto [first, last] =
        view().timeline()->lanes[lane].events_in(view().area()->window.begin_ns + 1, view().area()->window.end_ns - 1);
    EXPECT_EQ(first, last) << lane;
  }
  press(Qt::Key_G);
  expect_shown(1);
  press(Qt::Key_G, Qt::ShiftModifier);
  expect_shown(0);
  press(Qt::Key_Period);  // what is selected next has its own details
  EXPECT_EQ(detail("cause"), "");
}

TEST_F(JourneyTest, TheCriticalPathIsMarkedWhenAskedFor) {
  show_timeline();
  const QImage before = view().grab().toImage();
  EXPECT_TRUE(view().path().empty()) << "off at first";
  press(Qt::Key_C);
  settle();
  ASSERT_FALSE(view().path().empty());
  EXPECT_THAT(timeline().path_text().toStdString(), HasSubstr("critical path of 3 steps: "));
  EXPECT_EQ(window_.statusBar()->currentMessage(), timeline().path_text());
  EXPECT_TRUE(window_.action(ActionId::kCriticalPath).isChecked());
  EXPECT_NE(view().grab().toImage(), before);
  // Below the work that is on it; a screen reader hears of it, too.
  std::size_t marks = 0;
  for (const std::vector<Interval>& lane : view().path())
    marks += lane.size();
  EXPECT_GT(marks, 100U);
  const QAccessibleInterface* lanes = QAccessible::queryAccessibleInterface(&view());
  EXPECT_THAT(lanes->child(0)->text(QAccessible::Description).toStdString(), HasSubstr(" parts on the critical path"));
  press(Qt::Key_C);
  EXPECT_TRUE(view().path().empty());
  EXPECT_EQ(view().grab().toImage(), before);
  EXPECT_FALSE(window_.action(ActionId::kCriticalPath).isChecked());

  // Where it cannot be said the status bar says why.
  press(Qt::Key_C);
  write("two.json", kineto({kineto_kernel("gemm", "10", "5"), kineto_kernel("gemm", "20", "5")}));
  open(folder() / "two.json");
  EXPECT_TRUE(view().path().empty());
  EXPECT_THAT(timeline().path_text().toStdString(), HasSubstr(": "));
}

}  // namespace
}  // namespace swinscope::tests
