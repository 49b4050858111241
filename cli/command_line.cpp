#include "cli/command_line.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include <fmt/format.h>

#include "cli/suggest.h"

namespace swinscope::cli {
namespace {

using Words = std::vector<std::string>;

Words commands_of(const Program& program) {
  Words names;
  for (const auto& command : program.commands())
    names.push_back(command->name());
  return names;
}

Words long_names(const std::vector<Option>& options) {
  Words names;
  for (const Option& option : options) {
    const Words more = option.long_names();
    names.insert(names.end(), more.begin(), more.end());
  }
  return names;
}

std::string meant(const std::string& word, const Words& candidates) {
  const std::string found = nearest(word, candidates);
  return found.empty() ? "" : fmt::format("; did you mean {}?", found);
}

bool is_number(const std::string& word) {
  return word.find_first_not_of("-+.0123456789eE") == std::string::npos && word.find_first_of("0123456789") <= 2;
}

bool is_option(const std::string& word) { return word.size() > 1 && word[0] == '-' && word != "--"; }

bool is_command(const Program& program, const std::string& word) {
  const Words names = commands_of(program);
  return std::find(names.begin(), names.end(), word) != names.end();
}

// "--format=json" and "-oNAME" name the option, too.
std::string option_name(const std::string& word) {
  return word[1] == '-' ? word.substr(0, word.find('=')) : word.substr(0, 2);
}

// Whether the next word is the value of an option, as any command knows the option.
bool takes_next_word(const Program& program, const std::string& word) {
  const std::string name = option_name(word);
  if (name != word) return false;
  return std::any_of(program.commands().begin(), program.commands().end(), [&](const auto& command) {
    const std::optional<Option> option = command->find(name);
    return option && option->takes_value();
  });
}

// The first word that is neither an option nor the value of one: the command, where it is one.
Words::const_iterator first_plain_word(const Program& program, const Words& words) {
  auto at = words.begin();
  while (at != words.end() && is_option(*at)) {
    const bool skips_value = takes_next_word(program, *at);
    ++at;
    if (skips_value && at != words.end()) ++at;
  }
  return at;
}

// The first word before `--` that looks like an option of the command and is none; "" where there is no such word.
std::string unknown_option(const Command& command, const Words& words) {
  for (auto word = words.begin(); word != words.end() && *word != "--"; ++word) {
    if (!is_option(*word) || is_number(*word)) continue;
    if (!command.find(option_name(*word))) return (*word)[1] == '-' ? option_name(*word) : *word;
  }
  return {};
}

Error unknown_option_error(const Command& command, const std::string& option) {
  const bool runs_command = command.find("CMD").has_value();
  return {ErrorKind::kUsage, fmt::format("{}: unknown{}", option, meant(option, long_names(command.options()))),
          fmt::format("`swinscope {}` has no such option", command.name()),
          fmt::format("`swinscope {} --help` lists them{}", command.name(),
                      runs_command ? "; the command that it runs, with its own options, stands behind --" : "")};
}

// The options of all commands: before a command nobody knows whose they are.
Words all_options(const Program& program) {
  Words all = long_names(program.options());
  for (const auto& command : program.commands()) {
    const Words more = long_names(command->options());
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

Error without_command(const Program& program, const Words& words) {
  constexpr const char* kTheList = "`swinscope --help` lists the commands";
  const auto plain = first_plain_word(program, words);
  const Words known = all_options(program);
  for (auto word = words.begin(); word != plain && word != words.end(); ++word) {
    const std::string name = is_option(*word) ? option_name(*word) : "";
    if (name.rfind("--", 0) != 0 || std::find(known.begin(), known.end(), name) != known.end()) continue;
    return {ErrorKind::kUsage, fmt::format("{}: unknown{}", name, meant(name, known)), "no command has such an option",
            kTheList};
  }
  if (plain == words.end()) return {ErrorKind::kUsage, "no command is given", {}, kTheList};
  Words names = commands_of(program);
  names.insert(names.end(), {"help", "version"});
  return {ErrorKind::kUsage, fmt::format("there is no command '{}'{}", *plain, meant(*plain, names)), {}, kTheList};
}

}  // namespace

Words in_order(const Program& program, Words words) {
  if (words.empty()) return words;
  if (words.front() == "version" || words.front() == "-V") words.front() = "--version";
  if (words.front() == "help") {
    if (words.size() == 1 || is_option(words[1])) return {"--help"};
    if (!is_command(program, words[1])) return {words[1]};
    return {words[1], "--help"};
  }
  const bool asks_version =
      words.size() > 1 && is_command(program, words.front()) && (words[1] == "--version" || words[1] == "-V");
  if (asks_version) return {"--version"};
  if (words.front() == "--help" || words.front() == "--version" || words.front() == "-h") return words;
  const auto place = first_plain_word(program, words) - words.cbegin();
  const auto command = words.begin() + place;
  if (command != words.end() && is_command(program, *command)) std::rotate(words.begin(), command, command + 1);
  return words;
}

Error refused_words(const Program& program, const Words& words, const OptionError& error) {
  if (words.empty()) {
    return {ErrorKind::kUsage,
            "no command is given",
            {},
            "try `swinscope analyze FILE`; `swinscope --help` lists the commands"};
  }
  const Command* const chosen = program.chosen();
  // A command behind words that nobody understands is none yet.
  if (chosen == nullptr || words.front() != chosen->name()) return without_command(program, words);
  if (const std::string option = unknown_option(*chosen, words); !option.empty())
    return unknown_option_error(*chosen, option);
  return {ErrorKind::kUsage, error.what(), {}, fmt::format("`swinscope {} --help` says what it takes", chosen->name())};
}

}  // namespace swinscope::cli
