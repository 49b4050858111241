// The main() of tests that need an application: offscreen, and with settings of its own.
#include <QApplication>
#include <cstdlib>

#include <gtest/gtest.h>

#include "gui/widgets/theme.h"
#include "tests/integration/run_program.h"

int main(int argc, char** argv) {
  const swinscope::tests::TemporaryFolder home;
  for (const char* name : {"HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR"})
    setenv(name, home.path().c_str(), 1);
  const QApplication application(argc, argv);
  QApplication::setOrganizationName(QStringLiteral("swinscope"));
  QApplication::setApplicationName(QStringLiteral("swinscope-gui-test"));
  swinscope::gui::apply_theme(swinscope::gui::Theme::kLight);
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
