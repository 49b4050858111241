// A source of CUDA activity over a CUPTI of fabricated records, and the file that it writes.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "collector/cupti/cupti_source.h"
#include "store/writer.h"
#include "tests/unit/collector/cuda_writer.h"
#include "tests/unit/collector/fake_cupti.h"
#include "tests/unit/store/support.h"

namespace swinscope {

inline constexpr std::uint64_t kPid = 4711;
inline constexpr std::int64_t kStart = 1'000'000;

class CuptiSourceTest : public ::testing::Test {
 protected:
  CuptiSourceTest() { test::name_calls(state); }

  void begin(const TraceOptions& options = {}, const char* window = "whole") {
    source.begin(
        [this] {
          return OpenedCupti{std::make_unique<test::FakeCupti>(state), "fake", ""};
        },
        options, *parse_window(window), &captured);
  }
  static void captured(std::uint64_t node, std::uint64_t original) {
    nodes().push_back(fmt::format("{} of {}", node, original));
  }
  void poll() {
    while (!source.poll(sink)) {
    }
  }
  void flush() {
    source.before_flush(sink);
    RunInfo run;
    run.global_pid = make_global_pid(kPid);
    source.describe(run);
    writer.set_run(run);
    writer.flush();
    source.flushed();
  }
  std::vector<std::string> rows(const std::string& sql) { return test::Sqlite(path).values(sql); }
  std::string row(const std::string& sql) { return test::Sqlite(path).value(sql); }
  std::string fact(const std::string& name) {
    RunInfo run;
    source.describe(run);
    for (const NamedValue& fact : run.collector) {
      if (fact.name == name) return fact.value;
    }
    return "(none)";
  }
  std::vector<std::string> drops() {
    RunInfo run;
    source.describe(run);
    std::vector<std::string> texts;
    for (const DropInfo& drop : run.drops)
      texts.push_back(fmt::format("{} {}: {}", drop.count, drop.what, drop.reason));
    return texts;
  }
  static std::vector<std::string>& nodes() {
    static std::vector<std::string> list;
    return list;
  }

  test::TempFolder folder;
  std::filesystem::path path = folder / "rank0.db";
  test::FakeCuptiState state;
  TraceWriter writer{path, WriteMode::kLive};
  test::CudaWriter sink{writer};
  CuptiSource source{make_global_pid(kPid), kStart, {8, 4096, 1024, 100'000'000}};
};

}  // namespace swinscope
