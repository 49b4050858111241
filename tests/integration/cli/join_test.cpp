// An experiment out of runs that lie elsewhere: by which links, for whom they are followed, and what replaces them.
#include <gmock/gmock.h>

#include "tests/integration/cli/support.h"

namespace swinscope::tests {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

class Join : public CliTest {
 protected:
  void record(const std::string& name) const {
    ASSERT_EQ(run({"record", "-o", name, "--", SWINSCOPE_STEPS_PROGRAM, "4"}).status, 0);
  }
  void join(const std::string& experiment, const std::string& point) const {
    const ProgramResult result = run({"join", "--force", "-o", experiment, "gpus=1:" + point});
    ASSERT_EQ(result.status, 0) << result.err;
  }
  std::string content(const std::string& file) const { return read_file(folder() / file); }
};

TEST_F(Join, RunsElsewhereAreLinkedForWhoJoinedThem) {
  record("one");
  join("e", "one");
  EXPECT_EQ(fs::read_symlink(folder() / "e/gpus1/tracing"), fs::canonical(folder() / "one"));
  EXPECT_THAT(content("e/gpus1/point.json"), Not(HasSubstr(folder().string())));
  EXPECT_EQ(run({"analyze", "e"}).status, 0);
  EXPECT_EQ(run({"info", "e/gpus1"}).status, 0);
  fs::rename(folder() / "e", folder() / "moved");
  EXPECT_EQ(run({"analyze", "moved"}).status, 0) << "the link is the same";

  // As an archive would bring it.
  fs::copy(folder() / "moved", folder() / "copied", fs::copy_options::recursive | fs::copy_options::copy_symlinks);
  const ProgramResult copied = run({"analyze", "copied"});
  EXPECT_EQ(copied.status, 3);
  EXPECT_THAT(copied.err,
              HasSubstr("error: copied/gpus1/point.json: cannot be read\n  cause: its entry \"tracing\" is a "
                        "link to "));
  EXPECT_EQ(run({"info", "copied"}).status, 3);

  // Points are linked whole, and a point whose run is linked by itself is one as well.
  join("again", "moved/gpus1");
  EXPECT_EQ(fs::read_symlink(folder() / "again/gpus1"), fs::canonical(folder() / "moved/gpus1"));
  EXPECT_EQ(run({"analyze", "again", "--format", "csv"}).out, run({"analyze", "moved", "--format", "csv"}).out);

  // What is joined in its place leaves alone what the link led to.
  const std::string before = content("moved/gpus1/point.json");
  join("again", "one");
  EXPECT_EQ(content("moved/gpus1/point.json"), before);
  EXPECT_EQ(fs::read_symlink(folder() / "again/gpus1/tracing"), fs::canonical(folder() / "one"));
}

TEST_F(Join, RunsBelowTheExperimentMoveWithIt) {
  record("e/runs/one");
  join("e", "e/runs/one");
  EXPECT_EQ(fs::read_symlink(folder() / "e/gpus1/tracing"), "../runs/one");
  fs::copy(folder() / "e", folder() / "copied", fs::copy_options::recursive | fs::copy_options::copy_symlinks);
  EXPECT_EQ(run({"analyze", "copied"}).status, 0);

  record("f/gpus1/mine");
  join("f", "f/gpus1/mine");
  EXPECT_THAT(content("f/gpus1/point.json"), HasSubstr("\"tracing\": \"mine\""));
  join("f", "f/gpus1");
  EXPECT_THAT(content("f/experiment.json"), HasSubstr("\"gpus1\""));
}

TEST_F(Join, AFileIsLinkedByItsFolder) {
  record("one");
  join("e", "one/rank0.db");
  EXPECT_THAT(content("e/gpus1/point.json"), HasSubstr("\"tracing\": \"tracing/rank0.db\""));
  EXPECT_EQ(run({"analyze", "e"}).status, 0);
}

TEST_F(Join, WhatIsInTheWayIsNotReplaced) {
  record("one");
  fs::create_directories(folder() / "e/gpus1/tracing");
  const ProgramResult refused = run({"join", "-o", "e", "gpus=1:one"});
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, HasSubstr("e/gpus1/tracing: cannot become a link to "));
}

}  // namespace
}  // namespace swinscope::tests
