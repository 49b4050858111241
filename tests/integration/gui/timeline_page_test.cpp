// What a user does on the timeline beyond looking at it: folding lanes, spanning areas and windows, going from call to
// call.
#include <QApplication>
#include <QClipboard>
#include <QComboBox>
#include <QContextMenuEvent>
#include <QGuiApplication>
#include <QHelpEvent>
#include <QInputDialog>
#include <QListWidget>
#include <QMenu>
#include <QToolButton>
#include <QToolTip>
#include <QTreeView>

#include <gmock/gmock.h>

#include "analyzer/base/text.h"
#include "gui/core/layer_tree.h"
#include "gui/core/table_model.h"
#include "gui/pages/timeline/area_panel.h"
#include "gui/pages/timeline/call_histogram.h"
#include "gui/pages/timeline/category_legend.h"
#include "gui/pages/timeline/details_panel.h"
#include "gui/pages/timeline/flame_widget.h"
#include "gui/pages/timeline/minimap_widget.h"
#include "gui/widgets/calls_panel.h"
#include "gui/widgets/chart_widget.h"
#include "gui/widgets/filter_bar.h"
#include "tests/integration/gui/support.h"

namespace swinscope::tests {
namespace {

using gui::ActionId;
using gui::LaneRow;
using testing::HasSubstr;

class TimelinePageTest : public WindowTest {
 protected:
  void open_timeline(const std::filesystem::path& path) {
    open(path);
    ASSERT_NE(window_.run(), nullptr) << banner();
    window_.show_page(QStringLiteral("timeline"));
    ASSERT_TRUE(QTest::qWaitForWindowExposed(&window_));
    view().setFocus();
  }
  std::filesystem::path data() const { return recording().parent_path(); }
  std::filesystem::path two_gpus() const { return data() / "swinscope_swin_large_weak_2gpu" / "gpus2" / "tracing"; }
  // The first row of that label.
  const LaneRow* row(const QString& label) {
    for (const LaneRow& row : view().rows().scrolled)
      if (row.label == label) return &row;
    return nullptr;
  }
  void click_name(const LaneRow& row) {
    QTest::mouseClick(view().viewport(), Qt::LeftButton, {}, QPoint(30, view().row_rect(row).center().y()));
  }
  void drag(QWidget* widget, QPoint from, QPoint to) {
    QTest::mousePress(widget, Qt::LeftButton, {}, from);
    QTest::mouseMove(widget, (from + to) / 2);
    QTest::mouseMove(widget, to);
    QTest::mouseRelease(widget, Qt::LeftButton, {}, to);
    settle();
  }
};

// 24 streams of graphs are one row; a click shows them, another takes them back.
TEST_F(TimelinePageTest, GraphStreamsAreOneRowUntilTheyAreWanted) {
  open_timeline(two_gpus());
  const std::size_t lanes = view().rows().lanes().size();
  const std::size_t rows = view().rows().scrolled.size();
  ASSERT_NE(row(QStringLiteral("24 graph streams")), nullptr);
  EXPECT_EQ(row(QStringLiteral("24 graph streams"))->lanes.size(), 24U);
  click_name(*row(QStringLiteral("24 graph streams")));
  EXPECT_EQ(view().rows().scrolled.size(), rows + 24);
  EXPECT_EQ(view().rows().lanes().size(), lanes);
  click_name(*row(QStringLiteral("24 graph streams")));
  EXPECT_EQ(view().rows().scrolled.size(), rows);

  // By keyboard: the group of the selected event, here the GPU.
  press(Qt::Key_Period);
  press(Qt::Key_E);
  EXPECT_LT(view().rows().scrolled.size(), rows);
  EXPECT_FALSE(view().event_rect(*view().selection()).isEmpty());  // it is still to be seen
  press(Qt::Key_E, Qt::ShiftModifier);                             // all unfolded
  EXPECT_EQ(row(QStringLiteral("24 graph streams"))->lanes.size(), 0U);
  press(Qt::Key_E, Qt::ShiftModifier);
  EXPECT_LT(view().rows().scrolled.size(), 12U);
}

TEST_F(TimelinePageTest, OpensWithTheMedianStepAndItsLayersOnTheGpu) {
  open_timeline(two_gpus());
  EXPECT_NEAR(static_cast<double>(view().seen().length()),
              static_cast<double>(gui::opening_window(*view().timeline()).length()),
              0.03 * static_cast<double>(view().seen().length()));
  ASSERT_NE(view().layers(), nullptr);
  const LaneRow* phase = row(QStringLiteral("phase"));
  ASSERT_NE(phase, nullptr);
  // A click on a layer selects its time on the device, and that only.
  const int x = static_cast<int>(view().x_of(view().seen().begin_ns + view().seen().length() / 2));
  QTest::mouseClick(view().viewport(), Qt::LeftButton, {}, QPoint(x, view().row_rect(*phase).center().y()));
  settle();
  ASSERT_TRUE(view().area().has_value());
  for (const LaneId lane : view().area()->lanes)
    EXPECT_TRUE(is_gpu(view().timeline()->lanes[lane].key.kind));
  EXPECT_FALSE(timeline().legend().categories().empty());
  EXPECT_THAT(timeline().legend().accessibleDescription().toStdString(), HasSubstr("attention"));
}

TEST_F(TimelinePageTest, ADragInTheRulerIsOverAllLanes) {
  open_timeline(recording());
  const QRect lanes = view().lanes_rect();
  drag(view().viewport(), {lanes.left() + 100, 8}, {lanes.left() + 300, 8});
  ASSERT_TRUE(view().area().has_value());
  EXPECT_EQ(view().area()->lanes, view().rows().lanes());
  EXPECT_EQ(view().area()->window.begin_ns, view().time_at(lanes.left() + 100));
}

TEST_F(TimelinePageTest, ADragInTheMinimapShowsThatPart) {
  open_timeline(recording());
  press(Qt::Key_0);
  gui::MinimapWidget& map = timeline().minimap();
  const Interval span = view().timeline()->span();
  const auto time = [&](int x) { return span.begin_ns + span.length() * x / map.width(); };
  const auto near = [&](std::int64_t a, std::int64_t b) { return std::abs(a - b) < span.length() / 50; };
  drag(&map, {100, 20}, {300, 20});
  EXPECT_TRUE(near(view().seen().begin_ns, time(100)));
  EXPECT_TRUE(near(view().seen().end_ns, time(300)));
  drag(&map, {200, 20}, {400, 20});  // the window itself
  EXPECT_TRUE(near(view().seen().begin_ns, time(300)));
  EXPECT_TRUE(near(view().seen().end_ns, time(500)));
}

TEST_F(TimelinePageTest, PinsAndFoldsStayWhenTheRunIsLoadedAgain) {
  open_timeline(copy_of_recording());
  press(Qt::Key_Period);
  press(Qt::Key_P);
  const std::size_t rows = view().rows().scrolled.size();
  press(Qt::Key_E);
  const std::size_t folded = view().rows().scrolled.size();
  EXPECT_LT(folded, rows);
  window_.perform(ActionId::kReload);
  settle();
  EXPECT_EQ(view().rows().pinned.size(), 1U);
  EXPECT_EQ(view().rows().scrolled.size(), folded);
  // The edge of the names can be moved.
  const int width = view().header_width();
  drag(view().viewport(), {width, 100}, {width + 80, 100});
  EXPECT_EQ(view().header_width(), width + 80);
}

// Clicks and keys: one each.
TEST_F(TimelinePageTest, NextAndLongestCallOfAKernelAreOneKeyEach) {
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

TEST_F(TimelinePageTest, TheMenuOfAnEventLeadsToAllCalls) {
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

TEST_F(TimelinePageTest, ABarOfTheHistogramAndTheLongestButtonLeadToCalls) {
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
TEST_F(TimelinePageTest, RowsHaveAMenu) {
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

// Of a kernel of our own program: its layer, what that costs, and how long it is beside the other calls.
TEST_F(TimelinePageTest, DetailsSayLayerCostAndPlaceAmongTheCalls) {
  open_timeline(two_gpus());
  timeline().search().set_text(QStringLiteral("attention"));
  settle();
  press(Qt::Key_Return);
  settle();
  gui::DetailsPanel& details = timeline().details();
  EXPECT_NE(details.value_of(QStringLiteral("layer")), QString());
  EXPECT_THAT(details.value_of(QStringLiteral("FLOPs")).toStdString(), HasSubstr(" TFLOP/s"));
  EXPECT_THAT(details.value_of(QStringLiteral("bytes at least")).toStdString(), HasSubstr(" GB/s"));
  EXPECT_THAT(details.value_of(QStringLiteral("of its calls")).toStdString(), HasSubstr("longer than "));
  EXPECT_TRUE(timeline().call_histogram().isVisible());
  EXPECT_TRUE(timeline().call_histogram().marked_bin().has_value());
  // The launch is a link, and so is the layer.
  const TimelineEventId kernel = *view().selection();
  Q_EMIT details.link_chosen(details.link_of(QStringLiteral("launched by")));
  EXPECT_EQ(*view().selection(), view().links().at(0).call);
  EXPECT_FALSE(timeline().call_histogram().isVisible());
  Q_EMIT details.link_chosen(details.link_of(QStringLiteral("launches")));
  EXPECT_TRUE(is_gpu(view().timeline()->lanes[view().selection()->lane].key.kind));  // the first of its graph
  view().select(kernel);
  settle();
  const QString layer = details.value_of(QStringLiteral("layer")).section(QLatin1Char(','), 0, 0);
  Q_EMIT details.link_chosen(details.link_of(QStringLiteral("layer")));
  settle();
  EXPECT_EQ(window_.page_id(), QStringLiteral("layers"));
  EXPECT_THAT(layers().calls().summary().toStdString(), HasSubstr(layer.toStdString()));
}

TEST_F(TimelinePageTest, DetailsOfACollectiveSayBytesGroupAndRanks) {
  open_timeline(data() / "pytorch_swin_tiny_ddp_2gpu");
  timeline().search().set_text(QStringLiteral("ncclDevKernel_AllReduce"));
  settle();
  press(Qt::Key_Return);
  settle();
  gui::DetailsPanel& details = timeline().details();
  EXPECT_EQ(details.value_of(QStringLiteral("collective")), QStringLiteral("all-reduce"));
  EXPECT_THAT(details.value_of(QStringLiteral("bytes")).toStdString(), HasSubstr("B"));
  EXPECT_NE(details.value_of(QStringLiteral("group")), QString());
  EXPECT_THAT(details.value_of(QStringLiteral("ranks")).toStdString(), HasSubstr("all-reduce of 2 ranks: rank "));
}

// Kernels, copies, operators and calls apart; what is nested counts once.
TEST_F(TimelinePageTest, AnAreaIsApartByKind) {
  open_timeline(recording());
  EXPECT_FALSE(timeline().area().isVisible());
  const QRect lanes = view().lanes_rect();
  drag(view().viewport(), {lanes.left() + 50, 8}, {lanes.left() + 350, 8});
  gui::AreaPanel& area = timeline().area();
  EXPECT_TRUE(area.isVisible());
  EXPECT_EQ(area.tabs(),
            QStringList({QStringLiteral("Kernels"), QStringLiteral("Copies"), QStringLiteral("CPU operations"),
                         QStringLiteral("CUDA calls"), QStringLiteral("Ranges"), QStringLiteral("Lanes"),
                         QStringLiteral("Flame graph")}));
  gui::TablePanel& operations = area.names(gui::AreaKind::kOperations);
  double self = 0;
  const Table& table = operations.model_of_rows().table();
  for (const std::vector<Cell>& row : table.rows)
    self += std::get<double>(row[find_column(table, "share_percent")]);
  EXPECT_NEAR(self, 100, 0.01);
  EXPECT_FALSE(area.names(gui::AreaKind::kKernels).text_at(0, "name").contains(QLatin1Char('(')));  // short names
  // A row leads to the first of its events.
  Q_EMIT area.name_chosen(QStringLiteral("aten::conv2d"));
  EXPECT_EQ(timeline().detail(QStringLiteral("name")), QStringLiteral("aten::conv2d"));
  EXPECT_GE(view().timeline()->event(*view().selection()).end_ns(), view().area()->window.begin_ns);
  // The flame graph by keyboard: down to the largest, to the next, and it fills the width.
  gui::FlameWidget& flames = area.flames();
  QTest::keyClick(&flames, Qt::Key_Down);
  const std::uint32_t first = flames.current();
  EXPECT_NE(first, 0U);
  EXPECT_THAT(flames.accessibleDescription().toStdString(), HasSubstr(" calls"));
  QTest::keyClick(&flames, Qt::Key_Right);
  EXPECT_NE(flames.current(), first);
  QTest::keyClick(&flames, Qt::Key_Return);
  EXPECT_EQ(flames.zoomed(), flames.current());
  EXPECT_EQ(flames.box_of(flames.zoomed()).width(), flames.width());
  QTest::keyClick(&flames, Qt::Key_Escape);
  EXPECT_EQ(flames.zoomed(), 0U);
  view().setFocus();
  press(Qt::Key_Escape);
  press(Qt::Key_Escape);
  EXPECT_FALSE(area.isVisible());
}

TEST_F(TimelinePageTest, HitsAreNumberedListedAndStayWhenTheBarIsGone) {
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
TEST_F(TimelinePageTest, TheFilterStaysFromRunToRun) {
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

TEST_F(TimelinePageTest, ABookmarkHasANote) {
  open_timeline(copy_of_recording());
  press(Qt::Key_M);
  auto* list = window_.findChild<QListWidget*>(QStringLiteral("bookmarks"));
  list->setCurrentRow(0);
  auto* note = window_.findChild<QLineEdit*>(QStringLiteral("bookmark_note"));
  ASSERT_TRUE(note->isEnabled());
  note->setText(QStringLiteral("why is the copy here?"));
  Q_EMIT note->editingFinished();
  window_.perform(ActionId::kReload);
  settle();
  EXPECT_EQ(timeline().bookmarks().all().at(0).note, QStringLiteral("why is the copy here?"));
  list->setCurrentRow(0);
  EXPECT_EQ(note->text(), QStringLiteral("why is the copy here?"));
}

TEST_F(TimelinePageTest, TooltipsHaveTheShortName) {
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

TEST_F(TimelinePageTest, KernelsCanBeGroupedAndAreSummed) {
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

TEST_F(TimelinePageTest, LayersAreSortedPerStepAndEqualOnesFolded) {
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

TEST_F(TimelinePageTest, GoesToATime) {
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
