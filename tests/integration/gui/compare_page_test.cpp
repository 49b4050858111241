// Runs beside each other: what the page says is what `swinscope compare` does, and its bars and rows lead to the runs.
#include "gui/pages/compare/compare_page.h"

#include <QComboBox>
#include <QDoubleSpinBox>
#include <QLabel>
#include <QPushButton>
#include <QRadioButton>
#include <algorithm>

#include <gmock/gmock.h>

#include "analyzer/table/render.h"
#include "gui/pages/compare/run_strip.h"
#include "gui/widgets/banner.h"
#include "gui/widgets/chart_widget.h"
#include "gui/widgets/step_lanes.h"
#include "gui/widgets/step_timelines.h"
#include "tests/integration/gui/support.h"

namespace swinscope::tests {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class ComparePageTest : public WindowTest {
 protected:
  gui::ComparePage& compared() { return page<gui::ComparePage>("compare"); }
  static std::filesystem::path rung(const char* name) {
    return std::filesystem::path(SWINSCOPE_SOURCE_DIR) / "data" / "swinscope_swin_large_train_ladder" /
           (std::string(name) + ".db");
  }
  // As `swinscope-gui RUN RUN2 … --page compare` does.
  void open_beside(const std::vector<std::filesystem::path>& paths) {
    QStringList all;
    for (const std::filesystem::path& path : paths)
      all << qt(path);
    window_.show_page(QStringLiteral("compare"));
    window_.open(all);
    settle();
  }
  // Chooses the item with this text, as a user does.
  void choose(QComboBox& box, const char* text) {
    const int index = box.findText(QString::fromUtf8(text));
    ASSERT_GE(index, 0) << text;
    box.setCurrentIndex(index);
    Q_EMIT box.activated(index);
    settle();
  }
  // Rows and columns of the table, cell by cell, against those of a table in JSON.
  void expect_rows(const nlohmann::json& rows) {
    const Table& shown = compared().table().model_of_rows().table();
    ASSERT_EQ(shown.rows.size(), rows.size());
    for (std::size_t row = 0; row < rows.size(); ++row) {
      for (std::size_t column = 0; column < shown.columns.size(); ++column) {
        const nlohmann::json& said = rows[row][shown.columns[column].key];
        const Cell& cell = shown.rows[row][column];
        std::visit(
            [&](const auto& value) {
              if constexpr (!std::is_same_v<std::decay_t<decltype(value)>, std::monostate>) {
                EXPECT_EQ(said, value);
              }
            },
            cell);
      }
    }
  }
  // That of the strip whose accessible name begins so.
  template <typename Wanted>
  Wanted& part(const char* name) {
    for (auto* one : compared().strip().findChildren<Wanted*>()) {
      if (one->isVisible() && one->accessibleName().startsWith(QString::fromUtf8(name))) return *one;
    }
    throw std::runtime_error(std::string("no ") + name);
  }
};

// The journey: eager beside the attention rung of the ladder.
TEST_F(ComparePageTest, EagerBesideTheAttentionRung) {
  const auto said = run_json({"compare", rung("eager").string(), rung("attention").string(), "--top", "0"})["data"];
  open_beside({rung("eager"), rung("attention")});
  ASSERT_EQ(banner(), "");
  ASSERT_EQ(compared().message(), QString());
  EXPECT_THAT(compared().why().toStdString(),
              HasSubstr("attention.db: 307.7 ms less per step than eager.db (-89.3 %)"));
  EXPECT_THAT(compared().differences().text().toStdString(),
              HasSubstr("command: --level eager (eager.db), --level attention (attention.db)"));
  const Chart& waterfall = compared().waterfall().chart();
  ASSERT_EQ(waterfall.categories.size(), said["difference"].size());
  for (std::size_t i = 0; i < waterfall.categories.size(); ++i) {
    EXPECT_EQ(said["difference"][i]["what"], waterfall.categories[i]);
    EXPECT_EQ(*waterfall.series.front().values[i], said["difference"][i]["time_ns"].get<double>() / 1e6);
  }
  expect_rows(said["kernel_differences"]);
  choose(compared().rows(), "Layers");
  expect_rows(said["layer_differences"]);
  choose(compared().rows(), "Kernels");

  // A step of both, on one axis: their lengths are those of single steps, near the mean that is compared.
  gui::StepTimelines& steps = compared().timelines();
  ASSERT_TRUE(steps.isVisible());
  EXPECT_THAT(steps.above().heading().toStdString(), StartsWith("eager.db: step "));
  EXPECT_THAT(steps.below().heading().toStdString(), StartsWith("attention.db: step "));
  const auto mean = said["difference"].front()["time_ns"].get<double>();
  EXPECT_NEAR(static_cast<double>(steps.above().picture()->step_ns), mean, 0.01 * mean);
  EXPECT_GT(steps.above().picture()->events(), steps.below().picture()->events());
  const Interval all = steps.seen();
  QTest::keyClick(&steps.below(), Qt::Key_W);
  EXPECT_LT(steps.seen().length(), all.length());
  QTest::keyClick(&steps.above(), Qt::Key_0);
  EXPECT_EQ(steps.seen(), all);
  expect_nothing_overlaps();

  // A kernel that only the base runs is shown there, in the timeline.
  const auto gone = std::ranges::find(said["kernel_differences"], "gone",
                                      [](const nlohmann::json& row) { return row["verdict"].get<std::string>(); });
  ASSERT_NE(gone, said["kernel_differences"].end());
  Q_EMIT compared().table().row_activated(static_cast<int>(gone - said["kernel_differences"].begin()));
  settle();
  EXPECT_EQ(window_.page_id(), QStringLiteral("timeline"));
  EXPECT_EQ(window_.run()->path, qt(rung("eager")));
  const QString name = timeline().detail(QStringLiteral("name"));
  EXPECT_THAT(name.toStdString(), HasSubstr((*gone)["kernel"].get<std::string>()));

  // The largest part's bar opens the kernel that adds most to it, where it takes more time: the base, as it is gone.
  // The comparison stays.
  window_.show_page(QStringLiteral("compare"));
  const auto& categories = waterfall.categories;
  const auto work =
      std::ranges::find(categories, "kernels that only one runs, or runs more often") - categories.begin();
  Q_EMIT compared().waterfall().category_activated(static_cast<int>(work), 0);
  settle();
  EXPECT_EQ(window_.page_id(), QStringLiteral("kernels"));
  EXPECT_EQ(window_.run()->path, qt(rung("eager")));
  EXPECT_THAT(kernels().table().text_at(0, "name").toStdString(), HasSubstr("sm80_xmma_gemm"));
  window_.show_page(QStringLiteral("compare"));
  settle();
  EXPECT_THAT(compared().why().toStdString(), HasSubstr("attention.db: 307.7 ms less per step than eager.db"));
}

// Both take 64 images a step: an image takes a 64th of a step, and so does its difference.
TEST_F(ComparePageTest, IsPerImageAndSaysWhatIsNotKnown) {
  open_beside({rung("eager"), rung("attention")});
  EXPECT_THAT(compared().not_known().toStdString(), HasSubstr("energy: power was not sampled"));
  EXPECT_THAT(compared().not_known().toStdString(), HasSubstr("price: no price of a GPU hour is given of eager.db, "));
  EXPECT_EQ(compared().normalization().findText(QStringLiteral("energy")), -1);
  const double step_ms = *compared().waterfall().chart().series.front().values.front();
  const double change_ms = step_ms - *compared().waterfall().chart().series.front().values.back();
  choose(compared().normalization(), "per image");
  const Chart& chart = compared().waterfall().chart();
  EXPECT_NEAR(*chart.series.front().values.front(), step_ms / 64, 1e-6);
  double sum = 0;
  for (std::size_t i = 0; i + 1 < chart.categories.size(); ++i)
    sum += *chart.series.front().values[i];
  EXPECT_NEAR(sum, *chart.series.front().values.back(), 1e-9);
  EXPECT_NEAR(*chart.series.front().values.front() - sum, change_ms / 64, 2e-6);
  EXPECT_EQ(chart.categories.front(), "image, of eager.db");

  part<QDoubleSpinBox>("Price of a GPU hour of eager.db").setValue(3);
  settle();
  part<QDoubleSpinBox>("Price of a GPU hour of attention.db").setValue(6);
  settle();
  choose(compared().normalization(), "price");
  // 344.4 ms a step / 64 images x 3 $ / 3,600 s, of a million images.
  EXPECT_NEAR(*chart.series.front().values.front(), step_ms / 64 * 3 / 3600 * 1000, 1e-3);
  EXPECT_EQ(chart.y_title, "time, $");
}

TEST_F(ComparePageTest, RunsComeAndGo) {
  window_.show_page(QStringLiteral("compare"));
  EXPECT_THAT(compared().message().toStdString(), HasSubstr("two to six runs"));
  open(rung("graph"));
  EXPECT_THAT(compared().message().toStdString(), HasSubstr("two to six runs"));
  window_.show_page(QStringLiteral("compare"));
  compared().compare_with({qt(rung("window")), qt(rung("attention"))});
  settle();
  EXPECT_EQ(compared().against().count(), 2);
  EXPECT_THAT(compared().why().toStdString(), HasSubstr(" than graph.db ("));
  EXPECT_THAT(compared().waterfall().chart().title, HasSubstr("window.db"));
  choose(compared().against(), "attention.db");
  EXPECT_THAT(compared().waterfall().chart().title, HasSubstr("attention.db"));
  EXPECT_EQ(compared().table().model_of_rows().table().rows.front().front(), Cell(std::string("attention.db")));
  EXPECT_THAT(compared().timelines().below().heading().toStdString(), StartsWith("attention.db"));

  part<QRadioButton>("attention.db is the base").click();
  settle();
  EXPECT_THAT(compared().why().toStdString(), HasSubstr("graph.db: "));
  EXPECT_THAT(compared().why().toStdString(), HasSubstr(" than attention.db ("));
  part<QPushButton>("Remove window.db").click();
  settle();
  EXPECT_EQ(compared().against().count(), 1);

  compared().compare_with(
      {qt(std::filesystem::path(SWINSCOPE_SOURCE_DIR) / "data" / "swinscope_swin_large_weak_2gpu")});
  EXPECT_THAT(banner(), HasSubstr("it is an experiment"));
  window_.banner().dismiss();
  write("broken.db", "no trace");
  compared().compare_with({qt(folder() / "broken.db")});
  settle();
  EXPECT_EQ(compared().against().count(), 1) << "the others stay";
  bool is_said = false;
  for (const auto* label : compared().strip().findChildren<QLabel*>())
    is_said |= label->isVisible() && label->text().contains(QStringLiteral("broken.db: "));
  EXPECT_TRUE(is_said);
}

// Runs that are opened at once are those that are compared, whatever was before.
TEST_F(ComparePageTest, WhatIsOpenedAtOnceIsCompared) {
  open_beside({rung("graph"), rung("window")});
  open_beside({rung("attention"), rung("graph")});
  ASSERT_EQ(compared().runs().runs().size(), 2U);
  EXPECT_THAT(compared().why().toStdString(), HasSubstr(" than attention.db ("));
  EXPECT_EQ(compared().against().currentText(), QStringLiteral("graph.db"));
}

// Cancel ends the reading at once; the window goes on, and the runs can be read again.
TEST_F(ComparePageTest, ReadingIsCancelled) {
  open(rung("graph"));
  window_.show_page(QStringLiteral("compare"));
  compared().compare_with({qt(rung("eager"))});
  ASSERT_TRUE(compared().runs().is_reading());
  ASSERT_TRUE(compared().cancel_button().isVisible());
  QTest::mouseClick(&compared().cancel_button(), Qt::LeftButton);
  settle();
  EXPECT_FALSE(compared().cancel_button().isVisible());
  EXPECT_THAT(compared().message().toStdString(), HasSubstr("cancelled"));
  compared().compare_with({qt(rung("eager"))});
  settle();
  EXPECT_EQ(compared().message(), QString());
}

TEST_F(ComparePageTest, PartsHaveNames) {
  open_beside({rung("graph"), rung("window")});
  for (const QWidget* part : compared().findChildren<QWidget*>()) {
    const bool takes_keys = part->isVisible() && (part->focusPolicy() & Qt::TabFocus) != 0 &&
                            qobject_cast<const QLabel*>(part) == nullptr && part->focusProxy() == nullptr;
    if (!takes_keys || part->objectName().startsWith(QStringLiteral("qt_"))) continue;
    const auto* button = qobject_cast<const QAbstractButton*>(part);
    EXPECT_FALSE(part->accessibleName().isEmpty() && (button == nullptr || button->text().isEmpty()))
        << part->metaObject()->className();
  }
  for (const QSize size : {QSize(1280, 720), QSize(1920, 1080)}) {
    window_.resize(size);
    expect_nothing_overlaps();
  }
}

}  // namespace
}  // namespace swinscope::tests
