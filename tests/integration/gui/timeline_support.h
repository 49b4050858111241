// What the tests of the timeline page share: a window with it, and the mouse on it.
#pragma once

#include <gmock/gmock.h>

#include "tests/integration/gui/support.h"

namespace swinscope::tests {

class TimelinePageTest : public WindowTest {
 protected:
  void open_timeline(const std::filesystem::path& path) {
    open(path);
    ASSERT_NE(window_.run(), nullptr) << banner();
    window_.show_page(QStringLiteral("timeline"));
    ASSERT_TRUE(QTest::qWaitForWindowExposed(&window_));
    view().setFocus();
  }
  std::filesystem::path data() const { return recording().parent_path(); }
  std::filesystem::path two_gpus() const { return data() / "swinscope_swin_large_weak_2gpu" / "gpus2" / "tracing"; }
  // The first row of that label.
  const gui::LaneRow* row(const QString& label) {
    for (const gui::LaneRow& row : view().rows().scrolled)
      if (row.label == label) return &row;
    return nullptr;
  }
  void click_name(const gui::LaneRow& row) {
    QTest::mouseClick(view().viewport(), Qt::LeftButton, {}, QPoint(30, view().row_rect(row).center().y()));
  }
  void drag(QWidget* widget, QPoint from, QPoint to) {
    QTest::mousePress(widget, Qt::LeftButton, {}, from);
    QTest::mouseMove(widget, (from + to) / 2);
    QTest::mouseMove(widget, to);
    QTest::mouseRelease(widget, Qt::LeftButton, {}, to);
    settle();
  }
};

}  // namespace swinscope::tests
