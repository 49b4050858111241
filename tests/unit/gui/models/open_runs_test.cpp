// What is open is what could be read last, whatever was asked for meanwhile.
#include "gui/core/open_runs.h"

#include <QSignalSpy>
#include <QTest>

#include <gtest/gtest.h>

#include "store/writer.h"
#include "tests/unit/store/support.h"

namespace swinscope::gui {
namespace {

constexpr int kWaitMs = 240'000;

const QString kRun = QStringLiteral(SWINSCOPE_SOURCE_DIR "/data/pytorch_swin_tiny_graph_1gpu.kineto.json.gz");
const QString kOtherRun = QStringLiteral(SWINSCOPE_SOURCE_DIR "/data/swinscope_swin_tiny_infer_1gpu.db");
// Step times that are given, so that no run is read.
const QString kExperiment = QStringLiteral(SWINSCOPE_SOURCE_DIR "/tests/golden/compare_experiments/experiment/base");

class OpenRunsTest : public testing::Test {
 protected:
  void open(const QStringList& paths) {
    runs_.open(paths);
    wait();
  }
  void wait() {
    ASSERT_TRUE(QTest::qWaitFor([&] { return !runs_.loader().is_loading(); }, kWaitMs));
  }

  OpenRuns runs_;
  QSignalSpy opened_{&runs_, &OpenRuns::opened};
  QSignalSpy unfinished_{&runs_, &OpenRuns::unfinished};
};

TEST_F(OpenRunsTest, NothingIsOpenAtFirst) {
  EXPECT_EQ(runs_.place(), -1);
  EXPECT_TRUE(runs_.title().isEmpty());
  EXPECT_FALSE(runs_.can_reload());
  runs_.open({});
  runs_.reload();
  EXPECT_FALSE(runs_.loader().is_loading());
}

TEST_F(OpenRunsTest, TheFirstOfSeveralRunsIsLoaded) {
  QSignalSpy together(&runs_, &OpenRuns::opened_together);
  QSignalSpy loaded(&runs_, &OpenRuns::run_loaded);
  open({kRun, kOtherRun});
  ASSERT_EQ(together.count(), 1);
  EXPECT_EQ(together[0][0].toStringList(), (QStringList{kRun, kOtherRun}));
  ASSERT_EQ(loaded.count(), 1);
  EXPECT_EQ(loaded[0][1].toInt(), 1);
  EXPECT_TRUE(runs_.shows(kRun));
  EXPECT_EQ(runs_.titles().size(), 2);
  EXPECT_EQ(runs_.place(), 0);
  EXPECT_EQ(runs_.title(), runs_.titles()[0]);
}

TEST_F(OpenRunsTest, WhatCannotBeReadIsForgottenAndTheRestStays) {
  open({kRun});
  open({QStringLiteral("/no/such/file.db")});
  EXPECT_EQ(unfinished_.count(), 1);
  EXPECT_EQ(runs_.titles().size(), 1);
  EXPECT_EQ(runs_.place(), 0);
  EXPECT_TRUE(runs_.shows(kRun));
  EXPECT_EQ(opened_.count(), 1);
}

TEST_F(OpenRunsTest, WhatIsCancelledCanBeLoadedAgain) {
  runs_.open({kRun});
  runs_.loader().cancel();
  EXPECT_EQ(unfinished_.count(), 1);
  EXPECT_EQ(runs_.session().run, nullptr);
  ASSERT_TRUE(runs_.can_reload());
  runs_.reload();
  wait();
  EXPECT_TRUE(runs_.shows(kRun));
}

TEST_F(OpenRunsTest, AnExperimentHasPublishedResultsBesideItOnceTheyAreAskedFor) {
  open({kExperiment});
  ASSERT_NE(runs_.session().experiment, nullptr);
  runs_.show_published(true);
  wait();
  ASSERT_NE(runs_.session().comparison, nullptr);
  EXPECT_FALSE(runs_.session().comparison->published.empty());
  runs_.show_published(false);
  wait();
  EXPECT_NE(runs_.session().experiment, nullptr) << "alone again";
  EXPECT_FALSE(runs_.with_published());
}

// A run is open while it is being recorded: what is there is shown, that there is more is said, and its end is noticed.
TEST_F(OpenRunsTest, ARunThatGrows) {
  const test::TempFolder folder;
  QSignalSpy said(&runs_, &OpenRuns::said);
  const auto waits_for = [&](const char* text) {
    return QTest::qWaitFor([&] { return !said.isEmpty() && said.last()[0].toString().contains(QLatin1String(text)); },
                           kWaitMs);
  };
  TraceWriter writer(folder / "rank0.db", WriteMode::kLive);
  std::int64_t time_ns = 0;
  const auto record = [&] {
    ApiRecord call;
    call.name = writer.intern("cudaLaunchKernel");
    call.start_ns = time_ns += 100;
    call.end_ns = time_ns + 50;
    call.global_tid = make_global_tid(10, 10);
    writer.add(call);
    writer.flush();
  };
  const auto calls = [&] { return runs_.session().run->trace->ranks.at(0).api.size(); };
  record();
  open({QString::fromStdString(folder.path().string())});
  EXPECT_EQ(calls(), 1U);
  EXPECT_TRUE(waits_for("still being recorded"));
  record();
  record();
  EXPECT_TRUE(waits_for("there is more"));
  EXPECT_EQ(calls(), 1U) << "what is shown does not change by itself";
  runs_.reload();
  wait();
  EXPECT_EQ(calls(), 3U);
  record();
  writer.finish();
  EXPECT_TRUE(waits_for("has ended"));
  wait();
  EXPECT_EQ(calls(), 4U);
}

}  // namespace
}  // namespace swinscope::gui
