// What is to be seen on the timeline: lanes, folded and pinned, areas, details, bookmarks.
#include <QLineEdit>
#include <QListWidget>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "gui/core/table_model.h"
#include "gui/pages/timeline/area_panel.h"
#include "gui/pages/timeline/call_histogram.h"
#include "gui/pages/timeline/category_legend.h"
#include "gui/pages/timeline/details_panel.h"
#include "gui/pages/timeline/flame_widget.h"
#include "gui/pages/timeline/minimap_widget.h"
#include "gui/widgets/calls_panel.h"
#include "tests/integration/gui/timeline_support.h"

namespace swinscope::tests {
namespace {

using gui::ActionId;
using gui::LaneRow;
using testing::HasSubstr;

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

// Exports of Nsight Systems number each operator (emit_nvtx); in an area equal ones are one row, however numbered.
TEST_F(TimelinePageTest, NumberedOperatorsAreOneRowOfAnArea) {
  std::string sql =
      small_export_sql() +
      "CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, rangeId INTEGER, category "
      "INTEGER, color INTEGER, text TEXT, globalTid INTEGER, endGlobalTid INTEGER, textId INTEGER, "
      "domainId INTEGER);";
  for (int i = 0; i < 6; ++i) {
    std::string name = "aten::mul, ";
    if (i % 2 == 0) name.append("seq = ").append(std::to_string(i)).append(", ");
    name.append("op_id = ").append(std::to_string(317'126 + i));
    sql += fmt::format(
        "INSERT INTO NVTX_EVENTS (start, end, eventType, text, globalTid) VALUES ({}, {}, 59, '{}', (100 << 24) + 1);",
        100 + 20 * i, 110 + 20 * i, name);
  }
  open_timeline(folder() / make_database("numbered.sqlite", sql));
  press(Qt::Key_0);
  view().select_area({view().seen(), view().rows().lanes()});
  settle();
  const auto tables = timeline().area().findChildren<gui::TablePanel*>();
  const auto operations = std::ranges::find_if(tables, [](const gui::TablePanel* table) {
    return table->accessibleName() == QLatin1String("CPU operations of the area");
  });
  ASSERT_NE(operations, tables.end());
  ASSERT_EQ((*operations)->model()->rowCount(), 1);
  EXPECT_EQ((*operations)->text_at(0, "name"), QStringLiteral("aten::mul"));
  EXPECT_EQ((*operations)->text_at(0, "calls"), QStringLiteral("6"));
  timeline().search().set_text(QStringLiteral("aten::mul"));
  settle();
  EXPECT_EQ(timeline().search().result().total, 6U);
}

// By keys, and by dragging a lane's name; what was arranged stays when the run is loaded again, and for the next start.
TEST_F(TimelinePageTest, LanesMoveAndBecomeTaller) {
  open_timeline(data() / "swinscope_swin_tiny_ddp_2gpu");
  const auto labels_of = [](const gui::TimelineView& shown) {
    QStringList all;
    for (const gui::LaneRow& one : shown.rows().scrolled)
      all << one.label;
    return all;
  };
  const auto labels = [&] { return labels_of(view()); };
  const QStringList before = labels();
  const auto place = [&](const char* label) { return labels().indexOf(QString::fromUtf8(label)); };
  ASSERT_LT(place("stream 7"), place("copies, stream 7"));
  const LaneId lane = row(QStringLiteral("copies, stream 7"))->lanes.front();
  view().select({lane, 0});
  press(Qt::Key_Up, Qt::AltModifier);
  EXPECT_LT(place("copies, stream 7"), place("stream 7"));
  window_.perform(ActionId::kReload);
  settle();
  EXPECT_LT(place("copies, stream 7"), place("stream 7"));

  // The name of the device, dragged below that of the thread behind it.
  const gui::LaneRow* device = row(QStringLiteral("GPU 0"));
  const auto thread =
      std::find_if(view().rows().scrolled.begin(), view().rows().scrolled.end(),
                   [](const gui::LaneRow& one) { return one.label.startsWith(QLatin1String("thread")); });
  ASSERT_NE(thread, view().rows().scrolled.end());
  const QString name = thread->label;
  drag(view().viewport(), QPoint(60, view().row_rect(*device).center().y()),
       QPoint(60, view().row_rect(*thread).center().y()));
  EXPECT_GT(labels().indexOf(QStringLiteral("GPU 0")), labels().indexOf(name));
  view().clear_selection();

  const int height = view().row_rect(*row(QStringLiteral("stream 7"))).height();
  press(Qt::Key_Plus);
  EXPECT_GT(view().row_rect(*row(QStringLiteral("stream 7"))).height(), height);
  press(Qt::Key_Minus);
  EXPECT_EQ(view().row_rect(*row(QStringLiteral("stream 7"))).height(), height);
  const gui::LaneRow* first = row(name + QStringLiteral(" · ranges"));
  if (first == nullptr) first = row(QStringLiteral("ranges"));
  ASSERT_NE(first, nullptr);
  const QPoint edge(60, view().row_rect(*first).bottom());
  drag(view().viewport(), edge, edge + QPoint(0, 20));
  EXPECT_GT(view().row_rect(*row(QStringLiteral("stream 7"))).height(), height + 10);

  const QStringList arranged = labels();
  EXPECT_NE(arranged, before);
  window_.close();
  gui::MainWindow next;
  next.open({qt(data() / "swinscope_swin_tiny_ddp_2gpu")});
  ASSERT_TRUE(QTest::qWaitFor([&] { return next.is_settled(); }, kWaitMs));
  gui::TimelineView& shown = next.findChild<gui::TimelinePage*>(QStringLiteral("timeline"))->view();
  EXPECT_EQ(labels_of(shown), arranged);
  EXPECT_EQ(shown.kept_lanes().scale, view().kept_lanes().scale);
}

}  // namespace
}  // namespace swinscope::tests
