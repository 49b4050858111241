// The window before and around a run: what it starts with, what it is called, what it no longer offers, and a run that
// is still being recorded.
#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QPushButton>
#include <QSignalSpy>
#include <QStatusBar>
#include <algorithm>
#include <cmath>
#include <fstream>

#include <gmock/gmock.h>

#include "gui/core/demo_recording.h"
#include "gui/core/settings.h"
#include "gui/pages/overview/start_panel.h"
#include "gui/widgets/command_palette.h"
#include "gui/widgets/theme.h"
#include "gui/widgets/window_place.h"
#include "tests/integration/gui/support.h"

namespace swinscope::tests {
namespace {

using gui::ActionId;
using testing::HasSubstr;

class StartTest : public WindowTest {
 protected:
  std::filesystem::path copy_of_demo(const char* name) {
    std::filesystem::path copy = folder() / name;
    std::filesystem::copy_file(gui::demo_recording().toStdString(), copy);
    return copy;
  }
  QComboBox& runs() { return *window_.findChild<QComboBox*>(QStringLiteral("filter_run")); }
  std::string status() { return window_.statusBar()->currentMessage().toStdString(); }
};

TEST_F(StartTest, TheExampleIsOneClickAndWhatWasOpenIsOfferedAgain) {
  gui::Settings().clear_recent_files();
  gui::MainWindow first;
  first.show();
  auto* overview = first.findChild<gui::OverviewPage*>();
  ASSERT_TRUE(overview->start().isVisible());
  EXPECT_FALSE(overview->start().recent().isVisible());
  EXPECT_EQ(first.windowTitle(), QStringLiteral("swinscope"));
  EXPECT_FALSE(first.windowIcon().isNull());
  QTest::mouseClick(&overview->start().demo(), Qt::LeftButton);
  ASSERT_TRUE(QTest::qWaitFor([&] { return first.is_settled(); }, kWaitMs));
  ASSERT_NE(first.run(), nullptr);
  EXPECT_FALSE(overview->start().isVisible());
  EXPECT_EQ(first.windowTitle(), QStringLiteral("swinscope_swin_tiny_graph_1gpu.db — swinscope"));

  gui::MainWindow second;
  second.show();
  gui::StartPanel& start = second.findChild<gui::OverviewPage*>()->start();
  ASSERT_EQ(start.recent().count(), 1);
  start.recent().setCurrentRow(0);
  QTest::keyClick(&start.recent(), Qt::Key_Return);
  ASSERT_TRUE(QTest::qWaitFor([&] { return second.is_settled(); }, kWaitMs));
  EXPECT_EQ(second.run()->path, first.run()->path);
}

TEST_F(StartTest, WhatCouldNotBeReadIsNotOfferedAgain) {
  open(folder() / write("notes.txt", "not a trace"));
  EXPECT_THAT(banner(), HasSubstr("not a trace"));
  EXPECT_EQ(runs().count(), 0);
  open(copy_of_demo("good.db"));
  open(folder() / "notes.txt");
  EXPECT_EQ(runs().count(), 1);
  EXPECT_EQ(runs().currentText(), QStringLiteral("good.db"));
  ASSERT_NE(window_.run(), nullptr) << "what was open stays";
  window_.perform(ActionId::kReload);
  settle();
  EXPECT_EQ(window_.run()->path, qt(folder() / "good.db"));
}

TEST_F(StartTest, OfSeveralFilesItIsSaidWhereTheOthersAre) {
  window_.open({qt(copy_of_demo("one.db")), qt(copy_of_demo("two.db"))});
  settle();
  EXPECT_THAT(status(), HasSubstr("1 more can be chosen in the list of runs"));
  EXPECT_EQ(runs().count(), 2);
}

TEST_F(StartTest, AWindowThatHangsOffTheScreenIsMovedBack) {
  const QRect room = window_.screen()->availableGeometry();
  window_.resize(room.width() / 2, room.height() / 2);
  window_.move(room.right() - 20, room.bottom() - 20);
  gui::keep_on_screen(window_);
  EXPECT_TRUE(room.contains(window_.frameGeometry()));
  window_.move(-400, -300);
  gui::keep_on_screen(window_);
  EXPECT_TRUE(room.contains(window_.frameGeometry()));
  window_.resize(2 * room.width(), room.height() / 2);  // larger than the screen: its beginning is seen
  window_.move(200, 0);
  gui::keep_on_screen(window_);
  EXPECT_EQ(window_.frameGeometry().left(), room.left());
}

double contrast(const QColor& a, const QColor& b) {
  const auto luminance = [](const QColor& color) {
    const auto linear = [](double v) { return v <= 0.04045 ? v / 12.92 : std::pow((v + 0.055) / 1.055, 2.4); };
    return 0.2126 * linear(color.redF()) + 0.7152 * linear(color.greenF()) + 0.0722 * linear(color.blueF()) + 0.05;
  };
  return std::max(luminance(a), luminance(b)) / std::min(luminance(a), luminance(b));
}

// The strongest contrast of any pixel to the background: that of its text.
double text_contrast(QWidget& widget) {
  const QImage image = widget.grab().toImage();
  const QColor background = image.pixelColor(0, 0);
  double most = 1;
  for (int y = 0; y < image.height(); ++y) {
    for (int x = 0; x < image.width(); ++x)
      most = std::max(most, contrast(image.pixelColor(x, y), background));
  }
  return most;
}

TEST_F(StartTest, LinksAndMessagesFollowAChangeOfTheme) {
  open(copy_of_demo("good.db"));
  window_.perform(ActionId::kThemeDark);
  QCoreApplication::processEvents();
  window_.banner().show_problem({QStringLiteral("something is wrong"), {}, {}});
  QCoreApplication::processEvents();
  window_.perform(ActionId::kThemeLight);
  QCoreApplication::processEvents();
  auto* breadcrumbs = window_.findChild<QLabel*>(QStringLiteral("breadcrumbs"));
  EXPECT_EQ(breadcrumbs->text().contains(QStringLiteral("<a href")), true);
  // The link alone: what is not a link is left out.
  breadcrumbs->setFixedWidth(breadcrumbs->fontMetrics().horizontalAdvance(QStringLiteral("good")));
  EXPECT_GE(text_contrast(*breadcrumbs), 4.5);
  auto* text = window_.banner().findChildren<QLabel*>().back();
  EXPECT_GE(contrast(text->palette().color(QPalette::WindowText), window_.banner().palette().color(QPalette::Window)),
            4.5);
}

TEST_F(StartTest, ThePaletteShowsWhatThereIsNothingToDoForAsGrey) {
  window_.show_page(QStringLiteral("overview"));
  window_.perform(ActionId::kPalette);
  auto* palette = window_.findChild<gui::CommandPalette*>();
  auto* search = palette->findChild<QLineEdit*>();
  auto* list = palette->findChild<QListWidget*>();
  QTest::keyClicks(search, QStringLiteral("undo zoom"));
  ASSERT_EQ(list->count(), 1);
  EXPECT_FALSE(list->item(0)->flags().testFlag(Qt::ItemIsEnabled));
  EXPECT_THAT(list->item(0)->text().toStdString(), HasSubstr("Backspace"));
  QTest::keyClick(search, Qt::Key_Return);
  EXPECT_TRUE(palette->isVisible()) << "there is nothing to do";
  QTest::keyClick(palette, Qt::Key_Escape);
}

// A journal beside the file: the recording goes on. When it is gone the run is read again by itself.
TEST_F(StartTest, ARunThatIsStillRecordedIsReadAgainWhenItHasEnded) {
  const std::filesystem::path path = copy_of_demo("growing.db");
  const std::filesystem::path journal = folder() / "growing.db-wal";
  std::ofstream(journal) << "not a log of this file";
  open(path);
  ASSERT_NE(window_.run(), nullptr) << banner();
  EXPECT_THAT(status(), HasSubstr("still being recorded"));
  const std::shared_ptr<const Trace> before = window_.run()->trace;
  std::ofstream(journal, std::ios::app) << "more";
  EXPECT_TRUE(QTest::qWaitFor([&] { return status().find("F5 reads it") != std::string::npos; }, kWaitMs)) << status();
  EXPECT_EQ(window_.run()->trace, before) << "only on request";
  std::filesystem::remove(journal);
  ASSERT_TRUE(QTest::qWaitFor(
      [&] { return window_.is_settled() && window_.run()->trace != nullptr && window_.run()->trace != before; },
      kWaitMs));
}

TEST_F(StartTest, APictureSaysWhatItIsOf) {
  open(copy_of_demo("good.db"));
  window_.show_page(QStringLiteral("timeline"));
  ASSERT_TRUE(window_.export_image(qt(folder() / "page.svg")));
  const std::string svg = read_file(folder() / "page.svg");
  EXPECT_THAT(svg, testing::StartsWith("<svg"));
  EXPECT_THAT(svg, HasSubstr(">Timeline, " + timeline().place().toStdString() + "</text>"));
  EXPECT_THAT(svg, HasSubstr(">good.db; swinscope"));
  ASSERT_TRUE(window_.export_image(qt(folder() / "page.png")));
  EXPECT_GT(QImage(qt(folder() / "page.png")).height(), timeline().height()) << "a title above the page";
}

// Of what nothing is known there would be dashes alone; the page of all tables shows every column.
TEST_F(StartTest, AColumnWithoutAnyValueIsNotShown) {
  gui::TablePanel panel(QStringLiteral("rows"));
  const Table table{"t", "t", {{"name", "name"}, {"note", "note"}, {"bytes", "bytes", Unit::kBytes}}, {}};
  Table rows = table;
  rows.rows = {{std::string("a"), std::string(), Cell()}, {std::string("b"), std::string(), std::int64_t{1}}};
  panel.set_table(rows);
  EXPECT_TRUE(panel.isColumnHidden(1));
  EXPECT_FALSE(panel.isColumnHidden(2));
  panel.set_table(rows, {}, true);
  EXPECT_FALSE(panel.isColumnHidden(1));
  panel.set_table(table);
  EXPECT_FALSE(panel.isColumnHidden(1)) << "there are no rows at all";
}

TEST_F(StartTest, ARunOfAnExperimentIsCalledByItsPoint) {
  open(std::filesystem::path(SWINSCOPE_SOURCE_DIR) / "data" / "swinscope_swin_large_weak_2gpu" / "gpus1" / "tracing");
  EXPECT_EQ(window_.windowTitle(), QStringLiteral("gpus1/tracing — swinscope"));
  EXPECT_THAT(window_.breadcrumbs().toStdString(), HasSubstr("gpus1/tracing › Overview"));
}

// The same bytes as the command that the window says.
TEST_F(StartTest, EventsAreWrittenAsTheCommandWritesThem) {
  const std::filesystem::path path = copy_of_demo("good.db");
  EXPECT_FALSE(window_.can_perform(ActionId::kExportTrace));
  open(path);
  for (const auto& [name, format] : {std::pair("window.pftrace", "perfetto"), std::pair("window.json", "kineto")}) {
    window_.export_events(qt(folder() / name));
    settle();
    EXPECT_EQ(banner(), "");
    EXPECT_THAT(status(), HasSubstr(std::string("swinscope export ") + path.string() + " --format " + format));
    const std::string other = std::string("command-") + name;
    EXPECT_EQ(run({"export", path.string(), "--format", format, "-o", other}).status, 0);
    EXPECT_EQ(read_file(folder() / name) == read_file(folder() / other), true) << name;
  }
  window_.export_events(qt(folder() / "none" / "window.pftrace"));
  settle();
  EXPECT_THAT(banner(), HasSubstr("window.pftrace"));
}

}  // namespace
}  // namespace swinscope::tests
