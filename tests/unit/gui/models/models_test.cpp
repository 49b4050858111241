#include <QAbstractItemModelTester>
#include <set>

#include <gtest/gtest.h>

#include "gui/core/actions.h"
#include "gui/core/calls.h"
#include "gui/core/copied_rows.h"
#include "gui/core/lane_rows.h"
#include "gui/core/layer_tree.h"
#include "gui/core/table_model.h"
#include "gui/core/table_sums.h"
#include "gui/core/time_axis.h"

namespace swinscope::gui {
namespace {

using Tester = QAbstractItemModelTester;
constexpr auto kFatal = Tester::FailureReportingMode::Fatal;

Table small_table() {
  return {"t",
          "T",
          {{"name", "name"}, {"secret", "secret", Unit::kText, true}, {"total_ns", "total", Unit::kDuration}},
          {{std::string("b"), std::string("x"), std::int64_t{20}},
           {std::string("a"), std::string("y"), std::int64_t{1'000'000}},
           {std::string("c"), std::string("z"), Cell()}}};
}

TEST(TableModel, ShowsFormattedCellsAndSortsByValue) {
  TableModel model;
  TableOrder order;
  order.setSourceModel(&model);
  const Tester of_model(&model, kFatal);
  const Tester of_order(&order, kFatal);
  model.set_table(small_table());
  ASSERT_EQ(model.rowCount(), 3);
  ASSERT_EQ(model.columnCount(), 2);  // without the detail
  EXPECT_EQ(model.index(1, 1).data().toString(), QStringLiteral("1.000 ms"));
  EXPECT_EQ(model.headerData(1, Qt::Horizontal, Qt::DisplayRole).toString(), QStringLiteral("total"));
  const auto names = [&] {
    QString text;
    for (int i = 0; i < order.rowCount(); ++i)
      text += order.index(i, 0).data().toString();
    return text;
  };
  order.sort(1, Qt::DescendingOrder);
  EXPECT_EQ(names(), QStringLiteral("abc"));
  order.sort(-1, Qt::DescendingOrder);
  EXPECT_EQ(names(), QStringLiteral("bac")) << "as in the table";
  order.sort(1, Qt::AscendingOrder);
  EXPECT_EQ(names(), QStringLiteral("bac"));  // what has no value stays last
  model.set_table(small_table(), true);
  EXPECT_EQ(model.columnCount(), 3);
  model.set_table({});
  EXPECT_EQ(order.rowCount(), 0);
}

LayerRow layer(const char* path, const char* phase, std::int64_t host_ns, std::int64_t gpu_ns) {
  LayerRow row;
  row.path = path;
  row.phase = phase;
  row.operation = "gemm";
  row.calls = 2;  // replays of one capture
  row.host = summarize({host_ns});
  row.gpu_ns = gpu_ns;
  row.gpu_events = gpu_ns > 0 ? 1 : 0;
  row.flops = 1'000'000;
  return row;
}

TEST(LayerTree, AddsUpWhatIsBelow) {
  LayerTreeModel model;
  const Tester tester(&model, kFatal);
  model.set_table(
      layer_rows_table({layer("stage1.block0.mlp", "forward", 10, 100), layer("stage1.block0.mlp", "backward", 10, 200),
                        layer("stage1.block1", "forward", 5, 600), layer("head", "", 600, 0)},
                       {}));
  ASSERT_EQ(model.rowCount(), 2);
  const QModelIndex stage = model.index(0, LayerTreeModel::kPath);
  EXPECT_EQ(stage.data().toString(), QStringLiteral("stage1"));
  EXPECT_EQ(stage.siblingAtColumn(LayerTreeModel::kWork).data().toString(), QStringLiteral("900 ns"));
  EXPECT_EQ(stage.siblingAtColumn(LayerTreeModel::kShare).data().toString(), QStringLiteral("100.0 %"));
  EXPECT_EQ(stage.siblingAtColumn(LayerTreeModel::kCalls).data().toString(), QStringLiteral("6"));
  EXPECT_EQ(model.rowCount(stage), 2);
  const QModelIndex mlp = model.index(0, 0, model.index(0, 0, stage));
  EXPECT_EQ(model.layer_of(mlp).path, QStringLiteral("stage1.block0.mlp"));
  ASSERT_EQ(model.rowCount(mlp), 2);  // forward, backward
  const QModelIndex backward = model.index(1, 0, mlp);
  EXPECT_EQ(model.layer_of(backward),
            (LayerTreeModel::Layer{QStringLiteral("stage1.block0.mlp"), QStringLiteral("backward")}));
  EXPECT_EQ(model.find(model.layer_of(backward)), backward);
  EXPECT_EQ(model.find({QStringLiteral("stage1"), {}}), stage);
  EXPECT_FALSE(model.find({QStringLiteral("stage1.forward"), {}}).isValid());
  EXPECT_EQ(model.index(1, LayerTreeModel::kWork, mlp).data().toString(), QStringLiteral("200 ns"));
  // What ran on the host only takes none of the GPU's time.
  EXPECT_EQ(model.headerData(LayerTreeModel::kWork, Qt::Horizontal, Qt::DisplayRole), QStringLiteral("GPU"));
  EXPECT_EQ(model.index(1, LayerTreeModel::kWork).data().toString(), QStringLiteral("-"));
  EXPECT_EQ(model.index(1, LayerTreeModel::kHost).data().toString(), QStringLiteral("600 ns"));
  EXPECT_TRUE(model.is_empty(LayerTreeModel::kPeak));
  EXPECT_FALSE(model.is_empty(LayerTreeModel::kWork));
  model.set_table({});
  EXPECT_EQ(model.rowCount(), 0);
}

// Ranges of modules enclose those of the modules in them: 100 + 40, and not 100 + 60 + 30 + 40.
TEST(LayerTree, HostTimeOfWhatEnclosesIsNotAddedToThatWithin) {
  LayerTreeModel model;
  const std::vector<LayerRow> rows{layer("layers", "forward", 100, 0), layer("layers.0", "forward", 60, 0),
                                   layer("layers.1", "forward", 30, 0), layer("layers.1", "backward", 40, 0)};
  model.set_table(layer_rows_table(rows, {}), 2);
  EXPECT_EQ(model.headerData(LayerTreeModel::kWork, Qt::Horizontal, Qt::DisplayRole), QStringLiteral("time"));
  EXPECT_EQ(model.index(0, LayerTreeModel::kWork).data().toString(), QStringLiteral("140 ns"));
  EXPECT_EQ(model.index(0, LayerTreeModel::kPerStep).data().toString(), QStringLiteral("70 ns"));
  EXPECT_EQ(model.index(0, LayerTreeModel::kShare).data().toString(), QStringLiteral("100.0 %"));
  const std::vector<std::size_t> all{0, 1, 2, 3};
  EXPECT_FALSE(sum_line(layer_rows_table(rows, {}), all).contains(QStringLiteral("host")));
}

TEST(LayerTree, SaysNothingOfCostsThatAreNotKnown) {
  LayerTreeModel model;
  LayerRow unknown = layer("aten::mul", "", 10, 100);
  unknown.flops = 0;
  unknown.has_cost = false;  // PyTorch's operators
  model.set_table(layer_rows_table({unknown, layer("head", "", 600, 0)}, {}));
  for (const int column : {LayerTreeModel::kGflop, LayerTreeModel::kRate, LayerTreeModel::kBytes})
    EXPECT_EQ(model.index(0, column).data().toString(), QStringLiteral("-")) << column;
  EXPECT_EQ(model.index(1, LayerTreeModel::kBytes).data().toString(), QStringLiteral("0 B")) << "known to be none";
}

// Of 100 ns at the half of the peak and 300 at a tenth 80 would be needed: 20 %.
TEST(LayerTree, AddsUpHowNearLayersAreToThePeaks) {
  LayerTreeModel model;
  LayerRow fast = layer("mlp.fc1", "", 10, 100);
  LayerRow slow = layer("mlp.fc2", "", 10, 300);
  fast.precision = slow.precision = "fp16";
  slow.flops = 600'000;
  LayerRow unknown = layer("head", "", 10, 100);
  Table table = layer_rows_table({fast, slow, unknown}, {0, {{"fp16", 20'000.0}}});
  table.columns.push_back({"gain_8bit_ns", "8-bit gain", Unit::kDuration});
  table.columns.push_back({"fusable_with", "fusable with"});
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    table.rows[i].emplace_back(i == 1 ? Cell(std::int64_t{30}) : Cell());
    table.rows[i].emplace_back(i == 0 ? Cell(std::string("mlp.gelu (fusion-1)")) : Cell());
  }
  model.set_table(table);
  const auto text = [&](const QModelIndex& node, int column) { return node.siblingAtColumn(column).data().toString(); };
  const QModelIndex mlp = model.index(0, 0);
  const QModelIndex fc1 = model.index(0, 0, mlp);
  EXPECT_EQ(text(fc1, LayerTreeModel::kRate), QStringLiteral("10"));  // TFLOP/s
  EXPECT_EQ(text(fc1, LayerTreeModel::kPeak), QStringLiteral("50.0 %"));
  EXPECT_EQ(text(fc1, LayerTreeModel::kBound), QStringLiteral("compute"));
  EXPECT_EQ(text(fc1, LayerTreeModel::kFusable), QStringLiteral("mlp.gelu (fusion-1)"));
  EXPECT_EQ(text(mlp, LayerTreeModel::kPeak), QStringLiteral("20.0 %"));
  EXPECT_EQ(text(mlp, LayerTreeModel::kBound), QStringLiteral("mixed"));
  EXPECT_EQ(text(mlp, LayerTreeModel::kGain), QStringLiteral("30 ns"));
  EXPECT_EQ(text(mlp, LayerTreeModel::kFusable), QStringLiteral("-"));
  EXPECT_EQ(text(model.index(1, 0), LayerTreeModel::kPeak), QStringLiteral("-")) << "of no known precision";
}

TEST(Actions, AreNamedDescribedAndReachedByOneKeyEach) {
  std::set<std::string> names;
  std::set<ActionId> ids;
  std::set<std::pair<std::string, ActionContext>> keys;
  for (const ActionInfo& action : all_actions()) {
    EXPECT_TRUE(names.insert(action.name).second) << action.name;
    EXPECT_TRUE(ids.insert(action.id).second) << action.name;
    EXPECT_NE(std::string(action.help), "") << action.name;
    for (const QKeySequence& key : shortcuts_of(action.shortcuts)) {
      EXPECT_FALSE(key.isEmpty()) << action.name;
      EXPECT_TRUE(keys.insert({key.toString().toStdString(), action.context}).second) << key.toString().toStdString();
    }
  }
  for (int i = 0; i <= static_cast<int>(ActionId::kAbout); ++i)
    EXPECT_TRUE(ids.count(static_cast<ActionId>(i)) == 1) << "an action without an entry: " << i;
}

QStringList labels(Interval window, int count) {
  QStringList texts;
  for (const TimeTick& tick : time_ticks(window, 1000, count))
    texts << tick.label;
  return texts;
}

TEST(TimeAxis, TicksAreRoundAndTellApart) {
  EXPECT_EQ(labels({1000, 1'001'000}, 4),
            (QStringList{QStringLiteral("0.0 ms"), QStringLiteral("0.5 ms"), QStringLiteral("1.0 ms")}));
  EXPECT_EQ(labels({5'000'001'000, 5'000'001'030}, 3),
            (QStringList{QStringLiteral("5.00000000 s"), QStringLiteral("5.00000001 s"), QStringLiteral("5.00000002 s"),
                         QStringLiteral("5.00000003 s")}));
  EXPECT_EQ(labels({900, 1100}, 2),
            (QStringList{QStringLiteral("-100 ns"), QStringLiteral("0 ns"), QStringLiteral("100 ns")}));
  EXPECT_TRUE(labels({5, 5}, 3).isEmpty());
  EXPECT_EQ(exact_time(704'123'456, 0), QStringLiteral("704.123456 ms"));
}

TimelineLane lane(std::uint32_t process, LaneKind kind, std::uint32_t stream) {
  TimelineLane made;
  made.key.process = process;
  made.key.kind = kind;
  made.key.stream = stream;
  made.label = "lane " + std::to_string(stream);
  made.append({0, 10, 0, 0, kNoEvent});
  made.seal();
  return made;
}

TEST(LaneRows, FollowFilterAndPins) {
  Timeline timeline;
  timeline.processes.resize(2);
  timeline.processes[1].rank = 1;
  timeline.names.add("event");
  timeline.lanes = {lane(0, LaneKind::kKernels, 7), lane(0, LaneKind::kCalls, 0), lane(1, LaneKind::kKernels, 7),
                    lane(1, LaneKind::kCopies, 9)};
  const std::vector<LaneGroup> groups = group_lanes(timeline);
  const auto arranged = [&](const LaneChoice& choice) { return arrange_lanes(timeline, groups, nullptr, choice); };
  const LaneRows all = arranged({});
  EXPECT_EQ(all.lanes(), (std::vector<LaneId>{0, 1, 2, 3}));
  EXPECT_EQ(all.scrolled.size(), 7U);  // with a heading for each process, and for the GPU that has two lanes
  for (std::size_t i = 1; i < all.scrolled.size(); ++i)
    EXPECT_EQ(all.scrolled[i].top, all.scrolled[i - 1].top + all.scrolled[i - 1].height);
  EXPECT_EQ(all.scrolled_height, all.scrolled.back().top + all.scrolled.back().height);

  LaneChoice choice;
  choice.filter.stream = 7;
  EXPECT_EQ(arranged(choice).lanes(), (std::vector<LaneId>{0, 1, 2}));  // host lanes have no stream
  choice.filter.rank = 1;
  EXPECT_EQ(arranged(choice).lanes(), std::vector<LaneId>{2});

  const LaneRows pinned = arranged({{}, {timeline.lanes[3].key}, {}});
  EXPECT_EQ(pinned.lanes(), (std::vector<LaneId>{3, 0, 1, 2}));
  EXPECT_EQ(pinned.pinned[0].label, QStringLiteral("rank 1 · GPU 0 · lane 9"));
  EXPECT_EQ(pinned.scrolled.size(), all.scrolled.size());  // and it keeps its place
}

// GPU 0 of rank 1 folded: its two lanes in one row. All of rank 1 folded: the same lanes under the name of the rank.
TEST(LaneRows, OfAFoldedGroupAreOneRow) {
  Timeline timeline;
  timeline.processes.resize(2);
  timeline.processes[1].rank = 1;
  timeline.names.add("event");
  timeline.lanes = {lane(0, LaneKind::kKernels, 7), lane(1, LaneKind::kKernels, 7), lane(1, LaneKind::kCopies, 9),
                    lane(1, LaneKind::kCalls, 0)};
  timeline.lanes[3].label = "main (5) · CUDA calls";
  const std::vector<LaneGroup> groups = group_lanes(timeline);
  const LaneRows unfolded = arrange_lanes(timeline, groups, nullptr, {});
  ASSERT_EQ(unfolded.scrolled.size(), 7U);
  EXPECT_EQ(unfolded.scrolled[3].label, QStringLiteral("GPU 0"));
  EXPECT_TRUE(unfolded.scrolled[3].is_heading());
  EXPECT_EQ(unfolded.scrolled[6].label, QStringLiteral("main (5) · CUDA calls"));

  const LaneRows folded = arrange_lanes(timeline, groups, nullptr, {{}, {}, {groups[1].groups[0].key}});
  ASSERT_EQ(folded.scrolled.size(), 5U);
  EXPECT_EQ(folded.scrolled[3].lanes, (std::vector<LaneId>{1, 2}));
  EXPECT_TRUE(folded.scrolled[3].is_folded);
  EXPECT_EQ(folded.lanes(), unfolded.lanes());  // nothing is missing

  const LaneRows rank = arrange_lanes(timeline, groups, nullptr, {{}, {}, {groups[1].key}});
  ASSERT_EQ(rank.scrolled.size(), 3U);
  EXPECT_EQ(rank.scrolled[2].lanes, (std::vector<LaneId>{1, 2, 3}));
  EXPECT_EQ(rank.scrolled[2].drawn, (std::vector<LaneId>{1, 2}));  // the GPU's
}

TEST(LaneRows, NameStreamsAndThreadsOnce) {
  Timeline timeline;
  timeline.processes.resize(1);
  timeline.names.add("event");
  timeline.lanes = {lane(0, LaneKind::kKernels, 7), lane(0, LaneKind::kRanges, 0), lane(0, LaneKind::kRanges, 0),
                    lane(0, LaneKind::kCalls, 0)};
  for (std::size_t i = 1; i < 4; ++i)
    timeline.lanes[i].key.global_tid = i == 1 ? 7 : 1427;
  timeline.lanes[1].label = "thread 7 · torch.gpu_user_annotation";
  timeline.lanes[2].label = "thread 1427 (python3) (1427) · torch.cpu_op";
  timeline.lanes[3].label = "thread 1427 (python3) (1427) · CUDA calls";
  QStringList labels;
  for (const LaneRow& row : arrange_lanes(timeline, group_lanes(timeline), nullptr, {}).scrolled)
    labels << row.label;
  EXPECT_EQ(labels,
            QStringList({QStringLiteral("rank 0"), QStringLiteral("GPU 0"), QStringLiteral("annotations, stream 7"),
                         QStringLiteral("lane 7"), QStringLiteral("python3 (1427)"), QStringLiteral("operators"),
                         QStringLiteral("CUDA calls")}));
  EXPECT_EQ(full_label(timeline, 1), QStringLiteral("rank 0 · GPU · annotations, stream 7"));
}

TEST(LaneRows, EndWithWhatWasSampled) {
  Timeline timeline;
  timeline.processes.resize(2);
  timeline.processes[1].rank = 1;
  timeline.names.add("event");
  timeline.lanes = {lane(0, LaneKind::kKernels, 7)};
  for (const std::uint32_t process : {0U, 1U})
    timeline.counters.push_back({process, "GPU 0 · Power", "W", {0, 10, 20}, {350, 700}, 700});
  const std::vector<LaneGroup> groups = group_lanes(timeline);
  const LaneRows all = arrange_lanes(timeline, groups, nullptr, {});
  ASSERT_EQ(all.scrolled.size(), 7U);  // rank 1 has no events, but a heading
  EXPECT_EQ(all.scrolled[3].counter, 0U);
  EXPECT_TRUE(all.scrolled[4].is_heading());
  EXPECT_EQ(all.scrolled[6].counter, 1U);
  EXPECT_EQ(all.counters(), (std::vector<const LaneRow*>{&all.scrolled[3], &all.scrolled[6]}));
  EXPECT_EQ(full_label(timeline, timeline.counters[1]), QStringLiteral("rank 1 · GPU 0 · Power"));
  EXPECT_EQ(counter_text(timeline.counters[0], 350), QStringLiteral("350 W"));
  EXPECT_EQ(counter_text(timeline.counters[0], std::nullopt), QStringLiteral("not sampled"));

  LaneChoice choice;
  choice.filter.rank = 1;
  EXPECT_EQ(arrange_lanes(timeline, groups, nullptr, choice).scrolled.size(), 3U);
  // The values can be folded away.
  const GroupKey sampled = *all.scrolled[2].group;
  EXPECT_EQ(arrange_lanes(timeline, groups, nullptr, {{}, {}, {sampled}}).scrolled.size(), 6U);
}

// 1 us, 10 us, 100 us and 9 others of 1 us: two decades and the nanosecond behind the longest make 12 bins.
TEST(Histogram, IsLogarithmicWhereTheLongestIsManyTimesTheShortest) {
  std::vector<Call> calls(10, {0, LaneKind::kKernels, 0, 0, 1'000});
  for (const std::int64_t ns : {10'000, 100'000})
    calls.push_back({0, LaneKind::kKernels, 0, 0, ns});
  const DurationBins bins(calls);
  EXPECT_TRUE(bins.is_logarithmic());
  ASSERT_EQ(bins.counts().size(), 12U);
  EXPECT_EQ(bins.counts()[0], 10U);
  EXPECT_EQ(bins.counts()[5], 1U);  // 10 us is just below the middle of the logarithm
  EXPECT_EQ(bins.counts()[11], 1U);
  EXPECT_EQ(bins.bin_of(100'000), 11U);
  EXPECT_NEAR(bins.edge_ns(0), 1'000, 0.01);
  EXPECT_NEAR(bins.edge_ns(12), 100'001, 0.01);
  const Chart chart = duration_histogram(calls, "t");
  EXPECT_EQ(chart.categories.front(), "1.000 us");
  EXPECT_EQ(chart.categories.back(), "100.0 us");
  EXPECT_FALSE(DurationBins({{0, LaneKind::kKernels, 0, 0, 5}, {0, LaneKind::kKernels, 0, 0, 90}}).is_logarithmic());
}

TEST(TableSums, AddUpWhatCanBeAddedUp) {
  const Table table{"kernels",
                    "t",
                    {{"name", "name"},
                     {"calls", "calls", Unit::kCount},
                     {"total_ns", "total", Unit::kDuration},
                     {"busy_share_percent", "of busy", Unit::kPercent},
                     {"mean_ns", "mean", Unit::kDuration},
                     {"bytes", "bytes", Unit::kBytes, true}},
                    {{std::string("a"), std::int64_t{1'000}, std::int64_t{2'000'000}, 40.0, 2.0, std::int64_t{1}},
                     {std::string("b"), std::int64_t{234}, std::int64_t{500'000}, 10.5, 2.0, Cell()},
                     {std::string("c"), Cell(), Cell(), Cell(), Cell(), Cell()}}};
  const std::vector<std::size_t> all{0, 1, 2};
  EXPECT_EQ(sum_line(table, all), QStringLiteral("Sum of 3 rows: 1,234 calls · total 2.500 ms · of busy 50.5 %"));
  EXPECT_EQ(sum_line(table, std::vector<std::size_t>{1}), QString());

  Table overlapping = table;
  overlapping.rows[0][3] = 110.6;
  EXPECT_EQ(sum_line(overlapping, all),
            QStringLiteral("Sum of 3 rows: 1,234 calls · total 2.500 ms · of busy 121.1 % (several ran at once)"));
}

TEST(CopiedRows, HaveTitlesAndOneUnitAColumn) {
  const Table table{"t",
                    "t",
                    {{"name", "name"},
                     {"ns", "total", Unit::kDuration},
                     {"bytes", "size", Unit::kBytes},
                     {"share", "of busy", Unit::kPercent},
                     {"calls", "calls", Unit::kCount}},
                    {{std::string("a"), std::int64_t{30'950'000}, std::int64_t{1 << 21}, 12.5, std::int64_t{1'234}},
                     {std::string("b"), std::int64_t{651'400}, std::int64_t{1 << 19}, 0.25, Cell()}}};
  const std::vector<std::size_t> columns{0, 1, 2, 3, 4};
  const std::vector<std::size_t> rows{0, 1};
  EXPECT_EQ(copied_rows(table, columns, rows), QStringLiteral("name\ttotal (ms)\tsize (MiB)\tof busy (%)\tcalls\n"
                                                              "a\t30.95\t2\t12.5\t1,234\n"
                                                              "b\t0.6514\t0.5\t0.25\t-"));
}

TEST(TimeAxis, ReadsTimesAsPeopleWriteThem) {
  EXPECT_EQ(parse_times(QStringLiteral("1.25 s")), (Interval{1'250'000'000, 1'250'000'000}));
  EXPECT_EQ(parse_times(QStringLiteral("704.123 456 ms")), (Interval{704'123'456, 704'123'456}));
  EXPECT_EQ(parse_times(QStringLiteral("-3us")), (Interval{-3'000, -3'000}));
  EXPECT_EQ(parse_times(QStringLiteral("100 to 200 ms")), (Interval{100'000'000, 200'000'000}));
  EXPECT_EQ(parse_times(QStringLiteral("100 ms to 0.2 s")), (Interval{100'000'000, 200'000'000}));
  for (const char* text : {"", "soon", "5", "1.2.3 s", "2 s to 1 s", "5 min"})
    EXPECT_FALSE(parse_times(QString::fromUtf8(text)).has_value()) << text;
}

TEST(Histogram, CountsEveryCallOnce) {
  std::vector<Call> calls;
  calls.reserve(100);
  for (std::int64_t i = 0; i < 100; ++i)
    calls.push_back({0, LaneKind::kKernels, 0, 0, 1000 + 10 * i});
  const Chart chart = duration_histogram(calls, "t");
  ASSERT_EQ(chart.series.size(), 1U);
  EXPECT_EQ(chart.series[0].values.size(), 10U);
  EXPECT_EQ(chart.categories.size(), 11U);
  double sum = 0;
  for (const auto& value : chart.series[0].values)
    sum += *value;
  EXPECT_EQ(sum, 100);
  EXPECT_EQ(duration_histogram({{0, LaneKind::kKernels, 0, 0, 5}}, "t").series[0].values.size(), 1U);
  EXPECT_TRUE(duration_histogram({}, "t").series.empty());
}

TEST(Boxes, AreOfTheCallsOfEachRank) {
  Trace trace;
  trace.ranks.resize(3);
  for (std::int32_t r = 0; r < 3; ++r)
    trace.ranks[static_cast<std::size_t>(r)].run.rank = r;
  std::vector<Call> calls;
  for (const std::int64_t us : {50, 10, 40, 20, 30})
    calls.push_back({0, LaneKind::kKernels, 0, 0, 1'000 * us});
  calls.push_back({2, LaneKind::kKernels, 0, 0, 7'000});
  const Chart chart = duration_boxes(calls, trace, "t");
  EXPECT_EQ(chart.categories, (std::vector<std::string>{"rank 0", "rank 1", "rank 2"}));
  EXPECT_EQ(chart.y_title, "duration (us)");
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(chart.series[i].values[0], 10.0 * static_cast<double>(i + 1));
    EXPECT_EQ(chart.series[i].values[1], std::nullopt);
    EXPECT_EQ(chart.series[i].values[2], 7.0);
  }
}

}  // namespace
}  // namespace swinscope::gui
