// swinscope import: what was imported says the same as its source, and nothing half-made is left.
#include <csignal>
#include <thread>

#include <gmock/gmock.h>

#include "tests/integration/cli/support.h"

namespace swinscope::tests {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::StartsWith;

class Import : public CliTest {
 protected:
  // What a trace and its import must agree on: all but the kind of file and the path.
  nlohmann::json figures(const char* name, const std::string& trace) const {
    nlohmann::json data = run_json({name, trace})["data"];
    if (data.is_object()) {
      for (const char* key : {"kind", "evidence_command", "path"})
        data.erase(key);
    }
    return data;
  }

  void expect_same_figures(const std::string& source) const {
    ASSERT_EQ(run({"import", source, "-o", "run"}).status, 0);
    for (const char* name : {"analyze", "kernels", "launches", "info"}) {
      const nlohmann::json expected = figures(name, source);
      EXPECT_FALSE(expected.empty());
      EXPECT_EQ(figures(name, "run"), expected) << name;
    }
  }

  std::vector<std::string> files_in(const std::string& name) const {
    std::vector<std::string> names;
    if (!fs::exists(folder() / name)) return names;
    for (const auto& entry : fs::directory_iterator(folder() / name))
      names.push_back(entry.path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
  }
};

TEST_F(Import, APyTorchTraceSaysTheSameToTheNanosecond) { expect_same_figures(recording().string()); }

TEST_F(Import, AnNsightSystemsExportSaysTheSame) {
  expect_same_figures(make_database("small.sqlite", small_export_sql()));
}

TEST_F(Import, ARunIsReplacedOnlyWithForce) {
  make_database("small.sqlite", small_export_sql());
  write("trace.json", kineto({kineto_kernel("a", "10", "5")}));
  EXPECT_EQ(run({"import", "small.sqlite", "trace.json", "-o", "run"}).status, 0);
  EXPECT_EQ(files_in("run"), (std::vector<std::string>{"rank0.db", "rank1.db", "run.json"}));

  const std::string before = read_file(folder() / "run" / "rank0.db");
  const ProgramResult refused = run({"import", "trace.json", "-o", "run"});
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, StartsWith("error: run: the folder already holds a run"));
  EXPECT_EQ(read_file(folder() / "run" / "rank0.db"), before);

  // The ranks of the old run go with it.
  EXPECT_EQ(run({"import", "trace.json", "-o", "run", "--force"}).status, 0);
  EXPECT_EQ(files_in("run"), (std::vector<std::string>{"rank0.db", "run.json"}));
  EXPECT_EQ(run_json({"info", "run"})["data"]["gpu_events"], 1);
}

TEST_F(Import, AnInputThatCannotBeReadLeavesTheOldRunAndNothingElse) {
  make_database("small.sqlite", small_export_sql());
  EXPECT_EQ(run({"import", "small.sqlite", "-o", "run"}).status, 0);
  const std::string before = read_file(folder() / "run" / "rank0.db");
  write("noise.json", "{\"traceEvents\": 3}");
  EXPECT_EQ(run({"import", "small.sqlite", "noise.json", "-o", "run", "--force"}).status, 3);
  EXPECT_EQ(files_in("run"), (std::vector<std::string>{"rank0.db", "run.json"}));
  EXPECT_EQ(read_file(folder() / "run" / "rank0.db"), before);
}

// About a gigabyte of events in a few megabytes: one compressed piece many times over, since a gzip file may have any
// number of members.
std::string endless_trace() {
  std::string events;
  while (events.size() < (std::size_t{1} << 20U))
    events += kineto_kernel("gemm", "10", "5") + ",";
  const std::string piece = gzip(events);
  std::string file = gzip(R"({"traceEvents": [)");
  for (int i = 0; i < 1000; ++i)
    file += piece;
  return file;
}

TEST_F(Import, CtrlCLeavesNoFiles) {
  write("endless.json.gz", endless_trace());
  Program program(command({"import", "endless.json.gz", "-o", "run"}), options_);
  // The unfinished file shows that the import is under way.
  while (files_in("run").empty() && !program.has_ended())
    std::this_thread::yield();
  ASSERT_FALSE(program.has_ended()) << "the import ended before it could be interrupted: " << program.wait().err;
  program.send(SIGINT);
  const ProgramResult result = program.wait();
  EXPECT_EQ(result.status, 130);
  EXPECT_EQ(result.out, "");
  EXPECT_THAT(result.err, HasSubstr("interrupted"));
  EXPECT_EQ(files_in("run"), std::vector<std::string>{});
}

}  // namespace
}  // namespace swinscope::tests
