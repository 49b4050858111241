// Every hostile program of host_programs under `swinscope record`: what it prints and how it ends are as alone. Rows
// that may differ have their reason here.
#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>

#include "tests/integration/record/support.h"
#include "tests/integration/run_program.h"

namespace swinscope {
namespace {

using tests::ProgramOptions;
using tests::ProgramResult;
using tests::run_program;

// Case -> why it differs. Everything else must not, and these must.
const std::map<std::string, std::string> kDiffers = {
    {"environment.counted", "record tells its library by variables of the environment: that is how NVTX finds it"},
    {"limit.address_space_late",
     "the buffers, 128 MiB of addresses that take memory as they are filled, are there by then"},
};
// Case -> why it differs at times.
const std::map<std::string, std::string> kMayDiffer = {
    {"threads.cancelled_anywhere",
     "a thread that is cancelled anywhere may call next to nothing (POSIX 2.9.5): NVTX is not"},
};

// Both are killed where the sanitizers' own calls are limited, bring what they count themselves, have a library
// before the sanitizers' own, or fork beside threads.
bool is_for_sanitizers(const std::string& name) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  const std::vector<std::string> kinds = {
      "limit.",    "seccomp.",   "end.",   "signal.SIG", "allocator", "dlopen.deep",        "threads.",
      "mlockall.", "namespace.", "chroot", "closed.",    "preloaded", "fork.beside_threads"};
  return std::none_of(kinds.begin(), kinds.end(), [&](const std::string& kind) { return name.rfind(kind, 0) == 0; });
#else
  return !name.empty();
#endif
}

std::string own_program(const char* name) { return test::program(name); }

// Without the lines that are record's own.
std::string of_the_program(const std::string& err) {
  std::istringstream lines(err);
  std::string kept;
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("swinscope: ", 0) != 0 && line.rfind("  hint: ", 0) != 0) kept += line + "\n";
  }
  return kept;
}

std::string text_of(const ProgramResult& result) {
  return "status " + std::to_string(result.status) + "\n" + result.out + "-- stderr --\n" + of_the_program(result.err);
}

struct Case {
  std::string name;
  std::vector<std::string> command;
  std::vector<std::string> environment = {};
};

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  std::istringstream names(run_program({own_program("host_programs"), "list"}).out);
  for (std::string name; std::getline(names, name);)
    cases.push_back({name, {own_program("host_programs"), name}});
  cases.push_back({"preloaded_library",
                   {own_program("host_programs"), "fork.children"},
                   {"LD_PRELOAD=" + own_program("libnvtx_library.so")}});
  cases.push_back({"static_program", {own_program("static_program")}});
  cases.push_back({"closed_stdin", {"sh", "-c", "exec \"$0\" stdin <&-", own_program("host_programs")}});
  cases.push_back({"closed_stdout", {"sh", "-c", "exec \"$0\" globals >&-", own_program("host_programs")}});
  cases.push_back({"full_stdout", {"sh", "-c", "exec \"$0\" globals >/dev/full", own_program("host_programs")}});
  cases.push_back({"pipeline", {"sh", "-c", "yes | \"$0\" stdin | head -c 5", own_program("host_programs")}});
  cases.push_back({"killed_by_a_shell", {"sh", "-c", "\"$0\" exec.end; kill -9 $$", own_program("host_programs")}});
  return cases;
}

class HostTable : public ::testing::Test {
 protected:
  // What differs, in words; empty: nothing.
  std::string look(const Case& one) {
    const auto folder = temp_ / one.name;
    std::filesystem::create_directories(folder / "alone");
    std::filesystem::create_directories(folder / "recorded");
    ProgramOptions options;
    options.environment = one.environment;
    options.folder = folder / "alone";
    const std::string alone = text_of(run_program(one.command, options));
    std::vector<std::string> command = {SWINSCOPE_PROGRAM, "record", "-o", (folder / "run").string(), "--"};
    command.insert(command.end(), one.command.begin(), one.command.end());
    options.folder = folder / "recorded";
    const std::string recorded = text_of(run_program(command, options));
    if (!std::filesystem::exists(folder / "run")) return "made no run: " + recorded;
    for (const auto& file : test::rank_files(folder / "run")) {
      if (file.extension() != ".db" || test::Sqlite(file).value("PRAGMA integrity_check") != "ok")
        return "is not a sound trace: " + file.string();
    }
    return alone == recorded ? "" : "alone: " + alone + "recorded: " + recorded;
  }

  test::TempFolder temp_;
};

TEST_F(HostTable, HasNothingThatDiffersWithoutAReason) {
  const std::vector<Case> cases = all_cases();
  EXPECT_GE(cases.size(), 60U);
  std::map<std::string, std::string> differences;
  std::mutex mutex;
  std::atomic<std::size_t> next = 0;
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < std::clamp(std::thread::hardware_concurrency(), 8U, 16U); ++i) {
    threads.emplace_back([&] {
      for (std::size_t at = next.fetch_add(1); at < cases.size(); at = next.fetch_add(1)) {
        if (!is_for_sanitizers(cases[at].name)) continue;
        const std::string difference = look(cases[at]);
        const std::lock_guard lock(mutex);
        if (!difference.empty()) differences[cases[at].name] = difference;
      }
    });
  }
  for (std::thread& thread : threads)
    thread.join();
  for (const auto& [name, difference] : differences)
    EXPECT_TRUE(kDiffers.count(name) + kMayDiffer.count(name) != 0) << name << "\n" << difference;
  for (const auto& [name, reason] : kDiffers)
    EXPECT_TRUE(differences.count(name) != 0 || !is_for_sanitizers(name)) << name << " differs no more: " << reason;
}

}  // namespace
}  // namespace swinscope
