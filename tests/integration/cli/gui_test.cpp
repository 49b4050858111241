// `swinscope gui` starts the program beside it, or says what to do where there is none.
#include <filesystem>

#include <gmock/gmock.h>

#include "tests/integration/cli/support.h"

namespace swinscope::tests {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class GuiCommandTest : public CliTest {
 protected:
  // A copy in a folder of its own, where the test decides what is beside it.
  GuiCommandTest() : program_(folder() / "swinscope") { fs::copy_file(command({}).front(), program_); }

  const fs::path program_;
};

TEST_F(GuiCommandTest, SaysWhatToDoWhereTheProgramWasNotBuilt) {
  const ProgramResult result = run_program({program_.string(), "gui", "run.db"}, options_);
  EXPECT_EQ(result.status, 1);
  EXPECT_THAT(result.err, HasSubstr("swinscope-gui: no such program"));
  EXPECT_THAT(result.err, HasSubstr("hint: install qt6-base-dev"));
}

TEST_F(GuiCommandTest, HandsTheRunsToTheProgramBesideIt) {
  const fs::path gui = folder() / write("swinscope-gui", "#!/bin/sh\nprintf '%s|' \"$@\"\nexit 7\n");
  fs::permissions(gui, fs::perms::owner_all);
  const ProgramResult result = run_program({program_.string(), "gui", "a b.db", "c"}, options_);
  EXPECT_EQ(result.status, 7);
  EXPECT_EQ(result.out, "a b.db|c|");
}

}  // namespace
}  // namespace swinscope::tests
