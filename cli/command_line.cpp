#include "cli/command_line.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include <fmt/format.h>

#include "cli/suggest.h"

namespace swinscope::cli {
namespace {

using Words = std::vector<std::string>;

Words commands_of(const CLI::App& app) {
  Words names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(command->get_name());
  return names;
}

Words options_of(const CLI::App& command) {
  Words names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames())
      names.push_back("--" + name);
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

bool is_command(const CLI::App& app, const std::string& word) {
  const Words names = commands_of(app);
  return std::find(names.begin(), names.end(), word) != names.end();
}

// "--format=json" and "-oNAME" name the option, too.
std::string option_name(const std::string& word) {
  return word[1] == '-' ? word.substr(0, word.find('=')) : word.substr(0, 2);
}

// Whether the next word is the value of an option, as any command knows the option.
bool takes_next_word(const CLI::App& app, const std::string& word) {
  const std::string name = option_name(word);
  if (name != word) return false;
  const auto commands = app.get_subcommands([](const CLI::App*) { return true; });
  return std::any_of(commands.begin(), commands.end(), [&](const CLI::App* command) {
    const CLI::Option* option = command->get_option_no_throw(name);
    return option != nullptr && option->get_items_expected_max() > 0;
  });
}

// The first word that is neither an option nor the value of one: the command, where it is one.
Words::const_iterator first_plain_word(const CLI::App& app, const Words& words) {
  auto at = words.begin();
  while (at != words.end() && is_option(*at)) {
    const bool skips_value = takes_next_word(app, *at);
    ++at;
    if (skips_value && at != words.end()) ++at;
  }
  return at;
}

// The first word before `--` that looks like an option of the command and is none; "" where there is no such word.
std::string unknown_option(const CLI::App& command, Words::const_iterator begin, Words::const_iterator end) {
  for (auto word = begin; word != end && *word != "--"; ++word) {
    if (!is_option(*word) || is_number(*word)) continue;
    if (command.get_option_no_throw(option_name(*word)) == nullptr)
      return (*word)[1] == '-' ? option_name(*word) : *word;
  }
  return {};
}

Error unknown_option_error(const CLI::App& command, const std::string& option) {
  const bool runs_command = command.get_option_no_throw("CMD") != nullptr;
  return {ErrorKind::kUsage, fmt::format("{}: unknown{}", option, meant(option, options_of(command))),
          fmt::format("`swinscope {}` has no such option", command.get_name()),
          fmt::format("`swinscope {} --help` lists them{}", command.get_name(),
                      runs_command ? "; the command that it runs, with its own options, stands behind --" : "")};
}

// The options of all commands: before a command nobody knows whose they are.
Words all_options(const CLI::App& app) {
  Words all = options_of(app);
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    const Words more = options_of(*command);
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

Error without_command(const CLI::App& app, const Words& words) {
  constexpr const char* kTheList = "`swinscope --help` lists the commands";
  const auto plain = first_plain_word(app, words);
  const Words known = all_options(app);
  for (auto word = words.begin(); word != plain && word != words.end(); ++word) {
    const std::string name = is_option(*word) ? option_name(*word) : "";
    if (name.rfind("--", 0) != 0 || std::find(known.begin(), known.end(), name) != known.end()) continue;
    return {ErrorKind::kUsage, fmt::format("{}: unknown{}", name, meant(name, known)), "no command has such an option",
            kTheList};
  }
  if (plain == words.end()) return {ErrorKind::kUsage, "no command is given", {}, kTheList};
  Words names = commands_of(app);
  names.insert(names.end(), {"help", "version"});
  return {ErrorKind::kUsage, fmt::format("there is no command '{}'{}", *plain, meant(*plain, names)), {}, kTheList};
}

}  // namespace

Words in_order(const CLI::App& app, Words words) {
  if (words.empty()) return words;
  if (words.front() == "version" || words.front() == "-V") words.front() = "--version";
  if (words.front() == "help") {
    if (words.size() == 1 || is_option(words[1])) return {"--help"};
    if (!is_command(app, words[1])) return {words[1]};
    return {words[1], "--help"};
  }
  if (words.front() == "--help" || words.front() == "--version" || words.front() == "-h") return words;
  const auto place = first_plain_word(app, words) - words.cbegin();
  const auto command = words.begin() + place;
  if (command != words.end() && is_command(app, *command)) std::rotate(words.begin(), command, command + 1);
  return words;
}

std::string readable(const std::string& message) {
  constexpr std::string_view kValue = "Value ";
  constexpr std::string_view kRange = " not in range ";
  constexpr std::size_t kLongest = 40;
  const std::size_t value = message.find(kValue);
  const std::size_t range = message.find(kRange);
  if (value == std::string::npos || range == std::string::npos || range < value) return message;
  if (message.size() - range < kLongest + kRange.size()) return message;
  const std::string text = message.substr(value + kValue.size(), range - value - kValue.size());
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  const bool is_whole = !text.empty() && *end == '\0';
  return fmt::format("{}{} is {}", message.substr(0, value), text,
                     !is_whole      ? "no number"
                     : number > 0.0 ? "too large"
                                    : "too small");
}

Error refused_words(CLI::App& app, const Words& words, const CLI::ParseError& error) {
  if (words.empty()) {
    return {ErrorKind::kUsage,
            "no command is given",
            {},
            "try `swinscope analyze FILE`; `swinscope --help` lists the commands"};
  }
  const auto chosen = app.get_subcommands();
  // A command behind words that nobody understands is none yet.
  const auto command = chosen.empty() ? words.end() : std::find(words.begin(), words.end(), chosen.front()->get_name());
  if (command != words.begin()) return without_command(app, words);
  if (const std::string option = unknown_option(*chosen.front(), command, words.end()); !option.empty())
    return unknown_option_error(*chosen.front(), option);
  return {ErrorKind::kUsage,
          readable(error.what()),
          {},
          fmt::format("`swinscope {} --help` says what it takes", chosen.front()->get_name())};
}

}  // namespace swinscope::cli
