// An experiment: its scaling on the first page, and from a point to the run behind it.
#include <QComboBox>
#include <tuple>

#include <gmock/gmock.h>

#include "analyzer/importers/import.h"
#include "analyzer/table/render.h"
#include "gui/widgets/calls_panel.h"
#include "gui/widgets/card.h"
#include "gui/widgets/chart_widget.h"
#include "gui/widgets/table_panel.h"
#include "tests/integration/gui/support.h"

namespace swinscope::tests {
namespace {

using gui::ActionId;
using testing::HasSubstr;

class ExperimentTest : public WindowTest {
 protected:
  // Of recordings in data/: what is measured does not matter here.
  std::filesystem::path make_experiment(const std::string& name = "experiment") const {
    const std::filesystem::path data = std::filesystem::path(SWINSCOPE_SOURCE_DIR) / "data";
    Experiment experiment;
    experiment.folder = folder() / name;
    experiment.warmup_steps = 0;
    experiment.images_per_gpu = 8;
    const auto add = [&](int gpus, const std::vector<std::filesystem::path>& files) {
      ExperimentPoint point;
      point.folder = experiment.folder / ("gpus" + std::to_string(gpus));
      point.factors = {{"gpus", std::to_string(gpus)}};
      point.tracing = "tracing";
      import_traces(files, point.folder / "tracing", false);
      write_point(point);
      experiment.points.push_back(point);
    };
    add(1, {recording()});
    const std::filesystem::path ddp = data / "pytorch_swin_tiny_ddp_2gpu";
    add(2, {ddp / "rank0.kineto.json.gz", ddp / "rank1.kineto.json.gz"});
    write_experiment(experiment);
    return experiment.folder;
  }

  gui::ChartWidget& waterfall_of_overview() {
    for (gui::ChartWidget* chart : overview().charts()) {
      if (chart->chart().kind == ChartKind::kWaterfall) return *chart;
    }
    throw std::runtime_error("no waterfall");
  }
  gui::TablePanel* table_of_overview(const char* title) {
    for (gui::TablePanel* panel : overview().tables()) {
      if (panel->accessibleName() == QLatin1String(title)) return panel;
    }
    return nullptr;
  }
  // With the mouse, where its row is.
  void click_row(gui::ChartWidget& chart, std::size_t row) {
    const QString wanted = QString::fromStdString(chart.chart().categories[row]) + QLatin1Char(':');
    for (int y = 0; y < chart.height(); ++y) {
      const QPoint place(chart.width() / 4, y);
      if (!chart.text_at(place).startsWith(wanted)) continue;
      QTest::mouseClick(&chart, Qt::LeftButton, {}, place + QPoint(0, 4));
      settle();
      return;
    }
    FAIL() << "no row " << row;
  }
};

TEST_F(ExperimentTest, ShowsItsScalingAndOpensTheRunOfAPoint) {
  open(make_experiment());
  ASSERT_EQ(banner(), "");
  EXPECT_THAT(overview().verdict().toStdString(), HasSubstr(" at 2 GPUs: "));
  ASSERT_GE(overview().charts().size(), 4U);
  EXPECT_EQ(window_.run(), nullptr);
  for (const QSize size : {QSize(1280, 720), QSize(1920, 1080)}) {
    window_.resize(size);
    expect_nothing_overlaps();
  }
  auto* runs = window_.findChild<QComboBox*>(QStringLiteral("filter_run"));
  EXPECT_EQ(runs->count(), 3);  // the experiment, and a run for each point

  gui::ChartWidget* chart = overview().charts().front();
  chart->setFocus();
  QTest::keyClick(chart, Qt::Key_Right);
  QTest::keyClick(chart, Qt::Key_Right);  // the second point
  QTest::keyClick(chart, Qt::Key_Return);
  settle();
  ASSERT_NE(window_.run(), nullptr) << banner();
  EXPECT_EQ(window_.run()->trace->ranks.size(), 2U);
  EXPECT_THAT(window_.breadcrumbs().toStdString(), HasSubstr("experiment › gpus2/tracing › Overview"));

  window_.show_page(QStringLiteral("timeline"));
  EXPECT_EQ(view().timeline()->processes.size(), 2U);
  auto* ranks = window_.findChild<QComboBox*>(QStringLiteral("filter_rank"));
  const std::size_t all = view().rows().lanes().size();
  ranks->setCurrentIndex(2);
  settle();
  EXPECT_LT(view().rows().lanes().size(), all);
  for (const LaneId lane : view().rows().lanes())
    EXPECT_EQ(view().timeline()->lanes[lane].key.process, 1U);
}

// One quantity, one number: the table of an experiment, and cards and tables of the run behind its point.
TEST_F(ExperimentTest, APointAndItsTracedRunShowTheSameFigures) {
  const std::filesystem::path path =
      std::filesystem::path(SWINSCOPE_SOURCE_DIR) / "data" / "swinscope_swin_large_weak_2gpu";
  open(path);
  const auto cell = [&](const std::string& table, const char* column, int row) {
    for (const gui::TablePanel* panel : overview().tables()) {
      const QAbstractItemModel& model = *panel->model();
      if (panel->accessibleName().toStdString().find(table) == std::string::npos) continue;
      for (int i = 0; i < model.columnCount(); ++i) {
        if (model.headerData(i, Qt::Horizontal).toString() == QLatin1String(column))
          return model.index(row, i).data().toString().toStdString();
      }
    }
    return std::string("no such column");
  };
  const std::string busy = cell("Scaling", "GPU busy", 1);
  const std::string idle = cell("Scaling", "idle", 1);
  const std::string step = cell("Scaling", "traced step", 1);
  open(path / "gpus2" / "tracing");
  const auto card = [&](std::size_t i) { return overview().cards().at(i)->value().toStdString(); };
  EXPECT_EQ(card(0), step);
  EXPECT_EQ(card(2), busy);
  EXPECT_EQ(card(3), idle);
  const nlohmann::json said = run_json({"analyze", (path / "gpus2" / "tracing").string()})["data"];
  EXPECT_EQ(said["verdict"], overview().verdict().toStdString());
  for (int row = 0; row < 2; ++row) {
    const auto shown = [&](const char* table, const char* key, Unit unit) {
      return format_cell(said[table][static_cast<std::size_t>(row)][key].get<double>(), unit);
    };
    EXPECT_EQ(cell("Utilization", "GPU busy", row), shown("utilization", "gpu_busy_percent", Unit::kPercent));
    EXPECT_EQ(cell("Time breakdown", "idle %", row), shown("breakdown", "idle_percent", Unit::kPercent));
    EXPECT_EQ(cell("Steps", "step time", row), shown("steps", "step_ns", Unit::kDuration));
  }
}

// Why steps take longer: the sentence, a bar for each part with the value of the table, and from a bar to its kernel.
TEST_F(ExperimentTest, FromTheExperimentToTheKernelThatCostsTheMost) {
  const std::filesystem::path path =
      std::filesystem::path(SWINSCOPE_SOURCE_DIR) / "data" / "swinscope_swin_large_weak_2gpu";
  const nlohmann::json parts = run_json({"analyze", path.string()})["data"]["scaling_loss"];
  nlohmann::json largest = parts[0];  // of the parts that kernels are the cause of
  largest["largest_ns"] = 0;
  std::size_t row = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const bool is_larger = parts[i]["largest_ns"].is_number() && parts[i]["largest_ns"] > largest["largest_ns"];
    if (is_larger) std::tie(largest, row) = std::pair(parts[i], i);
  }
  open(path);
  EXPECT_THAT(overview().why().toStdString(), testing::StartsWith("2 GPUs lose 2.056 ms a step over 1 GPU"));
  gui::ChartWidget& waterfall = waterfall_of_overview();
  ASSERT_EQ(waterfall.chart().categories.size(), parts.size());
  for (std::size_t i = 0; i < parts.size(); ++i)
    EXPECT_EQ(*waterfall.chart().series.front().values[i], parts[i]["time_ns"].get<double>() / 1e6);

  click_row(waterfall, row);  // the first click
  ASSERT_NE(window_.run(), nullptr) << banner();
  EXPECT_EQ(window_.run()->path, qt(path / "gpus2" / "tracing"));
  EXPECT_EQ(window_.page_id(), QStringLiteral("kernels"));
  const auto name = QString::fromStdString(largest["largest"].get<std::string>());
  EXPECT_GE(kernels().table().model()->rowCount(), 1);
  EXPECT_TRUE(kernels().table().text_at(0, "name").contains(name));
  EXPECT_THAT(window_.breadcrumbs().toStdString(), HasSubstr("filtered"));
  ASSERT_FALSE(kernels().calls().calls().empty());
  window_.action(ActionId::kNextOccurrence).trigger();  // and the second
  EXPECT_EQ(window_.page_id(), QStringLiteral("timeline"));
  EXPECT_TRUE(timeline().detail(QStringLiteral("name")).contains(name))
      << timeline().detail(QStringLiteral("name")).toStdString();
}

// What no kernel is the cause of has its evidence in a table.
TEST_F(ExperimentTest, OtherPartsLeadToTheTableThatSaysMore) {
  const std::filesystem::path path =
      std::filesystem::path(SWINSCOPE_SOURCE_DIR) / "data" / "swinscope_swin_large_weak_2gpu";
  open(path);
  gui::ChartWidget& waterfall = waterfall_of_overview();
  const auto& categories = waterfall.chart().categories;
  const auto gaps = std::ranges::find(categories, "gaps between kernels launched in time") - categories.begin();
  waterfall.setFocus();
  for (std::ptrdiff_t i = 0; i <= gaps; ++i)
    QTest::keyClick(&waterfall, Qt::Key_Down);
  QTest::keyClick(&waterfall, Qt::Key_Return);
  settle();
  EXPECT_EQ(window_.page_id(), QStringLiteral("tables"));
  EXPECT_THAT(tables().title().text().toStdString(), testing::StartsWith("Idle, by cause"));
  EXPECT_EQ(window_.run()->path, qt(path / "gpus2" / "tracing"));

  open(path);
  gui::TablePanel* kernels_of_point = table_of_overview("Kernels whose time changed most, per step");
  ASSERT_NE(kernels_of_point, nullptr);
  Q_EMIT kernels_of_point->row_activated(0);
  settle();
  EXPECT_EQ(window_.page_id(), QStringLiteral("kernels"));
  EXPECT_TRUE(kernels().table().text_at(0, "name").contains(QStringLiteral("sum_parts_kernel")));
  open(path);
  ASSERT_NE(table_of_overview("Parallel efficiency by POP's factors"), nullptr);
  Q_EMIT table_of_overview("Parallel efficiency by POP's factors")->row_activated(0);
  settle();
  EXPECT_EQ(window_.run()->path, qt(path / "gpus1" / "tracing"));
}

// A folder of experiments: each of the thesis's figures, a line for each experiment, and from there into one of them.
TEST_F(ExperimentTest, AFolderOfExperimentsIsCompared) {
  make_experiment("study/mine");
  make_experiment("study/theirs");
  open(folder() / "study");
  EXPECT_THAT(banner(), testing::StartsWith("experiment \"mine\", point gpus=1: traced times only"));
  EXPECT_THAT(overview().verdict().toStdString(), HasSubstr("theirs takes "));
  std::vector<std::string> titles;
  for (const gui::ChartWidget* chart : overview().charts()) {
    titles.push_back(chart->chart().title);
    EXPECT_EQ(chart->chart().series.front().name, "mine");
    EXPECT_EQ(chart->chart().series[1].name, "theirs");
  }
  EXPECT_THAT(titles, testing::IsSupersetOf({"Training time", "Speedup", "Parallel efficiency", "GPU utilization",
                                             "GPU share of the compute time", "CPU share of the compute time"}));
  EXPECT_EQ(overview().cards().size(), 2U);
  expect_nothing_overlaps();
  auto* runs = window_.findChild<QComboBox*>(QStringLiteral("filter_run"));
  EXPECT_EQ(runs->count(), 3);  // the comparison, and its experiments

  const auto series_of_speedup = [this] {
    for (const gui::ChartWidget* chart : overview().charts()) {
      if (chart->chart().title == "Speedup") return chart->chart().series.size();
    }
    return std::size_t{0};
  };
  EXPECT_EQ(series_of_speedup(), 3U) << "two, and the ideal";
  window_.action(ActionId::kShowPublished).trigger();
  settle();
  EXPECT_EQ(series_of_speedup(), 6U) << "three of the thesis";
  window_.action(ActionId::kShowPublished).trigger();
  settle();

  window_.export_report(QString::fromStdString((folder() / "study.html").string()));
  settle();
  EXPECT_THAT(read_file(folder() / "study.html"), HasSubstr("<h2>Platform comparison</h2>"));

  Q_EMIT overview().charts().front()->category_activated(0, 1);  // a point of the second line
  settle();
  EXPECT_THAT(overview().verdict().toStdString(), HasSubstr("parallel efficiency"));
  EXPECT_THAT(window_.breadcrumbs().toStdString(), HasSubstr("comparison › theirs"));
  EXPECT_EQ(runs->count(), 5);  // and the runs of that experiment
}

TEST_F(ExperimentTest, AnExperimentStandsBesidePublishedResults) {
  open(make_experiment());
  window_.action(ActionId::kShowPublished).trigger();
  settle();
  EXPECT_EQ(overview().cards().size(), 1U);
  EXPECT_EQ(overview().tables().front()->model()->rowCount(), 2 + 8);
  window_.action(ActionId::kShowPublished).trigger();
  settle();
  EXPECT_THAT(overview().verdict().toStdString(), HasSubstr(" at 2 GPUs: "));
}

}  // namespace
}  // namespace swinscope::tests
