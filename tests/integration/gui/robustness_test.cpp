// Inputs that are damaged, newer, empty or gone; Cancel; and whatever else users do: never a crash, always a message.
#include <QApplication>
#include <QElapsedTimer>
#include <QPushButton>
#include <QSignalSpy>
#include <QTimer>
#include <QToolTip>
#include <QWheelEvent>
#include <ctime>
#include <fstream>
#include <random>

#include <gmock/gmock.h>

#include "gui/core/tool_tip.h"
#include "tests/integration/gui/support.h"

namespace swinscope::tests {
namespace {

using gui::ActionId;
using testing::HasSubstr;
using testing::Not;

class RobustnessTest : public WindowTest {
 protected:
  // The window does what it should, whatever came before.
  void expect_usable() {
    const std::filesystem::path good = folder() / "good.kineto.json.gz";
    if (!std::filesystem::exists(good)) std::filesystem::copy_file(recording(), good);
    open(good);
    ASSERT_NE(window_.run(), nullptr) << banner();
    ASSERT_NE(window_.run()->trace, nullptr);
    EXPECT_EQ(banner(), "");
    EXPECT_THAT(overview().verdict().toStdString(), HasSubstr("bound by"));
  }
};

TEST_F(RobustnessTest, ATruncatedFileShowsWhatCameBefore) {
  const std::filesystem::path path = copy_of_recording();
  std::filesystem::resize_file(path, std::filesystem::file_size(path) * 6 / 10);
  open(path);
  ASSERT_NE(window_.run(), nullptr) << banner();
  EXPECT_GT(window_.run()->timeline->event_count(), 1000U);
  EXPECT_THAT(banner(), HasSubstr("copy.kineto.json.gz"));
  expect_usable();
}

TEST_F(RobustnessTest, ANewerSchemaIsRefusedWithTheNextStep) {
  open(folder() / make_database("own.db", own_trace_sql(99)));
  EXPECT_EQ(window_.run(), nullptr);
  EXPECT_THAT(banner(), HasSubstr("own.db: made by a newer swinscope"));
  EXPECT_THAT(banner(), HasSubstr("Next step: "));
  expect_usable();
}

TEST_F(RobustnessTest, ATraceWithoutEventsOpens) {
  open(folder() / write("empty.json", R"({"traceEvents": [], "schemaVersion": 1})"));
  for (const gui::PageInfo& page : gui::all_pages()) {
    window_.show_page(QString::fromUtf8(page.id));
    settle();
    EXPECT_FALSE(window_.grab().isNull());
  }
  for (const gui::ActionInfo& action : gui::all_actions()) {
    if (action.context != gui::ActionContext::kWindow) window_.perform(action.id);
  }
  EXPECT_TRUE(window_.run() != nullptr || !banner().empty());  // shown, or refused with a message
  expect_usable();
}

TEST_F(RobustnessTest, NothingAndNoTraceAreRefused) {
  open(folder() / "missing.db");
  EXPECT_THAT(banner(), HasSubstr("missing.db: no such file or folder"));
  open(folder() / write("notes.txt", "not a trace"));
  EXPECT_THAT(banner(), HasSubstr("notes.txt: not a trace"));
  EXPECT_THAT(banner(), HasSubstr("Cause: "));
  open(folder() / write("nothing.db", ""));
  EXPECT_THAT(banner(), HasSubstr("the file is empty"));
  expect_usable();
}

// Whoever made the trace chose the names in it: none is taken for HTML, whose pictures would be loaded.
TEST_F(RobustnessTest, NamesAreShownAsTheyAreNotAsHtml) {
  const std::string name = "<img src=x><b>bold</b>";
  std::string sql = small_export_sql();
  for (std::size_t at = sql.find("gemm"); at != std::string::npos; at = sql.find("gemm", at + name.size()))
    sql.replace(at, 4, name);
  open(folder() / make_database("named.sqlite", sql));
  ASSERT_NE(window_.run(), nullptr) << banner();
  for (const gui::PageInfo& page : gui::all_pages()) {
    window_.show_page(QString::fromUtf8(page.id));
    settle();
    for (const QLabel* label : window_.findChildren<QLabel*>()) {
      if (!label->isVisible()) continue;
      if (label->objectName() == QStringLiteral("breadcrumbs")) continue;  // links, the names in them escaped
      EXPECT_EQ(label->textFormat(), Qt::PlainText) << page.id << ": " << label->text().toStdString();
    }
  }
  // Qt shows all tool tips in one label.
  QToolTip::showText({}, gui::tooltip_of(QString::fromStdString(name)), &window_);
  int tips = 0;
  for (const QWidget* top : QApplication::topLevelWidgets()) {
    if (!top->inherits("QTipLabel")) continue;
    const auto* tip = qobject_cast<const QLabel*>(top);
    EXPECT_EQ(tip->textFormat(), Qt::PlainText);
    EXPECT_EQ(tip->text().toStdString(), name);
    ++tips;
  }
  EXPECT_EQ(tips, 1);
  QToolTip::hideText();
}

TEST_F(RobustnessTest, AFileThatIsDeletedWhileOpenStaysOnTheScreen) {
  const std::filesystem::path path = copy_of_recording();
  open(path);
  const std::uint64_t events = window_.run()->timeline->event_count();
  std::filesystem::remove(path);
  window_.show_page(QStringLiteral("timeline"));
  press(Qt::Key_W);
  press(Qt::Key_Period);
  EXPECT_TRUE(view().selection().has_value());
  window_.perform(ActionId::kReload);
  settle();
  EXPECT_THAT(banner(), HasSubstr("no such file"));
  EXPECT_EQ(window_.run()->timeline->event_count(), events);
  expect_usable();
}

// At every progress report in turn, until a load has fewer of them.
TEST_F(RobustnessTest, CancelAtAnyMomentOfALoad) {
  const std::filesystem::path path = copy_of_recording();
  int moments = 0;
  for (bool was_cancelled = true; was_cancelled && moments < 60; ++moments) {
    int seen = 0;
    was_cancelled = false;
    const auto progress = QObject::connect(&window_.loader(), &gui::Loader::progressed, &window_, [&] {
      if (seen++ != moments) return;
      was_cancelled = true;
      QTest::mouseClick(window_.findChild<QPushButton*>(QStringLiteral("cancel")), Qt::LeftButton);
    });
    open(path);
    QObject::disconnect(progress);
    EXPECT_FALSE(window_.loader().is_loading());
    if (was_cancelled) {
      EXPECT_THAT(banner(), HasSubstr("loading was cancelled"));
      EXPECT_THAT(overview().verdict().toStdString(), Not(HasSubstr("Analyzing")));
    }
  }
  EXPECT_GT(moments, 2);
  expect_usable();
}

TEST_F(RobustnessTest, OpeningAnotherFileEndsTheLoadBefore) {
  const std::filesystem::path path = copy_of_recording();
  for (int i = 0; i < 5; ++i)
    window_.open({qt(i % 2 == 0 ? path : recording())});
  settle();
  EXPECT_EQ(window_.run()->path, qt(path));
  expect_usable();
}

// CPU time of this thread: what it did itself, however busy the machine is.
double thread_cpu_ms() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return 1e3 * static_cast<double>(now.tv_sec) + 1e-6 * static_cast<double>(now.tv_nsec);
}

// How long the window does not answer while a trace loads. Printed, not asserted: the machine may be busy. That the
// loop runs at all meanwhile is.
TEST_F(RobustnessTest, TheWindowAnswersWhileATraceLoads) {
  constexpr int kProbeMs = 5;
  constexpr double kBlockMs = 50;
  QTimer probe;
  QElapsedTimer since;
  double own_before = thread_cpu_ms();
  double longest = 0;
  double longest_own = 0;
  int ticks = 0;
  int blocks = 0;
  QObject::connect(&probe, &QTimer::timeout, &probe, [&] {
    const auto gap = static_cast<double>(since.restart());
    const double own_now = thread_cpu_ms();
    longest_own = std::max(longest_own, own_now - own_before);
    own_before = own_now;
    longest = std::max(longest, gap);
    blocks += gap > kBlockMs ? 1 : 0;
    ticks += window_.loader().is_loading() ? 1 : 0;
  });
  probe.start(kProbeMs);
  since.start();
  window_.show_page(QStringLiteral("timeline"));
  open(copy_of_recording());
  ASSERT_NE(window_.run(), nullptr);
  EXPECT_GT(ticks, 2);
  std::printf("event loop while loading: %d ticks, %d gaps over %.0f ms, longest %.0f ms, of own work %.0f ms\n", ticks,
              blocks, kBlockMs, longest, longest_own);
}

// One input, of those that open no dialog.
class RandomInput {
 public:
  RandomInput(gui::MainWindow& window, std::uint32_t seed)
      : window_(window), timeline_(*window.findChild<gui::TimelinePage*>()), random_(seed) {}

  void next() {
    QWidget* target = timeline_.view().viewport();
    const QPoint place(below(target->width()), below(target->height()));
    switch (below(7)) {
      case 0:
        QTest::mouseClick(target, Qt::LeftButton, below(2) == 0 ? Qt::NoModifier : Qt::ShiftModifier, place);
        return;
      case 1:
        QTest::mousePress(target, below(3) == 0 ? Qt::MiddleButton : Qt::LeftButton, {}, place);
        QTest::mouseMove(target, {below(target->width()), below(target->height())});
        return;
      case 2:
        QTest::mouseRelease(target, Qt::LeftButton, {}, place);
        return;
      case 3:
        wheel(target, place);
        return;
      case 4:
        window_.show_page(
            QString::fromUtf8(gui::all_pages()[static_cast<std::size_t>(below(gui::all_pages().size()))].id));
        return;
      case 5:
        timeline_.search().set_text(below(2) == 0 ? QString() : QStringLiteral("gemm"));
        return;
      default:
        QTest::keyClick(&timeline_.view(), kKeys[static_cast<std::size_t>(below(kKeys.size()))],
                        below(4) == 0 ? Qt::ControlModifier : Qt::NoModifier);
    }
  }

 private:
  // Without O, E, Q and R: with Ctrl they open dialogs, close the window or load again.
  static constexpr std::array kKeys = {Qt::Key_W,
                                       Qt::Key_S,
                                       Qt::Key_A,
                                       Qt::Key_D,
                                       Qt::Key_F,
                                       Qt::Key_0,
                                       Qt::Key_Backspace,
                                       Qt::Key_Comma,
                                       Qt::Key_Period,
                                       Qt::Key_BracketLeft,
                                       Qt::Key_BracketRight,
                                       Qt::Key_P,
                                       Qt::Key_M,
                                       Qt::Key_Return,
                                       Qt::Key_Escape,
                                       Qt::Key_Up,
                                       Qt::Key_Down,
                                       Qt::Key_N};

  int below(std::size_t bound) { return static_cast<int>(random_() % bound); }
  int below(int bound) { return bound <= 0 ? 0 : below(static_cast<std::size_t>(bound)); }
  void wheel(QWidget* target, QPoint place) {
    const QPoint delta(0, below(2) == 0 ? 120 : -240);
    const Qt::KeyboardModifiers modifiers = below(2) == 0 ? Qt::ControlModifier : Qt::NoModifier;
    QWheelEvent event(place, target->mapToGlobal(place), {}, delta, {}, modifiers, Qt::NoScrollPhase, false);
    QCoreApplication::sendEvent(target, &event);
  }

  gui::MainWindow& window_;
  gui::TimelinePage& timeline_;
  std::mt19937 random_;
};

TEST_F(RobustnessTest, AThousandRandomInputs) {
  open(copy_of_recording());
  RandomInput input(window_, 20'240'817);
  for (int i = 0; i < 1000; ++i) {
    input.next();
    QCoreApplication::processEvents();
  }
  settle();
  EXPECT_EQ(banner(), "");
  const Interval seen = view().seen();
  EXPECT_GT(seen.length(), 0);
  expect_usable();
}

}  // namespace
}  // namespace swinscope::tests
