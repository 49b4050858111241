// An experiment: its scaling on the first page, and from a point to the run behind it.
#include <QComboBox>

#include <gmock/gmock.h>

#include "analyzer/import.h"
#include "gui/widgets/chart_widget.h"
#include "gui/widgets/overview_page.h"
#include "tests/integration/gui/support.h"

namespace swinscope::tests {
namespace {

using gui::ActionId;
using testing::HasSubstr;

class ExperimentTest : public WindowTest {
 protected:
  // Of recordings in data/: what is measured does not matter here.
  std::filesystem::path make_experiment() const {
    const std::filesystem::path data = std::filesystem::path(SWINSCOPE_SOURCE_DIR) / "data";
    Experiment experiment;
    experiment.folder = folder() / "experiment";
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
  EXPECT_THAT(window_.overview().verdict().toStdString(), HasSubstr(" at 2 GPUs: "));
  ASSERT_GE(window_.overview().charts().size(), 4U);
  EXPECT_EQ(window_.run(), nullptr);
  for (const QSize size : {QSize(1280, 720), QSize(1920, 1080)}) {
    window_.resize(size);
    expect_nothing_overlaps();
  }
  auto* runs = window_.findChild<QComboBox*>(QStringLiteral("filter_run"));
  EXPECT_EQ(runs->count(), 3);  // the experiment, and a run for each point

  gui::ChartWidget* chart = window_.overview().charts().front();
  chart->setFocus();
  QTest::keyClick(chart, Qt::Key_Right);
  QTest::keyClick(chart, Qt::Key_Right);  // the second point
  QTest::keyClick(chart, Qt::Key_Return);
  settle();
  ASSERT_NE(window_.run(), nullptr) << banner();
  EXPECT_EQ(window_.run()->trace->ranks.size(), 2U);
  EXPECT_THAT(window_.breadcrumbs().toStdString(), HasSubstr("experiment › gpus2/tracing › Overview"));

  window_.show_page(ActionId::kPageTimeline);
  EXPECT_EQ(view().timeline()->processes.size(), 2U);
  auto* ranks = window_.findChild<QComboBox*>(QStringLiteral("filter_rank"));
  const std::size_t all = view().rows().lanes().size();
  ranks->setCurrentIndex(2);
  settle();
  EXPECT_LT(view().rows().lanes().size(), all);
  for (const LaneId lane : view().rows().lanes())
    EXPECT_EQ(view().timeline()->lanes[lane].key.process, 1U);
}

}  // namespace
}  // namespace swinscope::tests
