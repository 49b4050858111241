// Words of a command line, one a line: whatever they are, they are refused with what is wrong and what to do, or the
// options have values that they take.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command_line.h"
#include "store/utf8.h"
#include "tests/fuzz/memory_file.h"
#include "tests/fuzz/some_program.h"

namespace swinscope::fuzz {
namespace {

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find('\n'));
    words.emplace_back(word.substr(0, word.find('\0')));  // which no word has
    text.remove_prefix(std::min(text.size(), word.size() + 1));
  }
  return words;
}

// Help is printed; it is the same for all.
bool asks_for_help(const std::vector<std::string>& words) {
  for (const std::string& word : words)
    if (word.starts_with("--h") || (word.starts_with('-') && word.find('h') != std::string::npos)) return true;
  return false;
}

void check(const std::vector<std::string>& given) {
  SomeProgram some;
  const std::vector<std::string> words = cli::in_order(*some, given);
  if (asks_for_help(words)) return;
  try {
    if (some->parse(words)) some.expect_sound();
  } catch (const OptionError& refusal) {
    const Error error = cli::refused_words(*some, words, refusal);
    expect(error.kind() == ErrorKind::kUsage && *error.what() != '\0', "the error says what is wrong", error.what());
    expect(!error.hint().empty(), "and what to do", error.what());
  }
}

}  // namespace
}  // namespace swinscope::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  swinscope::fuzz::check(swinscope::fuzz::words_of({reinterpret_cast<const char*>(data), size}));
  return 0;
}
