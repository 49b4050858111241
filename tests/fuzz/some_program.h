// A program whose commands have an option of each kind, for what sets options: words and files of settings.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "options/options.h"
#include "tests/fuzz/memory_file.h"

namespace swinscope::fuzz {

class SomeProgram {
 public:
  SomeProgram() : program_("some", "for the fuzzer") {
    Command& first = program_.add_command("analyze", "one");
    add_looks(first);
    first.option("RUN", run_, "a word").required();
    first.option("--step", step_).within(0, kMostSteps);
    first.option("--size", size_).size_in_bytes();
    Command& second = program_.add_command("record", "two");
    add_looks(second);
    second.option("--sample", hertz_).not_negative();
    second.option("-o,--output", output_).variable("SWINSCOPE_FUZZ_OUTPUT");
    second.option("--ids", ids_).separated_by(',');
    second.option("CMD", words_);
    second.does([] { return 0; });
  }

  Program& operator*() { return program_; }
  Program* operator->() { return &program_; }

  void expect_sound() const {
    expect(step_ >= 0 && step_ <= kMostSteps, "a number is within its bounds");
    expect(hertz_ >= 0, "a number is not negative");
    expect(!top_ || *top_ > 0, "a number is positive");
    expect(format_ == "table" || format_ == "json", "a word is one of those");
  }

 private:
  static constexpr int kMostSteps = 1000;

  void add_looks(Command& command) {
    command.option("--format", format_).one_of({"table", "json"}).also_called("text", "table");
    command.option("--top", top_).positive();
    command.option("--class", classes_).one_word_each();
    command.flag("-q,--quiet", quiet_);
    command.does([] { return 0; });
  }

  std::string run_;
  int step_ = 0;
  std::uint64_t size_ = 0;
  double hertz_ = 0;
  std::filesystem::path output_;
  std::vector<std::int64_t> ids_;
  std::vector<std::string> words_;
  std::string format_ = "table";
  std::optional<std::int64_t> top_;
  std::vector<std::string> classes_;
  bool quiet_ = false;
  Program program_;
};

}  // namespace swinscope::fuzz
