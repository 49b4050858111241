// What the tests of the `swinscope` program share: a folder of their own, a user without settings, and small traces.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/integration/run_program.h"

namespace swinscope::tests {

class CliTest : public testing::Test {
 protected:
  CliTest();

  // Runs `swinscope` in folder(), as a user without settings in files or variables.
  ProgramResult run(const std::vector<std::string>& arguments) const {
    return run_program(command(arguments), options_);
  }
  // The JSON that a command prints with --format json. A failure to parse or another exit status fails the test.
  nlohmann::json run_json(std::vector<std::string> arguments, int status = 0) const;
  static std::vector<std::string> command(const std::vector<std::string>& arguments);

  const std::filesystem::path& folder() const { return folder_.path(); }
  std::filesystem::path home() const { return folder_ / "home"; }
  // Writes a file into folder() and returns its name.
  std::string write(const std::string& name, const std::string& content) const;
  // Makes a SQLite file in folder() and returns its name.
  std::string make_database(const std::string& name, const std::string& sql) const;

  ProgramOptions options_;  // of the runs that follow

 private:
  TemporaryFolder folder_;
};

// The recording in data/ of three training steps in PyTorch.
std::filesystem::path recording();

// An Nsight Systems export of two kernels, a gemm of 1000 ns launched at 100 and a gelu of 500 ns, and the call of the
// first.
std::string small_export_sql();
// A trace of ours without GPU work: one range. `version` is its schema version.
std::string own_trace_sql(int version = 1);

// A Kineto document of these events (JSON objects), and such an event: a kernel, times in microseconds as they are to
// stand in the file.
std::string kineto(const std::vector<std::string>& events);
std::string kineto_kernel(const std::string& name, const std::string& ts, const std::string& dur);

std::string gzip(const std::string& content);

// Without the line ends.
std::vector<std::string> lines_of(const std::string& text);

}  // namespace swinscope::tests
