// Layers under the roofs of their GPU: the command's figures, one selection of dot and row, and the way to the
// timeline.
#include "gui/pages/roofline/roofline_page.h"

#include <gmock/gmock.h>

#include "gui/pages/roofline/roofline_chart.h"
#include "gui/widgets/table_panel.h"
#include "tests/integration/gui/support.h"

namespace swinscope::tests {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::filesystem::path recording(const char* name) {
  return std::filesystem::path(SWINSCOPE_SOURCE_DIR) / "data" / name;
}

class RooflinePageTest : public WindowTest {
 protected:
  gui::RooflinePage& roofline() { return page<gui::RooflinePage>("roofline"); }
  gui::RooflineChart& chart() { return roofline().chart(); }
  void show_roofline(const std::filesystem::path& run) {
    open(run);
    window_.show_page(QStringLiteral("roofline"));
    ASSERT_TRUE(QTest::qWaitForWindowExposed(&window_));
    settle();
  }
};

TEST_F(RooflinePageTest, SaysWhatTheCommandSays) {
  const std::filesystem::path run = recording("swinscope_swin_large_train_ladder/attention.db");
  const nlohmann::json said = run_json({"roofline", run.string()}).at("data").at("roofline");
  show_roofline(run);
  EXPECT_THAT(roofline().verdict().toStdString(), HasSubstr(" at their roofs; "));
  ASSERT_EQ(roofline().rows().model_of_rows().rowCount(), static_cast<int>(said.size()));
  ASSERT_EQ(chart().plot().roofline().points.size(), said.size());
  for (std::size_t i = 0; i < said.size(); ++i) {
    const RooflinePoint& point = chart().plot().roofline().points[i];
    EXPECT_EQ(point.path, said[i].at("path").get<std::string>());
    EXPECT_EQ(roofline().rows().text_at(static_cast<int>(i), "path").toStdString(), point.path);
    EXPECT_DOUBLE_EQ(100 * point.share(), said[i].at("roof_percent").get<double>());
  }
  expect_nothing_overlaps();
}

TEST_F(RooflinePageTest, DotAndRowAreOneSelection) {
  show_roofline(recording("swinscope_swin_large_train_ladder/attention.db"));
  ASSERT_TRUE(chart().current_point());
  EXPECT_EQ(roofline().rows().current_row(), static_cast<int>(*chart().current_point()));
  QTest::keyClick(&chart(), Qt::Key_Right);
  EXPECT_EQ(chart().current_point(), chart().plot().dots()[1].point) << "the second longest";
  EXPECT_EQ(roofline().rows().current_row(), static_cast<int>(*chart().current_point()));
  EXPECT_THAT(roofline().note().toStdString(), StartsWith(chart().current_text().toStdString()));
  EXPECT_THAT(chart().accessibleDescription().toStdString(), HasSubstr(chart().current_text().toStdString()));

  const std::size_t last = chart().plot().dots().back().point;
  roofline().rows().select_row(static_cast<int>(last));
  EXPECT_EQ(chart().current_point(), last);
  QTest::keyClick(&chart(), Qt::Key_Return);
  settle();
  EXPECT_EQ(window_.page_id(), QStringLiteral("timeline"));
}

TEST_F(RooflinePageTest, SaysWhyNothingStandsUnderARoof) {
  show_roofline(recording("pytorch_swin_tiny_graph_1gpu.kineto.json.gz"));
  EXPECT_THAT(roofline().message().toStdString(), HasSubstr("record_shapes=True"));
}

}  // namespace
}  // namespace swinscope::tests
