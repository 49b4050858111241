// From event to event, and between the timeline and the pages of kernels and layers: keys, menus, histograms, search.
#include <QApplication>
#include <QClipboard>
#include <QComboBox>
#include <QContextMenuEvent>
#include <QGuiApplication>
#include <QHelpEvent>
#include <QInputDialog>
#include <QLineEdit>
#include <QMenu>
#include <QToolButton>
#include <QToolTip>
#include <QTreeView>

#include <gmock/gmock.h>

#include "analyzer/base/text.h"
#include "gui/core/layer_tree.h"
#include "gui/core/table_model.h"
#include "gui/widgets/calls_panel.h"
#include "gui/widgets/chart_widget.h"
#include "gui/widgets/filter_bar.h"
#include "tests/integration/gui/timeline_support.h"

namespace swinscope::tests {
namespace {

using gui::ActionId;
using testing::HasSubstr;
using TimelineCallsTest = TimelinePageTest;

// Clicks and keys: one each.
TEST_F(TimelineCallsTest, NextAndLongestCallOfAKernelAreOneKeyEach) {
  open_timeline(recording());
  timeline().search().set_text(QStringLiteral("upsample_bilinear2d_backward_out_frame"));
  settle();
  press(Qt::Key_Return);
  ASSERT_TRUE(view().selection().has_value());
  const TimelineEventId first = *view().selection();
  press(Qt::Key_N);
  EXPECT_GT(view().timeline()->event(*view().selection()).start_ns, view().timeline()->event(first).start_ns);
  EXPECT_EQ(view().timeline()->event(*view().selection()).name, view().timeline()->event(first).name);
  press(Qt::Key_N, Qt::ShiftModifier);
  EXPECT_EQ(*view().selection(), first);
  press(Qt::Key_L);
  const std::int64_t longest = view().timeline()->event(*view().selection()).duration_ns;
  EXPECT_EQ(format_duration(longest), "55.17 ms");  // as the page Kernels says
  press(Qt::Key_L);
  EXPECT_LE(view().timeline()->event(*view().selection()).duration_ns, longest);
  EXPECT_GT(view().timeline()->event(*view().selection()).duration_ns, longest / 2);

  // The same on a page without calls of its own.
  window_.show_page(QStringLiteral("overview"));
  ASSERT_TRUE(window_.can_perform(ActionId::kNextOccurrence));
  QTest::keyClick(window_.focusWidget(), Qt::Key_N);
  EXPECT_EQ(window_.page_id(), QStringLiteral("timeline"));
}

TEST_F(TimelineCallsTest, TheMenuOfAnEventLeadsToAllCalls) {
  open_timeline(recording());
  timeline().search().set_text(QStringLiteral("upsample_bilinear2d_out_frame"));
  settle();
  press(Qt::Key_Return);
  const QString name = QString::fromStdString(std::string(view().timeline()->name(*view().selection())));
  QContextMenuEvent event(QContextMenuEvent::Keyboard, {}, {});
  const auto choose = [&](const QString& text) {
    QCoreApplication::sendEvent(view().viewport(), &event);
    auto* menu = window_.findChild<QMenu*>(QStringLiteral("timeline_menu"));
    ASSERT_NE(menu, nullptr);
    QStringList texts;
    for (QAction* action : menu->actions()) {
      texts << gui::plain_text(action->text());
      if (texts.back() == text) action->trigger();
    }
    EXPECT_TRUE(texts.contains(text)) << texts.join(QLatin1Char('\n')).toStdString();
    for (const char* other : {"Next occurrence", "Longest occurrence", "Zoom to selection", "Add bookmark"})
      EXPECT_TRUE(texts.contains(QLatin1String(other))) << other;
    menu->close();
    QCoreApplication::sendPostedEvents(menu, QEvent::DeferredDelete);
  };
  choose(QStringLiteral("Copy name"));
  EXPECT_EQ(QGuiApplication::clipboard()->text(), name);
  choose(QStringLiteral("All calls of this kernel"));
  settle();
  EXPECT_EQ(window_.page_id(), QStringLiteral("kernels"));
  EXPECT_THAT(kernels().calls().summary().toStdString(), HasSubstr(name.left(300).toStdString()));
  EXPECT_EQ(kernels().calls().calls().size(), 36U);
  EXPECT_EQ(window_.filter().filter(), gui::Filter());
  window_.show_page(QStringLiteral("timeline"));
  choose(QStringLiteral("Only events of this name"));
  EXPECT_EQ(window_.filter().filter().name, name);
}

TEST_F(TimelineCallsTest, ABarOfTheHistogramAndTheLongestButtonLeadToCalls) {
  open_timeline(recording());
  window_.show_page(QStringLiteral("kernels"));
  settle();
  gui::ChartWidget& histogram = kernels().calls().histogram();
  EXPECT_THAT(histogram.chart().x_title, HasSubstr("logarithmic"));
  const int last = static_cast<int>(histogram.chart().series[0].values.size()) - 1;
  Q_EMIT histogram.category_activated(last, 0);
  EXPECT_EQ(window_.page_id(), QStringLiteral("timeline"));
  EXPECT_GT(view().timeline()->event(*view().selection()).duration_ns, 40'000'000);
  window_.show_page(QStringLiteral("kernels"));
  QTest::keyClick(&kernels().table(), Qt::Key_L);
  EXPECT_EQ(format_duration(view().timeline()->event(*view().selection()).duration_ns), "55.17 ms");
}

// The rows' menu, by the right button or the menu key.
TEST_F(TimelineCallsTest, RowsHaveAMenu) {
  open_timeline(recording());
  window_.show_page(QStringLiteral("kernels"));
  settle();
  Q_EMIT kernels().table().customContextMenuRequested({20, 20});
  auto* menu = window_.findChild<QMenu*>(QStringLiteral("rows_menu"));
  ASSERT_NE(menu, nullptr);
  QStringList texts;
  for (QAction* action : menu->actions()) {
    texts << gui::plain_text(action->text());
    if (texts.back() == QLatin1String("Copy rows")) action->trigger();
  }
  EXPECT_TRUE(texts.contains(QStringLiteral("Next occurrence")));
  EXPECT_TRUE(texts.contains(QStringLiteral("Search in the timeline")));
  // With titles, and one unit a column.
  const QStringList lines = QGuiApplication::clipboard()->text().split(QLatin1Char('\n'));
  ASSERT_EQ(lines.size(), 2);
  EXPECT_TRUE(lines[0].contains(QStringLiteral("\ttotal (ms)\t")));
  EXPECT_TRUE(lines[1].contains(QStringLiteral("\t196.4")));
  EXPECT_FALSE(lines[1].contains(QStringLiteral(" ms")));
  menu->close();
}

TEST_F(TimelineCallsTest, HitsAreNumberedListedAndStayWhenTheBarIsGone) {
  open_timeline(recording());
  press(Qt::Key_Slash);
  auto* edit = window_.findChild<QLineEdit*>(QStringLiteral("search_text"));
  QTest::keyClicks(edit, QStringLiteral("upsample_bilinear2d_backward_out_frame"));
  settle();
  EXPECT_EQ(timeline().search().status(), QStringLiteral("36 hits"));
  QTest::keyClick(edit, Qt::Key_Return);
  QTest::keyClick(edit, Qt::Key_Return);
  const QString number = timeline().search().status().section(QLatin1Char(' '), 0, 0);
  EXPECT_EQ(timeline().search().status(), number + QStringLiteral(" of 36 hits"));
  // The list of all, of which a row leads to its event.
  QTest::mouseClick(window_.findChild<QToolButton*>(QStringLiteral("list_hits")), Qt::LeftButton);
  ASSERT_EQ(timeline().hits().model_of_rows().rowCount(), 36);
  EXPECT_EQ(timeline().hits().text_at(0, "name"), QStringLiteral("upsample_bilinear2d_backward_out_frame"));
  Q_EMIT timeline().hits().row_activated(number.toInt() - 1);
  const TimelineEventId second = *view().selection();
  EXPECT_EQ(timeline().hits().text_at(number.toInt() - 1, "duration_ns").toStdString(),
            format_duration(view().timeline()->event(second).duration_ns));
  // The bar goes; the hits stay, and can be looked at closer.
  QTest::keyClick(edit, Qt::Key_Escape);
  EXPECT_FALSE(edit->isVisible());
  ASSERT_TRUE(view().hasFocus());
  press(Qt::Key_F);
  EXPECT_GT(view().event_rect(second).width(), 100);
  press(Qt::Key_Return);
  EXPECT_NE(*view().selection(), second);
  press(Qt::Key_Escape);
  EXPECT_EQ(timeline().search().text(), QString());
  EXPECT_TRUE(view().selection().has_value());
  press(Qt::Key_Escape);
  EXPECT_FALSE(view().selection().has_value());
}

// Two runs are compared by hand: what was chosen stays as far as the next run has it, and comes back.
TEST_F(TimelineCallsTest, TheFilterStaysFromRunToRun) {
  open_timeline(two_gpus());
  window_.findChild<QComboBox*>(QStringLiteral("filter_rank"))->setCurrentIndex(2);
  window_.filter_bar().set_name(QStringLiteral("kernel"));
  settle();
  ASSERT_EQ(window_.filter().filter().rank, 1);
  open(recording());  // of rank 0 alone
  EXPECT_EQ(window_.filter().filter().rank, std::nullopt);
  EXPECT_EQ(window_.filter().filter().name, QStringLiteral("kernel"));
  open(two_gpus());
  EXPECT_EQ(window_.filter().filter().rank, 1);
  for (const LaneId lane : view().rows().lanes())
    EXPECT_EQ(view().timeline()->processes[view().timeline()->lanes[lane].key.process].rank, 1);
  window_.perform(ActionId::kClearFilter);
  open(recording());
  EXPECT_EQ(window_.filter().filter(), gui::Filter());
}

TEST_F(TimelineCallsTest, TooltipsHaveTheShortName) {
  open_timeline(recording());
  timeline().search().set_text(QStringLiteral("upsample_bilinear2d_backward_out_frame"));
  settle();
  press(Qt::Key_Return);
  press(Qt::Key_F);
  const QPoint place = view().event_rect(*view().selection()).center().toPoint();
  QHelpEvent help(QEvent::ToolTip, place, view().viewport()->mapToGlobal(place));
  QApplication::sendEvent(view().viewport(), &help);
  const QStringList lines = QToolTip::text().split(QLatin1Char('\n'));
  ASSERT_EQ(lines.size(), 4);
  EXPECT_EQ(lines[0], QStringLiteral("upsample_bilinear2d_backward_out_frame"));
  EXPECT_EQ(lines[2], QStringLiteral("rank 0 · GPU 0 · stream 7"));
  EXPECT_THAT(lines[3].toStdString(), HasSubstr(" behind its launch"));
}

TEST_F(TimelineCallsTest, KernelsCanBeGroupedAndAreSummed) {
  open_timeline(recording());
  window_.show_page(QStringLiteral("kernels"));
  settle();
  EXPECT_THAT(kernels().sum().toStdString(), HasSubstr(" rows: "));
  EXPECT_THAT(kernels().sum().toStdString(), HasSubstr("total 540.1 ms"));  // the sum over the file
  kernels().group_by(2);
  settle();
  EXPECT_EQ(kernels().table().text_at(0, "name"), QStringLiteral("resample"));
  EXPECT_THAT(kernels().sum().toStdString(), HasSubstr("total 540.1 ms"));
  EXPECT_EQ(kernels().calls().calls().size(), 90U);  // 36 + 36 of resizing, 9 + 9 of pooling
  kernels().group_by(3);
  settle();
  EXPECT_LE(kernels().table().model_of_rows().rowCount(), 4);
  kernels().group_by(0);
  settle();
  // Of the selected rows, where there are several.
  kernels().table().selectAll();
  EXPECT_THAT(kernels().sum().toStdString(), HasSubstr(" selected rows: "));
}

TEST_F(TimelineCallsTest, LayersAreSortedPerStepAndEqualOnesFolded) {
  open_timeline(two_gpus());
  window_.show_page(QStringLiteral("layers"));
  settle();
  using Model = gui::LayerTreeModel;
  const QAbstractItemModel& model = *layers().tree().model();
  EXPECT_EQ(model.headerData(Model::kPerStep, Qt::Horizontal), QStringLiteral("per step"));
  const QString first = model.index(0, 0).data().toString();
  layers().tree().sortByColumn(Model::kWork, Qt::DescendingOrder);
  for (int row = 1; row < model.rowCount(); ++row)
    EXPECT_GE(model.index(row - 1, Model::kWork).data(gui::kSortRole).toLongLong(),
              model.index(row, Model::kWork).data(gui::kSortRole).toLongLong());
  layers().tree().sortByColumn(-1, Qt::AscendingOrder);
  EXPECT_EQ(model.index(0, 0).data().toString(), first);  // in the order in which they ran

  layers().group_by(1);
  settle();
  const QModelIndexList folded = model.match(model.index(0, 0), Qt::DisplayRole, QStringLiteral("block*"), -1,
                                             Qt::MatchRecursive | Qt::MatchFixedString);
  ASSERT_FALSE(folded.isEmpty());
  layers().tree().setCurrentIndex(folded.front());
  settle();
  EXPECT_GT(layers().calls().calls().size(), 0U);
  EXPECT_THAT(layers().sum().toStdString(), HasSubstr(" rows: "));
}

// Forward and backward of an operator are joined when either is selected.
TEST_F(TimelineCallsTest, AnOperatorLeadsToItsBackward) {
  open_timeline(recording());
  timeline().search().set_text(QStringLiteral("AddmmBackward0"));
  settle();
  press(Qt::Key_Return);
  settle();
  ASSERT_NE(view().collective().last.position, kNoPosition);
  ASSERT_FALSE(view().collective().others.empty());
  const Timeline& shown = *view().timeline();
  EXPECT_NE(shown.lanes[view().collective().last.lane].key.global_tid,
            shown.lanes[view().collective().others[0].lane].key.global_tid);
  EXPECT_LT(shown.event(view().collective().last).start_ns, shown.event(view().collective().others[0]).start_ns);
}

// From the first page, each key or click counted.
TEST_F(TimelineCallsTest, JourneysTakeFewActions) {
  open(recording());
  ASSERT_TRUE(QTest::qWaitForWindowExposed(&window_));
  int actions = 0;
  const auto act = [&](int key, Qt::KeyboardModifiers modifiers = Qt::NoModifier) {
    ++actions;
    QTest::keyClick(window_.focusWidget(), static_cast<Qt::Key>(key), modifiers);
    settle();
  };
  act(Qt::Key_2, Qt::ControlModifier);
  act(Qt::Key_G);
  EXPECT_FALSE(timeline().detail(QStringLiteral("the host")).isEmpty());
  EXPECT_LE(actions, 3);  // the longest idle gap, and what the host did
  actions = 0;
  act(Qt::Key_3, Qt::ControlModifier);
  act(Qt::Key_L);
  EXPECT_EQ(format_duration(view().timeline()->event(*view().selection()).duration_ns), "55.17 ms");
  EXPECT_LE(actions, 2);  // the longest call of the kernel that takes longest
  actions = 0;
  act(Qt::Key_N);
  EXPECT_LE(actions, 2);  // and the next one
  open(data() / "pytorch_swin_tiny_ddp_2gpu");
  actions = 0;
  act(Qt::Key_6, Qt::ControlModifier);
  EXPECT_EQ(window_.page_id(), QStringLiteral("ranks"));
  EXPECT_LE(actions, 3);  // who waits for whom: the page's sentence
}

TEST_F(TimelineCallsTest, GoesToATime) {
  open_timeline(recording());
  press(Qt::Key_T);
  auto* dialog = window_.findChild<QInputDialog*>();
  ASSERT_NE(dialog, nullptr);
  dialog->setTextValue(QStringLiteral("100 ms to 0.2 s"));
  dialog->accept();
  const std::int64_t origin = view().timeline()->span().begin_ns;
  EXPECT_NEAR(static_cast<double>(view().seen().begin_ns - origin), 100e6, 3e6);
  EXPECT_NEAR(static_cast<double>(view().seen().end_ns - origin), 200e6, 3e6);
}

}  // namespace
}  // namespace swinscope::tests
