// What to change, and what it gains: from a trace to its opportunities, their simulation and the work that they are
// about.
#include <QApplication>
#include <QCheckBox>
#include <QLineEdit>
#include <QPushButton>
#include <QScrollArea>
#include <QTabBar>
#include <QWheelEvent>
#include <algorithm>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "analyzer/base/text.h"
#include "gui/pages/opportunities/opportunity_card.h"
#include "gui/pages/opportunities/step_panel.h"
#include "gui/widgets/elided_label.h"
#include "gui/widgets/interval_bar.h"
#include "gui/widgets/step_lanes.h"
#include "gui/widgets/step_timelines.h"
#include "tests/integration/gui/support.h"

namespace swinscope::tests {
namespace {

using testing::HasSubstr;
using testing::Not;

std::filesystem::path data_file(const char* name) {
  return std::filesystem::path(SWINSCOPE_SOURCE_DIR) / "data" / name;
}

std::string duration(const nlohmann::json& ns) { return format_duration(ns.get<std::int64_t>()); }

class OpportunitiesPageTest : public WindowTest {
 protected:
  void show_opportunities() {
    window_.show_page(QStringLiteral("opportunities"));
    ASSERT_TRUE(QTest::qWaitForWindowExposed(&window_));
    settle();
  }
  void click(QWidget& widget) {
    ++clicks_;
    QTest::mouseClick(&widget, Qt::LeftButton, {}, widget.rect().center());
  }
  void click_tab(const char* id) {
    auto* tabs = window_.findChild<QTabBar*>(QStringLiteral("pages"));
    ++clicks_;
    QTest::mouseClick(tabs, Qt::LeftButton, {}, tabs->tabRect(gui::find_page(QString::fromUtf8(id))).center());
    settle();
  }
  gui::OpportunityCard& card(std::size_t index) { return *opportunities().cards().at(index); }
  std::string simulated() { return opportunities().step().simulated().toStdString(); }

  int clicks_ = 0;
};

// One rank's file of two: the page says, as the command does, that the other one is missing.
TEST_F(OpportunitiesPageTest, SaysWhatMakesSavingsDoubtful) {
  const std::filesystem::path rank = data_file("pytorch_swin_tiny_ddp_2gpu") / "rank0.kineto.json.gz";
  const nlohmann::json warnings = run_json({"advise", rank.string()}).at("warnings");
  ASSERT_EQ(warnings.size(), 1U) << warnings;
  open(rank);
  ASSERT_NE(window_.run(), nullptr) << banner();
  show_opportunities();
  EXPECT_THAT(opportunities().step().replay_error().toStdString(),
              HasSubstr("\nnote: " + warnings.at(0).get<std::string>()));
}

// What a user wants to know of the recording in data/, in as few clicks as may be.
TEST_F(OpportunitiesPageTest, FromATraceToTheKernelThatIsToBeReplaced) {
  const nlohmann::json advice = run_json({"advise", recording().string()}).at("data");
  const nlohmann::json& first = advice.at("opportunities").at(0);
  open(recording());
  ASSERT_NE(window_.run(), nullptr) << banner();
  click_tab("opportunities");
  ASSERT_EQ(opportunities().message(), QString());
  ASSERT_EQ(opportunities().cards().size(), advice.at("opportunities").size());
  EXPECT_THAT(card(0).title().text().toStdString(), HasSubstr("Gather instead of atomics"));
  for (std::size_t i = 0; i < opportunities().cards().size(); ++i) {
    const nlohmann::json& row = advice.at("opportunities").at(i);
    EXPECT_EQ(card(i).title().text().toStdString(), std::to_string(i + 1) + ". " + row.at("change").get<std::string>());
    EXPECT_THAT(card(i).bar().accessibleName().toStdString(),
                HasSubstr("saves " + duration(row.at("saving_ns")) + ", "));
    EXPECT_THAT(card(i).bar().accessibleName().toStdString(), HasSubstr(" to " + duration(row.at("most_ns"))));
    EXPECT_FALSE(card(i).apply().isChecked());
  }
  EXPECT_EQ(opportunities().step().measured().toStdString(), duration(advice.at("traced_step_ns")));
  EXPECT_EQ(simulated(), duration(advice.at("unrecorded_step_ns")));
  EXPECT_THAT(opportunities().step().replay_error().toStdString(),
              HasSubstr("The replay of the step as it is differs by 0.0 %."));
  for (const nlohmann::json& row : advice.at("abstained"))
    EXPECT_THAT(opportunities().abstained().toStdString(), HasSubstr(row.at("reason").get<std::string>()));

  click(card(0).apply());
  settle();
  EXPECT_TRUE(card(0).apply().isChecked());
  const std::int64_t joint_ns =
      advice.at("unrecorded_step_ns").get<std::int64_t>() - first.at("saving_ns").get<std::int64_t>();
  EXPECT_THAT(simulated(), HasSubstr(format_duration(joint_ns) + ", "));
  EXPECT_THAT(simulated(), HasSubstr(fmt::format("; {:.1f} % less", first.at("share_percent").get<double>())));

  click(card(0).show_evidence());
  EXPECT_EQ(window_.page_id(), QStringLiteral("timeline"));
  ASSERT_TRUE(view().selection().has_value());
  EXPECT_THAT(timeline().detail(QStringLiteral("name")).toStdString(), HasSubstr("upsample_bilinear2d_backward"));
  EXPECT_FALSE(view().event_rect(*view().selection()).isEmpty());
  EXPECT_LE(clicks_, 5);

  // All together are what the command simulates, too.
  click_tab("opportunities");
  EXPECT_TRUE(card(0).apply().isChecked());
  click(opportunities().step().apply_all());
  settle();
  EXPECT_THAT(simulated(), HasSubstr(duration(advice.at("joint_step_ns")) + ", "));
  for (std::size_t i = 0; i < opportunities().cards().size(); ++i)
    EXPECT_EQ(card(i).apply().isChecked(), advice.at("opportunities").at(i).at("applied") == "yes");
  click(opportunities().step().apply_none());
  settle();
  EXPECT_EQ(simulated(), duration(advice.at("unrecorded_step_ns")));
  EXPECT_FALSE(card(0).apply().isChecked());
}

TEST_F(OpportunitiesPageTest, EverythingByKeyboard) {
  open(data_file("swinscope_swin_tiny_graph_1gpu.db"));
  show_opportunities();
  QWidget* start = QApplication::focusWidget();
  ASSERT_NE(start, nullptr);
  QTest::keyClick(start, Qt::Key_Tab);
  ASSERT_EQ(QApplication::focusWidget(), &card(0).apply());
  const std::string before = simulated();
  QTest::keyClick(&card(0).apply(), Qt::Key_Space);
  settle();
  EXPECT_TRUE(card(0).apply().isChecked());
  EXPECT_NE(simulated(), before);
  // To the details, which Enter opens and closes.
  while (QApplication::focusWidget() != &card(0).details())
    QTest::keyClick(QApplication::focusWidget(), Qt::Key_Tab);
  const auto height = [this] {
    for (int i = 0; i < 3; ++i)  // what is shown asks for its place in events of its own
      QCoreApplication::processEvents();
    return card(0).height();
  };
  const int closed = height();
  QTest::keyClick(&card(0).details(), Qt::Key_Return);
  EXPECT_GT(height(), closed);
  QTest::keyClick(&card(0).details(), Qt::Key_Return);
  EXPECT_EQ(height(), closed);
  QTest::keyClick(&card(0).details(), Qt::Key_Tab);
  ASSERT_EQ(QApplication::focusWidget(), &card(1).apply());
  QTest::keyClick(&card(1).apply(), Qt::Key_Return);
  EXPECT_EQ(window_.page_id(), QStringLiteral("timeline"));
  EXPECT_TRUE(view().selection().has_value());
  // Far below, the card with the keyboard is in sight.
  show_opportunities();
  gui::OpportunityCard& last = *opportunities().cards().back();
  opportunities().cards().back()->apply().setFocus(Qt::TabFocusReason);
  QTest::keyClick(&last.apply(), Qt::Key_Tab);
  EXPECT_FALSE(last.show_evidence().visibleRegion().isEmpty());
}

// What a widget shows, pixel by pixel.
QImage pixels_of(QWidget& widget) { return widget.grab().toImage().convertToFormat(QImage::Format_RGB32); }

// The measured step above the simulated one: both zoom together, and a switch draws the simulated one anew.
TEST_F(OpportunitiesPageTest, BothStepsStandAboveEachOther) {
  open(recording());
  show_opportunities();
  gui::StepTimelines& both = opportunities().timelines();
  ASSERT_TRUE(both.isVisible());
  for (int i = 0; i < 3; ++i)  // what is shown asks for its place in events of its own
    QCoreApplication::processEvents();
  EXPECT_LE(both.above().mapTo(&both, QPoint(0, both.above().height())).y(), both.below().y());
  EXPECT_EQ(both.above().lanes_rect().left(), both.below().lanes_rect().left());
  const QImage measured = pixels_of(both.above());
  const QImage simulated = pixels_of(both.below());
  const Interval seen = both.seen();
  for (const gui::StepLanes* lanes : {&both.above(), &both.below()}) {
    EXPECT_FALSE(lanes->accessibleName().isEmpty());
    EXPECT_THAT(lanes->accessibleDescription().toStdString(), HasSubstr(" GPU events on "));
  }

  click(card(0).apply());
  settle();
  EXPECT_NE(pixels_of(both.below()), simulated);
  EXPECT_THAT(both.below().heading().toStdString(), HasSubstr("Simulated, 1 change applied: "));
  EXPECT_LT(both.below().picture()->step_ns, both.above().picture()->step_ns);
  click(card(0).apply());
  settle();
  EXPECT_EQ(both.seen(), seen);
  EXPECT_EQ(pixels_of(both.below()), simulated);

  opportunities().step().apply_all().click();
  settle();
  EXPECT_GT(both.above().picture()->falling_away(), 100U);
  EXPECT_NE(pixels_of(both.above()), measured) << "what falls away is hatched";
  EXPECT_THAT(both.above().accessibleDescription().toStdString(), HasSubstr(" of the events fall away"));

  const Interval all = both.seen();
  both.below().setFocus();
  QTest::keyClick(&both.below(), Qt::Key_W);
  EXPECT_LT(both.seen().length(), all.length());
  const Interval zoomed = both.seen();
  QTest::keyClick(&both.above(), Qt::Key_D);
  EXPECT_GT(both.seen().begin_ns, zoomed.begin_ns);
  QTest::keyClick(&both.above(), Qt::Key_0);
  EXPECT_EQ(both.seen(), all);
  const QPointF middle = both.below().lanes_rect().center();
  QWheelEvent wheel(middle, both.below().mapToGlobal(middle), {}, {0, 240}, Qt::NoButton, Qt::NoModifier,
                    Qt::NoScrollPhase, false);
  QCoreApplication::sendEvent(&both.below(), &wheel);
  EXPECT_LT(both.seen().length(), all.length());
}

TEST_F(OpportunitiesPageTest, PartsHaveNamesAndRoom) {
  open(recording());
  show_opportunities();
  for (const gui::OpportunityCard* card : opportunities().cards()) {
    for (const QWidget* part : card->findChildren<QWidget*>()) {
      if (part->focusPolicy() & Qt::TabFocus) {
        EXPECT_THAT(part->accessibleName().toStdString(), HasSubstr(": ")) << part->metaObject()->className();
        EXPECT_FALSE(part->accessibleDescription().isEmpty()) << part->accessibleName().toStdString();
      }
    }
    EXPECT_THAT(card->title().toolTip(), Not(QString()));
  }
  EXPECT_TRUE(std::ranges::any_of(opportunities().cards(), [](auto* card) { return card->title().is_elided(); }));
  opportunities().step().apply_all().click();
  settle();
  for (gui::OpportunityCard* card : opportunities().cards())
    card->details().click();
  const auto* scroll = opportunities().findChild<QScrollArea*>();
  for (const QSize size : {QSize(1280, 720), QSize(1920, 1080)}) {
    window_.resize(size);
    expect_nothing_overlaps();
    EXPECT_LE(scroll->widget()->width(), scroll->viewport()->width());
  }
}

TEST_F(OpportunitiesPageTest, AreOfTheStepsThatTheFilterChooses) {
  const std::filesystem::path path = data_file("swinscope_swin_tiny_graph_1gpu.db");
  open(path);
  show_opportunities();
  card(0).apply().click();
  gui::Filter filter;
  filter.steps = StepRange{2, 2};
  window_.filter().set_filter(filter);
  settle();
  const nlohmann::json advice = run_json({"advise", path.string(), "--steps", "2:2"}).at("data");
  EXPECT_EQ(opportunities().step().measured().toStdString(), duration(advice.at("traced_step_ns")));
  ASSERT_EQ(opportunities().cards().size(), advice.at("opportunities").size());
  EXPECT_FALSE(card(0).apply().isChecked());
  // The name keeps cards that have it.
  filter.name = QStringLiteral("SOFTMAX");
  window_.filter().set_filter(filter);
  settle();
  const auto is_shown = [](const gui::OpportunityCard* card) { return !card->isHidden(); };
  const auto shown = std::ranges::count_if(opportunities().cards(), is_shown);
  EXPECT_GT(shown, 0);
  EXPECT_LT(shown, std::ssize(opportunities().cards()));
  for (const gui::OpportunityCard* card : opportunities().cards())
    EXPECT_EQ(is_shown(card), card->title().text().contains(QLatin1String("softmax")));
}

TEST_F(OpportunitiesPageTest, SaysWhyThereIsNothing) {
  show_opportunities();
  EXPECT_EQ(opportunities().message(), QStringLiteral("No run is open."));
  open(data_file("swinscope_swinv2b_upernet_weak_2gpu"));  // an experiment
  show_opportunities();
  EXPECT_THAT(opportunities().message().toStdString(), HasSubstr("Open a run of the experiment"));
  open(data_file("swinscope_swinv2b_upernet_weak_2gpu/gpus2/timing1"));
  show_opportunities();
  EXPECT_THAT(opportunities().message().toStdString(),
              HasSubstr("there is nothing to replay\ncause: the trace has no GPU"));
  EXPECT_THAT(opportunities().message().toStdString(), HasSubstr("\nhint: "));
  EXPECT_FALSE(opportunities().step().isVisible());
  write("two.json", kineto({kineto_kernel("gemm", "10", "5"), kineto_kernel("gemm", "20", "5")}));
  open(folder() / "two.json");
  show_opportunities();
  EXPECT_THAT(opportunities().message().toStdString(), HasSubstr("\ncause: "));
}

// Nothing is computed for those who do not look at it.
TEST_F(OpportunitiesPageTest, AreComputedWhenTheyAreShown) {
  open(data_file("swinscope_swin_tiny_graph_1gpu.db"));
  EXPECT_TRUE(opportunities().cards().empty());
  window_.show_page(QStringLiteral("opportunities"));
  EXPECT_THAT(opportunities().message().toStdString(), HasSubstr("Computing"));
  EXPECT_FALSE(window_.is_settled());
  settle();
  EXPECT_FALSE(opportunities().cards().empty());
}

}  // namespace
}  // namespace swinscope::tests
