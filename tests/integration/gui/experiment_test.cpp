// An experiment: its scaling on the first page, and from a point to the run behind it.
#include <QComboBox>

#include <gmock/gmock.h>

#include "analyzer/importers/import.h"
#include "analyzer/table/render.h"
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
  EXPECT_EQ(card(1), step);
  EXPECT_EQ(card(2), busy);
  EXPECT_EQ(card(4), idle);
  const nlohmann::json said = run_json({"analyze", (path / "gpus2" / "tracing").string()})["data"];
  EXPECT_EQ(overview().verdict().toStdString(), said["verdict"]);
  for (int row = 0; row < 2; ++row) {
    const auto shown = [&](const char* table, const char* key, Unit unit) {
      return format_cell(said[table][static_cast<std::size_t>(row)][key].get<double>(), unit);
    };
    EXPECT_EQ(cell("Utilization", "gpu_busy", row), shown("utilization", "gpu_busy_percent", Unit::kPercent));
    EXPECT_EQ(cell("Time breakdown", "idle %", row), shown("breakdown", "idle_percent", Unit::kPercent));
    EXPECT_EQ(cell("Steps", "step time", row), shown("steps", "step_ns", Unit::kDuration));
  }
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
