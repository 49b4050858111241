// What the tests of the window share: a window, small traces, and waiting for what happens in threads.
#pragma once

#include <QTest>

#include "gui/core/search.h"
#include "gui/widgets/banner.h"
#include "gui/widgets/main_window.h"
#include "gui/widgets/search_bar.h"
#include "gui/widgets/table_panel.h"
#include "gui/widgets/timeline_page.h"
#include "gui/widgets/timeline_view.h"
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
    const std::filesystem::path copy = folder() / "copy.kineto.json.gz";
    std::filesystem::copy_file(recording(), copy);
    return copy;
  }
  gui::TimelineView& view() { return window_.timeline().view(); }
  void press(int key, Qt::KeyboardModifiers modifiers = Qt::NoModifier) {
    QTest::keyClick(&view(), static_cast<Qt::Key>(key), modifiers);
  }
  std::string banner() { return window_.banner().text().toStdString(); }

  gui::MainWindow window_;
};

}  // namespace swinscope::tests
