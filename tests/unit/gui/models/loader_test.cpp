// The loader answers in the thread of the window, whatever happens in its own.
#include "gui/core/loader.h"

#include <QSignalSpy>
#include <QTest>
#include <QThread>

#include <gtest/gtest.h>

#include "gui/core/background.h"

namespace swinscope::gui {
namespace {

constexpr int kWaitMs = 240'000;

QString recording() { return QStringLiteral(SWINSCOPE_SOURCE_DIR "/data/pytorch_swin_tiny_graph_1gpu.kineto.json.gz"); }

TEST(Loader, LoadsARunAndSaysHowFar) {
  Loader loader;
  RunPointer run;
  double last = 0;
  bool grows = true;
  bool has_timeline = false;
  QObject::connect(&loader, &Loader::progressed, [&](double fraction, const QString& phase) {
    grows &= fraction >= last && fraction <= 1 && !phase.isEmpty();
    last = fraction;
  });
  QObject::connect(&loader, &Loader::timeline_ready,
                   [&](const RunPointer& ready) { has_timeline = ready->timeline != nullptr; });
  QObject::connect(&loader, &Loader::run_loaded, [&](const RunPointer& loaded) {
    EXPECT_EQ(QThread::currentThread(), loader.thread());
    run = loaded;
  });
  loader.load(recording());
  EXPECT_TRUE(loader.is_loading());
  ASSERT_TRUE(QTest::qWaitFor([&] { return !loader.is_loading(); }, kWaitMs));
  ASSERT_NE(run, nullptr);
  EXPECT_TRUE(has_timeline);
  EXPECT_TRUE(grows);
  EXPECT_GT(last, 0.5);
  EXPECT_EQ(run->timeline->processes.size(), run->trace->ranks.size());
  EXPECT_FALSE(run->analyzed.document.tables.empty());
}

TEST(Loader, FailsWithAMessage) {
  Loader loader;
  Problem problem;
  QObject::connect(&loader, &Loader::failed, [&](const QString&, const Problem& told) { problem = told; });
  loader.load(QStringLiteral("/no/such/file.db"));
  ASSERT_TRUE(QTest::qWaitFor([&] { return !loader.is_loading(); }, kWaitMs));
  EXPECT_TRUE(problem.what.contains(QLatin1String("no such file")));
  EXPECT_FALSE(problem.hint.isEmpty());
}

// Step times that are given, so that no run is read.
TEST(Loader, ComparesAnExperimentWithPublishedOnes) {
  const QString base = QStringLiteral(SWINSCOPE_SOURCE_DIR "/tests/golden/compare_experiments/experiment/base");
  Loader loader;
  ComparisonPointer comparison;
  Problem problem;
  QObject::connect(&loader, &Loader::comparison_loaded, [&](const ComparisonPointer& loaded) {
    EXPECT_EQ(QThread::currentThread(), loader.thread());
    comparison = loaded;
  });
  QObject::connect(&loader, &Loader::failed, [&](const QString&, const Problem& told) { problem = told; });
  loader.load_comparison({base}, true);
  ASSERT_TRUE(QTest::qWaitFor([&] { return !loader.is_loading(); }, kWaitMs));
  ASSERT_NE(comparison, nullptr) << problem.what.toStdString();
  EXPECT_EQ(comparison->names, QStringList(QStringLiteral("base")));
  std::size_t published = 0;
  for (const PublishedResult& result : comparison->published)
    published += result.points.size();
  EXPECT_EQ(comparison->document.tables.front().rows.size(), 2 + published);

  loader.load_comparison({base, QStringLiteral("/no/such/experiment")}, false);
  ASSERT_TRUE(QTest::qWaitFor([&] { return !loader.is_loading(); }, kWaitMs));
  EXPECT_TRUE(problem.what.contains(QLatin1String("/no/such/experiment")));
}

TEST(Loader, NobodyHearsOfACancelledLoad) {
  Loader loader;
  QSignalSpy loaded(&loader, &Loader::run_loaded);
  QSignalSpy failed(&loader, &Loader::failed);
  QSignalSpy cancelled(&loader, &Loader::cancelled);
  for (int i = 0; i < 10; ++i) {
    loader.load(recording());
    for (int turn = 0; turn < i; ++turn)
      QCoreApplication::processEvents();
    loader.cancel();
    EXPECT_FALSE(loader.is_loading());
  }
  loader.cancel();  // nothing is under way
  EXPECT_EQ(cancelled.count(), 10);
  loader.load(recording());
  ASSERT_TRUE(QTest::qWaitFor([&] { return !loader.is_loading(); }, kWaitMs));
  EXPECT_EQ(loaded.count(), 1);
  EXPECT_EQ(failed.count(), 0);
}

TEST(Loader, CanGoWhileItLoads) {
  for (int i = 0; i < 5; ++i) {
    Loader loader;
    loader.load(recording());
    for (int turn = 0; turn < i; ++turn)
      QCoreApplication::processEvents();
  }
}

TEST(Background, OnlyTheLatestAnswerCounts) {
  Background background;
  std::vector<int> answers;
  for (int i = 0; i < 20; ++i)
    background.start([i] { return i; }, [&](int answer) { answers.push_back(answer); });
  EXPECT_FALSE(background.is_idle());
  ASSERT_TRUE(QTest::qWaitFor([&] { return background.is_idle(); }, kWaitMs));
  EXPECT_EQ(answers, std::vector<int>{19});
  background.start([] { return 1; }, [&](int answer) { answers.push_back(answer); });
  background.forget();
  EXPECT_TRUE(background.is_idle());
  QCoreApplication::processEvents();
  EXPECT_EQ(answers.size(), 1U);
}

}  // namespace
}  // namespace swinscope::gui
