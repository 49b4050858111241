// The main() of tests of what the window shows, without the window: offscreen, and with settings of its own.
#include <QGuiApplication>
#include <cstdlib>

#include <gtest/gtest.h>

#include "tests/integration/run_program.h"

int main(int argc, char** argv) {
  const swinscope::tests::TemporaryFolder home;
  for (const char* name : {"HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR"})
    setenv(name, home.path().c_str(), 1);
  const QGuiApplication application(argc, argv);
  QGuiApplication::setOrganizationName(QStringLiteral("swinscope"));
  QGuiApplication::setApplicationName(QStringLiteral("swinscope-gui-test"));
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
