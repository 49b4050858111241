// What the tests of the window share: a window, small traces, and waiting for what happens in threads.
#pragma once

#include <QLabel>
#include <QTest>

#include "gui/core/search.h"
#include "gui/pages/opportunities/opportunities_page.h"
#include "gui/pages/overview/overview_page.h"
#include "gui/pages/pages.h"
#include "gui/pages/table/table_page.h"
#include "gui/pages/timeline/search_bar.h"
#include "gui/pages/timeline/timeline_page.h"
#include "gui/pages/timeline/timeline_view.h"
#include "gui/widgets/banner.h"
#include "gui/widgets/table_panel.h"
#include "gui/window/main_window.h"
#include "tests/integration/cli/support.h"

namespace swinscope::tests {

inline constexpr int kWaitMs = 120'000;  // until a test gives up; nothing is asserted about time

inline QString qt(const std::filesystem::path& path) { return QString::fromStdString(path.string()); }

class WindowTest : public CliTest {
 protected:
  WindowTest() {
    window_.resize(1280, 720);
    window_.show();
  }

  // Opens a path and waits until nothing is being done any more.
  void open(const std::filesystem::path& path) {
    window_.open({qt(path)});
    settle();
  }
  void settle() {
    ASSERT_TRUE(QTest::qWaitFor([this] { return window_.is_settled(); }, kWaitMs));
  }
  // A copy of the recording in data/, which a test may damage or delete.
  std::filesystem::path copy_of_recording() const {
    std::filesystem::path copy = folder() / "copy.kineto.json.gz";
    std::filesystem::copy_file(recording(), copy);
    return copy;
  }
  template <typename Wanted>
  Wanted& page(const char* id) {
    auto* page = window_.findChild<Wanted*>(QString::fromUtf8(id));
    if (page == nullptr) throw std::runtime_error(std::string("no such page: ") + id);
    return *page;
  }
  gui::OverviewPage& overview() { return page<gui::OverviewPage>("overview"); }
  gui::TimelinePage& timeline() { return page<gui::TimelinePage>("timeline"); }
  gui::TablePage& kernels() { return page<gui::TablePage>("kernels"); }
  gui::TablePage& layers() { return page<gui::TablePage>("layers"); }
  gui::OpportunitiesPage& opportunities() { return page<gui::OpportunitiesPage>("opportunities"); }
  gui::TablePage& tables() { return page<gui::TablePage>("tables"); }
  gui::TimelineView& view() { return timeline().view(); }
  void press(int key, Qt::KeyboardModifiers modifiers = Qt::NoModifier) {
    QTest::keyClick(&view(), static_cast<Qt::Key>(key), modifiers);
  }
  // A title's tooltip, and its description and that of the rows below it for screen readers.
  static void expect_described(const QLabel& title, const QWidget& rows, const std::string& definition) {
    EXPECT_EQ(title.toolTip().replace(QLatin1Char('\n'), QLatin1Char(' ')).toStdString(), definition);
    EXPECT_EQ(title.accessibleDescription().toStdString(), definition);
    EXPECT_EQ(rows.accessibleDescription().toStdString(), definition);
  }
  std::string banner() { return window_.banner().text().toStdString(); }

  // No two widgets side by side cover each other, and every label has room for its text.
  void expect_nothing_overlaps() {
    // What was shown last asks for its place in events of its own.
    for (int i = 0; i < 3; ++i)
      QCoreApplication::processEvents();
    int labels = 0;
    expect_nothing_overlaps_in(window_, labels);
    EXPECT_GT(labels, 0);
  }

  gui::MainWindow window_;

 private:
  static void expect_nothing_overlaps_in(const QWidget& parent, int& labels) {
    std::vector<const QWidget*> shown;
    for (const QWidget* child : parent.findChildren<QWidget*>(QString(), Qt::FindDirectChildrenOnly)) {
      if (child->isVisible() && !child->isWindow() && !child->size().isEmpty()) shown.push_back(child);
    }
    const bool is_laid_out = parent.layout() != nullptr;
    for (std::size_t i = 0; i < shown.size(); ++i) {
      for (std::size_t k = 0; is_laid_out && k < i; ++k) {
        EXPECT_FALSE(shown[i]->geometry().intersects(shown[k]->geometry()))
            << describe(*shown[i]) << " and " << describe(*shown[k]) << " in " << describe(parent);
      }
      if (const auto* label = qobject_cast<const QLabel*>(shown[i]); label != nullptr && !label->text().isEmpty()) {
        ++labels;
        EXPECT_GE(label->width(), label->minimumSizeHint().width()) << describe(*label);
        const int height =
            label->hasHeightForWidth() ? label->heightForWidth(label->width()) : label->minimumSizeHint().height();
        EXPECT_GE(label->height(), height) << describe(*label);
      }
      expect_nothing_overlaps_in(*shown[i], labels);
    }
  }
  static std::string describe(const QWidget& widget) {
    const QRect at = widget.geometry();
    const auto* label = qobject_cast<const QLabel*>(&widget);
    return QStringLiteral("%1 %2 %3 at %4,%5 %6x%7")
        .arg(QLatin1String(widget.metaObject()->className()), widget.objectName(),
             label == nullptr ? QString() : label->text())
        .arg(at.x())
        .arg(at.y())
        .arg(at.width())
        .arg(at.height())
        .toStdString();
  }
};

}  // namespace swinscope::tests
