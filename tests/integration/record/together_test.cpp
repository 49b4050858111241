// Several recorders beside each other, and recorders that cannot record: every program runs, whatever recording cannot
// do.
#include <algorithm>
#include <memory>
#include <set>

#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "tests/integration/record/support.h"

namespace swinscope {
namespace {

using test::Process;
using test::program;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

using Strings = std::vector<std::string>;
using Variables = std::vector<std::pair<std::string, std::string>>;

// Lets many processes wait for each other: each writes a line into `arrived` and reads one from `go`.
class Barrier {
 public:
  explicit Barrier(const test::fs::path& folder) : arrived_(folder / "arrived"), go_(folder / "go") {
    for (const auto& [path, file] : {std::pair{&arrived_, &arrived_file_}, std::pair{&go_, &go_file_}}) {
      if (mkfifo(path->c_str(), 0600) != 0) throw std::runtime_error("no pipe");
      *file = open(path->c_str(), O_RDWR | O_CLOEXEC);  // both ends: nobody's open waits for another
    }
  }
  Barrier(const Barrier&) = delete;
  Barrier& operator=(const Barrier&) = delete;
  Barrier(Barrier&&) = delete;
  Barrier& operator=(Barrier&&) = delete;
  ~Barrier() {
    close(arrived_file_);
    close(go_file_);
  }

  // What a shell runs to wait there.
  std::string wait_here() const { return "echo >'" + arrived_.string() + "'; read x <'" + go_.string() + "'; "; }
  void wait_for(int count) const {
    char line = 0;
    for (int i = 0; i < count; ++i)
      ASSERT_EQ(read(arrived_file_, &line, 1), 1);
  }
  void release(int count) const {
    const std::string lines(static_cast<std::size_t>(count), '\n');
    ASSERT_EQ(write(go_file_, lines.data(), lines.size()), static_cast<ssize_t>(lines.size()));
  }

 private:
  test::fs::path arrived_;
  test::fs::path go_;
  int arrived_file_ = -1;
  int go_file_ = -1;
};

class Together : public ::testing::Test {
 protected:
  static Strings record(const Strings& options, const Strings& command) {
    Strings all = {SWINSCOPE_PROGRAM, "record"};
    all.insert(all.end(), options.begin(), options.end());
    all.emplace_back("--");
    all.insert(all.end(), command.begin(), command.end());
    return all;
  }
  static Strings shell(const std::string& script) { return {"sh", "-c", script}; }
  // In the folder of the test, without ranks from outside, stderr in the output.
  std::unique_ptr<Process> start(const Strings& command, const Variables& variables = {},
                                 const std::function<void()>& more = {}) const {
    return std::make_unique<Process>(command, variables, [this, more, &variables] {
      for (const char* name : {"RANK", "WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "SLURM_PROCID",
                               "TORCHELASTIC_RUN_ID", "MASTER_ADDR"}) {
        const bool is_wanted =
            std::any_of(variables.begin(), variables.end(), [&](const auto& v) { return v.first == name; });
        if (!is_wanted) unsetenv(name);
      }
      dup2(STDOUT_FILENO, STDERR_FILENO);
      if (chdir(temp_.path().c_str()) != 0) _exit(112);
      if (more) more();
    });
  }
  // Its exit status, then all that it wrote.
  std::string result(const Strings& command, const Variables& variables = {},
                     const std::function<void()>& more = {}) const {
    const auto run = start(command, variables, more);
    const int status = run->wait();
    return std::to_string(status) + " " + run->output();
  }
  Strings files(const std::string& begin, const std::string& end, const test::fs::path& folder) const {
    Strings found;
    for (const std::string& name : test::names_in(folder)) {
      if (name.rfind(begin, 0) == 0 && name.size() >= end.size() &&
          name.compare(name.size() - end.size(), end.size(), end) == 0)
        found.push_back(name);
    }
    return found;
  }
  std::string trace_of_another_program() const {
    const test::fs::path file = temp_ / "theirs.json";
    test::write_file(file,
                     R"({"schemaVersion": 1, "traceEvents": [{"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0,
      "tid": 7, "ts": 1, "dur": 2, "args": {"device": 0, "stream": 7}}]})");
    return file.string();
  }
  static std::string nvtx() { return "'" + program("nvtx_modes") + "' atexit"; }

  test::TempFolder temp_;
  const test::fs::path folder_ = temp_ / "run";
  static constexpr int kRecorders = 16;
};

// Every file is plain and intact, and each of the programs' files has its ranges.
void expect_recordings(const test::fs::path& folder, std::size_t count) {
  const std::vector<test::fs::path> ranks = test::rank_files(folder);
  EXPECT_THAT(ranks, SizeIs(count));
  for (const test::fs::path& file : ranks) {
    test::Sqlite db(file);
    EXPECT_EQ(db.value("PRAGMA integrity_check"), "ok") << file;
    EXPECT_EQ(db.value("PRAGMA journal_mode"), "delete") << file;
    EXPECT_NE(db.value("SELECT count(*) FROM NVTX_EVENTS"), "0") << file;
  }
}

TEST_F(Together, SixteenInOneFolder) {
  const Barrier barrier(temp_.path());
  std::vector<std::unique_ptr<Process>> runs;
  runs.reserve(kRecorders);
  for (int i = 0; i < kRecorders; ++i)
    runs.push_back(start(record({"-o", "run"}, shell(barrier.wait_here() + nvtx() + "; exit " + std::to_string(i)))));
  barrier.wait_for(kRecorders);
  barrier.release(kRecorders);
  for (int i = 0; i < kRecorders; ++i)
    EXPECT_EQ(runs[static_cast<std::size_t>(i)]->wait(), i);
  expect_recordings(folder_, kRecorders);
  EXPECT_THAT(files("record", ".db", folder_), SizeIs(kRecorders));
  const Strings pieces = files("run", ".json", folder_);
  EXPECT_THAT(pieces, SizeIs(kRecorders));
  // Each says how its own command ended, and names its own files: together all of them, each once.
  std::set<std::string> said;
  for (const std::string& piece : pieces) {
    const std::string json = test::read_file(folder_ / piece);
    EXPECT_THAT(json, Not(HasSubstr("\"end_utc_ns\": null"))) << piece;
    for (const test::fs::path& file : test::rank_files(folder_)) {
      const std::string name = file.filename().string();
      if (json.find("\"" + name + "\"") == std::string::npos) continue;
      EXPECT_TRUE(said.insert(name).second) << name;
    }
  }
  EXPECT_THAT(said, SizeIs(kRecorders));
  const std::string info = result({SWINSCOPE_PROGRAM, "info", "run"});
  EXPECT_THAT(info, AllOf(StartsWith("0 "), Not(HasSubstr("error")), Not(HasSubstr("left out"))));
}

TEST_F(Together, SixteenWithoutANameInOneSecond) {
  const Barrier barrier(temp_.path());
  std::vector<std::unique_ptr<Process>> runs;
  runs.reserve(kRecorders);
  for (int i = 0; i < kRecorders; ++i)
    runs.push_back(start(record({}, shell(barrier.wait_here() + nvtx() + "; exit " + std::to_string(i)))));
  barrier.wait_for(kRecorders);
  barrier.release(kRecorders);
  for (int i = 0; i < kRecorders; ++i)
    EXPECT_EQ(runs[static_cast<std::size_t>(i)]->wait(), i);
  const Strings folders = files("run-", "", temp_.path());
  EXPECT_THAT(folders, SizeIs(kRecorders));
  for (const std::string& name : folders) {
    EXPECT_THAT(test::names_in(temp_ / name), ElementsAre("rank0.db", "record.db", "run.json"));
    expect_recordings(temp_ / name, 1);
  }
}

TEST_F(Together, ForceLeavesALivingRecordingAlone) {
  const Barrier barrier(temp_.path());
  const auto first = start(record({"-o", "run"}, shell(nvtx() + "; " + barrier.wait_here() + nvtx())));
  barrier.wait_for(1);
  EXPECT_THAT(result(record({"--force", "-o", "run"}, shell(nvtx() + "; exit 5"))), StartsWith("5 "));
  EXPECT_THAT(files("run", ".json", folder_), SizeIs(2));
  EXPECT_THAT(
      result({SWINSCOPE_PROGRAM, "import", "--force", "-o", "run", trace_of_another_program()}),
      AllOf(StartsWith("2 error: run: a recording is going on there\n"), HasSubstr(std::to_string(first->pid()))));
  barrier.release(1);
  EXPECT_EQ(first->wait(), 0);
  expect_recordings(folder_, 3);
  // Now that both have ended both are replaced.
  EXPECT_THAT(result({SWINSCOPE_PROGRAM, "import", "-q", "--force", "-o", "run", trace_of_another_program()}),
              StartsWith("0 "));
  EXPECT_THAT(test::names_in(folder_), ElementsAre("rank0.db", "run.json"));
  EXPECT_THAT(result(record({"--force", "-o", "run"}, {"true"})), StartsWith("0 "));
  EXPECT_THAT(test::names_in(folder_), ElementsAre("record.db", "run.json"));
}

Variables rank(const std::string& number, const std::string& world = "2") {
  return {{"RANK", number}, {"WORLD_SIZE", world}};
}

TEST_F(Together, RanksOfOneJobNeedNotBeThereAtOnce) {
  EXPECT_THAT(result(record({"-o", "run"}, shell(nvtx())), rank("0")), StartsWith("0 "));
  EXPECT_THAT(result(record({"-o", "run"}, shell(nvtx())), rank("1")), StartsWith("0 "));
  expect_recordings(folder_, 2);
  EXPECT_THAT(files("rank", ".db", folder_), ElementsAre("rank0.db", "rank1.db"));
}

// A rank that refused to run would let the others wait for ever.
TEST_F(Together, ARankRunsThoughAnEarlierRunIsInTheFolder) {
  ASSERT_THAT(result(record({"-q", "-o", "run"}, {"true"})), "0 ");
  EXPECT_THAT(result(record({"-o", "run"}, shell("echo ran; exit 9")), rank("0")),
              AllOf(StartsWith("9 "), HasSubstr("rank 0 could not be recorded: run: the folder already holds a run"),
                    HasSubstr("--force"), HasSubstr("ran\n")));
  EXPECT_THAT(test::names_in(folder_), ElementsAre("record.db", "run.json"));
  // Who types the command is asked instead, before anything runs.
  EXPECT_THAT(result(record({"-o", "run"}, shell("echo ran; exit 9"))),
              AllOf(StartsWith("2 error: run: the folder already holds a run"), Not(HasSubstr("ran\n"))));
}

TEST_F(Together, WhereNothingCanBeWrittenTheProgramRuns) {
  const Strings command = shell("echo ran; kill -TERM $$");
  test::write_file(temp_ / "file", "x");
  for (const char* folder : {"/proc/none/run", "file", "file/run"}) {
    EXPECT_THAT(result(record({"-o", folder}, command)), AllOf(StartsWith("143 swinscope: could not be recorded: "),
                                                               HasSubstr("ran\n"), Not(HasSubstr("error"))));
  }
  const auto no_file_may_grow = [] {
    const rlimit none{0, 0};
    setrlimit(RLIMIT_FSIZE, &none);
  };
  EXPECT_THAT(result(record({"-o", "run"}, command), {}, no_file_may_grow),
              AllOf(StartsWith("143 "), HasSubstr("could not be recorded: run")));
  EXPECT_THAT(result(record({}, command), {}, no_file_may_grow),
              AllOf(StartsWith("143 "), HasSubstr("could not be recorded: run-")));
  EXPECT_THAT(result(record({"-o", "run"}, command), {{"SWINSCOPE_COLLECTOR", "/nowhere"}}),
              AllOf(StartsWith("143 "), HasSubstr("could not be recorded: /nowhere: no such file")));
  EXPECT_THAT(test::names_in(temp_.path()), ElementsAre("file")) << "nothing empty is left";
}

TEST_F(Together, NamesHavePartsThatDiffer) {
  const auto name = [&](const std::string& pattern, const Variables& variables = {}) {
    const std::string said = result(record({"-o", pattern}, {"true"}), variables);
    const std::size_t begin = said.find("recorded ");
    return begin == std::string::npos ? said : said.substr(begin + 9, said.find(';', begin) - begin - 9);
  };
  std::array<char, 256> host{};
  gethostname(host.data(), host.size() - 1);
  EXPECT_EQ(name("a-%q{JOB}-%r-%%", {{"JOB", "x y"}, {"RANK", "3"}}), "a-x y-3-%");
  EXPECT_EQ(name("b/%h"), "b/" + std::string(host.data()));
  EXPECT_EQ(name("c-%r", {{"SLURM_PROCID", "11"}, {"SLURM_NTASKS", "12"}}), "c-11");
  const auto run = start(record({"-q", "-o", "d-%p"}, {"true"}));
  const pid_t pid = run->pid();
  EXPECT_EQ(run->wait(), 0);
  EXPECT_TRUE(test::fs::exists(temp_ / ("d-" + std::to_string(pid)) / "run.json"));
}

TEST_F(Together, NamesThatCannotBeFilledInAreRefused) {
  const auto refusal = [&](const std::string& pattern) { return result(record({"-o", pattern}, shell("echo ran"))); };
  EXPECT_THAT(refusal("r-%q{NO_SUCH}"),
              AllOf(StartsWith("2 error: -o r-%q{NO_SUCH}: "), HasSubstr("the variable NO_SUCH is not set")));
  EXPECT_THAT(refusal("r-%r"), AllOf(StartsWith("2 error: "), HasSubstr("%r is the rank, and no launcher says one")));
  EXPECT_THAT(refusal("r-%n"), AllOf(StartsWith("2 error: "), HasSubstr("%n is not known")));
  for (const char* pattern : {"%", "a%", "%q", "%q{", "%q{}", "%q{HOME"})
    EXPECT_THAT(refusal(pattern), AllOf(StartsWith("2 error: "), Not(HasSubstr("ran\n")))) << pattern;
  EXPECT_THAT(test::names_in(temp_.path()), IsEmpty());
}

TEST_F(Together, WhatIsWrittenIsTheOwnersAlone) {
  const auto no_umask = [] { umask(0); };
  ASSERT_THAT(result(record({"-q", "-o", "a/run"}, shell(nvtx())), {}, no_umask), "0 ");
  for (const auto& entry : test::fs::recursive_directory_iterator(temp_.path())) {
    struct stat info = {};
    ASSERT_EQ(lstat(entry.path().c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777U, S_ISDIR(info.st_mode) ? 0700U : 0600U) << entry.path();
  }
  EXPECT_THAT(test::names_in(temp_ / "a/run"), ElementsAre("rank0.db", "record.db", "run.json"));
}

// The command's own mask is what it is without us.
TEST_F(Together, TheProgramKeepsItsMaskOfModes) {
  ASSERT_THAT(result(record({"-q", "-o", "run"}, shell("umask")), {}, [] { umask(022); }), "0 0022\n");
}

TEST_F(Together, TheHintIsACommandThatWorks) {
  const std::string said = result(record({"-o", "it's a run"}, shell(nvtx())));
  const std::size_t begin = said.find("swinscope analyze ");
  ASSERT_NE(begin, std::string::npos) << said;
  const std::string hint = said.substr(begin + 10, said.find('\n', begin) - begin - 10);
  EXPECT_THAT(result({"sh", "-c", "'" SWINSCOPE_PROGRAM "' " + hint}), StartsWith("0 "));
  EXPECT_THAT(result(record({"-o", "./-dash"}, {"true"})), HasSubstr("swinscope analyze ./-dash\n"));
}

}  // namespace
}  // namespace swinscope
